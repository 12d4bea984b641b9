"""What a request asks: the members of its path and its query, read into one Struct.

    class EntriesAsked(ListAsked, kw_only=True, rename="camel"):
        language: Annotated[str, Meta(pattern="^[a-z]{2,8}$")] | None = None

Members that the route's template names come from the path, all others from the query. Everything is
strict, and all problems are found at once: unknown members, repeated ones that are no list, missing
ones, values of the wrong form. Integers are decimal without leading zeros, booleans `true` and
`false`, texts UTF-8 without NUL. Source: architecture.md, Conventions.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Annotated, Generic, Literal, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import Meta, UnsetType, inspect

from refold.kernel.errors import InputError, Problem, UsageError, json_pointer, one_line
from refold.serving.cursor import Cursor
from refold.serving.limits import MAX_QUERY_MEMBERS
from refold.serving.wanted import is_list, pattern_of, plain_kind, wanted

__all__ = [
    "MAX_PAGE",
    "AskedReader",
    "ListAsked",
    "ListPageAsked",
    "Nothing",
    "PageAsked",
    "decoded",
    "query_pieces",
]

MAX_PAGE = 100
"""Items of a page at most."""
DEFAULT_PAGE = 20
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
# 18 digits fit a signed 64-bit integer, which is what databases take.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_BOOLEANS = {"true": True, "false": False}
_T = TypeVar("_T", bound=msgspec.Struct)


class Nothing(msgspec.Struct, frozen=True):
    """For routes that take no members."""


class ListAsked(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """What every list takes; a list with filters extends it."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Items of a page at most.")] = (
        DEFAULT_PAGE
    )
    cursor: Cursor = ""


_PageLang = Annotated[Literal["en", "zh"], Meta(description="Language of the page.")]
_PageFormat = Annotated[Literal["json"], Meta(description="The page as data.")]


