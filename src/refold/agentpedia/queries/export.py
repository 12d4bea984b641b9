"""Exports: the graveyard, and every record of the view, as JSON lines.

The lines of the audit carry the hash that stands for each record in the view digest, so whoever
has all of them can work the digest out (docs/agentpedia-view.md). What the operator hides is left
out of the records, which then say so; their hashes stay.
"""

from collections.abc import Iterator

import msgspec

from refold.agentpedia.members import version_member
from refold.agentpedia.queries.look import Look, withheld_of
from refold.agentpedia.queries.model import Json, Withheld
from refold.agentpedia.queries.records import grave_item
from refold.agentpedia.queries.texts import hidden_of
from refold.agentpedia.store import StoredValue
from refold.agentpedia.store.rows import SECTIONS

__all__ = ["audit_lines", "graveyard_lines"]

CHUNK = 200
"""Records that are read at once; of entries with long histories fewer lines are held."""

_encode = msgspec.json.Encoder(order="sorted").encode


class AuditHead(msgspec.Struct, frozen=True, rename="camel"):
    """The first line: which view this is."""

    kind: str
    rules: str
    height: int | None
    digest: str


class AuditLine(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A record: `sha256` is that of its canonical JSON, with nothing withheld."""

    section: str
    key: str
    sha256: str
    value: Json
    withheld: tuple[Withheld, ...] = ()


def audit_lines(look: Look) -> Iterator[bytes]:
    """Give every record of the view, a JSON line each, section by section, by key.

    The first line says of which view. It reads one state of the database from beginning to end.
    """
    standing = look.standing
    height = None if standing.tip is None else standing.tip - 1
    yield _line(AuditHead("agentpedia-audit-v1", standing.rules, height, standing.digest))
    for section in SECTIONS:
        cursor = None
        while True:
            page = look.reading.section(section, CHUNK, cursor)
            for stored in page.items:
                yield _line(_audited(look, stored))
            cursor = page.cursor
            if cursor is None:
                break


def graveyard_lines(look: Look, reason: str | None) -> Iterator[bytes]:
    """Give the refused pins, a JSON line each, the newest first."""
    cursor = None
    while True:
        page = look.reading.graves(CHUNK, cursor, reason=reason)
        yield b"".join(_line(grave_item(look, stored.value)) for stored in page.items)
        cursor = page.cursor
        if cursor is None:
            return


def _line(value: object) -> bytes:
    return _encode(value) + b"\n"


def _audited(look: Look, stored: StoredValue) -> AuditLine:
    value: Json = stored.value
    withheld: tuple[Withheld, ...] = ()
    if stored.record is not None:
        value, withheld = _with_history(look, stored)
    elif stored.section == "grave":
        item = grave_item(look, value)
        value = {**value, "title": item.title}
        withheld = () if item.withheld is None else (item.withheld,)
    return AuditLine(stored.section, stored.key, stored.sha256, value, withheld)


def _with_history(look: Look, stored: StoredValue) -> tuple[Json, tuple[Withheld, ...]]:
    """Give a whole record without the titles that are hidden, and why."""
    names: list[str] = []
    versions: list[Json] = []
    reasons: dict[Withheld, None] = {}
    cursor = None
    while True:
        page = look.reading.history(stored.record or 0, CHUNK, cursor, newest_first=False)
        for step in page.items:
            names.append(step.name)
            if step.version is not None:
                member = version_member(step.version)
                why = withheld_of(hidden_of(look, step.version))
                if why is not None:
                    member["title"] = None
                    reasons[why] = None
                versions.append(member)
        cursor = page.cursor
        if cursor is None:
            break
    return {**stored.value, "history": names, "versions": versions}, tuple(reasons)
