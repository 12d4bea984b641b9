"""Intake: documents, rows, order, copies, faults; every problem of an input at once."""

import json
from base64 import b64encode
from hashlib import sha256

import pytest

from refold.agentpedia import Stream, check_payloads, read_document, read_rows, read_stream
from refold.agentpedia.event import REV, Fault
from refold.agentpedia.rules import INLINE_MAX_BYTES
from refold.kernel.errors import InputError, Problem

PIN = "a" * 64 + "i0"
AUTHOR = "idq1" + "q" * 38


def event(pin: str = "p1", **members: object) -> dict[str, object]:
    base: dict[str, object] = {
        "pin": pin,
        "path": REV,
        "height": 5,
        "txIndex": 1,
        "sender": "E1",
        "payload": {},
    }
    return {**base, **members}


def document(*events: object, **members: object) -> bytes:
    return json.dumps({"events": events, **members}).encode()


def problems(data: bytes) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        read_stream(data, gates=True)
    return list(caught.value.errors)


def row(body: bytes = b"{}", **members: object) -> dict[str, object]:
    base = {
        "id": PIN,
        "path": REV,
        "genesisHeight": 7,
        "txIndex": 3,
        "globalMetaId": AUTHOR,
        "operation": "create",
        "encryption": "0",
        "version": "1.0",
        "contentType": "application/json;utf-8",
        "contentBody": "",
        "contentLength": len(body),
        "contentSummary": body.decode(),
    }
    return {**base, **members}


def lines(*rows: dict[str, object]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows) + b"\n"


def reasons(faults: dict[str, Fault]) -> dict[str, str]:
    return {pin: fault.reason for pin, fault in faults.items()}


def rows(*given: dict[str, object], gates: bool = True) -> Stream:
    return read_rows(lines(*given), gates=gates)


# documents


def test_events_come_out_in_the_one_order_and_mempool_pins_apart() -> None:
    given = [
        event("z", height=6),
        event("b", txIndex=2),
        event("c", txIndex=1),
        event("a", txIndex=1),
        event("m", height=None, txIndex=0),
        event("n", height=-1),
    ]
    stream = read_document(document(*given))
    assert [e.pin for e in stream.events] == ["a", "c", "b", "z"]
    assert stream.pending == ["m", "n"]


@pytest.mark.parametrize("number", ["5.0", "5e0", "50e-1"])
def test_an_integral_number_is_that_integer_however_written(number: str) -> None:
    text = document(event()).replace(b'"height": 5', f'"height": {number}'.encode())
    assert read_document(text).events[0].height == 5


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"pin": 3}, "/events/0/pin"),
        ({"pin": "\x00"}, "/events/0/pin"),
        ({"path": None}, "/events/0/path"),
        ({"sender": ["E1"]}, "/events/0/sender"),
        ({"sender": "\ud800"}, "/events/0/sender"),
        ({"height": "5"}, "/events/0/height"),
        ({"height": True}, "/events/0/height"),
        ({"height": 5.5}, "/events/0/height"),
        ({"height": 10**30}, "/events/0/height"),
        ({"txIndex": None}, "/events/0/txIndex"),
        ({"txIndex": -1}, "/events/0/txIndex"),
    ],
)
def test_what_the_indexer_says_of_a_pin_is_checked(
    members: dict[str, object], pointer: str
) -> None:
    [problem] = problems(document(event() | members))
    assert (problem.code, problem.pointer) == ("event-invalid", pointer)


def test_every_problem_is_named_at_once() -> None:
    bad = document({}, 3, event(height="x"), options={"blocksPerHour": 0})
    assert [p.pointer for p in problems(bad)] == [
        "/options",
        "/events/0/pin",
        "/events/0/path",
        "/events/0/sender",
        "/events/0/height",
        "/events/0/txIndex",
        "/events/1",
        "/events/2/height",
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "input-empty"),
        (b" \n\t ", "input-empty"),
        (b"nonsense", "document-unreadable"),
        (b'{"events": [', "document-unreadable"),
        (b'{"events": []} trailing', "document-unreadable"),
        (b"\xff\xfe", "document-unreadable"),
        (b"[]", "document-invalid"),
        (b"{}", "document-invalid"),
        (b'{"events": {}}', "document-invalid"),
        (b'{"events": [], "options": {"nope": 1}}', "options-invalid"),
        (b'{"events": [], "options": 3}', "options-invalid"),
    ],
)
def test_what_is_no_document(data: bytes, code: str) -> None:
    assert [p.code for p in problems(data)] == [code]


def test_other_members_of_a_document_are_ignored() -> None:
    assert read_document(document(event(), view={}, id="g1", mode="war")).events


