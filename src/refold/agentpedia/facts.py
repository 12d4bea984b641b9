"""Facts about pins that others have to tell: texts behind a `contentRef`, stakes of registers.

    finder = FactFinder(database, Sources(transport, mans=(man,), servers=(files,), txs=(txs,)))
    report = finder.run(now)

A run writes down what new pins wait for, asks what is due, and stores each answer as it comes: in
short transactions, none of them open while a server is asked. It may be killed anywhere: what was
stored stays, the rest is due again. What makes a fact is decided in `content` and `stakes`.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

import msgspec

from refold.agentpedia.content import WantedText, next_try, wanted_text
from refold.agentpedia.event import EDITOR, REV
from refold.agentpedia.payload import decode_payload
from refold.agentpedia.sources import Sources, StakeAnswer, TextAnswer, ask_stake, ask_text
from refold.agentpedia.stakes import WantedStake, wanted_stake
from refold.db import Database
from refold.kernel.errors import UsageError
from refold.metaid.pin import Pin
from refold.metaid.store import ContentFact, Held, Position, StakeFact, Store, open_store

READER = "facts"
"""The name under which the store notes what this reader of pins has not seen."""
SCAN = "facts-scan"
"""The same, of a scan that is going on: what changes meanwhile is noted for it."""
PARALLEL = 4
"""Files and transactions that are asked for at once; each may hold a text of 50 MiB in memory."""
DUE = 200
"""Facts that are taken up at once."""
QUEUED = 200
"""New facts in one transaction: some 0.2 s, in which nobody else writes."""
MAX_KNOWN = 10_000
"""Settled answers that are remembered, so that a file that many revs point to is read once."""

_PATHS = (REV, EDITOR)
_Fact = TypeVar("_Fact", ContentFact, StakeFact)


class Tally(msgspec.Struct):
    """How many facts of one kind were asked for, and what came of it."""

    asked: int = 0
    verified: int = 0
    mismatch: int = 0
    unavailable: int = 0

    def count(self, state: str) -> None:
        """Count one."""
        self.asked += 1
        setattr(self, state, getattr(self, state) + 1)


class Report(msgspec.Struct, rename="camel"):
    """What a run did: facts newly waited for, what was asked, what that took."""

    queued: int = 0
    texts: Tally = msgspec.field(default_factory=Tally)
    stakes: Tally = msgspec.field(default_factory=Tally)
    requests: int = 0
    bytes_received: int = 0
    is_interrupted: bool = False


class _Found(msgspec.Struct, frozen=True):
    """What one job found: facts to be stored, and the text if it is verified."""

    texts: list[ContentFact] = []
    stakes: list[StakeFact] = []
    body: bytes | None = None


_Job = Callable[[], _Found | None]


class FactFinder:
    """Finds facts for the pins of one database; one run at a time."""

    def __init__(self, database: Database, sources: Sources, *, parallel: int = PARALLEL) -> None:
        """Raise UsageError `facts-parallel` for less than one request at a time."""
        if parallel < 1:
            raise UsageError("facts-parallel", f"{parallel} at a time", "allow at least one")
        self._database = database
        self._sources = sources
        self._parallel = parallel
        self._known: dict[WantedText, TextAnswer] = {}
        self._going: set[str] = set()
        self._stop = threading.Event()

    def run(
        self, now: int, *, limit: int | None = None, stop: threading.Event | None = None
    ) -> Report:
        """Ask what is due at `now` (Unix seconds), at most `limit` files and transactions.

        When `stop` is set the run ends with what it has; a request that is going on is waited for.
        Sources only make facts; raises what the database raises.
        """
        self._stop = stop or threading.Event()
        self._going = set()
        report = Report()
        transport = self._sources.transport
        before = (transport.requests, transport.bytes_received)
        report.queued = self._queue_new(now)
        with ThreadPoolExecutor(self._parallel, "refold-facts") as pool:
            try:
                for found in self._ask(pool, islice(self._jobs(now), limit)):
                    self._store(found, report)
            except BaseException:
                self._stop.set()
                raise
        report.requests = transport.requests - before[0]
        report.bytes_received = transport.bytes_received - before[1]
        report.is_interrupted = self._stop.is_set()
        return report

    # what new pins wait for

    def _queue_new(self, now: int) -> int:
        """Write down what pins wait for that changed since the last time; give how many facts."""
        with self._database.read() as connection:
            if open_store(connection).marks.changed_from(READER) is None:
                return 0
        with self._database.write() as connection:
            marks = open_store(connection).marks
            for reader in (READER, SCAN):
                marks.read_by(reader, _PATHS)
            since = marks.changed_from(READER)
            marks.settle(SCAN)
        queued = 0
        while since is not None and not self._stop.is_set():
            queued += self._scan(since, now)
            if self._stop.is_set():
                break
            with self._database.write() as connection:
                marks = open_store(connection).marks
                since = marks.changed_from(SCAN)
                marks.settle(READER if since is None else SCAN)
        return queued

    def _scan(self, since: int, now: int) -> int:
        """Queue the facts that pins wait for from a height on, where there are none yet."""
        queued = 0
        with self._database.read() as connection:
            pins = open_store(connection).pins.confirmed(Position(since, -1, ""), paths=_PATHS)
            waiting = (fact for pin in pins if (fact := _awaited(pin, now)) is not None)
            while not self._stop.is_set() and (batch := list(islice(waiting, QUEUED))):
                queued += self._queue(batch)
        return queued

    def _queue(self, batch: Sequence[ContentFact | StakeFact]) -> int:
        with self._database.write() as connection, _in_silence(open_store(connection)) as store:
            facts = store.facts
            texts = [fact for fact in batch if isinstance(fact, ContentFact)]
            texts = [fact for fact in texts if facts.content(fact.pin) is None]
            stakes = [fact for fact in batch if isinstance(fact, StakeFact)]
            stakes = [fact for fact in stakes if facts.stake(fact.pin) is None]
            facts.put_content(texts)
            facts.put_stakes(stakes)
        return len(texts) + len(stakes)

    # what is due

    def _jobs(self, now: int) -> Iterator[_Job]:
        """Give what is due, texts first, as far as there is somebody to ask."""
        sources = self._sources
        if sources.mans or sources.servers or sources.txs:
            while texts := self._due_texts(now):
                yield from texts
        if sources.txs:
            while stakes := self._due_stakes(now):
                yield from stakes

    def _due_texts(self, now: int) -> list[_Job]:
        with self._database.read() as connection:
            facts = open_store(connection).facts.due_content(now, DUE + len(self._going))
        files: dict[WantedText, list[ContentFact]] = {}
        for fact in self._not_going(facts):
            files.setdefault(WantedText(fact.uri, fact.expected), []).append(fact)
        return [self._text_job(wanted, asking, now) for wanted, asking in files.items()]

    def _due_stakes(self, now: int) -> list[_Job]:
        with self._database.read() as connection:
            store = open_store(connection)
            facts = self._not_going(store.facts.due_stakes(now, DUE + len(self._going)))
            applicants = {fact.pin: _applicant(store.pins.read(fact.pin)) for fact in facts}
        return [self._stake_job(fact, applicants[fact.pin], now) for fact in facts]

    def _not_going(self, facts: Sequence[_Fact]) -> list[_Fact]:
        """Leave out what is being asked for: as long as no answer is stored it counts as due."""
        left = [fact for fact in facts if fact.pin not in self._going]
        self._going |= {fact.pin for fact in left}
        return left

    def _text_job(self, wanted: WantedText, facts: Sequence[ContentFact], now: int) -> _Job:
        def job() -> _Found | None:
            answer = self._known.get(wanted) or ask_text(self._sources, wanted, self._stop)
            if answer is None:
                return None
            self._remember(wanted, answer)
            return _Found([_text_fact(fact, answer, now) for fact in facts], body=answer.body)

        return job

    def _stake_job(self, fact: StakeFact, applicant: str, now: int) -> _Job:
        def job() -> _Found | None:
            wanted = WantedStake(fact.txid, fact.amount)
            answer = ask_stake(self._sources, wanted, applicant, self._stop)
            return None if answer is None else _Found(stakes=[_stake_fact(fact, answer, now)])

        return job

    def _remember(self, wanted: WantedText, answer: TextAnswer) -> None:
        if not answer.finding.is_settled:
            return
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[wanted] = TextAnswer(answer.finding)

    # asking, and what is found

    def _ask(self, pool: ThreadPoolExecutor, jobs: Iterator[_Job]) -> Iterator[_Found]:
        """Do jobs, a few at a time, and give what they find as it comes."""
        going: set[Future[_Found | None]] = set()
        while True:
            while len(going) < self._parallel and not self._stop.is_set():
                job = next(jobs, None)
                if job is None:
                    break
                going.add(pool.submit(job))
            if not going:
                return
            done, going = wait(going, return_when=FIRST_COMPLETED)
            yield from (found for future in done if (found := future.result()) is not None)

    def _store(self, found: _Found, report: Report) -> None:
        with self._database.write() as connection, _in_silence(open_store(connection)) as store:
            if found.body is not None:
                store.pins.put_body(found.body)
            store.facts.put_content(found.texts)
            store.facts.put_stakes(found.stakes)
        for text in found.texts:
            report.texts.count(text.state)
            self._going.discard(text.pin)
        for stake in found.stakes:
            report.stakes.count(stake.state)
            self._going.discard(stake.pin)


def _awaited(pin: Pin, now: int) -> ContentFact | StakeFact | None:
    """Give the fact that a pin waits for, as one that nobody was asked about yet."""
    payload = decode_payload(pin.body)
    if payload is None:
        return None
    if pin.path == REV:
        text = wanted_text(payload)
        if text is None:
            return None
        return ContentFact(
            pin=pin.id,
            uri=text.uri,
            expected=text.expected,
            state="unavailable",
            reason="not-asked",
            tries=0,
            next_try=now,
        )
    stake = wanted_stake(pin.sender, payload)
    if stake is None:
        return None
    return StakeFact(
        pin=pin.id,
        txid=stake.txid,
        amount=stake.amount,
        state="unavailable",
        reason="not-asked",
        tries=0,
        next_try=now,
    )


def _applicant(register: Held | None) -> str:
    """Give whose stake a register names; the pin's body alone says it, and never changes."""
    payload = None if register is None else decode_payload(register.pin.body)
    editor = None if payload is None else payload.get("editor")
    return editor if isinstance(editor, str) else ""


