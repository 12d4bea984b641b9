"""What the suites of the encyclopedia's store share: a fold that is followed, made-up values.

A `Followed` folds a random stream block by block, undoes blocks, and tells a writer what changed.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any

from reference.streams import stream
from refold.agentpedia import PRD, Event, Fold, Rules, Stream, read_document
from refold.agentpedia.changes import Sink, Step, Value
from refold.agentpedia.common import Json
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.full import digest_of_lines, records
from refold.agentpedia.state import Version
from refold.agentpedia.store import Views
from refold.agentpedia.store.rows import encode

REACH = 1_000
"""Blocks that a fold can undo here: all of them."""

Told = dict[tuple[str, str], Json]
"""Values by section and key."""


def world(seed: int, mode: str) -> Stream:
    """Give a stream of `tests/reference`."""
    events, options = stream(seed, mode)
    return read_document(json.dumps({"events": events, "options": options}).encode())


def blocks_of(source: Stream) -> list[tuple[int, list[Event]]]:
    """Give the events of a stream by height."""
    return [(h, list(block)) for h, block in groupby(source.events, key=lambda e: e.height)]


class Followed:
    """A fold with its live digest."""

    def __init__(self, source: Stream, rules: Rules = PRD) -> None:
        self.source = source
        self.fold = Fold(rules, source.options)
        self.fold.remember(REACH)
        self.live = LiveDigest(self.fold)
        self.tip = 0

    def take(self, height: int, block: Sequence[Event]) -> None:
        """Fold a block; the tip is above it."""
        for event in block:
            self.fold.apply(event, self.source.faults.get(event.pin))
        self.tip = height + 1

    def tell(self, sink: Sink) -> str:
        """Tell what changed; give the digest."""
        return self.live.at(self.tip, sink)

    def view(self) -> Told:
        """Give the full view at the tip."""
        state = self.fold.view(self.tip).state
        return {(section, key): value for section, key, value in records(state, self.tip)}


def hashed(value: Json) -> str:
    """Give the hash of a value in its line."""
    return sha256(encode(value)).hexdigest()


def digest_in(views: Views) -> str:
    """Give the digest of the lines that are stored."""
    lines = [f"{x.section}\t{x.key}\t{x.sha256}\n".encode() for x in views.values.lines()]
    return digest_of_lines(sorted(lines))


def compare(views: Views, view: Told) -> None:
    """Compare all that is stored of a view with the view."""
    lines = {(line.section, line.key): line.sha256 for line in views.values.lines()}
    assert lines == {name: hashed(value) for name, value in view.items()}
    for (section, key), value in view.items():
        assert views.values.value(section, key) == value


def version(name: str, record: int, **changes: Any) -> Version:
    """Give a made-up version."""
    members: dict[str, Any] = {
        "id": name,
        "seq": 1,
        "record": record,
        "entry_key": "en:a",
        "author": "E1",
        "height": 7,
        "content_hash": "0" * 64,
        "parent_rev": None,
        "equivalent_of": None,
        "title": f"title of {name}",
        "size": 3,
        "refs_found": 0,
        "content_ref": None,
        "text_pin": name,
    }
    return Version(**members | changes)


def entry(record: int, key: str, steps: Sequence[Step], **changes: Any) -> Value:
    """Give a made-up value of an entry with a history of at least one version."""
    versions = [step.version for step in steps if step.version is not None]
    value: Json = {
        "head": steps[-1].name,
        "displayHead": steps[-1].name,
        "displayMode": "lww",
        "status": "normal",
        "quality": "normal",
        "history": [step.name for step in steps],
        "disputed": [],
        "contests": [],
        "redirect": None,
        "frozenAt": None,
        "baselineRev": None,
        "writers": [],
        "awaitingReview": [],
        "authors": [],
        "versions": [
            {
                "id": v.id,
                "author": v.author,
                "height": v.height,
                "contentHash": v.content_hash,
                "parentRev": v.parent_rev,
                "entryKey": v.entry_key,
                "equivalentOf": v.equivalent_of,
                "title": v.title,
                "size": v.size,
                "refsFound": v.refs_found,
            }
            for v in versions
        ],
    }
    value.update(changes)
    return Value("entry", key, value, hashed(value), record)


def editor(name: str, reputation: int) -> Value:
    """Give a made-up value of an editor."""
    value: Json = {"id": name, "reputation": reputation}
    return Value("editor", name, value, hashed(value))


def grave(pin: str, reason: str = "unregistered") -> Value:
    """Give a made-up value of a refused pin."""
    value: Json = {"pin": pin, "reason": reason, "entryKey": None, "title": None}
    return Value("grave", pin, value, hashed(value))
