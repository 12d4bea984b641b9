"""Catalogue, schemas and validator: three views of one table, held together."""

import copy
import json
import os
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from coverage.receipts import (
    NOW,
    VALID,
    Json,
    check,
    consensus,
    example,
    http_unit,
    manual_unit,
    pins_unit,
    present,
    sealed,
)
from refold.coverage.checks import validate_value
from refold.coverage.codes import CODES, REASONS, explain
from refold.coverage.fields import RECORD
from refold.coverage.report import Report
from refold.coverage.schemas import NAMES, Name, schema, schema_text
from refold.coverage.schemas.build import build_text
from refold.kernel.errors import json_pointer

SCHEMAS = Path(__file__).parents[2] / "src/refold/coverage/schemas"
SEED = 7
RECORDS = 6_000


@cache
def validator(name: Name) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(schema(name), pattern_options=jsonschema_rs.RegexOptions())


@pytest.mark.parametrize("name", NAMES)
def test_the_published_files_are_those_that_the_tables_make(name: Name) -> None:
    if os.environ.get("UPDATE_DOCS"):
        (SCHEMAS / f"{name}.json").write_text(build_text(name), encoding="utf-8")
    assert schema_text(name) == build_text(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_schemas(name: Name) -> None:
    jsonschema_rs.meta.validate(schema(name))
    assert schema(name)["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("name", VALID)
def test_valid_records_fit_the_schema(name: str) -> None:
    assert validator("record").is_valid(VALID[name]())


# --- generated records

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 100, 101, 2**53 - 1, 2**53, 0.5, "", "x", "/x", "a.b", "a..b"),
    *("1.2.1", "1.1.0", "9", "ABSENT", "NONE", "SET_HASH", "LIST_ONLY", "MANUAL", "MVC_PINS"),
    *(
        "https://a.test",
        "http://a.test",
        "https://a.test/?token=1",
        "local:x",
        "a\nb",
        "a\r",
        "\x85",
    ),
    *("2030-01-02T03:04:05Z", "2030-02-30T00:00:00Z", "2030-01-02", "ab" * 32, "AB" * 32),
    *("ab" * 32 + "i0", "ab" * 32 + "i10", "x" * 64, "x" * 65, "x" * 256, "x" * 257, "x" * 513),
    *("\U0001f600" * 64, "\U0001f600" * 65, "total=3", "c=", [], {}, [None], ["x"], {"0": 1}),
    *({"0": -1}, {"all": []}, {"not": {}}, [{}], [{"id": "x"}], [{"what": "a", "why": "b"}] * 9),
    {"field": "a", "op": "eq", "value": 1},
    {"field": "a", "op": "exists", "value": 1},
    {"any": [{"field": "", "op": "prefix", "value": "é"}] * 17},
]
NAMES_PUT_IN = [
    "judgement",
    "coverage",
    "signature",
    "extra",
    "url",
    "filter",
    "statusCounts",
    "note",
]


