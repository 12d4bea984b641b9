"""The cases of coverage-cases.md as scripts, and more of the same kinds: data, no code.

Each is a source that looks complete and is not, or the other way round. `coverage` and `reasons`
are what the walk must say of the unit (all units of a series alike), `found` the ids it must find.
"""

import base64
import gzip
import hashlib
import json
from typing import Any

import msgspec

from cases.servers import BASE, pin_detail, pin_id, pin_row

NEEDLE: dict[str, Any] = {"match": {"field": "name", "op": "eq", "value": "needle"}}
DOC_NEEDLE: dict[str, Any] = {"match": {"field": "doc.name", "op": "eq", "value": "needle"}}
THE_NEEDLE = {"id": 999, "name": "needle"}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One script, how it is walked, and what must come of it."""

    name: str
    routes: list[dict[str, Any]]
    coverage: str
    reasons: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    ends: tuple[str, ...] | None = None
    urls: tuple[str, ...] = ("/items",)
    array: str = "items"
    canon: dict[str, Any] = msgspec.field(default_factory=lambda: NEEDLE)
    total: str = ""
    pins: dict[str, Any] | None = None
    requests: int | None = None
    rows: int | None = None
    digest: str = ""
    statuses: dict[str, int] | None = None


def next_link(target: str) -> dict[str, str]:
    return {"Link": f'<{{base}}{target}>; rel="next"'}


def page(answer: Any, following: str = "", **members: Any) -> dict[str, Any]:
    """Give a route for /items with a page of JSON."""
    headers = next_link(following) if following else {}
    return {"get": "/items", "headers": headers, "json": answer} | members


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def mvc(data: Any, **members: Any) -> dict[str, Any]:
    answer = {"code": 1, "message": "ok", "data": data}
    return {"get": "/api/pin/path/list", "json": answer} | members


def detail(number: int, name: str = "", **members: Any) -> dict[str, Any]:
    return {"get": f"/api/pin/{pin_id(number)}", "json": pin_detail(number, name, **members)}


def pins(size: int = 3, fetch: str = "LIST_PLUS_DETAIL", **members: Any) -> dict[str, Any]:
    recipe = {"kind": "MVC_PINS", "endpoint": BASE, "path": "/protocols/x"}
    return recipe | {"pageSize": size, "fetch": fetch} | members


def listing(rows: Any, cursor: str = "", total: int = 0) -> dict[str, Any]:
    return {"list": rows, "nextCursor": cursor, "total": total}


ORIGINAL = b'{"path":"/protocols/needle"}'
NESTED = {"name": "a"}
for _ in range(70):
    NESTED = {"x": NESTED}  # type: ignore[dict-item]  # it is to be deep, not typed

CASES = [
    # A. Ends that are not ends
    Case(
        name="A1 a cap below the true total",
        routes=[
            page(
                {"total_count": 250, "incomplete_results": False, "items": "range(101,200)"},
                query={"page": "2"},
            ),
            page(
                {"total_count": 250, "incomplete_results": False, "items": "range(1,100)"},
                "/items?page=2",
            ),
        ],
        urls=("/items?page=1",),
        coverage="PARTIAL",
        reasons=("source_truncated",),
        rows=200,
    ),
    Case(
        name="A1 a total that only the first page states",
        routes=[
            page({"items": "range(101,200)"}, query={"page": "2"}),
            page({"total_count": 250, "items": "range(1,100)"}, "/items?page=2"),
        ],
        urls=("/items?page=1",),
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="A1 a page past the cap answers 422",
        routes=[
            page({"message": "only the first 100"}, query={"page": "2"}, status=422),
            page({"total_count": 100, "items": "range(1,100)"}, "/items?page=2"),
        ],
        coverage="BROKEN",
        reasons=("http_status",),
    ),
    Case(
        name="A2 incomplete_results",
        routes=[page({"total_count": 0, "incomplete_results": True, "items": []})],
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="A2 truncated beside the tree",
        routes=[page({"tree": "range(1,7)", "truncated": True})],
        array="tree",
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="A2 incomplete on a page before the last",
        routes=[
            page({"items": "range(4,6)"}, query={"c": "b"}),
            page({"incomplete_results": True, "items": "range(1,3)"}, "/items?c=b"),
        ],
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="A2 a flag above the array's parent",
        routes=[page({"partial": True, "data": {"list": {"items": "range(1,3)"}}})],
        array="data.list.items",
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="A3 unallocated shards",
        routes=[
            {
                "get": "/_search",
                "json": {
                    "timed_out": False,
                    "_shards": {"total": 64, "successful": 27, "failed": 0},
                    "hits": {"total": 0, "hits": []},
                },
            }
        ],
        urls=("/_search",),
        array="hits.hits",
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="A3 a search that timed out",
        routes=[page({"timed_out": True, "items": []})],
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="A4 an empty page in the middle",
        routes=[
            page({"items": []}, "/items?c=c", query={"c": "b"}),
            page({"items": [THE_NEEDLE]}, query={"c": "c"}),
            page({"items": "range(1,3)"}, "/items?c=b"),
        ],
        coverage="FULL",
        ends=("CURSOR_END",),
        found=("999",),
        requests=4,
    ),
    Case(
        name="A5 a short page is not the last",
        routes=[
            mvc(listing(None, total=5), query={"cursor": "k2"}),
            mvc(listing(["pin(4,needle)"], "k2", 5), query={"cursor": "k1"}),
            mvc(listing(["pin(1)", "pin(2)"], "k1", 5)),
            *(detail(1), detail(2), detail(4, "needle")),
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="FULL",
        ends=("EXHAUSTED",),
        found=(pin_id(4),),
        rows=3,
    ),
    Case(
        name="A6 a page size silently changed",
        routes=[page({"items": "range(1,100)"})],
        urls=("/items?per_page=500",),
        coverage="PARTIAL",
        reasons=("round_count_without_end_signal",),
    ),
    Case(
        name="A7 two pages that lead to each other",
        routes=[
            page({"items": "range(4,6)"}, "/items?c=a", query={"c": "b"}),
            page({"items": "range(1,3)"}, "/items?c=b", query={"c": "a"}),
        ],
        urls=("/items?c=a",),
        coverage="BROKEN",
        reasons=("page_loop",),
        requests=2,
    ),
    Case(
        name="A7 new URLs with the same rows for ever",
        routes=[
            page({"items": "range(1,3)"}, "/items?c=3", query={"c": "2"}),
            page({"items": "range(1,3)"}, "/items?c=2"),
        ],
        coverage="BROKEN",
        reasons=("page_loop", "duplicate_ids"),
        requests=2,
    ),
    Case(
        name="A7 a cursor that comes again",
        routes=[
            mvc(listing(["pin(2)"], "k1"), query={"cursor": "k2"}),
            mvc(listing(["pin(2)"], "k2"), query={"cursor": "k1"}),
            mvc(listing(["pin(1)"], "k1")),
        ],
        pins=pins(fetch="LIST_ONLY"),
        canon={"match": {"field": "chain.id", "op": "eq", "value": "x"}},
        coverage="BROKEN",
        reasons=("page_loop",),
        requests=3,
    ),
    # B. The set moves or lies while it is read
    Case(
        name="B1 rows move between pages",
        routes=[
            page({"total": 5, "items": "range(5,6)"}, query={"page": "2"}),
            page({"total": 6, "items": "range(1,3)"}, "/items?page=2", nth=1),
            page({"total": 5, "items": "range(2,4)"}, nth=2),
        ],
        urls=("/items?page=1",),
        coverage="PARTIAL",
        reasons=("total_drift", "moved_during_traversal"),
    ),
    Case(
        name="B1 pages made at different times",
        routes=[
            page({"items": "range(4,6)"}, query={"c": "b"})
            | {"headers": {"Date": "Sat, 01 Jan 2028 00:00:00 GMT", "Age": "90"}},
            page({"items": "range(1,3)"})
            | {"headers": next_link("/items?c=b") | {"Date": "Sat, 01 Jan 2028 00:00:01 GMT"}},
        ],
        coverage="PARTIAL",
        reasons=("moved_during_traversal",),
    ),
    Case(
        name="B2 the right count of the wrong rows",
        routes=[
            page(
                {"total": 4, "items": [{"id": 2, "name": "b"}, {"id": 3, "name": "c"}]},
                query={"page": "2"},
            ),
            page(
                {"total": 4, "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]},
                "/items?page=2",
            ),
        ],
        urls=("/items?page=1",),
        total="total",
        coverage="PARTIAL",
        reasons=("source_truncated", "duplicate_ids"),
    ),
    Case(
        name="B3 a total that shrinks",
        routes=[
            page({"total": 1, "items": [{"id": 3, "name": "c"}]}, query={"offset": "2"}),
            page({"total": 3, "items": "range(1,2)"}, "/items?offset=2"),
        ],
        total="total",
        coverage="PARTIAL",
        reasons=("total_drift",),
    ),
    Case(
        name="B3 a total that is the size of the page",
        routes=[page({"count": 50, "items": "range(1,50)"})],
        coverage="PARTIAL",
        reasons=("round_count_without_end_signal",),
    ),
    Case(
        name="B6 a modified pin keeps its name",
        routes=[
            mvc(
                listing(
                    [pin_row(1, status=1, modify_history=[pin_id(1), pin_id(2)])],
                )
            ),
            detail(1, originalContentBody=b64(ORIGINAL), contentBody=b64(b'{"path":"/other"}')),
            detail(2),
        ],
        pins=pins(),
        canon={"match": {"field": "doc.path", "op": "eq", "value": "/protocols/needle"}},
        coverage="FULL",
        found=(pin_id(1),),
        digest=hashlib.sha256(ORIGINAL).hexdigest(),
        statuses={"1": 1},
        ends=("CURSOR_END",),
    ),
    Case(
        name="B6 the name is in the modify pin alone",
        routes=[
            mvc(listing([pin_row(1, status=1, modify_history=[pin_id(1), pin_id(2)])])),
            *(detail(1), detail(2, "needle")),
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="FULL",
        found=(pin_id(2),),
    ),
    # C. Answers that are not answers
    Case(
        name="C1 a login page elsewhere",
        routes=[
            {
                "get": "/items",
                "status": 302,
                "headers": {"Location": "https://login.example.test/"},
            }
        ],
        coverage="BROKEN",
        reasons=("redirected_off_source",),
        requests=1,
    ),
    Case(
        name="C1 a page for people with status 200",
        routes=[{"get": "/items", "headers": {"Content-Type": "text/html"}, "text": "{}"}],
        coverage="BROKEN",
        reasons=("not_json",),
    ),
    Case(
        name="C1 JSON that calls itself HTML",
        routes=[page({"items": []}) | {"headers": {"Content-Type": "text/html"}}],
        coverage="BROKEN",
        reasons=("not_json",),
    ),
    Case(
        name="C1 redirects without end",
        routes=[{"get": "/items", "status": 307, "headers": {"Location": "/items"}}],
        coverage="BROKEN",
        reasons=("redirected_off_source",),
        requests=4,
    ),
    Case(
        name="C1 a redirect within the source is followed",
        routes=[
            {"get": "/items", "status": 301, "headers": {"Location": "/v2/items"}},
            {"get": "/v2/items", "json": {"items": [THE_NEEDLE]}},
        ],
        coverage="FULL",
        ends=("SINGLE_PAGE",),
        found=("999",),
        requests=2,
    ),
    Case(
        name="C2 a rate limit, then an error beside data",
        routes=[
            {"get": "/items", "nth": 1, "status": 429, "headers": {"Retry-After": "0"}},
            page({"items": [], "errors": [{"type": "RATE_LIMITED"}]}, nth=2),
        ],
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
        requests=2,
    ),
    Case(
        name="C2 four times too many requests",
        routes=[{"get": "/items", "status": 429, "headers": {"Retry-After": "0"}}],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
        requests=4,
    ),
    Case(
        name="C2 too many requests on the second page",
        routes=[
            {"get": "/items", "query": {"c": "b"}, "status": 429},
            page({"items": "range(1,3)"}, "/items?c=b"),
        ],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C3 an error inside a success",
        routes=[
            {
                "get": "/api/pin/path/list",
                "json": {"code": 100, "message": "no pin found.", "data": None},
            }
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="BROKEN",
        reasons=("source_error",),
    ),
    Case(
        name="C3 a detail that is an empty pin",
        routes=[
            mvc(listing(["pin(1)"])),
            {"get": f"/api/pin/{pin_id(1)}", "json": {"code": 1, "data": {"id": ""}}},
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="PARTIAL",
        reasons=("detail_mismatch", "criterion_field_never_seen"),
    ),
    Case(
        name="C3 a body that is empty and should not be",
        routes=[mvc(listing(["pin(1)"])), detail(1, contentBody="")],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="PARTIAL",
        reasons=("detail_mismatch", "criterion_field_never_seen"),
    ),
    Case(
        name="C4 null where a list should be",
        routes=[page({"items": None})],
        coverage="BROKEN",
        reasons=("array_path_missing",),
    ),
    Case(
        name="C4 an object where a list should be",
        routes=[page({"items": {}})],
        coverage="BROKEN",
        reasons=("array_path_missing",),
    ),
    Case(
        name="C4 no member where a list should be",
        routes=[page({"rows": []})],
        coverage="BROKEN",
        reasons=("array_path_missing",),
    ),
    Case(
        name="C4 null with a cursor",
        routes=[mvc(listing(None, "k1"))],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="BROKEN",
        reasons=("array_path_missing",),
    ),
    Case(
        name="C5 a body shorter than it says",
        routes=[
            {
                "get": "/items",
                "text": '{"items":[{"id":1,"name":"a"}]}',
                "claimLength": 5000,
            }
        ],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
        requests=4,
    ),
    Case(
        name="C5 a body longer than it says",
        routes=[{"get": "/items", "text": '{"items":[]} {"id":999}', "claimLength": 12}],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C5 chunks without the last one",
        routes=[page({"items": "range(1,3)"}, chunked=9, noEnd=True)],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C5 bytes behind the last chunk",
        routes=[page({"items": []}, chunked=9, after='{"id":999}')],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C5 chunks to the end",
        routes=[page({"items": [THE_NEEDLE]}, chunked=9)],
        coverage="FULL",
        found=("999",),
    ),
    Case(
        name="C5 a connection that closes without an answer",
        routes=[{"get": "/items", "drop": True}],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
        requests=4,
    ),
    Case(
        name="C5 a second page that never comes",
        routes=[
            {"get": "/items", "query": {"c": "b"}, "drop": True},
            page({"items": "range(1,3)"}, "/items?c=b"),
        ],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C6 gzip that is cut",
        routes=[page({"items": "range(1,5001)"}, gzip=True, cutBytes=20)],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    Case(
        name="C6 gzip of two members",
        routes=[
            {
                "get": "/items",
                "b64": b64(
                    gzip.compress(b'{"items":[') + gzip.compress(b'{"id":999,"name":"needle"}]}')
                ),
                "headers": {"Content-Encoding": "gzip"},
            }
        ],
        coverage="FULL",
        found=("999",),
    ),
    Case(
        name="C6 gzip of two large members",
        routes=[
            {
                "get": "/items",
                "b64": b64(
                    gzip.compress(b'{"items":[' + b" " * 200_000, mtime=0)
                    + gzip.compress(b'{"id":999,"name":"needle"}' + b" " * 200_000, mtime=0)
                    + gzip.compress(b"]}", mtime=0)
                ),
                "headers": {"Content-Encoding": "gzip"},
            }
        ],
        coverage="FULL",
        found=("999",),
    ),
    Case(
        name="C6 gzip whose second member is cut",
        routes=[
            {
                "get": "/items",
                "b64": b64(gzip.compress(b'{"items":[]}') + gzip.compress(b" ")[:-4]),
                "headers": {"Content-Encoding": "gzip"},
            }
        ],
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    *(
        Case(
            name=f"C8 {name}",
            routes=[{"get": "/items", "text": text}],
            coverage="BROKEN",
            reasons=(reason,),
        )
        for name, text, reason in (
            ("dup", '{"items":[{"id":999,"name":"needle"}],"items":[]}', "json_ambiguous"),
            ("dup first", '{"items":[],"items":[{"id":999,"name":"needle"}]}', "json_ambiguous"),
            ("dup in an item", '{"items":[{"id":9,"name":"needle","name":"a"}]}', "json_ambiguous"),
            ("nan", '{"items":[],"score":NaN}', "json_ambiguous"),
            ("infinity", '{"items":[{"id":1,"name":"a","score":-Infinity}]}', "json_ambiguous"),
            ("deep", "[" * 5000 + "]" * 5000, "json_ambiguous"),
            ("deeper", "[" * 100_000, "json_ambiguous"),
            ("deep item", json.dumps({"items": [{"id": 1, "deep": NESTED}]}), "json_ambiguous"),
            ("garbage behind", '{"items":[]}{"items":[]}', "not_json"),
            ("nothing", "", "not_json"),
            ("comment", '{"items":[/* none */]}', "not_json"),
            ("single quotes", "{'items':[]}", "not_json"),
            ("half a pair", '{"items":[{"id":1,"name":"\\ud83d"}]}', "json_ambiguous"),
            ("long number", '{"items":[{"id":%s,"name":"a"}]}' % ("9" * 5000), "json_ambiguous"),
            ("exponent", '{"items":[],"n":1e99999999999999999999}', "json_ambiguous"),
            ("control character", '{"items":[{"id":1,"name":"a\nb"}]}', "not_json"),
        )
    ),
    Case(
        name="C8 a name twice behind many items",
        routes=[
            {
                "get": "/items",
                "text": '{"items":[{"id":999,"name":"needle"},'
                + ",".join(f'{{"id":{n},"name":"{"x" * 200}"}}' for n in range(1_000, 7_000))
                + '],"items":[]}',
            }
        ],
        coverage="BROKEN",
        reasons=("json_ambiguous",),
    ),
    Case(
        name="C8 UTF-16",
        routes=[{"get": "/items", "b64": b64('{"items":[]}'.encode("utf-16"))}],
        coverage="BROKEN",
        reasons=("not_json",),
    ),
    Case(
        name="C8 a byte order mark",
        routes=[{"get": "/items", "b64": "77u/eyJpdGVtcyI6W119"}],
        coverage="FULL",
        ends=("SINGLE_PAGE",),
    ),
    Case(
        name="C8 two byte order marks",
        routes=[{"get": "/items", "b64": b64(b'\xef\xbb\xbf\xef\xbb\xbf{"items":[]}')}],
        coverage="BROKEN",
        reasons=("not_json",),
    ),
    Case(
        name="C8 a number beyond floats",
        routes=[{"get": "/items", "text": '{"items":[{"id":1,"name":"a","n":1e999}]}'}],
        coverage="FULL",
    ),
    # D. Comparing text and identities
    Case(
        name="D1 a name in NFD",
        routes=[page({"items": [{"id": 999, "name": "cafe\u0301"}], "has_more": False})],
        canon={"match": {"field": "name", "op": "eq", "value": "caf\u00e9"}},
        coverage="FULL",
        found=("999",),
    ),
    Case(
        name="D2 another case",
        routes=[page({"items": [{"id": 999, "name": "STRASSE"}], "has_more": False})],
        canon={
            "caseFold": True,
            "match": {"field": "name", "op": "eq", "value": "stra\u00dfe"},
        },
        coverage="FULL",
        found=("999",),
    ),
    Case(
        name="D3 numbers beyond 2^53",
        routes=[
            {
                "get": "/items",
                "text": '{"items":[{"id":9007199254740993,"n":1.0},'
                '{"id":9007199254740992,"n":1e0}],"has_more":false}',
            }
        ],
        canon={"match": {"field": "n", "op": "eq", "value": 1}},
        coverage="FULL",
        found=("9007199254740993", "9007199254740992"),
    ),
    Case(
        name="D4 a criterion that cannot match",
        routes=[page({"items": [{"id": 999, "title": "needle"}], "has_more": False})],
        coverage="PARTIAL",
        reasons=("criterion_field_never_seen",),
    ),
    Case(
        name="D4 a filter that cannot pass",
        routes=[mvc(listing(["pin(1,needle)"])), detail(1, "needle")],
        pins=pins(filter={"chain.pathh": "/protocols/x"}),
        canon={"match": {"field": "chain.path", "op": "eq", "value": "/protocols/x"}},
        coverage="PARTIAL",
        reasons=("criterion_field_never_seen",),
    ),
    Case(
        name="D4 an item without an id",
        routes=[page({"items": [{"title": "needle"}]})],
        coverage="BROKEN",
        reasons=("item_without_id",),
    ),
    # F. Ends of real services
    Case(
        name="F a search engine's first ten",
        routes=[
            page(
                {
                    "timed_out": False,
                    "_shards": {"total": 1, "successful": 1, "failed": 0},
                    "hits": {
                        "total": {"value": 10000, "relation": "gte"},
                        "hits": "range(1,10)",
                    },
                }
            )
        ],
        array="hits.hits",
        coverage="PARTIAL",
        reasons=("source_truncated", "round_count_without_end_signal"),
    ),
    Case(
        name="F fifteen of a hundred",
        routes=[page({"data": "range(1,15)", "total": 100, "per_page": 15, "last_page": 7})],
        array="data",
        coverage="PARTIAL",
        reasons=("source_truncated", "round_count_without_end_signal"),
    ),
    Case(
        name="F last is false",
        routes=[page({"content": "range(1,12)", "totalElements": 100, "last": False})],
        array="content",
        coverage="PARTIAL",
        reasons=("source_truncated", "round_count_without_end_signal"),
    ),
    Case(
        name="F a next link in the body",
        routes=[page({"data": "range(1,7)", "links": {"next": "/items?page=2"}})],
        array="data",
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="F a next link in a list of links",
        routes=[page({"features": "range(1,7)", "links": [{"rel": "next", "href": "?t=2"}]})],
        array="features",
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="F a page far behind the end",
        routes=[page({"items": []})],
        urls=("/items?page=99",),
        coverage="PARTIAL",
        reasons=("starts_midway", "termination_not_proven"),
    ),
    Case(
        name="F an offset to begin with",
        routes=[page({"items": "range(21,27)"})],
        urls=("/items?limit=20&offset=20",),
        coverage="PARTIAL",
        reasons=("starts_midway", "termination_not_proven"),
    ),
    Case(
        name="F a link to a style sheet",
        routes=[page({"items": "range(1,100)"}) | {"headers": {"Link": "</s.css>; rel=preload"}}],
        coverage="PARTIAL",
        reasons=("round_count_without_end_signal",),
    ),
    # Links
    Case(
        name="a next page on another host",
        routes=[
            page({"items": "range(1,3)"})
            | {"headers": {"Link": '<https://other.test/items?page=2>; rel="next"'}}
        ],
        coverage="BROKEN",
        reasons=("redirected_off_source",),
        requests=1,
    ),
    Case(
        name="a next page without TLS",
        routes=[
            page({"items": "range(1,3)"})
            | {"headers": {"Link": '<http://api.example.test/items?page=2>; rel="next"'}}
        ],
        coverage="BROKEN",
        reasons=("redirected_off_source",),
        requests=1,
    ),
    Case(
        name="a Link header that cannot be read",
        routes=[page({"items": "range(1,3)"}) | {"headers": {"Link": '/items?page=2; rel="next"'}}],
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="two next pages",
        routes=[
            page({"items": "range(1,3)"})
            | {"headers": {"Link": '</items?c=b>; rel="next", </items?c=c>; rel="next"'}}
        ],
        coverage="PARTIAL",
        reasons=("source_truncated", "termination_not_proven"),
    ),
    Case(
        name="one of several relations, relative, in capitals",
        routes=[
            page({"items": [THE_NEEDLE]}, query={"c": "b"}),
            page({"items": "range(1,3)"})
            | {"headers": {"Link": '<?c=b>; title="a, b"; REL="x NEXT"'}},
        ],
        coverage="FULL",
        ends=("CURSOR_END",),
        found=("999",),
    ),
    Case(
        name="links to first and last and none to next",
        routes=[
            page({"items": "range(1,20)"})
            | {"headers": {"Link": '</items?page=1>; rel="first", </items?page=1>; rel="last"'}}
        ],
        urls=("/items?page=1",),
        coverage="FULL",
        ends=("SINGLE_PAGE",),
    ),
    Case(
        name="a last page that is a later one",
        routes=[
            page({"items": "range(1,20)"})
            | {"headers": {"Link": '</items?page=1>; rel="first", </items?page=34>; rel="last"'}}
        ],
        urls=("/items?page=1",),
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="a chain that stops before its last page",
        routes=[
            page({"items": "range(21,40)"}, query={"page": "2"})
            | {"headers": {"Link": '</items?page=1>; rel="prev", </items?page=3>; rel="last"'}},
            page({"items": "range(1,20)"}, "/items?page=2"),
        ],
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="a chain that stops at its last page",
        routes=[
            page({"items": "range(21,40)"}, query={"page": "2"})
            | {"headers": {"Link": '</items?page=1>; rel="prev", </items?page=2>; rel="last"'}},
            page({"items": "range(1,20)"}, "/items?page=2"),
        ],
        coverage="FULL",
        ends=("CURSOR_END",),
    ),
    # Series
    Case(
        name="a series of pages",
        routes=[
            page({"items": "range(1,20)"}, query={"page": "1"}),
            page({"items": [THE_NEEDLE]}, query={"page": "2"}),
            page({"items": []}),
        ],
        urls=("/items?page=1", "/items?page=2", "/items?page=3"),
        coverage="FULL",
        ends=("EXHAUSTED",),
        found=("999",),
        requests=4,
    ),
    Case(
        name="a series that grew",
        routes=[
            page({"items": "range(1,20)"}, query={"page": "1"}),
            page({"items": "range(21,40)"}, query={"page": "2"}),
            page({"items": [THE_NEEDLE]}),
        ],
        urls=("/items?page=1", "/items?page=2"),
        coverage="PARTIAL",
        reasons=("termination_not_proven",),
    ),
    Case(
        name="a series that a total alone ends",
        routes=[
            page({"total": 40, "items": "range(1,20)"}, query={"page": "1"}),
            page({"total": 40, "items": "range(21,40)"}, query={"page": "2"}),
        ],
        urls=("/items?page=1", "/items?page=2"),
        coverage="PARTIAL",
        reasons=("termination_not_proven",),
    ),
    Case(
        name="a series with a page left out",
        routes=[
            page({"items": [THE_NEEDLE]}, query={"page": "2"}),
            page({"items": "range(1,20)"}, query={"page": "1"}),
            page({"items": []}),
        ],
        urls=("/items?page=1", "/items?page=3"),
        coverage="PARTIAL",
    ),
    Case(
        name="a series whose pages are smaller than its steps",
        routes=[
            page({"items": "range(1,50)"}, query={"offset": "0"}),
            page({"items": "range(101,150)"}, query={"offset": "100"}),
            page({"items": []}),
        ],
        urls=("/items?offset=0", "/items?offset=100", "/items?offset=200"),
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="a series whose limit is smaller than its steps",
        routes=[page({"items": "range(1,33)"}, query={"offset": "0"}), page({"items": []})],
        urls=("/items?limit=33&offset=0", "/items?limit=33&offset=100"),
        coverage="PARTIAL",
        reasons=("source_truncated",),
    ),
    Case(
        name="a series that starts midway by another parameter",
        routes=[page({"items": "range(1,20)"}, query={"page": "1"}), page({"items": []})],
        urls=("/items?offset=40&page=1", "/items?offset=40&page=2"),
        coverage="PARTIAL",
        reasons=("starts_midway",),
    ),
    Case(
        name="a series with a row twice",
        routes=[
            page({"items": "range(1,20)"}, query={"page": "1"}),
            page({"items": "range(20,39)"}, query={"page": "2"}),
            page({"items": []}),
        ],
        urls=("/items?page=1", "/items?page=2", "/items?page=3"),
        coverage="PARTIAL",
        reasons=("duplicate_ids",),
    ),
    Case(
        name="a series of which a page is missing",
        routes=[
            page({"items": "range(1,20)"}, query={"page": "1"}),
            page({}, query={"page": "2"}, status=500),
            page({"items": []}),
        ],
        urls=("/items?page=1", "/items?page=2", "/items?page=3"),
        coverage="PARTIAL",
        reasons=("source_unreachable",),
    ),
    # Pins
    Case(
        name="the routes without /api",
        routes=[
            {"get": "/pin/path/list", "json": mvc(listing(["pin(1,needle)"]))["json"]},
            {"get": f"/pin/{pin_id(1)}", "json": pin_detail(1, "needle")},
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="FULL",
        found=(pin_id(1),),
        requests=3,
    ),
    Case(
        name="no routes at all",
        routes=[],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="BROKEN",
        reasons=("http_status",),
        requests=2,
    ),
    Case(
        name="more rows than asked for",
        routes=[mvc(listing(["pin(1)", "pin(2)", "pin(3)", "pin(4)"]))],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="BROKEN",
        reasons=("page_size_violation",),
    ),
    Case(
        name="a body that is no JSON",
        routes=[
            mvc(listing(["pin(1)", "pin(2,needle)"])),
            detail(1, contentBody=b64(b"no JSON")),
            detail(2, "needle"),
        ],
        pins=pins(),
        canon=DOC_NEEDLE,
        coverage="PARTIAL",
        reasons=("doc_unparsable",),
        found=(pin_id(2),),
    ),
    Case(
        name="a body that is no JSON where nobody reads it",
        routes=[mvc(listing(["pin(1)"])), detail(1, contentBody=b64(b"no JSON"))],
        pins=pins(),
        canon={"match": {"field": "chain.operation", "op": "eq", "value": "create"}},
        coverage="FULL",
        found=(pin_id(1),),
        digest=hashlib.sha256(b"no JSON").hexdigest(),
    ),
]
