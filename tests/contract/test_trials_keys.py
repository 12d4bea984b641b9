"""Keys, challenges, moderation and standings of cold trials, on both databases."""

from pathlib import Path

import pytest

from refold.db import Database
from refold.kernel.errors import InputError
from refold.trials.log.writer import Log
from refold.trials.moderation import MAX_REASON
from refold.trials.relations import KeyState
from refold.trials.store.keys import AnsweredRow, Keys
from refold.trials.store.moderating import Moderation
from refold.trials.store.standings import Standings, standing
from trials.logged import NOON, SIGNER, key_of, posting
from trials.nodes import running, text

A, B = key_of(1), key_of(2)


def test_a_key_is_admitted_once(database: Database) -> None:
    with database.write() as connection:
        keys = Keys(connection)
        assert keys.state(A) == KeyState()
        first = keys.admit(A, "one \\ 名 \x7f", NOON)
        assert keys.admit(A, "another", NOON + 5) == first
        assert keys.get(A) == first
        assert keys.get(B) is None
        assert keys.state(A) == KeyState(admitted=True)
        assert keys.about([A, B]) == {A: ("one \\ 名 \x7f", KeyState(admitted=True))}


def test_a_key_ends_by_its_first_revocation(database: Database) -> None:
    with database.write() as connection:
        keys = Keys(connection)
        keys.admit(A, "a", NOON)
        keys.revoke(A, 7)
        keys.revoke(A, 9)
        row = keys.get(A)
        assert row is not None
        assert row.revoked_by == 7
        assert keys.state(A) == KeyState(admitted=True, revoked=True)


def test_answers_are_kept_until_their_challenge_expires(database: Database) -> None:
    with database.write() as connection:
        keys = Keys(connection)
        assert keys.answered("one") is None
        keys.note_answer("one", NOON + 10, AnsweredRow("ab", ("t1", "t4")), NOON)
        keys.note_answer("two", NOON + 20, AnsweredRow("cd", ()), NOON + 9)
        assert keys.answered("one") == AnsweredRow("ab", ("t1", "t4"))
        keys.note_answer("three", NOON + 30, AnsweredRow("ef", ()), NOON + 10)
        assert keys.answered("one") is None
        assert keys.answered("two") == AnsweredRow("cd", ())


def test_blocks_come_and_go_and_all_of_it_is_listed(database: Database) -> None:
    with database.write() as connection:
        moderation, keys = Moderation(connection), Keys(connection)
        before = keys.changes()
        assert moderation.block(A, " floods the rooms ", NOON)
        assert not moderation.block(A, "still does", NOON + 1)
        assert keys.state(A).blocked
        assert keys.changes() > before
        assert moderation.unblock(A, "talked to them", NOON + 2)
        assert not moderation.unblock(A, "again", NOON + 3)
        assert not keys.state(A).blocked
        rows = moderation.page(0, 10)
        assert [(row.id, row.action, row.reason, row.at) for row in rows] == [
            (1, "block", "floods the rooms", NOON),
            (2, "block", "still does", NOON + 1),
            (3, "unblock", "talked to them", NOON + 2),
        ]
        assert moderation.page(1, 1) == rows[1:2]


@pytest.mark.parametrize("reason", ["", "  ", "a\nb", "x" * (MAX_REASON + 1), "a\u202eb"])
def test_a_reason_is_one_line_that_can_be_read(database: Database, reason: str) -> None:
    with pytest.raises(InputError) as caught, database.write() as connection:
        Moderation(connection).block(A, reason, NOON)
    assert caught.value.code == "reason-form"


def test_what_is_not_there_cannot_be_moderated(database: Database) -> None:
    with pytest.raises(InputError) as caught, database.write() as connection:
        Moderation(connection).tombstone(1, "why not", NOON)
    assert caught.value.code == "message-unknown"
    with pytest.raises(InputError), database.write() as connection:
        Moderation(connection).block("no key", "why not", NOON)


