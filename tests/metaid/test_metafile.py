"""Files of pins: verified, or said why not, and never guessed."""

import gzip
import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import (
    BASE,
    HTML,
    NO_PIN,
    NO_ROUTE,
    ZERO_PIN,
    Answer,
    Scripted,
    load,
    one,
    pin_id,
    row,
    whole,
)
from metaid.samples import AUTHOR, coin
from refold.kernel.errors import InputError
from refold.metaid import metafile
from refold.metaid.envelope import new_tuple
from refold.metaid.fileindex import Index, parse_index
from refold.metaid.fileserver import FileServer
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.client import ManClient
from refold.metaid.metafile import (
    MAX_CHUNKED_BYTES,
    MAX_DIRECT_BYTES,
    REASONS,
    ContentFact,
    Metafiles,
    parse_uri,
)
from refold.metaid.rawtx import RawTxs
from refold.metaid.wallet import build_pin_tx

SAMPLE = load("metafile_index_payload.json")
TIDES = (SAMPLE["line"] * SAMPLE["repeat"]).encode()
FILE = pin_id(1)
CHUNKS = [pin_id(100 + n) for n in range(8)]


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def at(number: int, where: str, body: bytes, content_type: str = "", **members: Any) -> Answer:
    """Give the detail of a pin under /file."""
    return one(whole(row(number, 5) | {"path": where, "contentType": content_type}, body) | members)


def direct(body: bytes, **members: Any) -> Answer:
    return at(1, "/file", body, "text/plain", **members)


def index(data: bytes, size: int, **members: Any) -> dict[str, Any]:
    pieces = [data[n : n + size] for n in range(0, len(data), size)]
    return {
        "sha256": digest(data),
        "fileSize": len(data),
        "chunkNumber": len(pieces),
        "chunkSize": size,
        "dataType": "text/plain",
        "name": "tides.txt",
        "chunkList": [
            {"sha256": digest(piece), "pinId": CHUNKS[n]} for n, piece in enumerate(pieces)
        ],
    } | members


def chunked(
    data: bytes, size: int, pack: Callable[[bytes], bytes] = bytes, **members: Any
) -> dict[str, Answer]:
    """Give the details of a file in chunks, by pin id."""
    body = json.dumps(index(data, size, **members)).encode()
    details = {FILE: at(1, "/file/index", body, "metafile/index;utf-8")}
    for n, start in enumerate(range(0, len(data), size)):
        piece = pack(data[start : start + size])
        details[CHUNKS[n]] = at(100 + n, "/file/_chunk", piece, "metafile/chunk;binary")
    return details


class Pins:
    """Answers details and contents of pins, and what a metafile indexer serves."""

    def __init__(self, details: Mapping[str, Answer]) -> None:
        self.details = details
        self.contents: dict[str, Answer] = {}
        self.served: dict[str, Answer] = {}

    def __call__(self, path: str, _query: Mapping[str, str]) -> Answer:
        name = path.rpartition("/")[2]
        if path.startswith("/metafile-indexer/api/v1/files/content/"):
            return self.served.get(name, load("metafile_not_found.json"))
        if path.startswith("/content/"):
            return self.contents.get(name, (404, NO_PIN))
        return self.details.get(name, ZERO_PIN) if path.startswith("/api/pin/") else NO_ROUTE


def resolved(
    pins: Pins | Mapping[str, Answer], expected: str, *, txs: RawTxs | None = None, name: str = FILE
) -> tuple[ContentFact, bytes, Scripted]:
    """Resolve a file; give the fact, the bytes that came, and what was asked."""
    transport = Scripted(pins if isinstance(pins, Pins) else Pins(pins))
    man = ManClient(transport, BASE, sleep=lambda _seconds: None)
    server = FileServer(transport, f"{BASE}/metafile-indexer", sleep=lambda _seconds: None)
    files = Metafiles(man, bodies=Bodies(man, txs), server=server)
    came: list[bytes] = []
    return files.resolve(f"metafile://{name}", expected, came.append), b"".join(came), transport


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri", [f"metafile://{FILE}", f"metafile://{FILE}.png", f"metafile://{FILE}.tar"]
)
def test_a_uri_names_a_pin(uri: str) -> None:
    assert parse_uri(uri) == FILE


