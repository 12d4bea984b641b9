"""Gzip from strangers: members of any size in chunks of any size, each byte once, none missing."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.kernel.gunzip import MAX_PIECE_BYTES, gunzip

EDGES = [0, 1, MAX_PIECE_BYTES - 1, MAX_PIECE_BYTES, MAX_PIECE_BYTES + 1, 3 * MAX_PIECE_BYTES + 7]
members = st.lists(
    st.tuples(st.sampled_from(EDGES), st.sampled_from([b"\0", b"ab", b"needle "])),
    min_size=1,
    max_size=4,
).map(lambda parts: [(word * size)[:size] for size, word in parts])


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def packed(parts: list[bytes]) -> bytes:
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


@given(members, st.sampled_from([1, 7, 1_000, 65_536, 1 << 20]))
def test_every_member_is_given_once(parts: list[bytes], size: int) -> None:
    pieces = list(gunzip(cut(packed(parts), size)))
    assert b"".join(pieces) == b"".join(parts)
    assert all(0 < len(piece) <= MAX_PIECE_BYTES for piece in pieces)


@given(members, st.integers(1, 40), st.sampled_from([64, 65_536]))
def test_a_cut_stream_is_refused(parts: list[bytes], missing: int, size: int) -> None:
    data = packed(parts)
    last = gzip.compress(parts[-1], mtime=0)
    with pytest.raises(InputError, match="gzip"):
        list(gunzip(cut(data[: -min(missing, len(last) - 1)], size)))


def test_many_members_in_one_chunk_take_time_by_their_size() -> None:
    part = b"\0" * (MAX_PIECE_BYTES + 1)
    data = gzip.compress(part, mtime=0) * 200
    assert sum(map(len, gunzip([data]))) == 200 * len(part)


@given(st.binary(max_size=200), members)
def test_what_follows_the_last_member_is_another_or_an_error(
    tail: bytes, parts: list[bytes]
) -> None:
    data = packed(parts) + tail
    if tail:
        with pytest.raises(InputError):
            list(gunzip([data]))
    else:
        assert b"".join(gunzip([data])) == b"".join(parts)
