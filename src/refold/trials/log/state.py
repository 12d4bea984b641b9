"""What the writer of the log knows of it, and how it grows; read again when others appended.

Loading takes the last message, at most 256 leaves and a few tiles a level, however long the log is,
and finds a tree that does not fit its newest messages or its checkpoint.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlalchemy import Connection, select, true

from refold.kernel.errors import RefoldError, SourceError
from refold.kernel.merkle import HASH_BYTES, Frontier, leaf_hash, perfect_root
from refold.trials.checkpoint import LogKey, read_checkpoint
from refold.trials.leaf import hashed_leaf, leaf_bytes
from refold.trials.store import tables
from refold.trials.store.model import Message
from refold.trials.store.tree import SignedCheckpoint, Tree
from refold.trials.tiles import HEIGHT, WIDTH, tiles_of

__all__ = ["Growth", "State", "Tip", "grown", "load_state", "tip_of"]

_ROW = tables.messages.c
_KEY = tables.log_keys.c
_LAST = select(_ROW.id, _ROW.accepted_at, _ROW.digest).order_by(_ROW.id.desc()).limit(1).subquery()
_LAST_KEY = select(_KEY.name, _KEY.public_key).order_by(_KEY.id.desc()).limit(1).subquery()
# One statement, since every transaction of the log asks it.
_TIP = select(_LAST, _LAST_KEY).select_from(_LAST_KEY.outerjoin(_LAST, true()))
_FULL = WIDTH * HASH_BYTES


@dataclass(frozen=True, slots=True)
class Tip:
    """The last message of a log, zeros and "" if there is none, and the key that signs it now."""

    size: int
    accepted_at: int
    digest: str
    key: LogKey


@dataclass(frozen=True, slots=True)
class State:
    """The end of the log: its last message, and what the tree over it grows from.

    `tiles` holds the unfinished tile of each level, b"" where none is begun; `checkpoints` the
    newest, at most two, the older one first.
    """

    size: int
    accepted_at: int
    digest: str
    frontier: Frontier
    tiles: tuple[bytes, ...]
    checkpoints: tuple[SignedCheckpoint, ...]

    @property
    def begun(self) -> set[tuple[int, int]]:
        """The level and number of the unfinished tiles."""
        return {
            (level, (self.size >> HEIGHT * level) // WIDTH)
            for level, tile in enumerate(self.tiles)
            if tile
        }


@dataclass(frozen=True, slots=True)
class Growth:
    """What appending some messages makes: the frontier and tiles, and the rows of tiles."""

    frontier: Frontier
    tiles: tuple[bytes, ...]
    rows: dict[tuple[int, int], bytes]


def tip_of(connection: Connection) -> Tip:
    """Give where the log ends; raises SourceError `log-damaged` for one without a key."""
    row = connection.execute(_TIP).one_or_none()
    if row is None:
        _refuse("it has no key")
    key = LogKey(row.name, bytes.fromhex(row.public_key))
    return Tip(row.id or 0, row.accepted_at or 0, row.digest or "", key)


def grown(state: State, messages: Sequence[Message]) -> Growth:
    """Give the tree with some more leaves; what `state` holds stays as it is."""
    frontier = state.frontier.copy()
    tiles = [bytearray(tile) for tile in state.tiles]
    rows: dict[tuple[int, int], bytes] = {}
    for each in messages:
        hashed = hashed_leaf(each.id, each.accepted_at, each.digest, each.signature)
        frontier.append(hashed)
        level = 0
        while True:
            if level == len(tiles):
                tiles.append(bytearray())
            tiles[level] += hashed
            number = ((frontier.size >> HEIGHT * level) - 1) // WIDTH
            rows[level, number] = b""
            if len(tiles[level]) < _FULL:
                break
            rows[level, number] = full = bytes(tiles[level])
            tiles[level].clear()
            hashed = perfect_root(_split(full))
            level += 1
    rows = {place: rows[place] or bytes(tiles[place[0]]) for place in rows}
    return Growth(frontier, tuple(map(bytes, tiles)), rows)


def load_state(connection: Connection, keys: Sequence[LogKey]) -> State:
    """Read the end of the log, and check it; `keys` are those that may have signed it.

    Raises SourceError `log-damaged`.
    """
    tree = Tree(connection)
    tip = tip_of(connection)
    size = tip.size
    tiles = []
    for level, number, width in tiles_of(size):
        hashes = tree.hashes(level, number)
        if len(hashes) != width * HASH_BYTES:
            _refuse(f"tile {number} of level {level} has not {width} hashes")
        tiles.append(hashes if width < WIDTH else b"")
    _check_leaves(connection, tree, size)
    frontier = tree.frontier(size)
    checkpoints = tuple(reversed(tree.checkpoints(2)))
    if checkpoints:
        try:
            said = read_checkpoint(checkpoints[-1].note, keys)
        except RefoldError as error:
            _refuse(f"its newest checkpoint: {error.message}")
        if not said.size == checkpoints[-1].size == size or said.root != frontier.root():
            _refuse(f"its newest checkpoint is of {said.size} messages, the tree of {size}")
    elif size:
        _refuse("it has messages and no checkpoint")
    return State(size, tip.accepted_at, tip.digest, frontier, tuple(tiles), checkpoints)


def _check_leaves(connection: Connection, tree: Tree, size: int) -> None:
    """See to it that the last tile is that of the newest messages."""
    if not size:
        return
    number = (size - 1) // WIDTH
    asked = (
        select(_ROW.id, _ROW.accepted_at, _ROW.digest, _ROW.signature)
        .where(_ROW.id > number * WIDTH)
        .order_by(_ROW.id)
    )
    hashes = [leaf_hash(leaf_bytes(*row)) for row in connection.execute(asked)]
    if b"".join(hashes) != tree.hashes(0, number):
        _refuse(f"the messages after {number * WIDTH} are not those of the tree")


def _split(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]


def _refuse(why: str) -> NoReturn:
    raise SourceError("log-damaged", f"the log of trials: {why}", "restore a backup")
