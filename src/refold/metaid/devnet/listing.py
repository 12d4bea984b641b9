"""Pages of pins: along the chain, or down the index keys as the real indexers run (§3.4)."""

from base64 import b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Generator, Sequence
from contextlib import closing

import msgspec
from sqlalchemy import ColumnElement, Connection, func, or_, select, tuple_

from refold.kernel.errors import InputError
from refold.metaid.devnet import indexer
from refold.metaid.devnet.found import Found, drawn, found_of
from refold.metaid.devnet.quirks import Quirks
from refold.metaid.devnet.tables import LISTING, PINS
from refold.metaid.globalmetaid import metaid_of


class Query(msgspec.Struct, frozen=True):
    """What a list is asked for: a path, perhaps one owner's pins only, where to go on, how many."""

    path: str
    size: int
    cursor: str = ""
    owner_metaid: str | None = None


class Page(msgspec.Struct, frozen=True):
    """Pins in the order of the list, where the next page begins, and what `total` says."""

    pins: tuple[Found, ...]
    next_cursor: str
    total: int


class Totals:
    """Counts of lists, kept until anything changes: a walk asks for the same one on every page."""

    def __init__(self) -> None:
        self._changes = -1
        self._counts: dict[tuple[str, str | None, int], int] = {}

    def of(self, connection: Connection, query: Query, quirks: Quirks) -> int:
        """Count the confirmed pins, those up to the last block at which they were counted."""
        changes = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        if changes != self._changes:
            self._changes, self._counts = changes, {}
        top = indexer.height_of(connection)
        if quirks.total_lag:
            top -= top % quirks.total_lag
        key = (query.path, query.owner_metaid, top)
        if key not in self._counts:
            self._counts[key] = _count(connection, query, top, quirks)
        return self._counts[key]


