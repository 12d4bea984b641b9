"""`refold metaid tx`: what a person and a script get for a raw transaction."""

import json
from pathlib import Path

import pytest

from refold.cli.main import run
from refold.kernel.errors import Exit
from refold.metaid.envelope import new_tuple
from refold.metaid.tx import Input, Outpoint, Output, Tx, serialize_tx, txid_of
from refold.metaid.wallet import BuiltTx, Key, Utxo, build_pin_tx

SAMPLES = Path(__file__).parents[1] / "vectors" / "metaid"
VECTOR = json.loads((SAMPLES / "mvc_tx_vectors.json").read_text())["vectors"][0]


@pytest.fixture
def raw_file(tmp_path: Path) -> str:
    file = tmp_path / "tx.hex"
    file.write_text(VECTOR["raw_tx_hex"] + "\n")
    return str(file)


def test_decode_shows_the_ids_and_the_pin(
    raw_file: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["metaid", "tx", "decode", raw_file]) == Exit.DONE
    shown = capfdbinary.readouterr().out.decode()
    assert f"txid {VECTOR['txid']}" in shown
    assert f"pin id: {VECTOR['pinId']}" in shown


def test_decode_as_json(raw_file: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["metaid", "tx", "decode", raw_file, "--format", "json"]) == Exit.DONE
    decoded = json.loads(capfdbinary.readouterr().out)
    assert decoded["txid"] == VECTOR["txid"]
    assert decoded["pin"]["id"] == VECTOR["pinId"]


@pytest.mark.parametrize(
    ("text", "code"),
    [("zz", "tx-no-hex"), ("", "bytes-cut"), ("00", "bytes-cut"), ("é", "tx-no-hex")],
)
def test_what_is_no_transaction_is_one_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], text: str, code: str
) -> None:
    file = tmp_path / "tx.hex"
    file.write_text(text)
    assert run(["metaid", "tx", "decode", str(file)]) == Exit.INPUT
    [line] = capfdbinary.readouterr().err.decode().splitlines()
    assert line.startswith(f"refold: {code}")


AUTHOR = Key(b"\x11" * 32)
STRANGER = Key(b"\x22" * 32)


def written(key: Key) -> tuple[BuiltTx, bytes]:
    """Give a pin transaction of a key, and the raw transaction whose coin it spends."""
    parent = Tx(10, (Input(Outpoint("ab" * 32, 0), b""),), (Output(10_000, key.script),))
    coin = Utxo(Outpoint(txid_of(parent), 0), parent.outputs[0])
    raw = new_tuple("create", "/protocols/agentpedia/review", b"{}")
    return build_pin_tx(key, raw, [coin]), serialize_tx(parent)


def checked(tmp_path: Path, claimed: str, *, parent: bool) -> int:
    built, parent_raw = written(AUTHOR)
    (tmp_path / "tx.hex").write_text(built.raw.hex())
    (tmp_path / "parent.hex").write_text(parent_raw.hex())
    command = ["metaid", "tx", "author", claimed, str(tmp_path / "tx.hex")]
    return run([*command, "--parent", str(tmp_path / "parent.hex")] if parent else command)


def test_an_author_is_proven_by_the_coin_that_was_spent(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert checked(tmp_path, AUTHOR.globalmetaid, parent=True) == Exit.DONE
    assert capfdbinary.readouterr().out.startswith(b"proven: ")


@pytest.mark.parametrize(("key", "parent"), [(AUTHOR, False), (STRANGER, True), (STRANGER, False)])
def test_nothing_less_is_proof(tmp_path: Path, key: Key, parent: bool) -> None:
    assert checked(tmp_path, key.globalmetaid, parent=parent) == Exit.NO
