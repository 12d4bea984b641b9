"""What is kept of digests and snapshots as heights go by. Pure.

Snapshots are thinned by slots of heights: of the present slot of each width and of the one before
the first is kept, and the newest of all. Where one is taken at least every S blocks, a roll-back by
up to W - S of them finds one that is less than 2 W below the tip. There are never more than five:
the disk holds at most five times the newest, and six while one is written.
"""

from collections.abc import Iterable

BLOCKS_A_DAY = 144
DIGEST_BLOCKS = 1_000
"""Below the tip, the digests of so many heights are all kept (spec §10)."""
DIGEST_STEP = BLOCKS_A_DAY
"""Before that, one a day is."""

SNAPSHOT_WIDTHS = (2 * BLOCKS_A_DAY, 28 * BLOCKS_A_DAY)
"""With a snapshot a day: roll-backs of a day, and of 27. Deeper ones fold from the beginning."""


def keeps_digest(height: int, tip: int) -> bool:
    """Tell whether the digest of a height is kept at a tip."""
    return height > tip - DIGEST_BLOCKS or height % DIGEST_STEP == 0


def kept_snapshots(heights: Iterable[int]) -> set[int]:
    """Give those of the heights whose snapshots are kept; the newest says what the present is."""
    rising = sorted(heights)
    kept = set(rising[-1:])
    for width in SNAPSHOT_WIDTHS:
        first: dict[int, int] = {}
        for height in rising:
            first.setdefault(height // width, height)
        present = rising[-1] // width if rising else 0
        kept.update(first[slot] for slot in (present, present - 1) if slot in first)
    return kept
