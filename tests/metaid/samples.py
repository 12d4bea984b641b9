"""Vectors, keys and strategies that the tests of the chain side share."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from refold.metaid.envelope import RawTuple, new_tuple
from refold.metaid.tx import MAX_SATOSHI, Input, Outpoint, Output, Tx
from refold.metaid.wallet import Key, Utxo

VECTORS = Path(__file__).parents[1] / "vectors" / "metaid"


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


TX_VECTORS = load("mvc_tx_vectors.json")["vectors"]
REAL_TXS = load("mvc_real_txs.json")["txs"]
RAW_TXS = {vector["name"]: bytes.fromhex(vector["raw_tx_hex"]) for vector in TX_VECTORS} | {
    vector["name"]: bytes.fromhex(vector["raw"]) for vector in REAL_TXS
}

AUTHOR, VICTIM, SPONSOR = (
    Key(sha256(name).digest()) for name in (b"author", b"victim", b"sponsor")
)
REV = new_tuple("create", "/protocols/agentpedia/rev", b'{"v":1}')


def coin(key: Key, value: int = 100_000, *, of: str = "coin", index: int = 0) -> Utxo:
    """Give a coin of a transaction that nobody has seen."""
    return Utxo(Outpoint(sha256(of.encode()).hexdigest(), index), Output(value, key.script))


def parent(*outputs: Output) -> Tx:
    """Give a transaction that pays these outputs out of nothing that is known."""
    return Tx(10, (Input(Outpoint("11" * 32, 0), b"\x51"),), outputs)


hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
uint32 = st.integers(0, 2**32 - 1)
scripts = st.binary(max_size=300)
inputs = st.builds(Input, st.builds(Outpoint, hashes, uint32), scripts, uint32)
outputs = st.builds(Output, st.integers(0, MAX_SATOSHI), scripts)
versions = st.sampled_from((1, 2, 9, 10, 11, -1, -(2**31), 2**31 - 1)) | st.integers(
    -(2**31), 2**31 - 1
)
txs = st.builds(
    Tx,
    versions,
    st.lists(inputs, min_size=1, max_size=4).map(tuple),
    st.lists(outputs, min_size=1, max_size=4).map(tuple),
    uint32,
)
raw_tuples = st.builds(
    RawTuple,
    st.sampled_from((b"create", b"Modify", b"hide"))
    | st.binary(max_size=20).filter(lambda data: data.lower() not in {b"init", b"revoke"}),
    st.binary(max_size=90),
    st.binary(max_size=3),
    st.binary(max_size=6),
    st.binary(max_size=90),
    st.lists(st.binary(max_size=600), min_size=1, max_size=4).map(tuple),
)
