"""Plans: what a receipt is to be built from, as TOML (spec §6, `build`).

    question = "Does any repository in the acme list mention receipts?"
    kind = "repo-list"              # corpus.kind, a label
    validFor = "7d"                 # minutes, hours or days: 30m, 12h, 7d

    [criterion]                     # query.canon, member for member
    caseFold = true
    match = { field = "name", op = "contains", value = "receipt" }

    [[units]]                       # 1 to 64; members of F-13 to F-17 beside the id
    id = "acme-list"
    kind = "HTTP_JSON"
    url = "https://api.example.test/items"
    arrayPath = "items"

Optional are `note`, `supersedes`, `subset = true` (absence may be claimed where the end of some
units cannot be proved, as `no_match_in_declared_subset`), `[[blindspots]]` with what and why; and
in a unit of HTTP_JSON `pagesBy`, the query parameter by which a source without next links counts
its pages (or its rows, with `step`).

A plan is checked by making the record that it could become at best, so every problem is told at
once, under the codes of records and at the place in the plan.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from refold.coverage.checks import validate_value
from refold.coverage.codes import CODES
from refold.coverage.hashes import EMPTY_SET
from refold.coverage.record import (
    MAX_BLINDSPOTS,
    MAX_RECORD_BYTES,
    VERSION,
    Blindspot,
    Replay,
    receipt_of,
)
from refold.coverage.series_pages import MAX_COUNTED_ID, counted_from
from refold.coverage.shape import Anything, Bool, Integer, Path, Record, Report, Shape, Text
from refold.kernel.canon import digest
from refold.kernel.errors import InputError, Problem, json_pointer
from refold.kernel.utc import later

__all__ = ["DEFAULT_VALID_FOR", "Plan", "PlannedUnit", "plan_of", "read_plan", "seconds_of"]

DEFAULT_VALID_FOR: Final = "7d"
MAX_OWN_BLINDSPOTS: Final = MAX_BLINDSPOTS - 2
"""Blindspots in a plan: the builder needs one for digests and one for units."""
MAX_STEP: Final = 10_000
"""Rows a page, at most: the largest number at which page sizes cut (R-5)."""

_SPAN: Final = re.compile("([1-9][0-9]{0,3})([mhd])")
_SECONDS: Final = {"m": 60, "h": 3_600, "d": 86_400}
_ANY: Final = Anything("")
_TOP: Final[dict[str, Shape]] = {
    "kind": _ANY,
    "note": _ANY,
    "supersedes": _ANY,
    "blindspots": _ANY,
    "validFor": Text(None, 0, _SPAN.pattern, "a number and m, h or d"),
    "subset": Bool(),
}
_PLAN: Final = Record({"question": _ANY, "criterion": _ANY, "units": _ANY}, _TOP)
_SERIES: Final[dict[str, Shape]] = {"pagesBy": Text(64, 1), "step": Integer(1, MAX_STEP)}

_PLACES: Final = (
    ("/query/canon", "/criterion"),
    ("/query", "/criterion"),
    ("/corpus/kind", "/kind"),
    ("/corpus/units", "/units"),
)
"""Where members of the record stand in a plan."""
_AT: Final = "2030-01-01T00:00:00Z"
"""Any moment: a plan says nothing about when."""


class PlannedUnit(msgspec.Struct, frozen=True):
    """One source: its id and recipe; `pages_by` and `step` where its pages are to be counted."""

    id: str
    replay: Replay
    pages_by: str = ""
    step: int = 1


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan without a fault. `valid_for` is in seconds."""

    question: str
    kind: str
    canon: dict[str, Any]
    units: tuple[PlannedUnit, ...]
    blindspots: tuple[Blindspot, ...] = ()
    valid_for: int
    subset: bool = False
    note: str = ""
    supersedes: str = ""


def read_plan(data: bytes) -> Plan:
    """Read a plan. Raises InputError: `plan-syntax` for what is no TOML, else every problem."""
    if len(data) > MAX_RECORD_BYTES:
        raise InputError("plan-too-large", f"the plan is over {MAX_RECORD_BYTES} bytes")
    try:
        value = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            "plan-syntax", f"the plan is no TOML: {error}", "docs/coverage.md shows one"
        ) from error
    return plan_of(value)


