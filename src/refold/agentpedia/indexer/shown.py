"""What the entries show, kept for those who search and follow links: outside the digest (spec §7).

A look tells of every entry that changed, and it is marked in the same transaction. The text of the
version it displays is read and indexed afterwards, once for all the looks that it changed in.
"""

import msgspec
from sqlalchemy import Connection

from refold.agentpedia.changes import History, Value
from refold.agentpedia.links import links_of
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.store import open_views
from refold.agentpedia.store.interface import Writer
from refold.agentpedia.store.rows import indexed
from refold.agentpedia.store.search import SearchIndex, SearchText
from refold.agentpedia.store.shown import Due, SqlShown
from refold.db import Database
from refold.metaid.store import Store, open_store

BATCH_ENTRIES = 1_000
"""Entries of one transaction: 2 MB of text, a second; the search index takes many at once best."""


class Marking:
    """A sink that passes on what it is told, and keeps which entries it was told of."""

    def __init__(self, writer: Writer) -> None:
        self._keys: set[str] = set()
        self._is_new = False
        self._writer = writer

    def mark(self, connection: Connection) -> None:
        """Mark the entries, to be looked at by `index_shown`."""
        shown = SqlShown(connection)
        if self._is_new:
            shown.mark_all()
        shown.mark(self._keys)

    def forget(self) -> None:
        """Pass on; what there was of entries that are no more is to be dropped."""
        self._is_new = True
        self._writer.forget()

    def drop(self, section: str, key: str) -> None:
        """Pass on."""
        if section == "entry":
            self._keys.add(key)
        self._writer.drop(section, key)

    def put(self, value: Value) -> None:
        """Pass on."""
        if value.section == "entry":
            self._keys.add(value.key)
        self._writer.put(value)

    def history(self, history: History) -> None:
        """Pass on."""
        self._writer.history(history)


def index_shown(database: Database) -> int:
    """Index what the marked entries show; give how many were looked at."""
    looked_at = 0
    with database.write() as connection:
        shown = SqlShown(connection)
        shown.mark_verified()
        is_behind = shown.is_behind()
    while is_behind:
        with database.write() as connection:
            batch = SqlShown(connection).due(BATCH_ENTRIES)
            _index(connection, batch)
        looked_at += len(batch)
        is_behind = len(batch) == BATCH_ENTRIES
    return looked_at


def _index(connection: Connection, batch: list[Due]) -> None:
    """Index entries that show another text than was indexed of them."""
    store = open_store(connection)
    texts = _texts(store, [due for due in batch if _is_changed(due)])
    settled: list[Due] = []
    found: list[SearchText] = []
    with open_views(connection).writing() as writer:
        for due in batch:
            head, text = due.display_head, texts.get(due.key)
            if head is None or not _is_changed(due):
                settled.append(due)
                continue
            lang = due.key.partition(":")[0]
            writer.put_links(due.key, head, [] if text is None else links_of(text, lang))
            waits_for = due.text_pin or "" if text is None else ""
            found.append(SearchText(indexed(due.key), lang, due.title, text or ""))
            settled.append(msgspec.structs.replace(due, rev=head, waits_for=waits_for))
    search = SearchIndex(connection)
    search.drop(indexed(due.key) for due in batch if due.display_head is None)
    search.put(found)
    SqlShown(connection).settle(settled)


def _is_changed(due: Due) -> bool:
    return due.display_head is not None and (due.rev != due.display_head or bool(due.waits_for))


def _texts(store: Store, wanted: list[Due]) -> dict[str, str]:
    """Give the texts of entries by key, without those that nobody has seen verified."""
    inline = [due.text_pin for due in wanted if due.text_pin and due.content_ref is None]
    bodies = store.pins.first_bodies(inline)
    texts: dict[str, str] = {}
    for due in wanted:
        if due.text_pin is None:
            continue
        if due.content_ref is not None:
            text = verified_text(store, due.text_pin)
        else:
            text = inline_text(bodies.get(due.text_pin, b""))
        if text is not None:
            texts[due.key] = text
    return texts


def inline_text(body: bytes) -> str | None:
    """Give the text in the body of a rev, None when there is none."""
    content = (decode_payload(body) or {}).get("content")
    return content if isinstance(content, str) else None


def verified_text(store: Store, pin_id: str) -> str | None:
    """Give the text behind a rev's contentRef, None while nobody has seen it verified."""
    fact = store.facts.content(pin_id)
    if fact is None or fact.state != "verified" or fact.sha256 is None:
        return None
    body = store.pins.body(fact.sha256)
    return None if body is None else body.decode(errors="replace")
