"""The history of an entry: as a list, as a graph, its differences, and who wrote it."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.entry import EntryValue
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import (
    MAX_INLINE,
    AuthorShare,
    Composition,
    Difference,
    Edge,
    Graph,
    Json,
    Node,
    Step,
)
from refold.agentpedia.queries.model_governance import ContestItem
from refold.agentpedia.queries.texts import (
    hidden_of,
    item_of,
    named_version,
    text_of,
    texts_of,
    versions_named,
)
from refold.agentpedia.shares import TextOf, shares_of
from refold.agentpedia.store import Cursor, Page, StoredStep, StoredVersion
from refold.agentpedia.worddiff import compare_texts
from refold.kernel.errors import InputError

__all__ = [
    "MAX_DIFF",
    "MAX_NODES",
    "MAX_SHARED",
    "StoredEntry",
    "composition_of",
    "contests_of",
    "difference_of",
    "graph_of",
    "history_of",
    "reverts_of",
    "stored_entry",
]

MAX_NODES = 200
"""Nodes of a graph in one answer: a picture of more is not to be read."""
MAX_DIFF = 131_072
"""Characters of a text that is compared by word: eight times the inline limit, some tenths of a
second."""
MAX_SHARED = 200
"""Versions that are looked through for who wrote the present text: each is compared with the one
before it. What is older is nobody's by name."""
_REMEMBERED = 4_096
"""Shares kept in memory: to work them out takes some tenths of a second for a long history."""
_KNOWN: dict[bytes, dict[str | None, int]] = {}


class StoredEntry(NamedTuple):
    """An entry as it is stored: the number of its record, and its value."""

    record: int
    value: EntryValue


def stored_entry(look: Look, key: str) -> StoredEntry:
    """Give an entry's record and value. Raises InputError `entry-unknown`."""
    stored = look.values.stored("entry", key)
    if stored is None or stored.record is None:
        raise InputError("entry-unknown", "there is no such entry", "search, or list them", "/key")
    return StoredEntry(stored.record, msgspec.convert(stored.value, EntryValue))


def history_of(
    look: Look, key: str, limit: int, after: Cursor | None, *, newest_first: bool
) -> Page[Step]:
    """Give a page of the steps of an entry. Raises InputError `entry-unknown`."""
    record = stored_entry(look, key).record
    page = look.reading.history(record, limit, after, newest_first=newest_first)
    payloads = _payloads(look, page.items)
    return Page([_step(look, step, payloads) for step in page.items], page.cursor)


def _payloads(look: Look, steps: Sequence[StoredStep]) -> dict[str, dict[str, Any]]:
    """Give the payloads of the pins behind steps."""
    bodies = look.store.pins.first_bodies([step.name.partition("::")[0] for step in steps])
    return {pin: decode_payload(body) or {} for pin, body in bodies.items()}


def _step(look: Look, step: StoredStep, payloads: dict[str, dict[str, Any]]) -> Step:
    pin, _, made_by = step.name.partition("::")
    payload = {} if made_by == "rev" else payloads.get(pin, {})
    version = step.version
    is_hidden = look.hidden.of([pin]) is not None
    if version is not None:
        is_hidden = hidden_of(look, version) is not None
    return Step(
        id=step.name,
        place=step.place,
        type=_text(payload, "type"),
        summary=None if is_hidden else _text(payload, "summary"),
        based_on=_text(payload, "basedOn"),
        version=None if version is None else item_of(look, version),
    )


def _text(payload: dict[str, Any], member: str) -> str | None:
    value = payload.get(member)
    return value if isinstance(value, str) else None


def graph_of(look: Look, key: str, before: int | None, limit: int = MAX_NODES) -> Graph:
    """Give the newest versions of an entry, or those before a place, and what leads where.

    Raises InputError `entry-unknown`.
    """
    record, value = stored_entry(look, key)
    page = look.reading.history(record, limit, None if before is None else (before,))
    steps = list(reversed(page.items))
    names = {step.name for step in steps}
    disputed = set(value.disputed)
    nodes = tuple(_node(step, value, disputed) for step in steps)
    edges = [
        Edge(step.name, step.version.parent_rev, "parent")
        for step in steps
        if step.version is not None and step.version.parent_rev is not None
    ]
    edges += reverts_of(look, steps)
    edges += [
        Edge(name, contest.declared, "contest")
        for contest in value.contests
        for name in (contest.pin, f"{contest.pin}::eq")
        if name in names
    ]
    earlier = steps[0].place if page.cursor is not None and steps else None
    return Graph(key, nodes, tuple(edges), earlier)


