"""Leaves of the log: the bytes that stand for a message in the tree.

    lockzone-leaf-v1
    <id, decimal>
    <accepted at, YYYY-MM-DDTHH:MM:SSZ>
    <digest, 64 hex digits>
    <signature, 128 hex digits>

Lines end with LF, the last one has none. The text is no part of it: the digest stands for room,
reply_to, content and key, so a leaf outlives its text. Leaf n of the tree, from 0, is message
n + 1. Source: cold trials spec §3.
"""

from functools import lru_cache

from refold.kernel.merkle import leaf_hash
from refold.kernel.utc import later

__all__ = ["accepted_text", "hashed_leaf", "leaf_bytes"]

_EPOCH = "1970-01-01T00:00:00Z"


@lru_cache(maxsize=64)  # the messages of one commit share their second
def accepted_text(seconds: int) -> str:
    """Give Unix seconds as leaves and answers spell them; InputError `time-range` beyond 9999."""
    return later(_EPOCH, seconds)


def leaf_bytes(message: int, accepted_at: int, digest: str, signature: str) -> bytes:
    """Give the leaf of a message: its id, Unix seconds, digest and signature in hex."""
    accepted = accepted_text(accepted_at)
    return f"lockzone-leaf-v1\n{message}\n{accepted}\n{digest}\n{signature}".encode()


def hashed_leaf(message: int, accepted_at: int, digest: str, signature: str) -> bytes:
    """Give the hash of the leaf of a message."""
    return leaf_hash(leaf_bytes(message, accepted_at, digest, signature))