@pytest.mark.parametrize(
    "payload",
    [
        "null",
        "[]",
        "3",
        '"x"',
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        '{"a":' + "[" * 90 + "]" * 90 + "}",
        '{"a":' + "[" * 90_000 + "]" * 90_000 + "}",
    ],
    ids=lambda payload: payload[:20],
)
def test_a_malformed_payload_harms_only_its_pin(payload: str) -> None:
    text = document(event("bad", payload="HERE"), event("good", payload={"x": 1}))
    stream = read_document(text.replace(b'"HERE"', payload.encode()))
    assert stream.faults == {"bad": Fault("malformed-json")}
    assert [e.pin for e in stream.events] == ["bad", "good"]


def test_a_missing_payload_is_malformed() -> None:
    bare = event()
    del bare["payload"]
    assert read_document(document(bare)).faults == {"p1": Fault("malformed-json")}


# copies


def test_a_confirmed_copy_replaces_its_mempool_copy() -> None:
    stream = read_document(document(event(height=-1, txIndex=0), event(), event(height=None)))
    assert ([e.pin for e in stream.events], stream.pending) == (["p1"], [])


def test_copies_that_say_the_same_are_one() -> None:
    stream = read_document(
        document(event(payload={"a": 1, "b": [2.0]}), event(payload={"b": [2], "a": 1.0}))
    )
    assert len(stream.events) == 1


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("height", 6),
        ("txIndex", 2),
        ("path", "/other"),
        ("sender", "E2"),
        ("payload", {"a": True}),
    ],
)
def test_copies_that_differ_are_a_conflict(member: str, value: object) -> None:
    one = event(payload={"a": 1})
    [problem] = problems(document(one, event("p2"), {**one, member: value}))
    assert problem.code == "conflicting-pin"
    assert f"differs in {member} between /events/0 and /events/2" in problem.message


def test_a_mempool_copy_of_another_payload_is_a_conflict() -> None:
    [problem] = problems(document(event(height=-1), event(payload={"a": 1})))
    assert problem.code == "conflicting-pin"


def test_conflicts_in_rows_name_their_lines() -> None:
    given = lines(row(), row(id="b" * 64 + "i0"), row(genesisHeight=8))
    [problem] = problems(given)
    assert "line 1 and line 3" in problem.message


# rows


def test_a_row_becomes_an_event() -> None:
    [read] = rows(row(b'{"v":1}')).events
    assert (read.pin, read.path, read.height, read.tx_index) == (PIN, REV, 7, 3)
    assert (read.sender, read.payload) == (AUTHOR, {"v": 1})


def test_a_body_in_base64_wins_over_the_summary() -> None:
    body = b'{"v":1}'
    given = row(body, contentBody=b64encode(body).decode(), contentSummary='{"v":2}')
    assert rows(given).events[0].payload == {"v": 1}


def test_a_modified_pin_is_what_was_pinned_first() -> None:
    first = b64encode(b'{"v":1}').decode()
    given = row(b'{"v":2}', originalContentBody=first, status=1, contentType="image/png")
    assert rows(given).events[0].payload == {"v": 1}
    assert rows(given).faults == {}


def test_mempool_rows_are_pending() -> None:
    assert rows(row(genesisHeight=-1, txIndex=0)).pending == [PIN]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"operation": "modify"}, "operation-not-create"),
        ({"encryption": "1"}, "encrypted"),
        ({"version": "1.0.0"}, "version-unknown"),
        ({"version": ""}, "version-unknown"),
        ({"contentType": "text/plain"}, "content-type"),
        ({"contentType": "application/json-patch+json"}, "content-type"),
        ({"contentSummary": "[]"}, "malformed-json"),
    ],
)
def test_the_envelope_gate(members: dict[str, object], reason: str) -> None:
    assert reasons(rows(row() | members).faults) == {PIN: reason}


@pytest.mark.parametrize(
    "declared", ["application/json", "Application/JSON", "application/json; x=1"]
)
def test_content_types_that_pass(declared: str) -> None:
    assert rows(row(contentType=declared)).faults == {}


def test_without_gates_the_envelope_is_not_looked_at() -> None:
    given = row(operation="modify", version="7", contentType="x")
    assert rows(given, gates=False).faults == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (row(contentLength=99), "body-cut"),
        (row(globalMetaId=""), "sender-missing"),
        (row(contentBody="%%%"), "body-unreadable"),
        (row(genesisHeight="7"), "row-invalid"),
        (row(id=None), "row-invalid"),
    ],
)
def test_rows_that_cannot_be_read_are_named_by_line(line: dict[str, object], code: str) -> None:
    first = row(id="c" * 64 + "i0")
    found = problems(lines(first, line, line))
    assert [(p.code, p.line) for p in found] == [(code, 2), (code, 3)]


