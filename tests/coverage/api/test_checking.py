"""What needs no source: checks, canonical form, the catalogue, the schemas, the limits."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from coverage.api.served import V1, Served, served
from coverage.receipts import EXAMPLE_TEXT, VALID, changed, check, example
from refold.coverage import CODES, REASONS, schema
from refold.coverage.record import MAX_RECORD_BYTES
from refold.kernel.canon import canonical, sha256_hex
from serving.served import problem_in


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("checking")
    with served(f"sqlite:///{folder / 'refold.db'}") as found:
        yield found


@pytest.mark.parametrize("name", VALID)
def test_a_valid_record_is_said_to_be(server: Served, name: str) -> None:
    record = VALID[name]()
    told = server.post("/validate", record).json()
    expected = check(record)
    assert (told["valid"], told["errors"]) == (True, [])
    assert told["receiptHash"] == expected.receipt_hash
    assert told["claim"] == record["claim"]


BROKEN: tuple[Any, ...] = (
    changed(changed(example(), "/result/matchCount", 7), "/claim", "MAYBE"),
    changed(example(), "/judgement", "VERIFIED"),
    {},
    [],
    None,
)


@pytest.mark.parametrize("record", BROKEN, ids=range(len(BROKEN)))
def test_every_error_is_told_with_place_and_remedy(server: Served, record: Any) -> None:
    answer = server.post("/validate", json.dumps(record).encode())
    assert answer.status_code == 200
    told, expected = answer.json(), check(record)
    for kind, problems in (("errors", expected.errors), ("warnings", expected.warnings)):
        assert [(one["code"], one["pointer"]) for one in told[kind]] == [
            (one.code, one.pointer) for one in problems
        ]
        assert all(one["message"] and one["remedy"] for one in told[kind])


BYTES = (b"", b"\xff", b"{", b'{"a":1,"a":2}', b"[" * 100, "\ufeff{}".encode(), b"1e999")


@pytest.mark.parametrize("body", BYTES, ids=range(len(BYTES)))
def test_bytes_that_are_no_record_are_judged_and_not_refused(server: Served, body: bytes) -> None:
    told = server.post("/validate", body).json()
    assert not told["valid"]
    assert {one["code"] for one in told["errors"]} <= set(CODES)
    report = server.verified(body)
    assert (report["judgement"], report["basis"]) == ("INVALID", "NONE")


@pytest.mark.parametrize("path", ["/validate", "/verify", "/canon", "/receipts"])
def test_what_is_longer_than_a_record_is_not_read(server: Served, path: str) -> None:
    problem = problem_in(server.post(path, b" " * (MAX_RECORD_BYTES + 1)), 413)
    assert problem["code"] == "body-large"


def test_canon_gives_what_is_hashed(server: Served) -> None:
    told = server.post("/canon", EXAMPLE_TEXT.encode()).json()
    expected = canonical(json.loads(EXAMPLE_TEXT))
    assert told["canonical"].encode() == expected
    assert told["bytes"] == len(expected)
    assert told["sha256"] == sha256_hex(expected) == check(example()).receipt_hash


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        (b"{", "E_JSON", ""),
        (b"\xff", "E_ENCODING", ""),
        (b'{"a":{"b":1,"b":2}}', "E_DUPLICATE_KEY", "/a/b"),
        (b'[1,{"a":1.5}]', "E_CANON_DOMAIN", "/1/a"),
    ],
)
def test_what_has_no_canonical_form_is_a_problem(
    server: Served, body: bytes, code: str, pointer: str
) -> None:
    problem = problem_in(server.post("/canon", body), 422)
    assert (problem["code"], problem["pointer"]) == (code, pointer)
    assert problem["hint"]


def test_the_catalogue_is_whole(server: Served) -> None:
    items = server.walk(f"{V1}/errors?limit=7")
    assert [item["id"] for item in items] == sorted((*CODES, *REASONS))
    for item in items:
        assert server.json(f"{V1}/errors/{item['id']}") == item
        assert (item["effect"] is None) == (item["severity"] != "reason")
    server.problem(f"{V1}/errors/E_NOTHING", 404)


def test_codes_of_records_are_codes_of_the_server(server: Served) -> None:
    for code in CODES.values():
        if code.severity == "error":
            assert server.json(f"/v1/errors/{code.id}")["status"] == 422


def test_schemas_are_those_of_the_library(server: Served) -> None:
    for name in ("record", "report"):
        answer = server.get(f"{V1}/schema/{name}")
        assert answer.json() == schema(name)
        assert answer.headers["content-type"] == "application/schema+json"
    server.problem(f"{V1}/schema/other", 400)
    report = server.verified(b"{}")
    assert jsonschema_rs.validator_for(schema("report")).is_valid(report)


def test_limits_are_published(server: Served) -> None:
    limits = {limit["id"]: limit for limit in server.walk("/v1/limits?limit=100")}
    for name in ("pace.host", "pace.all", "verify.jobs", "verify.fresh", "store.receipts"):
        assert limits[f"coverage.{name}"]["value"] > 0
    assert limits["coverage.record"]["value"] == MAX_RECORD_BYTES