def seeds() -> list[Json]:
    """Valid records of every shape."""
    mixed = example() | {"justification": "no_match_in_declared_subset"}
    mixed["corpus"] = mixed["corpus"] | {
        "units": [http_unit(), pins_unit(filter={"doc.a": "1"}, dedupe="NONE"), manual_unit()]
    }
    mixed["blindspots"] = [{"what": "a", "why": "b"}]
    mixed["query"]["canon"]["match"] = {
        "all": [
            {"any": [{"field": "a", "op": "eq", "value": None}]},
            {"not": {"not": {"field": "doc.b", "op": "exists", "value": False}}},
        ]
    }
    full = present() | {"consensus": consensus()["consensus"], "supersedes": "ab" * 32 + "i0"}
    return [sealed(mixed), full | {"note": "n"}, *(make() for make in VALID.values())]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, name) in a value."""
    pending = [value]
    while pending:
        container = pending.pop()
        names = list(container) if isinstance(container, dict) else range(len(container))
        for name in names:
            yield container, name
            if isinstance(container[name], (dict, list)):
                pending.append(container[name])


def generated() -> Iterator[Json]:
    """Records with one to three changes, from a seed."""
    dice = random.Random(SEED)
    made = seeds()
    for number in range(RECORDS):
        record = copy.deepcopy(made[number % len(made)])
        if number % 4 == 0:
            soften(record, dice)
            yield record
            continue
        for _ in range(dice.choice((1, 1, 2, 3))):
            found = list(places(record))
            if not found:
                break
            container, name = dice.choice(found)
            match dice.randrange(4):
                case 0:
                    del container[name]
                case 1 if isinstance(container, dict):
                    container[dice.choice(NAMES_PUT_IN)] = copy.deepcopy(dice.choice(VALUES))
                case 2 if isinstance(container[name], list) and container[name]:
                    container[name] *= dice.choice((2, 9, 17, 65))
                case _:
                    container[name] = copy.deepcopy(dice.choice(VALUES))
        yield record


def soften(record: Json, dice: random.Random) -> None:
    """Change what no schema minds: other texts in free fields, other counts, other words."""
    unit = dice.choice(record["corpus"]["units"])
    text = dice.choice(["", "x", "一个单位", "\U0001f600" * 64, "a/b~c", "\u2028"])
    match dice.randrange(6):
        case 0:
            unit["id"] = record["question"] = text
        case 1:
            unit["boundary"]["observed"] = dice.randrange(5)
        case 2:
            record["claim"] = dice.choice(["ABSENT", "PRESENT", "INCONCLUSIVE"])
        case 3:
            record["validUntil"] = dice.choice(["2020-01-01T00:00:00Z", "2031-02-30T25:00:00Z"])
        case 4:
            unit["boundary"]["termination"] = dice.choice(["EXHAUSTED", "COUNT_MATCHED", "UNKNOWN"])
        case _:
            record["corpus"]["kind"] = record["note"] = text


def shape_errors(record: Json) -> set[str]:
    """Where the table of fields alone finds errors."""
    told: set[str] = set()

    def report(code: str, path: Any, _: str) -> None:
        if CODES[code].severity == "error":
            told.add(json_pointer(path))

    RECORD.check(record, (), report)
    return told


def refused_at(record: Json) -> set[str]:
    """Where the schema finds errors; an unknown or missing member at its own place."""
    found = set()
    for error in validator("record").iter_errors(record):
        path = list(error.instance_path)
        if error.kind.name == "additionalProperties":
            found |= {json_pointer([*path, name]) for name in error.kind.value}
        elif error.kind.name == "required":
            found.add(json_pointer([*path, error.kind.value]))
        else:
            found.add(json_pointer(path))
    return found


def test_schema_and_validator_agree_on_thousands_of_records() -> None:
    refused = accepted = 0
    for record in generated():
        errors = validate_value(record, NOW).errors
        schema_says = validator("record").is_valid(record)
        if not schema_says:
            refused += 1
            assert errors, record
        else:
            accepted += 1
            assert all(CODES[error.code].schema != "all" for error in errors), (record, errors)
            assert not shape_errors(record), record
        if not errors:
            assert schema_says
    assert min(refused, accepted) > RECORDS // 10


def test_they_agree_about_the_place_too() -> None:
    for record in list(generated())[::3]:
        told = {error.pointer for error in validate_value(record, NOW).errors}
        for place in refused_at(record):
            inside = place.startswith("/query/canon/match")
            assert place in told or (
                inside and any(p.startswith("/query/canon/match") for p in told)
            ), (
                place,
                told,
                record,
            )


def test_every_error_of_the_table_is_one_of_the_schema() -> None:
    for record in list(generated())[::3]:
        assert shape_errors(record) <= refused_at(record), record


# --- the catalogue


def test_codes_have_their_form() -> None:
    for name, code in CODES.items():
        assert name == code.id
        assert re.fullmatch("[EW]_[A-Z_]+", name)
        assert code.severity == ("error" if name.startswith("E_") else "warning")
    for name, reason in REASONS.items():
        assert name == reason.id
        assert re.fullmatch("[a-z_]+", name)
    assert set(CODES).isdisjoint(REASONS)


@pytest.mark.parametrize("entry", [*CODES.values(), *REASONS.values()], ids=lambda e: e.id)
def test_every_code_says_what_and_the_remedy_in_a_line(entry: Any) -> None:
    assert entry.rules
    for text in (entry.says, entry.remedy):
        assert text.endswith(".")
        assert "\n" not in text
    assert len(entry.says) <= 200
    assert explain(entry.id) is entry


def test_what_the_catalogue_lacks() -> None:
    assert explain("E_NOTHING") is None


def test_every_code_is_used_and_none_is_used_that_it_lacks() -> None:
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in SCHEMAS.parent.glob("*.py")
        if path.name != "codes.py"
    )
    used = set(re.findall(r'"([EW]_[A-Z_]+)"', source))
    assert used == set(CODES)


def test_every_check_of_the_spec_stands_in_the_catalogue() -> None:
    rules = {rule for code in CODES.values() for rule in code.rules}
    assert {f"C-{number}" for number in range(1, 25)} <= rules


SPEC_CODES = """
E_MATCH_COUNT E_RESULT_HASH E_QUERY_HASH E_CLAIM_RESULT E_DUPLICATE_UNIT E_TIME_FORMAT E_ASOF_FUTURE
E_VALID_UNTIL E_STATUS_SUM E_DUPLICATE_MATCH E_MATCH_OVERFLOW E_REPLAY_FIELDS E_END_MARKER
E_TERMINATION_MARKER E_JUSTIFICATION E_DIGEST_SOURCE E_BLINDSPOT_MISSING E_FILTER_KEY
E_FORBIDDEN_FIELD E_UNKNOWN_FIELD E_URL E_URL_SECRET E_LENGTH E_RANGE E_ENUM E_TYPE E_MISSING_FIELD
E_CANON_DOMAIN E_DUPLICATE_KEY E_CONSENSUS_FIELDS E_JSON E_ENCODING E_TOO_LARGE E_MATCH_SHAPE
E_CANON_NOT_NFC E_VERSION_GATE E_VERSION_UNKNOWN E_CONSENSUS_MODE E_DUPLICATE_SOURCE
E_SOURCE_LOCATOR E_SOURCE_ROLE E_SOURCE_DIGEST E_SOURCE_EPOCH E_SUPERSEDES W_IGNORED_FIELD
W_JUSTIFICATION_UNUSED
"""
SPEC_REASONS = """
source_unreachable source_truncated termination_not_proven round_count_without_end_signal
duplicate_ids total_drift moved_during_traversal criterion_field_never_seen doc_unparsable
budget_exhausted redirected_off_source source_error not_json json_ambiguous array_path_missing
item_without_id page_loop page_size_violation http_status detail_mismatch source_inconsistent
address_refused starts_midway unit_unchanged grew shrank changed expired result_drift order_drift
now_decidable
"""


def test_the_catalogue_is_the_specs() -> None:
    assert set(CODES) == set(SPEC_CODES.split())
    assert set(REASONS) == set(SPEC_REASONS.split())


def test_the_schema_of_the_report_knows_every_code_and_reason() -> None:
    definitions = schema("report")["definitions"]
    assert definitions["Finding"]["properties"]["code"]["enum"] == list(CODES)
    assert definitions["Report"]["properties"]["reasons"]["items"]["enum"] == list(REASONS)
    assert set(definitions["Report"]["properties"]) == {
        field.encode_name for field in msgspec.structs.fields(Report)
    }


def test_the_schema_of_the_record_has_the_members_of_a_rich_one() -> None:
    for record in seeds():
        assert validator("record").is_valid(record), refused_at(record)
        assert check(json.loads(json.dumps(record))).errors == ()