def page_of(connection: Connection, query: Query, quirks: Quirks, totals: Totals) -> Page:
    """Give a page. Raises `InputError` `cursor-form` for a cursor that no page gave.

    Cursors as raw index keys are checked against nothing: any text is one.
    """
    after = "" if query.cursor in {"", "0"} else _position(query, quirks)
    size = query.size
    if drawn(quirks.short_pages, "short page", query.path, after):
        size = max(1, size * 3 // 4)
    chosen: dict[str, Found] = {}
    more = False
    with closing(_pins(connection, query, after, quirks)) as pins:
        for pin in pins:
            if len(chosen) == size:
                more = True
                break
            chosen.setdefault(pin.record.id, pin)
    total = totals.of(connection, query, quirks)
    if not chosen:
        return Page((), "", total)
    last = next(reversed(chosen.values()))
    cursor = _cursor(query, last, quirks) if more or quirks.cursor_on_last_page else ""
    kept = [pin for pin in chosen.values() if not _is_lost(pin, quirks)]
    return Page(_sorted(kept, quirks.inner_sort), cursor, total)


def _is_lost(pin: Found, quirks: Quirks) -> bool:
    return drawn(quirks.lost_rows, "lost row", pin.record.id)


def _sorted(pins: list[Found], by: str) -> tuple[Found, ...]:
    if by != "none":
        pins.sort(key=lambda pin: pin.seen if by == "seenTime" else pin.time, reverse=True)
    return tuple(pins)


def _position(query: Query, quirks: Quirks) -> str:
    if quirks.raw_cursor:
        return query.cursor.removeprefix(f"{query.owner_metaid}&")
    try:
        return b64decode(query.cursor, altchars=b"-_", validate=True).decode()
    except (Base64Error, ValueError) as error:
        raise InputError("cursor-form", "no page gave this cursor", "begin again") from error


def _cursor(query: Query, last: Found, quirks: Quirks) -> str:
    position = last.key if quirks.newest_first else f"{last.place}&{last.record.id}"
    if not quirks.raw_cursor:
        return urlsafe_b64encode(position.encode()).decode()
    return position if query.owner_metaid is None else f"{query.owner_metaid}&{position}"


def _pins(connection: Connection, query: Query, after: str, quirks: Quirks) -> Generator[Found]:
    if quirks.newest_first:
        return _down_the_keys(connection, query, after, quirks)
    return _along_the_chain(connection, query, after, quirks)


def _along_the_chain(
    connection: Connection, query: Query, after: str, quirks: Quirks
) -> Generator[Found]:
    chosen = select(PINS).where(*_scope(query, quirks)).order_by(PINS.c.place, PINS.c.id)
    if after:
        place, _, pin_id = after.rpartition("&")
        chosen = chosen.where(tuple_(PINS.c.place, PINS.c.id) > (place, pin_id))
    with connection.execute(chosen) as rows:
        for row in rows:
            yield found_of(row)


def _scope(query: Query, quirks: Quirks) -> list[ColumnElement[bool]]:
    """Give the conditions on `PINS` for what a list may hold."""
    conditions = [PINS.c.path_hash == metaid_of(query.path)]
    if query.owner_metaid is not None:
        conditions.append(PINS.c.owner_metaid == query.owner_metaid)
    if not quirks.mempool_rows:
        conditions.append(PINS.c.place < indexer.UNMINED)
    return conditions


def _down_the_keys(
    connection: Connection, query: Query, after: str, quirks: Quirks
) -> Generator[Found]:
    key = LISTING.c.far_key if quirks.mempool_key == "far-future" else LISTING.c.key
    stale_from = indexer.height_of(connection) - quirks.stale_keys
    shows = LISTING.c.height >= 0
    if quirks.mempool_rows:
        shows = or_(shows, PINS.c.height < 0, PINS.c.height > stale_from)
    chosen = (
        select(PINS, key.label("found_key"))
        .join(LISTING, LISTING.c.pin_id == PINS.c.id)
        .where(LISTING.c.path_hash == metaid_of(query.path), shows)
        .order_by(key.desc())
    )
    if query.owner_metaid is not None:
        chosen = chosen.where(LISTING.c.owner_metaid == query.owner_metaid)
    if after:
        chosen = chosen.where(key < after)
    with connection.execute(chosen) as rows:
        for row in rows:
            yield found_of(row, row.found_key)


def _count(connection: Connection, query: Query, top: int, quirks: Quirks) -> int:
    counted = select(func.count()).where(*_scope(query, quirks), PINS.c.place < f"{top + 1:010d}")
    return connection.execute(counted).scalar_one()


def pins_at(connection: Connection, *, mempool: bool, skip: int, size: int) -> list[Found]:
    """Give pins of all paths, the newest first: of the mempool, or of the blocks."""
    where = PINS.c.place >= indexer.UNMINED if mempool else PINS.c.place < indexer.UNMINED
    chosen = select(PINS).where(where).order_by(PINS.c.place.desc()).offset(skip).limit(size)
    return [found_of(row) for row in connection.execute(chosen)]


def pins_of_paths(
    connection: Connection,
    paths: Sequence[str],
    owner_metaids: Sequence[str] | None,
    *,
    skip: int,
    size: int,
) -> tuple[list[Found], int]:
    """Give confirmed pins of some paths, the newest first, and how many there are in all."""
    hashes = [metaid_of(path) for path in paths]
    where = [PINS.c.path_hash.in_(hashes), PINS.c.place < indexer.UNMINED]
    if owner_metaids is not None:
        where.append(PINS.c.owner_metaid.in_(owner_metaids))
    chosen = select(PINS).where(*where).order_by(PINS.c.place.desc()).offset(skip).limit(size)
    total = connection.execute(select(func.count()).where(*where)).scalar_one()
    return [found_of(row) for row in connection.execute(chosen)], total


def pin_by_id(connection: Connection, pin_id: str, quirks: Quirks) -> Found | None:
    """Give a pin, None when the indexer does not know it."""
    names = PINS.c.id == pin_id
    if quirks.aliases:
        names = or_(names, PINS.c.alias == pin_id)
    row = connection.execute(select(PINS).where(names)).first()
    return None if row is None else found_of(row)


def counts(connection: Connection) -> dict[str, int]:
    """Give how many pins, blocks with pins, and owners the indexer knows."""
    confirmed = PINS.c.height >= 0
    row = connection.execute(
        select(
            func.count(),
            func.count(PINS.c.height.distinct()),
            func.count(PINS.c.owner_metaid.distinct()),
        ).where(confirmed)
    ).one()
    return {"pin": row[0], "block": row[1], "metaId": row[2], "app": 0}
