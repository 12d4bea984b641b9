"""Texts of versions: where they are, whether they were seen verified, whether they are hidden."""

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, func, select

from refold.agentpedia.indexer.shown import inline_text, verified_text
from refold.agentpedia.queries.look import Look, withheld_of
from refold.agentpedia.queries.model import VersionItem, VersionText
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.store import StoredVersion, tables
from refold.agentpedia.store.hidden import HiddenRow
from refold.agentpedia.store.rows import STEP, step_at
from refold.db import one_of
from refold.kernel.errors import InputError

__all__ = [
    "MAX_TEXT",
    "file_text",
    "hidden_of",
    "item_of",
    "named_version",
    "text_author",
    "text_of",
    "texts_of",
    "version_of",
    "versions_named",
]

MAX_TEXT = 262_144
"""Characters of a text inside of a JSON answer: 16 times the inline limit of the constitution. What
is longer is read as plain text (`/versions/{id}/text`)."""

_H = tables.history.c
_AUTHOR = Question(
    lambda _: select(func.coalesce(_H.long_author, _H.author)).where(_H.name == bindparam("name"))
)


def text_author(look: Look, version: StoredVersion) -> str:
    """Give who wrote the text of a version: of what a revert made, not the one who reverted."""
    if version.text_pin == version.id:
        return version.author
    row = _AUTHOR.first(look.connection, name=version.text_pin)
    return version.author if row is None or row[0] is None else str(row[0])


def hidden_of(look: Look, version: StoredVersion) -> HiddenRow | None:
    """Give why the operator hides a version's title and text; None when he does not."""
    if not look.hidden:
        return None
    authors = {version.author, text_author(look, version)}
    return look.hidden.of((version.id, version.text_pin), version.content_hash, sorted(authors))


def item_of(look: Look, version: StoredVersion) -> VersionItem:
    """Give a version without its text."""
    withheld = hidden_of(look, version)
    return VersionItem(
        id=version.id,
        author=version.author,
        height=version.height,
        content_hash=version.content_hash,
        parent_rev=version.parent_rev,
        entry_key=version.entry_key,
        equivalent_of=version.equivalent_of,
        title=None if withheld else version.title,
        size=version.size,
        refs_found=version.refs_found,
        content_ref=version.content_ref,
        text_pin=version.text_pin,
        withheld=withheld_of(withheld),
    )


def named_version(look: Look, name: str) -> StoredVersion:
    """Give the version that an id names, or a pin that stands for one.

    Raises InputError `version-unknown`.
    """
    version = look.reading.version(name)
    if version is None:
        raise InputError("version-unknown", "there is no such version", "see the history", "/id")
    return version


def version_of(look: Look, name: str) -> VersionText:
    """Give a version with its text. Raises InputError `version-unknown`."""
    version = named_version(look, name)
    item = item_of(look, version)
    text, is_unverified = text_of(look, version)
    is_long = text is not None and len(text) > MAX_TEXT
    members = {name: getattr(item, name) for name in VersionItem.__struct_fields__}
    return VersionText(
        **members,
        text=None if item.withheld or is_long else text,
        is_unverified=is_unverified,
        is_long=is_long,
    )


def text_of(look: Look, version: StoredVersion) -> tuple[str | None, bool]:
    """Give the text, hidden or not, None when this node has none; and whether it is unverified."""
    if version.content_ref is not None:
        return file_text(look, version)
    body = look.store.pins.first_bodies([version.text_pin]).get(version.text_pin)
    return (None if body is None else inline_text(body)), False


def file_text(look: Look, version: StoredVersion) -> tuple[str | None, bool]:
    """Give the text behind a contentRef, None while it was not verified, and that it was not."""
    text = verified_text(look.store, version.text_pin)
    return text, text is None


def texts_of(look: Look, versions: Sequence[StoredVersion]) -> dict[str, str]:
    """Give the texts that are to be had, hidden or not, by version id; inline ones at once."""
    inline = [version.text_pin for version in versions if version.content_ref is None]
    bodies = look.store.pins.first_bodies(inline)
    texts: dict[str, str] = {}
    for version in versions:
        if version.content_ref is not None:
            text = verified_text(look.store, version.text_pin)
        else:
            text = inline_text(bodies.get(version.text_pin, b""))
        if text is not None:
            texts[version.id] = text
    return texts


def versions_named(look: Look, names: Iterable[str]) -> dict[str, StoredVersion]:
    """Give versions by their ids, those that are there."""
    asked = select(*STEP).where(one_of(look.connection, _H.name, list(names)))
    steps = (step_at(row) for row in look.connection.execute(asked))
    return {step.name: step.version for step in steps if step.version is not None}
