"""Cold trials read: services, blockers, the record of a key, over logs of 1,000 and 1,000,000.

Both logs are made alike: a thousand messages a day up to two days ago, one in three a format post,
one in twenty a run on one service that grows with the log, all others on services of one size. So
answers are of equal size, and the ratio says what the length of the log costs. A node keeps an
answer as long as nothing changed: `_kept` is the same question again and again, the others are a
new one each time. Made logs are kept in the folder that REFOLD_BENCH_DATABASES names.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256, sha512
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # it ships no types

from harness import Figure, arguments
from load import Target, load, node, request
from refold.db import Database
from refold.trials.checkpoint import Checkpoint, Signer, log_name
from refold.trials.log.keys import begin_log
from refold.trials.log.state import State, grown
from refold.trials.log.turn import sign
from refold.trials.store.indexes import Indexes
from refold.trials.store.keytables import keys
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages
from refold.trials.store.writing import grow_tiles, insert_messages, insert_tiles
from refold.trials.tables import Kind

FEW, MANY, QUICK = 1_000, 1_000_000, 20_000
REQUESTS = 2_000
A_DAY = 1_000
A_BATCH = 5_000
DATABASES = "REFOLD_BENCH_DATABASES"
ORIGIN = "https://node.example"
HOT = "hot.io"
RUNTIMES = ("curl 8.7", "claude code", "codex", "gemini cli", "python-httpx 0.28", "go 1.23")
CLASSES = ("client_refused", "docs_missing", "rate_limited", "js_required", "other")
GOAL, RECORD_GOAL = 3_000, 2_000


def key_of(who: int) -> str:
    """Give what looks like a key; nothing here verifies signatures."""
    return sha256(b"key %d" % who).hexdigest()


REPORTER = key_of(10**9)
"""A key with exactly ten reports, all in the last tenth of each log."""


def posts(count: int) -> Iterator[tuple[Kind, str, int | None, str]]:
    """Give kind, content, what is answered and key of so many messages, by id from 1."""
    trial, run, publisher = 0, 0, ""
    every = count // 100
    for id_ in range(1, count + 1):
        place = id_ % 200
        if id_ > count * 9 // 10 and (id_ % every) == every // 2:
            yield "run", report(id_), 1, REPORTER
        elif id_ == 1 or place == 2:
            trial, publisher = id_, key_of(id_)
            yield "trial", request_for(HOT if id_ == 1 else f"s{id_ // 200}.io"), None, publisher
        elif place % 20 == 5:
            yield "run", report(id_), 1, key_of(10**6 + id_)
        elif place % 4 == 3:
            run = id_
            yield "run", report(id_), trial, key_of(10**6 + id_ // 7)
        elif place % 20 == 16:
            content = "disposition-v1\nstatus: fixed\nversion: commit 1f3a9c2"
            yield "disposition", f"{content}\n---\n{id_}", run, publisher
        elif place % 50 == 30:
            tool = f"review-v1\ntool: tool{id_}\nruntime: {RUNTIMES[id_ % 6]}\nverdict: partly"
            more = f"observed: 403\nblocker-class: {CLASSES[id_ % 5]}"
            yield "review", f"{tool}\n{more}", None, key_of(10**6 + id_ // 7)
        else:
            yield "message", f"{id_}: a word on where it got stuck", None, key_of(id_ % 1_000)


def request_for(host: str) -> str:
    """Give a trial."""
    return (
        f"trial-v1\ntarget: https://{host}/start\ngoal: buy a book\ndone-when: an order number\n"
        f"budget: 40 requests\nowner-proof: https://{host}/.well-known/lockzone-trials\n"
        "---\nWhere does a fresh agent get stuck?"
    )


def report(id_: int) -> str:
    """Give a run; one in three completed, the others met a class."""
    head = f"run-v1\nruntime: {RUNTIMES[id_ // 3 % 6]}\nowner-proof: verified\nrequests: {id_ % 40}"
    step = f"step: GET https://shop.io/start -> 403, sha256 {id_:016x}"
    if id_ % 3 == 0:
        return f"{head}\noutcome: completed\n{step}"
    which = CLASSES[id_ // 7 % 5]
    return f"{head}\noutcome: blocked\nblocker: 403\nblocker-class: {which}\n{step}"


def messages(count: int, end: int) -> Iterator[Message]:
    """Give a log whose last message was accepted at `end`."""
    threads: dict[int, int] = {}
    for id_, (kind, content, reply_to, key) in enumerate(posts(count), 1):
        thread = id_ if reply_to is None else threads.get(reply_to, reply_to)
        if kind == "run":
            threads[id_] = thread
        yield Message(
            id=id_,
            accepted_at=end - (count - id_) * 86_400 // A_DAY,
            digest=sha256(b"%d" % id_).hexdigest(),
            kind=kind,
            room="research",
            reply_to=reply_to,
            thread=thread,
            content=content,
            public_key=key,
            signature=sha512(b"%d" % id_).hexdigest(),
        )


def make(path: Path, count: int) -> None:
    """Make a log in bulk, its tree, and its indexes."""
    signer = Signer(log_name(ORIGIN), bytes(32))
    end = int(time.time()) // 86_400 * 86_400 - 2 * 86_400
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        with database.write() as connection:
            state = begin_log(connection, signer, 0)
            row = {"public_key": REPORTER, "name": "reporter", "admitted_at": 0}
            connection.execute(keys.insert(), row)
        batch: list[Message] = []
        for message in messages(count, end):
            batch.append(message)
            if len(batch) == A_BATCH or message.id == count:
                state = append(database, state, batch, signer)
                batch = []
        with database.write() as connection:
            Indexes().rebuild(connection)


def append(database: Database, state: State, batch: list[Message], signer: Signer) -> State:
    """Append messages and sign."""
    with database.write() as connection:
        insert_messages(connection, batch)
        growth, begun = grown(state, batch), state.begun
        rows = growth.rows
        insert_tiles(connection, {at: rows[at] for at in rows if at not in begun})
        grow_tiles(connection, {at: rows[at] for at in rows if at in begun})
        last = batch[-1]
        checkpoint = Checkpoint(signer.key.name, last.id, growth.frontier.root())
        signed = sign(connection, state.checkpoints, checkpoint, [signer], last.accepted_at)
        return State(last.id, last.accepted_at, last.digest, growth.frontier, growth.tiles, signed)


def questions(path: Path, count: int) -> dict[str, list[bytes]]:
    """Give the requests of each kind, each a new question but those that are `_kept`."""
    with Database.open(f"sqlite:///{path}", readonly=True) as database, database.read() as found:
        first = Messages(found).by_key(REPORTER, 0, 1)[0].id
    record = f"/v1/public/keys/{REPORTER}/record?limit=10"
    far = 2**53 - 1
    service = f"/v1/public/services/s{count // 200 - 1}.io?limit=10"
    numbers = range(REQUESTS)
    return {
        "services_kept": [request("/v1/public/services?limit=5") for _ in numbers],
        "blockers_kept": [request("/v1/public/blockers?limit=20") for _ in numbers],
        "service": [request(f"{service}&before={far - n}") for n in numbers],
        "hot_service": [
            request(f"/v1/public/services/{HOT}?limit=10&before={far - n}") for n in numbers
        ],
        "blockers": [
            request(f"/v1/public/blockers?limit=20&until={n + 3000}-01-01") for n in numbers
        ],
        "record_kept": [request(f"{record}&proofs=false") for _ in numbers],
        "record": [request(f"{record}&proofs=false&after={n % first}") for n in numbers],
        "record_proofs": [request(f"{record}&after={n % first}") for n in numbers],
    }


def main() -> None:
    """Run everything and print the figures."""
    options = arguments(__doc__.partition("\n")[0] if __doc__ else "")
    many = QUICK if options.quick else MANY
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.environ.get(DATABASES, name))
        paths = {count: folder / f"trials_reads_{count}.db" for count in (FEW, many)}
        for count, path in paths.items():
            if not path.exists():
                started = time.process_time()
                make(path, count)
                rate = count / (time.process_time() - started)
                print(f"made {path.name}: {rate:,.0f} messages/CPU s", file=sys.stderr)
        for figure in figures(paths[FEW], FEW, paths[many], many):
            figure.print(as_json=options.json)


def figures(few: Path, small: int, path: Path, many: int) -> Iterator[Figure]:
    """Ask both nodes in turns."""
    settings = {"parts": "trials", "public_origin": ORIGIN}
    asked = {small: questions(few, small), many: questions(path, many)}
    with (
        node("--database", f"sqlite:///{few}", **settings) as (one, first),
        node("--database", f"sqlite:///{path}", **settings) as (other, second),
    ):
        bare = load([Target(other, second, [request("/health")] * REQUESTS)])[0]
        yield Figure("trials.reads_floor_cpu_us", bare.cpu_us, "µs of /health")
        for kind in asked[small]:
            small_load, large = load(
                [
                    Target(one, first, asked[small][kind]),
                    Target(other, second, asked[many][kind]),
                ]
            )
            goal = RECORD_GOAL if kind.startswith("record") else GOAL
            size = f"{large.bytes:,} bytes an answer, {small_load.bytes:,} of {small:,} messages"
            yield Figure(f"trials.reads_per_s.{kind}", large.rps, "answers/s", size, f"≥ {goal:,}")
            yield Figure(
                f"trials.reads_cpu_us.{kind}", large.cpu_us, "µs", f"{bare.cpu_us:,.0f} bare"
            )
            ratio = large.cpu_us / small_load.cpu_us
            yield Figure(f"trials.reads_flatness.{kind}", ratio, "times", "", "≤ 1.3")
        for count, server in ((small, first), (many, second)):
            resident = psutil.Process(server.pid).memory_info().rss / 1e6
            yield Figure(f"trials.reads_mb.{count}", resident, "MB resident")


if __name__ == "__main__":
    main()
