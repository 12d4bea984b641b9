"""The schedule: when a receipt is checked again, and what a year of checks leaves behind."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.servers import BASE, Scripted
from contract.test_coverage_store import POSTED, data, reading, writing
from coverage.api.served import walker
from coverage.receipts import changed, check, example, manual
from kernel.hostile import Peer, serving
from refold.coverage import Report, query_hash, report_unreplayed, set_hash
from refold.coverage.jobs.schedule import (
    EXPIRED_SECONDS,
    LONGEST_SECONDS,
    REST,
    RETRY_SECONDS,
    SHORTEST_SECONDS,
    is_away,
    next_check,
)
from refold.coverage.jobs.worker import Worker
from refold.db import Database
from refold.kernel.utc import format_utc, later, parse_utc

AS_OF = "2030-01-01T00:00:00Z"
DAY = 86_400
VALID_DAYS = 180
YEAR_DAYS = 365


def seconds(earlier: str, then: str) -> float:
    return (parse_utc(then) - parse_utc(earlier)).total_seconds()


def report(now: str, valid: int = VALID_DAYS * DAY, judgement: str = "VERIFIED") -> Report:
    """Give the report of a check of a receipt that is valid for so many seconds."""
    record = changed(example(), "/corpus/asOf", AS_OF) | {"validUntil": later(AS_OF, valid)}
    made = report_unreplayed(check(record, now), now)
    return msgspec.structs.replace(made, judgement=judgement, coverage="FULL", basis="LIVE")


@given(
    age=st.integers(0, YEAR_DAYS * DAY),
    valid=st.integers(1, 2 * YEAR_DAYS * DAY),
    failures=st.integers(0, 200),
    judgement=st.sampled_from(["VERIFIED", "STALE", "REFUTED", "INCONCLUSIVE"]),
    took=st.integers(0, 3_600),
)
def test_the_next_check_is_neither_soon_nor_far(
    age: int, valid: int, failures: int, judgement: str, took: int
) -> None:
    now = later(AS_OF, age)
    due = next_check(report(now, valid, judgement), failures)
    slow = next_check(report(now, valid, judgement), failures, took)
    assert due is not None
    assert slow is not None
    wait = seconds(now, due)
    left = valid - age
    rest = min(max(wait, REST * took), EXPIRED_SECONDS)
    assert seconds(now, slow) == (min(rest, left + 1) if left >= 0 else rest)
    if left >= 0:
        assert wait <= left + 1, "the end of its validity shows at once"
    is_over = left < 0 or judgement == "REFUTED"
    if is_over:
        assert wait in {EXPIRED_SECONDS, left + 1}
    elif failures:
        assert wait == min(RETRY_SECONDS * 2 ** (failures - 1), EXPIRED_SECONDS, left + 1)
    else:
        assert wait <= LONGEST_SECONDS
        assert wait >= SHORTEST_SECONDS or wait == left + 1


def test_what_cannot_be_walked_is_never_checked_again() -> None:
    old = report_unreplayed(check(example() | {"v": "1.0.0"}), AS_OF)
    assert next_check(old, 0) is None


def test_a_receipt_to_the_end_of_the_calendar_is_checked_like_any_other() -> None:
    last = "9999-12-31T23:59:59Z"
    made = msgspec.structs.replace(report(AS_OF), valid_until=last)
    assert next_check(made, 0) == later(AS_OF, LONGEST_SECONDS)
    assert next_check(msgspec.structs.replace(made, now=last), 0) is None


def test_only_what_was_not_read_is_away() -> None:
    made = report(AS_OF)
    assert not is_away(made)
    by_hand = report_unreplayed(check(manual()), AS_OF)
    assert not is_away(msgspec.structs.replace(by_hand, coverage="BROKEN"))


# A year


class Source:
    """A list of a source whose state depends on the day; `asked` counts the requests of each."""

    ROWS = tuple({"id": number, "name": f"item-{number}"} for number in range(1, 8))
    STATES = (
        (0, "as it was"),
        (20, "grown"),
        (40, "gone"),
        (60, "as it was"),
        (80, "shrunk"),
        (100, "as it was"),
        (120, "matching"),
        (140, "as it was"),
        (220, "gone"),
        (300, "as it was"),
    )

    def __init__(self) -> None:
        self.day = 0.0
        self.asked: list[float] = []
        more, needle = {"id": 8, "name": "item-8"}, {"id": 99, "name": "needle"}
        rows = {
            "as it was": self.ROWS,
            "grown": (*self.ROWS, more),
            "shrunk": self.ROWS[:-1],
            "matching": (*self.ROWS, needle),
        }
        self._states: dict[str, Scripted] = {
            state: Scripted({"routes": [{"get": "/items", "json": {"items": list(items)}}]})
            for state, items in rows.items()
        }
        self._states["gone"] = Scripted({"routes": [{"get": "/items", "drop": True}]})

    def __call__(self, peer: Peer) -> None:
        state = [name for day, name in self.STATES if day <= self.day][-1]
        self.asked.append(self.day)
        self._states[state](peer)


def absent() -> dict[str, Any]:
    """Give the receipt that the list had no needle on its first day."""
    record = changed(example(), "/corpus/asOf", AS_OF)
    canon = {"match": {"field": "name", "op": "eq", "value": "needle"}}
    record["query"] = {"canon": canon, "queryHash": query_hash(canon)}
    record["corpus"]["units"][0]["boundary"] = {
        "termination": "SINGLE_PAGE",
        "observed": len(Source.ROWS),
        "endMarkerKind": "SET_HASH",
        "endMarker": set_hash(str(row["id"]) for row in Source.ROWS),
    }
    return record | {"validUntil": later(AS_OF, VALID_DAYS * DAY)}


class Clock:
    """A clock that is moved."""

    def __init__(self, moment: str) -> None:
        self.now = parse_utc(moment)

    def __call__(self) -> datetime:
        return self.now

    @property
    def day(self) -> float:
        return (self.now - parse_utc(AS_OF)) / timedelta(days=1)


@contextmanager
def year(database: Database) -> Iterator[tuple[str, Source, list[float]]]:
    """Let a year go by; give the receipt's name, its source, and the days of all checks."""
    clock, source = Clock(AS_OF), Source()
    checks: list[float] = []
    with serving(source) as server:
        worker = Worker(database, walker({BASE: server.origin}, now=clock), now=clock)
        with writing(database) as store:
            name = store.receipts.put(data(absent()), AS_OF, POSTED).hash
        while clock.day <= YEAR_DAYS:
            source.day = clock.day
            checks.append(clock.day)
            assert worker.step()
            assert not worker.step()
            with reading(database) as store:
                due = store.receipts.next_due()
            assert due is not None
            assert due > format_utc(clock.now)
            clock.now = parse_utc(due)
        yield name, source, checks


