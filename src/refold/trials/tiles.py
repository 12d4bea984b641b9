"""Tiles: the tree in pieces of 256 hashes, as they are stored and served.

Tile `number` of `level` holds the tree's nodes at height 8·level, from number·256 on; only the last
of a level may be partial, and it only grows. A path is `LEVEL/NUMBER`, with the number in groups of
three digits, all but the last after an x (1234067 is x001/x234/067), and `.p/WIDTH` after a partial
one; entry bundles have `entries` for the level. Source: C2SP tlog-tiles; cold trials spec §3.
"""

import re
from collections.abc import Callable, Iterable

import msgspec

from refold.kernel.errors import InputError
from refold.kernel.merkle import HASH_BYTES, Node, perfect_root

__all__ = [
    "ENTRIES",
    "HEIGHT",
    "WIDTH",
    "TilePath",
    "bundle",
    "node_reader",
    "parse_tile_path",
    "tiles_of",
    "width_at",
]

HEIGHT = 8
WIDTH = 1 << HEIGHT
ENTRIES = "entries"
"""Stands for the level in paths of entry bundles."""

MAX_LEVEL = 7  # 256^8 leaves are more than ids can count
_LEVEL = re.compile(f"[0-{MAX_LEVEL}]|{ENTRIES}")
_NUMBER = re.compile(r"((?:x[0-9]{3}/){0,5})([0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")

TileSource = Callable[[int, int], bytes]
"""Gives the hashes of the tile at a level and a number, one after the other."""


class TilePath(msgspec.Struct, frozen=True):
    """A tile that is asked for. `level` None means the bundle of entries, `width` is 1 to 256."""

    level: int | None
    number: int
    width: int

    def __str__(self) -> str:
        number = f"{self.number:03}"
        number = number.zfill(-(-len(number) // 3) * 3)
        groups = [number[at : at + 3] for at in range(0, len(number), 3)]
        path = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
        level = ENTRIES if self.level is None else self.level
        return f"{level}/{path}" + (f".p/{self.width}" if self.width < WIDTH else "")


def parse_tile_path(path: str) -> TilePath:
    """Read a path; raises InputError `tile-path` for what is none, or is no tile's one path."""
    level, _, rest = path.partition("/")
    found = _NUMBER.fullmatch(rest)
    if _LEVEL.fullmatch(level) and found:
        number = int(found[1].replace("x", "").replace("/", "") + found[2])
        width = int(found[3] or WIDTH)
        tile = TilePath(None if level == ENTRIES else int(level), number, width)
        if str(tile) == path:
            return tile
    raise InputError(
        "tile-path", "this is no path of a tile", "write LEVEL/NUMBER, as C2SP tlog-tiles has it"
    )


def width_at(level: int, number: int, size: int) -> int:
    """Give how many hashes a tile has in a tree of `size` leaves, 0 if it is not there."""
    return max(0, min(WIDTH, (size >> HEIGHT * level) - number * WIDTH))


def tiles_of(size: int) -> Iterable[tuple[int, int, int]]:
    """Give level, number and width of the last tile of each level of a tree."""
    level = 0
    while size >> HEIGHT * level:
        number = ((size >> HEIGHT * level) - 1) // WIDTH
        yield level, number, width_at(level, number, size)
        level += 1


def node_reader(read: TileSource) -> Node:
    """Give the function that reads a tree's nodes out of its tiles, each tile once."""
    held: dict[tuple[int, int], bytes] = {}

    def node(level: int, index: int) -> bytes:
        tile, height = divmod(level, HEIGHT)
        begin = index << height
        number, first = divmod(begin, WIDTH)
        if (tile, number) not in held:
            held[tile, number] = read(tile, number)
        hashes = held[tile, number]
        end = first + (1 << height)
        cut = [hashes[at * HASH_BYTES : (at + 1) * HASH_BYTES] for at in range(first, end)]
        return perfect_root(cut)

    return node


def bundle(leaves: Iterable[bytes]) -> bytes:
    """Give the bundle of some leaves: each after its length in two bytes, big-endian."""
    return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)
