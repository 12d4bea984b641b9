"""Texts and stakes found on the local chain, stored in both databases, and what the fold makes."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from contract.factworlds import Wiki, digest, man, wiki
from refold.agentpedia.content import FIRST_PAUSE
from refold.agentpedia.event import PATHS
from refold.agentpedia.facts import READER, FactFinder
from refold.metaid.metafile import Metafiles
from refold.metaid.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.db import Database
    from refold.kernel.fetch import Fetched

TEXT = b"the lighthouse stands on a rock\n" * 90
OTHER = b"another text"
NOW = 1_790_000_000


@pytest.fixture
def here(database: Database) -> Iterator[Wiki]:
    with wiki(database) as made:
        yield made


def finder(here: Wiki, **sources: Any) -> FactFinder:
    return FactFinder(here.database, here.sources(**sources))


def broken_file(here: Wiki, data: bytes) -> str:
    """Pin a file in chunks one of which is not the one that its index says."""
    listed = []
    for start in range(0, len(data), 1_000):
        piece = data[start : start + 1_000]
        body = OTHER if start == 1_000 else piece
        pin = here.net.pin(here.bob, "/file/_chunk", body, content_type="metafile/chunk;binary")
        listed.append({"sha256": digest(piece), "pinId": pin})
    index = {"sha256": digest(data), "fileSize": len(data), "chunkList": listed}
    body = json.dumps(index).encode()
    return here.net.pin(here.bob, "/file/index", body, content_type="metafile/index")


class Meddling:
    """The client of a wiki's chain; while it asks, another writer takes its turn."""

    def __init__(self, here: Wiki) -> None:
        self._here = here
        self._client = here.here.transport
        self.turns = 0

    @property
    def requests(self) -> int:
        return self._client.requests

    @property
    def bytes_received(self) -> int:
        return self._client.bytes_received

    def get(self, url: str, **options: Any) -> Fetched:
        with self._here.database.write() as connection:
            open_store(connection).pins.put_body(url.encode())
            self.turns += 1
        return self._client.get(url, **options)


