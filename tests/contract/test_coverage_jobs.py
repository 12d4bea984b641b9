"""Jobs on each database: what waits, what runs, and what a death leaves."""

from typing import Any

import pytest
from sqlalchemy import text

from contract.test_coverage_store import ANY, data, put, writing
from coverage.receipts import NOW, example
from refold.coverage.store import Store
from refold.coverage.store.jobs import GAVE_UP
from refold.coverage.store.model import Job, NewJob
from refold.db import Database
from refold.kernel.errors import UsageError
from refold.kernel.utc import later


def ask(store: Store, name: str, job: str, asker: str = "anna", **options: Any) -> Job:
    return store.jobs.ask(NewJob(job, name, asker, **options), b"{}", NOW)


def test_a_receipt_has_one_job_that_has_not_ended(database: Database) -> None:
    with writing(database) as store:
        assert ask(store, ANY, "one").state == "queued"
        assert ask(store, ANY, "two") == ask(store, ANY, "three")
        assert not ask(store, ANY, "four").shared
        assert ask(store, ANY, "five", "ben").shared
        claimed = store.jobs.claim(NOW)
        assert claimed is not None
        assert (claimed.id, claimed.state, claimed.attempts) == ("one", "running", 1)
        assert ask(store, ANY, "six").id == "one"
        assert store.jobs.claim(NOW) is None
        assert store.jobs.is_about(ANY)
        store.jobs.done("one", NOW, b'{"a":1}')
        assert not store.jobs.is_about(ANY)
        assert store.jobs.report("one") == b'{"a":1}'
        assert ask(store, ANY, "seven").id == "seven"


def test_the_database_itself_takes_no_second_one(database: Database) -> None:
    with writing(database) as store:
        ask(store, ANY, "one")
        ask(store, "1" * 64, "two")
    foreign = text("UPDATE coverage_jobs SET running = :name WHERE id = 'two'")
    with database.write() as connection, pytest.raises(UsageError):
        connection.execute(foreign, {"name": ANY})


def test_who_asks_goes_before_the_schedule_and_the_first_before_the_second(
    database: Database,
) -> None:
    names = [f"{number:064x}" for number in range(4)]
    with writing(database) as store:
        ask(store, names[0], "due", "schedule", scheduled=True)
        for name, job in zip(names[1:], ("one", "two", "three"), strict=True):
            ask(store, name, job, job)
        store.jobs.cancel("two", NOW)
        assert store.jobs.count() == 3
        assert store.jobs.count(asker="one") == 1
        order = [store.jobs.claim(NOW) for _ in range(3)]
        assert [job and job.id for job in order] == ["one", "three", "due"]
        assert store.jobs.claim(NOW) is None


def test_what_ran_waits_again_after_a_death_but_not_for_ever(database: Database) -> None:
    with writing(database) as store:
        ask(store, ANY, "one")
        for attempt in (1, 2, 3):
            claimed = store.jobs.claim(later(NOW, attempt))
            assert claimed is not None
            assert (claimed.attempts, claimed.began_at) == (attempt, later(NOW, 1))
            assert store.jobs.recover(NOW, 3) == ([ANY] if attempt == 3 else [])
        found = store.jobs.get("one")
        assert found is not None
        assert (found.state, found.code, found.ended_at) == ("failed", GAVE_UP, NOW)
        assert not store.jobs.is_about(ANY)


def test_a_job_that_was_let_go_lost_no_attempt(database: Database) -> None:
    with writing(database) as store:
        ask(store, ANY, "one")
        for _ in range(5):
            claimed = store.jobs.claim(NOW)
            assert claimed is not None
            assert claimed.attempts == 1
            store.jobs.release("one")


def test_a_job_is_cancelled_at_once_or_when_it_hears_of_it(database: Database) -> None:
    with writing(database) as store:
        ask(store, ANY, "one")
        cancelled = store.jobs.cancel("one", NOW)
        assert cancelled is not None
        assert cancelled.state == "cancelled"
        ask(store, ANY, "two")
        store.jobs.claim(NOW)
        counts = {"pages": 3, "rows": 40, "requests": 5}
        assert not store.jobs.progress("two", "list", counts)
        cancelled = store.jobs.cancel("two", NOW)
        assert cancelled is not None
        assert (cancelled.state, cancelled.cancel) == ("running", True)
        assert (cancelled.unit, cancelled.pages, cancelled.rows) == ("list", 3, 40)
        assert store.jobs.progress("two", "list", counts)
        store.jobs.recover(NOW, 3)
        found = store.jobs.get("two")
        assert found is not None
        assert found.state == "cancelled"
        assert store.jobs.cancel("nobody", NOW) is None


def test_old_jobs_go_with_the_records_that_nobody_needs(database: Database) -> None:
    names = [f"{number:064x}" for number in range(4)]
    with writing(database) as store:
        stored = put(store, example())
        for day, name in enumerate([*names, stored], 1):
            ask(store, name, f"job {day}")
            store.jobs.claim(NOW)
            store.jobs.done(f"job {day}", later(NOW, day * 86_400), b"{}")
        ask(store, "f" * 64, "waits")
        assert store.jobs.prune(later(NOW, 3 * 86_400), 100) == 2
        assert [store.receipts.record(name) for name in names[:2]] == [None, None]
        assert store.jobs.get("job 2") is None
        assert store.jobs.report("job 3") == b"{}"
        assert store.jobs.prune("", 1) == 2
        assert store.jobs.get("job 5") is not None
        assert store.jobs.prune("9", 0) == 1
        assert store.jobs.get("waits") is not None
        assert store.receipts.record(stored) == data(example())
        assert store.receipts.record("f" * 64) == b"{}"


def test_a_report_is_fresh_for_those_who_asked_for_as_much(database: Database) -> None:
    with writing(database) as store:
        ask(store, ANY, "one", sources=True)
        store.jobs.claim(NOW)
        store.jobs.done("one", NOW, b"{}")
        before, after = later(NOW, -1), later(NOW, 1)
        for since, now, sources, found in (
            (NOW, NOW, True, True),
            (NOW, after, False, True),
            (after, after, False, False),
            (before, before, False, False),  # by a clock that was ahead
        ):
            assert (store.jobs.fresh(ANY, since, now, sources=sources) is not None) == found
