"""Leaves, and the tree in tiles: paths as the specification has them, and hashes that fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.kernel.merkle import Frontier, inclusion_proof, leaf_hash, root_of, verify_inclusion
from refold.trials.leaf import accepted_text, hashed_leaf, leaf_bytes
from refold.trials.log.state import State, grown
from refold.trials.store.model import Message
from refold.trials.tiles import (
    TilePath,
    bundle,
    node_reader,
    parse_tile_path,
    tiles_of,
    width_at,
)

DIGEST, SIGNATURE = "ab" * 32, "cd" * 64


def message(number: int) -> Message:
    return Message(
        id=number,
        accepted_at=number // 3,
        digest=DIGEST,
        kind="message",
        room="commons",
        reply_to=None,
        thread=number,
        content=None,
        public_key="",
        signature=SIGNATURE,
    )


def leaf_of(number: int) -> bytes:
    return hashed_leaf(number, number // 3, DIGEST, SIGNATURE)


def test_a_leaf_is_the_lines_of_the_specification() -> None:
    assert leaf_bytes(7, 1_900_000_000, DIGEST, SIGNATURE) == (
        f"lockzone-leaf-v1\n7\n2030-03-17T17:46:40Z\n{DIGEST}\n{SIGNATURE}".encode()
    )
    assert accepted_text(0) == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("path", "tile"),
    [
        ("0/000", TilePath(0, 0, 256)),
        ("0/x001/x234/067", TilePath(0, 1_234_067, 256)),
        ("1/999.p/17", TilePath(1, 999, 17)),
        ("entries/x001/000.p/255", TilePath(None, 1_000, 255)),
    ],
)
def test_paths_are_those_of_the_specification(path: str, tile: TilePath) -> None:
    assert parse_tile_path(path) == tile
    assert str(tile) == path


@given(
    st.builds(
        TilePath,
        st.one_of(st.none(), st.integers(0, 7)),
        st.integers(0, 10**18 - 1),
        st.integers(1, 256),
    )
)
def test_every_tile_has_one_path(tile: TilePath) -> None:
    assert parse_tile_path(str(tile)) == tile


@pytest.mark.parametrize(
    "path",
    [
        *("", "0", "0/", "0/0", "0/00", "0/0000", "0/1000", "00/000", "8/000", "-1/000", "a/000"),
        *("0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/", "0/000.p", "0/x000/000"),
        *("0/001/000", "0/x001", "0/X001/000", "0/٠٠٠", "0/000/", "entries/", "Entries/000"),
        *("0/x000/x001/000", "0/000.p/1/2", "0/000\n", " 0/000"),
    ],
)
def test_any_other_path_is_refused(path: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tile_path(path)
    assert caught.value.code == "tile-path"


def test_the_tiles_of_the_specification_s_examples() -> None:
    # 70,000 leaves: 273 full tiles and one of 112; one full and one of 17; one of 1.
    assert list(tiles_of(70_000)) == [(0, 273, 112), (1, 1, 17), (2, 0, 1)]
    assert [width_at(0, number, 70_000) for number in (0, 272, 273, 274)] == [256, 256, 112, 0]
    # A full tile has its hash in the tile above.
    assert list(tiles_of(256)) == [(0, 0, 256), (1, 0, 1)]
    assert list(tiles_of(0)) == []


@pytest.mark.parametrize("batch", [1, 7, 255, 256, 257, 70_000])
def test_however_a_tree_grows_its_tiles_hold_it(batch: int) -> None:
    size = 70_000 if batch > 255 else 1_300
    state = State(0, 0, "", Frontier(), (), ())
    rows: dict[tuple[int, int], bytes] = {}
    for begin in range(0, size, batch):
        growth = grown(state, [message(n + 1) for n in range(begin, min(begin + batch, size))])
        rows |= growth.rows
        state = State(growth.frontier.size, 0, "", growth.frontier, growth.tiles, ())
    assert {level: number for level, number, _ in tiles_of(size)} == {
        level: max(n for at, n in rows if at == level) for level, _ in rows
    }
    assert all(len(rows[at]) == 32 * width_at(*at, size) for at in rows)
    asked: set[tuple[int, int]] = set()

    def read(level: int, number: int) -> bytes:
        asked.add((level, number))
        return rows[level, number]

    assert root_of(size, node_reader(read)) == state.frontier.root()
    for index in (0, 255, 256, size // 2, size - 1):
        asked.clear()
        proof = inclusion_proof(index, size, node_reader(read))
        assert verify_inclusion(leaf_of(index + 1), index, size, proof, state.frontier.root())
        # The tile of the leaf, the last one, and as many a level above.
        assert len(asked) <= 2 * len(list(tiles_of(size)))
    # A tree that was smaller can still be read from the tiles of now.
    frontier = Frontier()
    for number in range(1, 600):
        frontier.append(leaf_of(number))
    assert root_of(599, node_reader(read)) == frontier.root()


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_a_bundle_can_be_taken_apart(leaves: list[bytes]) -> None:
    packed, found = bundle(leaves), []
    while packed:
        length = int.from_bytes(packed[:2], "big")
        found.append(packed[2 : 2 + length])
        packed = packed[2 + length :]
    assert found == leaves
    assert list(map(leaf_hash, found)) == list(map(leaf_hash, leaves))
