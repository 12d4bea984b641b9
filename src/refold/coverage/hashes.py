"""The hashes of a receipt: SHA-256 over canonical JSON, lower hex (spec §5.4, §5.1)."""

from collections.abc import Iterable, Mapping
from typing import Any

from refold.coverage.record import Match
from refold.kernel.canon import digest

__all__ = ["EMPTY_SET", "query_hash", "receipt_hash", "result_hash", "set_hash"]

EMPTY_SET = digest([])
"""The SET_HASH of no ids, and the resultHash of no matches."""


def query_hash(canon: Mapping[str, Any]) -> str:
    """Give the hash of a criterion, `query.canon` (F-6)."""
    return digest(dict(canon))


def result_hash(matches: Iterable[Match]) -> str:
    """Give the hash of matches in their order (F-28); a digest left out is no member."""
    return digest(
        [
            {"id": match.id} if match.digest is None else {"id": match.id, "digest": match.digest}
            for match in matches
        ]
    )


def set_hash(ids: Iterable[str]) -> str:
    """Give the SET_HASH of ids: of the sorted distinct ones (spec §5.1)."""
    return digest(sorted(set(ids)))


def receipt_hash(record: Mapping[str, Any]) -> str:
    """Give the hash of a whole record as it was read, for reference and signing (tension 5).

    Ignored members count. All four raise InputError `E_CANON_DOMAIN` outside of the domain.
    """
    return digest(dict(record))
