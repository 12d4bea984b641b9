"""The fields of a format post: which line counts, what its value is, and whether values agree.

URLs are looked at by `refold.trials.targets` and `refold.trials.proofs`; here they are text.
Source: cold trials spec §1.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from refold.kernel.addresses import parse_url
from refold.kernel.errors import InputError
from refold.kernel.utc import parse_utc
from refold.trials.codes import Fault, fault
from refold.trials.grammar import Line, Sheet, near
from refold.trials.posts import POSTS, FormatPost
from refold.trials.rules import BLOCKERS
from refold.trials.tables import (
    FORMATS,
    MAX_INTEGER,
    MAX_VALUE,
    Field,
    Form,
    Format,
    known_fields,
)

__all__ = ["FieldsRead", "read_fields"]

_INTEGER = re.compile("0|[1-9][0-9]*")
_MAX_DIGITS = len(str(MAX_INTEGER))
_PACKAGE = re.compile("[A-Za-z0-9@][A-Za-z0-9@._/:+-]{0,213}")  # npm's names have up to 214


class FieldsRead(msgspec.Struct, frozen=True):
    """What the lines of a post say.

    `post` is None if something is wrong. `places` has the line of each field that counts, by name.
    """

    post: FormatPost | None
    places: dict[str, Line]
    faults: tuple[Fault, ...]


def read_fields(form: Format, sheet: Sheet) -> FieldsRead:
    """Give the typed post that the lines of `sheet` make in this format, or all that is wrong."""
    faults: list[Fault] = []
    values: dict[str, Any] = {"text": sheet.text}
    places, repeats, empty = _counted(form, sheet.lines, faults)
    for field in known_fields(form):
        if field.repeats:
            values[field.attribute] = tuple(
                _value(form, field, line, faults) for line in repeats if line.name == field.name
            )
        elif field.name in places:
            values[field.attribute] = _value(form, field, places[field.name], faults)
        elif field.required:
            how = "has no value" if field.name in empty else "is missing"
            faults.append(
                fault(
                    "field_missing",
                    f"{field.name} {how}.",
                    f"Add it: {field.says}.",
                    line=empty.get(field.name),
                    field=field.name,
                )
            )
    faults += _disagreements(form, {name: line.value for name, line in places.items()}, places)
    if any(not each.warning for each in faults):
        return FieldsRead(None, places, tuple(faults))
    return FieldsRead(POSTS[form.kind](**values), places, tuple(faults))


def _counted(
    form: Format, lines: tuple[Line, ...], faults: list[Fault]
) -> tuple[dict[str, Line], list[Line], dict[str, int]]:
    """Give the first line of each field, all lines of fields that repeat, and where it is empty."""
    places: dict[str, Line] = {}
    repeats: list[Line] = []
    empty: dict[str, int] = {}
    for line in lines:
        field = form.field(line.name)
        if field is None:
            faults.append(_unknown(form, line))
        elif line.name in places or line.name in empty:
            faults.append(fault("field_repeated", line=line.number, field=line.name))
        elif not line.value:
            if not field.repeats:
                empty[line.name] = line.number
            if not field.required:
                faults.append(fault("field_empty", line=line.number, field=line.name))
        elif field.repeats:
            repeats.append(line)
        else:
            places[line.name] = line
    return places, repeats, empty


def _unknown(form: Format, line: Line) -> Fault:
    """Say that a name is unknown, and which one may have been meant."""
    meant = near(line.name, tuple(field.name for field in known_fields(form)))
    hint = f"Did you mean {meant}?" if meant else ""
    others = [each.marker for each in FORMATS.values() if each.field(line.name)]
    if others and not meant:
        hint = f"It is a field of {', '.join(others)}."
    detail = f"{form.marker} has no field {line.name[:40]}; it is ignored."
    return fault("field_unknown", detail, hint, line=line.number, field=line.name)


def _value(form: Format, field: Field, line: Line, faults: list[Fault]) -> object:
    """Give the value of a line in the form of its field; None with a fault if it has another."""
    if form.bounded and len(line.value) > MAX_VALUE:
        detail = f"{field.name} has {len(line.value)} of {MAX_VALUE} code points."
        faults.append(fault("value_long", detail, line=line.number, field=field.name))
        return None
    try:
        return _READERS[field.form](field, line.value)
    except _WrongError as wrong:
        code, detail, hint = wrong.args
        faults.append(fault(code, detail, hint, line=line.number, field=field.name))
        return None


class _WrongError(Exception):
    """A value is not of its form: the code, what is wrong, what to do; "" for the code's words."""