def _node(step: StoredStep, value: EntryValue, disputed: set[str]) -> Node:
    version = step.version
    made_by = step.name.partition("::")[2]
    return Node(
        id=step.name,
        place=step.place,
        kind=(
            "redirect"
            if version is None
            else "revert" if made_by == "eq" else "ruling" if made_by == "rev" else "rev"
        ),
        author=None if version is None else version.author,
        height=None if version is None else version.height,
        is_head=step.name == value.head,
        is_displayed=step.name == value.display_head,
        is_disputed=step.name in disputed,
    )  # fmt: skip


def reverts_of(look: Look, steps: Sequence[StoredStep]) -> list[Edge]:
    """Give what reverts and rulings went back to, by the names of versions."""
    targets: dict[str, str] = {}
    payloads = _payloads(look, [step for step in steps if step.name.endswith("::eq")])
    for step in steps:
        pin, _, made_by = step.name.partition("::")
        target = None
        if made_by == "eq":
            target = _text(payloads.get(pin, {}), "revertTo")
        elif made_by == "rev":
            proposal = look.values.stored("proposal", pin)
            params: Json = {} if proposal is None else proposal.value
            target = params.get("params", {}).get("revertTo")
        if target is not None:
            targets[step.name] = target
    spelled = {
        name: [target, f"{target}::eq", f"{target}::rev"] for name, target in targets.items()
    }
    known = versions_named(look, {one for names in spelled.values() for one in names})
    edges = []
    for name, names in spelled.items():
        found = next((one for one in names if one in known), None)
        if found is not None:
            edges.append(Edge(name, found, "revert"))
    return edges


def contests_of(look: Look, key: str) -> list[ContestItem]:
    """Give the edits that met another head than they declared, in order.

    Raises InputError `entry-unknown`.
    """
    contests = stored_entry(look, key).value.contests
    return [ContestItem(one.pin, one.expected, one.declared) for one in contests]


def difference_of(look: Look, before: str, after: str) -> Difference:
    """Compare two versions by word.

    Raises InputError `version-unknown`, `diff-too-long`; texts that are withheld or not to be had
    are not compared.
    """
    versions = [named_version(look, name) for name in (before, after)]
    items = [item_of(look, version) for version in versions]
    texts = [text_of(look, version)[0] for version in versions]
    pieces, is_coarse = None, False
    if not any(item.withheld for item in items) and None not in texts:
        said = [text or "" for text in texts]
        if max(map(len, said)) > MAX_DIFF:
            raise InputError(
                "diff-too-long",
                f"texts of more than {MAX_DIFF} characters are not compared",
                "read them as plain text, and compare them yourself",
            )
        found = compare_texts(*said)
        pieces, is_coarse = tuple(found.pieces), found.is_coarse
    return Difference(before=items[0], after=items[1], pieces=pieces, is_coarse=is_coarse)


def composition_of(look: Look, key: str) -> Composition:
    """Give who wrote an entry: shares of its versions and of its present text.

    Raises InputError `entry-unknown`. Texts are compared version by version: for a thread.
    """
    record, value = stored_entry(look, key)
    versions = _back_from(look, record, value.display_head)
    texts = texts_of(look, versions)
    known = [version for version in versions if version.id in texts]
    sizes = [len(texts[version.id]) for version in known]
    shares: dict[str | None, int] = {}
    if known and known[0].id == versions[0].id and max(sizes) <= MAX_DIFF:
        is_whole = versions[-1].place == 0
        said = tuple(
            TextOf(version.author, version.content_hash, texts[version.id]) for version in known
        )
        shares = _shares(said, is_whole=is_whole)
    counts = {one.editor: one.versions for one in value.authors}
    names = {*counts, *(name for name in shares if name is not None)}
    authors = [AuthorShare(name, counts.get(name, 0), shares.get(name, 0)) for name in names]
    authors.sort(key=lambda one: (-one.characters, -one.versions, one.editor))
    return Composition(
        id=key,
        display_head=value.display_head,
        authors=tuple(authors[:MAX_INLINE]),
        author_count=len(authors),
        characters=sum(shares.values()),
        unknown=shares.get(None, 0),
        versions_read=len(known),
    )


def _back_from(look: Look, record: int, name: str) -> list[StoredVersion]:
    """Give the versions from one back to older ones, as many as are looked through."""
    version = look.reading.version(name)
    if version is None or version.record != record:
        page = look.reading.history(record, MAX_SHARED)
    else:
        page = look.reading.history(record, MAX_SHARED, (version.place + 1,))
    return [step.version for step in page.items if step.version is not None]


def _shares(said: tuple[TextOf, ...], *, is_whole: bool) -> dict[str | None, int]:
    """Give the shares, from memory where they are known."""
    hashed = sha256(b"%d" % is_whole)
    for text in said:
        hashed.update(msgspec.msgpack.encode(text))
    name = hashed.digest()
    known = _KNOWN.get(name)
    if known is None:
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        known = _KNOWN[name] = shares_of(said, is_whole=is_whole)
    return known
