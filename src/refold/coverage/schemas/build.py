"""Makes the published schemas from the tables that the validator reads; a test compares them.

python -m refold.coverage.schemas.build record > src/refold/coverage/schemas/record.json
"""

import json
import sys
from functools import singledispatch
from typing import Any, Final

import msgspec

from refold.coverage import criterion as c
from refold.coverage.codes import CODES, REASONS
from refold.coverage.fields import RECORD, SEGMENT
from refold.coverage.record import VERSION
from refold.coverage.report import Report
from refold.coverage.schemas import NAMES, Name
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

__all__ = ["build", "build_text"]

Schema = dict[str, Any]
_DRAFT: Final = "http://json-schema.org/draft-07/schema#"


def build(name: Name) -> Schema:
    """Give the schema of the record or the report."""
    return _report() if name == "report" else _record()


def build_text(name: Name) -> str:
    """Give it as it is published."""
    return json.dumps(build(name), indent=1, ensure_ascii=True) + "\n"


def _record() -> Schema:
    return {
        "$schema": _DRAFT,
        "title": f"Coverage Receipt {VERSION}",
        "$comment": "Made from the field table of refold; do not edit.",
        **_of(RECORD),
        "definitions": {
            f"criterion{'' if depth == 1 else depth}": _criterion(depth)
            for depth in range(1, c.MAX_DEPTH + 1)
        },
    }


def _report() -> Schema:
    document = msgspec.json.schema(Report, ref_template="#/definitions/{name}")
    definitions = document.pop("$defs")
    codes = definitions["Finding"]["properties"]["code"]
    codes["enum"] = list(CODES)
    reasons = {"type": "string", "enum": list(REASONS)}
    for name in ("UnitReport", "Report"):
        definitions[name]["properties"]["reasons"]["items"] = reasons
    definitions["UnitReport"]["properties"]["why"]["propertyNames"] = reasons
    return {
        "$schema": _DRAFT,
        "title": "Report of a verifier of coverage receipts",
        "$comment": "Made from the Struct of refold; do not edit.",
        **document,
        "definitions": definitions,
    }


@singledispatch
def _of(shape: object) -> Schema:
    raise TypeError(type(shape).__name__)


@_of.register
def _(shape: Text) -> Schema:
    schema: Schema = {"type": "string"}
    if shape.least:
        schema["minLength"] = shape.least
    if shape.most is not None:
        schema["maxLength"] = shape.most
    if shape.pattern:
        schema["pattern"] = f"^(?:{shape.pattern})$"
    return schema


@_of.register
def _(shape: Choice) -> Schema:
    return {"type": "string", "enum": list(shape.words)}


@_of.register
def _(shape: Integer) -> Schema:
    return {"type": "integer", "minimum": shape.least, "maximum": shape.most}


@_of.register
def _(_: Bool) -> Schema:
    return {"type": "boolean"}


@_of.register
def _(shape: Anything) -> Schema:
    return {"$ref": f"#/definitions/{shape.definition}"}


@_of.register
def _(_: Ignored) -> Schema:
    return {}


@_of.register
def _(shape: Items) -> Schema:
    schema: Schema = {"type": "array", "items": _of(shape.item)}
    if shape.least:
        schema["minItems"] = shape.least
    if shape.most is not None:
        schema["maxItems"] = shape.most
    return schema


@_of.register
def _(shape: Members) -> Schema:
    return {"type": "object", "additionalProperties": _of(shape.value)}


@_of.register
def _(shape: Record) -> Schema:
    members = {**shape.required, **shape.optional}
    return {
        "type": "object",
        "required": list(shape.required),
        "properties": {name: _of(member) for name, member in members.items()},
        "additionalProperties": False,
    }


@_of.register
def _(shape: Tagged) -> Schema:
    return {
        "type": "object",
        "required": [shape.tag],
        "properties": {shape.tag: _of(Choice(tuple(shape.records)))},
        "allOf": [
            {
                "if": {"required": [shape.tag], "properties": {shape.tag: {"const": word}}},
                "then": _of(record),
            }
            for word, record in shape.records.items()
        ],
    }


@_of.register
def _(shape: Only) -> Schema:
    outer, inner = shape.tag
    holder, member = shape.member
    other = {inner: {"enum": list(shape.others)}}
    return {
        **_of(shape.record),
        "if": {
            "type": "object",
            "required": [outer],
            "properties": {outer: {"type": "object", "required": [inner], "properties": other}},
        },
        "then": {"properties": {holder: {"properties": {member: False}}}},
    }


def _criterion(depth: int) -> Schema:
    """Give the schema of a node at a depth from 1; the deepest are leaves (spec §5.2)."""
    leaf = _leaf()
    if depth == c.MAX_DEPTH:
        return leaf
    below = {"$ref": f"#/definitions/criterion{depth + 1}"}
    children = {"type": "array", "minItems": 1, "maxItems": c.MAX_CHILDREN, "items": below}
    inner = {"all": children, "any": children, "not": below}
    nodes = [
        {
            "type": "object",
            "required": [word],
            "properties": {word: child},
            "additionalProperties": False,
        }
        for word, child in inner.items()
    ]
    return {"oneOf": [*nodes, leaf]}


def _leaf() -> Schema:
    integer = {"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}
    text = {"type": "string", "maxLength": c.MAX_VALUE}
    values = {
        "eq": {"anyOf": [text, {"type": ["boolean", "null"]}, integer]},
        "contains": {**text, "minLength": 1},
        "prefix": {**text, "minLength": 1},
        "exists": {"type": "boolean"},
    }
    return {
        "type": "object",
        "required": ["field", "op", "value"],
        "properties": {
            "field": {
                "type": "string",
                "maxLength": c.MAX_PATH,
                "pattern": rf"^(?:{SEGMENT}(?:\.{SEGMENT})*)?$",
            },
            "op": {"type": "string", "enum": list(c.OPERATORS)},
            "value": {},
        },
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"op": {"const": op}}},
                "then": {"properties": {"value": values[op]}},
            }
            for op in c.OPERATORS
        ],
    }


if __name__ == "__main__":
    for wanted in NAMES:
        if wanted in sys.argv[1:]:
            sys.stdout.write(build_text(wanted))
