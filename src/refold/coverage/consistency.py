"""The checks that need more than one member of a record, a hash or the clock: C-1 to C-15, F-1.

Each function is one row of spec §5.6, in its order; it looks only at what has the right type.
"""

import re
from collections.abc import Iterator
from typing import Final

from refold.coverage.criterion import paths_of
from refold.coverage.fields import SEGMENT
from refold.coverage.hashes import EMPTY_SET
from refold.coverage.record import JUSTIFICATIONS, MAX_FILTER_KEYS, SKEW_SECONDS, WITHDRAWN
from refold.coverage.shape import Report
from refold.coverage.sight import Sight, UnitSight, moment
from refold.coverage.urls import is_origin, secrets_in, url_fault
from refold.kernel.canon import MAX_INTEGER, digest
from refold.kernel.errors import InputError

__all__ = ["check"]

_TOTAL: Final = re.compile(rf"{SEGMENT}(?:\.{SEGMENT})*=(0|[1-9][0-9]{{0,15}})")
_CURSOR: Final = re.compile(r"[^=]+=[\s\S]*")
_HASH: Final = re.compile("[0-9a-f]{64}")
_FILTER_KEY: Final = re.compile(rf"chain\.{SEGMENT}|doc\.{SEGMENT}(?:\.{SEGMENT})*")
_FORBIDDEN_KEYS: Final = ("chain.contentSummary", "chain.status")

_NEEDS_FULL: Final = ("no_match_in_full_coverage", "all_sources_empty")
_NEEDS_BLINDSPOT: Final = ("no_match_in_declared_subset", "criterion_not_expressible")


def check(sight: Sight, now: int, report: Report, *, compiles: bool) -> None:
    """Report what does not fit together in a record, at the moment `now` (Unix seconds).

    `compiles` tells whether the criterion has the shape of one, so that its paths can be asked for.
    """
    _version(sight, report)
    _match_count(sight, report)
    _hashes(sight, report)
    _claim(sight, report)
    _unit_ids(sight, report)
    _times(sight, now, report)
    for unit in sight.units:
        _status_sum(unit, report)
        _end_marker(unit, report)
        _termination(unit, report)
        _filter(unit, report)
        _url(unit, report)
    _matches(sight, report)
    _justification(sight, report)
    _digests(sight, report)
    paths = paths_of(sight.canon["match"]) if compiles else ()
    _documents(sight, paths, report)


def _version(sight: Sight, report: Report) -> None:
    """F-1, the version gate."""
    version = sight.version
    if version == WITHDRAWN:
        report("E_VERSION_GATE", ("v",), f"{WITHDRAWN} was withdrawn; re-issue the receipt")
    elif version == "1.0.0" and any(unit.kind == "MVC_PINS" for unit in sight.units):
        report("E_VERSION_GATE", ("v",), "1.0.0 may not walk MVC_PINS")
    if version in {"1.0.0", "1.1.1"} and sight.has_consensus:
        report("E_VERSION_GATE", ("v",), f"{version} has no consensus block")
    elif version == "1.2.0" and "sourceSet" in sight.consensus:
        report("E_VERSION_GATE", ("v",), "a sourceSet needs 1.2.1")


def _match_count(sight: Sight, report: Report) -> None:
    """C-1."""
    if sight.match_count is not None and "matches" in sight.result:
        found = len(sight.matches)
        if sight.match_count != found:
            report("E_MATCH_COUNT", ("result", "matchCount"), f"there are {found} matches")


def _hashes(sight: Sight, report: Report) -> None:
    """C-2 and C-3."""
    matches = sight.hashed_matches()
    if "resultHash" in sight.result and type(sight.result.get("matches")) is list:
        _hash(sight.result["resultHash"], matches, "E_RESULT_HASH", report)
    if "queryHash" in sight.query and sight.canon:
        _hash(sight.query["queryHash"], sight.canon, "E_QUERY_HASH", report)


def _hash(declared: object, hashed: object, code: str, report: Report) -> None:
    path = ("result", "resultHash") if code == "E_RESULT_HASH" else ("query", "queryHash")
    if hashed is None or type(declared) is not str:
        return
    try:
        recomputed = digest(hashed)
    except InputError:
        return  # outside of the canonical domain, which is reported
    if declared != recomputed:
        report(code, path, f"it recomputes to {recomputed}")


def _claim(sight: Sight, report: Report) -> None:
    """C-4: V-1 to V-4."""
    count = sight.match_count
    if count is None or sight.claim not in {"ABSENT", "PRESENT", "INCONCLUSIVE"}:
        return
    if (sight.claim == "PRESENT") != (count > 0):
        report("E_CLAIM_RESULT", ("claim",), f"{sight.claim} with matchCount {count}")


