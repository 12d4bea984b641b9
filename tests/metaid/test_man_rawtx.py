"""Raw transactions of an explorer, which can withhold them and cannot lie about them."""

import json

import pytest

from metaid.mans import BASE, HTML, Answer, Scripted
from metaid.samples import RAW_TXS
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError
from refold.metaid.rawtx import RawTxs
from refold.metaid.tx import parse_tx, plain_txid_of, txid_of

RAW = next(iter(RAW_TXS.values()))
TX = parse_tx(RAW)
TXID = txid_of(TX)
OTHER = next(raw for raw in RAW_TXS.values() if txid_of(parse_tx(raw)) != TXID)


def source(answer: Answer) -> RawTxs:
    return RawTxs(Scripted(lambda _path, _query: answer), f"{BASE}/open-api-mvc/")


@pytest.mark.parametrize(
    "answer",
    [
        {"hex": RAW.hex(), "txid": TXID},
        RAW.hex().encode(),
        RAW.hex().upper().encode() + b"\n",
        json.dumps(RAW.hex()).encode(),
    ],
)
def test_a_transaction_comes_back(answer: Answer) -> None:
    txs = source((200, answer))
    assert txs.raw(TXID) == RAW
    assert txs.transport.asked == [f"/open-api-mvc/tx/{TXID}/raw"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", RAW_TXS)
def test_ids_of_both_kinds_will_do(name: str) -> None:
    raw = RAW_TXS[name]
    tx = parse_tx(raw)
    for txid in (txid_of(tx), plain_txid_of(tx)):
        assert source({"hex": raw.hex()}).raw(txid) == raw


def test_an_unknown_transaction_is_none() -> None:
    assert source((404, HTML)).raw(TXID) is None


@pytest.mark.parametrize(
    ("answer", "code", "passing"),
    [
        ({"hex": OTHER.hex()}, "tx-is-another", False),
        ({"hex": RAW.hex()[:-2]}, "tx-unreadable", False),
        ({"hex": "zz"}, "tx-unreadable", True),
        ({"data": RAW.hex()}, "tx-unreadable", True),
        ((200, b""), "tx-unreadable", True),
        ((200, HTML), "tx-unreadable", True),
        ((500, RAW.hex().encode()), "tx-unreadable", True),
    ],
)
def test_no_other_answer_is_a_transaction(answer: Answer, code: str, passing: bool) -> None:
    with pytest.raises(SourceError) as caught:
        source(answer).raw(TXID)
    assert (caught.value.code, isinstance(caught.value, TransientError)) == (code, passing)


@pytest.mark.parametrize("txid", ["", TXID[:-1], TXID.upper(), f"{TXID}i0", "../" + TXID])
def test_what_is_no_id_is_not_asked_for(txid: str) -> None:
    txs = source({"hex": RAW.hex()})
    with pytest.raises(InputError) as caught:
        txs.raw(txid)
    assert caught.value.code == "txid-invalid"
    assert txs.transport.requests == 0