def _text(_: Field, value: str) -> str:
    return value


def _word(field: Field, value: str) -> str:
    if value not in field.values:
        raise _unlisted(f"{field.name} is", value, field.values)
    return value


def _classes(_: Field, value: str) -> tuple[str, ...]:
    items = [item.strip(" ") for item in value.split(",")]
    seen: set[str] = set()
    for item in items:
        if not item:
            raise _WrongError("list_item_empty", "", "")
        if item not in BLOCKERS:
            raise _unlisted("blocker-class has", item, tuple(BLOCKERS))
        if item in seen:
            raise _WrongError("list_item_repeated", f"{item} is named twice.", "")
        seen.add(item)
    return tuple(items)


def _unlisted(what: str, value: str, words: tuple[str, ...]) -> _WrongError:
    meant = near(value.replace("-", "_"), words)
    shown = value if len(value) <= 40 else f"{value[:40]}…"
    hint = f"Did you mean {meant}?" if meant else f"Use one of {', '.join(words)}."
    return _WrongError("value_unknown", f"{what} {shown!a}, which is none of the words.", hint)


def _time(field: Field, value: str) -> str:
    try:
        parse_utc(value)
    except InputError as error:
        code = "time_form" if error.code == "time-form" else "time_range"
        raise _WrongError(code, f"{field.name}: {error.message}.", "") from None
    return value


def _integer(field: Field, value: str) -> int:
    if _INTEGER.fullmatch(value) is None:
        raise _WrongError("integer_form", f"{field.name} is not plain ASCII digits.", "")
    if len(value) > _MAX_DIGITS or int(value) > MAX_INTEGER:
        raise _WrongError("integer_range", f"{field.name} is above {MAX_INTEGER}.", "")
    return int(value)


def _id(field: Field, value: str) -> int:
    number = _integer(field, value)
    if number == 0:
        raise _WrongError("integer_range", f"{field.name} is 0; ids begin at 1.", "")
    return number


def _tool(_: Field, value: str) -> str:
    if "://" not in value and _PACKAGE.fullmatch(value) is None:
        raise _WrongError("tool_form", "", "")
    return value


def _origin(_: Field, value: str) -> str:
    try:
        url = parse_url(value)
    except InputError as error:
        raise _WrongError("origin_form", f"node is no origin: {error.message}.", "") from None
    if value != url.origin:
        raise _WrongError(
            "origin_form",
            "node is more than an origin, or is spelled otherwise.",
            f"Write {url.origin}.",
        )
    return value


_READERS: Final[dict[Form, Callable[[Field, str], object]]] = {
    "text": _text,
    "url": _text,
    "word": _word,
    "classes": _classes,
    "time": _time,
    "integer": _integer,
    "id": _id,
    "tool": _tool,
    "origin": _origin,
}


def _disagreements(
    form: Format, values: dict[str, str], places: dict[str, Line]
) -> Iterator[Fault]:
    """Give what does not fit together in the values of one post, whichever of them are there."""

    def at(name: str, code: str) -> Fault:
        return fault(code, line=places[name].number, field=name)

    if values.get("outcome") == "blocked" and "blocker" not in values:
        yield at("outcome", "blocker_missing")
    if form.kind == "run" and values.get("owner-proof") == "missing":
        outcome = values.get("outcome", "abandoned")
        if outcome != "abandoned":
            yield at("outcome", "not_abandoned")
    if values.get("verdict") == "blocked" and "observed" not in values:
        yield at("verdict", "observed_missing")
    if values.get("status") == "fixed" and "version" not in values:
        yield at("status", "version_missing")
    classes = [item.strip(" ") for item in values.get("blocker-class", "").split(",")]
    if "other" in classes and not values.keys() & {"blocker", "observed"}:
        yield at("blocker-class", "other_unexplained")
