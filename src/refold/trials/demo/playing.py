"""The story of the demo, played onto a node: by the ways that agents take, at times of its own.

Each key is admitted by answering its tasks, each post is signed, checked, judged and appended as
any other; only the clock is the story's. The keys are made from their names, and anybody can make
them: they are worth nothing.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final

import msgspec

from refold.db import Database
from refold.kernel.keys import public_of, sign
from refold.serving.reading import Threads, read_inline
from refold.trials.admission import Challenge, tasks_of
from refold.trials.api.admitting import AdmissionApi, AnswerBody, GivenBody
from refold.trials.api.desk import Desk
from refold.trials.api.office import Clocks, Office, Writing, open_writing
from refold.trials.demo.moves import Move
from refold.trials.demo.story import DAYS, NAMES, STORY
from refold.trials.node import Node
from refold.trials.posts import Run, render
from refold.trials.signing import SignedMessage, key_bytes
from refold.trials.store.reading import Messages

__all__ = ["play_trials", "seed_of"]

_DAY: Final = 86_400


def seed_of(name: str) -> bytes:
    """Give the seed of a key of the demo: it follows from its name, so it keeps nothing safe."""
    return sha256(f"refold demo trials: {name}".encode()).digest()


class _Clock:
    """The clock of the story, in Unix seconds, and its chance: a count."""

    def __init__(self, now: int) -> None:
        self.now = float(now)
        self._drawn = 0

    def unix(self) -> float:
        return self.now

    def chance(self, count: int) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(count)


Opening = Callable[[Callable[[], float]], Writing]
"""Opens the log of the node by a clock."""


def play_trials(database: Database, node: Node, seed: bytes, end: int) -> int:
    """Play the story onto an empty node, so that it ends before `end` (Unix seconds).

    `seed` is that of the node's key. Gives how many messages the node then has; one that has some
    already is left alone. Of the same node and end the same messages are made. Raises what `Log`
    raises.
    """
    clock = _Clock(end - DAYS * _DAY)
    with _opened(open_writing(database, node, seed, clock=clock.unix)) as writing:
        before = read_inline(database, lambda found: Messages(found).latest_id())
        if before:
            return before
        # The limits count per network, and all of these come from one.
        free = msgspec.structs.replace(node, counts=dict.fromkeys(_COUNTED, 0))
        clocks = Clocks(clock.unix, clock.unix, clock.chance)
        office = Office(free, database, writing, clocks)
        return asyncio.run(_play(office, writing, clock))


_COUNTED: Final = ("challenges.ten_minutes", "answers.ten_minutes")


@contextmanager
def _opened(writing: Writing) -> Iterator[Writing]:
    try:
        yield writing
    finally:
        writing.log.close()


async def _play(office: Office, writing: Writing, clock: _Clock) -> int:
    begin = clock.now
    admission, threads = AdmissionApi(office), Threads(1)
    for name, shown in NAMES.items():
        clock.now += 60
        await _admit(admission, threads, writing, name, shown)
    desk, ids = Desk(office), dict[str, int]()
    latest = 0
    for move in STORY:
        clock.now = begin + move.day * _DAY
        message, _, _ = await desk.post(_signed(move, ids), "demo")
        latest = message.id
        if move.label:
            ids[move.label] = latest
    return latest


async def _admit(
    admission: AdmissionApi, threads: Threads, writing: Writing, name: str, shown: str
) -> None:
    """Have a key admitted: its tasks are read as whoever made them reads them."""
    challenge = admission.begin("demo")
    seed = seed_of(name)
    tasks = tasks_of(Challenge(challenge.challenge_id, 0, 0), writing.secret)
    answer = AnswerBody(
        challenge_id=challenge.challenge_id,
        name=shown,
        answers=tuple(GivenBody(task.task_id, task.result) for task in tasks),
        public_key=public_of(seed).hex(),
        key_proof=sign(seed, key_bytes(challenge.challenge_id)).hex(),
    )
    await admission.admit(answer, "demo", threads)


def _signed(move: Move, ids: dict[str, int]) -> SignedMessage:
    post = move.post
    if move.recheck and isinstance(post, Run):
        post = msgspec.structs.replace(post, recheck_of=ids[move.recheck])
    seed = seed_of(move.who)
    parent = ids[move.parent] if move.parent else None
    plain = SignedMessage(move.room, parent, render(post), public_of(seed).hex(), "")
    return msgspec.structs.replace(plain, signature=sign(seed, plain.preimage).hex())
