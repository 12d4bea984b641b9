"""Cold trials: signed posts a second that a node verifies and has on the disk before it answers.

One worker of `refold serve` over a new file of SQLite, 32 connections that are kept alive, requests
made beforehand, each post sent once. The floor is what no such node can do without: PyNaCl's check
of the signature and a row in a table with two indexes, one commit for each 32, in one process
without HTTP. Ordinary messages of 600 characters; reports answer trials, one of each key, so the
log looks up what they relate to and the indexes follow. Afterwards the whole log is verified. Then
the figures of `trials_import`; those of reading, which take a log of a million, are `trials_reads`.
"""

import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from nacl.bindings import crypto_sign_open

from harness import Figure, arguments
from load import Load, Target, json_request, load_once, node
from refold.db import Database
from refold.kernel.keys import public_of, sign
from refold.trials.log.verifying import verify_log
from refold.trials.signing import SignedMessage
from refold.trials.store.keys import Keys
from trials_import import MESSAGES
from trials_import import QUICK as FEW_MESSAGES
from trials_import import figures as figures_of_import

POSTS, QUICK = 4_000, 500
ROUNDS = 5
CONNECTIONS = 32
KEYS = 50
GOAL = 2_000
WORDS = "where an agent got stuck, and what came back, "
TRIAL = """trial-v1
target: https://shop.io/start/{number}
goal: buy a book
done-when: an order number comes back
budget: 40 requests, 20 minutes
owner-proof: https://shop.io/.well-known/lockzone-trials"""
PUBLISHER, TESTERS = 0, KEYS - 1


@dataclass(frozen=True)
class Floor:
    """What the bare work comes to: posts a second by the clock, and CPU µs a post."""

    rate: float
    cpu_us: float


def seed_of(who: int) -> bytes:
    """Give a throw-away seed."""
    return who.to_bytes(32, "big")


PUBLIC = [public_of(seed_of(who)).hex() for who in range(KEYS)]


def signed(who: int, content: str, reply_to: int | None = None) -> SignedMessage:
    """Give a post."""
    plain = SignedMessage("commons", reply_to, content, PUBLIC[who], "")
    return msgspec.structs.replace(plain, signature=sign(seed_of(who), plain.preimage).hex())


def message(number: int) -> SignedMessage:
    """Give an ordinary message."""
    return signed(1 + number % TESTERS, f"{number}: {WORDS * 13}"[:600].strip())


def trial(number: int) -> SignedMessage:
    """Give a trial, which is message `number` from 1 on."""
    return signed(PUBLISHER, TRIAL.format(number=number))


def report(number: int) -> SignedMessage:
    """Give the report of a run; each key has one on each trial."""
    content = (
        "run-v1\noutcome: blocked\nruntime: curl 8.7 on Linux, raw HTTP\nowner-proof: verified\n"
        "requests: 3\nblocker: 403, error code: 1010\nblocker-class: client_refused\n"
        f"step: GET https://shop.io/start -> 403, sha256 {number:016x}\n---\n{WORDS * 5}"
    )
    return signed(1 + number % TESTERS, content.strip(), 1 + number // TESTERS)


def requests_of(messages: Sequence[SignedMessage]) -> list[bytes]:
    """Give the bytes of some posts."""
    return [json_request("/v1/messages", msgspec.json.encode(each)) for each in messages]


def served(folder: Path) -> AbstractContextManager[tuple[int, subprocess.Popen[bytes]]]:
    """Run a node over a new database with all keys admitted; gives its port and process."""
    key = folder / "trials.key"
    key.write_text(seed_of(1_000).hex())
    url = f"sqlite:///{folder / 'trials.db'}"
    with Database.open(url) as database, database.write() as connection:
        for public in PUBLIC:
            Keys(connection).admit(public, "bench", 0)
    return node(
        *("--database", url, "--parts", "trials"),
        public_origin="https://node.example",
        trials_key=str(key),
        trials_limit_posts_minute="0",
        trials_limit_posts_day="0",
    )


def floor(path: Path, messages: Sequence[SignedMessage]) -> Floor:
    """Verify and insert, and nothing else."""
    ready = [
        (
            bytes.fromhex(each.signature) + each.preimage,
            bytes.fromhex(each.public_key),
            (number, each.digest, each.room, each.public_key, each.signature, each.content),
        )
        for number, each in enumerate(messages)
    ]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, digest TEXT UNIQUE, room TEXT,"
        " public_key TEXT, signature TEXT, content TEXT)"
    )
    connection.execute("CREATE INDEX by_room ON messages (room, id)")
    started, before = time.perf_counter(), time.process_time()
    for begin in range(0, len(ready), CONNECTIONS):
        connection.execute("BEGIN IMMEDIATE")
        for body, public, row in ready[begin : begin + CONNECTIONS]:
            crypto_sign_open(body, public)
            connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.execute("COMMIT")
    cpu, seconds = time.process_time() - before, time.perf_counter() - started
    connection.close()
    return Floor(len(ready) / seconds, cpu / len(ready) * 1e6)


