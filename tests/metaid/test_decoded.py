"""A transaction laid out: everything in it, as JSON."""

import msgspec
from hypothesis import given

from metaid.samples import AUTHOR, RAW_TXS, TX_VECTORS, coin, txs
from refold.metaid.decoded import DecodedTx, decode_tx
from refold.metaid.envelope import RawTuple
from refold.metaid.tx import Tx, serialize_tx
from refold.metaid.wallet import build_pin_tx


def decoded(raw: RawTuple) -> dict[str, object]:
    pin = decode_tx(build_pin_tx(AUTHOR, raw, [coin(AUTHOR)]).raw).pin
    assert pin is not None
    return msgspec.to_builtins(pin)  # type: ignore[no-any-return]


def test_a_vector_laid_out() -> None:
    vector = TX_VECTORS[3]
    found = msgspec.to_builtins(decode_tx(bytes.fromhex(vector["raw_tx_hex"])))
    assert found["txid"] == vector["txid"]
    assert found["plainTxid"] == vector["double_sha256_id"]
    assert (found["version"], found["size"], found["lockTime"]) == (10, 343, 0)
    assert [output["value"] for output in found["outputs"]] == [1, 0, 97_000_000]
    assert [output["address"] for output in found["outputs"]] == [
        vector["owner_address"],
        "",
        vector["owner_address"],
    ]
    (part,) = found["inputs"]
    assert part["sighash"] == 0x41
    assert part["unlockingScript"].endswith(part["publicKey"])
    assert part["spends"].endswith(":2")
    pin = found["pin"]
    assert (pin["id"], pin["owner"]) == (vector["pinId"], vector["owner_address"])
    assert pin["alias"] == f"{vector['double_sha256_id']}i0"
    assert bytes.fromhex(pin["raw"]["path"]).decode() == vector["tuple"]["path"]
    assert pin["originalPath"] == vector["tuple"]["path"].lower()
    assert (pin["host"], pin["path"]) == (
        vector["tuple"]["path"].partition(":")[0].lower(),
        "/protocols/simplenote",
    )
    assert (pin["payloadText"], pin["payloadHex"]) == (vector["tuple"]["payload_utf8"], None)
    assert pin["namedAuthor"].startswith("idq1")
    assert pin["unlistedBecause"] is None


def test_a_payload_that_is_no_text_is_given_in_hex() -> None:
    pin = decoded(RawTuple(b"create", b"/file", b"0", b"1", b"image/png", (b"\x89PNG", b"\xff")))
    assert (pin["payloadText"], pin["payloadHex"]) == (None, "89504e47ff")
    assert pin["payloadBytes"] == 5


def test_a_pin_that_indexers_drop_says_why() -> None:
    pin = decoded(RawTuple(b"create", b"/else", b"0", b"1", b"a/b", (b"",)))
    assert pin["unlistedBecause"] == "path-root"


def test_a_transaction_without_a_pin_has_none() -> None:
    assert decode_tx(RAW_TXS["txid-document"]).pin is None


@given(txs)
def test_any_transaction_becomes_json_and_comes_back(tx: Tx) -> None:
    found = decode_tx(serialize_tx(tx))
    assert msgspec.json.decode(msgspec.json.encode(found), type=DecodedTx) == found
    assert len(found.inputs) == len(tx.inputs)