def test_standings_follow_the_log_in_its_own_transactions(database: Database) -> None:
    """Many posts that depend on each other, handed over at once, are judged one after the other."""
    standings = Standings()
    with database.write() as connection:
        for key in (A, B):
            Keys(connection).admit(key, "an agent", NOON)
    with Log(database, SIGNER, [standings.fold], clock=lambda: NOON) as log:
        queue = [
            posting(text("trial"), who=1),
            posting(text("run"), who=2, reply_to=1),
            posting(text("run", requests="2"), who=1, reply_to=1),
            posting(text("disposition"), who=2, reply_to=2),
            posting(text("disposition"), who=1, reply_to=2),
            posting(text("withdraw"), who=1, reply_to=1),
            posting(text("run", requests="3"), who=2, reply_to=1),
            posting("hello", who=3),
            posting("revoke-v1", who=2),
            posting("hello", who=2),
            posting("hello", who=1),
        ]
        answers = [log.append(each, standings.judge) for each in queue]
        found = [answer.result() for answer in answers]
    assert [[fault.code for fault in each.problems] for each in found] == [
        *([], [], ["own_trial"], ["not_publisher"], [], [], ["trial_closed"], ["key_unknown"]),
        *([], ["key_revoked"], []),
    ]
    with database.read() as connection:
        trial = standing(connection, 1)
        assert trial is not None
        assert (trial.kind, trial.trial, trial.closes) == ("trial", 1, "2030-03-17T17:46:40Z")
        run = standing(connection, 2)
        assert run is not None
        assert (run.kind, run.trial, run.key) == ("run", 1, B)
        assert standing(connection, 99) is None


def test_a_block_holds_for_the_next_post(database: Database) -> None:
    standings = Standings()
    with database.write() as connection:
        Keys(connection).admit(A, "an agent", NOON)
    with Log(database, SIGNER, [standings.fold], clock=lambda: NOON) as log:
        assert not log.append(posting("one"), standings.judge).result().problems
        with database.write() as connection:
            Moderation(connection).block(A, "floods the rooms", NOON)
        refused = log.append(posting("two"), standings.judge).result()
        assert [fault.code for fault in refused.problems] == ["key_blocked"]


def test_a_tombstone_takes_the_text_alone(database: Database) -> None:
    standings = Standings()
    with Log(database, SIGNER, [standings.fold], clock=lambda: NOON) as log:
        log.append(posting(text("trial")), lambda *_: ()).result()
        with database.write() as connection:
            moderation = Moderation(connection)
            assert moderation.tombstone(1, "not theirs", NOON + 5)
            assert not moderation.tombstone(1, "not theirs", NOON + 6)
            assert moderation.tombstoned([1, 2]) == {1: NOON + 5}
            found = standing(connection, 1)
            assert found is not None
            assert found.closes == "2030-03-17T17:46:45Z"


@pytest.mark.parametrize("size", [40, 7_000])
def test_nothing_of_a_removed_text_stays_in_the_file(tmp_path: Path, size: int) -> None:
    """Neither of one within a page of the file nor of one over several."""
    path = tmp_path / "a.db"
    words = "".join(f"{number:04}-kept-by-mistake " for number in range(size // 20)).strip()
    with Database.open(f"sqlite:///{path}") as database:
        with Log(database, SIGNER, clock=lambda: NOON) as log:
            for content in ("before", words, "behind"):
                assert log.append(posting(content), lambda *_: ()).result().message
        with database.write() as connection:
            assert Moderation(connection).tombstone(2, "names somebody", NOON)
    # The last one who closes the database brings its log home.
    assert b"before" in path.read_bytes()
    assert b"kept-by-mistake" not in path.read_bytes()


def test_a_node_serves_on_each_database(database_url: str) -> None:
    with running(database_url) as node:
        node.admit(1, 2)
        trial = node.take(text("trial"))
        node.take(text("run"), who=2, reply_to=trial)
        assert [each["kind"] for each in node.json("messages")["items"]] == ["trial", "run"]
        assert node.json("rooms")["items"][0]["latest"] == 2