@pytest.mark.parametrize(
    "uri",
    [
        "",
        FILE,
        f"metafile://{FILE}.",
        f"metafile://{FILE}.p/x",
        f"metafile://{FILE}/x",
        f"metafile://{FILE.upper()}",
        f"METAFILE://{FILE}",
        f"metafile://{FILE[:-2]}",
        f"metafile://video/{FILE}",
        f"metafile://{FILE}\n",
    ],
)
def test_other_texts_name_none(uri: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_uri(uri)
    assert caught.value.code == "metafile-uri"


@pytest.mark.parametrize("expected", ["", "x" * 64, digest(b"").upper(), digest(b"")[1:]])
def test_the_expected_hash_must_be_one(expected: str) -> None:
    with pytest.raises(InputError) as caught:
        resolved({}, expected)
    assert caught.value.code == "content-hash"


# --- one pin -----------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_a_file_in_one_pin(body: bytes) -> None:
    fact, came, _ = resolved({FILE: direct(body)}, digest(body))
    assert fact == ContentFact("verified", "", FILE, digest(body), digest(body), len(body))
    assert came == body
    fact, _, _ = resolved({FILE: direct(body)}, digest(body + b"x"))
    assert (fact.state, fact.reason, fact.actual) == ("mismatch", "hash-differs", digest(body))


def test_a_foreign_modify_of_the_pin_changes_nothing() -> None:
    """`/content`, and whatever serves the newest, would give the other bytes."""
    first = whole(row(1), b"first")["contentBody"]
    changed = {"status": 1, "modify_history": [FILE, pin_id(2)], "originalContentBody": first}
    details = {
        FILE: direct(b"other bytes", **changed),
        pin_id(2): at(2, f"@{FILE}", b"other bytes"),
    }
    assert resolved(details, digest(b"first"))[0].state == "verified"
    fact = resolved(details, digest(b"other bytes"))[0]
    assert (fact.state, fact.actual) == ("mismatch", digest(b"first"))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ZERO_PIN, "pin-unknown"),
        ((404, NO_PIN), "pin-unknown"),
        ((200, HTML), "man-unreadable"),
        ((500, HTML), "man-status"),
        (NO_ROUTE, "man-no-route"),
        (direct(b"x", contentBody="", contentLength=9), "body-cut"),
        (direct(b"x", status=1), "body-replaced"),
        (direct(b"x", path="/protocols/simplenote"), "not-a-file"),
        (direct(b"x", contentLength=MAX_DIRECT_BYTES + 1), "too-large"),
    ],
)
def test_bytes_that_were_not_had_are_unavailable(answer: Answer, reason: str) -> None:
    fact, came, _ = resolved({FILE: answer}, digest(b"x"))
    assert (fact.state, fact.reason, fact.actual, came) == ("unavailable", reason, None, b"")


def test_the_metafile_indexer_may_have_a_body_that_the_pins_lack() -> None:
    pins = Pins({FILE: direct(b"x", contentBody="", contentSummary="", contentLength=5)})
    pins.served[FILE] = (200, b"tides", {"content-disposition": "inline"})
    fact, came, _ = resolved(pins, digest(b"tides"))
    assert (fact.state, came) == ("verified", b"tides")
    fact, _, _ = resolved(pins, digest(b"other"))  # what it serves proves nothing
    assert (fact.state, fact.reason) == ("unavailable", "body-cut")


def test_a_transaction_outvotes_the_indexer() -> None:
    built = build_pin_tx(AUTHOR, new_tuple("create", "/file", b"true bytes"), [coin(AUTHOR)])
    txs = RawTxs(Scripted(lambda _path, _query: {"hex": built.raw.hex()}), BASE)
    answer = one(whole(row(1, 5) | {"id": built.pin.id, "path": "/file"}, b"lies"))
    fact, came, _ = resolved(
        {built.pin.id: answer}, digest(b"true bytes"), txs=txs, name=built.pin.id
    )
    assert (fact.state, came) == ("verified", b"true bytes")


# --- chunks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_in_chunks(pack: Callable[[bytes], bytes]) -> None:
    assert digest(TIDES) == SAMPLE["payload"]["sha256"]
    fact, came, transport = resolved(chunked(TIDES, 2048, pack), digest(TIDES))
    assert fact == ContentFact("verified", "", FILE, digest(TIDES), digest(TIDES), 7000, 4)
    assert came == TIDES
    assert len(transport.asked_for("/content/")) == 4


@given(st.binary(min_size=1, max_size=60), st.integers(8, 60), st.booleans())
def test_any_file_in_any_chunks(data: bytes, size: int, packed: bool) -> None:
    details = chunked(data, size, gzip.compress if packed else bytes)
    fact, came, _ = resolved(details, digest(data))
    assert (fact.state, came) == ("verified", data)


def test_a_chunk_is_taken_from_content_where_that_is_right() -> None:
    pins = Pins(chunked(TIDES, 4000))
    pins.contents = {CHUNKS[0]: (200, TIDES[:4000]), CHUNKS[1]: (200, b"data:image/png;base64,xx")}
    fact, came, transport = resolved(pins, digest(TIDES))
    assert (fact.state, came) == ("verified", TIDES)
    assert transport.asked_for(f"/api/pin/{CHUNKS[0]}") == []
    assert len(transport.asked_for(f"/api/pin/{CHUNKS[1]}")) == 1


