"""Receipts about a node of refold itself: its public lists, found in its own description.

    lists = public_lists(body_of_openapi_json)
    plan = plan_of_lists(lists, "https://wiki.example", containing("tide", lists))
    build(plan, transport, now)

A list is a GET that needs no member, and answers `{items, nextCursor}` with a Link to the next
page. What stands beneath an item, at an address with the item in it, cannot be enumerated from the
description: the plan says so in a blindspot. Source: architecture.md, Conventions (lists).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from refold.coverage.criterion import MAX_CHILDREN, MAX_NODES
from refold.coverage.plan import DEFAULT_VALID_FOR, Plan, plan_of
from refold.coverage.record import MAX_QUESTION, MAX_UNIT_ID, MAX_WHAT
from refold.coverage.text import nfc
from refold.kernel.errors import InputError
from refold.kernel.guards import guard_json

__all__ = [
    "KIND",
    "MAX_DOCUMENT_BYTES",
    "OwnList",
    "OwnLists",
    "containing",
    "plan_of_lists",
    "public_lists",
    "unasked",
    "with_field",
]

KIND: Final = "refold-node"
"""The corpus kind of these receipts, a label."""
MAX_DOCUMENT_BYTES: Final = 8 * 1024 * 1024
"""Of a description: ours has some 150 KB."""

_MAX_NESTING: Final = 64
_MAX_FIELD_DEPTH: Final = 4
"""Objects inside each other in which the fields of an item are looked for."""
_MAX_STEPS: Final = 20_000
"""Schemas that are looked at for the fields of one item; ours take some thirty."""
_MOST_LEAVES: Final = MAX_NODES - 1 - -(-MAX_NODES // MAX_CHILDREN)
"""Conditions that a criterion takes, beside the groups that they stand in and the one of these."""
_MOST_ROWS: Final = 100
"""Rows a page that are asked for, where a list gives as many."""
_PATH: Final = re.compile(r"/[A-Za-z0-9._~/-]{1,200}")
_NO_FIELD: Final = re.compile(r"[.\[\]*\x00-\x1f]|^$")

Json = Any
Field = tuple[str, bool]


class OwnList(msgspec.Struct, frozen=True):
    """One list: its path, rows a page (0 where it cannot be said), and the fields of its items.

    `fields` are dot paths in their order, each with whether it holds free text.
    """

    path: str
    rows: int
    fields: tuple[Field, ...]


class OwnLists(msgspec.Struct, frozen=True):
    """The lists of a node in the order of its description, and how many stand beneath items."""

    lists: tuple[OwnList, ...]
    beneath: int


def public_lists(document: bytes) -> OwnLists:
    """Give the lists that a description (OpenAPI 3.1, JSON) names.

    Raises InputError: `own-description` for what is none, `own-lists` where it names no list;
    `too-large`, `too-deep`.
    """
    guard_json(document, max_bytes=MAX_DOCUMENT_BYTES, max_depth=_MAX_NESTING)
    try:
        value = msgspec.json.decode(document)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(
            "own-description", f"the description is no JSON: {error}", "name a node of refold"
        ) from error
    if "openapi" not in _object(value):
        raise InputError(
            "own-description", "the description is no OpenAPI", "name a node of refold"
        )
    schemas = _object(_object(_object(value).get("components")).get("schemas"))
    lists: list[OwnList] = []
    beneath = 0
    for path, methods in _object(_object(value).get("paths")).items():
        about = _object(_object(methods).get("get"))
        items = _items_of(about, schemas)
        if items is None:
            continue
        members = [_object(member) for member in _list(about.get("parameters"))]
        if any(member.get("required") for member in members) or not _PATH.fullmatch(path):
            beneath += 1
            continue
        lists.append(OwnList(path, _rows(members), _fields(items, schemas)))
    if not lists:
        raise InputError("own-lists", "the description names no list", "name a node of refold")
    return OwnLists(tuple(lists), beneath)


def containing(text: str, lists: OwnLists) -> dict[str, Json]:
    """Give the criterion that some text of an item contains `text`: any field of any list.

    A criterion takes so many conditions; `unasked` gives the fields that it has no room for.
    """
    leaves = [
        {"field": name, "op": "contains", "value": nfc(text)}
        for name in _texts(lists)[:_MOST_LEAVES]
    ]
    groups = [leaves[at : at + MAX_CHILDREN] for at in range(0, len(leaves), MAX_CHILDREN)]
    return {"any": groups[0] if len(groups) == 1 else [{"any": group} for group in groups]}


def unasked(lists: OwnLists) -> tuple[str, ...]:
    """Give the fields with text that `containing` leaves out."""
    return _texts(lists)[_MOST_LEAVES:]


def with_field(field: str, lists: OwnLists) -> OwnLists:
    """Give the lists whose items have a field, "" for all.

    Raises InputError `own-field` where none has.
    """
    kept = tuple(one for one in lists.lists if not field or field in dict(one.fields))
    if not kept:
        known = sorted({name for one in lists.lists for name, _ in one.fields})
        shown = ", ".join(known[:20])
        raise InputError("own-field", f"no list has items with {field}", f"some have {shown}")
    return OwnLists(kept, lists.beneath)


def plan_of_lists(
    lists: OwnLists,
    origin: str,
    criterion: Mapping[str, Json],
    *,
    question: str = "",
    valid_for: str = DEFAULT_VALID_FOR,
    left_out: int = 0,
    fields_left_out: Sequence[str] = (),
) -> Plan:
    """Give the plan of a receipt over lists at a public https origin.

    `criterion` is a match or a whole canon; `left_out` counts lists that lack the field it is
    about, `fields_left_out` are fields of items that it does not ask for. Raises InputError with
    every problem, as `plan_of`.
    """
    canon = criterion if "match" in criterion else {"match": criterion}
    asked = question or f"Is there an item in this node's lists with {_told(canon)}?"
    blindspots = []
    if lists.beneath:
        what = f"{lists.beneath} lists at addresses with an item in them, and all long texts"
        why = "a list of a node names its items; what stands beneath each has an address of its own"
        blindspots.append({"what": what, "why": why})
    if left_out:
        what = f"{left_out} lists whose items do not have the field"
        blindspots.append({"what": what, "why": "by the node's own description of its answers"})
    if fields_left_out:
        what = f"text in {len(fields_left_out)} fields: {', '.join(fields_left_out)}"
        why = "a criterion takes no more conditions; --field asks for one of them"
        blindspots.append({"what": what[:MAX_WHAT], "why": why})
    return plan_of(
        {
            "question": asked if question else asked[:MAX_QUESTION],
            "kind": KIND,
            "validFor": valid_for,
            "criterion": dict(canon),
            "units": [
                {
                    "id": one.path[-MAX_UNIT_ID:],
                    "kind": "HTTP_JSON",
                    "url": f"{origin}{one.path}" + (f"?limit={one.rows}" if one.rows else ""),
                    "arrayPath": "items",
                }
                for one in lists.lists
            ],
            "blindspots": blindspots,
        }
    )


def _texts(lists: OwnLists) -> tuple[str, ...]:
    """Give the fields with text of all lists, each once, and the id of each item."""
    fields = (field for one in lists.lists for field in one.fields)
    return tuple(dict.fromkeys(name for name, is_text in fields if is_text or name == "id"))


def _told(canon: Mapping[str, Json]) -> str:
    """Give a criterion in a few words: the one text it asks for, or its first condition."""
    leaves = list(_leaves(canon.get("match")))
    if not leaves:
        return "the criterion"
    values = {msgspec.json.encode(leaf.get("value")).decode() for leaf in leaves}
    field = str(leaves[0].get("field")) if len(leaves) == 1 else "any text"
    value = values.pop() if len(values) == 1 else "what is asked for"
    return f"{field} {leaves[0].get('op')} {value}"


def _leaves(match: Json) -> Iterator[dict[str, Json]]:
    pending: list[Json] = [match]
    while pending:
        node = _object(pending.pop())
        if "field" in node:
            yield node
        for name in ("all", "any"):
            pending += reversed(_list(node.get(name)))
        if "not" in node:
            pending.append(node["not"])


def _items_of(about: Mapping[str, Json], schemas: Mapping[str, Json]) -> Json:
    """Give the schema of the items that an operation lists, None where it gives no list."""
    answer = _object(_object(about.get("responses")).get("200"))
    if not any(name.lower() == "link" for name in _object(answer.get("headers"))):
        return None
    content = _object(_object(answer.get("content")).get("application/json"))
    schema = content.get("schema")
    name = _name_of(schema)
    page = _object(_object(schemas.get(name) if name else schema).get("properties"))
    if "nextCursor" not in page or "items" not in page:
        return None
    return _object(page["items"]).get("items")


def _rows(members: Sequence[Mapping[str, Json]]) -> int:
    """Give how many rows a page may be asked for, 0 where a list takes no such member."""
    for member in members:
        if member.get("name") == "limit" and member.get("in") == "query":
            most = _object(member.get("schema")).get("maximum")
            return min(most, _MOST_ROWS) if type(most) is int and most > 0 else _MOST_ROWS
    return 0


def _fields(items: Json, schemas: Mapping[str, Json]) -> tuple[Field, ...]:
    """Give the dot paths beneath a schema, and whether text may stand there that is no code.

    A schema within itself is not followed. Raises InputError `own-description` for one without end.
    """
    fields: dict[str, bool] = {}
    pending: list[tuple[Json, str, frozenset[str]]] = [(items, "", frozenset())]
    steps = 0
    while pending:
        schema, path, outer = pending.pop()
        steps += 1
        if steps > _MAX_STEPS:
            raise InputError("own-description", "an item has fields without end", "ask its author")
        name = _name_of(schema)
        if name in outer or path.count(".") > _MAX_FIELD_DEPTH:
            continue
        inner = outer | {name} if name else outer
        about = _object(schemas.get(name)) if name else _object(schema)
        if path:
            is_text = about.get("type") == "string" and "enum" not in about
            fields[path] = is_text or fields.get(path, False)
        further = [(choice, path) for choice in _list(about.get("anyOf"))]
        further += [(choice, path) for choice in _list(about.get("oneOf"))]
        if "items" in about:
            further.append((about["items"], path))
        further += [
            (below, f"{path}.{member}" if path else member)
            for member, below in _object(about.get("properties")).items()
            if not _NO_FIELD.search(member)
        ]
        pending += [(below, where, inner) for below, where in reversed(further)]
    return tuple(fields.items())


def _name_of(schema: Json) -> str:
    """Give the name of the schema of the document that another one refers to, "" for none."""
    name = _object(schema).get("$ref")
    return name.rpartition("/")[2] if isinstance(name, str) else ""


def _object(value: Json) -> dict[str, Json]:
    return value if type(value) is dict else {}


def _list(value: Json) -> list[Json]:
    return value if type(value) is list else []
