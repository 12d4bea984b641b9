"""The 7-tuple: what is pushed comes back byte for byte, and reads as the indexers read it."""

from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import REV, raw_tuples
from refold.kernel.errors import InputError
from refold.metaid.envelope import (
    FLAG,
    TEST_FLAG,
    Envelope,
    RawTuple,
    new_tuple,
    normalise,
    pin_script,
    read_tuple,
    tuple_of,
    unlisted_because,
)
from refold.metaid.script import OP_PUSHDATA1, OP_PUSHDATA2, OP_PUSHDATA4, push

ID = "ab" * 32 + "i0"


def read(raw: RawTuple, **changes: bytes) -> Envelope:
    return normalise(msgspec.structs.replace(raw, **changes))


@given(raw_tuples, st.booleans())
def test_pushes_come_back_the_same_in_both_forms(raw: RawTuple, op_false: bool) -> None:
    assert read_tuple(pin_script(raw, op_false=op_false)) == raw


@pytest.mark.parametrize("size", [0, 1, 75, 76, 255, 256, 65_535, 65_536, 100_000])
def test_payloads_of_every_push_size_come_back(size: int) -> None:
    raw = msgspec.structs.replace(REV, payload=(b"x" * size,))
    assert read_tuple(pin_script(raw)) == raw


