"""Rows of a list against what the store has: what to read, and what they say of places. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from refold.metaid.man.bodies import Bodies
from refold.metaid.man.overlap import Place, place_of
from refold.metaid.man.rows import is_mempool
from refold.metaid.pin import MEMPOOL_HEIGHT, PLAIN, Row, is_modified
from refold.metaid.store import NOWHERE, Rivals, Standing


def is_held(row: Row, standing: Standing | None, indexer: str, bodies: Bodies) -> bool:
    """Tell whether the pin of a row need not be read.

    It must be if nobody gave it yet, if the copy is of the mempool and the row of a block, or if
    the row shows another author or length of the body: the copies differ. Another indexer's whole
    copy is read too, as it costs no request, and compared.
    """
    if standing is None:
        return False
    if standing.state == "mempool" and not is_mempool(row):
        return False
    if _differs(row, standing):
        return False
    return standing.source == indexer or bodies.of_row(row) is None


def _differs(row: Row, standing: Standing) -> bool:
    if row.global_meta_id and row.global_meta_id != standing.sender:
        return True
    if row.path != standing.path:
        return True
    is_first_body = row.status == PLAIN and not is_modified(row)
    return is_first_body and row.content_length != standing.size


def words_of(
    rows: Iterable[Row], standings: Mapping[str, Standing], indexer: str, rivals: Rivals
) -> list[tuple[str, Place]]:
    """Give what rows say of places that is not known: of pins that were read out of a block.

    A row of the mempool says nothing of a pin in a block, since indexers go on listing it for a
    while; of one that had vanished it says that it is back.
    """
    words: list[tuple[str, Place]] = []
    for row in rows:
        standing = standings.get(row.id)
        if standing is None or standing.state == "mempool":
            continue
        place = place_of(row)
        if place.height is None:
            if standing.state == "vanished":
                words.append((row.id, NOWHERE))
        elif place != standing.place or is_to_be_adopted(standing, indexer, rivals):
            words.append((row.id, place))
    return words


def is_to_be_adopted(standing: Standing, indexer: str, rivals: Rivals) -> bool:
    """Tell whether a pin stands by the word of one who counts less than the one who says the same.

    Of use only where somebody else may speak in between.
    """
    is_alone = not rivals.above and not rivals.below
    return not is_alone and standing.placed_by not in {indexer, *rivals.above}


def is_to_be_asked(standing: Standing, indexer: str, rivals: Rivals) -> bool:
    """Tell whether it is for an indexer to say that a pin is gone: nobody else stands by it."""
    others = rivals.above | rivals.below
    return standing.placed_by == indexer or standing.placed_by not in others


def unlisted(
    held: Iterable[tuple[str, Place]], listed: Mapping[str, int], floor: int
) -> list[tuple[str, Place]]:
    """Give the pins that a walk down to a height should have listed where they stand, and did not.

    `listed` is at which height each was listed, -1 in the mempool: those that were listed there
    alone, and are known in a block, are among them. Sorted by id.
    """
    found = []
    for pin_id, place in held:
        if place.height is not None and place.height < floor:
            continue
        shown = listed.get(pin_id)
        if shown is None or (shown == MEMPOOL_HEIGHT and place.height is not None):
            found.append((pin_id, place))
    return sorted(found)


def highest_of(rows: Sequence[Row]) -> int | None:
    """Give the highest height of rows, None if none is in a block."""
    return max((row.genesis_height for row in rows if not is_mempool(row)), default=None)