def plan_of(value: Mapping[str, Any]) -> Plan:
    """Make a plan of what its TOML says. Raises InputError with every problem."""
    problems: dict[tuple[str, str], Problem] = {}

    def report(code: str, path: Path, why: str) -> None:
        pointer = json_pointer(path)
        told = Problem(code, f"{CODES[code].says} ({why})", CODES[code].remedy, pointer)
        problems.setdefault((pointer, code), told)

    _PLAN.check(dict(value), (), report)
    if len(_list(value.get("blindspots"))) > MAX_OWN_BLINDSPOTS:
        report("E_LENGTH", ("blindspots",), f"over {MAX_OWN_BLINDSPOTS}, two are the builder's")
    listed = value.get("units")
    units = [dict(unit) if type(unit) is dict else unit for unit in _list(listed)]
    series = [_series(unit, ("units", place), report) for place, unit in enumerate(units)]
    draft = _draft(value, units if type(listed) is list else listed)
    for problem in validate_value(draft, _AT).errors:
        pointer = _in_plan(problem.pointer)
        problems.setdefault(
            (pointer, problem.code), msgspec.structs.replace(problem, pointer=pointer)
        )
    if problems:
        raise InputError.of([problems[key] for key in sorted(problems)])
    receipt = receipt_of(draft)
    return Plan(
        question=receipt.question,
        kind=receipt.corpus.kind,
        canon=receipt.query.canon,
        units=tuple(
            PlannedUnit(unit.id, unit.replay, *counted)
            for unit, counted in zip(receipt.corpus.units, series, strict=True)
        ),
        blindspots=receipt.blindspots,
        valid_for=seconds_of(value.get("validFor", DEFAULT_VALID_FOR)),
        subset=value.get("subset", False),
        note=receipt.note,
        supersedes=receipt.supersedes,
    )


def seconds_of(span: str) -> int:
    """Give the seconds of a time like 30m, 12h or 7d; 0 for what is none."""
    match = _SPAN.fullmatch(span) if type(span) is str else None
    return int(match[1]) * _SECONDS[match[2]] if match else 0


def _series(unit: object, path: Path, report: Report) -> tuple[str, int]:
    """Take the members about pages out of a unit, checked; ("", 1) where it has none."""
    if type(unit) is not dict:
        return "", 1
    named = {name: unit.pop(name) for name in tuple(unit) if name in _SERIES}
    if not named:
        return "", 1
    Record({"pagesBy": _SERIES["pagesBy"]}, {"step": _SERIES["step"]}).check(named, path, report)
    pages_by, step, url = named.get("pagesBy"), named.get("step", 1), unit.get("url")
    fault = ""
    if unit.get("kind") != "HTTP_JSON":
        fault = "only HTTP_JSON has pages to count"
    elif type(pages_by) is str and type(url) is str:
        fault = counted_from(url, pages_by, step)
    if fault:
        report("E_REPLAY_FIELDS", (*path, "pagesBy"), fault)
    if type(unit.get("id")) is str and len(unit["id"]) > MAX_COUNTED_ID:
        report("E_LENGTH", (*path, "id"), f"over {MAX_COUNTED_ID}, as the page's number is added")
    return (pages_by, step) if type(pages_by) is str and type(step) is int else ("", 1)


def _draft(plan: Mapping[str, Any], units: object) -> dict[str, Any]:
    """Give the record that a plan would become if nothing could be read; faults and all."""
    canon = plan.get("criterion")
    query: object = canon
    if type(canon) is dict:
        query = {"canon": canon, "queryHash": _hash(canon)}
    record = {
        "v": VERSION,
        "claim": "INCONCLUSIVE",
        "question": plan.get("question"),
        "query": query,
        "corpus": {
            "kind": plan.get("kind", "list"),
            "asOf": _AT,
            "units": [_unit(unit) for unit in units] if type(units) is list else units,
        },
        "result": {"matchCount": 0, "matches": [], "resultHash": EMPTY_SET},
        "justification": "under_investigation",
        "validUntil": later(_AT, 60),
        "blindspots": plan.get("blindspots", []),
        "note": plan.get("note", ""),
    }
    if "supersedes" in plan:
        record["supersedes"] = plan["supersedes"]
    # What is missing is told by the plan's own shape.
    for name, member in (("question", "question"), ("criterion", "query")):
        if name not in plan:
            record[member] = _draft_of(member)
    if "units" not in plan:
        record["corpus"]["units"] = [_unit({"id": "", "kind": "MANUAL"})]
    return record


def _draft_of(member: str) -> object:
    canon = {"match": {"field": "id", "op": "exists", "value": True}}
    return "" if member == "question" else {"canon": canon, "queryHash": digest(canon)}


def _unit(unit: object) -> object:
    if type(unit) is not dict:
        return unit
    pins = unit.get("kind") == "MVC_PINS"
    boundary = {
        "termination": "UNKNOWN",
        "observed": 0,
        "endMarkerKind": "SET_HASH" if pins else "NONE",
        "endMarker": EMPTY_SET if pins else "",
    }
    replay = {name: value for name, value in unit.items() if name != "id"}
    made = {"replay": replay, "boundary": boundary}
    return {"id": unit["id"], **made} if "id" in unit else made


def _in_plan(pointer: str) -> str:
    """Give the place in a plan of what stands in its record."""
    for there, here in _PLACES:
        if pointer == there or pointer.startswith(f"{there}/"):
            pointer = here + pointer[len(there) :]
            break
    return re.sub("^(/units/[0-9]+)/replay(?=/|$)", r"\1", pointer)


def _hash(canon: dict[str, Any]) -> str:
    try:
        return digest(canon)
    except InputError:  # told as E_CANON_DOMAIN at its place
        return EMPTY_SET


def _list(value: object) -> list[Any]:
    return value if type(value) is list else []
