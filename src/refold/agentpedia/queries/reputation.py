"""The reputation of an editor as a line over heights, worked back from what the store holds.

The view keeps the sum alone. What made it is looked up again: rulings and absences among the newest
proposals, the editor's newest revs and what overturned them, the reviews among the newest pins. So
the cost is bounded, and where it does not reach back to the beginning the line begins later, at
what is left of the sum. A test holds it against the fold. Source: spec §§6, 8.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select

from refold.agentpedia.constitution import limits_of
from refold.agentpedia.editors import tier_of
from refold.agentpedia.event import REV, REVIEW, later
from refold.agentpedia.queries.casting import casts_of, decided_at
from refold.agentpedia.queries.history import reverts_of
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json
from refold.agentpedia.queries.model_reader import Gain, ReputationLine
from refold.agentpedia.queries.rulings import constitutions_of
from refold.agentpedia.queries.texts import versions_named
from refold.agentpedia.reputation import (
    ABSENCE_TENTHS,
    HALVES,
    REVIEWS_PER_SIGNAL,
    SETTLE_DAYS,
    SIGNAL_TENTHS,
    weight_of,
)
from refold.agentpedia.rules import PRD, RULING_DELTAS
from refold.agentpedia.state import Editor, Limits, Options
from refold.agentpedia.store import StoredVersion, tables
from refold.agentpedia.store.rows import STEP, step_at
from refold.db import one_of
from refold.metaid.store.tables import pins

__all__ = ["MAX_PINS", "MAX_REVS", "reputation_of"]

MAX_REVS = 200
"""Revs of the editor, the newest, that are looked at."""
MAX_PINS = 5_000
"""Pins, the newest, that are looked through for reviews by the editor."""
MAX_UNDONE = 200
"""Reverts of one entry that are looked at for revs they overturned."""

_H = tables.history.c
_SETTLING = SETTLE_DAYS * Options().blocks_per_day


class _Signal(NamedTuple):
    """Something that earns halves or costs tenths; sorted as the fold meets it."""

    height: int
    is_event: bool
    order: int
    halves: int
    tenths: int
    cause: str
    pin: str


class _Undoing(NamedTuple):
    """A revert, or a ruling that went back: what it overturns came after `target`."""

    seq: int
    height: int
    by: str
    target: int
    pin: str


def reputation_of(look: Look, value: Json, cases: Sequence[Json]) -> ReputationLine:
    """Give the line of an editor (his value in the view), with the proposals that name him.

    Some hundred small questions: for a thread.
    """
    name = value["id"]
    signals = list(_rulings(look, name, cases))
    if look.standing.rules == PRD.name:
        versions = look.reading.revs_of(name, MAX_REVS).items
        found = _pins_by(look, name)
        tiers = _Tiers(look, value, _rev_heights(versions, found[REV]).values())
        signals += _absences(name, cases, tiers)
        signals += _reviews(look, value, found[REVIEW], tiers)
        signals += _revs(look, versions, tiers)
    gains = _whole(sorted(signals), value["halfSignals"])
    tip = look.standing.tip or 0
    start = value["reputation"] - sum(gain.tenths for gain in gains)
    first = value["registeredAt"]
    heights = [gain.height for gain in gains] + ([] if first is None else [first])
    return ReputationLine(
        from_height=min(heights, default=tip),
        to_height=max([tip - 1, *heights]),
        start=start,
        end=value["reputation"],
        gains=tuple(gains),
        is_whole=start == 0,
    )


def _whole(signals: Sequence[_Signal], half_now: int) -> list[Gain]:
    """Make tenths of halves, so that what is left over in the end is what is left over now."""
    half = (half_now - sum(signal.halves for signal in signals)) % HALVES
    gains = []
    for signal in signals:
        earned, half = divmod(half + signal.halves, HALVES)
        tenths = signal.tenths + earned * SIGNAL_TENTHS
        if tenths:
            gains.append(Gain(signal.height, tenths, signal.cause, signal.pin))
    return gains


class _Tiers:
    """The tier of an editor at earlier heights, as the constitutions then had it.

    `revs` are the heights of the valid revs that were found: how many there were before is counted
    back from how many there are.
    """

    def __init__(self, look: Look, value: Json, revs: Collection[int]) -> None:
        constitutions = constitutions_of(look)
        genesis = constitutions[0].height if constitutions else 0
        self._limits = [
            (one.height, limits_of(one.params, Options(), genesis)) for one in constitutions
        ]
        self._value = value
        self._revs = revs

    def limits(self, height: int) -> Limits | None:
        held = [limits for since, limits in self._limits if since <= height]
        return held[-1] if held else None

    def weight(self, height: int) -> int:
        """Give the halves of a signal that is earned by an act at a height."""
        limits = self.limits(height)
        revs = self._value["validRevs"] - sum(one >= height for one in self._revs)
        registered, founder = self._value["registeredAt"], self._value["founder"]
        editor = Editor("", valid_revs=revs, registered_at=registered, founder=founder)
        return 0 if limits is None else weight_of(tier_of(editor, limits, height) or "T0")


def _pins_by(look: Look, name: str) -> dict[str, dict[str, int]]:
    """Give the newest pins of an editor by path, each with its height, in the total order.

    They are found among the newest of all; revs that were refused are left out.
    """
    c = pins.c
    order = (c.height.desc(), c.tx_index.desc(), c.pin.desc())
    asked = select(c.pin, c.height, c.sender, c.path).where(c.height.is_not(None))
    rows = look.connection.execute(asked.order_by(*order).limit(MAX_PINS)).all()
    found: dict[str, dict[str, int]] = {REV: {}, REVIEW: {}}
    for pin, height, sender, path in reversed(rows):
        if sender == name and path in found:
            found[path][pin] = height
    g = tables.graves.c
    refused = select(g.key).where(one_of(look.connection, g.key, list(found[REV])))
    for pin in look.connection.scalars(refused):
        del found[REV][pin]
    return found


def _rulings(look: Look, name: str, cases: Iterable[Json]) -> Iterator[_Signal]:
    for case in cases:
        tenths = RULING_DELTAS.get(case["outcome"])
        if tenths is None or case["state"] != "effective" or case["params"]["editor"] != name:
            continue
        height = decided_at(case, casts_of(look, "proposal", case))
        at = case["openedAt"] if height is None else height
        yield _Signal(at, True, 0, 0, tenths, case["outcome"], case["pin"])


def _absences(name: str, cases: Iterable[Json], tiers: _Tiers) -> Iterator[_Signal]:
    """Give the proposals that ran out without the editor's vote, once a suspension."""
    until = 0
    for case in sorted(cases, key=lambda case: (case["expiresAt"], case["openedAt"])):
        has_voted = any(vote["editor"] == name for vote in case["votes"])
        if case["state"] != "voided" or name not in case["arbiters"] or has_voted:
            continue
        now, limits = case["expiresAt"], tiers.limits(case["expiresAt"])
        if now >= until and limits is not None:
            until = later(now, limits.suspension)
            yield _Signal(now, False, 0, 0, ABSENCE_TENTHS, "absence", case["pin"])


