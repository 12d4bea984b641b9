"""Merkle trees of append-only logs: hashes, roots, proofs, and what verifies them.

The tree of n leaves is the one of RFC 6962 §2.1: the left part of every node is the largest perfect
tree that is smaller than the whole, so a perfect tree, once there, never changes. Its node at
`level` and `index` stands over the leaves index·2^level to (index+1)·2^level - 1; level 0 are the
leaves' hashes. A tree is read through a function that gives such nodes; proofs ask for O(log² n) of
them. Verifying takes nothing but the proof: RFC 9162 §2.1.3.2 and §2.1.4.2.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from refold.kernel.errors import InputError

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "Frontier",
    "Node",
    "consistency_proof",
    "inclusion_proof",
    "leaf_hash",
    "node_hash",
    "perfect_root",
    "root_of",
    "verify_consistency",
    "verify_inclusion",
]

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
"""The root of the tree without leaves."""

Node = Callable[[int, int], bytes]
"""Gives the hash at a level and an index. It is asked for perfect trees alone."""


def leaf_hash(leaf: bytes) -> bytes:
    """Give the hash of a leaf, whatever bytes it is."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Give the hash of a node by those of its two parts."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The perfect trees that a tree is made of, from the left: all that appending needs.

    The memory it takes and the time of a root are those of log n hashes. Begin with none, or with
    `of`.
    """

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size = size
        self._hashes = list(hashes)

    @classmethod
    def of(cls, size: int, node: Node) -> "Frontier":
        """Give the frontier of a tree of so many leaves that is there."""
        return cls(size, (node(level, index) for level, index in _perfect_parts(size)))

    def copy(self) -> "Frontier":
        """Give another one that grows by itself."""
        return Frontier(self.size, self._hashes)

    def append(self, hashed: bytes) -> None:
        """Add the hash of a leaf."""
        self.size += 1
        merges = (self.size & -self.size).bit_length() - 1
        for _ in range(merges):
            hashed = node_hash(self._hashes.pop(), hashed)
        self._hashes.append(hashed)

    def root(self) -> bytes:
        """Give the root of the tree as it is."""
        if not self._hashes:
            return EMPTY_ROOT
        root = self._hashes[-1]
        for left in reversed(self._hashes[:-1]):
            root = node_hash(left, root)
        return root


def perfect_root(hashes: Sequence[bytes]) -> bytes:
    """Give the node over 2^k nodes of one level that stand side by side."""
    while len(hashes) > 1:
        hashes = [node_hash(*hashes[at : at + 2]) for at in range(0, len(hashes), 2)]
    return hashes[0]


def root_of(size: int, node: Node) -> bytes:
    """Give the root of the first `size` leaves of a tree."""
    return Frontier.of(size, node).root()


def inclusion_proof(index: int, size: int, node: Node) -> tuple[bytes, ...]:
    """Give the proof that the leaf `index`, from 0, is in the tree of the first `size` leaves.

    Raises InputError `proof-range` unless 0 ≤ index < size. Whether the tree has that many leaves
    is for the caller to know.
    """
    if not 0 <= index < size:
        raise InputError(
            "proof-range", f"there is no leaf {index} in a tree of {size}", "ask for one below it"
        )
    proof, begin, end = [], 0, size
    while end - begin > 1:
        middle = begin + _largest_part(end - begin)
        if index < middle:
            proof.append(_over(middle, end, node))
            end = middle
        else:
            proof.append(_over(begin, middle, node))
            begin = middle
    return tuple(reversed(proof))


def consistency_proof(first: int, second: int, node: Node) -> tuple[bytes, ...]:
    """Give the proof that the tree of `first` leaves is the beginning of that of `second`.

    It is empty for trees that are equal, and for the empty tree. Raises InputError `proof-range`
    unless 0 ≤ first ≤ second.
    """
    if not 0 <= first <= second:
        raise InputError(
            "proof-range", f"no tree of {first} leaves began one of {second}", "give 0 ≤ first ≤ it"
        )
    if first in {0, second}:
        return ()
    proof, begin, end = [], 0, second
    while first != end:
        middle = begin + _largest_part(end - begin)
        if first <= middle:
            proof.append(_over(middle, end, node))
            end = middle
        else:
            proof.append(_over(begin, middle, node))
            begin = middle
    if begin:  # else the verifier has it: it is the first root
        proof.append(_over(begin, end, node))
    return tuple(reversed(proof))


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> bool:
    """Tell whether `proof` shows that a leaf's hash stands at `index` of the tree under `root`."""
    if not 0 <= index < size or not _are_hashes((leaf, root, *proof)):
        return False
    at, last, found = index, size - 1, leaf
    for hashed in proof:
        if not last:
            return False
        if at & 1 or at == last:
            found = node_hash(hashed, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, hashed)
        at, last = at >> 1, last >> 1
    return not last and found == root


def verify_consistency(
    first: int, first_root: bytes, second: int, second_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Tell whether `proof` shows that the first tree is the beginning of the second."""
    if not 0 <= first <= second or not _are_hashes((first_root, second_root, *proof)):
        return False
    if first in {0, second}:
        known = EMPTY_ROOT if first == 0 else second_root
        is_empty = second > 0 or second_root == EMPTY_ROOT
        return not proof and first_root == known and is_empty
    path = list(proof)
    if first & (first - 1) == 0:
        path.insert(0, first_root)
    if not path:
        return False
    at, last = first - 1, second - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for hashed in path[1:]:
        if not last:
            return False
        if at & 1 or at == last:
            before, after = node_hash(hashed, before), node_hash(hashed, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, hashed)
        at, last = at >> 1, last >> 1
    return not last and before == first_root and after == second_root


def _largest_part(size: int) -> int:
    """Give the largest power of two below `size`, which is at least 2."""
    return 1 << ((size - 1).bit_length() - 1)


def _perfect_parts(size: int, begin: int = 0) -> Iterable[tuple[int, int]]:
    """Give level and index of the perfect trees of `size` leaves from the leaf `begin` on."""
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            yield level, begin >> level
            begin += 1 << level


def _over(begin: int, end: int, node: Node) -> bytes:
    """Give the hash over the leaves from `begin` up to `end`, a part of a tree."""
    parts = _perfect_parts(end - begin, begin)
    return Frontier(end - begin, (node(level, index) for level, index in parts)).root()


def _are_hashes(given: Iterable[bytes]) -> bool:
    return all(len(each) == HASH_BYTES for each in given)
