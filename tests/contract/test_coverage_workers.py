"""Work on each database: no receipt is walked twice at once, and none is forgotten."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Event

import msgspec
from sqlalchemy import text

from cli.terminal import MINUTE
from contract.test_coverage_jobs import ask
from contract.test_coverage_store import ANY, put, reading, writing
from coverage.api.served import served
from coverage.receipts import NOW, check, example
from refold.coverage import Report, report_unreplayed, validate
from refold.coverage.jobs.bounds import MAX_IDS
from refold.coverage.jobs.crew import Crew
from refold.coverage.jobs.limits import CHECK_EACH, GIVEN_UP_SECONDS, MAX_ATTEMPTS
from refold.coverage.jobs.walker import THREADS
from refold.coverage.jobs.worker import BROKEN, Worker
from refold.coverage.report import UnitReport
from refold.coverage.store import Store
from refold.coverage.store.model import NewJob
from refold.coverage.walk.budget import Spent
from refold.coverage.walk.drive import Progress
from refold.db import Database
from refold.kernel.utc import later, parse_utc

NAMES = [f"{number:064x}" for number in range(1, 9)]


class Walks:
    """Walks that take a while, and count how many are about one record at a time."""

    def __init__(self) -> None:
        self.done: Counter[bytes] = Counter()
        self.most = 0
        self.reached = Event()
        self.go = Event()
        self._now: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def __call__(self, data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        del sources
        with self._lock:
            self._now[data] += 1
            self.most = max(self.most, self._now[data])
        self.reached.set()
        try:
            while not self.go.wait(0.01):
                progress("list", Spent(pages=1))
        finally:
            with self._lock:
                self._now[data] -= 1
        self.done[data] += 1
        return report_unreplayed(check(example()), now)


def let_go() -> Walks:
    walks = Walks()
    walks.go.set()
    return walks


def clock() -> datetime:
    return parse_utc(NOW)


@contextmanager
def at_work(crew: Crew) -> Iterator[Event]:
    """Let a crew work in a thread; give what stops it."""
    stop = Event()
    thread = threading.Thread(target=crew.run, args=(stop,), daemon=True)
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(MINUTE)
        assert not thread.is_alive()


def wait_until_none(database: Database) -> None:
    """Wait until no job is left that has not ended."""
    deadline = time.monotonic() + MINUTE
    while True:
        with reading(database) as store:
            if store.jobs.count() == 0:
                return
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ask_all(store: Store) -> None:
    for name in NAMES:
        store.jobs.ask(NewJob(f"job {name}", name, "anna"), name.encode(), NOW)


def test_two_crews_on_one_database_walk_each_receipt_once(database_url: str) -> None:
    """The second one stands by, and takes over when the first one ends."""
    first, second = let_go(), let_go()
    with Database.open(database_url) as one, Database.open(database_url) as two:
        with writing(one) as store:
            ask_all(store)
        crews = [Crew(one, first, now=clock), Crew(two, second, now=clock, standby=0.01)]
        with at_work(crews[1]) as stop_second:
            with at_work(crews[0]):
                wait_until_none(one)
            assert first.done + second.done == Counter(name.encode() for name in NAMES)
            assert not (first.done and second.done)
            with writing(one) as store:
                store.jobs.ask(NewJob("more", ANY, "anna"), b"more", NOW)
            crews[1].wake()
            wait_until_none(one)
            stop_second.set()
    assert (first.done + second.done)[b"more"] == 1


def test_one_process_answers_and_another_one_verifies(database_url: str) -> None:
    walks = let_go()
    with (
        served(database_url, workers=0) as server,
        Database.open(database_url) as database,
        at_work(Crew(database, walks, now=clock)),
    ):
        report = server.verified(example())
    assert (report["receiptHash"], sum(walks.done.values())) == (check(example()).receipt_hash, 1)


def test_workers_without_a_hold_do_not_take_the_same_job(database_url: str) -> None:
    """What keeps two apart is the claim itself; the hold is for the pace."""
    walks = let_go()
    with Database.open(database_url) as one, Database.open(database_url) as two:
        with writing(one) as store:
            ask_all(store)

        def work(database: Database) -> None:
            worker = Worker(database, walks, now=clock)
            while worker.step():
                pass

        threads = [threading.Thread(target=work, args=(opened,)) for opened in (one, two, one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(MINUTE)
    assert walks.done == Counter(name.encode() for name in NAMES)
    assert walks.most == 1


def test_a_stop_lets_the_job_wait_and_a_start_goes_on(database: Database) -> None:
    walks = Walks()
    with writing(database) as store:
        ask(store, ANY, "one")
    with at_work(Crew(database, walks, now=clock)):
        assert walks.reached.wait(MINUTE)
    with reading(database) as store:
        left = store.jobs.get("one")
    assert left is not None
    assert (left.state, left.attempts) == ("queued", 0)
    walks.go.set()
    with at_work(Crew(database, walks, now=clock)):
        wait_until_none(database)
    assert sum(walks.done.values()) == 1


def test_a_job_that_runs_is_cancelled(database: Database) -> None:
    walks = Walks()
    with writing(database) as store:
        ask(store, ANY, "one")
    with at_work(Crew(database, walks, now=clock)):
        assert walks.reached.wait(MINUTE)
        with writing(database) as store:
            store.jobs.cancel("one", NOW)
        wait_until_none(database)
    with reading(database) as store:
        ended = store.jobs.get("one")
    assert ended is not None
    assert (ended.state, ended.unit, ended.pages) == ("cancelled", "list", 1)


def test_a_defect_ends_one_job_and_not_the_work(database: Database) -> None:
    def broken(data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        if data == b"{}":
            raise KeyError("a secret that no log may have")
        return let_go()(data, now, progress, sources=sources)

    with writing(database) as store:
        ask(store, ANY, "one")
        stored = put(store, example())
    worker = Worker(database, broken, now=clock)
    assert worker.step()
    assert worker.step()
    assert not worker.step()
    with reading(database) as store:
        failed = store.jobs.get("one")
        judged = store.receipts.get(stored)
    assert failed is not None
    assert (failed.state, failed.code) == ("failed", BROKEN)
    assert judged is not None
    assert judged.checked_at == NOW


def test_a_receipt_that_kills_its_process_is_not_tried_for_ever(database: Database) -> None:
    class DeathError(BaseException):
        """Nothing in the worker outlives it."""

    def deadly(*_: object, **__: object) -> Report:
        raise DeathError

    with writing(database) as store:
        stored = put(store, example())
    deaths = 0
    while True:
        worker = Worker(database, deadly, now=clock)
        worker.recover()
        try:
            if not worker.step():
                break
        except DeathError:
            deaths += 1
    assert deaths == MAX_ATTEMPTS
    with reading(database) as store:
        found = store.receipts.get(stored)
    assert found is not None
    assert (found.due_at, found.checked_at) == (later(NOW, GIVEN_UP_SECONDS), "")


def test_a_walk_that_waits_for_an_answer_holds_up_no_end(database_url: str) -> None:
    """Its job waits for the next process; what the walk gives after all is not kept."""
    reached, answered, ended = Event(), Event(), Event()

    def waiting(data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        reached.set()
        assert answered.wait(MINUTE)
        report = let_go()(data, now, progress, sources=sources)
        ended.set()
        return report

    with Database.open(database_url) as database:
        with writing(database) as store:
            ask(store, ANY, "one")
        with at_work(Crew(database, waiting, workers=1, now=clock, leave=0.0)):
            assert reached.wait(MINUTE)
        with reading(database) as store:
            left = store.jobs.get("one")
        assert left is not None
        assert (left.state, left.attempts) == ("queued", 0)
        late = [thread for thread in threading.enumerate() if thread.name.startswith(THREADS)]
        answered.set()
        for thread in late:
            thread.join(MINUTE)
        assert ended.is_set()
        with reading(database) as store:
            assert store.jobs.get("one") == left
        assert Worker(database, let_go(), now=clock).step()


def test_whoever_keeps_asking_does_not_keep_what_is_stored_from_its_check(
    database: Database,
) -> None:
    with writing(database) as store:
        stored = put(store, example())
        for number in range(CHECK_EACH):
            ask(store, f"{number:064x}", f"job {number}")
    worker = Worker(database, let_go(), now=clock)
    for _ in range(CHECK_EACH):
        assert worker.step()
    with reading(database) as store:
        found = store.receipts.get(stored)
        assert found is not None
        assert found.checked_at == NOW
        assert store.jobs.count() == 1


def test_a_client_has_one_worker_at_a_time(database: Database) -> None:
    with writing(database) as store:
        for number, asker in enumerate(("anna", "anna", "ben")):
            store.jobs.ask(NewJob(f"job {number}", f"{number:064x}", asker), b"{}", NOW)
        taken = [store.jobs.claim(NOW) for _ in range(3)]
        assert [job and job.id for job in taken] == ["job 0", "job 2", None]
        store.jobs.done("job 0", NOW, b"{}")
        freed = store.jobs.claim(NOW)
        assert freed is not None
        assert freed.id == "job 1"


def test_a_check_by_a_clock_that_was_ahead_does_not_count(database: Database) -> None:
    def walk(data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        report = let_go()(data, now, progress, sources=sources)
        return msgspec.structs.replace(report, basis="LIVE")

    ahead = later(NOW, 365 * 86_400)
    with writing(database) as store:
        stored = put(store, example())
    assert Worker(database, walk, now=lambda: parse_utc(ahead)).step()
    worker = Worker(database, walk, now=clock)
    assert not worker.step()
    worker.prune()
    assert worker.step()
    worker.prune()
    assert not worker.step()
    with reading(database) as store:
        found = store.receipts.get(stored)
    assert found is not None
    assert found.checked_at == NOW


def test_a_receipt_is_not_judged_before_its_as_of(database: Database) -> None:
    """A pin's block may run ahead, and a clock is set back."""

    def walk(data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        del progress, sources
        return report_unreplayed(validate(data, now), now)

    early = later(example()["corpus"]["asOf"], -3_600)
    with writing(database) as store:
        stored = put(store, example())
        ask(store, stored, "one")  # whoever asks has a clock of his own
    worker = Worker(database, walk, now=lambda: parse_utc(early))
    while worker.step():
        pass
    with reading(database) as store:
        found = store.receipts.get(stored)
        assert store.receipts.judgements(stored, 9) == []
    assert found is not None
    assert (found.judgement, found.due_at) == ("", found.as_of)


def test_a_report_that_is_kept_is_bounded(database: Database) -> None:
    """A source may match without end, and its names may be as long as its pages."""
    names = tuple(f"{number}" + "x" * 1_000 for number in range(MAX_IDS + 5))

    def endless(data: bytes, now: str, progress: Progress, *, sources: bool) -> Report:
        report = let_go()(data, now, progress, sources=sources)
        unit = UnitReport(
            id="list",
            kind="HTTP_JSON",
            coverage="FULL",
            reasons=(),
            why={},
            drift="grew",
            observed_recorded=0,
            observed_replayed=len(names),
            termination_recorded="EXHAUSTED",
            termination_replayed=(),
            end_marker_kind="SET_HASH",
            weak_evidence=False,
            pages=1,
            bytes=1,
            requests=1,
            first_at="",
            last_at="",
            warnings=("one",),
        )
        return msgspec.structs.replace(report, added=names, units=(unit,))

    with writing(database) as store:
        ask(store, ANY, "one")
    assert Worker(database, endless, now=clock).step()
    with reading(database) as store:
        report = msgspec.json.decode(store.jobs.report("one") or b"", type=Report)
    assert len(report.added) == MAX_IDS
    assert max(map(len, report.added)) < 300
    assert report.units[0].warnings == ("one", "5 more added or removed ids are not listed")


def test_a_process_that_lost_its_connection_leaves_the_work_to_others(postgres_url: str) -> None:
    """The server frees the name when the connection goes; what was walked till then counts not."""
    first, second = Walks(), let_go()
    with Database.open(postgres_url) as one, Database.open(postgres_url) as two:
        with writing(one) as store:
            ask(store, ANY, "one")
        with at_work(Crew(one, first, now=clock, standby=MINUTE)):
            assert first.reached.wait(MINUTE)
            with two.write() as connection:
                connection.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        " AND pid <> pg_backend_pid()"
                    )
                )
            with at_work(Crew(two, second, now=clock, standby=0.01)):
                wait_until_none(two)
            assert not first.done
        with reading(two) as store:
            job = store.jobs.get("one")
    assert job is not None
    assert (job.state, job.attempts) == ("done", 2)
    assert sum(second.done.values()) == 1
