"""Check one decoded payload against the schema of its path (agentpedia spec §3, gate 3).

`check` answers None, or one `Violation` that names the member, the rule and the reason. Every
indexer has to name the same one, so it does not depend on the order in which a validator works.
"""

import json
from functools import cache
from importlib import resources
from typing import Any, Final

import jsonschema_rs
import msgspec

from refold.kernel.errors import json_pointer

PREFIX: Final = "/protocols/agentpedia/"
"""What every Agentpedia path starts with (PRD §4.1)."""

PATHS: Final = (
    "rev",
    "challenge",
    "ruling",
    "review",
    "editor",
    "constitution",
    "param-proposal",
)
"""The seven path names, without the prefix (PRD §4.3)."""

UNREADABLE: Final = "unreadable"
"""The rule of a payload that fails, but whose faults the validator cannot list."""

SHOWN_CHARS: Final = 40
"""Characters of a string that a message quotes: enough to recognise it, short enough for a line."""

SHOWN_BITS: Final = 128
"""Largest integer, in bits, that a message writes out; Python refuses to print enormous ones."""

# What each keyword of the schemas asks of the value it looks at; {} is the keyword's own value.
_EXPECTATIONS: Final = {
    "type": "must be of type {}",
    "const": "must be {}",
    "enum": "must be {}",
    "pattern": "must match {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
}


class Violation(msgspec.Struct, frozen=True):
    """One reason why a payload breaks its schema.

    `pointer` (RFC 6901) names the offending value; for a missing member the place where it should
    stand, for an unknown one its own. `rule` is the schema keyword that it breaks, or `UNREADABLE`.
    `message` says the same in one line for a person, without the pointer; only pointer and rule
    are stable.
    """

    pointer: str
    rule: str
    message: str


def schema(name: str) -> dict[str, Any]:
    """The draft-07 schema of the path `name`, freshly read. KeyError when it is not in `PATHS`."""
    if name not in PATHS:
        raise KeyError(name)
    text = resources.files(__package__).joinpath(f"{name}.json").read_bytes()
    document: dict[str, Any] = json.loads(text)
    return document


def check(name: str, payload: object) -> Violation | None:
    """None when `payload` is valid under the schema of the path `name`, else one violation.

    Of several, it is the one with the smallest pointer, then the smallest rule, as text by code
    points. Raises for no JSON value; KeyError when `name` is not in `PATHS`.

    The faults of a payload nested deeper than 255 levels, or holding what JSON in UTF-8 cannot (a
    lone surrogate, a member name that is no string), are not listed: pointer "", `UNREADABLE`. Lone
    surrogates where any text will do are not looked for. Integers of more than 4300 digits are read
    wrongly; under Python's limit for the digits of an integer no decoder yields one.
    """
    validator = _validator(name)
    try:
        if validator.is_valid(payload):
            return None
        errors = list(validator.iter_errors(payload))
    except ValueError as error:
        return Violation("", UNREADABLE, f"cannot be read as a JSON payload: {error}")
    return min((_violation(name, payload, error) for error in errors), key=msgspec.structs.astuple)


@cache
def _validator(name: str) -> jsonschema_rs.Draft7Validator:
    # The linear-time engine: a hostile text cannot make a pattern backtrack.
    linear = jsonschema_rs.RegexOptions()
    return jsonschema_rs.Draft7Validator(schema(name), pattern_options=linear)


@cache
def _conditions(name: str) -> tuple[str, ...]:
    """The titles of the schema's conditions, in their order."""
    return tuple(condition["title"] for condition in schema(name).get("allOf", ()))


def _violation(name: str, payload: object, error: jsonschema_rs.ValidationError) -> Violation:
    path = list(error.instance_path)
    match error.kind.name:
        case "required" as rule:
            path.append(error.kind.value)
            message = "is required"
        case "additionalProperties" as rule:
            # By its pointer, as the choice among all is: escaping changes the order of names.
            path.append(min(error.kind.value, key=lambda member: json_pointer((member,))))
            message = "is not a known member"
        case rule:
            expectation = _EXPECTATIONS[rule].format(_alternatives(error.kind.value))
            message = f"{expectation}, not {_shown(_value_at(payload, path))}"
    if error.schema_path[0] == "allOf":
        message += f" ({_conditions(name)[int(error.schema_path[1])]})"
    return Violation(json_pointer(path), rule, message)


def _value_at(payload: Any, path: list[str | int]) -> object:  # noqa: ANN401 - walks any JSON
    # Not error.instance: the validator's copy turns what it cannot hold into null.
    for step in path:
        payload = payload[step]
    return payload


def _alternatives(limit: object) -> str:
    """A keyword's value in words: a list is one of its items."""
    if isinstance(limit, list):
        return " or ".join(_alternatives(item) for item in limit)
    return limit if isinstance(limit, str) else _shown(limit)


def _shown(value: object) -> str:
    """A JSON value in a few characters on one line."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int() if value.bit_length() > SHOWN_BITS:
            return f"an integer of {value.bit_length()} bits"
        case str() if len(value) > SHOWN_CHARS:
            return f"{value[:SHOWN_CHARS]!r}… of {len(value)} characters"
        case list():
            return f"an array of {len(value)} items"
        case dict():
            return f"an object of {len(value)} members"
        case _:
            return repr(value)
