"""Ends and signals (spec §5.5 R-5): every row of the table, the closed lists, and their cases."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.coverage.ends import (
    PAGING_PARAMETERS,
    ROUND_NUMBERS,
    HttpEvidence,
    MvcEvidence,
    http_ends,
    http_reasons,
    is_paged,
    lies_beyond,
    mvc_ends,
    mvc_reasons,
    starts_midway,
)
from refold.coverage.signals import Signals, read_signals, total_at
from refold.coverage.strictjson import read_page
from refold.coverage.urls import parameters_of

TRUNCATED, UNPROVEN = "source_truncated", "termination_not_proven"
ROUND, DRIFT, MIDWAY = "round_count_without_end_signal", "total_drift", "starts_midway"


def seen(
    *pages: Any, url: str = "https://a.test/items", path: str = "items", **changes: Any
) -> HttpEvidence:
    """The evidence of pages, each given as its body; row counts are those of their arrays."""
    signals = [read_signals(page, path) for page in pages]
    rows = [len(array_of(page, path)) for page in pages]
    ids = {str(row) for page in pages for row in array_of(page, path)}
    whole: dict[str, Any] = {
        "url": url,
        "pages": len(pages),
        "rows": sum(rows),
        "distinct": len(ids),
        "last_rows": rows[-1] if rows else 0,
        "has_next": False,
        "edge_links": False,
        "first": signals[0] if signals else Signals(),
        "last": signals[-1] if signals else Signals(),
        "totals": tuple(each.total for each in signals),
    }
    return HttpEvidence(**whole | changes)


def array_of(page: Any, path: str) -> list[Any]:
    for step in path.split(".") if path else []:
        page = page[step]
    assert isinstance(page, list)
    return page


def items(first: int, last: int, **members: Any) -> dict[str, Any]:
    return {**members, "items": list(range(first, last + 1))}


def outcome(evidence: HttpEvidence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return http_ends(evidence), http_reasons(evidence)


# --- HTTP_JSON


def test_exhausted_is_an_empty_page_that_was_followed_to() -> None:
    assert outcome(seen(items(1, 3), items(1, 0))) == (("EXHAUSTED", "CURSOR_END"), ())
    assert outcome(seen(items(1, 3), items(1, 0), has_next=True)) == ((), (UNPROVEN,))


def test_cursor_end_is_a_last_page_of_several() -> None:
    assert outcome(seen(items(1, 3), items(4, 6))) == (("CURSOR_END",), ())
    assert outcome(seen(items(1, 100), items(101, 200))) == (("CURSOR_END",), ())
    assert outcome(seen(items(1, 3), items(4, 6), has_next=True)) == ((), (UNPROVEN,))


def test_nothing_read_is_no_end() -> None:
    assert outcome(seen()) == ((), (UNPROVEN,))


@pytest.mark.parametrize("rows", [0, 1, 3, 11, 99, 101])
def test_one_page_without_paging_and_of_no_round_number_is_single(rows: int) -> None:
    assert outcome(seen(items(1, rows))) == (("SINGLE_PAGE",), ())
    assert outcome(seen(items(1, rows), has_next=True)) == ((), (UNPROVEN,))


@pytest.mark.parametrize("rows", sorted(ROUND_NUMBERS))
def test_a_round_number_needs_an_end_flag(rows: int) -> None:
    assert outcome(seen(items(1, rows))) == ((), (ROUND,))
    assert outcome(seen(items(1, rows, has_more=False))) == (("SINGLE_PAGE",), ())
    assert outcome(seen(items(1, rows), edge_links=True)) == (("SINGLE_PAGE",), ())
    odd = rows + 1 if rows + 1 not in ROUND_NUMBERS else rows + 2
    assert outcome(seen(items(1, odd))) == (("SINGLE_PAGE",), ())


@pytest.mark.parametrize("name", sorted(PAGING_PARAMETERS))
def test_a_page_that_was_chosen_needs_an_end_flag(name: str) -> None:
    url = f"https://a.test/items?{name.upper()}=0"
    assert is_paged(url)
    assert "SINGLE_PAGE" not in http_ends(seen(items(1, 3), url=url))
    url = f"https://a.test/items?x{name}=1"
    assert outcome(seen(items(1, 3), url=url)) == (("SINGLE_PAGE",), ())


def test_a_page_that_was_chosen_and_has_one_is_single() -> None:
    url = "https://a.test/items?page=1&per_page=7"
    assert outcome(seen(items(1, 3), url=url)) == ((), (UNPROVEN,))
    assert outcome(seen(items(1, 3, next=None), url=url)) == (("SINGLE_PAGE",), ())
    assert outcome(seen(items(1, 3), url=url, edge_links=True)) == (("SINGLE_PAGE",), ())


@pytest.mark.parametrize("name", ["limit", "per_page", "size", "count", "first", "max_results"])
@pytest.mark.parametrize("zero", ["0", "00"])
def test_who_asks_for_nothing_is_answered_nothing(name: str, zero: str) -> None:
    url = f"https://a.test/items?{name}={zero}"
    for page in (items(1, 0), items(1, 0, has_more=False), items(1, 0, total=0)):
        assert outcome(seen(page, url=url)) == ((), (UNPROVEN,))


def test_count_matched_needs_the_same_total_first_and_last_and_as_many_distinct_ids() -> None:
    url = "https://a.test/items?per_page=4"
    assert outcome(seen(items(1, 3, total=3), url=url)) == (("COUNT_MATCHED",), ())
    assert outcome(seen(items(1, 3, total=4), url=url)) == ((), (TRUNCATED, UNPROVEN))
    assert outcome(seen(items(1, 3, total=2), url=url)) == ((), (DRIFT, UNPROVEN))
    ends, reasons = outcome(seen(items(1, 2, total=3), {"items": [3], "total": 3}))
    assert (ends, reasons) == (("CURSOR_END", "COUNT_MATCHED"), ())
    ends, reasons = outcome(seen(items(1, 2, total=3), {"items": [3]}))
    assert (ends, reasons) == (("CURSOR_END",), ())


@pytest.mark.parametrize(
    ("marked", "counts"),
    [
        (("t=3", "t=3"), True),
        (("t=3", "t=4"), False),
        (("t=4", "t=4"), False),
        (("", "t=3"), False),
        (("t=3", ""), False),
    ],
)
def test_count_matched_reads_the_declared_total(marked: tuple[str, str], counts: bool) -> None:
    url = "https://a.test/items?per_page=3"
    assert ("COUNT_MATCHED" in http_ends(seen(items(1, 3), url=url, marked=marked))) is counts


def test_a_declared_total_is_a_total_of_the_source() -> None:
    pages = (items(1, 3), items(4, 6))
    assert outcome(seen(*pages, marked=("t=6", "t=6"))) == (("CURSOR_END", "COUNT_MATCHED"), ())
    for marked, reasons in (
        (("t=9", "t=9"), (TRUNCATED,)),
        (("t=6", "t=7"), (TRUNCATED, DRIFT)),
        (("t=5", "t=5"), (DRIFT,)),
        (("t=9", ""), (TRUNCATED,)),
        (("t=6", ""), ()),
    ):
        assert outcome(seen(*pages, marked=marked)) == (("CURSOR_END",), reasons)


def test_what_the_first_page_alone_states_counts() -> None:
    pages = (items(1, 3, total=9), items(4, 6), items(7, 9))
    assert outcome(seen(*pages)) == (("CURSOR_END",), ())
    assert outcome(seen(*pages[:2])) == (("CURSOR_END",), (TRUNCATED,))
    assert outcome(seen(items(1, 3, last_page=3), items(4, 6)))[1] == (TRUNCATED,)
    assert outcome(seen(items(1, 3, last_page=2), items(4, 6)))[1] == ()


def test_b3_a_total_that_counts_the_page_is_no_total() -> None:
    for size in (7, 100):
        url = f"https://a.test/items?per_page={size}"
        assert ROUND in http_reasons(seen(items(1, size, total=size), url=url))
        assert http_reasons(seen(items(1, size, total=size, has_more=False), url=url)) == ()
        assert http_reasons(seen(items(1, size - 1, total=size - 1), url=url)) == ()


def test_a_series_ends_with_an_empty_page() -> None:
    url = "https://a.test/items?page=1&per_page=100"
    pages = [items(1, 100), items(101, 200), items(1, 0)]
    assert outcome(seen(*pages, url=url, series=True)) == (("EXHAUSTED",), ())
    assert outcome(seen(*pages[:2], url=url, series=True)) == ((), (UNPROVEN,))
    counted = [{**each, "total": 200} for each in pages]
    assert outcome(seen(*counted, url=url, series=True)) == (("EXHAUSTED", "COUNT_MATCHED"), ())
    assert outcome(seen(*counted[:2], url=url, series=True)) == ((), (UNPROVEN,))
    assert outcome(seen(*pages, url="https://a.test/items?offset=0", series=True))[1] == ()


# --- the cases of the cases page that ends decide


@pytest.mark.parametrize(
    ("pages", "url", "path", "reason"),
    [
        # A1
        (
            [items(1, 100, total_count=250), items(101, 200, total_count=250)],
            "/items",
            "items",
            TRUNCATED,
        ),
        # A2
        ([items(1, 0, total_count=0, incomplete_results=True)], "/items", "items", TRUNCATED),
        # A3
        (
            [
                {
                    "timed_out": False,
                    "_shards": {"total": 64, "successful": 27, "failed": 0},
                    "hits": {"total": 0, "hits": []},
                }
            ],
            "/_search",
            "hits.hits",
            TRUNCATED,
        ),
        # A6
        ([items(1, 100)], "/items?per_page=500", "items", ROUND),
        # B1
        ([items(1, 3, total=6), items(5, 6, total=5)], "/items?page=1", "items", DRIFT),
        # B3
        ([items(1, 2, total=3), {"total": 1, "items": [3]}], "/items", "items", DRIFT),
        # C2
        ([items(1, 0, errors=[{"type": "RATE_LIMITED"}])], "/items", "items", TRUNCATED),
        # F
        (
            [
                {
                    "took": 1,
                    "timed_out": False,
                    "hits": {"total": {"value": 10000, "relation": "gte"}, "hits": list(range(10))},
                }
            ],
            "/_search",
            "hits.hits",
            TRUNCATED,
        ),
        (
            [{"data": list(range(15)), "total": 100, "per_page": 15, "last_page": 7}],
            "/x",
            "data",
            TRUNCATED,
        ),
        (
            [{"content": list(range(12)), "totalElements": 100, "last": False}],
            "/x",
            "content",
            TRUNCATED,
        ),
        ([{"data": [1], "links": {"next": "https://a.test/x?page=2"}}], "/x", "data", TRUNCATED),
        ([items(1, 0)], "/items?page=99", "items", MIDWAY),
        ([items(1, 3)], "/items?limit=20&offset=20", "items", MIDWAY),
        ([items(1, 100)], "/items", "items", ROUND),
    ],
)
def test_what_looks_complete_and_is_not(pages: list[Any], url: str, path: str, reason: str) -> None:
    evidence = seen(*pages, url=f"https://a.test{url}", path=path)
    assert reason in http_reasons(evidence)


def test_a4_an_empty_page_in_the_middle_is_no_end() -> None:
    assert http_ends(seen(items(1, 3), items(1, 0), has_next=True)) == ()
    assert outcome(seen(items(1, 3), items(1, 0), items(999, 999))) == (("CURSOR_END",), ())


def test_b2_rows_that_came_twice_match_no_total() -> None:
    pages = [{"total": 4, "items": [1, 2]}, {"total": 4, "items": [2, 3]}]
    ends, reasons = outcome(seen(*pages))
    assert "COUNT_MATCHED" not in ends
    assert reasons == (TRUNCATED,)


# --- signals


MORE = [
    *("incomplete_results", "truncated", "is_truncated", "isTruncated", "partial", "timed_out"),
    *("has_more", "hasMore", "more", "hasNextPage"),
]
CURSORS = [
    *("next", "next_url", "nextPage", "nextCursor", "next_cursor", "next_page_token"),
    *("nextPageToken", "LastEvaluatedKey", "@odata.nextLink"),
]
ASIDES = ["links", "_links", "meta", "page", "paging", "pagination", "pageInfo", "total"]


@pytest.mark.parametrize("name", MORE)
def test_more_signals_that_are_true(name: str) -> None:
    for value in (True, 1, "yes"):
        assert read_signals({"items": [], name: value}, "items").more == (name,)
    for unset in (False, 0, "", None):
        assert read_signals({"items": [], name: unset}, "items").more == ()


@pytest.mark.parametrize("name", CURSORS)
def test_cursors_that_lead_on_and_cursors_that_end(name: str) -> None:
    for value in ("x", {"href": "y"}, 2, ["z"], True):
        told = read_signals({"items": [], name: value}, "items")
        assert (told.more, told.end) == ((name,), ())
    empty: list[Any] = [None, "", {}, []]
    for ended in empty:
        told = read_signals({"items": [], name: ended}, "items")
        assert (told.more, told.end) == ((), (name,))
    for neither in (False, 0):
        told = read_signals({"items": [], name: neither}, "items")
        assert (told.more, told.end) == ((), ())


@pytest.mark.parametrize(
    "name",
    ["has_more", "hasMore", "more", "truncated", "is_truncated", "isTruncated", "hasNextPage"],
)
def test_end_flags_that_are_false(name: str) -> None:
    assert read_signals({"items": [], name: False}, "items").end == (name,)
    for value in (None, 0, "", True):
        assert read_signals({"items": [], name: value}, "items").end == ()


@pytest.mark.parametrize("name", ["timed_out", "partial", "incomplete_results"])
def test_some_flags_end_nothing(name: str) -> None:
    assert read_signals({"items": [], name: False}, "items").end == ()


def test_last_is_both() -> None:
    assert read_signals({"last": False}, "items").more == ("last",)
    assert read_signals({"last": True}, "items").end == ("last",)
    assert read_signals({"last": "https://a.test/?page=7"}, "items") == Signals()


@pytest.mark.parametrize(
    ("shards", "more"),
    [
        ({"total": 5, "successful": 5, "failed": 0}, ()),
        ({"total": 5, "successful": 4, "failed": 0}, ("_shards.successful",)),
        ({"total": 5, "successful": 4, "failed": 1}, ("_shards.failed", "_shards.successful")),
        ({"failed": 1}, ("_shards.failed",)),
        ({}, ()),
        ([1], ()),
    ],
)
def test_shards(shards: Any, more: tuple[str, ...]) -> None:
    assert read_signals({"_shards": shards}, "items").more == more


@pytest.mark.parametrize(("errors", "more"), [([1], ("errors",)), ([], ()), (None, ()), ("x", ())])
def test_errors_beside_data(errors: Any, more: tuple[str, ...]) -> None:
    assert read_signals({"errors": errors, "items": []}, "items").more == more


@pytest.mark.parametrize("aside", ASIDES)
@pytest.mark.parametrize("path", ["items", "a.items", "a.b.items"])
def test_signals_are_read_on_the_way_and_beside_it(aside: str, path: str) -> None:
    steps = path.split(".")[:-1]
    for depth in range(len(steps) + 1):
        page: Any = {"items": []}
        for step in reversed(steps):
            page = {step: page}
        place = page
        for step in steps[:depth]:
            place = place[step]
        place[aside] = {"has_more": True}
        told = read_signals(page, path).more
        assert told == (".".join([*steps[:depth], aside, "has_more"]),)


@pytest.mark.parametrize("aside", ["links", "_links"])
def test_a_list_of_links_with_a_next_one_is_a_more_signal(aside: str) -> None:
    def more(*links: Any) -> tuple[str, ...]:
        return read_signals({aside: list(links), "items": []}, "items").more

    for relation in ("next", "NEXT", "x next", ["next"]):
        assert more({"rel": "self"}, {"rel": relation, "href": "?t=2"}) == (f"{aside}.next",)
    assert more() == more({"rel": "prev"}, {"rel": "nextish"}, {"href": "next"}, "next", None) == ()


def test_signals_elsewhere_are_not_the_lists_own() -> None:
    page = {"other": {"has_more": True}, "items": [{"has_more": True, "next": "x", "total": 9}]}
    assert read_signals(page, "items") == Signals()
    assert read_signals({"links": {"links": {"next": "x"}}}, "items") == Signals()


TOTALS = [
    *("total_count", "totalCount", "total", "total_results", "totalResults", "totalItems"),
    *("totalElements", "count", "numFound"),
]


@pytest.mark.parametrize("name", TOTALS)
def test_totals(name: str) -> None:
    told = read_signals({"items": [], name: 39}, "items")
    assert (told.total, told.totals) == (39, (f"{name}=39",))
    assert read_signals({"items": [], name: Decimal("39.0")}, "items").total == 39
    for value in (-1, True, "39", None, Decimal("0.5"), [39]):
        assert read_signals({"items": [], name: value}, "items").total is None
    for huge in (2**70, Decimal("1e999999"), Decimal("1e999999999999999999")):
        assert read_signals({"items": [], name: huge}, "items").total == 2**53
    assert read_signals({"items": [], name: Decimal("1e-999999")}, "items").total is None


def test_totals_with_a_dot_are_paths_and_the_largest_counts() -> None:
    page = {"total": {"value": 7, "relation": "eq"}, "hits": {"total": 9, "hits": []}, "count": 3}
    told = read_signals(page, "hits.hits")
    assert told.total == 9
    assert told.totals == ("count=3", "hits.total=9", "total.value=7")
    assert told.more == ()
    page = {"hits": {"total": {"value": 7, "relation": "gte"}, "hits": []}}
    told = read_signals(page, "hits.hits")
    assert (told.total, told.more) == (7, ("hits.total.relation",))


def test_pages_counted_by_the_source() -> None:
    for name in ("last_page", "totalPages"):
        told = read_signals({"meta": {name: 3}, "items": []}, "items")
        assert told.last_page == 3
        pages = [items(1, 3, **{name: 3}), items(4, 6, **{name: 3})]
        assert http_reasons(seen(*pages)) == (TRUNCATED,)
        assert http_reasons(seen(*pages, items(7, 7, **{name: 3}))) == ()


def test_total_at_a_declared_path() -> None:
    page = read_page(b'{"meta":{"n":39,"x":"39","d":39.0,"h":1e99},"items":[]}')
    assert total_at(page, "meta.n") == "meta.n=39"
    assert total_at(page, "meta.d") == "meta.d=39"
    assert total_at(page, "meta.h") == f"meta.h={2**53}"
    for missing in ("meta.x", "meta", "n", "items", "meta.n.x"):
        assert total_at(page, missing) == ""


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [*MORE, *CURSORS, *ASIDES, *TOTALS, "hits", "value", "relation", "_shards"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["", "hits", "hits.hits", "total", "total.total", "meta.page.x"]))
def test_any_page_has_signals(page: Any, path: str) -> None:
    told = read_signals(page, path)
    assert not set(told.more) & set(told.end)
    assert all(total.rpartition("=")[2].isdigit() for total in told.totals)


# --- URLs


@pytest.mark.parametrize(
    ("query", "midway"),
    [
        ("", False),
        ("page=0", False),
        ("page=1", False),
        ("page=2", True),
        ("PAGE=2", True),
        ("page=01", False),
        ("page=", False),
        ("page=x", True),
        ("page=-1", True),
        ("page=٢", True),
        ("page=" + "9" * 300, True),
        ("offset=0", False),
        ("offset=1", True),
        ("start=20", True),
        ("skip=1", True),
        ("limit=20", False),
        ("per_page=100&page=3", True),
        ("cursor=", False),
        ("cursor=abc", True),
        ("after=1", True),
        ("before=1", True),
        ("page_token=x", True),
        ("pageToken=x", True),
        ("p%61ge=2", True),
        ("a=1;page=2", True),
        ("q=page", False),
    ],
)
def test_a_start_url_that_begins_after_the_first_row(query: str, midway: bool) -> None:
    assert starts_midway(f"https://a.test/items?{query}") is midway


@pytest.mark.parametrize(
    ("url", "other", "beyond"),
    [
        ("/x?page=3", "/x?page=2", True),
        ("/x?page=2", "/x?page=2", False),
        ("/x?page=1", "/x", False),
        ("/x?Page=2", "/x", True),
        ("/x?page=2&per_page=5", "/x?per_page=5&page=3", False),
        ("/x?offset=40", "/x?offset=20", True),
        ("/x?offset=0", "/x", False),
        ("/x?cursor=zz", "/x?cursor=aa", False),
        ("/x?page=last", "/x?page=1", False),
        ("/x?page=9", "/x?page=abc", False),
        ("/x?page=" + "9" * 5000, "/x?page=1", False),
    ],
)
def test_a_later_page_by_its_number(url: str, other: str, *, beyond: bool) -> None:
    assert lies_beyond(url, f"https://a.test{other}") is beyond


def test_parameters_are_decoded() -> None:
    url = "https://a.test/x?a=1&B=%C3%A9+c&&d;e=f=g#h=1"
    assert parameters_of(url) == (("a", "1"), ("b", "é c"), ("d", ""), ("e", "f=g"))
    assert parameters_of("https://a.test/x") == ()
    assert parameters_of("https://a.test/?%zz=%ff") == (("%zz", "\ufffd"),)


# --- MVC_PINS


@pytest.mark.parametrize(
    ("pages", "rows", "cursor", "end"),
    [
        (0, 0, "", None),
        (1, 0, "", "EXHAUSTED"),
        (3, 0, "", "EXHAUSTED"),
        (1, 5, "", "CURSOR_END"),
        (1, 99, "k", None),
        (2, 0, "k", None),
    ],
)
def test_pins_end_where_the_cursor_does(
    pages: int, rows: int, cursor: str, end: str | None
) -> None:
    evidence = MvcEvidence(pages=pages, last_rows=rows, next_cursor=cursor)
    assert mvc_ends(evidence) == ((end,) if end else ())
    assert mvc_reasons(evidence) == (() if end else (UNPROVEN,))
