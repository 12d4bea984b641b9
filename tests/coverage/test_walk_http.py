"""Walks over HTTP_JSON as steps: what they ask, when they stop, and what they have seen."""

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.sources import ORIGIN, Scripted, answer, items, needle, pages, source, to
from refold.coverage.hashes import set_hash
from refold.coverage.match import compile_criterion
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.coverage.walk.drive import walk_corpus, walk_source


def test_a_walk_says_all_that_it_saw() -> None:
    first = {"total": 3, "items": items(1, 2)}
    last = {"total": 3, "items": [{"id": 7, "name": "needle"}]}
    transport = pages({"/items": (first, to("?c=b")), "/items?c=b": (last, {})})
    walked = walk_source(source(total="total"), needle(), transport)
    seen = walked.traversal
    assert transport.urls == ["/items", "/items?c=b", "/items"]
    assert (seen.unit, seen.pages, seen.rows, seen.distinct) == ("u", 2, 3, 3)
    assert seen.ends == ("CURSOR_END", "COUNT_MATCHED")
    assert seen.reasons == ()
    assert [(found.id, found.digest) for found in seen.matches] == [("7", None)]
    assert seen.set_hash == set_hash(["1", "2", "7"])
    assert (seen.last_id, seen.cursor, seen.totals) == ("7", "link:next=", ("total=3",))
    assert (seen.requests, seen.first_at, seen.last_at) == (
        3,
        "2030-01-01T00:00:01Z",
        "2030-01-01T00:00:03Z",
    )
    assert [(proof.url, proof.rows, proof.role) for proof in walked.proofs] == [
        (f"{ORIGIN}/items", 2, "page"),
        (f"{ORIGIN}/items?c=b", 1, "page"),
        (f"{ORIGIN}/items", 2, "again"),
    ]
    assert not seen.ids_only


def test_a_total_that_only_the_record_names_is_a_total() -> None:
    def seen(first: int, last: int) -> tuple[str, ...]:
        whole = {"stats": {"n": first}, "items": items(1, 2)}
        end = {"stats": {"n": last}, "items": items(3)}
        transport = pages({"/items": (whole, to("?c=b")), "/items?c=b": (end, {})})
        return walk_source(source(total="stats.n"), needle(), transport).traversal.reasons

    assert seen(3, 3) == ()
    assert seen(9, 9) == ("source_truncated",)
    assert seen(3, 1) == ("total_drift",)


def test_a_page_alone_is_not_read_again() -> None:
    transport = pages({"/items": ({"items": items(1, 2, 3)}, {})})
    seen = walk_source(source(), needle(), transport).traversal
    assert seen.ends == ("SINGLE_PAGE",)
    assert transport.urls == ["/items"]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"full_name": "a/b", "pinId": "p", "id": 1}, "a/b"),
        ({"pinId": "p", "id": 1}, "p"),
        ({"id": 1, "name": "n"}, "1"),
        ({"id": 0, "name": "n"}, "0"),
        ({"id": "x"}, "x"),
        ({"id": None, "name": "n"}, "n"),
        ({"id": True, "name": "n"}, "n"),
        ({"id": "", "name": "n"}, "n"),
        ({"id": {"$oid": "x"}, "key": "k"}, "k"),
        ({"path": "p", "key": "k"}, "p"),
        ("bare", "bare"),
    ],
)
def test_what_names_an_item(item: Any, name: str) -> None:
    transport = pages({"/items": ({"items": [item]}, {})})
    seen = walk_source(source(), compile_criterion(EXISTS), transport).traversal
    assert (seen.last_id, seen.reasons) == (name, ())


EXISTS = {"match": {"field": "", "op": "exists", "value": True}}


@pytest.mark.parametrize("item", [{}, {"title": "n"}, {"id": 1.5}, "", 5, None, [], ["a"], True])
def test_an_item_without_a_name_breaks_the_walk(item: Any) -> None:
    transport = pages({"/items": ({"items": [item]}, {})})
    seen = walk_source(source(), compile_criterion(EXISTS), transport).traversal
    assert seen.reasons == ("item_without_id",)
    assert seen.ends == ()


