"""Trees: the roots that everybody computes, and proofs that hold for what they say alone.

The reference is RFC 6962 §2.1 as it is written, recursion and all.
"""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.kernel.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    perfect_root,
    root_of,
    verify_consistency,
    verify_inclusion,
)

MOST = 600
LEAVES = [leaf_hash(b"leaf %d" % number) for number in range(MOST)]
EDGES = sorted({each for k in range(10) for each in (2**k - 1, 2**k, 2**k + 1) if each <= MOST})

# The leaves and roots that implementations of RFC 6962 have been compared by since 2013.
KNOWN_LEAVES = (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
)  # fmt: skip
KNOWN_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


@cache
def mth(begin: int, end: int) -> bytes:
    """Give the Merkle tree hash of some leaves, as RFC 6962 §2.1 defines it."""
    if end - begin == 0:
        return EMPTY_ROOT
    if end - begin == 1:
        return LEAVES[begin]
    part = 1
    while part * 2 < end - begin:
        part *= 2
    return node_hash(mth(begin, begin + part), mth(begin + part, end))


def node(level: int, index: int) -> bytes:
    return mth(index << level, (index + 1) << level)


def path(index: int, begin: int, end: int) -> list[bytes]:
    """Give the audit path of RFC 6962 §2.1.1, from the leaf up."""
    if end - begin == 1:
        return []
    part = 1
    while part * 2 < end - begin:
        part *= 2
    if index < begin + part:
        return [*path(index, begin, begin + part), mth(begin + part, end)]
    return [*path(index, begin + part, end), mth(begin, begin + part)]


def subproof(first: int, begin: int, end: int, *, whole: bool) -> list[bytes]:
    """Give the consistency proof of RFC 6962 §2.1.2."""
    if first == end:
        return [] if whole else [mth(begin, end)]
    part = 1
    while part * 2 < end - begin:
        part *= 2
    if first <= begin + part:
        return [*subproof(first, begin, begin + part, whole=whole), mth(begin + part, end)]
    return [*subproof(first, begin + part, end, whole=False), mth(begin, begin + part)]


sizes = st.one_of(st.sampled_from(EDGES), st.integers(0, MOST))


@st.composite
def two_sizes(draw: st.DrawFn) -> tuple[int, int]:
    second = draw(sizes)
    return draw(st.one_of(st.sampled_from(EDGES), st.integers(0, second)).map(
        lambda size: min(size, second)
    )), second  # fmt: skip


