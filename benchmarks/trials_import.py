"""Archives of cold trials: messages a second that are verified and kept, and read offline.

An archive of ordinary messages of 600 characters by 50 keys, and one of which a tenth are reports
on a trial. Taken in as another node's, restored as the node's own with all indexes, and only
verified. The floor is PyNaCl's check of the signatures alone. CPU time of this process, and the
rate by the clock beside it: the figure of the goal is the one by the clock.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nacl.bindings import crypto_sign_open

from harness import Figure, arguments
from refold.db import Database
from refold.kernel.keys import public_of, sign
from refold.trials.archive.lines import lines_of
from refold.trials.archive.reading import read_archive
from refold.trials.checkpoint import Signer
from refold.trials.exchange.exporting import export_archive
from refold.trials.exchange.importing import import_foreign
from refold.trials.exchange.restoring import Own, restore
from refold.trials.intake import read_content
from refold.trials.log.writer import Log
from refold.trials.node import Node
from refold.trials.signing import SignedMessage
from refold.trials.store.indexes import Indexes
from refold.trials.store.keys import Keys
from refold.trials.store.model import Posting
from refold.trials.store.standings import Standings

MESSAGES, QUICK = 100_000, 5_000
KEYS = 50
GOAL = 6_000
NOON = 1_900_000_000
SIGNER = Signer("node.example/v1/public", b"a seed of a benchmark's log.....")
WORDS = "where an agent got stuck, and what came back, "
TRIAL = """trial-v1
target: https://shop.io/start
goal: buy a book
done-when: an order number comes back
budget: 40 requests, 20 minutes
owner-proof: https://shop.io/.well-known/lockzone-trials"""
RUN = """run-v1
outcome: blocked
runtime: curl 8.7 on Linux
owner-proof: verified
blocker: 403, error code: 1010
blocker-class: client_refused
requests: {number}
---
{words}"""


@dataclass(frozen=True)
class Rate:
    """Messages a second by the clock, and µs of CPU for each."""

    per_s: float
    cpu_us: float


def seed_of(who: int) -> bytes:
    """Give the seed of a key."""
    return who.to_bytes(32, "big")


PUBLIC = [public_of(seed_of(who)).hex() for who in range(KEYS)]


def posting(who: int, content: str, reply_to: int | None = None) -> Posting:
    """Give a signed post."""
    plain = SignedMessage("commons", reply_to, content, PUBLIC[who], "")
    signature = sign(seed_of(who), plain.preimage).hex()
    signed = SignedMessage("commons", reply_to, content, plain.public_key, signature)
    post = read_content(content).post
    if post is None:
        raise RuntimeError(f"no post: {content}")
    return Posting(signed, post, signed.digest)


def written(folder: Path, count: int, reports: bool) -> tuple[Path, list[Posting]]:
    """Write a log and its archive; give the file, and the posts."""
    posts = [posting(0, TRIAL)]
    for number in range(1, count):
        if reports and number % 10 == 0:
            run = RUN.format(number=number, words=WORDS * 8)
            posts.append(posting(1 + number % (KEYS - 1), run.strip(), 1))
        else:
            posts.append(posting(number % KEYS, f"{number}: {WORDS * 13}"[:600].strip()))
    file = folder / f"reports-{reports}.jsonl"
    standings, indexes = Standings(), Indexes()
    with Database.open(f"sqlite:///{folder / f'{reports}.db'}", durability="normal") as database:
        with database.write() as connection:
            for key in PUBLIC:
                Keys(connection).admit(key, "bench", 0)
        with Log(database, SIGNER, (standings.fold, indexes.fold), clock=lambda: NOON) as log:
            for begin in range(0, count, 2_000):
                batch = posts[begin : begin + 2_000]
                waiting = [log.append(each, lambda *_: ()) for each in batch]
                for each in waiting:
                    each.result()
        with database.read() as connection, file.open("wb") as out:
            export_archive(connection, out.write)
    return file, posts


def measured(count: int, job: Callable[[], object]) -> Rate:
    """Do a job once."""
    started, before = time.perf_counter(), time.process_time()
    job()
    cpu, seconds = time.process_time() - before, time.perf_counter() - started
    return Rate(count / seconds, cpu / count * 1e6)


def floor(posts: Sequence[Posting]) -> Rate:
    """Check the signatures, and nothing else."""
    ready = [
        (
            bytes.fromhex(each.message.signature) + each.message.preimage,
            bytes.fromhex(each.message.public_key),
        )
        for each in posts
    ]

    def job() -> None:
        for body, key in ready:
            crypto_sign_open(body, key)

    return measured(len(posts), job)


def figures(count: int) -> list[Figure]:
    """Measure all of it."""
    own = Own(Node("https://node.example"), SIGNER, (Indexes().fold,))
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, posts = written(folder, count, reports=False)
        bare = floor(posts)
        base = f"{bare.per_s:,.0f} bare"

        def verifying() -> None:
            with file.open("rb") as stream:
                for _ in read_archive(lines_of(stream.readline), SIGNER.key):
                    pass

        found.append(("verify", measured(count, verifying), ""))
        found.append(("import", taken(folder / "foreign.db", file, count, None), f"≥ {GOAL:,}"))
        found.append(("restore", taken(folder / "own.db", file, count, own), f"≥ {GOAL:,}"))
        mixed, _ = written(folder, count, reports=True)
        found.append(("restore_reports", taken(folder / "mixed.db", mixed, count, own), ""))
    return [
        each
        for what, rate, goal in found
        for each in (
            Figure(f"trials.{what}_per_s", rate.per_s, "messages/s", base, goal),
            Figure(f"trials.{what}_cpu_us", rate.cpu_us, "µs", f"{bare.cpu_us:,.0f} bare"),
        )
    ]


def taken(path: Path, file: Path, count: int, own: Own | None) -> Rate:
    """Take an archive into a new database."""
    with Database.open(f"sqlite:///{path}") as database, file.open("rb") as stream:
        lines = lines_of(stream.readline)

        def job() -> object:
            if own is None:
                return import_foreign(database, lines, SIGNER.key, NOON)
            return restore(database, lines, own, NOON)

        return measured(count, job)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    for figure in figures(QUICK if options.quick else MESSAGES):
        figure.print(as_json=options.json)


if __name__ == "__main__":
    main()
