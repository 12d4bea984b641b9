"""Postings for the log, signed by throw-away keys, and its keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from threading import Event

from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.keys import public_of, sign
from refold.trials.checkpoint import Signer
from refold.trials.intake import read_content
from refold.trials.log.verifying import verify_log
from refold.trials.log.writer import Log
from refold.trials.signing import SignedMessage
from refold.trials.store.model import Message, Posting
from refold.trials.store.reading import Messages

NAME = "node.example/v1/public"
SIGNER = Signer(NAME, b"a log's first key...............")
NEXT_SIGNER = Signer(NAME, b"a log's second key..............")
NOON = 1_900_000_000
"""A time at which a test's clock may stand, in Unix seconds."""
NUMBERS = count()


def seed_of(who: int) -> bytes:
    return who.to_bytes(32, "big")


def key_of(who: int) -> str:
    return public_of(seed_of(who)).hex()


def signed(
    content: str, *, who: int = 1, reply_to: int | None = None, room: str = "commons"
) -> SignedMessage:
    """Give a message as it is posted."""
    plain = SignedMessage(room, reply_to, content, key_of(who), "")
    signature = sign(seed_of(who), plain.preimage).hex()
    return SignedMessage(room, reply_to, content, plain.public_key, signature)


def posting(
    content: str, *, who: int = 1, reply_to: int | None = None, room: str = "commons"
) -> Posting:
    """Give a message as the log takes it; the content must be right."""
    message = signed(content, who=who, reply_to=reply_to, room=room)
    post = read_content(content).post
    assert post is not None
    return Posting(message, post, message.digest)


def anything(connection: Connection, of: Posting, now: int) -> tuple[()]:
    """Judge that everything may be posted."""
    del connection, of, now
    return ()


def append(log: Log, *postings: Posting) -> list[Message]:
    """Append some postings; all must be taken."""
    futures = [log.append(each, anything) for each in postings]
    found = [future.result().message for future in futures]
    assert all(found)
    return [each for each in found if each is not None]


def all_messages(database: Database) -> list[Message]:
    with database.read() as connection:
        return Messages(connection).since(0, 1_000_000)


def problems_of(database: Database) -> list[str]:
    """Give what is wrong with the log."""
    with database.read() as connection:
        return [str(each) for each in verify_log(connection).problems]


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


@contextmanager
def together(log: Log) -> Iterator[None]:
    """Let everything that is appended inside share one transaction, after one posting before."""
    entered, may_go = Event(), Event()

    def wait(connection: Connection, of: Posting, now: int) -> tuple[()]:
        entered.set()
        may_go.wait()
        return anything(connection, of, now)

    first = log.append(posting(f"holds the writer up, {next(NUMBERS)}"), wait)
    assert entered.wait(60)
    try:
        yield
    finally:
        may_go.set()
        first.result()
