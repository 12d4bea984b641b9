"""Values of the view as rows of the tables, and histories back as parts of values."""

import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, cast

import msgspec
from sqlalchemy import Column, Table

from refold.agentpedia.changes import Step, Value
from refold.agentpedia.common import Json
from refold.agentpedia.store import tables
from refold.agentpedia.store.bulk import Row
from refold.agentpedia.store.model import StoredStep, StoredVersion
from refold.kernel.errors import InputError

INDEXED_CHARACTERS = 256
"""Longer texts are shortened in indexes: PostgreSQL takes some 2,700 bytes a row of an index.

What the gates let through is shorter. Under `deployed` there are none, and a stranger's key of
16 KB would stop the writing for good.
"""
LANG_CHARACTERS = 32
"""A language has 8 letters at most; a longer one is cut, and found by nobody."""
IN_HISTORY = ("history", "versions")
"""The members of a record's value that its history says."""

HALF = re.compile("[\ud800-\udfff]")
encode = msgspec.json.Encoder(order="sorted").encode
"""Encode as the digest does (docs/agentpedia-view.md)."""
decode = msgspec.json.decode


class Section(NamedTuple):
    """Where a section's values stand, and the columns between hash and value."""

    table: Table
    columns: Callable[[Value], Row]


def indexed(text: str) -> str:
    """Give a text as it stands in an index: itself, or a beginning and its hash.

    What was shortened is longer than anything that was not, so nobody can make two texts meet.
    """
    if len(text) <= INDEXED_CHARACTERS:
        return text
    return text[:INDEXED_CHARACTERS] + sha256(text.encode()).hexdigest()


def lookup(text: str) -> str:
    """Give a text that somebody asks for, if a table may hold it.

    Raises InputError `name-invalid` for U+0000 and half characters, which no pin brings in.
    """
    if "\0" in text or HALF.search(text):
        raise InputError(
            "name-invalid", "a name has no U+0000 and no half characters", "correct it"
        )
    return text


def whole(text: str) -> str | None:
    """Give a text that is shortened in its index, None for one that stands there whole."""
    return text if len(text) > INDEXED_CHARACTERS else None


def row_of(value: Value) -> Row:
    """Give the row of a value, for the table of its section; of a grave it lacks the position."""
    body = value.value
    if value.record is not None:
        body = {name: member for name, member in body.items() if name not in IN_HISTORY}
    line = (indexed(value.key), whole(value.key), value.sha256)
    return (*line, *SECTIONS[value.section].columns(value), encode(body))


def _entry(told: Value) -> Row:
    value = told.value
    versions = cast("Sequence[Json]", value["versions"])
    shown = value["displayHead"]
    # The displayed one is among the last, whatever the length; a redirect's pin is none at all.
    displayed = next((v for v in reversed(versions) if v["id"] == shown), versions[-1])
    return (
        told.record,
        told.key.partition(":")[0][:LANG_CHARACTERS],
        cast("str", displayed["title"])[:INDEXED_CHARACTERS],
        value["status"],
        value["quality"],
        int(value["quality"] == "featured"),
        value["head"],
        shown,
        versions[-1]["height"],
    )


def _displaced(told: Value) -> Row:
    return (told.record,)


def _editor(told: Value) -> Row:
    return (told.value["reputation"],)


def _proposal(told: Value) -> Row:
    entry_key = indexed(cast("str", told.value["entryKey"]))
    return (*_param_proposal(told), entry_key, told.value["challengePin"])


def _param_proposal(told: Value) -> Row:
    value = told.value
    return (value["state"], value["openedAt"], value["expiresAt"], value["sender"])


def _target(told: Value) -> Row:
    return (told.value["target"],)


def _grave(told: Value) -> Row:
    return (told.value["reason"],)


def _other(told: Value) -> Row:
    return (told.section,)


SECTIONS: Mapping[str, Section] = {
    "fold": Section(tables.others, _other),
    "constitution": Section(tables.others, _other),
    "entry": Section(tables.entries, _entry),
    "displaced": Section(tables.displaced, _displaced),
    "editor": Section(tables.editors, _editor),
    "proposal": Section(tables.proposals, _proposal),
    "param-proposal": Section(tables.param_proposals, _param_proposal),
    "challenge": Section(tables.challenges, _target),
    "review": Section(tables.reviews, _target),
    "case": Section(tables.others, _other),
    "register": Section(tables.others, _other),
    "grave": Section(tables.graves, _grave),
}
"""All sections of the full view (docs/agentpedia-view.md)."""

STEP: tuple[Column[Any], ...] = tuple(tables.history.columns)
"""The columns that `step_row` gives and `step_at` reads."""
_NO_VERSION = (None,) * (len(STEP) - 3)


def step_row(record: int, place: int, step: Step) -> Row:
    """Give the row of a step of a history."""
    name, version = step
    if version is None:
        return (record, place, name, *_NO_VERSION)
    return (
        record,
        place,
        name,
        version.seq,
        version.height,
        indexed(version.author),
        whole(version.author),
        version.content_hash,
        version.parent_rev,
        version.entry_key,
        version.equivalent_of,
        version.title,
        version.size,
        version.refs_found,
        version.content_ref,
        None if version.text_pin == name else version.text_pin,
    )


def step_at(row: Sequence[Any]) -> StoredStep:
    """Read a row of `STEP`."""
    record, place, name, seq, height, author, long_author = row[:7]
    if seq is None:
        return StoredStep(place, name, None)
    content_hash, parent_rev, entry_key, equivalent_of, title = row[7:12]
    size, refs_found, content_ref, text_pin = row[12:]
    version = StoredVersion(
        record,
        place,
        name,
        seq,
        height,
        long_author or author,
        content_hash,
        parent_rev,
        entry_key,
        equivalent_of,
        title,
        size,
        refs_found,
        content_ref,
        text_pin or name,
    )
    return StoredStep(place, name, version)