def _unit_ids(sight: Sight, report: Report) -> None:
    """C-5; a line break in an id is told with its shape."""
    seen: set[str] = set()
    for unit in sight.units:
        if unit.id is not None:
            if unit.id in seen:
                report("E_DUPLICATE_UNIT", (*unit.path, "id"), "an earlier unit has it")
            seen.add(unit.id)


def _times(sight: Sight, now: int, report: Report) -> None:
    """C-6 and C-7."""
    as_of, valid_until = sight.as_of_seconds, moment(sight.valid_until)
    if as_of is None:
        _no_time(sight.as_of, ("corpus", "asOf"), report)
    elif as_of - now > SKEW_SECONDS:
        report("E_ASOF_FUTURE", ("corpus", "asOf"), f"{as_of - now} seconds from now")
    if valid_until is None:
        _no_time(sight.valid_until, ("validUntil",), report)
    elif as_of is not None and valid_until <= as_of:
        report("E_VALID_UNTIL", ("validUntil",), "it must be later than asOf")


def _no_time(text: object, path: tuple[str, ...], report: Report) -> None:
    """Report a time of the right form that does not exist; another form is told with its shape."""
    if type(text) is str:
        report("E_TIME_FORMAT", path, "no such day or time of day")


def _status_sum(unit: UnitSight, report: Report) -> None:
    """C-8."""
    counts = unit.boundary.get("statusCounts")
    if unit.observed is None or type(counts) is not dict:
        return
    if any(type(count) is not int for count in counts.values()):
        return
    total = sum(counts.values())
    if total != unit.observed:
        path = (*unit.path, "boundary", "statusCounts")
        report("E_STATUS_SUM", path, f"they add up to {total}, observed is {unit.observed}")


def _matches(sight: Sight, report: Report) -> None:
    """C-9."""
    seen: set[str] = set()
    for index, match in enumerate(sight.matches):
        name = match.get("id")
        if type(name) is str:
            if name in seen:
                report("E_DUPLICATE_MATCH", ("result", "matches", index, "id"), "listed before")
            seen.add(name)
    # A pin gives an identity for each of its modifications, a row of a list one at most.
    if sight.units and all(unit.kind == "HTTP_JSON" for unit in sight.units):
        observed = [unit.observed for unit in sight.units if unit.observed is not None]
        rows = sum(observed)
        if len(observed) == len(sight.units) and len(sight.matches) > rows:
            why = f"{len(sight.matches)} of {rows} rows"
            report("E_MATCH_OVERFLOW", ("result", "matches"), why)


def _end_marker(unit: UnitSight, report: Report) -> None:
    """C-11, C-21 and the grammar of endMarker (spec §5.1)."""
    kind, marker, observed = unit.marker_kind, unit.marker, unit.observed
    boundary = (*unit.path, "boundary")
    if unit.kind == "MVC_PINS" and kind is not None and kind != "SET_HASH":
        report("E_END_MARKER", (*boundary, "endMarkerKind"), "MVC_PINS takes SET_HASH")
    if kind == "ITEM_ID" and observed == 0:
        report("E_END_MARKER", (*boundary, "endMarkerKind"), "no item was observed")
    if kind is None or marker is None:
        return
    fault = _marker_fault(kind, marker)
    if not fault and kind == "SET_HASH" and observed is not None:
        if observed == 0 and marker != EMPTY_SET:
            fault = f"the hash of no ids is {EMPTY_SET}"
        elif observed > 0 and marker == EMPTY_SET:
            fault = "it is the hash of no ids, and rows were observed"
    if fault:
        report("E_END_MARKER", (*boundary, "endMarker"), fault)


def _marker_fault(kind: str, marker: str) -> str:
    """Say what is wrong with an endMarker of a kind, "" if nothing is."""
    match kind:
        case "SET_HASH" if _HASH.fullmatch(marker) is None:
            return "SET_HASH is 64 lower-case hex digits"
        case "TOTAL_COUNT":
            total = _TOTAL.fullmatch(marker)
            if total is None or int(total[1]) > MAX_INTEGER:
                return "TOTAL_COUNT is a dot path, = and an integer"
        case "CURSOR" if _CURSOR.fullmatch(marker) is None:
            return "CURSOR is a name, = and a value"
        case "ITEM_ID" if not marker:
            return "ITEM_ID is the id of the last item"
        case "NONE" if marker:
            return "NONE goes with an empty endMarker"
    return ""


