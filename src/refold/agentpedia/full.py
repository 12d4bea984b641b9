"""The full view, and the digest that two indexers compare (docs/agentpedia-view.md).

Every value here is built of texts without lone surrogates, integers up to ±(2^53 - 1), booleans
and null, under fixed member names, so that sorted JSON is its canonical form; a test holds it
against `refold.kernel.canonical`.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from hashlib import sha256

import msgspec

from refold.agentpedia.common import Json, plate_of, status_of
from refold.agentpedia.editors import stake_of, tier_of
from refold.agentpedia.members import version_member
from refold.agentpedia.reviews import PASSING_SCORE
from refold.agentpedia.state import (
    Case,
    Challenge,
    Editor,
    Entry,
    ParamProposal,
    Proposal,
    Review,
    State,
    Touched,
    Version,
)

STUB_BYTES = 512
"""A head with less inline text than this is a stub (spec §9)."""

JOINED_LINES = 2_000
"""Lines that are hashed at once: 300 KB stay in the cache of a processor. A million lines joined
take longer to be copied than to be hashed."""

Record = tuple[str, str, Json]
"""One record of the full view: section, key, value."""

SECTIONS = {
    "editor": "editors",
    "proposal": "proposals",
    "param-proposal": "param_proposals",
    "challenge": "challenges",
    "review": "reviews",
    "case": "cases",
    "register": "registers",
}
"""Sections with a record for each part of a kind, by its id; and the name of that kind."""

_encode = msgspec.json.Encoder(order="sorted").encode


def full_view(state: State, tip: int) -> dict[str, Json]:
    """Give all sections: section → key → value. Tiers are those at the tip."""
    view: dict[str, Json] = {}
    for section, key, value in records(state, tip):
        view.setdefault(section, {})[key] = value
    return view


def view_digest(state: State, tip: int) -> str:
    """Give the digest of the full view in lower-case hex (spec §10)."""
    return digest_of_lines(sorted(map(digest_line, records(state, tip))))


def digest_line(record: Record) -> bytes:
    """Give the line that stands for a record in the digest."""
    section, key, value = record
    return f"{section}\t{key}\t{sha256(_encode(value)).hexdigest()}\n".encode()


def hash_in(line: bytes) -> str:
    """Give the hash (hex) at the end of a line."""
    return line.rstrip(b"\n").rpartition(b"\t")[2].decode()


def digest_of_lines(lines: Sequence[bytes]) -> str:
    """Give the digest of sorted lines."""
    whole = sha256()
    for start in range(0, len(lines), JOINED_LINES):
        whole.update(b"".join(lines[start : start + JOINED_LINES]))
    return whole.hexdigest()


def records(state: State, tip: int) -> Iterator[Record]:
    """Give every record of the full view, in no particular order."""
    yield fold_record(state)
    yield from constitution_records(state)
    for index in range(len(state.records)):
        yield from history_records(state, index)
    yield from touched_records(state, tip, _everything(state))
    yield from graves(state, 0)


def _everything(state: State) -> Touched:
    touched = Touched(everything=False)
    for kind in SECTIONS.values():
        getattr(touched, kind).update(getattr(state, kind))
    return touched


def constitution_records(state: State) -> Iterator[Record]:
    """Give the records of all constitutions, in order."""
    for constitution in state.constitutions:
        yield "constitution", constitution.pin, msgspec.to_builtins(constitution)


def touched_records(state: State, tip: int, touched: Touched) -> Iterator[Record]:
    """Give the records that were touched, as they are now; by section, then by id.

    Not among them: histories (`history_records`), and what was undone (`undone_names`).
    """
    for name in _known(state.editors, touched.editors):
        yield "editor", name, _editor(state, state.editors[name], tip)
    for pin in _known(state.proposals, touched.proposals):
        yield "proposal", pin, _proposal(state.proposals[pin])
    for pin in _known(state.param_proposals, touched.param_proposals):
        yield "param-proposal", pin, _param_proposal(state.param_proposals[pin])
    for pin in _known(state.challenges, touched.challenges):
        yield "challenge", pin, _challenge(state.challenges[pin])
    for pin in _known(state.reviews, touched.reviews):
        yield "review", pin, _review(state.reviews[pin])
    for pin in _known(state.cases, touched.cases):
        yield "case", pin, _case(state.cases[pin])
    for pin in _known(state.registers, touched.registers):
        yield "register", pin, msgspec.to_builtins(state.registers[pin])


def _known(parts: Container[str], touched: Iterable[str]) -> list[str]:
    """Give what was touched and not undone, sorted."""
    return sorted(name for name in touched if name in parts)


def undone_names(state: State, touched: Touched) -> Iterator[tuple[str, str]]:
    """Give section and key of what was touched and is no more, but for records and graves."""
    for section, kind in SECTIONS.items():
        parts = getattr(state, kind)
        for name in getattr(touched, kind):
            if name not in parts:
                yield section, name


def history_records(state: State, index: int) -> Iterator[Record]:
    """Give the records of one history, in the order of `history_names`."""
    for section, key in history_names(state, index):
        entry = state.records[index]
        yield section, key, _record(state, entry, key if section == "entry" else None)


def history_names(state: State, index: int) -> list[tuple[str, str]]:
    """Give section and key of a history: an entry a key, or a displaced one; none when undone."""
    if index >= len(state.records):
        return []
    entry = state.records[index]
    return [("entry", key) for key in entry.keys] or [("displaced", entry.history[0])]


def graves(state: State, first: int) -> Iterator[Record]:
    """Give the records of the graveyard from the place `first` on; none ever changes."""
    for grave in state.graveyard[first:]:
        orphan = bool(grave.entry_key)
        yield (
            "grave",
            grave.pin,
            {
                "pin": grave.pin,
                "reason": grave.reason,
                "entryKey": grave.entry_key if orphan else None,
                "title": grave.title if orphan else None,
            },
        )


def _challenge(challenge: Challenge) -> Json:
    return {
        "pin": challenge.pin,
        "sender": challenge.sender,
        "target": challenge.target,
        "outcome": challenge.outcome,
    }


def _review(review: Review) -> Json:
    return {
        "pin": review.pin,
        "sender": review.sender,
        "target": review.target,
        "score": review.score,
        "byT2": review.by_t2,
    }


def _case(case: Case) -> Json:
    return {
        "pin": case.pin,
        "editor": case.editor,
        "sender": case.sender,
        "height": case.height,
        "responsePins": list(case.response_pins),
    }


def unverified(state: State) -> list[str]:
    """Give the versions whose text behind a contentRef this node has not seen verified, sorted.

    What a node could fetch is its own affair, so it stands outside the digest (spec §7).
    """
    facts = state.options.content_facts
    return sorted(
        version.id
        for version in state.versions.values()
        if version.content_ref is not None and facts.get(version.text_pin) != "verified"
    )


def unverified_stakes(state: State) -> list[str]:
    """Give the registers whose stake this node has not seen verified, sorted.

    Where nobody looks stakes up that is all of them, and they count as declared (spec §4).
    """
    return sorted(pin for pin in state.registers if stake_of(state, pin) != "verified")


def fold_record(state: State) -> Record:
    """Give the one record about the fold as a whole."""
    value: Json = {
        "rules": state.rules.name,
        "genesis": state.constitutions[0].pin if state.constitutions else None,
        "notAuthoritativeFrom": state.not_authoritative_from,
        "founders": state.founders,
    }
    return "fold", "fold", value


def _record(state: State, entry: Entry, key: str | None) -> Json:
    versions = [state.versions[name] for name in entry.history if name in state.versions]
    authors = Counter(version.author for version in versions)
    display_head = display_head_of(state, entry)
    return {
        "head": entry.head,
        "displayHead": display_head,
        "displayMode": entry.display_mode,
        "status": entry.status,
        "quality": quality_of(state, entry),
        "history": entry.history,
        "disputed": sorted(entry.disputed),
        "contests": [
            {"pin": c.pin, "expected": c.expected, "declared": c.declared} for c in entry.contests
        ],
        "redirect": None if key is None else plate_of(state, key, entry),
        "frozenAt": entry.frozen_at,
        "baselineRev": entry.baseline_rev,
        "writers": entry.writers,
        "awaitingReview": awaiting_review(state, entry, display_head),
        "authors": [{"editor": name, "versions": authors[name]} for name in sorted(authors)],
        "versions": [version_member(version) for version in versions],
    }


def display_head_of(state: State, entry: Entry) -> str:
    """Give what readers see (spec §6).

    The baseline of a frozen entry, the last that passed of a reviewed one, else the head.
    """
    if entry.status == "frozen" and entry.baseline_rev is not None:
        return entry.baseline_rev
    if entry.display_mode == "reviewed":
        for name in reversed(entry.history):
            if name == entry.passed or _passed_review(state, entry, name):
                return name
    return entry.head


def _passed_review(state: State, entry: Entry, name: str) -> bool:
    version = state.versions.get(name)
    if version is None:
        return False
    return version.approved and not version.condemned and name not in entry.disputed


def awaiting_review(state: State, entry: Entry, display_head: str) -> list[str]:
    """Give the versions after the displayed one of an entry in review mode, in order (spec §6)."""
    if entry.display_mode != "reviewed" or entry.status == "frozen":
        return []
    history = entry.history
    after = len(history) - history[::-1].index(display_head) if display_head in history else 0
    return [name for name in history[after:] if name in state.versions]


def quality_of(state: State, entry: Entry) -> str:
    """Give the quality level: protected, featured, normal or stub (spec §9)."""
    if entry.status == "protected":
        return "protected"
    head = state.versions.get(entry.head)
    if head is None:
        return "normal"
    if is_featured(state, entry, head):
        return "featured"
    return "stub" if head.size is not None and head.size < STUB_BYTES else "normal"


def is_featured(state: State, entry: Entry, head: Version) -> bool:
    """Tell whether a head's good reviews by T2 editors carry it to featured (PRD §5.6)."""
    if head.id in entry.disputed:
        return False
    said = state.reviews_of.get(head.id, {})
    latest = (state.reviews[pin] for pin in said.values())
    good = [r for r in latest if r.by_t2 and r.score is not None and r.score >= PASSING_SCORE]
    if len(good) < state.limits.featured_reviews:
        return False
    weight = sum(max(state.editors[review.sender].reputation, 0) for review in good)
    return weight >= state.limits.featured_tenths


