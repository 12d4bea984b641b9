"""Shapes: the bounds of single members as data, and the check of a value against them.

One table of shapes (`refold.coverage.fields`) feeds this check and the published JSON Schema, so
the two cannot drift apart. What needs a second member, a hash or a clock is in
`refold.coverage.checks`.
"""

import re
from collections.abc import Callable
from functools import cache

import msgspec

__all__ = [
    "Anything",
    "Bool",
    "Choice",
    "Ignored",
    "Integer",
    "Items",
    "Members",
    "Only",
    "Path",
    "Record",
    "Report",
    "Shape",
    "Tagged",
    "Text",
]

Path = tuple[str | int, ...]
Report = Callable[[str, Path, str], None]
"""Takes a code, the path of the value and what is wrong with it."""

_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a text",
    bool: "a boolean",
    int: "an integer",
    float: "a number with a fraction or an exponent",
    type(None): "null",
}


class Text(msgspec.Struct, frozen=True):
    """A text of `least` to `most` code points that `pattern` fits as a whole.

    `code` is reported for what does not fit, `form` says in words what would; only a text within
    its length is asked. Patterns are such as Python and ECMA read alike.
    """

    most: int | None = None
    least: int = 0
    pattern: str = ""
    form: str = ""
    code: str = "E_TYPE"

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not str:
            _wrong_type(value, "a text", path, report)
            return
        length = len(value)
        if length < self.least or (self.most is not None and length > self.most):
            report("E_LENGTH", path, _bounds("characters", length, self.least, self.most))
        elif self.pattern and _compiled(self.pattern).fullmatch(value) is None:
            report(self.code, path, f"not {self.form}")


class Choice(msgspec.Struct, frozen=True):
    """One of some words; `code` is reported for another text."""

    words: tuple[str, ...]
    code: str = "E_ENUM"

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not str:
            _wrong_type(value, "a text", path, report)
        elif value not in self.words:
            report(self.code, path, f"none of {', '.join(self.words)}")


class Integer(msgspec.Struct, frozen=True):
    """An integer from `least` to `most`, both included."""

    least: int
    most: int

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not int:
            _wrong_type(value, "an integer", path, report)
        elif not self.least <= value <= self.most:
            report("E_RANGE", path, f"not from {self.least} to {self.most}")


class Bool(msgspec.Struct, frozen=True):
    """A boolean."""

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not bool:
            _wrong_type(value, "a boolean", path, report)


class Anything(msgspec.Struct, frozen=True):
    """Any value: checked elsewhere, and in the schema by the definition `definition`."""

    definition: str

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report nothing."""


class Ignored(msgspec.Struct, frozen=True):
    """A member that counts for nothing, whatever its value: a warning."""

    code: str

    def check(self, value: object, path: Path, report: Report) -> None:  # noqa: ARG002 - any value
        """Report that it is there."""
        report(self.code, path, "it is ignored")


class Items(msgspec.Struct, frozen=True):
    """An array of `least` to `most` items of one shape; `most` None for no bound."""

    item: "Shape"
    least: int = 0
    most: int | None = None

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not list:
            _wrong_type(value, "an array", path, report)
            return
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            report("E_LENGTH", path, _bounds("items", len(value), self.least, self.most))
        check = self.item.check
        for index, item in enumerate(value):
            check(item, (*path, index), report)


class Members(msgspec.Struct, frozen=True):
    """An object whose names are data, with values of one shape."""

    value: "Shape"

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not dict:
            _wrong_type(value, "an object", path, report)
            return
        for name, member in value.items():
            self.value.check(member, (*path, name), report)


class Record(msgspec.Struct, frozen=True):
    """A closed object: required and optional members by name, and no others.

    `refused` gives the codes for names that are known and not allowed, `unknown` those for any
    other name, `missing` those for a required member that is not there.
    """

    required: dict[str, "Shape"]
    optional: dict[str, "Shape"] = {}
    refused: dict[str, tuple[str, ...]] = {}
    unknown: tuple[str, ...] = ("E_UNKNOWN_FIELD",)
    missing: tuple[str, ...] = ("E_MISSING_FIELD",)

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not dict:
            _wrong_type(value, "an object", path, report)
            return
        required, optional = self.required, self.optional
        found = 0
        for name, member in value.items():
            shape = required.get(name)
            if shape is not None:
                found += 1
            else:
                shape = optional.get(name)
                if shape is None:
                    for code in self.refused.get(name, self.unknown):
                        report(code, (*path, name), "no such member here")
                    continue
            shape.check(member, (*path, name), report)
        if found != len(required):
            for name in required:
                if name not in value:
                    for code in self.missing:
                        report(code, (*path, name), "it is missing")


class Tagged(msgspec.Struct, frozen=True):
    """A closed object whose member `tag` chooses among records; a wrong tag is all that is told."""

    tag: str
    records: dict[str, Record]

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        if type(value) is not dict:
            _wrong_type(value, "an object", path, report)
            return
        if self.tag not in value:
            report("E_MISSING_FIELD", (*path, self.tag), "it is missing")
            return
        word = value[self.tag]
        record = self.records.get(word) if type(word) is str else None
        if record is None:
            Choice(tuple(self.records)).check(word, (*path, self.tag), report)
        else:
            record.check(value, path, report)


class Only(msgspec.Struct, frozen=True):
    """A record in which the member at `member` may stand only where that at `tag` is `word`."""

    record: Record
    member: tuple[str, str]
    tag: tuple[str, str]
    word: str
    others: tuple[str, ...]

    def check(self, value: object, path: Path, report: Report) -> None:
        """Report what is wrong with `value` at `path`."""
        self.record.check(value, path, report)
        word = _inner(value, self.tag)
        if type(word) is str and word in self.others:
            outer, inner = self.member
            holder = value.get(outer) if type(value) is dict else None
            if type(holder) is dict and inner in holder:
                report("E_UNKNOWN_FIELD", (*path, outer, inner), f"only {self.word} has it")


Shape = (
    Text | Choice | Integer | Bool | Anything | Ignored | Items | Members | Record | Tagged | Only
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _inner(value: object, names: tuple[str, str]) -> object:
    for name in names:
        value = value.get(name) if type(value) is dict else None
    return value


def _bounds(what: str, found: int, least: int, most: int | None) -> str:
    allowed = f"at least {least}" if most is None else f"{least} to {most}"
    return f"{found} {what}, not {allowed}"


def _wrong_type(value: object, wanted: str, path: Path, report: Report) -> None:
    report("E_TYPE", path, f"{_NAMES.get(type(value), 'something else')}, not {wanted}")
