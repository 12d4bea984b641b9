"""The applied revs of a state, each with its place in a history and the text it met.

The base of every order-free pass over revs (signals, monitor, marks). It reads the state and the
events that made it and changes neither. What it holds of one rev depends on that rev, on the state
and on the texts alone, so revs may be looked at in any order, or in parts (spec §9a).
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from refold.agentpedia.event import REV, Event, integer, position
from refold.agentpedia.measure import Change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from refold.agentpedia.state import Entry, State, Version


class AppliedRev(msgspec.Struct, frozen=True, gc=False):
    """One applied rev: its event, and where it stands.

    `name` is what the history of record `record` calls it at `index`: the pin, or the id of the
    equivalent version that a revert made.
    """

    event: Event
    name: str
    record: int
    index: int

    @property
    def entry_key(self) -> str:
        """The key it was written under."""
        return f"{self.event.payload['lang']}:{self.event.payload['slug']}"


class Corpus:
    """The revs that a state applied, with the texts that are known of them.

    `events` are those that made the state, in any order; what was refused, or is no rev, is passed
    over. `fetched` are texts behind contentRefs by rev, as far as somebody has fetched and checked
    them. Cost: linear in versions and events.
    """

    def __init__(
        self, state: State, events: Iterable[Event], fetched: Mapping[str, str] | None = None
    ) -> None:
        self.state = state
        self.places: dict[str, tuple[int, int]] = {}
        self.revs: dict[str, AppliedRev] = {}
        self._standing: dict[str, Version | None] = {}
        self._met: dict[str, str] = {}
        for record, entry in enumerate(state.records):
            self._place(record, entry)
        made = {self._made_by(name): name for name in self.places}
        for event in sorted(events, key=position):
            name = made.get(event.pin)
            if name is not None and event.path == REV:
                self.revs[event.pin] = AppliedRev(event, name, *self.places[name])
        self._texts: dict[tuple[int, str], str] = {}
        self._firsts: dict[tuple[int, str], int] = {}
        self._fetched = fetched or {}
        for version in state.versions.values():
            self._note(version)

    def _place(self, record: int, entry: Entry) -> None:
        """Note where each name of a history stands, and the version that stood there."""
        standing: Version | None = None
        for index, name in enumerate(entry.history):
            standing = self.state.versions.get(name, standing)
            self.places[name] = (record, index)
            self._standing[name] = standing
        for contest in entry.contests:
            self._met[contest.pin] = contest.expected

    def _made_by(self, name: str) -> str:
        """Give the pin of the event that put a name into a history."""
        version = self.state.versions.get(name)
        return name if version is None or version.equivalent_of is None else version.equivalent_of

    def _note(self, version: Version) -> None:
        """Note which text a hash stands for in a record, and which version brought it first."""
        content = (version.record, version.content_hash)
        self._firsts.setdefault(content, version.seq)
        text = self._own_text(version)
        if text is not None:
            self._texts.setdefault(content, text)

    def _own_text(self, version: Version) -> str | None:
        rev = self.revs.get(version.id)
        text = None if rev is None else rev.event.payload.get("content")
        return text if isinstance(text, str) else self._fetched.get(version.id)

    def by_history(self) -> list[AppliedRev]:
        """Give the revs entry by entry: each then meets the text that was read last."""
        return sorted(self.revs.values(), key=attrgetter("record", "index"))

    def text_of(self, version: Version) -> str | None:
        """Give a version's text, its own or one of the same hash; None when nobody knows it."""
        text = self._own_text(version)
        if text is None:
            return self._texts.get((version.record, version.content_hash))
        return text

    def named(self, name: str) -> Version | None:
        """Give the version behind an id, or behind the pin that stands for one (spec §5)."""
        versions = self.state.versions
        if name in versions:
            return versions[name]
        alias = self.state.aliases.get(name)
        return None if alias is None else versions.get(alias)

    def replaced(self, rev: AppliedRev) -> Version | None:
        """Give the version that was the head when a rev came; None for a create.

        That is what the rev met, when it declared something else; what it declared; what a revert
        noted. A rev that declared nothing followed the one before it in the history, unless a
        proposal had expired in between (the state keeps no heads of the past). A redirect has no
        text: what counts is the version before it.
        """
        if rev.index == 0:
            return None
        met = self._met.get(rev.event.pin) or self._declared(rev)
        if met is not None:
            version = self.named(met)
            name = met if version is None else version.id
            if name in self._standing:
                return self._standing[name]
        return self._standing[self.state.records[rev.record].history[rev.index - 1]]

    def _declared(self, rev: AppliedRev) -> str | None:
        version = self.state.versions.get(rev.name)
        if version is not None and version.equivalent_of is not None:
            return version.parent_rev
        declared = rev.event.payload.get("basedOn")
        return declared if isinstance(declared, str) else None

    def change(self, rev: AppliedRev) -> Change:
        """Give what a rev did, as a rule pack sees it."""
        payload = rev.event.payload
        claim_type, claim_refs = claim_of(payload.get("claim"))
        replaced = self.replaced(rev)
        version = self.state.versions.get(rev.name)
        kind = str(payload.get("type"))
        own_before = replaced is not None and replaced.author == rev.event.sender
        if version is None or kind == "revert":
            return Change(kind, claim_type, claim_refs, own_before=own_before)
        same = replaced is not None and replaced.content_hash == version.content_hash
        first = self._firsts[version.record, version.content_hash]
        return Change(
            type=kind,
            claim=claim_type,
            claim_refs=claim_refs,
            before="" if replaced is None else self.text_of(replaced),
            after=self.text_of(version),
            unchanged=same,
            restores=not same and first < version.seq,
            own_before=own_before,
        )


def claim_of(raw: object) -> tuple[str, int]:
    """Read a claim: its change type, "" for none, and its count of references."""
    if not isinstance(raw, dict):
        return "", 0
    change_type = raw.get("changeType")
    return change_type if isinstance(change_type, str) else "", integer(raw.get("refs")) or 0
