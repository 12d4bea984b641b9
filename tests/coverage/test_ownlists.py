"""Public lists found in a description: whatever the description is, it is a plan or an answer."""

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cases.servers import scripted
from cases.walking import http, live
from coverage.receipts import Json
from refold.coverage.match import compile_criterion
from refold.coverage.ownlists import (
    KIND,
    containing,
    plan_of_lists,
    public_lists,
    unasked,
    with_field,
)
from refold.coverage.record import MAX_QUESTION, Replay
from refold.coverage.walk.drive import walk_source
from refold.coverage.walk.walked import Listed
from refold.kernel.errors import InputError

ORIGIN = "https://node.example.test"
TEXT = {"type": "string"}
LINK = {"Link": {"schema": TEXT}}
QUICK = settings(max_examples=80, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def listed(items: Json, *members: Json, headers: Json = LINK) -> Json:
    page = {"type": "object", "properties": {"items": {"items": items}, "nextCursor": TEXT}}
    answer = {"headers": headers, "content": {"application/json": {"schema": page}}}
    return {"get": {"parameters": list(members), "responses": {"200": answer}}}


def member(name: str, *, required: bool = False, **schema: Any) -> Json:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def document(schemas: Json | None = None, **paths: Json) -> bytes:
    named = {f"/v1/{name}": about for name, about in paths.items()}
    return json.dumps(
        {"openapi": "3.1.0", "paths": named, "components": {"schemas": schemas or {}}}
    ).encode()


ITEM = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "title": {"anyOf": [{"type": "null"}, TEXT]},
        "height": {"type": "integer"},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "inner": {"$ref": "#/components/schemas/Inner"},
        "dotted.name": TEXT,
    },
}
SCHEMAS = {
    "Item": ITEM,
    "Inner": {"properties": {"words": {"items": TEXT}, "again": {"$ref": "#/x/Inner"}}},
}
REFERRED = {"$ref": "#/components/schemas/Item"}


def test_lists_are_found_with_their_fields() -> None:
    found = public_lists(
        document(
            SCHEMAS,
            notes=listed(REFERRED, member("limit", maximum=40), member("lang")),
            votes=listed(REFERRED, member("key", required=True)),
            whole=listed(REFERRED, headers={}),
            one={"get": {"responses": {"200": {"content": {}}}}},
        )
    )
    (notes,) = found.lists
    assert (notes.path, notes.rows, found.beneath) == ("/v1/notes", 40, 1)
    assert dict(notes.fields) == {
        "id": True,
        "title": True,
        "height": False,
        "state": False,
        "inner": False,
        "inner.words": True,
    }


def test_a_plan_asks_every_list_and_says_what_it_leaves_out() -> None:
    one = {"properties": {"id": TEXT}}
    every = public_lists(
        document(
            SCHEMAS,
            notes=listed(REFERRED, member("limit", maximum=500)),
            marks=listed(one),
            votes=listed(one, member("key", required=True)),
        )
    )
    plan = plan_of_lists(every, ORIGIN, {"match": containing("x", every), "caseFold": True})
    assert [unit.replay.url for unit in plan.units] == [  # type: ignore[union-attr]
        f"{ORIGIN}/v1/notes?limit=100",
        f"{ORIGIN}/v1/marks",
    ]
    assert (plan.kind, plan.canon["caseFold"]) == (KIND, True)
    fields = [leaf["field"] for leaf in plan.canon["match"]["any"]]
    assert fields == ["id", "title", "inner.words"]
    assert len(plan.blindspots) == 1
    some = with_field("height", every)
    assert [one.path for one in some.lists] == ["/v1/notes"]
    match = {"field": "height", "op": "eq", "value": 7}
    plan = plan_of_lists(some, ORIGIN, match, left_out=1)
    assert [spot.what.split()[0] for spot in plan.blindspots] == ["1", "1"]
    assert plan.question == "Is there an item in this node's lists with height eq 7?"
    with pytest.raises(InputError, match="no list has items with nowhere"):
        with_field("nowhere", every)


def test_a_question_never_grows_too_long() -> None:
    every = public_lists(document(SCHEMAS, notes=listed(REFERRED)))
    plan = plan_of_lists(every, ORIGIN, {"match": containing("x" * 256, every)})
    assert len(plan.question) <= MAX_QUESTION
    with pytest.raises(InputError):
        plan_of_lists(every, ORIGIN, {"match": containing("x" * 257, every)})


def test_fields_that_a_criterion_has_no_room_for_are_told() -> None:
    names = ["id", *(f"field{number}" for number in range(80))]
    every = public_lists(document(notes=listed({"properties": dict.fromkeys(names, TEXT)})))
    left = unasked(every)
    plan = plan_of_lists(every, ORIGIN, containing("x", every), fields_left_out=left)
    asked = [leaf["field"] for group in plan.canon["match"]["any"] for leaf in group["any"]]
    assert [*asked, *left] == names
    assert len(asked) == 59
    assert plan.blindspots[0].what.startswith("text in 22 fields: field58, ")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{", "own-description"),
        (b"[]", "own-description"),
        (b'{"openapi":"3.1.0"}', "own-lists"),
        (b"[" * 100 + b"]" * 100, "too-deep"),
    ],
)
def test_what_describes_nothing_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        public_lists(data)
    assert caught.value.code == code


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("$ref", "properties", "items", "anyOf", "type", "nextCursor", "get"),
                    "id",
                    "200",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@QUICK
@given(JSON, JSON, JSON)
def test_a_strange_description_gives_a_valid_plan_or_an_error(
    items: Any, inner: Any, method: Any
) -> None:
    strange = document({"Item": inner, "Inner": inner}, a=listed(items), b=method, c=listed(inner))
    with suppress(InputError):
        every = public_lists(strange)
        assert plan_of_lists(every, ORIGIN, {"match": containing("x", every)}).units


def test_schemas_that_multiply_are_left_in_time() -> None:
    """Each names the next one twice: as many ways as a power of two."""
    twice = {
        f"S{number}": {"anyOf": [{"$ref": f"#/components/schemas/S{number + 1}"}] * 2}
        for number in range(40)
    }
    with pytest.raises(InputError, match="fields without end"):
        public_lists(document(twice, a=listed({"$ref": "#/components/schemas/S0"})))


def test_links_that_name_the_origin_that_was_asked_are_followed() -> None:
    """A node behind a map of origins may know itself by its own address alone."""
    pages = [{"get": "/items", "query": {"page": "2"}, "json": {"items": "range(3,4)"}}]
    with scripted({"routes": pages}) as (server, _):
        link = f'<{server.origin}/items?page=2>; rel="next"'
        pages.append({"get": "/items", "headers": {"Link": link}, "json": {"items": "range(1,2)"}})
        with live(server.origin) as transport:
            criterion = compile_criterion({"match": {"field": "id", "op": "eq", "value": 4}})
            recipe = msgspec.convert(http("/items", "items"), Replay)
            seen = walk_source(Listed("list", recipe, ""), criterion, transport).traversal
    assert (seen.rows, seen.reasons, seen.ends) == (4, (), ("CURSOR_END",))
