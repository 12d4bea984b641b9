"""Problem details (RFC 9457): one shape for everything that is wrong.

    {type, title, status, code, detail, hint, pointer, errors[]}

`code` is stable and for programs, `detail` and `hint` are for people, in English. `pointer` is a
JSON pointer into what was sent: the body, or the object of the members of path and query. `errors`
has every problem that was found, the first of them included. `type` is the address where the code
is described. Source: architecture.md, Conventions.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

import msgspec
from litestar.exceptions import HTTPException

from refold.kernel.errors import InputError, Problem, RefoldError
from refold.serving.answers import json_bytes
from refold.serving.codes import Code, Codes

__all__ = [
    "MAX_ERRORS",
    "PROBLEM_TYPE",
    "DetailedError",
    "Fault",
    "ProblemDetails",
    "ProblemItem",
    "fault_of",
    "with_head",
]

PROBLEM_TYPE = "application/problem+json"
MAX_ERRORS = 100
"""Problems in one answer: a body can be wrong in more places than anybody reads."""
RETRY_SECONDS = 2
"""What Retry-After says where nobody knows better: our time limits are of this size."""

_OF_STATUS: Mapping[int, str] = {
    400: "request-malformed",
    404: "route-unknown",
    405: "method-unknown",
    413: "body-large",
    415: "body-type",
}
"""Codes for what the framework refuses."""


class ProblemItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of several problems; `line` counts from 1 in inputs of lines, `field` is one of its line.

    `docs` is the address where the code is described, if it is another than that of `type`.
    """

    code: str
    detail: str
    hint: str = ""
    pointer: str = ""
    line: int | None = None
    field: str = ""
    docs: str = ""


class ProblemDetails(msgspec.Struct, frozen=True):
    """What is wrong, as RFC 9457 has it, with members of our own."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    pointer: str
    errors: tuple[ProblemItem, ...]


class Fault(msgspec.Struct, frozen=True):
    """An answer that something is wrong, not written yet. Headers are its own only."""

    row: Code
    problems: tuple[Problem, ...]
    headers: tuple[tuple[str, str], ...] = ()
    members: Mapping[str, object] = {}

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.row.status

    def details(self, base: str) -> ProblemDetails:
        """Give the body; `base` stands before the path of the type."""
        first = self.problems[0]
        return ProblemDetails(
            type=f"{base}/v1/errors/{self.row.id}",
            title=self.row.title,
            status=self.row.status,
            code=self.row.id,
            detail=first.message,
            hint=first.hint,
            pointer=first.pointer,
            errors=tuple(
                ProblemItem(
                    *(one.code, one.message, one.hint, one.pointer, one.line, one.field, one.docs)
                )
                for one in self.problems[:MAX_ERRORS]
            ),
        )

    def body(self, base: str) -> bytes:
        """Give the body as JSON, with the members that are this problem's own."""
        details = self.details(base)
        if not self.members:
            return json_bytes(details)
        return json_bytes({**msgspec.to_builtins(details), **self.members})


class DetailedError(InputError):
    """An error whose answer has members (RFC 9457 §3.2) or headers of its own.

    Made by `of` or like any other; then `detailed` names them.
    """

    members: Mapping[str, object] = MappingProxyType({})
    headers: tuple[tuple[str, str], ...] = ()

    def detailed(
        self, members: Mapping[str, object], headers: tuple[tuple[str, str], ...] = ()
    ) -> Self:
        """Give itself, with what its answer has besides: names of headers in lower case."""
        self.members = members
        self.headers = headers
        return self


def fault_of(error: BaseException, codes: Codes, reference: str) -> Fault:
    """Give the answer to an error of ours, of the framework, or of anything else.

    `reference` is named where the client is not told what happened; the log has it too.
    """
    if isinstance(error, HTTPException) and error.status_code < 500:
        return _fault_of_framework(error, codes)
    row = codes.of(error)
    if isinstance(error, DetailedError):
        return Fault(row, error.errors, error.headers, error.members)
    if isinstance(error, RefoldError) and row.told:
        return Fault(row, error.errors, _headers(row))
    hint = f"tell the operator the reference {reference}"
    return Fault(row, (Problem(row.id, row.meaning, hint),), _headers(row))


def _headers(row: Code) -> tuple[tuple[str, str], ...]:
    return (("retry-after", str(RETRY_SECONDS)),) if row.status == 503 else ()


def _fault_of_framework(error: HTTPException, codes: Codes) -> Fault:
    """Give the answer to what the framework refuses; of its text nothing is kept."""
    code = _OF_STATUS.get(error.status_code, "request-malformed")
    row = codes.get(code) or codes.of(error)
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    allow = (("allow", with_head(headers["allow"])),) if "allow" in headers else ()
    return Fault(row, (Problem(row.id, row.meaning),), allow)


def with_head(allow: str) -> str:
    """Give the methods of a route in their order; whoever takes GET takes HEAD."""
    methods = {method.strip() for method in allow.split(",") if method.strip()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
