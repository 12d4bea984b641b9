"""The log of trials on both databases: what is appended, in which order, by whom it is judged."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Barrier, Thread

import pytest
from sqlalchemy import Connection, func, insert, select, text

from refold.db import Database
from refold.kernel.errors import SourceError, UsageError
from refold.kernel.merkle import EMPTY_ROOT, Frontier, verify_consistency, verify_inclusion
from refold.trials.checkpoint import read_checkpoint
from refold.trials.codes import Fault, fault
from refold.trials.leaf import hashed_leaf
from refold.trials.log import writer
from refold.trials.log.verifying import verify_log
from refold.trials.log.writer import Log
from refold.trials.posts import Post
from refold.trials.store import tables
from refold.trials.store.model import Appended, Message, Posting
from refold.trials.store.reading import Messages
from refold.trials.store.tree import Tree
from refold.trials.store.writing import drop_text
from trials.examples import RUN, TRIAL, content
from trials.logged import (
    NAME,
    NOON,
    SIGNER,
    Clock,
    all_messages,
    anything,
    append,
    key_of,
    posting,
    problems_of,
    together,
)

DAY = 86_400


@dataclass
class Folded:
    """A fold that remembers what it was given."""

    seen: list[tuple[Message, Post]] = field(default_factory=list)

    def __call__(self, connection: Connection, message: Message, post: Post) -> None:
        # A fold finds the row of its message, and of all before.
        rows = select(func.count()).select_from(tables.messages)
        assert (connection.scalar(rows) or 0) >= message.id
        self.seen.append((message, post))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(database: Database, clock: Clock) -> Iterator[Log]:
    with Log(database, SIGNER, clock=clock) as opened:
        yield opened


def refuse(connection: Connection, of: Posting, now: int) -> tuple[Fault, ...]:
    del connection, of, now
    return (fault("key_unknown"),)


def divide(connection: Connection, of: Posting, now: int) -> tuple[()]:
    raise ZeroDivisionError(str((connection, of, now)))


def root_of(messages: Sequence[Message]) -> bytes:
    frontier = Frontier()
    for each in messages:
        frontier.append(hashed_leaf(each.id, each.accepted_at, each.digest, each.signature))
    return frontier.root()


@pytest.mark.usefixtures("log")
def test_a_log_that_was_opened_has_a_checkpoint(database: Database) -> None:
    with database.read() as connection:
        newest = Tree(connection).checkpoint()
        assert newest is not None
        said = read_checkpoint(newest.note, [SIGNER.key])
        assert (said.name, said.size, said.root) == (NAME, 0, EMPTY_ROOT)
        assert Messages(connection).latest_id() == 0
        assert Messages(connection).get(1) is None
    assert problems_of(database) == []


def test_a_message_is_read_as_it_was_posted(database: Database, log: Log) -> None:
    trial = posting(content(*TRIAL), who=1, room="research")
    run = posting(content(*RUN), who=2, reply_to=1)
    chat = posting("a word on 研究 \\ and \U0001f600\ttab\nsecond line", who=3, reply_to=2)
    given = append(log, trial, run, chat)
    assert [each.id for each in given] == [1, 2, 3]
    assert [each.kind for each in given] == ["trial", "run", "message"]
    assert [each.thread for each in given] == [1, 1, 1]
    for message, of in zip(given, (trial, run, chat), strict=True):
        signed = of.message
        assert message.accepted_at == NOON
        assert (message.room, message.reply_to) == (signed.room, signed.reply_to)
        assert (message.content, message.digest) == (signed.content, signed.digest)
        assert (message.public_key, message.signature) == (signed.public_key, signed.signature)
    assert all_messages(database) == given


def test_pages_of_messages(database: Database, log: Log) -> None:
    rooms = ("commons", "research")
    given = append(
        log,
        *(posting(f"{n}", who=n % 3 + 1, room=rooms[n % 2]) for n in range(20)),
        *(posting(f"re {n}", reply_to=3, room="research") for n in range(5)),
        posting("re re", reply_to=22),
    )
    with database.read() as connection:
        messages = Messages(connection)
        assert messages.latest_id() == 26
        assert messages.since(4, 3) == given[4:7]
        assert messages.since(0, 2, before=6) == [given[4], given[3]]
        assert messages.since(4, 10, before=6) == [given[4]]
        commons = [each for each in given if each.room == "commons"]
        assert messages.room("commons", 0, 100) == commons
        assert messages.room("commons", 3, 2, before=20) == [commons[9], commons[8]]
        assert messages.room("nowhere", 0, 100) == []
        assert messages.thread(3, 0, 100) == [given[2], *given[20:]]
        assert messages.thread(3, 22, 2) == given[22:24]
        assert messages.thread(22, 0, 100) == []
        mine = [each for each in given if each.public_key == key_of(2)]
        assert messages.by_key(key_of(2), 0, 100) == mine
        assert messages.of_ids([5, 2, 99]) == {2: given[1], 5: given[4]}
        assert messages.of_digests([given[7].digest, "ab" * 32]) == {given[7].digest: given[7]}


@pytest.mark.parametrize("size", [1, 2, 3, 255, 256, 257, 520])
def test_the_tree_is_that_of_the_messages(database: Database, log: Log, size: int) -> None:
    with together(log):
        futures = [log.append(posting(f"{n}"), anything) for n in range(size - 1)]
    assert all(future.result().message for future in futures)
    messages = all_messages(database)
    root = root_of(messages)
    with database.read() as connection:
        tree = Tree(connection)
        newest = tree.checkpoint()
        assert newest is not None
        said = read_checkpoint(newest.note, [SIGNER.key])
        assert (said.size, said.root) == (size, root)
        for message in messages[:: max(1, size // 7)]:
            leaf = hashed_leaf(message.id, message.accepted_at, message.digest, message.signature)
            proof = tree.inclusion(message.id, size)
            assert verify_inclusion(leaf, message.id - 1, size, proof, root)
        for first in {0, 1, size // 2, size}:
            before = root_of(messages[:first])
            assert tree.root(first) == before
            assert verify_consistency(first, before, size, root, tree.consistency(first, size))
    assert problems_of(database) == []


def test_a_log_goes_on_where_it_was(database: Database, clock: Clock) -> None:
    for opening in range(6):
        with Log(database, SIGNER, clock=clock) as log:
            append(log, *(posting(f"{opening}: {n}") for n in range(100)))
    assert [each.id for each in all_messages(database)] == list(range(1, 601))
    assert problems_of(database) == []


def test_two_processes_append_to_one_log(database_url: str) -> None:
    with Database.open(database_url) as one, Database.open(database_url) as other:
        with Log(one, SIGNER) as first, Log(other, SIGNER) as second:
            futures = [
                (first if n % 2 else second).append(posting(f"{n % 150}"), anything)
                for n in range(300)
            ]
            outcomes = [future.result() for future in futures]
        assert sum(each.is_duplicate for each in outcomes) == 150
        assert [each.id for each in all_messages(one)] == list(range(1, 151))
        assert problems_of(other) == []


def test_what_is_closed_before_it_is_written_is_written(database: Database) -> None:
    log = Log(database, SIGNER)
    futures = [log.append(posting(f"{n}"), anything) for n in range(700)]
    log.close()
    assert [future.done() for future in futures] == [True] * 700
    assert len(all_messages(database)) == 700
    with pytest.raises(UsageError) as caught:
        log.append(posting("late"), anything)
    assert caught.value.code == "log-closed"
    log.close()


def test_more_than_can_be_written_soon_is_refused_at_once(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_WAITING", 10)
    with together(log):
        for n in range(10):
            log.append(posting(f"{n}"), anything)
        with pytest.raises(SourceError) as caught:
            log.append(posting("one more"), anything)
    assert caught.value.code == "log-busy"


def test_the_same_post_many_times_at_once_is_one_row(database: Database, log: Log) -> None:
    same = posting("the same", reply_to=None)
    other = posting("the same", room="research")
    barrier = Barrier(50)
    outcomes: list[Appended] = []

    def post() -> None:
        barrier.wait()
        outcomes.append(log.append(same, anything).result())

    threads = [Thread(target=post) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 50
    assert [each.is_duplicate for each in outcomes].count(False) == 1
    assert {each.message for each in outcomes} == set(all_messages(database))
    # In another room it is another message.
    assert [each.id for each in append(log, other)] == [2]


def test_a_duplicate_is_known_before_it_is_judged(log: Log) -> None:
    append(log, posting("once"))
    again = log.append(posting("once"), refuse).result()
    assert again.is_duplicate
    assert again.message is not None
    assert again.message.id == 1
    with together(log):
        refused = log.append(posting("never"), refuse)
        taken = log.append(posting("never"), anything)
        duplicate = log.append(posting("never"), refuse)
    assert [each.code for each in refused.result().problems] == ["key_unknown"]
    assert not taken.result().is_duplicate
    assert duplicate.result().is_duplicate


def test_a_message_without_its_text_is_the_same_message(database: Database, log: Log) -> None:
    first, second = append(log, posting("to be removed"), posting("stays"))
    with database.write() as connection:
        assert drop_text(connection, 1)
        assert not drop_text(connection, 1)
    again = log.append(posting("to be removed"), anything).result()
    assert again.is_duplicate
    assert again.message is not None
    assert again.message.content is None
    found = all_messages(database)
    assert [each.content for each in found] == [None, "stays"]
    assert found[0].digest == first.digest
    with database.read() as connection:
        tree = Tree(connection)
        assert tree.root(2) == root_of([first, second])
        report = verify_log(connection)
    assert (report.removed, report.problems) == (1, ())


def test_from_a_coroutine(database: Database, log: Log) -> None:
    async def post_all() -> list[Appended | BaseException]:
        postings = [posting(f"{n % 40}") for n in range(80)]
        return await asyncio.gather(
            *(log.appended(each, anything) for each in postings),
            log.appended(posting("bad"), divide),
            log.appended(posting("refused"), refuse),
            return_exceptions=True,
        )

    *outcomes, bad, refused = asyncio.run(post_all())
    assert isinstance(bad, ZeroDivisionError)
    assert isinstance(refused, Appended)
    assert refused.message is None
    assert sum(isinstance(each, Appended) and each.is_duplicate for each in outcomes) == 40
    assert len(all_messages(database)) == 40


def test_a_caller_that_left_harms_nobody(database: Database, log: Log) -> None:
    async def leave() -> None:
        with together(log):
            waiting = asyncio.ensure_future(log.appended(posting("left"), anything))
            await asyncio.sleep(0)
            waiting.cancel()

    asyncio.run(leave())
    with together(log):
        cancelled = log.append(posting("cancelled"), anything)
        assert cancelled.cancel()
    append(log, posting("after"))
    assert all_messages(database)[-1].content == "after"
    assert problems_of(database) == []


def test_a_judge_or_a_fold_that_fails_spoils_only_its_own_post(
    database: Database, clock: Clock
) -> None:
    folded = Folded()

    def fold(connection: Connection, message: Message, post: Post) -> None:
        folded(connection, message, post)
        if message.content == "folds badly":  # PostgreSQL ends such a transaction
            connection.execute(text("SELECT nonsense"))
        if message.content == "folds wrongly":
            raise KeyError(message.id)

    def fail(connection: Connection, of: Posting, now: int) -> tuple[()]:
        half = {"level": 7, "number": 0, "hashes": b"half"}
        connection.execute(insert(tables.tiles), half)
        raise LookupError(of.digest, now)

    with Log(database, SIGNER, [fold], clock=clock) as log:
        with together(log):
            futures = {
                name: log.append(posting(name, reply_to=None), judge)
                for name, judge in (
                    ("a", anything),
                    ("judged badly", fail),
                    ("b", anything),
                    ("folds badly", anything),
                    ("c", refuse),
                    ("folds wrongly", anything),
                    ("d", anything),
                )
            }
        raised = {name: type(future.exception()) for name, future in futures.items()}
        assert raised == {
            **dict.fromkeys("abcd", type(None)),
            "judged badly": LookupError,
            "folds badly": SourceError,
            "folds wrongly": KeyError,
        }
        append(log, posting("e"))
    contents = [each.content for each in all_messages(database)]
    assert contents[1:] == ["a", "b", "d", "e"]
    assert problems_of(database) == []


def test_folds_are_told_of_every_message_once_in_order(database: Database, clock: Clock) -> None:
    folded = Folded()
    with Log(database, SIGNER, [folded], clock=clock) as log, together(log):
        log.append(posting(content(*TRIAL)), anything)
        log.append(posting("chat"), anything)
        log.append(posting("chat"), anything)
        log.append(posting("no"), refuse)
        log.append(posting("reply", reply_to=2), anything)
        log.append(posting(content(*RUN), who=2, reply_to=2), anything)
        log.append(posting("more"), anything)
    assert [message for message, _ in folded.seen] == all_messages(database)
    kinds = [post.kind for _, post in folded.seen]
    assert kinds == ["message", "trial", "message", "message", "run", "message"]


def test_time_does_not_go_back(database: Database, log: Log, clock: Clock) -> None:
    for now in (NOON, NOON - 50, NOON + 10.9, NOON + 10, 0, NOON + 11):
        clock.now = now
        append(log, posting(f"at {now}"))
    times = [each.accepted_at - NOON for each in all_messages(database)]
    assert times == [0, 0, 10, 10, 10, 11]
    assert problems_of(database) == []


def test_a_judge_is_told_the_time_that_is_recorded(log: Log, clock: Clock) -> None:
    told: list[int] = []

    def judge(connection: Connection, of: Posting, now: int) -> tuple[()]:
        told.append(now)
        return anything(connection, of, now)

    clock.now = NOON + 5.7
    first = log.append(posting("a"), judge).result().message
    clock.now = NOON
    second = log.append(posting("b"), judge).result().message
    assert first is not None
    assert second is not None
    assert [first.accepted_at, second.accepted_at] == told == [NOON + 5] * 2


def test_old_checkpoints_are_kept_for_each_day(database: Database, log: Log, clock: Clock) -> None:
    midnight = NOON - NOON % DAY + DAY
    for now in (0, 1, 2, DAY, DAY + 1, 3 * DAY, 5 * DAY, 5 * DAY + 1, 5 * DAY + 2):
        clock.now = midnight + now
        append(log, posting(f"at {now}"))
    with database.read() as connection:
        tree = Tree(connection)
        kept = tree.checkpoints(100)
        # Newest and the one before; the last of each day before; the empty one of the day before.
        assert [each.size for each in kept] == [9, 8, 6, 5, 3, 0]
        assert tree.checkpoints(2, below=6) == kept[3:5]
        roots = [read_checkpoint(each.note, [SIGNER.key]) for each in reversed(kept)]
        for before, after in pairwise(roots):
            proof = tree.consistency(before.size, after.size)
            assert verify_consistency(before.size, before.root, after.size, after.root, proof)
    assert problems_of(database) == []