def test_blank_lines_and_a_broken_line_among_rows() -> None:
    found = problems(lines(row()) + b"\n\n{broken\n")
    assert [(p.code, p.line) for p in found] == [("row-invalid", 4)]


# schema and content


def rev(content: str, **members: object) -> dict[str, object]:
    payload = {
        "v": 1,
        "slug": "a",
        "lang": "en",
        "title": "A",
        "type": "create",
        "content": content,
        "contentHash": sha256(content.encode()).hexdigest(),
    }
    return {**payload, **members}


def checked(payload: object) -> dict[str, Fault]:
    stream = read_document(document(event(payload=payload)))
    check_payloads(stream)
    return stream.faults


def test_a_good_rev_has_no_fault() -> None:
    assert checked(rev("text")) == {}
    assert checked(rev("潮" * (INLINE_MAX_BYTES // 3))) == {}


def test_a_schema_fault_names_pointer_and_rule() -> None:
    fault = checked(rev("text", slug="A:b"))["p1"]
    assert (fault.reason, fault.pointer, fault.rule) == ("schema-invalid", "/slug", "pattern")
    assert "A:b" in fault.detail


def test_content_faults_wait_for_the_content_gate() -> None:
    long = "潮" * (INLINE_MAX_BYTES // 3 + 1)
    mismatch, large = checked(rev("text", contentHash="0" * 64)), checked(rev(long))
    assert reasons(mismatch | {"p2": large["p1"]}) == {
        "p1": "content-hash-mismatch",
        "p2": "content-too-large",
    }
    assert mismatch["p1"].late
    assert sha256(b"text").hexdigest() in mismatch["p1"].detail
    assert f"{len(long.encode())} bytes" in large["p1"].detail


def test_unknown_paths_are_left_to_the_fold() -> None:
    stream = read_document(document(event(path="/protocols/other", payload={"x": 1})))
    check_payloads(stream)
    assert stream.faults == {}


# what no text can carry


@pytest.mark.parametrize(
    "members",
    [
        {"id": "\ud800"},
        {"id": "a\x00"},
        {"path": "\x00"},
        {"globalMetaId": "\udfff"},
        {"txIndex": "\ud800"},
        {"txIndex": 10**30},
        {"genesisHeight": 10**30},
        {"\ud800": 1},
    ],
    ids=repr,
)
def test_a_row_with_what_cannot_be_stored_is_named_by_line(members: dict[str, object]) -> None:
    found = problems(lines(row(id="c" * 64 + "i0"), row() | members))
    assert [problem.line for problem in found] == [2]


@pytest.mark.parametrize(
    "options",
    [
        {"\ud800": 1},
        {"contentFacts": {"a": "\ud800"}},
        {"clusterAliases": {"E1": "\x00"}},
        {"arbiterOverrides": {"p": ["\udfff"]}},
    ],
    ids=repr,
)
def test_options_that_cannot_be_stored(options: dict[str, object]) -> None:
    assert [p.code for p in problems(document(options=options))] == ["options-invalid"]


@pytest.mark.parametrize("first", [b"{broken", b'"text"', b"3", b"[1]"])
def test_a_broken_first_row_is_named_as_a_row(first: bytes) -> None:
    [problem] = problems(first + b"\n" + lines(row()))
    assert (problem.code, problem.line) == ("row-invalid", 1)


def test_a_document_may_take_many_lines() -> None:
    text = json.dumps({"events": [event()], "options": {}}, indent=1).encode()
    assert len(read_stream(text, gates=True).events) == 1


@pytest.mark.parametrize("height", [None, -1])
@pytest.mark.parametrize("tx_index", [None, 0, 7])
@pytest.mark.parametrize("beside", [{}, {"x": "\\u0000"}], ids=["fast", "slow"])
def test_mempool_pins_as_documents_write_them(
    height: int | None, tx_index: int | None, beside: dict[str, object]
) -> None:
    """Both ways of reading take a null height and a null index, and say the same."""
    given = [event("m", height=height, txIndex=tx_index), event("c", payload=beside)]
    text = document(*given).replace(b"\\\\u0000", b"\\u0000")
    stream = read_document(text)
    assert (stream.pending, [e.pin for e in stream.events]) == (["m"], ["c"])


def test_a_confirmed_pin_needs_its_index() -> None:
    assert [p.pointer for p in problems(document(event(txIndex=None)))] == ["/events/0/txIndex"]