def test_a_chunk_that_is_packed_itself_stays_packed() -> None:
    """A file that is gzip in one chunk: only its length tells it from a packed chunk."""
    data = gzip.compress(b"tides" * 50)
    fact, came, _ = resolved(chunked(data, 500), digest(data))
    assert (fact.state, came) == ("verified", data)


@pytest.mark.parametrize("digests", ["packed", "unpacked"])
def test_hashes_of_chunks_may_be_those_of_the_packed_bytes(digests: str) -> None:
    """Uploaders differ in when they hash."""
    pieces = [TIDES[:4000], TIDES[4000:]]
    listed = index(TIDES, 4000)
    for entry, piece in zip(listed["chunkList"], pieces, strict=True):
        packed = gzip.compress(piece, mtime=0)
        entry["sha256"] = digest(packed if digests == "packed" else piece)
    details = chunked(TIDES, 4000, lambda piece: gzip.compress(piece, mtime=0))
    details[FILE] = at(1, "/file/index", json.dumps(listed).encode())
    fact, came, _ = resolved(details, digest(TIDES))
    assert (fact.state, came) == ("verified", TIDES)


def test_a_chunk_with_another_hash_is_a_mismatch_and_ends_the_reading() -> None:
    details = chunked(TIDES, 2048)
    details[CHUNKS[1]] = at(101, "/file/_chunk", b"other bytes")
    fact, came, transport = resolved(details, digest(TIDES))
    assert (fact.state, fact.reason, fact.detail) == ("mismatch", "chunk-differs", CHUNKS[1])
    assert (fact.chunks, fact.size, came) == (1, 2048, TIDES[:2048])
    assert transport.asked_for(CHUNKS[2]) == []


def test_an_index_of_another_file_is_a_mismatch_before_any_chunk() -> None:
    fact, came, transport = resolved(chunked(TIDES, 2048), digest(b"other"))
    assert (fact.state, fact.reason, came) == ("mismatch", "hash-differs", b"")
    assert digest(TIDES) in fact.detail
    assert transport.requests == 1


def test_an_index_that_lies_about_the_whole() -> None:
    details = chunked(TIDES, 2048, sha256=digest(b"other"))
    fact, _, _ = resolved(details, digest(b"other"))
    assert (fact.state, fact.reason, fact.actual) == ("mismatch", "hash-differs", digest(TIDES))


@pytest.mark.parametrize("size", [6999, 7001])
def test_an_index_that_lies_about_the_size(size: int) -> None:
    fact, came, _ = resolved(chunked(TIDES, 2048, fileSize=size), digest(TIDES))
    assert (fact.state, fact.reason) == ("mismatch", "size-differs")
    assert len(came) <= 7000


@pytest.mark.parametrize("answer", [ZERO_PIN, (404, NO_PIN)])
def test_a_chunk_that_is_not_there_is_unavailable(answer: Answer) -> None:
    details = chunked(TIDES, 2048) | {CHUNKS[2]: answer}
    fact, _, _ = resolved(details, digest(TIDES))
    assert (fact.state, fact.reason, fact.detail, fact.chunks) == (
        *("unavailable", "chunk-unknown", CHUNKS[2]),
        2,
    )


def test_a_chunk_whose_body_only_the_metafile_indexer_has() -> None:
    pins = Pins(chunked(TIDES, 4000))
    hollow = at(101, "/file/_chunk", b"x", contentBody="", contentSummary="", contentLength=3000)
    pins.details = {**pins.details, CHUNKS[1]: hollow}
    fact, _, _ = resolved(pins, digest(TIDES))
    assert (fact.state, fact.reason) == ("unavailable", "body-cut")
    pins.served[CHUNKS[1]] = (200, TIDES[4000:], {"content-disposition": "inline"})
    assert resolved(pins, digest(TIDES))[0].state == "verified"
    pins.served[CHUNKS[1]] = (200, b"wrong", {"content-disposition": "inline"})
    assert resolved(pins, digest(TIDES))[0].state == "unavailable"


def test_limits_are_looked_at_before_a_chunk_is_read() -> None:
    details = chunked(TIDES, 2048, fileSize=MAX_CHUNKED_BYTES + 1)
    fact, _, transport = resolved(details, digest(TIDES))
    assert (fact.state, fact.reason) == ("unavailable", "too-large")
    assert transport.requests == 1


