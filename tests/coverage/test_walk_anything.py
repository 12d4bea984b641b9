"""Whatever sources answer, a walk ends with an outcome that can be judged, and raises nothing."""

import json
from base64 import b64encode
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cases.sources import ORIGIN, Scripted, source
from refold.coverage.match import compile_criterion
from refold.coverage.reasons import REASONS
from refold.coverage.record import HttpJson, MvcPins
from refold.coverage.unit import Traversal
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import walk_corpus
from refold.coverage.walk.walked import Listed

TEXTS = st.sampled_from(["", "a", "b", "needle", "next", "k1", "é", "0", "\ud800"]) | st.text()
SCALARS = st.none() | st.booleans() | st.integers(-2, 300) | st.floats() | TEXTS
IDS: st.SearchStrategy[Any] = st.sampled_from(["a", "b", "c", "", 0, 1, None, True, 1.5, [], {}])
NAMES = st.sampled_from(
    [
        *("id", "name", "items", "data", "list", "nextCursor", "code", "message", "status", "path"),
        *("has_more", "next", "total", "total_count", "last", "last_page", "errors", "_shards"),
        *("modify_history", "contentBody", "originalContentBody", "contentLength", "timestamp"),
        *("genesisHeight", "links", "meta", "page", "relation", "value", "failed", "successful"),
    ]
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5)
)
ROWS = st.lists(st.fixed_dictionaries({"id": IDS}, optional={"name": TEXTS, "x": JSON}), max_size=4)
PAGES = st.builds(lambda rest, rows: rest | {"items": rows}, st.dictionaries(NAMES, JSON), ROWS)
PIN_ROWS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["a", "b", "c/../d", ""])},
        optional={
            "status": SCALARS,
            "modify_history": JSON | st.lists(st.sampled_from("abc")),
            "genesisHeight": SCALARS,
            "timestamp": SCALARS,
        },
    ),
    max_size=4,
)
LISTS = st.builds(
    lambda code, rows, cursor: {"code": code, "data": {"list": rows, "nextCursor": cursor}},
    st.sampled_from([1, 1, 1, 1.0, 100, "1", True, None]),
    PIN_ROWS | st.none() | JSON,
    st.sampled_from(["", "", "k1", "k2", None, 0]),
)
BODIES = st.builds(
    lambda name, body, length: {
        "code": 1,
        "data": {"id": name, "contentBody": body, "contentLength": length},
    },
    st.sampled_from(["a", "b", "c/../d", ""]),
    JSON.map(lambda value: b64encode(json.dumps(value).encode()).decode()) | TEXTS | st.none(),
    SCALARS,
)
CONTENT = st.one_of(PAGES, LISTS, BODIES, JSON).map(lambda value: json.dumps(value).encode())
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["content-type", "link", "date", "age"]),
        st.sampled_from(
            [
                *("application/json", "application/json", "text/html", "", "x"),
                *('<?n=1>; rel="next"', "<?n=2>; rel=next", '<>; rel="next"', "<//x>; rel=next"),
                *('<https://api.example.test/items?n=3>; rel="next"', '<\ud800>; rel="next"'),
                *("Fri, 09 May 2031 07:30:00 GMT", "Fri, 09 May 1931 07:30:00 GMT", "61", "next"),
            ]
        ),
    ),
    max_size=3,
)
URLS = st.sampled_from(["", "https://other.test/x", "no URL"])
REPLIES = st.one_of(
    st.builds(
        lambda status, headers, body, elsewhere: (status, headers, body, elsewhere),
        st.sampled_from([200, 200, 200, 200, 404, 500]),
        HEADERS.map(lambda headers: [("content-type", "application/json"), *headers][-3:]),
        CONTENT | st.binary(max_size=20),
        st.just("") | URLS,
    ),
    st.sampled_from(["too-slow", "body-short", "address-forbidden", "whatever"]),
)
CRITERIA = st.sampled_from(
    [
        {"match": {"field": "name", "op": "eq", "value": "needle"}},
        {"match": {"field": "", "op": "exists", "value": True}},
        {"match": {"field": "chain.id", "op": "prefix", "value": "a"}},
        {"match": {"not": {"field": "doc.name", "op": "exists", "value": True}}},
        {"caseFold": True, "match": {"any": [{"field": "x.y", "op": "contains", "value": "a"}]}},
    ]
)
SOURCES = st.sampled_from(
    [
        [source()],
        [source("/items", "")],
        [source("/items", "data.items", total="total")],
        [source("/items?page=1", name="1"), source("/items?page=2", name="2")],
        [Listed("p", MvcPins(ORIGIN, "/protocols/x", 3, "LIST_ONLY"))],
        [Listed("p", MvcPins(ORIGIN, "/protocols/x", 3, "LIST_PLUS_DETAIL", "NONE"))],
        [
            Listed(
                "p",
                MvcPins(
                    *(ORIGIN, "/protocols/x", 3, "LIST_PLUS_DETAIL", "ID_MULTISET"),
                    {"chain.status": "0", "doc.name": "needle"},
                ),
            )
        ],
        [Listed("h", HttpJson("https://bad host/", "items"))],
    ]
)
FEW = Budgets(unit_pages=6, record_requests=30)


def check(seen: Traversal) -> None:
    """Check that an outcome does not contradict itself."""
    assert all(REASONS[reason].effect in {"PARTIAL", "BROKEN"} for reason in seen.reasons)
    assert len(set(seen.reasons)) == len(seen.reasons)
    assert seen.ends or seen.reasons
    if seen.ends:
        assert seen.pages
        assert not any(REASONS[reason].effect == "BROKEN" for reason in seen.reasons)
    assert bool(seen.set_hash) == (seen.pages > 0)
    assert seen.distinct >= len(seen.matches)
    if seen.rows == 0:
        assert (seen.matches, seen.last_id, seen.distinct) == ((), "", 0)
    if seen.status_counts is not None:
        assert sum(seen.status_counts.values()) == seen.rows


@settings(deadline=None, max_examples=150)
@given(SOURCES, CRITERIA, st.lists(REPLIES, min_size=1, max_size=6))
def test_no_answers_make_a_walk_raise(
    sources: list[Listed], canon: dict[str, Any], replies: list[Any]
) -> None:
    def reply(ask: Ask) -> Answer | Failure:
        chosen = replies[(len(transport.asks) - 1) % len(replies)]
        if isinstance(chosen, str):
            return Failure(ask.url, chosen, "no")
        status, headers, body, elsewhere = chosen
        return Answer(elsewhere or ask.url, status, tuple(headers), body)

    transport = Scripted(reply, seconds=0.5)
    criterion = compile_criterion(canon)
    walked = list(walk_corpus(sources, criterion, transport, budgets=FEW))
    assert [unit.traversal.unit for unit in walked] == [one.id for one in sources]
    for unit in walked:
        check(unit.traversal)
        assert all(why.isprintable() for why in unit.why.values())
    assert len(transport.asks) <= FEW.record_requests + 4