class TestTexts:
    def test_ac_a6_good_wrong_and_missing_texts_whole_and_in_chunks(self, here: Wiki) -> None:
        net, bob = here.net, here.bob
        late = here.unsent(TEXT + b"late")
        packed = net.file(bob, TEXT, chunk_bytes=800, compress=True)
        whole = net.file(bob, TEXT)
        good = {
            "whole": here.rev("whole", whole, digest(TEXT)),
            "chunks": here.rev("chunks", packed, digest(TEXT)),
        }
        wrong = {
            "other": here.rev("other", whole, digest(OTHER)),
            "other-chunks": here.rev("other-chunks", packed, digest(OTHER)),
            "broken": here.rev("broken", broken_file(here, TEXT), digest(TEXT)),
        }
        missing = here.rev("late", late.pin.id, digest(TEXT + b"late"))
        net.mine()
        here.take_up()
        before = here.full()
        assert before["unverified"] == sorted([*good.values(), *wrong.values(), missing])

        seeker = finder(here)
        report = seeker.run(NOW)
        tally = report.texts
        assert (tally.asked, tally.verified, tally.mismatch, tally.unavailable) == (6, 2, 3, 1)
        assert report.queued == 6
        assert report.requests > 0
        assert report.bytes_received > 2 * len(TEXT)
        for pin in good.values():
            fact = here.text(pin)
            assert (fact.state, fact.sha256, fact.next_try) == ("verified", digest(TEXT), None)
            assert here.body(digest(TEXT)) == TEXT
        for pin in wrong.values():
            assert (here.text(pin).state, here.text(pin).next_try) == ("mismatch", None)
        fact = here.text(missing)
        assert (fact.state, fact.reason, fact.tries) == ("unavailable", "pin-unknown", 1)
        assert fact.next_try == NOW + FIRST_PAUSE

        full = here.full()
        assert {pin: full["grave"][pin]["reason"] for pin in wrong.values()} == dict.fromkeys(
            wrong.values(), "content-hash-mismatch"
        )
        assert set(full["entry"]) == {"en:whole", "en:chunks", "en:late"}
        assert full["unverified"] == [missing]

        here.send(late)
        assert seeker.run(NOW + FIRST_PAUSE - 1).texts.asked == 0
        report = seeker.run(NOW + FIRST_PAUSE)
        assert (report.queued, report.texts.asked, report.texts.verified) == (0, 1, 1)
        assert here.body(digest(TEXT + b"late")) == TEXT + b"late"
        assert here.full()["unverified"] == []
        assert here.full()["digest"] == full["digest"]
        assert seeker.run(NOW + 10**9).requests == 0

    def test_without_transactions_one_server_alone_is_not_believed(self, here: Wiki) -> None:
        """Indexers of pins and of files at one origin are one server."""
        wrong = here.rev("wrong", here.net.file(here.bob, TEXT), digest(OTHER))
        right = here.rev("right", here.net.file(here.bob, TEXT), digest(TEXT))
        here.net.mine()
        here.take_up()
        finder(here, txs=()).run(NOW)
        fact = here.text(wrong)
        assert (fact.state, fact.reason) == ("unavailable", "unproven")
        assert digest(TEXT) in fact.detail
        assert here.text(right).state == "verified"
        assert here.full()["unverified"] == [wrong]

        finder(here).run(NOW + FIRST_PAUSE)
        assert (here.text(wrong).state, here.text(wrong).tries) == ("mismatch", 2)

    def test_two_servers_that_say_the_same_are_and_not_for_good(self, here: Wiki) -> None:
        """Both wrong in the same way, until one of them is mended."""
        name = here.net.file(here.bob, TEXT)
        rev = here.rev("a", name, digest(OTHER))
        here.net.mine()
        here.take_up()
        with here.net.serve() as second:
            other = man(here.here.transport, second)
            seeker = finder(here, mans=(here.here.man(), other), servers=(), txs=())
            report = seeker.run(NOW)
            assert report.texts.mismatch == 1
            fact = here.text(rev)
            assert (fact.state, fact.next_try) == ("mismatch", NOW + FIRST_PAUSE)
            assert {here.here.url, second} == set(fact.source.split(" and "))
            assert here.full()["grave"][rev]["reason"] == "content-hash-mismatch"
            here.net.faults(error_500=1.0)
            assert seeker.run(NOW + FIRST_PAUSE).texts.mismatch == 1
            later = here.text(rev)
            assert (later.state, later.source, later.tries) == ("mismatch", fact.source, 2)
            assert later.next_try is not None
            assert later.next_try > NOW + FIRST_PAUSE
            assert seeker.run(NOW + FIRST_PAUSE).texts.asked == 0

    def test_revs_of_one_file_cost_one_reading(self, here: Wiki) -> None:
        name = here.net.file(here.bob, TEXT, chunk_bytes=1_000)
        first = [here.rev(f"a{n}", name, digest(TEXT)) for n in range(3)]
        here.net.mine()
        here.take_up()
        seeker = finder(here)
        report = seeker.run(NOW)
        assert (report.texts.asked, report.texts.verified) == (3, 3)
        assert report.requests == 1 + 3  # the index, and each of its chunks
        again = here.rev("b", name, digest(TEXT))
        here.net.mine()
        here.take_up()
        report = seeker.run(NOW + 1)
        assert (report.queued, report.texts.verified, report.requests) == (1, 1, 0)
        assert {here.text(pin).state for pin in [*first, again]} == {"verified"}

    def test_a_file_in_more_pieces_than_anybody_makes_is_left(
        self, here: Wiki, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("refold.agentpedia.sources.MAX_PIECES", 3)
        data = bytes(5)
        rev = here.rev("a", here.net.file(here.bob, data, chunk_bytes=1), digest(data))
        here.net.mine()
        here.take_up()
        report = finder(here, servers=()).run(NOW)
        assert here.text(rev).reason == "too-many-pieces"
        assert report.requests < 12


class TestStakes:
    def test_good_wrong_and_missing_stakes(self, here: Wiki) -> None:
        net = here.net
        late = here.unsent(b"a payment")
        own, foreign = net.fund(here.carol, 5_000), net.fund(here.bob, 5_000)
        net.mine()
        good = here.register(own)
        wrong = {"stake-foreign": here.register(foreign), "stake-short": here.register(own, 5_001)}
        missing = here.register(late.pin.txid)
        here.net.pin(here.carol, "/protocols/agentpedia/editor", {"v": 1, "action": "register"})
        net.mine()
        here.take_up()
        seeker = finder(here)
        tally = seeker.run(NOW).stakes
        assert (tally.asked, tally.verified, tally.mismatch, tally.unavailable) == (4, 1, 2, 1)
        fact = here.stake(good)
        assert (fact.state, fact.found, fact.next_try) == ("verified", 5_000, None)
        assert fact.source == f"{here.here.url}/open-api-mvc"
        for reason, pin in wrong.items():
            fact = here.stake(pin)
            assert (fact.state, fact.reason, fact.next_try) == ("mismatch", reason, None)
        fact = here.stake(missing)
        assert (fact.state, fact.reason) == ("unavailable", "tx-unknown")

        here.send(late)
        report = seeker.run(NOW + FIRST_PAUSE)
        assert report.stakes.asked == 1
        assert here.stake(missing).reason == "stake-foreign"
        assert seeker.run(NOW + 10**9).requests == 0

    def test_a_registration_waits_for_its_stake_and_a_wrong_one_is_refused(
        self, here: Wiki
    ) -> None:
        """From the case to the tier, over the chain, the explorer and the database (spec §4)."""
        net, carol = here.net, here.carol
        late = here.unsent(b"to be sent by carol")
        text = here.rev("a", net.file(here.bob, TEXT), digest(TEXT))
        net.mine()
        case = here.editor(here.alice, "challenge", nonce="0123456789abcdef")
        scores = dict.fromkeys(("accuracy", "citation", "neutrality"), 4)
        said = {"v": 1, "targetRev": text, "score": 4, "dimensions": scores}
        review = net.pin(carol, "/protocols/agentpedia/review", said)
        named = {"challengePin": case, "responsePin": review}
        here.editor(carol, "poc-response", **named)
        own = net.fund(carol, 5_000)
        foreign = net.fund(here.bob, 5_000)
        wrong = here.register(foreign, case=case, review=review)
        missing = here.register(late.pin.txid, case=case, review=review)
        right = here.register(own, case=case, review=review)
        net.mine()
        for founder in here.founders:
            here.editor(founder, "endorse", registerPin=missing)
        net.mine()
        here.take_up()

        seeker = finder(here)
        seeker.run(NOW)
        full, name = here.full(), carol.globalmetaid
        assert full["grave"][wrong]["reason"] == "stake-mismatch"
        assert (full["editor"][name]["status"], full["editor"][name]["tier"]) == ("pending", None)
        assert full["unverifiedStakes"] == [missing]

        for founder in here.founders:
            here.editor(founder, "endorse", registerPin=right)
        net.mine()
        here.take_up()
        full = here.full()
        assert full["editor"][name]["status"] == "active"
        assert full["editor"][name]["registeredAt"] == full["register"][right]["height"]

        here.send(late)  # which neither carol pays nor it her
        seeker.run(NOW + FIRST_PAUSE)
        full = here.full()
        assert full["grave"][missing]["reason"] == "stake-mismatch"
        assert full["editor"][name]["status"] == "active"
        assert full["unverifiedStakes"] == []

    def test_without_a_source_stakes_wait_and_nothing_is_guessed(self, here: Wiki) -> None:
        register = here.register(here.net.fund(here.carol, 5_000))
        here.net.mine()
        here.take_up()
        report = finder(here, txs=()).run(NOW)
        assert (report.queued, report.stakes.asked, report.requests) == (1, 0, 0)
        fact = here.stake(register)
        assert (fact.state, fact.reason, fact.tries) == ("unavailable", "not-asked", 0)
        assert finder(here).run(NOW + 1).stakes.verified == 1


class TestTheWorker:
    def test_only_what_is_new_is_read(self, here: Wiki) -> None:
        """Idle runs ask nobody and write nothing; a pin at an old height is found all the same."""
        name = here.net.file(here.bob, TEXT)
        first = here.rev("a", name, digest(TEXT))
        here.net.mine()
        here.take_up()
        seeker = finder(here)
        assert seeker.run(NOW).queued == 1
        with here.database.read() as connection:
            assert open_store(connection).marks.changed_from(READER) is None
        with here.database.write():  # nobody else may write, so a run that did would not return
            idle = seeker.run(NOW + 1)
        assert (idle.queued, idle.requests) == (0, 0)
        second = here.rev("b", name, digest(OTHER))
        here.net.mine()
        here.net.mine(3)
        here.take_up()
        assert seeker.run(NOW + 2).queued == 1
        assert (here.text(first).tries, here.text(second).state) == (1, "mismatch")

    def test_a_pin_that_moves_keeps_its_fact(self, here: Wiki) -> None:
        rev = here.rev("a", here.net.file(here.bob, TEXT), digest(TEXT))
        here.net.mine()
        here.take_up()
        seeker = finder(here)
        seeker.run(NOW)
        fact = here.text(rev)
        with here.database.write() as connection:
            open_store(connection).pins.roll_back(0, here.here.url)
        here.net.reorg(1, blocks=3)
        here.take_up()
        report = seeker.run(NOW + 1)
        assert (report.queued, report.requests) == (0, 0)
        assert here.text(rev) == fact

    def test_readers_of_the_pins_are_told_where_a_state_changed(self, here: Wiki) -> None:
        rev = here.rev("a", here.net.file(here.bob, TEXT), digest(OTHER))
        here.net.mine()
        here.take_up()
        with here.database.write() as connection:
            marks = open_store(connection).marks
            marks.read_by("wiki", PATHS)
            marks.settle("wiki")
        finder(here).run(NOW)
        with here.database.read() as connection:
            store = open_store(connection)
            assert store.marks.changed_from("wiki") == store.pins.place(rev).height  # type: ignore[union-attr]  # it was written

    def test_a_limit_and_a_stop_leave_the_rest_due(self, here: Wiki) -> None:
        for number in range(6):
            name = here.net.file(here.bob, TEXT + bytes([number]))
            here.rev(f"a{number}", name, digest(TEXT + bytes([number])))
        here.net.mine()
        here.take_up()
        seeker = finder(here)
        assert seeker.run(NOW, limit=2).texts.asked == 2
        stop = threading.Event()
        stop.set()
        halted = seeker.run(NOW, stop=stop)
        assert (halted.is_interrupted, halted.texts.asked, halted.requests) == (True, 0, 0)
        report = seeker.run(NOW)
        assert (report.is_interrupted, report.texts.verified) == (False, 4)

    def test_what_was_stored_before_an_interrupt_stays(
        self, here: Wiki, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(4):
            name = here.net.file(here.bob, TEXT + bytes([number]))
            here.rev(f"a{number}", name, digest(TEXT + bytes([number])))
        here.net.mine()
        here.take_up()
        resolve = Metafiles.resolve
        asked = []

        def interrupted(*arguments: Any) -> Any:
            asked.append(arguments)
            if len(asked) == 3:
                raise KeyboardInterrupt
            return resolve(*arguments)

        monkeypatch.setattr(Metafiles, "resolve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            FactFinder(here.database, here.sources(), parallel=1).run(NOW)
        monkeypatch.undo()
        report = finder(here).run(NOW)
        assert (report.queued, report.texts.verified) == (0, 2)

    def test_no_write_is_open_while_a_server_is_asked(self, here: Wiki) -> None:
        """Another writer gets its turn during each request."""
        rev = here.rev("a", here.net.file(here.bob, TEXT), digest(TEXT))
        register = here.register(here.net.fund(here.carol, 5_000))
        here.net.mine()
        here.take_up()
        transport = Meddling(here)
        FactFinder(here.database, here.sources(transport)).run(NOW)
        assert transport.turns > 1
        assert (here.text(rev).state, here.stake(register).state) == ("verified", "verified")