def test_a_packed_chunk_that_unpacks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metafile, "MAX_DIRECT_BYTES", 10_000)
    zeros = b"\0" * 1_000_000
    listed = index(TIDES, 4000)
    listed["chunkList"][1]["sha256"] = digest(zeros)
    details = chunked(TIDES, 4000) | {
        FILE: at(1, "/file/index", json.dumps(listed).encode()),
        CHUNKS[1]: at(101, "/file/_chunk", gzip.compress(zeros)),
    }
    fact, came, _ = resolved(details, digest(TIDES))
    assert (fact.state, fact.reason, len(came)) == ("mismatch", "chunk-differs", 4000)


def test_a_packed_chunk_of_other_bytes_is_a_mismatch() -> None:
    packed = gzip.compress(b"other bytes")
    details = chunked(TIDES, 4000) | {CHUNKS[1]: at(101, "/file/_chunk", packed)}
    fact, _, _ = resolved(details, digest(TIDES))
    assert (fact.state, fact.reason) == ("mismatch", "chunk-differs")


def test_no_more_than_a_chunk_is_handed_on_at_once() -> None:
    transport = Scripted(Pins(chunked(TIDES, 2048)))
    pieces: list[bytes] = []
    Metafiles(ManClient(transport, BASE)).resolve(
        f"metafile://{FILE}.txt", digest(TIDES), pieces.append
    )
    assert [len(piece) for piece in pieces] == [2048, 2048, 2048, 856]


def test_without_a_sink_only_the_fact_is_given() -> None:
    files = Metafiles(ManClient(Scripted(Pins(chunked(TIDES, 2048))), BASE))
    assert files.resolve(f"metafile://{FILE}", digest(TIDES)).state == "verified"


def test_every_reason_has_its_meaning() -> None:
    assert all(REASONS.values())


# --- indexes -----------------------------------------------------------------------------------


def test_the_sample_is_an_index() -> None:
    found = parse_index(json.dumps(SAMPLE["payload"]).encode())
    assert isinstance(found, Index)
    assert [chunk.size for chunk in found.chunks] == [2048, 2048, 2048, 856]
    assert (found.sha256, found.file_size) == (digest(TIDES), 7000)


@pytest.mark.parametrize(
    "written",
    [
        {"fileSize": 7000.0, "chunkNumber": "4", "chunkSize": "2048"},
        {"fileSize": "7000", "chunkNumber": 4.0, "chunkSize": 2048.0},
        {"fileSize": "7e3"},
    ],
)
def test_numbers_come_as_floats_and_text(written: dict[str, Any]) -> None:
    sample = SAMPLE["payload"]
    assert parse_index(json.dumps(sample | written).encode()) == parse_index(
        json.dumps(sample).encode()
    )


@pytest.mark.parametrize("left_out", [{"chunkSize": 0}, {"chunkSize": None}, {"chunkSize": 3000}])
def test_sizes_of_chunks_that_are_not_said_or_do_not_fit(left_out: dict[str, Any]) -> None:
    found = parse_index(json.dumps(SAMPLE["payload"] | left_out).encode())
    assert [chunk.size for chunk in found.chunks] == [None] * 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"chunkList": []},
        {"chunkList": None},
        {"chunkList": [{"sha256": digest(b""), "pinId": "x"}]},
        {"chunkList": [{"sha256": "x", "pinId": FILE}]},
        {"chunkList": [{"pinId": FILE}]},
        {"chunkNumber": 3},
        {"chunkNumber": "four"},
        {"fileSize": -1},
        {"fileSize": 1.5},
        {"fileSize": "inf"},
        {"fileSize": "nan"},
        {"fileSize": None},
        {"sha256": "x"},
        {"sha256": digest(b"").upper()},
        {"sha256": 5},
    ],
)
def test_what_is_no_index(wrong: dict[str, Any]) -> None:
    body = json.dumps(SAMPLE["payload"] | wrong).encode()
    with pytest.raises(InputError) as caught:
        parse_index(body)
    assert caught.value.code == "index-invalid"
    fact, _, _ = resolved({FILE: at(1, "/file/index", body)}, digest(TIDES))
    assert (fact.state, fact.reason) == ("mismatch", "index-invalid")


@given(st.binary(max_size=100))
def test_any_bytes_are_an_index_or_refused(body: bytes) -> None:
    with pytest.raises(InputError):
        parse_index(body)


def test_a_file_that_says_it_is_an_index_by_its_type() -> None:
    details = chunked(TIDES, 2048)
    listed = msgspec.convert(details[FILE], dict[str, Any])
    listed["data"] |= {"path": "/file/tides"}
    assert resolved(details | {FILE: listed}, digest(TIDES))[0].state == "verified"