EXPECTED = (
    (0, "VERIFIED", "unit_unchanged"),
    (40, "INCONCLUSIVE", "source_unreachable"),
    (60, "VERIFIED", "unit_unchanged"),
    (80, "STALE", "shrank"),
    (100, "VERIFIED", "unit_unchanged"),
    (120, "STALE", "result_drift"),
    (140, "VERIFIED", "unit_unchanged"),
    (VALID_DAYS, "STALE", "expired"),
)
"""From which day on, and why; after that nothing changes the judgement any more."""


def test_a_year_of_checks_leaves_a_row_for_each_change(tmp_path: Path) -> None:
    with (
        Database.open(f"sqlite:///{tmp_path / 'refold.db'}", durability="normal") as database,
        year(database) as (name, source, checks),
        reading(database) as store,
    ):
        rows = store.receipts.judgements(name, 100)[::-1]
        last = store.receipts.get(name)
    days = [seconds(AS_OF, row.at) / DAY for row in rows]
    assert [row.judgement for row in rows] == [judgement for _, judgement, _ in EXPECTED]
    for row, day, (since, _, reason) in zip(rows, days, EXPECTED, strict=True):
        assert reason in row.reasons
        # A source that is back is found when it has been away once more as long, at the most.
        latest = 20 if row.judgement == "VERIFIED" and since == 60 else LONGEST_SECONDS / DAY
        assert since <= day <= since + latest
    assert days[-1] == pytest.approx(VALID_DAYS, abs=0.001)
    assert last is not None
    assert seconds(AS_OF, last.checked_at) / DAY == pytest.approx(checks[-1])
    assert_pace(checks, source)


def assert_pace(checks: list[float], source: Source) -> None:
    """See to it that sources were not asked often: the fewer, the longer they were away."""
    weeks = LONGEST_SECONDS / DAY
    valid = [day for day in checks if day < 40]
    assert len(valid) <= 40 / (VALID_DAYS / 4) + 40 / weeks + 2
    gone = [day for day in checks if 47 < day < 60]
    waits = [then - day for day, then in pairwise(gone)]
    assert all(then == pytest.approx(2 * wait) for wait, then in pairwise(waits))
    assert len(gone) < 10
    expired = [day for day in checks if day > VALID_DAYS]
    assert len(expired) <= (YEAR_DAYS - VALID_DAYS) * DAY / EXPIRED_SECONDS + 2
    assert len(source.asked) <= 8 * len(checks)
