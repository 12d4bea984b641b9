"""AC-A6 and stakes the whole way: pinned on a chain, synced, looked up, folded, stored, checked."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from contract.factworlds import Wiki, digest, wiki
from contract.test_fact_finder import OTHER, TEXT, broken_file
from refold.agentpedia.content import FIRST_PAUSE
from refold.agentpedia.demo.onchain import stream_on
from refold.agentpedia.event import PATHS, REV
from refold.agentpedia.facts import FactFinder
from refold.agentpedia.fold import Fold
from refold.agentpedia.indexer import Follower, Turn, check_view, indexing
from refold.agentpedia.intake import check_payloads
from refold.agentpedia.rules import PRD
from refold.agentpedia.state import Options
from refold.agentpedia.store import open_views
from refold.db import Database
from refold.metaid.sync import Looked, Source, Sync

NOW = 1_790_000_000
LATER = NOW + FIRST_PAUSE
MUCH_LATER = NOW + 30 * 86_400


class Way:
    """A node that follows the chain of a wiki, with somebody to ask, and what it stores."""

    def __init__(self, here: Wiki, stack: ExitStack, options: Options) -> None:
        self.here = here
        self.options = options
        self.sources = [Source(here.here.man(), here.here.txs())]
        self.sync = Sync(here.database, self.sources, PATHS)
        self.indexer = stack.enter_context(indexing(here.database, PRD, options))
        self.follower = Follower(self.indexer, FactFinder(here.database, here.sources()))

    def turn(self, now: int, **facts: dict[str, str] | None) -> Turn:
        """Take a round; the view is that of the chain with the facts that should be known by now.

        `texts` and `stakes` say which those are.
        """
        turn = self.follower.follow(self.sync.round(now), now)
        known: Any = {"content_facts": facts.get("texts") or {}, "stake_facts": facts.get("stakes")}
        stream = stream_on(self.here.net)
        check_payloads(stream)
        fold = Fold(PRD, Options(**known))
        fold.apply_many(stream.events, stream.faults)
        tip = self.here.net.height + 1
        fold.advance(tip)
        assert turn.view is not None
        assert (turn.view.height, turn.view.digest) == (tip, fold.view(tip).digest())
        checked = check_view(self.here.database, PRD, self.options)
        assert checked is not None
        assert checked.is_right
        return turn

    def value(self, section: str, key: str) -> Any:
        with self.here.database.read() as connection:
            return open_views(connection).values.value(section, key)

    def grave(self, pin: str) -> str | None:
        grave = self.value("grave", pin)
        return None if grave is None else grave["reason"]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def here(database: Database) -> Iterator[Wiki]:
    with wiki(database) as made:
        made.net.quirks("man-p2p", ignores_reorgs=False)
        yield made


def test_ac_a6_good_wrong_and_missing_texts_whole_and_in_chunks(
    here: Wiki, stack: ExitStack
) -> None:
    net, bob = here.net, here.bob
    good_late, wrong_late = here.unsent(TEXT + b"late"), here.unsent(TEXT + b"never said")
    packed, whole = net.file(bob, TEXT, chunk_bytes=800, compress=True), net.file(bob, TEXT)
    good = [here.rev("whole", whole, digest(TEXT)), here.rev("chunks", packed, digest(TEXT))]
    wrong = [
        here.rev("other", whole, digest(OTHER)),
        here.rev("other-chunks", packed, digest(OTHER)),
        here.rev("broken", broken_file(here, TEXT), digest(TEXT)),
    ]
    late = here.rev("late", good_late.pin.id, digest(TEXT + b"late"))
    lying = here.rev("lying", wrong_late.pin.id, digest(OTHER))
    net.mine()
    named = {"v": 1, "lang": "en", "slug": "lying", "title": "lying", "type": "edit"}
    text = {"content": "more of it", "contentHash": digest(b"more of it")}
    above = net.pin(here.alice, REV, {**named, **text, "parentRev": lying, "basedOn": lying})
    net.mine()
    way = Way(here, stack, Options())

    texts = dict.fromkeys(good, "verified") | dict.fromkeys(wrong, "mismatch")
    turn = way.turn(NOW, texts=texts)
    assert turn.facts is not None
    found = turn.facts.texts
    assert (found.asked, found.verified, found.mismatch, found.unavailable) == (7, 2, 3, 2)
    assert {way.grave(pin) for pin in wrong} == {"content-hash-mismatch"}
    for key in ("en:other", "en:other-chunks", "en:broken"):
        assert way.value("entry", key) is None
    for key in ("en:whole", "en:chunks", "en:late"):
        assert len(way.value("entry", key)["versions"]) == 1
    assert way.value("entry", "en:lying")["history"] == [lying, above]

    net.mine()
    net.send(good_late.raw)
    net.send(wrong_late.raw)
    net.mine()
    assert way.turn(LATER - 1, texts=texts).facts.texts.asked == 0  # type: ignore[union-attr]  # somebody looks
    turn = way.turn(LATER, texts={**texts, late: "verified", lying: "mismatch"})
    assert turn.facts is not None
    assert turn.view is not None
    assert (turn.facts.texts.verified, turn.facts.texts.mismatch) == (1, 1)
    assert (here.text(late).state, here.text(lying).state) == ("verified", "mismatch")
    assert (way.grave(late), way.grave(lying)) == (None, "content-hash-mismatch")
    assert way.grave(above) == "edit-without-entry"
    assert turn.view.rolled_back_to is not None
    assert way.value("entry", "en:lying") is None
    again = way.turn(MUCH_LATER, texts={**texts, lying: "mismatch"})
    assert again.view is not None
    assert (again.facts.requests, again.view.rows) == (0, 0)  # type: ignore[union-attr]  # somebody looks


def test_stakes_good_wrong_and_missing_from_the_case_to_the_tier(
    here: Wiki, stack: ExitStack
) -> None:
    net, carol = here.net, here.carol
    late = here.unsent(b"what carol claims and neither pays nor is paid")
    text = here.rev("a", net.file(here.bob, TEXT), digest(TEXT))
    net.mine()
    case = here.editor(here.alice, "challenge", nonce="0123456789abcdef")
    scores = dict.fromkeys(("accuracy", "citation", "neutrality"), 4)
    said = {"v": 1, "targetRev": text, "score": 4, "dimensions": scores}
    review = net.pin(carol, "/protocols/agentpedia/review", said)
    here.editor(carol, "poc-response", challengePin=case, responsePin=review)
    own, foreign = net.fund(carol, 5_000), net.fund(here.bob, 5_000)
    wrong = here.register(foreign, case=case, review=review)
    missing = here.register(late.pin.txid, case=case, review=review)
    right = here.register(own, case=case, review=review)
    net.mine()
    for founder in here.founders:
        here.editor(founder, "endorse", registerPin=missing)
    net.mine()
    way = Way(here, stack, Options(stake_facts={}))
    name, texts = carol.globalmetaid, {text: "verified"}

    stakes = {right: "verified", wrong: "mismatch", missing: "unavailable"}
    turn = way.turn(NOW, texts=texts, stakes=stakes)
    found = turn.facts.stakes  # type: ignore[union-attr]  # somebody looks
    assert (found.asked, found.verified, found.mismatch, found.unavailable) == (3, 1, 1, 1)
    assert (way.grave(wrong), way.grave(missing)) == ("stake-mismatch", None)
    assert way.value("editor", name)["status"] == "pending"

    for founder in here.founders:
        here.editor(founder, "endorse", registerPin=right)
    net.mine()
    way.turn(NOW + 1, texts=texts, stakes=stakes)
    assert way.value("editor", name)["status"] == "active"

    here.send(late)
    way.turn(MUCH_LATER, texts=texts, stakes={**stakes, missing: "mismatch"})
    assert way.grave(missing) == "stake-mismatch"
    assert way.value("editor", name)["status"] == "active"


def test_a_register_that_waited_for_its_stake_counts_when_that_is_seen(
    here: Wiki, stack: ExitStack
) -> None:
    """The explorer is away at first: nothing is guessed, and nobody registered."""
    net, carol = here.net, here.carol
    text = here.rev("a", net.file(here.bob, TEXT), digest(TEXT))
    net.mine()
    case = here.editor(here.alice, "challenge", nonce="0123456789abcdef")
    scores = dict.fromkeys(("accuracy", "citation", "neutrality"), 4)
    said = {"v": 1, "targetRev": text, "score": 4, "dimensions": scores}
    review = net.pin(carol, "/protocols/agentpedia/review", said)
    here.editor(carol, "poc-response", challengePin=case, responsePin=review)
    register = here.register(net.fund(carol, 5_000), case=case, review=review)
    net.mine()
    for founder in here.founders:
        here.editor(founder, "endorse", registerPin=register)
    net.mine()
    way = Way(here, stack, Options(stake_facts={}))
    name, texts = carol.globalmetaid, {text: "verified"}

    net.faults(error_500=1.0, only="/open-api-mvc")
    way.turn(NOW, texts=texts, stakes={register: "unavailable"})
    assert here.stake(register).state == "unavailable"
    assert way.value("editor", name)["status"] == "pending"
    net.faults()
    turn = way.turn(LATER, texts=texts, stakes={register: "verified"})
    assert turn.facts.stakes.verified == 1  # type: ignore[union-attr]  # somebody looks
    assert way.value("editor", name)["status"] == "active"


def test_blocks_without_pins_pass_without_a_list_being_read(here: Wiki, stack: ExitStack) -> None:
    """What falls due by height alone does so at a look that needs no round."""
    way = Way(here, stack, Options())
    way.turn(NOW)
    here.net.mine()
    polled = way.sync.poll()
    lists = sum(source.man.lists for source in way.sources)
    assert way.follower.look(Looked(polled, "count")) is None
    passed = way.follower.look(Looked(polled, None))
    assert passed is not None
    assert passed.height == here.net.height + 1
    assert way.follower.look(Looked(polled, None)) is None
    assert sum(source.man.lists for source in way.sources) == lists
    checked = check_view(here.database, PRD, way.options)
    assert checked is not None
    assert checked.is_right
    assert checked.height == passed.height
