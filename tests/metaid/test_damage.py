"""Damaged transactions: refused, or known to be another one; nothing else ever happens."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from metaid.samples import AUTHOR, RAW_TXS, REV, coin
from refold.kernel.errors import InputError
from refold.metaid.author import check_author
from refold.metaid.block import parse_block
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.decoded import decode_tx
from refold.metaid.inscription import inscriptions_of, parse_btc_tx
from refold.metaid.signature import Digests, verify_input
from refold.metaid.tx import Outpoint, Output, parse_tx, txid_of
from refold.metaid.wallet import build_pin_tx

COIN = coin(AUTHOR)
BUILT = build_pin_tx(AUTHOR, REV, [COIN])


def flips(raw: bytes) -> Iterator[bytes]:
    """Give the bytes with each bit turned, one at a time."""
    for bit in range(8 * len(raw)):
        yield raw[: bit // 8] + bytes((raw[bit // 8] ^ 1 << bit % 8,)) + raw[bit // 8 + 1 :]


def lookup(outpoint: Outpoint) -> Output | None:
    return COIN.output if outpoint == COIN.outpoint else None


@pytest.mark.parametrize("raw", [*RAW_TXS.values(), BUILT.raw], ids=[*RAW_TXS, "built"])
def test_every_truncation_is_refused(raw: bytes) -> None:
    for end in range(len(raw)):
        with pytest.raises(InputError):
            parse_tx(raw[:end])


@pytest.mark.parametrize("raw", [*RAW_TXS.values(), BUILT.raw], ids=[*RAW_TXS, "built"])
def test_every_turned_bit_is_refused_or_gives_another_id(raw: bytes) -> None:
    whole, others, refused = txid_of(parse_tx(raw)), 0, 0
    for damaged in flips(raw):
        try:
            tx = parse_tx(damaged)
        except InputError:
            refused += 1
            continue
        others += 1
        assert txid_of(tx) != whole
        pin_of_tx(tx)
    assert others > refused > 0


def test_no_turned_bit_leaves_the_author_proven_or_the_signature_valid() -> None:
    check = check_author(BUILT.raw, AUTHOR.globalmetaid, lookup)
    assert check.verdict == "proven"
    verify_input(Digests(BUILT.tx), 0, COIN.output)
    for damaged in flips(BUILT.raw):
        try:
            decode_tx(damaged)
            check = check_author(damaged, AUTHOR.globalmetaid, lambda _: COIN.output)
        except InputError:
            continue
        assert check.verdict == "unproven"
        with pytest.raises(InputError):
            verify_input(Digests(parse_tx(damaged)), 0, COIN.output)


@pytest.mark.parametrize("raw", [BUILT.raw, RAW_TXS["v1-plain"]], ids=["built", "v1-plain"])
def test_the_other_readers_only_refuse(raw: bytes) -> None:
    for damaged in flips(raw):
        with suppress(InputError):
            inscriptions_of(parse_btc_tx(damaged))
        with pytest.raises(InputError):
            parse_block(bytes(80) + b"\x02" + damaged)