class PageAsked(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """What every page takes; a page that takes more extends it."""

    lang: _PageLang | None = None
    format: _PageFormat | None = None


class ListPageAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """What every page of a list takes; one with filters extends it."""

    lang: _PageLang | None = None
    format: _PageFormat | None = None


class _Field(msgspec.Struct, frozen=True):
    """A member: its name outside, its type, and what that type is read from."""

    name: str
    type: object
    kind: str
    many: bool
    required: bool
    wanted: str
    pattern: str


class AskedReader(Generic[_T]):
    """Reads members into `struct`; `in_path` are those that come from the path."""

    def __init__(self, struct: type[_T], in_path: frozenset[str]) -> None:
        self._struct = struct
        self._in_path = in_path
        self.fields = {field.name: field for field in _fields_of(struct)}
        missing = in_path - set(self.fields)
        if missing:
            raise UsageError(
                "route-members",
                f"{struct.__name__} has no member {', '.join(sorted(missing))} for its path",
                "name them in the Struct, as they are written outside",
            )

    def read(self, path: Mapping[str, str], query: bytes) -> _T:
        """Give what is asked.

        `path` holds parts of the path as they were sent, `query` what stands after the question
        mark. Raises InputError with all problems: `path-value`, `path-encoding`, `query-…`.
        """
        if not path and not query and not self.fields:
            return self._struct()
        problems: list[Problem] = []
        texts: dict[str, list[str]] = {}
        for name, raw in path.items():
            try:
                texts[name] = [decoded(raw, "path-encoding")]
            except InputError as error:
                problems += error.errors
        self._read_query(query, texts, problems)
        plain = {name: self._plain(self.fields[name], given) for name, given in texts.items()}
        if not problems:
            try:
                return msgspec.convert(plain, self._struct)
            except msgspec.ValidationError as error:
                whole = str(error)
            problems = self._wrong(plain)
            problems = problems or [Problem("query-value", one_line(whole))]
        raise InputError.of(problems + self._wrong_too(problems, plain))

    def _read_query(
        self, query: bytes, texts: dict[str, list[str]], problems: list[Problem]
    ) -> None:
        """Add the members of a query to `texts`, and what is wrong with them to `problems`."""
        pieces = query_pieces(query)
        if len(pieces) > MAX_QUERY_MEMBERS:
            problems.append(
                Problem(
                    "query-many", f"{len(pieces)} members, at most {MAX_QUERY_MEMBERS} are read"
                )
            )
            return
        for raw_name, raw_value in pieces:
            try:
                name = decoded(raw_name, "query-encoding")
                value = decoded(raw_value, "query-encoding")
            except InputError as error:
                problems += error.errors
                continue
            field = self.fields.get(name)
            if field is None or name in self._in_path:
                problems.append(self._unknown(name))
            elif name in texts and not field.many:
                problems.append(
                    Problem(
                        "query-repeated",
                        f"{name} is given more than once",
                        "give it once",
                        json_pointer([name]),
                    )
                )
            else:
                texts.setdefault(name, []).append(value)

    def _unknown(self, name: str) -> Problem:
        shown = one_line(name)
        known = [field for field in self.fields if field not in self._in_path]
        near = difflib.get_close_matches(name[:100], known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif known:
            hint = f"this route takes {', '.join(known)}"
        else:
            hint = "this route takes none"
        text = f"there is no query member {shown or '(empty)'}"
        return Problem("query-unknown", text, hint, json_pointer([shown]))

    @staticmethod
    def _plain(field: _Field, given: list[str]) -> object:
        """Give texts in the plain type of a field, or themselves where they do not fit it."""
        values = [_read(field, text) for text in given]
        return values if field.many else values[0]

    def _wrong(self, plain: Mapping[str, object]) -> list[Problem]:
        """Give each field that is missing or does not take its value."""
        found = []
        for field in self.fields.values():
            if field.name not in plain:
                if field.required:
                    text = f"{field.name} is missing"
                    hint = f"give {field.wanted}"
                    found.append(Problem("query-missing", text, hint, json_pointer([field.name])))
                continue
            try:
                msgspec.convert(plain[field.name], field.type)
            except msgspec.ValidationError:
                code = "path-value" if field.name in self._in_path else "query-value"
                text = f"{field.name} does not have its form"
                hint = f"give {field.wanted}"
                found.append(Problem(code, text, hint, json_pointer([field.name])))
        return found

    def _wrong_too(self, problems: list[Problem], plain: Mapping[str, object]) -> list[Problem]:
        """Give wrong values that were not looked at, because a name was wrong already."""
        seen = {problem.pointer for problem in problems}
        return [problem for problem in self._wrong(plain) if problem.pointer not in seen]


def query_pieces(query: bytes) -> list[tuple[str, str]]:
    """Give names and values of a query as they were sent; empty pieces are none."""
    if not query:
        return []
    text = query.decode("utf-8", "surrogateescape")
    parted = (piece.partition("=") for piece in text.split("&") if piece)
    return [(name.replace("+", " "), value.replace("+", " ")) for name, _, value in parted]


def decoded(raw: str, code: str) -> str:
    """Give a text without percent-encoding.

    Raises InputError `code` where it is not UTF-8 without NUL, or an escape is cut.
    """
    if raw.isascii() and "%" not in raw and "\0" not in raw:
        return raw
    try:
        text = unquote_to_bytes(raw.encode("utf-8", "surrogateescape")).decode()
    except ValueError:
        text = "\0"
    if "\0" in text or _BAD_ESCAPE.search(raw):
        raise InputError(
            code, f"{one_line(raw)} is not UTF-8 in percent-encoding", "encode it, without NUL"
        )
    return text


def _read(field: _Field, text: str) -> object:
    """Give a text in the plain type of a field; what does not fit becomes what is refused."""
    if field.kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) and text != "-0" else text
    if field.kind == "boolean":
        return _BOOLEANS.get(text, text)
    if text.endswith("\n") and field.pattern.endswith("$"):
        # `$` of Python also stands before a last line end, that of JSON Schema does not.
        return text if re.search(rf"{field.pattern[:-1]}\Z", text) else 0
    return text


def _fields_of(struct: type[msgspec.Struct]) -> list[_Field]:
    """Give the fields of a Struct in their order."""
    described = inspect.type_info(struct)
    if not isinstance(described, inspect.StructType):
        raise UsageError("route-members", f"{struct} is no Struct", "give one")
    fields = []
    for field, info in zip(msgspec.structs.fields(struct), described.fields, strict=True):
        fields.append(
            _Field(
                name=info.encode_name,
                type=_given(field.type),
                kind=plain_kind(info.type),
                many=is_list(info.type),
                required=info.required,
                wanted=wanted(info.type),
                pattern=pattern_of(info.type),
            )
        )
    return fields


def _given(kind: object) -> object:
    """Give the type of a value that was given: None and UNSET stand for one that was not."""
    arguments = getattr(kind, "__args__", ())
    if type(None) in arguments or UnsetType in arguments:
        rest = [one for one in arguments if one not in {type(None), UnsetType}]
        return rest[0] if len(rest) == 1 else kind
    return kind