@st.composite
def places(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(sizes.filter(bool))
    return draw(st.integers(0, size - 1)), size


@st.composite
def alterations(draw: st.DrawFn, proof: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Give the proof with something else in it, more of it, or less."""
    at = draw(st.integers(0, len(proof)))
    ways = ["more"] if at == len(proof) else ["less", "bit", "more"]
    way = draw(st.sampled_from(ways))
    if way == "more":
        return (*proof[:at], draw(st.sampled_from(LEAVES)), *proof[at:])
    if way == "less":
        return (*proof[:at], *proof[at + 1 :])
    bit = 1 << draw(st.integers(0, 255))
    changed = (int.from_bytes(proof[at], "big") ^ bit).to_bytes(32, "big")
    return (*proof[:at], changed, *proof[at + 1 :])


def test_the_known_trees_have_their_roots() -> None:
    frontier = Frontier()
    for size, root in enumerate(KNOWN_ROOTS):
        assert frontier.root().hex() == root
        if size < len(KNOWN_LEAVES):
            frontier.append(leaf_hash(bytes.fromhex(KNOWN_LEAVES[size])))


def test_a_tree_that_grows_has_the_root_of_the_definition_at_every_size() -> None:
    frontier = Frontier()
    for size in range(MOST + 1):
        assert frontier.root() == mth(0, size)
        if size in EDGES:
            assert root_of(size, node) == mth(0, size)
            again = Frontier.of(size, node)
            again.append(b"\x01" * 32)
            grown = frontier.copy()
            grown.append(b"\x01" * 32)
            assert again.root() == grown.root() != frontier.root()
        if size < MOST:
            frontier.append(LEAVES[size])


@pytest.mark.parametrize("height", range(9))
def test_a_perfect_tree_is_the_one_over_its_leaves(height: int) -> None:
    assert perfect_root(LEAVES[: 1 << height]) == mth(0, 1 << height)


@given(places(), st.data())
def test_inclusion_is_proved_and_an_altered_proof_is_none(
    place: tuple[int, int], data: st.DataObject
) -> None:
    index, size = place
    proof, root = inclusion_proof(index, size, node), mth(0, size)
    assert list(proof) == path(index, 0, size)
    assert verify_inclusion(LEAVES[index], index, size, proof, root)
    altered = data.draw(alterations(proof))
    assert not verify_inclusion(LEAVES[index], index, size, altered, root)
    other = data.draw(st.integers(0, size).filter(lambda each: each != index))
    assert not verify_inclusion(LEAVES[index], other, size, proof, root)
    assert not verify_inclusion(LEAVES[index - 1], index, size, proof, root)
    assert not verify_inclusion(LEAVES[index], index, size, proof, LEAVES[index - 1])


@given(two_sizes(), st.data())
def test_consistency_is_proved_and_an_altered_proof_is_none(
    pair: tuple[int, int], data: st.DataObject
) -> None:
    first, second = pair
    roots = mth(0, first), mth(0, second)
    proof = consistency_proof(first, second, node)
    assert list(proof) == (subproof(first, 0, second, whole=True) if first else [])
    assert verify_consistency(first, roots[0], second, roots[1], proof)
    altered = data.draw(alterations(proof))
    assert not verify_consistency(first, roots[0], second, roots[1], altered)
    wrong = b"\x02" * 32
    assert not verify_consistency(first, wrong, second, roots[1], proof)
    if first:
        assert not verify_consistency(first, roots[0], second, wrong, proof)


@given(two_sizes().filter(lambda pair: 0 < pair[0] < pair[1]), st.data())
def test_a_tree_with_another_history_is_not_consistent(
    pair: tuple[int, int], data: st.DataObject
) -> None:
    first, second = pair
    changed = data.draw(st.integers(0, first - 1))
    frontier = Frontier()
    for number in range(first):
        frontier.append(b"\x03" * 32 if number == changed else LEAVES[number])
    proof = consistency_proof(first, second, node)
    assert not verify_consistency(first, frontier.root(), second, mth(0, second), proof)


@settings(max_examples=30)
@given(
    st.integers(-(2**70), 2**70),
    st.integers(-(2**70), 2**70),
    st.lists(st.binary(max_size=40), max_size=80),
    st.binary(max_size=40),
)
def test_whatever_is_given_as_a_proof_there_is_an_answer(
    first: int, second: int, proof: list[bytes], hashed: bytes
) -> None:
    assert not verify_inclusion(hashed, first, second, proof, b"\x04" * 32)
    is_valid = verify_consistency(first, hashed, second, hashed, proof)
    assert not is_valid or first in {0, second}


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_no_leaf_outside_the_tree_is_proved(index: int, size: int) -> None:
    with pytest.raises(InputError) as caught:
        inclusion_proof(index, size, node)
    assert caught.value.code == "proof-range"


@pytest.mark.parametrize(("first", "second"), [(-1, 3), (4, 3)])
def test_no_larger_tree_is_the_beginning_of_a_smaller(first: int, second: int) -> None:
    with pytest.raises(InputError) as caught:
        consistency_proof(first, second, node)
    assert caught.value.code == "proof-range"


@given(places())
def test_a_proof_asks_for_few_nodes(place: tuple[int, int]) -> None:
    asked = []

    def counted(level: int, index: int) -> bytes:
        asked.append((level, index))
        return node(level, index)

    index, size = place
    inclusion_proof(index, size, counted)
    assert len(asked) <= 2 * size.bit_length()