def test_a_criterion_on_what_names_all_items_reads_ids_only() -> None:
    by_id = compile_criterion({"match": {"field": "id", "op": "eq", "value": 1}})
    alike = pages({"/items": ({"items": items(1, 2)}, {})})
    assert walk_source(source(), by_id, alike).traversal.ids_only
    mixed = pages({"/items": ({"items": [*items(1), {"full_name": "a", "id": 2}]}, {})})
    assert not walk_source(source(), by_id, mixed).traversal.ids_only


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("connect-failed", "source_unreachable"),
        ("body-short", "source_unreachable"),
        ("framing-invalid", "source_unreachable"),
        ("encoding-invalid", "source_unreachable"),
        ("source-unavailable", "source_unreachable"),
        ("a code of tomorrow", "source_unreachable"),
        ("too-slow", "budget_exhausted"),
        ("body-too-large", "budget_exhausted"),
        ("head-too-large", "budget_exhausted"),
        ("redirected-off-source", "redirected_off_source"),
        ("address-forbidden", "address_refused"),
        ("scheme-forbidden", "address_refused"),
        ("encoding-refused", "not_json"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_failed_page_is_never_an_end(failure: str, reason: str, place: int) -> None:
    def reply(ask: Ask) -> Answer | Failure:
        if len(transport.asks) > place:
            return Failure(ask.url, failure, "no")
        return answer(ask.url, {"items": items(1)}, headers=to("?c=b"))

    transport = Scripted(reply)
    walked = walk_source(source(), needle(), transport)
    assert walked.traversal.ends == ()
    assert walked.traversal.reasons == (reason,)
    assert walked.traversal.pages == place
    assert len(transport.asks) == place + 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, "source_unreachable") for status in (429, 500, 501, 503, 599)),
        *((status, "http_status") for status in (201, 204, 206, 304, 400, 401, 403, 404, 410, 422)),
    ],
)
def test_a_status_that_is_no_success(status: int, reason: str) -> None:
    transport = Scripted(lambda ask: answer(ask.url, {"items": []}, status))
    assert walk_source(source(), needle(), transport).traversal.reasons == (reason,)


@pytest.mark.parametrize(
    ("again", "reason"),
    [
        (Failure("", "connection-lost", "no"), "source_unreachable"),
        (Failure("", "too-slow", "no"), "budget_exhausted"),
        (Failure("", "redirected-off-source", "no"), "moved_during_traversal"),
        (answer(f"{ORIGIN}/items", {}, 404), "moved_during_traversal"),
        (answer(f"{ORIGIN}/items", {}, 503), "source_unreachable"),
    ],
)
def test_a_first_page_that_cannot_be_read_again(again: Answer | Failure, reason: str) -> None:
    def reply(ask: Ask) -> Answer | Failure:
        if len(transport.asks) == 3:
            return again
        last = ask.url.endswith("c=b")
        return answer(
            ask.url, {"items": items(2 if last else 1)}, headers={} if last else to("?c=b")
        )

    transport = Scripted(reply)
    seen = walk_source(source(), needle(), transport).traversal
    assert seen.reasons == (reason,)
    assert seen.ends == ("CURSOR_END",)


@pytest.mark.parametrize(
    "again",
    [
        {"items": items(2, 1)},
        {"items": items(1)},
        {"items": items(1, 2, 3)},
        {"items": items(1, 3)},
        {"items": items(1, 2), "total": 3},
        {"rows": []},
        b"no JSON",
    ],
)
def test_a_first_page_that_is_another_one(again: Any) -> None:
    def reply(ask: Ask) -> Answer | Failure:
        if len(transport.asks) == 3:
            return answer(ask.url, again, headers=to("?c=b"))
        last = ask.url.endswith("c=b")
        numbers = items(5) if last else items(1, 2)
        return answer(ask.url, {"items": numbers}, headers={} if last else to("?c=b"))

    transport = Scripted(reply)
    seen = walk_source(source(), needle(), transport).traversal
    assert seen.reasons == ("moved_during_traversal",)


def test_an_answer_from_another_origin_is_not_believed() -> None:
    transport = Scripted(lambda _ask: answer("https://other.test/items", {"items": []}))
    seen = walk_source(source(), needle(), transport).traversal
    assert seen.reasons == ("redirected_off_source",)


