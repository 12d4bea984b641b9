"""Files out of raw transactions: what is proven, and that nobody's word is taken for a proof."""

import gzip
import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import BASE, Answer, Scripted
from metaid.samples import AUTHOR, coin
from refold.metaid.chainfile import ChainFiles
from refold.metaid.envelope import new_tuple
from refold.metaid.metafile import MAX_CHUNKED_BYTES, MAX_DIRECT_BYTES, ContentFact
from refold.metaid.rawtx import RawTxs
from refold.metaid.wallet import build_pin_tx

TEXT = b"tide heights for the north harbour\n" * 40


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


class Explorer:
    """Knows the transactions of pins that are written through it, and answers as explorers do."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}

    def pin(self, path: str, body: bytes, content_type: str = "text/plain") -> str:
        raw = new_tuple("create", path, body, content_type=content_type)
        money = 10_000 + 3 * len(body)
        built = build_pin_tx(AUTHOR, raw, [coin(AUTHOR, money, of=str(len(self.answers)))])
        self.answers[built.pin.txid] = {"hex": built.raw.hex()}
        return built.pin.id

    def file(self, data: bytes, size: int, pack: Callable[[bytes], bytes] = bytes) -> str:
        return self.index(self.chunks(data, size, pack), sha256=digest(data), fileSize=len(data))

    def chunks(
        self, data: bytes, size: int, pack: Callable[[bytes], bytes] = bytes
    ) -> list[dict[str, str]]:
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        return [
            {"sha256": digest(piece), "pinId": self.pin("/file/_chunk", pack(piece))}
            for piece in pieces
        ]

    def index(self, chunks: list[dict[str, str]], **said: Any) -> str:
        body = {"chunkNumber": len(chunks), "chunkList": chunks} | said
        return self.pin("/file/index", json.dumps(body).encode(), "metafile/index")

    def __call__(self, path: str, _query: object) -> Answer:
        return self.answers.get(path.split("/")[-2], (404, {"error": "unknown"}))

    def resolve(self, pin_id: str, expected: str) -> tuple[ContentFact, bytes]:
        came: list[bytes] = []
        files = ChainFiles(RawTxs(Scripted(self), BASE))
        fact = files.resolve(f"metafile://{pin_id}", expected, came.append)
        return fact, b"".join(came)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


@given(st.binary(max_size=200))
def test_a_file_in_one_pin_is_proven_either_way(body: bytes) -> None:
    explorer = Explorer()
    name = explorer.pin("/file", body)
    fact, came = explorer.resolve(name, digest(body))
    assert (fact.state, fact.actual, came) == ("verified", digest(body), body)
    fact, _ = explorer.resolve(name, digest(body + b"!"))
    assert (fact.state, fact.reason, fact.actual) == ("mismatch", "hash-differs", digest(body))


@given(st.binary(min_size=1, max_size=60), st.integers(8, 60), st.booleans())
def test_a_file_in_chunks_is_proven_either_way(data: bytes, size: int, is_packed: bool) -> None:
    explorer = Explorer()
    name = explorer.file(data, size, packed if is_packed else bytes)
    fact, came = explorer.resolve(name, digest(data))
    assert (fact.state, came) == ("verified", data)
    assert explorer.resolve(name, digest(data + b"!"))[0].state == "mismatch"


@pytest.mark.parametrize("pack", [bytes, packed], ids=["plain", "gzip"])
def test_each_chunk_is_checked_and_then_the_whole(pack: Callable[[bytes], bytes]) -> None:
    explorer = Explorer()
    chunks = explorer.chunks(TEXT, 500, pack)
    whole = {"sha256": digest(TEXT), "fileSize": len(TEXT), "chunkSize": 500}
    other = {**chunks[1], "pinId": explorer.pin("/file/_chunk", pack(b"other bytes"))}
    wrong = explorer.index([chunks[0], other, chunks[2]], **whole)
    fact, came = explorer.resolve(wrong, digest(TEXT))
    assert (fact.state, fact.reason, fact.detail) == ("mismatch", "chunk-differs", other["pinId"])
    assert came == TEXT[:500]
    swapped = explorer.index([chunks[1], chunks[0], chunks[2]], **whole)
    fact, _ = explorer.resolve(swapped, digest(TEXT))
    assert (fact.state, fact.reason) == ("mismatch", "hash-differs")
    short = explorer.index(chunks[:2], **whole)
    fact, _ = explorer.resolve(short, digest(TEXT))
    assert (fact.state, fact.reason) == ("mismatch", "size-differs")


def test_a_chunk_may_unpack_to_more_than_a_pin_holds() -> None:
    """Which limit a chunk keeps was its uploader's to say; only the file's own buries a rev."""
    data = b"tides" * (MAX_DIRECT_BYTES // 5 + 1)
    explorer = Explorer()
    fact, _ = explorer.resolve(explorer.file(data, len(data), packed), digest(data))
    assert (fact.state, fact.size) == ("verified", len(data))


def test_an_index_that_is_none_is_proven_to_be_none() -> None:
    explorer = Explorer()
    name = explorer.pin("/file/index", b"<html>", "metafile/index")
    fact, _ = explorer.resolve(name, digest(TEXT))
    assert (fact.state, fact.reason) == ("mismatch", "index-invalid")
    assert explorer.resolve(name, digest(b"<html>"))[0].state == "mismatch"


def test_what_is_not_there_or_no_file_proves_nothing() -> None:
    explorer = Explorer()
    chunks = explorer.chunks(TEXT, 700)
    whole = {"sha256": digest(TEXT), "fileSize": len(TEXT)}
    absent = explorer.index([chunks[0], {**chunks[1], "pinId": f"{'ab' * 32}i0"}], **whole)
    note = explorer.pin("/protocols/simplenote", TEXT)
    file = explorer.pin("/file", TEXT)
    giant = explorer.index(chunks, sha256=digest(TEXT), fileSize=MAX_CHUNKED_BYTES + 1)
    for name, reason in (
        (f"{'ab' * 32}i0", "pin-unknown"),
        (f"{file[:-1]}7", "pin-unknown"),
        (absent, "chunk-unknown"),
        (note, "not-a-file"),
        (giant, "too-large"),
    ):
        fact, _ = explorer.resolve(name, digest(TEXT))
        assert (fact.state, fact.reason) == ("unavailable", reason)


def test_a_file_above_the_limit_of_one_pin_is_not_taken() -> None:
    explorer = Explorer()
    data = bytes(MAX_DIRECT_BYTES + 1)
    fact, came = explorer.resolve(explorer.pin("/file", data), digest(data))
    assert (fact.state, fact.reason, came) == ("unavailable", "too-large", b"")


@given(st.data())
def test_no_explorer_can_make_a_mismatch_of_a_right_file(data: st.DataObject) -> None:
    """Another transaction, cut or damaged bytes, pages of HTML, nothing: for any of the pins."""
    explorer = Explorer()
    text = data.draw(st.binary(min_size=1, max_size=80))
    name = explorer.file(text, data.draw(st.integers(8, 80)))
    others = [{"hex": answer["hex"]} for answer in explorer.answers.values()]
    for txid, true in list(explorer.answers.items()):
        raw = bytes.fromhex(true["hex"])
        at = data.draw(st.integers(0, len(raw) - 1))
        damaged = bytes([*raw[:at], raw[at] ^ data.draw(st.integers(1, 255)), *raw[at + 1 :]])
        explorer.answers[txid] = data.draw(
            st.sampled_from(
                [
                    true,
                    *others,
                    {"hex": damaged.hex()},
                    {"hex": raw[:at].hex()},
                    {"hex": (raw + b"\0").hex()},
                    (200, b"<html>busy</html>"),
                    (502, b"<html>busy</html>"),
                    (404, {"error": "unknown"}),
                ]
            )
        )
    fact, came = explorer.resolve(name, digest(text))
    assert fact.state in {"verified", "unavailable"}
    assert fact.state == "unavailable" or came == text