@given(st.binary(max_size=2000), st.integers(1, 700))
def test_a_payload_in_pieces_is_one_payload(payload: bytes, chunk_bytes: int) -> None:
    raw = msgspec.structs.replace(REV, payload=(payload,))
    again = read_tuple(pin_script(raw, chunk_bytes=chunk_bytes))
    assert again is not None
    assert len(again.payload) == max(1, -(-len(payload) // chunk_bytes))
    assert normalise(again) == normalise(raw)


@given(raw_tuples.filter(lambda raw: len(raw.path) > 0), st.sampled_from((1, 2, 4)))
def test_the_width_of_a_push_means_nothing(raw: RawTuple, width: int) -> None:
    opcode = {1: OP_PUSHDATA1, 2: OP_PUSHDATA2, 4: OP_PUSHDATA4}[width]
    wide = bytes((opcode,)) + len(raw.path).to_bytes(width, "little") + raw.path
    parts = [push(part) for part in (FLAG, raw.operation)]
    rest = [push(part) for part in (raw.encryption, raw.version, raw.content_type, *raw.payload)]
    assert read_tuple(b"\x6a" + b"".join((*parts, wide, *rest))) == raw


@given(raw_tuples.map(pin_script), st.data())
def test_a_cut_script_carries_nothing_or_a_shorter_payload(
    script: bytes, data: st.DataObject
) -> None:
    whole = read_tuple(script)
    assert whole is not None
    cut = read_tuple(script[: data.draw(st.integers(0, len(script) - 1))])
    # Only a cut between two pushes of the payload leaves a tuple.
    assert cut is None or cut.payload == whole.payload[: len(cut.payload)] != whole.payload


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_are_a_tuple_or_none(before: bytes, after: bytes) -> None:
    for script in (before, b"\x6a\x06metaid" + before, before + b"\x6a\x06metaid" + after):
        raw = read_tuple(script)
        if raw is not None:
            unlisted_because(normalise(raw))


def test_what_stands_before_op_return_does_not_matter() -> None:
    script = pin_script(REV, op_false=False)
    for before in (b"\x51", b"\x00\x00", b"\x76\xa9\x01a\x88\xac", push(b"\x6a" + b"metaid")):
        assert read_tuple(before + script) == REV


@pytest.mark.parametrize(
    "script",
    [
        b"",
        b"\x6a",
        b"\x6a\x06metaid",
        pin_script(REV)[1:].replace(b"\x06metaid", b"\x06METAID"),
        pin_script(REV).replace(b"\x06metaid", b"\x00\x06metaid"),
        b"\x6a" + pin_script(REV),
        pin_script(REV)[2:],
        pin_script(REV) + b"\x01",
        b"\x02" + pin_script(REV),
    ],
    ids=lambda script: script[:10].hex(),
)
def test_scripts_that_carry_nothing(script: bytes) -> None:
    assert read_tuple(script) is None


def test_the_flag_of_test_builds_is_another_flag() -> None:
    script = pin_script(REV, flag=TEST_FLAG)
    assert read_tuple(script) is None
    assert read_tuple(script, TEST_FLAG) == REV
    assert read_tuple(pin_script(REV), TEST_FLAG) is None


@pytest.mark.parametrize(
    ("operation", "least"),
    [(b"create", 6), (b"modify", 6), (b"revoke", 5), (b"Revoke", 5), (b"hide", 6), (b"init", 1)],
)
def test_a_tuple_needs_its_pushes(operation: bytes, least: int) -> None:
    pushes = [operation, b"/", b"0", b"1", b"t", b"body"]
    assert [tuple_of(pushes[:count]) is not None for count in range(7)] == [
        count >= least for count in range(7)
    ]


def test_an_opcode_that_pushes_nothing_counts_as_an_empty_push() -> None:
    script = b"\x6a" + b"".join(map(push, (FLAG, b"create", b"/info/name"))) + b"\x51\x52\x53\x6a"
    raw = read_tuple(script)
    assert raw == RawTuple(b"create", b"/info/name", b"", b"", b"", (b"",))
    envelope = normalise(raw)
    assert (envelope.encryption, envelope.version) == ("0", "0")
    assert envelope.content_type == "application/json"


@dataclass(frozen=True)
class Reading:
    given: bytes
    host: str
    path: str
    original_path: str


READINGS = [
    Reading(b"/Protocols/SimpleNote", "", "/protocols/simplenote", "/protocols/simplenote"),
    Reading(b" /info/name \n", "", "/info/name", "/info/name"),
    Reading(b"a.b:/info/name", "a.b", "/info/name", "a.b:/info/name"),
    Reading(b"A: /info/name", "a", "/info/name", "a: /info/name"),
    Reading(b"h:@" + ID.encode(), "h", "@" + ID, "h:@" + ID),
    Reading(b"/protocols/a:b", "/protocols/a", "b", "/protocols/a:b"),
    Reading(b"a:b:/c", "a", "b:/c", "a:b:/c"),
    Reading(b"", "", "", ""),
    # Letter by letter, as Go does it: no final sigma, no dot above.
    Reading("/info/ΟΔΟΣ".encode(), "", "/info/οδοσ", "/info/οδοσ"),
    Reading("/info/İ".encode(), "", "/info/i", "/info/i"),
    # One U+FFFD for every byte that is not UTF-8.
    Reading(b"/info/\xe4\xbdA", "", "/info/\ufffd\ufffda", "/info/\ufffd\ufffda"),
    Reading(b"/info/\xed\xb2\x80", "", "/info/\ufffd\ufffd\ufffd", "/info/\ufffd\ufffd\ufffd"),
    # U+001C is no space to the indexers, U+3000 is.
    Reading("\x1c/info\u3000".encode(), "", "\x1c/info", "\x1c/info"),
]


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.original_path)
def test_paths_read_as_the_indexers_read_them(reading: Reading) -> None:
    envelope = read(REV, path=reading.given)
    assert (envelope.host, envelope.path) == (reading.host, reading.path)
    assert envelope.original_path == reading.original_path


def test_defaults_and_small_letters() -> None:
    envelope = read(
        REV, operation=b"CREATE", encryption=b"", version=b"", content_type=b"Text/Plain;UTF-8"
    )
    assert (envelope.operation, envelope.content_type) == ("create", "text/plain;utf-8")
    assert (envelope.encryption, envelope.version) == ("0", "0")
    assert read(REV, content_type=b"").content_type == "application/json"
    assert read(REV, version=b"V1.A").version == "V1.A"
    assert read(REV, operation=b"init", path=b"/x").path == "/"


@pytest.mark.parametrize(
    ("operation", "path", "reason"),
    [
        ("create", "/protocols/agentpedia/rev", None),
        ("create", "host:/info/name", None),
        ("create", "/metaname", None),
        ("create", "x/file", None),  # as the indexers split it
        ("create", "/unheard/of", "path-root"),
        ("create", "/", "path-root"),
        ("create", "protocols", "path-root"),
        ("create", "/protocols/a:b", "path-root"),
        ("modify", f"@{ID}", None),
        ("modify", f"host:@{ID}", None),
        ("modify", "@", "path-target"),
        ("revoke", ID, "path-target"),
        ("hide", "", None),
        ("init", "", "operation-unknown"),
        ("CREATE ", "/info/name", "operation-unknown"),
    ],
)
def test_what_the_indexers_drop(operation: str, path: str, reason: str | None) -> None:
    envelope = read(REV, operation=operation.encode(), path=path.encode())
    assert unlisted_because(envelope) == reason


paths = st.one_of(
    st.text("abc/-_", max_size=20).map("/protocols/".__add__),
    st.text("abc.", max_size=8).map(lambda host: f"{host}:/info/name"),
)


@given(paths, st.binary(max_size=300), st.text("0123456789.", min_size=1))
def test_what_a_writer_gives_is_what_every_reader_reads(
    path: str, payload: bytes, version: str
) -> None:
    raw = new_tuple("create", path, payload, version=version, content_type="text/plain;utf-8")
    again = read_tuple(pin_script(raw))
    assert again == raw
    envelope = normalise(again)
    assert envelope.original_path == path
    assert (envelope.operation, envelope.encryption) == ("create", "0")
    assert (envelope.version, envelope.content_type) == (version, "text/plain;utf-8")
    assert envelope.payload == payload
    assert unlisted_because(envelope) is None


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("hide", "/info/name"), "operation-unwritten"),
        (("init", "/"), "operation-unwritten"),
        (("Create", "/info/name"), "operation-unwritten"),
        (("create", "/Info/name"), "tuple-unstable"),
        (("create", "/info/name "), "tuple-unstable"),
        (("create", "/info/a:b:c"), "tuple-unstable"),
        (("create", "h:/info/a:b"), "tuple-unstable"),
        (("create", "/info/\ud800"), "tuple-unstable"),
        (("create", "/info/a:b"), "path-root"),
        (("create", "/elsewhere"), "path-root"),
        (("modify", ID), "path-target"),
        (("revoke", "@"), "path-target"),
    ],
)
def test_a_writer_is_refused_what_readers_would_change_or_drop(
    call: tuple[str, str], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        new_tuple(*call)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("version", "encryption", "content_type"),
    [("", "0", "a/b"), ("1", "", "a/b"), ("1", "0", ""), ("1", "0", "A/b")],
)
def test_a_writer_fills_in_every_field(version: str, encryption: str, content_type: str) -> None:
    with pytest.raises(InputError) as caught:
        new_tuple(
            "create",
            "/info/name",
            version=version,
            encryption=encryption,
            content_type=content_type,
        )
    assert caught.value.code == "tuple-unstable"
