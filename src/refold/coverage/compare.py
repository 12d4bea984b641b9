"""Two receipts side by side: whether one may supersede the other, and equivocation (F-34, Y-5).

Neither changes what either record is worth: a superseded receipt stays listed, and equivocation is
told of the writer, not judged in a record. Who wrote them, and which pin each is, only the chain
knows; the caller says so.
"""

from typing import Any

import msgspec

from refold.coverage.consensus import Identity, identity_of
from refold.coverage.record import Receipt, Source

__all__ = ["Comparison", "Equivocation", "compare"]


class Equivocation(msgspec.Struct, frozen=True, rename="camel"):
    """One source that two records of one signing window show with two digests of one frame."""

    operator: str
    locator: str
    frame: str
    digests: tuple[str, str]


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """What holds between an earlier and a later receipt.

    same_question: equal queryHash and equal units, their recipes compared and not their ends.
    later: the second's asOf is after the first's.
    names_first: the second's `supersedes` names the first's pin; None when that pin is not known.
    may_supersede: it names it, or names a pin that may be it, asks the same question and was
        walked later (F-34).
    same_window: the same question, epoch and epochBasis; only then is there equivocation.
    equivocations: by source, in the order of the second's sourceSet.
    added, removed: ids that only the second, only the first matched.
    """

    same_question: bool
    later: bool
    names_first: bool | None
    may_supersede: bool
    same_window: bool
    equivocations: tuple[Equivocation, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether there is no equivocation, and no supersession of the first against F-34."""
        return not self.equivocations and (self.may_supersede or not self.names_first)


def compare(first: Receipt, second: Receipt, first_pin: str = "") -> Comparison:
    """Compare two valid receipts; `first_pin` is the pin id of the first, "" when not known."""
    same_question = _question(first) == _question(second)
    later = second.corpus.as_of > first.corpus.as_of
    names_first = second.supersedes == first_pin if first_pin else None
    window = same_question and first.consensus is not None and _window(first) == _window(second)
    before, after = _matches(first), _matches(second)
    return Comparison(
        same_question,
        later,
        names_first,
        bool(second.supersedes) and names_first is not False and same_question and later,
        window,
        _equivocations(first, second) if window else (),
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name not in after),
    )


def _question(receipt: Receipt) -> tuple[Any, ...]:
    units = tuple((unit.id, unit.replay) for unit in receipt.corpus.units)
    return receipt.query.query_hash, units


def _window(receipt: Receipt) -> tuple[str, str] | None:
    block = receipt.consensus
    return None if block is None else (block.epoch_basis, block.epoch)


def _matches(receipt: Receipt) -> dict[str, None]:
    return dict.fromkeys(match.id for match in receipt.result.matches)


def _observed(receipt: Receipt) -> dict[tuple[Identity, str], Source]:
    """Give what was observed, by source and frame: digests of two frames are never compared."""
    sources = receipt.consensus.source_set if receipt.consensus else ()
    return {
        (identity_of(source.operator, source.locator), source.digest_frame): source
        for source in sources
        if source.outcome == "OBSERVED"
    }


def _equivocations(first: Receipt, second: Receipt) -> tuple[Equivocation, ...]:
    before = _observed(first)
    return tuple(
        Equivocation(now.operator, now.locator, now.digest_frame, (then.set_digest, now.set_digest))
        for key, now in _observed(second).items()
        if (then := before.get(key)) is not None and then.set_digest != now.set_digest
    )
