"""Blocks recognised by the pins that an indexer lists in them. Pure.

Indexers give no hashes of blocks, and their heights say nothing of a block that was replaced by
another of the same height. The places of its pins do.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from refold.metaid.man.overlap import Place
from refold.metaid.store import Anchor, places_digest


def anchors_of(
    indexer: str, listed: Iterable[Mapping[str, Place]], floor: int, height: int
) -> list[Anchor]:
    """Give an anchor for each height from `floor` to `height`, for empty blocks too.

    `listed` are the places of pins by id, one mapping for each path.
    """
    blocks: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for places in listed:
        for pin_id, place in places.items():
            if place.height is not None and floor <= place.height <= height:
                blocks[place.height].append((place.tx_index, pin_id))
    return [
        Anchor(indexer, at, "places", places_digest(blocks.get(at, ())))
        for at in range(floor, height + 1)
    ]


def differs_from(before: Iterable[Anchor], now: Iterable[Anchor]) -> int | None:
    """Give the lowest height whose anchor is another than it was, None when there is none."""
    known = {anchor.height: anchor.hash for anchor in before}
    different = (
        anchor.height for anchor in now if known.get(anchor.height, anchor.hash) != anchor.hash
    )
    return min(different, default=None)
