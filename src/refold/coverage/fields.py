"""The field rows F-1 to F-49 as shapes: what the record may hold, member by member (spec §5.1a)."""

from typing import Any, Final, get_args

from refold.coverage import record as r
from refold.coverage.shape import (
    Anything,
    Bool,
    Choice,
    Ignored,
    Integer,
    Items,
    Members,
    Only,
    Record,
    Tagged,
    Text,
)
from refold.kernel.canon import MAX_INTEGER

__all__ = ["FORBIDDEN", "RECORD", "REPLAY_MEMBERS", "SEGMENT"]

FORBIDDEN: Final = ("verifiedBy", "checkedAt", "signature")
"""Names of F-36 that are errors wherever they stand; judgement and coverage are warnings."""

CONTROL: Final = r"\u0000-\u001f\u007f-\u009f"
"""Control characters (general category Cc), inside of a character class."""
SEGMENT: Final = rf"[^.\[\]*{CONTROL}]{{1,64}}"
"""A segment of a dot path (spec §5.2)."""
_DOT_PATH: Final = rf"(?:{SEGMENT}(?:\.{SEGMENT})*)?"

HASH: Final = Text(64, 64, "[0-9a-f]{64}", "64 lower-case hex digits")
TIME: Final = Text(
    None,
    0,
    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z",
    "of the form 2031-05-09T07:30:00Z",
    "E_TIME_FORMAT",
)
COUNT: Final = Integer(0, MAX_INTEGER)

_REFUSED: Final[dict[str, tuple[str, ...]]] = dict.fromkeys(FORBIDDEN, ("E_FORBIDDEN_FIELD",))


def _record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> Record:
    return Record(required, optional or {}, _REFUSED)


# F-12 to F-17, R-8: each kind has its own members. A member of another kind breaks C-10; one of no
# kind breaks C-17 as well.
_REPLAY: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "HTTP_JSON": (
        {
            "url": Text(r.MAX_URL, 0, "https://[!-~]+", "an https URL of printable ASCII", "E_URL"),
            "arrayPath": Text(256, 0, _DOT_PATH, "a dot path without indexes and wildcards"),
        },
        {},
    ),
    "MVC_PINS": (
        {
            "endpoint": Text(r.MAX_URL, 0, "https://[!-.0->A-~]+", "a bare https origin", "E_URL"),
            "path": Text(r.MAX_PIN_PATH, 0, r"/[\s\S]*", "a path that starts with /"),
            "pageSize": Integer(1, r.MAX_PAGE_SIZE),
            "fetch": Choice(get_args(r.Fetch)),
        },
        {"dedupe": Choice(get_args(r.Dedupe)), "filter": Members(Text())},
    ),
    "MANUAL": ({}, {"instructions": Text(r.MAX_INSTRUCTIONS)}),
}
REPLAY_MEMBERS: Final = frozenset(
    name for required, optional in _REPLAY.values() for name in (*required, *optional)
)
"""Every member that some replay kind has."""


def _replay(kind: str) -> Record:
    required, optional = _REPLAY[kind]
    foreign = REPLAY_MEMBERS - set(required) - set(optional)
    return Record(
        {"kind": Choice((kind,)), **required},
        optional,
        {**_REFUSED, **dict.fromkeys(sorted(foreign), ("E_REPLAY_FIELDS",))},
        ("E_UNKNOWN_FIELD", "E_REPLAY_FIELDS"),
        ("E_MISSING_FIELD", "E_REPLAY_FIELDS"),
    )


BOUNDARY: Final = _record(
    {
        "termination": Choice(get_args(r.Termination)),
        "observed": COUNT,
        "endMarkerKind": Choice(get_args(r.MarkerKind)),
        "endMarker": Text(
            r.MAX_END_MARKER, 0, f"[^{CONTROL}]*", "free of control characters", "E_END_MARKER"
        ),
    },
    {"statusCounts": Members(COUNT)},
)

UNIT: Final = Only(
    _record(
        {
            "id": Text(r.MAX_UNIT_ID, 0, r"[^\n\r]*", "on one line", "E_DUPLICATE_UNIT"),
            "replay": Tagged("kind", {kind: _replay(kind) for kind in _REPLAY}),
            "boundary": BOUNDARY,
        }
    ),
    member=("boundary", "statusCounts"),
    tag=("replay", "kind"),
    word="MVC_PINS",
    others=("HTTP_JSON", "MANUAL"),
)

SOURCE: Final = _record(
    {
        "operator": Text(r.MAX_OPERATOR, 1),
        "locator": Text(r.MAX_LOCATOR),
        "role": Choice(get_args(r.Role)),
        "digestFrame": Choice(get_args(r.Frame)),
        "setDigest": Text(
            None, 0, "(?:[0-9a-f]{64})?", "64 lower-case hex digits or empty", "E_SOURCE_DIGEST"
        ),
        "observed": COUNT,
        "observedAt": TIME,
        "outcome": Choice(get_args(r.Outcome)),
    }
)

CONSENSUS: Final = Record(
    {
        "mode": Choice(get_args(r.Mode)),
        "epoch": Text(r.MAX_EPOCH, 1),
        "epochBasis": Choice(get_args(r.EpochBasis)),
        "sourceSet": Items(SOURCE, 1, r.MAX_SOURCES),
    },
    {},
    _REFUSED,
    missing=("E_MISSING_FIELD", "E_CONSENSUS_FIELDS"),
)

RECORD: Final = _record(
    {
        "v": Choice(r.VERSIONS, "E_VERSION_UNKNOWN"),
        "claim": Choice(get_args(r.Claim)),
        "question": Text(r.MAX_QUESTION),
        "query": _record(
            {
                "canon": _record({"match": Anything("criterion")}, {"caseFold": Bool()}),
                "queryHash": HASH,
            }
        ),
        "corpus": _record(
            {"kind": Text(r.MAX_KIND), "asOf": TIME, "units": Items(UNIT, 1, r.MAX_UNITS)}
        ),
        "result": _record(
            {
                "matchCount": COUNT,
                "matches": Items(_record({"id": Text(r.MAX_MATCH_ID)}, {"digest": HASH})),
                "resultHash": HASH,
            }
        ),
        "validUntil": TIME,
        "blindspots": Items(
            _record({"what": Text(r.MAX_WHAT), "why": Text(r.MAX_WHY)}), 0, r.MAX_BLINDSPOTS
        ),
    },
    {
        "justification": Choice(
            tuple(label for labels in r.JUSTIFICATIONS.values() for label in labels)
        ),
        "supersedes": Text(
            None, 0, "[0-9a-f]{64}i[0-9]", "64 lower-case hex digits, i, a digit", "E_SUPERSEDES"
        ),
        "note": Text(r.MAX_NOTE),
        "consensus": CONSENSUS,
        "judgement": Ignored("W_IGNORED_FIELD"),
        "coverage": Ignored("W_IGNORED_FIELD"),
    },
)
"""The record as a whole."""
