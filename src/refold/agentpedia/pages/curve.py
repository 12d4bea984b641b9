"""A reputation drawn as a line of steps over heights. Pure: from the line to paths of SVG.

The picture is `WIDTH` by `HEIGHT` units and is stretched to its place, so it has lines alone; what
they are worth stands in words beside it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from refold.agentpedia.queries.model_reader import Gain, ReputationLine
from refold.agentpedia.rules import RULING_DELTAS

__all__ = ["HEIGHT", "WIDTH", "Curve", "Told", "curve_of", "told_of"]

WIDTH = 600
HEIGHT = 120
_MARGIN = 6
_MAX_TOLD = 50
_LOUD = {*RULING_DELTAS, "absence", "overturned"}
"""Causes that are told one by one, and marked in the picture."""


class Curve(NamedTuple):
    """Paths: the line, the level of 0 where it is in the picture, and a tick at what was loud.

    `low` and `high` are the bounds of the picture, in tenths.
    """

    line: str
    zero: str
    ticks: str
    low: int
    high: int


class Told(NamedTuple):
    """Gains in words: the loud ones, the newest first, and sums of the rest by cause."""

    loud: tuple[Gain, ...]
    loud_count: int
    sums: tuple[tuple[str, int, int], ...]


def curve_of(line: ReputationLine) -> Curve:
    """Give the picture of a line; it has at most a step for each unit of its width."""
    levels = [line.start]
    for gain in line.gains:
        levels.append(levels[-1] + gain.tenths)
    low, high = min(0, *levels), max(10, *levels)
    span = max(1, line.to_height - line.from_height)

    def x_of(height: int) -> int:
        return min(WIDTH, max(0, (height - line.from_height) * WIDTH // span))

    def y_of(level: int) -> int:
        return HEIGHT - _MARGIN - (level - low) * (HEIGHT - 2 * _MARGIN) // (high - low)

    steps: dict[int, int] = {}
    for gain, level in zip(line.gains, levels[1:], strict=True):
        steps[x_of(gain.height)] = level
    drawn = "".join(f"H{x}V{y_of(level)}" for x, level in steps.items())
    ticks = dict.fromkeys(x_of(gain.height) for gain in line.gains if gain.cause in _LOUD)
    return Curve(
        line=f"M0 {y_of(line.start)}{drawn}H{WIDTH}",
        zero=f"M0 {y_of(0)}H{WIDTH}",
        ticks="".join(f"M{x} {HEIGHT - _MARGIN}V{HEIGHT}" for x in ticks),
        low=low,
        high=high,
    )


def told_of(gains: Sequence[Gain]) -> Told:
    """Give gains as they are told."""
    loud = [gain for gain in reversed(gains) if gain.cause in _LOUD]
    sums: dict[str, tuple[int, int]] = {}
    for gain in gains:
        if gain.cause not in _LOUD:
            count, tenths = sums.get(gain.cause, (0, 0))
            sums[gain.cause] = (count + 1, tenths + gain.tenths)
    quiet = tuple((cause, *sums[cause]) for cause in sorted(sums))
    return Told(tuple(loud[:_MAX_TOLD]), len(loud), quiet)
