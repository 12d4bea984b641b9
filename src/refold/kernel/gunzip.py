"""Gzip from strangers, in bounded pieces, and never a cut stream taken for a whole one.

All members are read (RFC 1952 §2.2), each trailer is checked by zlib, and what follows the last
member must be the start of another. Source: coverage spec §5.5 R-2; coverage case C6.
"""

import zlib
from collections.abc import Iterable, Iterator

from refold.kernel.errors import InputError

__all__ = ["MAX_PIECE_BYTES", "gunzip"]

# Longest piece given at once, in bytes: a bomb is stopped by who counts them, a piece at a time.
MAX_PIECE_BYTES = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16  # only gzip, not zlib's own wrapping


def gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give what the gzip stream in `chunks` holds, as it comes. The caller counts the bytes.

    Raises InputError `gzip-invalid`, at the end also for a stream that is cut or empty.
    """
    member = zlib.decompressobj(_GZIP)
    started = False  # whether `member` has been given any bytes
    any_member = False
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                started = any_member = True
                yield from _pieces(member, rest)
                rest = member.unused_data
                if member.eof:
                    member, started = zlib.decompressobj(_GZIP), False
    except zlib.error as error:
        raise InputError("gzip-invalid", "the gzip stream is damaged") from error
    if started or not any_member:
        raise InputError("gzip-invalid", "the gzip stream is cut off")


def _pieces(member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """Give what `member` makes of `data`, until it needs more or has come to its end.

    At its end it may keep an old `unconsumed_tail`: given that, it would put it behind what follows
    the member a second time.
    """
    piece = member.decompress(data, MAX_PIECE_BYTES)
    while piece:
        yield piece
        if member.eof:
            return
        piece = member.decompress(member.unconsumed_tail, MAX_PIECE_BYTES)