def test_relative_links_are_of_the_page_that_answered() -> None:
    def reply(ask: Ask) -> Answer | Failure:
        last = "c=b" in ask.url
        url = ask.url if last else f"{ORIGIN}/v2/items"
        return answer(url, {"items": items(2 if last else 1)}, headers={} if last else to("?c=b"))

    transport = Scripted(reply)
    assert walk_source(source(), needle(), transport).traversal.ends == ("CURSOR_END",)
    assert transport.urls == ["/items", "/v2/items?c=b", "/items"]


def test_a_url_that_cannot_be_fetched_is_not_asked() -> None:
    transport = pages({})
    seen = walk_source(source("/a b"), needle(), transport).traversal
    assert seen.reasons == ("address_refused",)
    assert transport.asks == []


NUMBERS = st.lists(st.lists(st.integers(0, 30), max_size=5), min_size=1, max_size=5)


@settings(deadline=None)
@given(NUMBERS, st.booleans())
def test_a_chain_of_pages_is_read_whole_or_its_fault_is_named(
    chain: list[list[int]], has_total: bool
) -> None:
    """Whatever stands on the pages: full coverage means each row was there once."""
    rows = [number for page in chain for number in page]
    total = {"total": len(set(rows))} if has_total else {}
    by_target = {
        "/items" + (f"?c={n}" if n else ""): (
            {"items": items(*page)} | total,
            to(f"/items?c={n + 1}") if n + 1 < len(chain) else {},
        )
        for n, page in enumerate(chain)
    }
    transport = pages(by_target)
    everything = compile_criterion({"match": {"field": "name", "op": "prefix", "value": "item"}})
    seen = walk_source(source(), everything, transport).traversal
    if not seen.reasons and seen.ends:
        assert len(rows) == len(set(rows)) == seen.rows
        assert [found.id for found in seen.matches] == list(map(str, rows))
        assert seen.set_hash == set_hash(map(str, rows))
    else:
        assert seen.reasons
    if len(rows) > len(set(rows)):
        assert set(seen.reasons) & {"duplicate_ids", "page_loop"}


@settings(deadline=None)
@given(NUMBERS, st.sampled_from(["page", "offset"]))
def test_a_series_is_full_only_when_it_was_read_whole(chain: list[list[int]], name: str) -> None:
    chain = [*chain, []]
    units = [source(f"/items?{name}={n}", name=f"u{n}") for n in range(len(chain))]
    transport = pages(
        {f"/items?{name}={n}": ({"items": items(*page)}, {}) for n, page in enumerate(chain)}
    )
    walked = list(walk_corpus(units, needle(), transport))
    rows = [number for page in chain for number in page]
    assert [unit.traversal.rows for unit in walked] == list(map(len, chain))
    assert len({(unit.traversal.ends, unit.traversal.reasons) for unit in walked}) == 1
    if not walked[0].traversal.reasons and walked[0].traversal.ends:
        assert len(rows) == len(set(rows))
        targets = [f"/items?{name}={n}" for n in range(len(chain))]
        assert transport.urls == [*targets, targets[0]]


def dated(seconds: float, held_back: float, *, age: bool) -> tuple[str, ...]:
    """Walk three pages, `seconds` apart, the second of which a cache kept; give the reasons."""
    following = {"/items": to("?c=b"), "/items?c=b": to("?c=c"), "/items?c=c": {}}

    def reply(ask: Ask) -> Answer | Failure:
        target = ask.url.removeprefix(ORIGIN)
        kept = held_back if target == "/items?c=b" else 0.0
        made = 1_900_000_000 + transport.now - (0.0 if age else kept)
        headers = following[target] | {"Date": formatdate(made, usegmt=True)}
        headers |= {"Age": str(int(kept))} if age and kept else {}
        return answer(ask.url, {"items": items(ord(target[-1]))}, headers=headers)

    transport = Scripted(reply, seconds)
    return walk_source(source(), needle(), transport).traversal.reasons


@pytest.mark.parametrize("age", [True, False])
@given(seconds=st.integers(0, 140), held_back=st.integers(0, 500))
def test_a_page_that_was_kept_back_is_seen_and_a_long_walk_is_none(
    seconds: int, held_back: int, age: bool
) -> None:
    reasons = dated(seconds, held_back, age=age)
    assert reasons == (("moved_during_traversal",) if held_back > 60 else ())