def _termination(unit: UnitSight, report: Report) -> None:
    """C-12."""
    termination, kind = unit.termination, unit.marker_kind
    path = (*unit.path, "boundary", "termination")
    if unit.kind == "MVC_PINS" and termination in {"SINGLE_PAGE", "COUNT_MATCHED"}:
        report("E_TERMINATION_MARKER", path, f"MVC_PINS never ends {termination}")
        return
    # NONE goes with any end: it proves nothing and caps the coverage.
    if termination is None or kind is None or kind == "NONE":
        return
    if (termination == "COUNT_MATCHED") != (kind == "TOTAL_COUNT"):
        report("E_TERMINATION_MARKER", path, f"{termination} with {kind}")


def _justification(sight: Sight, report: Report) -> None:
    """C-13: V-11."""
    claim, label, path = sight.claim, sight.justification, ("justification",)
    if claim == "PRESENT":
        if sight.has_justification:
            report("W_JUSTIFICATION_UNUSED", path, "it is ignored")
        return
    labels = JUSTIFICATIONS.get(claim) if claim is not None else None
    if labels is None:
        return
    if not sight.has_justification:
        report("E_JUSTIFICATION", path, f"{claim} needs one")
    elif label not in labels:
        report("E_JUSTIFICATION", path, f"{claim} takes one of {', '.join(labels)}")
    else:
        for why in _unfit(str(label), sight):
            report("E_JUSTIFICATION", path, why)
            return


def _unfit(label: str, sight: Sight) -> Iterator[str]:
    """Give why the units do not bear a label out."""
    units = sight.units
    full = all(unit.ceiling == "FULL" for unit in units)
    if label in _NEEDS_FULL and not full:
        yield "a unit is MANUAL, ends UNKNOWN or has no endMarker"
    if label == "all_sources_empty" and any(unit.observed != 0 for unit in units):
        yield "a unit observed rows"
    if label == "no_match_in_declared_subset" and full:
        yield "every unit proves its end"
    if label in _NEEDS_BLINDSPOT and not sight.blindspots:
        yield "it needs a blindspot"
    if label == "termination_not_proven" and all(unit.termination != "UNKNOWN" for unit in units):
        yield "no unit ends UNKNOWN"
    if label == "manual_source_only" and any(unit.kind != "MANUAL" for unit in units):
        yield "a unit is not MANUAL"


def _digests(sight: Sight, report: Report) -> None:
    """C-14, its half about digests: it binds MVC_PINS, and HTTP_JSON never has one."""
    if not sight.units:
        return
    if not any(unit.has_bytes for unit in sight.units):
        for index, match in enumerate(sight.matches):
            if "digest" in match:
                path = ("result", "matches", index, "digest")
                report("E_DIGEST_SOURCE", path, "no unit of this record gives raw bytes")
    left_out = any("digest" not in match for match in sight.matches)
    if left_out and all(unit.kind == "MVC_PINS" for unit in sight.units) and not sight.blindspots:
        report("E_BLINDSPOT_MISSING", ("blindspots",), "a match has no digest")


def _documents(sight: Sight, paths: tuple[str, ...], report: Report) -> None:
    """C-14, its half about doc. paths of the criterion."""
    reads = [path for path in paths if path == "doc" or path.startswith("doc.")]
    for unit in sight.units:
        if reads and unit.kind == "MVC_PINS" and unit.replay.get("fetch") == "LIST_ONLY":
            path = (*unit.path, "replay", "fetch")
            report("E_DIGEST_SOURCE", path, f"the criterion reads {reads[0]}")


def _filter(unit: UnitSight, report: Report) -> None:
    """C-15, and C-14 for doc. keys."""
    keys = unit.replay.get("filter")
    if type(keys) is not dict or unit.kind != "MVC_PINS":
        return
    path = (*unit.path, "replay", "filter")
    if len(keys) > MAX_FILTER_KEYS:
        report("E_FILTER_KEY", path, f"{len(keys)} keys, {MAX_FILTER_KEYS} at most")
    for key in keys:
        if key in _FORBIDDEN_KEYS or _FILTER_KEY.fullmatch(key) is None:
            report("E_FILTER_KEY", (*path, key), "no key that a filter may have")
        elif key.startswith("doc.") and unit.replay.get("fetch") == "LIST_ONLY":
            report("E_DIGEST_SOURCE", (*path, key), "LIST_ONLY sees no documents")


def _url(unit: UnitSight, report: Report) -> None:
    """C-18."""
    url, endpoint = unit.replay.get("url"), unit.replay.get("endpoint")
    if type(url) is str and unit.kind == "HTTP_JSON":
        path = (*unit.path, "replay", "url")
        fault = url_fault(url)
        if fault:
            report("E_URL", path, fault)
        secrets = secrets_in(url)
        if secrets:
            report("E_URL_SECRET", path, f"parameter {secrets[0]}")
    if type(endpoint) is str and unit.kind == "MVC_PINS" and not is_origin(endpoint):
        report("E_URL", (*unit.path, "replay", "endpoint"), "not a bare https origin")
