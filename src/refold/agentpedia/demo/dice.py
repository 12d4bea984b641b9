"""Chance for the story, the same for the same seed on every machine."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Dice:
    """Draws from one seed.

    All of them stand on `Random.random()`, the one method whose sequence Python promises to keep
    from release to release; no floating-point function of the C library takes part.
    """

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311  (a story, no secret)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, percent: int) -> bool:
        """Say yes in so many cases of a hundred."""
        return self.between(1, 100) <= percent

    def pick(self, choices: Sequence[T]) -> T:
        """Draw one of the choices; there has to be one."""
        return choices[self.between(0, len(choices) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Give the items in a drawn order."""
        rest = list(items)
        return [rest.pop(self.between(0, len(rest) - 1)) for _ in items]
