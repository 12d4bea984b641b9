"""The codes of what a server answers when something is wrong: data, one row a code.

A part raises errors of `refold.kernel.errors` and knows no HTTP. Which status a code has, and what
is said about it, stands here for the server's own codes and in each part's rows for theirs. All of
them are served under /v1/errors. Source: architecture.md, Conventions.
"""

from collections.abc import Iterable, Iterator

import msgspec

from refold.kernel.errors import InputError, RefoldError, SourceError, UsageError

__all__ = ["INTERNAL", "SERVING_CODES", "Code", "Codes"]

INTERNAL = "internal"
"""The code of a defect of ours, and of whatever must not be told to strangers."""


class Code(msgspec.Struct, frozen=True, rename="camel"):
    """One row: `meaning` says what happened and what to do, for people.

    `told` is whether the error's own message goes to the client. Those of sources and of misuse
    name files and hosts of the operator: they go to the log, and the client gets `meaning`.
    """

    id: str
    status: int
    title: str
    meaning: str
    told: bool = True


SERVING_CODES: tuple[Code, ...] = (
    Code("request-malformed", 400, "Malformed request", "This is not HTTP as RFC 9112 has it."),
    Code("path-encoding", 400, "Bad path", "The path is not UTF-8 in percent-encoding."),
    Code("path-value", 400, "Bad path", "A part of the path does not have the form it must have."),
    Code("query-encoding", 400, "Bad query", "The query is not UTF-8 in percent-encoding."),
    Code("query-unknown", 400, "Unknown query member", "This route has no such query member."),
    Code("query-repeated", 400, "Repeated query member", "A member that is no list is given once."),
    Code("query-missing", 400, "Missing query member", "This route needs the member."),
    Code("query-value", 400, "Bad query value", "A value does not have the form it must have."),
    Code("query-many", 400, "Too many query members", "The query has more members than are read."),
    Code("body-json", 400, "Body is no JSON", "The body is not JSON in UTF-8."),
    Code("body-form", 400, "Body is no form", "A member of the form does not have its form, or is"
         " none."),
    Code("too-deep", 400, "Nested too deep", "Arrays and objects are nested deeper than is read."),
    Code("route-unknown", 404, "No such address", "There is nothing at this address; a slash at the"
         " end makes another one. /openapi.json lists all of them."),
    Code("cursor-unknown", 404, "Unknown cursor", "This cursor is none that this list gave, with"
         " these filters and by this version. Walk the list from its beginning."),
    Code("error-unknown", 404, "Unknown code", "This server has no such code."),
    Code("method-unknown", 405, "Method not allowed", "The header Allow names what can be used."),
    Code("request-slow", 408, "Request too slow", "The request was not complete in time."),
    Code("body-large", 413, "Body too large", "The body has more bytes than are read."),
    Code("too-large", 413, "Too large", "There are more bytes than are read."),
    Code("body-type", 415, "Unknown body type", "The body must be application/json."),
    Code("body-shape", 422, "Wrong body", "The body does not have the shape it must have."),
    Code("too-many", 429, "Too many requests", "You asked more often than the limits allow."),
    Code("head-large", 431, "Head too large", "Address and headers have more bytes than are read."),
    Code(INTERNAL, 500, "Defect of this server", "Something broke here that should not. The"
         " operator finds it in the log under the reference.", told=False),
    Code("busy", 503, "Busy", "The server has as much to do as it takes. Try again in a moment."),
    Code("database-busy", 503, "Database busy", "The database has too much to do. Try again in a"
         " moment.", told=False),
    Code("database-time-limit", 503, "Question too dear", "The answer took longer than the time"
         " limit. Ask for less, or try again later.", told=False),
    *(
        Code(f"database-{what}", 503, "Database unavailable", "The database cannot be used now."
             " The operator finds the reason in the log.", told=False)
        for what in (
            *("unreachable", "refused", "full", "io", "corrupt", "failed", "missing", "older"),
            *("newer", "foreign", "hold-lost", "held"),
        )
    ),
)  # fmt: skip
"""Codes that any route may answer with."""


class Codes:
    """All codes of one server. Raises UsageError `code-twice` when two rows share one."""

    def __init__(self, *tables: Iterable[Code]) -> None:
        self._rows: dict[str, Code] = {}
        for row in (row for table in tables for row in table):
            if self._rows.setdefault(row.id, row) is not row:
                raise UsageError("code-twice", f"two rows for {row.id}", "keep one of them")

    def __iter__(self) -> Iterator[Code]:
        return iter(sorted(self._rows.values(), key=lambda row: row.id))

    def __contains__(self, code: str) -> bool:
        return code in self._rows

    def get(self, code: str) -> Code | None:
        """Give the row of a code, None if there is none."""
        return self._rows.get(code)

    def of(self, error: BaseException) -> Code:
        """Give the row for an error: that of its code, else what its branch of the tree means.

        Input is the client's to mend (422), a source may be back later (503), and misuse of our own
        API is a defect (500).
        """
        if not isinstance(error, RefoldError) or isinstance(error, UsageError):
            return self._rows[INTERNAL]
        row = self._rows.get(error.code)
        if row is not None:
            return row
        if isinstance(error, InputError):
            return Code(error.code, 422, "Invalid input", "What was sent is not valid.")
        if isinstance(error, SourceError):
            return Code(error.code, 503, "Source unavailable", "A source cannot be read.", False)
        return self._rows[INTERNAL]