def _text_fact(before: ContentFact, answer: TextAnswer, now: int) -> ContentFact:
    finding, tries = answer.finding, before.tries + 1
    again = None if finding.is_settled else next_try(tries, now)
    if before.state == "mismatch" and finding.state == "unavailable":
        return msgspec.structs.replace(before, tries=tries, next_try=again)
    return msgspec.structs.replace(
        before,
        state=finding.state,
        reason=finding.reason,
        detail=finding.detail,
        sha256=finding.actual,
        length=finding.size,
        source=finding.source,
        tries=tries,
        next_try=again,
    )


def _stake_fact(before: StakeFact, answer: StakeAnswer, now: int) -> StakeFact:
    finding, tries = answer.finding, before.tries + 1
    return msgspec.structs.replace(
        before,
        state=finding.state,
        reason=finding.reason,
        detail=finding.detail,
        found=finding.found,
        source=answer.source,
        tries=tries,
        next_try=next_try(tries, now) if finding.state == "unavailable" else None,
    )


@contextmanager
def _in_silence(store: Store) -> Iterator[Store]:
    """Keep this reader from being told of the facts that it stores itself.

    Nobody else writes in the same transaction, so what was settled before it still is.
    """
    settled = [r for r in (READER, SCAN) if store.marks.changed_from(r) is None]
    yield store
    for reader in settled:
        store.marks.settle(reader)
