"""Receipts to start from: the example of the spec, one of each kind, and changed ones."""

import copy
import json
from collections.abc import Callable
from typing import Any

from refold.coverage.checks import Validation, validate
from refold.coverage.hashes import set_hash
from refold.kernel.canon import digest

Json = dict[str, Any]
NOW = "2030-01-03T00:00:00Z"
PIN = "ab" * 32 + "i0"
DIGEST = "cd" * 32

EXAMPLE_TEXT = """{"v":"1.2.1","claim":"ABSENT",
 "question":"Does any repository in the acme list mention receipts?",
 "query":{"canon":{"caseFold":true,"match":{"field":"name","op":"contains","value":"receipt"}},
          "queryHash":"6ccf86749a627a00881f79a240ae77f1b9e9d04910acbd72fd1a3484fa7f9423"},
 "corpus":{"kind":"repo-list","asOf":"2030-01-02T03:04:05Z","units":[
   {"id":"acme-list",
    "replay":{"kind":"HTTP_JSON","url":"https://api.example.test/items","arrayPath":"items"},
    "boundary":{"termination":"CURSOR_END","observed":3,"endMarkerKind":"SET_HASH",
                "endMarker":"c1a9f25c1237d04f6fa73c0725e5e3cfdf9337680b549da6c08016dfad31aa3f"}}]},
 "result":{"matchCount":0,"matches":[],
           "resultHash":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"},
 "justification":"no_match_in_full_coverage","validUntil":"2030-01-09T03:04:05Z","blindspots":[]}
"""
"""The appendix of the spec, as it stands there."""


def example() -> Json:
    """The appendix: ABSENT over one HTTP_JSON unit."""
    record: Json = json.loads(EXAMPLE_TEXT)
    return record


def http_unit(name: str = "list", **boundary: Any) -> Json:
    """A unit of HTTP_JSON with three rows."""
    return {
        "id": name,
        "replay": {"kind": "HTTP_JSON", "url": f"https://a.test/{name}", "arrayPath": "items"},
        "boundary": {
            "termination": "CURSOR_END",
            "observed": 3,
            "endMarkerKind": "SET_HASH",
            "endMarker": set_hash(["1", "2", "3"]),
            **boundary,
        },
    }


def pins_unit(name: str = "pins", **replay: Any) -> Json:
    """A unit of MVC_PINS with two rows."""
    return {
        "id": name,
        "replay": {
            "kind": "MVC_PINS",
            "endpoint": "https://man.example.test",
            "path": "/protocols/metaprotocol",
            "pageSize": 100,
            "fetch": "LIST_PLUS_DETAIL",
            **replay,
        },
        "boundary": {
            "termination": "EXHAUSTED",
            "observed": 2,
            "endMarkerKind": "SET_HASH",
            "endMarker": set_hash([PIN, "00" * 32 + "i0"]),
            "statusCounts": {"0": 1, "1": 1},
        },
    }


def manual_unit(name: str = "desk") -> Json:
    """A unit of MANUAL."""
    return {
        "id": name,
        "replay": {"kind": "MANUAL", "instructions": "Look into the third drawer."},
        "boundary": {
            "termination": "UNKNOWN",
            "observed": 0,
            "endMarkerKind": "NONE",
            "endMarker": "",
        },
    }


def present(*matches: Json) -> Json:
    """PRESENT over pins: by default one match with its digest."""
    record = example()
    del record["justification"]
    record["claim"] = "PRESENT"
    record["corpus"]["units"] = [pins_unit()]
    record["query"]["canon"] = {
        "match": {"field": "doc.path", "op": "eq", "value": "/protocols/example"}
    }
    record["result"]["matches"] = list(matches) or [{"id": PIN, "digest": DIGEST}]
    record["result"]["matchCount"] = len(record["result"]["matches"])
    return sealed(record)


def manual() -> Json:
    """INCONCLUSIVE over a source that only a person can look at."""
    record = example()
    record["claim"] = "INCONCLUSIVE"
    record["justification"] = "manual_source_only"
    record["corpus"]["units"] = [manual_unit()]
    record["blindspots"] = [{"what": "the drawer", "why": "it needs a person"}]
    return record


def source(**changes: Any) -> Json:
    """A source of a consensus block."""
    return {
        "operator": "Acme",
        "locator": "https://a.test",
        "role": "THIRD_PARTY",
        "digestFrame": "SEEN_SET",
        "setDigest": DIGEST,
        "observed": 3,
        "observedAt": "2030-01-02T03:00:00Z",
        "outcome": "OBSERVED",
        **changes,
    }


def consensus(*sources: Json, mode: str = "AGREE") -> Json:
    """The example with a consensus block: by default two third parties that agree."""
    record = example()
    record["consensus"] = {
        "mode": mode,
        "epoch": "2030-01-02",
        "epochBasis": "UTC_DAY",
        "sourceSet": list(sources) or [source(), source(operator="Bolt", locator="https://b.test")],
    }
    return record


def sealed(record: Json) -> Json:
    """The record with both hashes computed anew."""
    record["query"]["queryHash"] = digest(record["query"]["canon"])
    hashed = [
        {name: match[name] for name in ("id", "digest") if name in match}
        for match in record["result"]["matches"]
    ]
    record["result"]["resultHash"] = digest(hashed)
    return record


def changed(record: Json, pointer: str, value: Any) -> Json:
    """A copy of the record with another value at a pointer ("/a/0/b"); Ellipsis takes it out."""
    record = copy.deepcopy(record)
    *steps, last = pointer.removeprefix("/").split("/")
    place: Any = record
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    key: Any = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    elif isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value
    return record


def check(record: Any, now: str = NOW) -> Validation:
    """Validate the bytes of a record."""
    return validate(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"), now)


def errors(record: Any, now: str = NOW) -> list[tuple[str, str]]:
    """The errors of a record as (pointer, code)."""
    return [(error.pointer, error.code) for error in check(record, now).errors]


def codes(record: Any, now: str = NOW) -> set[str]:
    """The codes of a record's errors."""
    return {code for _, code in errors(record, now)}


def warnings(record: Any) -> list[tuple[str, str]]:
    """The warnings of a record as (pointer, code)."""
    return [(warning.pointer, warning.code) for warning in check(record).warnings]


VALID: dict[str, Callable[[], Json]] = {
    "example": example,
    "present": present,
    "manual": manual,
    "consensus": consensus,
}
"""One valid record of each kind."""
