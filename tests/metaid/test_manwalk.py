"""Walks: where they end, what they give, and that the report says what is missing."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import (
    BASE,
    HTML,
    NO_PIN,
    NO_ROUTE,
    PATH,
    Answer,
    Indexer,
    client,
    cut,
    one,
    page,
    pin_id,
    row,
    transport_of,
    whole,
)
from refold.kernel.errors import SourceError
from refold.metaid.man.report import (
    ANOMALIES,
    END_REASONS,
    MAX_BARREN_PAGES,
    Anomaly,
    WalkReport,
)
from refold.metaid.man.walk import Limits, Walk, WalkedPage
from refold.metaid.pin import Pin

ROWS = [row(n, 1_000 - n) for n in range(10)]
LIST = "/api/pin/path/list"


def walk(indexer: Any, **options: Any) -> tuple[dict[str, Pin], WalkReport]:
    """Walk a scripted indexer to its end; give the pins as a caller has them, and the report."""
    options.setdefault("size", 4)
    options.setdefault("heights", False)
    going = Walk(client(indexer), PATH, **options)
    pins = {pin.id: pin for walked in going for pin in walked.pins}
    return pins, going.report()


def kinds(report: WalkReport) -> dict[str, int]:
    return {anomaly.kind: anomaly.count for anomaly in report.anomalies}


def lists_of(indexer_walk: Walk) -> int:
    return len(transport_of(indexer_walk._man).asked_for("path/list"))


# --- ends --------------------------------------------------------------------------------------


def test_a_walk_ends_at_the_empty_page_and_says_what_it_got() -> None:
    pins, report = walk(Indexer([*cut(ROWS, 4)]))
    assert list(pins) == [r["id"] for r in ROWS]
    assert report.is_complete
    assert report == WalkReport(
        base=BASE,
        path=PATH,
        generation="v2",
        size=4,
        end=report.end,
        pages=5,  # three with rows, and the empty one, twice
        rows=10,
        pins=10,
        confirmed=10,
        mempool=0,
        held=0,
        requests=5,
        bytes=report.bytes,
        heights=(None, None),
        first_total=None,
        last_total=None,
        missing=(),
        broken=(),
        doubtful=(),
        anomalies=(),
    )
    assert (report.end.reason, report.end.cursor, report.end.code) == ("exhausted", "", "")
    assert report.bytes > 1_000


def test_a_tidy_list_ends_without_a_cursor() -> None:
    pins, report = walk(Indexer([*cut(ROWS, 4)], last_has_cursor=False))
    assert (len(pins), report.end.reason, report.pages) == (10, "cursor-end", 4)
    assert report.is_complete


@pytest.mark.parametrize("rows", [None, []])
def test_an_empty_list(rows: list[Any] | None) -> None:
    pins, report = walk(lambda _path, _query: page(rows, total=0))
    assert (pins, report.pages, report.rows, report.end.reason) == ({}, 2, 0, "exhausted")
    assert report.is_complete


def test_short_and_empty_pages_are_no_end() -> None:
    """Records that cannot be loaded leave gaps, of whole pages if need be (facts §3.4)."""
    pins, report = walk(Indexer([ROWS[:4], ROWS[4:5], None, [], ROWS[5:7], ROWS[7:]]))
    assert len(pins) == 10
    assert report.is_complete
    assert kinds(report) == {"short-page": 1, "empty-page": 2}


@pytest.mark.parametrize("fault", ["empty", "no-cursor", "old-cursor"])
def test_what_looks_like_the_end_is_asked_for_again(fault: str) -> None:
    """An indexer that restarts answers with success and nothing (pitfalls 27, 32)."""
    indexer = Indexer([*cut(ROWS, 4)])
    faults = {
        "empty": page(None),
        "no-cursor": page(ROWS[4:8]),
        "old-cursor": page(ROWS[4:8], indexer.list("")["data"]["nextCursor"]),
    }
    pending = [faults[fault]]

    def once(_path: str, query: Mapping[str, str]) -> Answer | None:
        return pending.pop() if query.get("cursor", "").startswith("1&") and pending else None

    indexer.override = once
    pins, report = walk(indexer)
    assert len(pins) == 10
    assert report.is_complete
    assert kinds(report)["false-end"] == 1


@pytest.mark.parametrize(("back_to", "pages"), [("0", 5), ("first", 4), ("itself", 4)])
def test_a_circle_of_cursors_is_left(back_to: str, pages: int) -> None:
    """The cursor `0` asks for the first page, and shows itself as a circle one page later."""
    indexer = Indexer([*cut(ROWS, 4)])
    first, itself = (indexer.list(f"{n}&")["data"]["nextCursor"] for n in range(2))
    cursor = {"0": "0", "first": first, "itself": itself}[back_to]
    indexer.override = lambda _path, query: (
        page(ROWS[8:], cursor) if query.get("cursor", "").startswith("2&") else None
    )
    pins, report = walk(indexer)
    assert len(pins) == 10
    assert (report.end.reason, report.pages) == ("cursor-loop", pages)
    assert not report.is_complete


def test_a_list_that_leads_nowhere_is_left() -> None:
    """Ever new cursors, ever the same rows."""
    count = 0

    def script(_path: str, _query: Mapping[str, str]) -> Answer:
        nonlocal count
        count += 1
        return page(ROWS[:4], f"cursor {count}")

    pins, report = walk(script)
    assert (len(pins), report.end.reason) == (4, "barren")
    assert report.pages == MAX_BARREN_PAGES + 1
    assert report.end.cursor == f"cursor {count}"
    assert not report.is_complete


def test_an_older_server_that_ignores_the_page_number_is_left() -> None:
    old = "/api/getAllPinByPath"
    _, report = walk(lambda path, _query: page(ROWS[:4]) if path == old else NO_ROUTE)
    assert (report.end.reason, report.pages) == ("barren", MAX_BARREN_PAGES + 1)


def test_empty_pages_without_end_lead_nowhere_too() -> None:
    count = iter(range(10**6))
    _, report = walk(lambda _path, _query: page(None, f"cursor {next(count)}"))
    assert (report.end.reason, report.pages) == ("barren", MAX_BARREN_PAGES)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(pages=2), "page-limit"),
        (Limits(requests=2), "request-limit"),
        (Limits(bytes=1_800), "byte-limit"),
    ],
)
def test_limits_end_a_walk_and_say_where_to_go_on(limits: Limits, reason: str) -> None:
    indexer = Indexer([*cut(ROWS, 4)])
    pins, report = walk(indexer, limits=limits)
    assert (report.end.reason, report.pages) == (reason, 2)
    assert not report.is_complete
    rest, report = walk(indexer, cursor=report.end.cursor)
    assert {**pins, **rest}.keys() == {r["id"] for r in ROWS}
    assert report.end.reason == "exhausted"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((500, HTML), "man-status"),
        ((200, HTML), "man-unreadable"),
        (NO_PIN, "man-error"),
        (NO_ROUTE, "man-no-route"),
        (SourceError("tls-failed", "no"), "tls-failed"),
    ],
)
def test_a_page_that_fails_is_no_end_of_data(answer: Answer, code: str) -> None:
    indexer = Indexer([*cut(ROWS, 4)])
    indexer.override = lambda path, query: (
        answer if query.get("cursor", "").startswith("1&") or path == "/pin/path/list" else None
    )
    pins, report = walk(indexer)
    assert (len(pins), report.end.reason, report.end.code) == (4, "failed", code)
    assert report.end.message
    assert not report.is_complete
    indexer.override = lambda _path, _query: None
    rest, _ = walk(indexer, cursor=report.end.cursor)
    assert len(pins | rest) == 10


def test_the_caller_may_stop() -> None:
    man = client(Indexer([*cut(ROWS, 4)]))
    going = Walk(man, PATH, size=4)
    for number, walked in enumerate(going):
        assert walked.number == number + 1
        if number == 1:
            going.stop()
    report = going.report()
    assert (report.end.reason, report.pages, report.pins) == ("stopped", 2, 8)
    assert report.end.cursor.startswith("2&")
    assert lists_of(going) == 2
    assert not report.is_complete


def test_a_walk_that_was_left_reads_as_stopped() -> None:
    going = Walk(client(Indexer([*cut(ROWS, 4)])), PATH, size=4)
    assert going.report().end.reason == "stopped"
    assert next(iter(going)).number == 1
    report = going.report()
    assert (report.end.reason, report.pins) == ("stopped", 4)
    assert going.end is None


# --- bodies ------------------------------------------------------------------------------------


def test_cut_bodies_are_fetched_and_whole_ones_are_not() -> None:
    long = row(2, 998) | {"contentSummary": "cut", "contentLength": 5_000}
    details = {pin_id(2): one(whole(long, b"x" * 5_000))}
    man = client(Indexer([[ROWS[0], ROWS[1], long, ROWS[3]]], details))
    going = Walk(man, PATH, size=4)
    (first, *_) = list(going)
    assert {pin.id: len(pin.body) for pin in first.pins}[pin_id(2)] == 5_000
    assert transport_of(man).asked_for("/api/pin/6") == []
    assert len(transport_of(man).asked_for(pin_id(2))) == 1
    assert transport_of(man).asked_for("/content/") == []  # pitfall 16
    assert going.report().is_complete


def test_a_body_that_cannot_be_got_is_named_and_costs_nothing_else() -> None:
    broken = [
        row(2, 998) | {"contentLength": 5_000},
        row(3, 997) | {"contentLength": 5_000},
    ]
    details = {pin_id(3): (500, HTML)}
    pins, report = walk(Indexer([[ROWS[0], *broken]], details))
    assert list(pins) == [pin_id(0)]
    assert [(m.id, m.height, m.code) for m in report.missing] == [
        (pin_id(2), 998, "pin-unknown"),
        (pin_id(3), 997, "man-status"),
    ]
    assert (report.pins, report.confirmed, report.end.reason) == (3, 3, "exhausted")
    assert not report.is_complete


def test_a_body_may_come_on_a_later_page() -> None:
    """A later copy may be whole where an earlier one was cut, never the other way (pitfall 12)."""
    listed = row(2, 998) | {"contentLength": 5_000}
    pages: Sequence[Sequence[Any]] = [[ROWS[0], listed], [row(2, 998)], [listed]]
    pins, report = walk(Indexer(pages), size=2)
    assert pins[pin_id(2)].body == b"body 2"
    assert report.is_complete


def test_an_entry_with_an_id_is_read_by_its_detail() -> None:
    parsed = row(2, 998) | {"contentBody": {"v": 1}}
    nameless = {"path": PATH}
    details = {pin_id(2): one(whole(row(2, 998)))}
    pins, report = walk(Indexer([[ROWS[0], parsed]], details))
    assert list(pins) == [pin_id(0), pin_id(2)]
    assert report.is_complete
    assert kinds(report) == {"row-unreadable": 1}
    _, report = walk(Indexer([[ROWS[0], parsed, nameless]], details))
    assert len(report.broken) == 1
    assert not report.is_complete


def test_a_doubtful_first_body_is_named() -> None:
    changed = row(2, 998) | {"status": 1, "modify_history": [pin_id(2), pin_id(3)]}
    body = whole(row(1))["contentBody"]
    details = {
        pin_id(2): one(whole(changed) | {"originalContentBody": body}),
        pin_id(3): one(whole(row(1)) | {"id": pin_id(3)}),
    }
    pins, report = walk(Indexer([[ROWS[0], changed]], details))
    assert len(pins) == 2
    assert report.doubtful == (pin_id(2),)


def test_held_pins_are_counted_and_not_read() -> None:
    long = row(2, 998) | {"contentLength": 5_000}
    pins, report = walk(Indexer([[ROWS[0], long]]), holds=lambda listed: listed.id == pin_id(2))
    assert list(pins) == [pin_id(0)]
    assert (report.pins, report.held, report.missing) == (2, 1, ())
    assert report.is_complete


@given(st.integers(1, 4), st.integers(0, 12))
def test_details_in_parallel_come_in_the_order_of_the_rows(parallel: int, count: int) -> None:
    listed = [row(n, 900 - n) | {"contentLength": 50} for n in range(count)]
    details = {pin_id(n): one(whole(listed[n], b"%050d" % n)) for n in range(count)}
    pins, report = walk(Indexer([listed], details), parallel=parallel)
    assert [pin.body for pin in pins.values()] == [b"%050d" % n for n in range(count)]
    assert report.is_complete


# --- what is odd -------------------------------------------------------------------------------


def totals(*values: int | None) -> Any:
    numbers = iter(values)
    pages = iter([*cut(ROWS[: len(values) - 2], 1), None, None])
    cursors = iter([*(f"c{n}" for n in range(len(values) - 2)), "", ""])
    return lambda _path, _query: page(next(pages), next(cursors), next(numbers))


def test_totals_are_noted_and_change_nothing() -> None:
    pins, report = walk(totals(2, 9, 3, None, 4, 4), size=1)
    assert len(pins) == 4
    assert report.is_complete
    assert (report.first_total, report.last_total) == (2, 4)
    assert kinds(report) == {"total-drift": 1, "total-shrank": 1}
    _, report = walk(totals(9, 9, 9, 9), size=1)
    assert report.anomalies == (Anomaly("total-above", 7, "9"),)


def test_oversized_pages_and_rows_out_of_order_are_noted() -> None:
    pins, report = walk(Indexer([ROWS[5:8], ROWS[:4]]), size=2)
    assert len(pins) == 7
    assert kinds(report) == {"oversized-page": 2, "out-of-order": 1}
    assert report.is_complete


def test_rows_that_the_first_generation_hides_make_a_walk_incomplete() -> None:
    def script(path: str, query: Mapping[str, str]) -> Answer:
        if path != "/api/getAllPinByPath":
            return NO_ROUTE
        rows = [row(1), row(2), row(3, 5)] if query["page"] == "1" else None
        return page(rows, total=4)

    pins, report = walk(script, size=3)
    assert len(pins) == 3
    assert kinds(report)["rows-hidden"] == 2
    assert not report.is_complete


def test_heights_are_asked_before_and_after() -> None:
    indexer = Indexer([ROWS[:4]])
    heights = iter([{"mvc_sync_height": "7"}, {"mvc_sync_height": 9}])
    indexer.override = lambda path, _query: next(heights) if path == "/debug/sync" else None
    _, report = walk(indexer, heights=True)
    assert report.heights == (7, 9)
    indexer.override = lambda path, _query: NO_ROUTE if path == "/debug/sync" else None
    _, report = walk(indexer, heights=True)
    assert report.heights == (None, None)
    assert report.is_complete


def test_every_end_and_anomaly_has_its_meaning() -> None:
    assert all(END_REASONS.values())
    assert all(ANOMALIES.values())


# --- a list that moves under the reader --------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.sampled_from(["confirm", "arrive", "repeat", "cut"]), st.integers(0, 9)),
        max_size=8,
    ),
    st.integers(1, 4),
)
def test_whatever_moves_each_pin_is_got_once_at_its_last_place(
    events: list[tuple[str, int]], size: int
) -> None:
    """Between the pages pins confirm, arrive in front, and come again under stale keys."""
    truth = {n: row(n, -1 if n < 3 else 1_000 - n) for n in range(10)}
    pages = [list(rows) for rows in cut(list(truth.values()), size)]
    indexer = Indexer(pages, {pin_id(n): one(whole(listed)) for n, listed in truth.items()})
    going = Walk(client(indexer), PATH, size=size, heights=False)
    stored: dict[str, Pin] = {}
    pending = list(events)
    asked = 0
    for walked in going:
        assert isinstance(walked, WalkedPage)
        stored |= {pin.id: pin for pin in walked.pins}
        asked += 1
        if not pending or asked >= len(pages):
            continue
        kind, number = pending.pop()
        if kind == "confirm":
            truth[number] = row(number, 2_000 + number, 1)
            pages[-1].append(truth[number])
            indexer.details[pin_id(number)] = one(whole(truth[number]))
        elif kind == "repeat":
            pages[-1].append(row(number))
        elif kind == "cut":
            pages[-1].append(truth[number] | {"contentSummary": "", "contentLength": 7})
        indexer.pages = [*pages]
    report = going.report()
    assert set(stored) == {pin_id(n) for n in range(10)}
    for number, listed in truth.items():
        pin = stored[pin_id(number)]
        assert pin.body == f"body {number}".encode()
        assert pin.height == (None if listed["genesisHeight"] < 0 else listed["genesisHeight"])
    assert report.is_complete
    assert report.confirmed == sum(pin.height is not None for pin in stored.values())
