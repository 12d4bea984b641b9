"""The catalogue: every error and warning of the validator as data (spec §5.6, §5.7).

The validator, `explain`, the schemas' tests and SARIF read it, and with it the replay reasons of
`refold.coverage.reasons`; nothing states a code a second time.
Codes are stable API: never rename one.
"""

from typing import Literal

import msgspec

from refold.coverage.reasons import REASONS, Reason

__all__ = ["CODES", "REASONS", "Code", "Reason", "Severity", "explain"]

Severity = Literal["error", "warning"]


class Code(msgspec.Struct, frozen=True, rename="camel"):
    """An error (E_) or a warning (W_) of the validator.

    `rules` are the ids of the spec that it enforces, `says` is one line, `remedy` says what to do.
    `schema` tells what of it the published JSON Schema refuses too: all, some (the form, not the
    meaning) or none.
    """

    id: str
    rules: tuple[str, ...]
    says: str
    remedy: str
    severity: Severity = "error"
    schema: Literal["all", "some", "none"] = "none"


def _codes(*codes: Code) -> dict[str, Code]:
    return {code.id: code for code in codes}


CODES: dict[str, Code] = _codes(
    # the bytes
    Code(
        "E_TOO_LARGE", ("5.7",), "The record is longer than 1 MiB.", "Split the corpus in records."
    ),
    Code(
        "E_ENCODING",
        ("5.4",),
        "The bytes are not UTF-8 without a byte order mark.",
        "Save the record as plain UTF-8.",
    ),
    Code(
        "E_JSON",
        ("5.4",),
        "The bytes are not one JSON text, or it is nested deeper than 64.",
        "Write one JSON object by RFC 8259, without comments or trailing text.",
    ),
    Code(
        "E_DUPLICATE_KEY",
        ("C-20",),
        "An object has one member name twice, which readers resolve differently.",
        "Keep one of the two.",
    ),
    Code(
        "E_CANON_DOMAIN",
        ("C-20", "5.4"),
        "A value has no canonical form that all agree on: a number with fraction or exponent, "
        "an integer beyond 2^53-1, NaN, a lone surrogate, a member name above U+D7FF.",
        "Write integers within bounds, other numbers as text, and valid Unicode.",
    ),
    # the shape
    Code(
        "E_MISSING_FIELD",
        ("C-19",),
        "A required member is missing.",
        "Add it; empty lists and empty strings are written out.",
        schema="all",
    ),
    Code(
        "E_UNKNOWN_FIELD",
        ("C-17",),
        "A member that this record format does not have.",
        "Mend its spelling or take it out; a misspelled optional member must not pass in silence.",
        schema="all",
    ),
    Code(
        "E_FORBIDDEN_FIELD",
        ("C-16", "F-36"),
        "A receipt may not say who verified it, when, or be its own signature.",
        "Take it out; sign the receiptHash outside of the record.",
        schema="all",
    ),
    Code(
        "E_TYPE",
        ("C-19",),
        "A value is of another type or form than its field.",
        "Write the type that the field's row in the specification names.",
        schema="all",
    ),
    Code(
        "E_LENGTH",
        ("C-19",),
        "A text or a list is too long or too short; text counts in Unicode code points.",
        "Keep to the bounds named.",
        schema="all",
    ),
    Code(
        "E_RANGE",
        ("C-19",),
        "An integer is outside of its range.",
        "Keep to the bounds named.",
        schema="all",
    ),
    Code(
        "E_ENUM",
        ("C-19",),
        "A text is none of the words that its field allows.",
        "Use one of the words named, in the same spelling.",
        schema="all",
    ),
    Code(
        "E_REPLAY_FIELDS",
        ("C-10", "F-12"),
        "The members of replay are not exactly those of its kind.",
        "Give each kind its own members and no others.",
        schema="all",
    ),
    # version
    Code(
        "E_VERSION_UNKNOWN",
        ("F-1",),
        "No such version of the record format.",
        'Write "v":"1.2.1".',
        schema="all",
    ),
    Code(
        "E_VERSION_GATE",
        ("F-1",),
        "The record uses what its version may not, or its version was withdrawn.",
        "Walk the sources again and issue a new receipt with version 1.2.1.",
    ),
    # what must fit together
    Code("E_MATCH_COUNT", ("C-1", "F-24"), "matchCount is not the number of matches.", "Count."),
    Code(
        "E_RESULT_HASH",
        ("C-2", "F-28"),
        "resultHash does not recompute from the matches.",
        "Hash the canonical form of the list of {id, digest?} in the declared order.",
    ),
    Code(
        "E_QUERY_HASH",
        ("C-3", "F-6"),
        "queryHash does not recompute from query.canon.",
        "Hash the canonical form of query.canon.",
    ),
    Code(
        "E_CLAIM_RESULT",
        ("C-4", "V-1"),
        "The claim does not fit the number of matches.",
        "ABSENT and INCONCLUSIVE have none, PRESENT has at least one.",
    ),
    Code(
        "E_DUPLICATE_UNIT",
        ("C-5", "F-11"),
        "A unit's id is used twice or holds a line break.",
        "Give each unit an id of its own on one line.",
        schema="some",
    ),
    Code(
        "E_TIME_FORMAT",
        ("C-6", "F-9", "F-30", "F-48"),
        "A time is not RFC 3339 in UTC with Z and whole seconds, or does not exist.",
        "Write it as 2031-05-09T07:30:00Z.",
        schema="some",
    ),
    Code(
        "E_ASOF_FUTURE",
        ("C-6", "F-9"),
        "asOf lies in the future.",
        "Write the moment at which the traversal ended.",
    ),
    Code(
        "E_VALID_UNTIL",
        ("C-7", "F-30"),
        "validUntil is not after asOf.",
        "Let the conclusion hold for at least a second.",
    ),
    Code(
        "E_STATUS_SUM",
        ("C-8", "F-22"),
        "The statusCounts do not add up to observed.",
        "Count every row once, by its status.",
    ),
    Code("E_DUPLICATE_MATCH", ("C-9",), "A match is listed twice.", "Keep its first occurrence."),
    Code(
        "E_MATCH_OVERFLOW",
        ("C-9",),
        "There are more matches than rows were observed.",
        "Count all rows seen before filtering in observed.",
    ),
    Code(
        "E_END_MARKER",
        ("C-11", "C-21", "F-21"),
        "The endMarker does not fit its kind, its unit or the number of rows.",
        "Write the marker of its kind; MVC_PINS takes the SET_HASH of the identities seen.",
        schema="some",
    ),
    Code(
        "E_TERMINATION_MARKER",
        ("C-12",),
        "This termination does not go with this kind of endMarker, or with this kind of source.",
        "COUNT_MATCHED goes with TOTAL_COUNT; MVC_PINS ends EXHAUSTED, CURSOR_END or UNKNOWN.",
    ),
    Code(
        "E_JUSTIFICATION",
        ("C-13", "V-11", "F-29"),
        "The justification is missing or does not fit the claim and the units.",
        "Choose the label that the units prove.",
    ),
    Code(
        "E_DIGEST_SOURCE",
        ("C-14", "F-16c", "F-27"),
        "Digests and doc. paths need the pins' raw bytes, which this record did not fetch.",
        "Walk MVC_PINS with LIST_PLUS_DETAIL, or leave digest and doc. paths out.",
    ),
    Code(
        "E_BLINDSPOT_MISSING",
        ("C-14", "F-27"),
        "A digest is left out, and no blindspot says why.",
        "Add the blindspot.",
    ),
    Code(
        "E_FILTER_KEY",
        ("C-15", "F-17"),
        "A filter has too many keys, or one that it may not have.",
        "Use at most 8 keys chain.FIELD or doc.PATH; never chain.contentSummary or chain.status.",
    ),
    Code(
        "E_URL",
        ("C-18", "F-14", "F-16a"),
        "Not an https URL without user, fragment or odd characters; an endpoint is a bare origin.",
        "Write https://HOST/PATH?QUERY, an endpoint as https://HOST.",
        schema="some",
    ),
    Code(
        "E_URL_SECRET",
        ("C-18", "F-14"),
        "The URL carries what looks like a credential or a short-lived signature.",
        "Use a URL that anybody may call later; a source that needs a key is MANUAL.",
    ),
    Code(
        "E_MATCH_SHAPE",
        ("5.2",),
        "The criterion is not built as it must be, or is too large.",
        'Use {"all"|"any":[…]}, {"not":…} and {"field","op","value"}; 6 deep, 64 nodes at most.',
        schema="some",
    ),
    Code(
        "E_CANON_NOT_NFC",
        ("5.2",),
        "A text of the criterion is not in Unicode form NFC.",
        "Normalise it, so that one criterion has one hash.",
    ),
    Code(
        "E_SUPERSEDES",
        ("C-24", "F-34"),
        "supersedes is no pin id.",
        "Write 64 lower-case hex digits, i and one digit.",
        schema="all",
    ),
    # consensus
    Code(
        "E_CONSENSUS_FIELDS",
        ("C-22", "F-37", "F-40"),
        "The consensus block is not whole, or its epoch does not fit its basis.",
        "Give all four members; DECLARED needs a note, BLOCK_HEIGHT an epoch of digits.",
        schema="some",
    ),
    Code(
        "E_CONSENSUS_MODE",
        ("C-23", "Y-12", "F-38"),
        "The mode is not the one that the sources give.",
        "Write the recomputed mode.",
    ),
    Code(
        "E_DUPLICATE_SOURCE",
        ("C-23", "Y-7"),
        "One source stands twice in the set, or one locator under two operators.",
        "List each source once, under the name of who runs it.",
    ),
    Code(
        "E_SOURCE_LOCATOR",
        ("C-23", "F-43"),
        "A locator is neither a bare https origin nor local: and a label.",
        "Write https://HOST or local:LABEL (a-z, 0-9, dot, underscore, hyphen).",
    ),
    Code(
        "E_SOURCE_ROLE",
        ("C-23", "F-44"),
        "A local: locator and the role LOCAL_COPY go together.",
        "Use both or neither.",
    ),
    Code(
        "E_SOURCE_DIGEST",
        ("C-23", "F-46"),
        "An OBSERVED source needs a digest of 64 lower hex; any other has an empty one.",
        "Write the digest, or the empty string.",
        schema="some",
    ),
    Code(
        "E_SOURCE_EPOCH",
        ("C-23", "Y-5", "F-48"),
        "A source was not observed in the epoch, or after asOf.",
        "Give each observation the record of its own epoch.",
    ),
    # warnings
    Code(
        "W_IGNORED_FIELD",
        ("F-36", "P0-8"),
        "The writer graded itself; judgement and coverage are computed by whoever replays.",
        "Take it out.",
        severity="warning",
    ),
    Code(
        "W_JUSTIFICATION_UNUSED",
        ("C-13", "V-11"),
        "PRESENT needs no justification; it is ignored.",
        "Take it out.",
        severity="warning",
    ),
)
"""Errors and warnings by id, in the order of the specification."""


def explain(code: str) -> Code | Reason | None:
    """Give what the catalogue says of a code or reason, None for one that it does not have."""
    return CODES.get(code) or REASONS.get(code)