def loads(port: int, server: subprocess.Popen[bytes], rounds: Sequence[list[bytes]]) -> Load:
    """Send each round once; give the medians."""
    done = [
        load_once(Target(port, server, requests), connections=CONNECTIONS) for requests in rounds
    ]
    return Load(
        statistics.median(each.rps for each in done),
        statistics.median(each.cpu_us for each in done),
        done[-1].bytes,
    )


def main() -> None:
    """Run everything and print the figures."""
    options = arguments(__doc__.partition("\n")[0] if __doc__ else "")
    count = QUICK if options.quick else POSTS
    messages = [message(n) for n in range(count * ROUNDS)]
    reports = [report(n) for n in range(count * ROUNDS // 2)]
    trials = [trial(n) for n in range(1, 2 + len(reports) // TESTERS)]
    first = [message(-n) for n in range(1, 200)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        floors = [
            floor(folder / f"floor{n}.db", messages[n * count : (n + 1) * count])
            for n in range(ROUNDS)
        ]
        with served(folder) as (port, server):
            load_once(Target(port, server, requests_of(trials)), connections=1)
            load_once(Target(port, server, requests_of(first)), connections=CONNECTIONS)
            posted = loads(port, server, rounds_of(requests_of(messages)))
            answered = loads(port, server, rounds_of(requests_of(reports)))
        with (
            Database.open(f"sqlite:///{folder / 'trials.db'}", readonly=True) as database,
            database.read() as connection,
        ):
            verified = verify_log(connection)
    sent = len(trials) + len(first) + len(messages) + len(reports)
    if verified.problems or verified.size != sent:
        raise RuntimeError(f"the log is not that of the posts: {verified}")
    bare = statistics.median(each.rate for each in floors)
    bare_cpu = statistics.median(each.cpu_us for each in floors)
    figures = (
        Figure("trials.posts_per_s", posted.rps, "posts/s", f"{bare:,.0f} bare", f"≥ {GOAL:,}"),
        Figure("trials.posts_cpu_us", posted.cpu_us, "µs", f"{bare_cpu:,.0f} bare"),
        Figure("trials.floor_per_s", bare, "posts/s"),
        Figure("trials.reports_per_s", answered.rps, "posts/s", f"{bare:,.0f} bare"),
        Figure("trials.reports_cpu_us", answered.cpu_us, "µs", f"{bare_cpu:,.0f} bare"),
    )
    for figure in (*figures, *figures_of_import(FEW_MESSAGES if options.quick else MESSAGES)):
        figure.print(as_json=options.json)


def rounds_of(requests: list[bytes]) -> list[list[bytes]]:
    """Cut requests into rounds."""
    size = len(requests) // ROUNDS
    return [requests[n * size : (n + 1) * size] for n in range(ROUNDS)]


if __name__ == "__main__":
    main()
