"""The indexes of trials on both databases: kept with the log, they are what the log says."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from contract.databases import wipe
from refold.db import Database
from refold.trials.api.indexesmaking import (
    blockers_of_day,
    groups,
    runs_shown,
    services_shown,
    trials_shown,
)
from refold.trials.indexes.counting import NAMED
from refold.trials.intake import read_content
from refold.trials.posts import Disposition, Message, Review, Run
from refold.trials.rules import BLOCKERS
from refold.trials.store import indextables
from refold.trials.store.indexhome import HomeReader
from refold.trials.store.indexreading import IndexReader
from refold.trials.store.moderating import Moderation
from trials.countings import Plain
from trials.examples import TRIAL, content
from trials.histories import KEYS, STEP, History, Step
from trials.logged import NOON, key_of

STEPS = 250
ALL = 10_000


@contextmanager
def node(database: Database) -> Iterator[History]:
    history = History(database)
    try:
        yield history
    finally:
        history.log.close()


def tallies(counts: Any) -> dict[str, tuple[int, ...]]:
    return {
        name: msgspec.structs.astuple(it) for name, it in msgspec.structs.asdict(counts).items()
    }


def address(path: str) -> str:
    return path


def assert_trials(plain: Plain, reader: IndexReader) -> None:
    found = [row for _, row in reader.trials(None, ALL, None)]
    standing = [each for each in plain.of_kind("trial") if each.content is not None]
    assert sorted(row.id for row in found) == [each.id for each in standing]
    shown = trials_shown(reader, found, plain.now, address)
    order = []
    for each in shown:
        closes = plain.closes[each.id]
        assert (each.proven, each.open) == (plain.is_proven(each.id), closes > plain.now)
        assert each.service == plain.service(each.id)
        order.append((not each.proven, not each.open, closes if each.open else -closes))
        names = {"proof_verified": "verified", "proof_missing": "missing"}
        for name, counted in tallies(each.counts).items():
            assert counted == plain.counted.of((each.id, names.get(name, name))), name
    assert order == sorted(order)
    for trial in plain.of_kind("trial"):
        runs = runs_shown(reader, reader.runs_on(trial.id, 0, ALL), plain.now, answers=True)
        assert [run.id for run in runs] == [run.id for run in plain.runs(trial.id)]
        for run, message in zip(runs, plain.runs(trial.id), strict=True):
            assert run.cold == plain.is_cold(message)
            assert run.removed == (message.content is None)
            recheck = run.recheck and (run.recheck.state, run.recheck.run)
            assert recheck == plain.recheck(message)


def assert_services(plain: Plain, reader: IndexReader) -> None:
    services = {plain.service(each.id) for each in plain.of_kind("trial")} - {""}
    rows = [row for flag in (False, True) for row in reader.services(flag, "", ALL)]
    assert sorted(row.service for row in rows) == sorted(services)
    for each in services_shown(reader, rows, address):
        trials = [it.id for it in plain.of_kind("trial") if plain.service(it.id) == each.id]
        assert (each.trials, each.proven) == (len(trials), any(map(plain.is_proven, trials)))
        total, runtimes = groups(reader, each.id)
        assert total == each.counts
        for name, counted in tallies(total).items():
            assert counted == plain.counted.of((each.id, name))
        for group in runtimes:
            for name, counted in tallies(group.counts).items():
                assert counted == plain.counted.of((each.id, name, group.untrusted.runtime))
        found = {place[2] for place in plain.counted.posts if place[0] == each.id and place[2:]}
        assert {group.untrusted.runtime for group in runtimes} == found


def assert_blockers(plain: Plain, reader: IndexReader) -> None:
    days, day = [], reader.counts.day_before("~")
    while day is not None:
        days.append(day)
        day = reader.counts.day_before(day)
    young = reader.counts.young_of_all()
    found = {}
    for each in days:
        for item in blockers_of_day(reader, young, each, None):
            for what in ("runs", "later", "reviews"):
                place = (item.day, item.blocker_class, item.untrusted.runtime, what)
                found[place] = msgspec.structs.astuple(getattr(item, what))
    wanted = {
        place: plain.counted.of(place)
        for place in plain.counted.posts
        if len(place) == 4 and place[1] in BLOCKERS
    }
    assert {place: it for place, it in found.items() if any(it)} == wanted
    assert days == sorted({place[0] for place in wanted}, reverse=True)


def assert_home(plain: Plain, connection: Connection) -> None:
    for who in range(KEYS):
        key = key_of(who)
        home = HomeReader(connection, key, plain.now, ALL)
        rechecks = {
            run.id: plain.recheck(run) for run in plain.of_kind("run") if run.public_key == key
        }
        owed = [id_ for id_, state in rechecks.items() if state == ("owed", None)]
        assert sorted(row.run for row in home.owed()) == owed
        mine = [each for each in plain.of_kind("trial") if each.public_key == key]
        awaiting = [
            run.id
            for run in plain.of_kind("run")
            if run.reply_to in {each.id for each in mine}
            and run.content is not None
            and plain.disposition(run) is None
        ]
        assert [row.run for row in home.awaiting()] == awaiting
        until = plain.now + 7 * 86_400
        closing = [
            each.id
            for each in mine
            if each.content is not None and plain.now < plain.closes[each.id] <= until
        ]
        assert sorted(row.trial for row in home.closing(until)) == closing
        replies = [
            each.id
            for each in plain.messages.values()
            if each.reply_to is not None
            and each.kind in {"message", "disposition"}
            and each.content is not None
            and each.public_key != key
            and plain.messages[each.reply_to].public_key == key
        ]
        assert [each.id for each in home.replies()] == replies[::-1]


def assert_all(history: History) -> None:
    """See to it that every table is what a fold from scratch gives, and every view right."""
    with history.database.read() as connection:
        assert history.indexes.check(connection) == []
        plain = Plain(connection, history.now)
        reader = IndexReader(connection, history.now)
        assert_trials(plain, reader)
        assert_services(plain, reader)
        assert_blockers(plain, reader)
        assert_home(plain, connection)


@settings(
    max_examples=5,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(STEP, min_size=STEPS, max_size=STEPS))
def test_after_any_history_the_indexes_are_those_of_the_log(
    database: Database, steps: list[Step]
) -> None:
    wipe(database)
    with node(database) as history:
        for step in steps:
            history.take(step)
        assert_all(history)


def test_of_many_runtimes_the_top_are_named_and_the_others_are_one(database: Database) -> None:
    with node(database) as history:
        trial = history.post(_trial(), 0)
        names = [f"agent {chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(NAMED + 5)]
        for n, name in enumerate([*names, *names[: NAMED - 1], "other", "7"]):
            # The five last names come once each, from two keys; so do "other" and no name.
            history.post(_run(name, n), 1 + n % 2 if n >= NAMED else 1 + n % 5, trial)
        with history.database.read() as connection:
            reader = IndexReader(connection, history.now)
            _, shown = groups(reader, "shop.io")
            plain = Plain(connection, history.now)
            assert history.indexes.check(connection) == []
        assert len(shown) == NAMED + 1
        named = {group.untrusted.runtime for group in shown[:-1]}
        assert named >= set(names[: NAMED - 1])
        assert shown[-1].untrusted.runtime == "other"
        rest = [
            key
            for place, keys in plain.counted.posts.items()
            if place[:2] == ("shop.io", "runs") and place[2:] and place[2] not in named
            for key in keys
        ]
        other = shown[-1].counts.runs
        assert other.posts + other.young_posts == len(rest) == 7
        assert 1 < other.keys + other.young_keys == len(set(rest)) < len(rest)
        with history.database.read() as connection:
            items = list(
                blockers_of_day(
                    IndexReader(connection, history.now),
                    IndexReader(connection, history.now).counts.young_of_all(),
                    "2030-03-17",
                    None,
                )
            )
        assert len(items) == NAMED + 1
        assert items[-1].untrusted.runtime == "other"
        whole = sum(
            it.runs.posts + it.runs.young_posts + it.later.posts + it.later.young_posts
            for it in items
        )
        assert whole == 2 * NAMED + 6


def test_a_damaged_row_is_found_and_rebuilt(database: Database) -> None:
    with node(database) as history:
        trial = history.post(_trial(), 0)
        run = history.post(_run("curl", 1), 1, trial)
        history.post(Disposition(status="confirmed"), 0, run)
        history.post(Review(tool="httpx", runtime="curl", verdict="works"), 2)
        history.post(Message(text="hello"), 3, run)
        with database.write() as connection:
            for table in (indextables.cells, indextables.replies, indextables.reviews):
                connection.execute(table.delete())
            connection.execute(indextables.runs.update().values(status="wontfix"))
            connection.execute(
                indextables.services.insert(),
                {"service": "evil.io", "trials": 1, "proven": 1, "unproven": False},
            )
        with database.read() as connection:
            found = history.indexes.check(connection, 1_000)
        assert {each.table for each in found} == {
            *("trials_cells", "trials_replies", "trials_reviews", "trials_runs"),
            "trials_services",
        }
        extra = next(each for each in found if each.key == "evil.io")
        assert (bool(extra.kept), extra.folded) == (True, "")
        with database.read() as connection:
            assert len(history.indexes.check(connection, 2)) == 2
        with database.write() as connection:
            assert history.indexes.rebuild(connection) > 0
        assert_all(history)


def test_what_depends_on_time_needs_no_write(database: Database) -> None:
    with node(database) as history:
        trial = history.post(_trial(), 0)
        run = history.post(_run("curl", 1), 1, trial)  # of a key that was admitted an hour before
        history.post(Disposition(status="fixed", version="v2"), 0, run)
        states = []
        for passed in (0, 82_800 - 1, 82_800, 30 * 86_400 - 1, 30 * 86_400):
            history.now = NOON + passed
            assert_all(history)
            with database.read() as connection:
                reader = IndexReader(connection, history.now)
                rows = [row for _, row in reader.trials(None, 10, "open")]
                shown = runs_shown(
                    reader, reader.runs_on(trial or 0, 0, 9), history.now, answers=False
                )
                counts = groups(reader, "shop.io")[0].runs
                assert shown[0].recheck is not None
                states.append((len(rows), shown[0].recheck.state, counts.posts, counts.young_posts))
        assert states == [
            (1, "owed", 0, 1),
            (1, "owed", 0, 1),
            (1, "owed", 1, 0),
            (1, "owed", 1, 0),
            (0, "lapsed", 1, 0),
        ]


@pytest.mark.parametrize("removed", ["trial", "run", "disposition", "recheck"])
def test_what_was_removed_counts_nowhere(database: Database, removed: str) -> None:
    with node(database) as history:
        ids: dict[str, int | None] = {}
        ids["trial"] = history.post(_trial(), 0)
        ids["run"] = history.post(_run("curl", 1), 1, ids["trial"])
        ids["disposition"] = history.post(Disposition(status="fixed", version="v2"), 0, ids["run"])
        ids["recheck"] = history.post(_run("codex", 2), 1, ids["trial"])
        with database.write() as connection:
            Moderation(connection).tombstone(ids[removed] or 0, "why", history.now)
        assert_all(history)
        with database.read() as connection:
            reader = IndexReader(connection, history.now)
            service = reader.service("shop.io")
            runs = runs_shown(
                reader, reader.runs_on(ids["trial"] or 0, 0, 9), history.now, answers=True
            )
            states = [run.recheck and run.recheck.state for run in runs]
        assert (service is None) == (removed == "trial")
        assert [run.cold for run in runs] == [True, False]
        assert (
            states
            == {
                "trial": ["passed", None],
                "run": ["passed", None],
                "disposition": [None, None],
                "recheck": ["removed", None],
            }[removed]
        )


def _trial() -> Any:
    return read_content(content(*TRIAL)).post


def _run(runtime: str, number: int) -> Run:
    return Run(
        outcome="completed" if number > 1 else "blocked",
        runtime=runtime,
        owner_proof="verified",
        blocker="403",
        blocker_class=("docs_wrong",),
        requests=number,
    )
