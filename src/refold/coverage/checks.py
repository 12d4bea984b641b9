"""The checks C-1 to C-24: every error of a record, sorted by pointer and code (spec §5.6).

    validation = validate(data, now="2030-01-03T00:00:00Z")
    validation.errors       # empty: the record is valid
    validation.receipt      # the `Receipt`, then

Pure: the clock is handed in. Bytes and values of any kind raise nothing.
"""

from collections import Counter
from typing import Any, Final

import msgspec

from refold.coverage import consistency, sources
from refold.coverage.codes import CODES
from refold.coverage.criterion import check_criterion
from refold.coverage.fields import RECORD
from refold.coverage.record import MAX_RECORD_BYTES, Receipt, receipt_of
from refold.coverage.shape import Path
from refold.coverage.sight import Sight, moment
from refold.coverage.strictjson import StrictJsonError, read_record
from refold.kernel.canon import canonical, sha256_hex
from refold.kernel.errors import InputError, Problem, json_pointer
from refold.kernel.utc import parse_utc

__all__ = ["MAX_PER_CODE", "Validation", "validate", "validate_value"]

MAX_PER_CODE: Final = 1_000
"""Places told for one code: more than anybody mends by hand, and a bound on what 1 MiB of errors
costs. The first ones of the record's own order are told."""


class Validation(msgspec.Struct, frozen=True, rename="camel"):
    """What the checks say of a record.

    `errors` and `warnings` are sorted by (pointer, code), each pair once. `receipt` is None when
    there is an error. `receipt_hash` is "" for what has no canonical form; `value` is what was
    read, None for bytes that are no JSON.
    """

    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    receipt_hash: str
    receipt: Receipt | None
    value: Any

    @property
    def is_valid(self) -> bool:
        """Whether no check failed; warnings do not count."""
        return not self.errors


class _Findings:
    """Collects what is reported: each code and place once, of a code at most `MAX_PER_CODE`."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}
        self._told: Counter[str] = Counter()

    def report(self, code: str, path: Path, why: str) -> None:
        if self._told[code] < MAX_PER_CODE:
            self.add(code, json_pointer(path), why)

    def add(self, code: str, pointer: str, why: str) -> None:
        if self._told[code] < MAX_PER_CODE and (pointer, code) not in self._found:
            self._found[pointer, code] = why
            self._told[code] += 1

    def sorted(self, severity: str) -> tuple[Problem, ...]:
        if not self._found:
            return ()
        return tuple(
            Problem(code, f"{CODES[code].says} ({why})", CODES[code].remedy, pointer)
            for (pointer, code), why in sorted(self._found.items())
            if CODES[code].severity == severity
        )


def validate(data: bytes, now: str) -> Validation:
    """Check the bytes of one record at the moment `now` (RFC 3339, UTC, Z).

    Raises InputError `time-form` or `time-range` for a `now` that is no time, and nothing else.
    """
    findings = _Findings()
    if len(data) > MAX_RECORD_BYTES:
        findings.add("E_TOO_LARGE", "", f"{len(data)} bytes, {MAX_RECORD_BYTES} are read")
        return _unread(findings, now)
    try:
        value, repeated = read_record(data)
    except StrictJsonError as error:
        findings.add(error.code, "", str(error))
        return _unread(findings, now)
    for pointer in repeated:
        findings.add("E_DUPLICATE_KEY", pointer, "the last one was read")
    return _checked(value, findings, now)


def validate_value(value: object, now: str) -> Validation:
    """Check a record that is parsed already (numbers int, float or Decimal); as `validate`."""
    return _checked(value, _Findings(), now)


def _unread(findings: _Findings, now: str) -> Validation:
    parse_utc(now)
    return Validation(findings.sorted("error"), (), "", None, None)


def _checked(value: Any, findings: _Findings, now: str) -> Validation:  # noqa: ANN401 - any JSON
    clock = moment(now)
    if clock is None:
        parse_utc(now)  # says what is wrong with it
        clock = 0
    report = findings.report
    receipt_hash = ""
    try:
        receipt_hash = sha256_hex(canonical(value))
    except InputError as error:
        for problem in error.errors:
            findings.add("E_CANON_DOMAIN", problem.pointer, problem.message)
    RECORD.check(value, (), report)
    if type(value) is dict:
        sight = Sight(value)
        compiles = "match" in sight.canon and check_criterion(
            sight.canon["match"], ("query", "canon", "match"), report
        )
        consistency.check(sight, clock, report, compiles=compiles)
        sources.check(sight, report)
    errors = findings.sorted("error")
    receipt = None if errors else receipt_of(value)
    return Validation(errors, findings.sorted("warning"), receipt_hash, receipt, value)