def _reviews(
    look: Look, value: Json, heights: Mapping[str, int], tiers: _Tiers
) -> Iterator[_Signal]:
    """Give every second valid review, counted back from the last; `heights` are those of pins."""
    c = tables.reviews.c
    asked = select(c.key, c.target).where(one_of(look.connection, c.key, list(heights)))
    targets: dict[str, str] = dict(look.connection.execute(asked).all())
    first: dict[str, str] = {}
    for pin in heights:
        if pin in targets:
            first.setdefault(targets[pin], pin)
    total = value["validReviews"]
    valid = list(first.values())[-total:] if total else []
    for number, pin in enumerate(valid, total - len(valid) + 1):
        if number % REVIEWS_PER_SIGNAL == 0:
            halves = tiers.weight(heights[pin])
            yield _Signal(heights[pin], True, number, halves, 0, "reviews", pin)


def _revs(look: Look, versions: Sequence[StoredVersion], tiers: _Tiers) -> Iterator[_Signal]:
    """Give the credits of revs that stood for a week, and the costs of those that did not."""
    made = [version for version in versions if version.equivalent_of is None]
    oldest = {version.record: version for version in made}
    undone = {record: _undoings(look, record, version.place) for record, version in oldest.items()}
    tip = look.standing.tip or 0
    for version in made:
        halves = tiers.weight(version.height)
        due = later(version.height, _SETTLING)
        undoing = next((one for one in undone[version.record] if _hits(one, version, due)), None)
        if undoing is not None:
            cost = -halves * SIGNAL_TENTHS
            yield _Signal(undoing.height, True, undoing.seq, 0, cost, "overturned", undoing.pin)
        elif due <= tip:
            yield _Signal(due, False, version.seq, halves, 0, "stood", version.id)


def _rev_heights(versions: Iterable[StoredVersion], pinned: Mapping[str, int]) -> dict[str, int]:
    """Give the heights of valid revs by pin; a version that a ruling made is no rev."""
    made = {
        version.id.partition("::")[0]: version.height
        for version in versions
        if not version.id.endswith("::rev")
    }
    return {**made, **pinned}


def _hits(undoing: _Undoing, version: StoredVersion, due: int) -> bool:
    is_later = undoing.seq > version.seq > undoing.target
    return is_later and undoing.by != version.author and undoing.height < due


def _undoings(look: Look, record: int, place: int) -> list[_Undoing]:
    """Give what went back in a record behind a place, in order."""
    asked = (
        select(*STEP)
        .where(_H.record == record, _H.place > place, _H.equivalent_of.is_not(None))
        .order_by(_H.place)
        .limit(MAX_UNDONE)
    )
    steps = [step_at(row) for row in look.connection.execute(asked)]
    edges = {edge.source: edge.target for edge in reverts_of(look, steps)}
    targets = versions_named(look, edges.values())
    found = []
    for step in steps:
        target = targets.get(edges.get(step.name, ""))
        if target is not None and step.version is not None:
            version = step.version
            pin = step.name.partition("::")[0]
            found.append(_Undoing(version.seq, version.height, version.author, target.seq, pin))
    return found