def _editor(state: State, editor: Editor, tip: int) -> Json:
    return {
        "id": editor.id,
        "status": status_of(editor),
        "tier": tier_of(editor, state.limits, tip),
        "reputation": editor.reputation,
        "validRevs": editor.valid_revs,
        "registeredAt": editor.registered_at,
        "founder": editor.founder,
        "revoked": editor.revoked,
        "banned": editor.banned,
        "suspendedUntil": editor.suspended_until,
        "poolSuspendedUntil": editor.pool_suspended_until,
        "registers": editor.registers,
        "endorsedBy": editor.endorsed_by,
        "validReviews": editor.valid_reviews,
        "halfSignals": editor.half_signals,
    }


def _votes(votes: dict[str, bool]) -> list[Json]:
    return [{"editor": name, "approve": approve} for name, approve in votes.items()]


def _proposal(proposal: Proposal) -> Json:
    params = proposal.params
    return {
        "pin": proposal.pin,
        "sender": proposal.sender,
        "challengePin": proposal.challenge_pin,
        "outcome": proposal.outcome,
        "params": {
            "revertTo": params.revert_to,
            "fromEntry": params.from_entry,
            "toEntry": params.to_entry,
            "editor": params.editor,
            "protected": params.protected,
            "displayMode": params.display_mode,
        },
        "entryKey": proposal.entry_key,
        "baselineRev": proposal.baseline_rev,
        "duringFreeze": proposal.during_freeze,
        "openedAt": proposal.opened_at,
        "expiresAt": proposal.expires_at,
        "arbiters": proposal.arbiters,
        "votes": _votes(proposal.votes),
        "approveCount": proposal.approve_count,
        "state": proposal.state,
    }


def _param_proposal(proposal: ParamProposal) -> Json:
    return {
        "pin": proposal.pin,
        "sender": proposal.sender,
        "targetConstitution": proposal.target_constitution,
        "changes": [
            {"param": name, "value": proposal.changes[name]} for name in sorted(proposal.changes)
        ],
        "openedAt": proposal.opened_at,
        "expiresAt": proposal.expires_at,
        "needed": proposal.needed,
        "voters": proposal.voters,
        "votes": _votes(proposal.votes),
        "approveCount": proposal.approve_count,
        "state": proposal.state,
        "usedBy": proposal.used_by,
    }
