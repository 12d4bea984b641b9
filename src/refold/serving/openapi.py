"""The description of all routes: OpenAPI 3.1, made from the Structs and the table of codes."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

import refold
from refold.serving.answers import FORM_TYPE, JSON_TYPE, json_bytes
from refold.serving.codes import INTERNAL, Codes
from refold.serving.operation import Operation
from refold.serving.part import Part
from refold.serving.problem import PROBLEM_TYPE, ProblemDetails

__all__ = ["describe"]

_REF = "#/components/schemas/{name}"
_NO_NUL = "^[^\\u0000]*$"
_MOST = 10**18 - 1
"""Integers of a query have 18 digits at most."""
_ALWAYS = ("route-unknown", "query-unknown", INTERNAL, "busy")
_WITH_MEMBERS = ("query-value", "query-repeated", "query-encoding", "query-many")
_WITH_BODY = ("body-json", "body-shape", "body-type", "body-large", "too-deep")


def describe(parts: Sequence[Part], own: Iterable[Operation], codes: Codes, origin: str) -> bytes:
    """Give the document as JSON."""
    tagged = [("server", operation) for operation in own]
    tagged += [(part.name, operation) for part in parts for operation in part.operations]
    listed = [(tag, operation) for tag, operation in tagged if operation.route.listed]
    schemas = _Schemas([operation for _, operation in listed])
    paths: dict[str, dict[str, Any]] = {}
    for tag, operation in listed:
        about = _operation(tag, operation, schemas, codes)
        paths.setdefault(operation.route.path, {})[operation.route.method.lower()] = about
    tags = [{"name": "server", "description": "The server itself."}]
    tags += [{"name": part.name, "description": part.summary} for part in parts]
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "refold",
            "version": refold.__version__,
            "summary": "Records that agents make and anyone can re-check.",
            "description": (
                "Lists answer `{items, nextCursor}` and link to the next page. Unknown query"
                " members are refused. Errors are problem details (RFC 9457) with a stable `code`,"
                " described at /v1/errors. Nothing is redirected; HEAD works wherever GET does."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": origin or "/"}],
        "tags": tags,
        "paths": paths,
        "components": {"schemas": schemas.components},
    }
    return json_bytes(document)


class _Schemas:
    """JSON Schemas of all types that the routes name, under their own names."""

    def __init__(self, listed: Sequence[Operation]) -> None:
        kinds: list[Any] = [ProblemDetails]
        for operation in listed:
            kinds += [operation.asked_type]
            kinds += [kind for kind in (operation.body_type, operation.answer) if _is_json(kind)]
        self._kinds = kinds
        schemas, self.components = msgspec.json.schema_components(kinds, ref_template=_REF)
        self._schemas = dict(zip(map(repr, kinds), schemas, strict=True))
        for operation in listed:  # what is asked stands in parameters, not in a schema of its own
            self.components.pop(self._name(operation.asked_type), None)

    def of(self, kind: object) -> dict[str, Any]:
        """Give the schema of a type, by reference where it has a name."""
        return self._schemas[repr(kind)]

    def members(self, operation: Operation) -> dict[str, dict[str, Any]]:
        """Give the schema of each member that a route asks for."""
        (schema,), components = msgspec.json.schema_components(
            [operation.asked_type], ref_template=_REF
        )
        name = self._name(operation.asked_type)
        own = components.pop(name, schema)
        self.components |= components
        return {member: dict(about) for member, about in own.get("properties", {}).items()}

    def _name(self, kind: type) -> str:
        (schema,), _ = msgspec.json.schema_components([kind], ref_template="{name}")
        return str(schema.get("$ref", kind.__name__))


def _is_json(kind: object) -> bool:
    return kind is not None and kind is not bytes


def _operation(tag: str, operation: Operation, schemas: _Schemas, codes: Codes) -> dict[str, Any]:
    about: dict[str, Any] = {
        "operationId": f"{tag}_{operation.name}",
        "summary": operation.route.summary,
        "description": operation.description,
        "tags": [tag],
        "parameters": _parameters(operation, schemas),
        "responses": _responses(operation, schemas, codes),
    }
    if operation.body_type is not None:
        content: dict[str, Any] = {"schema": {}}
        media_type = "application/octet-stream"
        if operation.body_type is not bytes:
            content = {"schema": schemas.of(operation.body_type)}
            media_type = JSON_TYPE
        if "body" in operation.route.example:
            content["example"] = operation.route.example["body"]
        required = operation.body_type is not bytes  # where any bytes will do, none will
        types = [media_type, *([FORM_TYPE] if operation.route.form else [])]
        about["requestBody"] = {"required": required, "content": dict.fromkeys(types, content)}
    return about


def _parameters(operation: Operation, schemas: _Schemas) -> list[dict[str, Any]]:
    found = []
    for name, raw in schemas.members(operation).items():
        schema = _without_none(raw)
        text = schema.pop("description", "")
        parameter: dict[str, Any] = {
            "name": name,
            "in": "path" if name in operation.in_path else "query",
            "required": operation.asked.fields[name].required,
            "schema": _bounded(schema),
        }
        if text:
            parameter["description"] = text
        if name in operation.route.example:
            parameter["example"] = operation.route.example[name]
        found.append(parameter)
    return found


def _without_none(schema: dict[str, Any]) -> dict[str, Any]:
    """Give a schema without null, which a query cannot say."""
    if schema.get("default", 0) is None:
        del schema["default"]
    choices = schema.get("anyOf")
    if choices is None:
        if None in schema.get("enum", ()):
            schema["enum"] = [value for value in schema["enum"] if value is not None]
        return schema
    rest = [choice for choice in choices if choice.get("type") != "null"]
    if len(rest) != 1:
        return schema
    del schema["anyOf"]
    return {**schema, **rest[0]}


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """Say what every member of a query has to be: no NUL, integers of 64 bits."""
    if schema.get("type") == "array":
        return schema | {"items": _bounded(dict(schema.get("items", {})))}
    if schema.get("type") == "string" and "enum" not in schema:
        return {"pattern": _NO_NUL} | schema
    if schema.get("type") == "integer":
        return {"minimum": -_MOST, "maximum": _MOST} | schema
    return schema


def _responses(operation: Operation, schemas: _Schemas, codes: Codes) -> dict[str, Any]:
    """Give the answers of a route: the good one, and each status with the codes it may carry."""
    content: dict[str, Any] = {}
    if operation.answer is not None:
        media_type = operation.route.media_type
        schema = schemas.of(operation.answer) if _is_json(operation.answer) else {}
        content[media_type] = {"schema": schema}
        if operation.route.sample is not None:
            content[media_type]["example"] = msgspec.to_builtins(operation.route.sample)
    good: dict[str, Any] = {"description": operation.route.summary, "content": content}
    if operation.is_list:
        text = 'The next page, with rel="next"; on every page but the last.'
        good["headers"] = {"Link": {"description": text, "schema": {"type": "string"}}}
    statuses = (operation.route.status, *operation.route.also)
    responses: dict[str, Any] = {str(status): good for status in statuses}
    by_status: dict[int, list[str]] = {}
    for code in _codes_of(operation):
        row = codes.get(code)
        if row is not None:
            by_status.setdefault(row.status, []).append(f"`{code}`: {row.meaning}")
    problem = {PROBLEM_TYPE: {"schema": schemas.of(ProblemDetails)}}
    for status, texts in sorted(by_status.items()):
        responses[str(status)] = {"description": "\n\n".join(texts), "content": problem}
    return responses


def _codes_of(operation: Operation) -> list[str]:
    """Give all codes that a route may answer with."""
    found = [*operation.route.codes, *_ALWAYS]
    if operation.asked.fields:
        found += _WITH_MEMBERS
    if operation.in_path:
        found += ("path-value", "path-encoding")
    if operation.is_list:
        found.append("cursor-unknown")
    if operation.body_type is not None:
        found += _WITH_BODY
    if operation.route.form:
        found.append("body-form")
    return list(dict.fromkeys(found))
