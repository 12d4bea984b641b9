"""From rows of the indexes to what is shown: trials, runs, services by runtime, blockers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import quote

import msgspec

from refold.trials.api.indexesshown import (
    BlockerShown,
    DispositionShown,
    Group,
    GroupShown,
    RecheckShown,
    RunShown,
    SaidAlone,
    SaidBy,
    ServiceCounts,
    ServiceShown,
    ServiceTrial,
    TrialCounts,
    TrialShown,
)
from refold.trials.api.shown import KeyWord, state_word
from refold.trials.indexes.counting import (
    BLOCKER_WORDS,
    OTHER,
    SERVICE_WORDS,
    TRIAL_WORDS,
    blocker_scope,
    recheck_state,
    service_scope,
    trial_scope,
)
from refold.trials.indexes.rows import Cell, PostRow, ServiceRow, TrialRow
from refold.trials.indexes.tallies import (
    Counted,
    Tally,
    Young,
    named_of,
    other_tally,
    tally,
)
from refold.trials.leaf import accepted_text
from refold.trials.relations import KeyState
from refold.trials.rules import BLOCKERS
from refold.trials.store.indexreading import IndexReader, RunFound, TrialFound

__all__ = [
    "badge_path",
    "blockers_of_day",
    "groups",
    "runs_shown",
    "said",
    "service_path",
    "service_trial",
    "services_shown",
    "trials_shown",
]

Address = Callable[[str], str]
"""Gives the whole address of a path."""

MAX_SLASHES: Final = 3
"""Of a service whose parts are segments of an address: host, owner or group, repository."""

_NULL: Final = msgspec.Raw(b"null")
_SERVICE_MEMBERS = ServiceCounts.__struct_fields__
_TRIAL_MEMBERS = TrialCounts.__struct_fields__


def service_path(service: str) -> str:
    """Give the path of a service."""
    return f"/v1/public/services/{_quoted(service)}"


def badge_path(service: str, form: str) -> str:
    """Give the path of the badge of a service; `form` is svg or json."""
    return f"/v1/public/badge/{_quoted(service)}.{form}"


def _quoted(service: str) -> str:
    """Give a service as routes take it; one in deeper groups than they name is one segment."""
    return quote(service, safe="/:" if service.count("/") <= MAX_SLASHES else ":")


def said(raw: bytes | None) -> msgspec.Raw:
    """Give what a post says as it goes into an answer."""
    return _NULL if raw is None else msgspec.Raw(raw)


def trials_shown(
    reader: IndexReader, found: Sequence[TrialFound], now: int, address: Address
) -> tuple[TrialShown, ...]:
    """Give trials with what is counted on them."""
    scopes = [trial_scope(each.id) for each in found]
    counted = reader.counts.counted(Cell(scope, word) for scope in scopes for word in TRIAL_WORDS)
    young = reader.counts.young_of_trials(each.id for each in found)
    return tuple(
        _trial_shown(each, _counts_of_trial(counted, young, scope), now, address)
        for each, scope in zip(found, scopes, strict=True)
    )


def _trial_shown(found: TrialFound, counts: TrialCounts, now: int, address: Address) -> TrialShown:
    return TrialShown(
        id=found.id,
        public_key=found.public_key,
        key=_key_word(found),
        service=found.service,
        accepted_at=accepted_text(found.accepted_at),
        closes=accepted_text(found.closes) if found.closes else None,
        open=found.closes > now,
        proven=found.proven,
        counts=counts,
        url=address(f"/v1/public/trials/{found.id}"),
        untrusted=SaidBy(said(found.said), found.name),
    )


def _counts_of_trial(counted: Counted, young: Young, scope: str) -> TrialCounts:
    tallies = (tally(counted, young, Cell(scope, word)) for word in TRIAL_WORDS)
    return TrialCounts(**dict(zip(_TRIAL_MEMBERS, tallies, strict=True)))


def runs_shown(
    reader: IndexReader, found: Sequence[RunFound], now: int, *, answers: bool
) -> tuple[RunShown, ...]:
    """Give runs, with their dispositions if `answers` are asked for."""
    ids = [each.row.id for each in found]
    dispositions = reader.dispositions(ids) if answers else {}
    return tuple(_run_shown(each, dispositions.get(each.row.id, ()), now) for each in found)


def _run_shown(found: RunFound, answers: Iterable[PostRow], now: int) -> RunShown:
    row = found.row
    state = recheck_state(row, is_open=found.closes > now)
    return RunShown(
        id=row.id,
        trial=row.trial,
        public_key=row.public_key,
        key=_key_word(found),
        accepted_at=accepted_text(row.accepted_at),
        cold=row.cold,
        removed=row.removed,
        outcome=row.outcome or None,
        owner_proof=row.proof or None,
        classes=tuple(row.classes.split(",")) if row.classes else (),
        status=row.status or None,
        recheck=None if state is None else RecheckShown(state, row.recheck or None),
        dispositions=tuple(
            DispositionShown(each.id, SaidAlone(said(each.said))) for each in answers
        ),
        untrusted=SaidBy(said(found.said), found.name),
    )


def _key_word(found: TrialFound | RunFound) -> KeyWord:
    return state_word(
        KeyState(
            admitted=found.name is not None,
            revoked=found.revoked_by is not None,
            blocked=found.blocked is not None,
        )
    )


def services_shown(
    reader: IndexReader, rows: Sequence[ServiceRow], address: Address
) -> tuple[ServiceShown, ...]:
    """Give services with what is counted on them."""
    scopes = [service_scope(row.service) for row in rows]
    counted = reader.counts.counted(Cell(scope, word) for scope in scopes for word in SERVICE_WORDS)
    young = reader.counts.young_of_services(row.service for row in rows)
    return tuple(
        ServiceShown(
            row.service,
            row.trials,
            row.proven > 0,
            _counts_of_service(tally(counted, young, Cell(scope, word)) for word in SERVICE_WORDS),
            address(service_path(row.service)),
        )
        for row, scope in zip(rows, scopes, strict=True)
    )


def groups(reader: IndexReader, service: str) -> tuple[ServiceCounts, tuple[GroupShown, ...]]:
    """Give what is counted on a service, in all and by groups of runtimes."""
    scope = service_scope(service)
    named, has_others = named_of(reader.counts.ranked(scope))
    if has_others:
        counted = reader.counts.counted(
            Cell(scope, word, runtime) for runtime in ("", *named) for word in SERVICE_WORDS
        )
    else:
        counted = reader.counts.counted_in(scope)
    young = reader.counts.young_of_services([service])

    def counts(runtime: str) -> ServiceCounts:
        return _counts_of_service(
            tally(counted, young, Cell(scope, word, runtime)) for word in SERVICE_WORDS
        )

    shown = [GroupShown(counts(runtime), Group(runtime)) for runtime in named]
    if has_others:
        others = (
            _others(reader, counted, young, Cell(scope, word), named) for word in SERVICE_WORDS
        )
        shown.append(GroupShown(_counts_of_service(others), Group(OTHER)))
    return counts(""), tuple(shown)


def _counts_of_service(tallies: Iterable[Tally]) -> ServiceCounts:
    return ServiceCounts(**dict(zip(_SERVICE_MEMBERS, tallies, strict=True)))


def _others(
    reader: IndexReader, counted: Counted, young: Young, total: Cell, named: Sequence[str]
) -> Tally:
    """Give what the runtimes come to that are not named."""
    if total.id not in counted:
        return Tally(0, 0, 0, 0)
    keys = reader.counts.tail_keys(total.scope, total.what, named)
    return other_tally(counted, young, total, named, keys)


def service_trial(found: TrialRow, now: int, address: Address) -> ServiceTrial:
    """Give a trial as its service lists it."""
    return ServiceTrial(
        found.id,
        accepted_text(found.closes),
        found.closes > now,
        found.proven,
        address(f"/v1/public/trials/{found.id}"),
    )


def blockers_of_day(
    reader: IndexReader, young: Young, day: str, only: str | None
) -> Iterator[BlockerShown]:
    """Give the blockers of a day: by class, then runtimes by their posts, all others last."""
    named, has_others = named_of(reader.counts.ranked(blocker_scope(day)))
    classes = [each for each in sorted(BLOCKERS) if only in {None, each}]
    if has_others:
        counted = reader.counts.counted(
            Cell(blocker_scope(day, each), word, runtime)
            for each in classes
            for word in BLOCKER_WORDS
            for runtime in ("", *named)
        )
    else:
        counted = reader.counts.counted_in(blocker_scope(day))
    for each in classes:
        totals = [Cell(blocker_scope(day, each), word) for word in BLOCKER_WORDS]
        if not any(total.id in counted for total in totals):
            continue
        for runtime in named:
            cells = [Cell(total.scope, total.what, runtime) for total in totals]
            if any(cell.id in counted for cell in cells):
                tallies = [tally(counted, young, cell) for cell in cells]
                yield _blocker(day, each, runtime, tallies)
        if has_others:
            others = [_others(reader, counted, young, total, named) for total in totals]
            if any(each_.posts or each_.young_posts for each_ in others):
                yield _blocker(day, each, OTHER, others)


def _blocker(day: str, class_: str, runtime: str, tallies: Sequence[Tally]) -> BlockerShown:
    id_ = f"{day}/{class_}/{sha256(runtime.encode()).hexdigest()[:12]}"
    runs, later, reviews = tallies
    return BlockerShown(id_, day, class_, runs, later, reviews, Group(runtime))
