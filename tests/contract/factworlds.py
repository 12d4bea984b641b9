"""A wiki on the local chain whose texts and stakes are elsewhere, kept in a database and folded."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from agentpedia.scenario import PARAMS
from metaid.worlds import World, world
from refold.agentpedia.demo.onchain import stream_on
from refold.agentpedia.event import CONSTITUTION, EDITOR, PATHS, REV
from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import check_payloads
from refold.agentpedia.rules import ALGO_VERSIONS, PRD
from refold.agentpedia.sources import Sources
from refold.agentpedia.state import Options
from refold.metaid.devnet import purse
from refold.metaid.envelope import new_tuple
from refold.metaid.fileserver import FileServer
from refold.metaid.man.client import ManClient, Transport
from refold.metaid.man.walk import Walk
from refold.metaid.rawtx import RawTxs
from refold.metaid.store import ContentFact, StakeFact, open_store
from refold.metaid.wallet import BuiltTx, Key, build_pin_tx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.db import Database

Json = dict[str, Any]
NOBODY = f"{'ab' * 32}i0"


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def man(transport: Transport, url: str) -> ManClient:
    return ManClient(transport, url, sleep=lambda _seconds: None)


def file_server(transport: Transport, url: str) -> FileServer:
    return FileServer(transport, url, sleep=lambda _seconds: None)


class Wiki:
    """Pins of a wiki on a served chain; four are its founders, alice and bob among them."""

    def __init__(self, here: World, database: Database) -> None:
        self.here = here
        self.net = here.net
        self.database = database
        self.alice, self.bob, self.carol = here.keys
        self.founders = [self.alice, self.bob, *map(self.net.key, ("dora", "emil"))]
        self._coins = 0
        self.constitution = self.net.pin(
            self.alice,
            CONSTITUTION,
            {
                "v": 1,
                "revision": 0,
                "prevConstitution": None,
                "proposalPin": None,
                "params": PARAMS,
                "algoVersions": dict(ALGO_VERSIONS),
                "founders": [key.globalmetaid for key in self.founders],
            },
        )
        self.net.mine()

    def rev(self, slug: str, ref: str, expected: str) -> str:
        """Pin the create of an entry whose text is in a file."""
        text = {"content": None, "contentRef": f"metafile://{ref}", "contentHash": expected}
        named = {"v": 1, "lang": "en", "slug": slug, "title": slug, "type": "create"}
        return self.net.pin(self.alice, REV, {**named, **text})

    def register(
        self, txid: str, amount: int = 1_000, *, case: str = NOBODY, review: str = NOBODY
    ) -> str:
        """Pin a register of carol's that names a stake."""
        stake = {"txid": txid, "amountSat": amount}
        named = {"challengePin": case, "responsePin": review}
        return self.editor(self.carol, "register", **named, stake=stake)

    def editor(self, by: Key, action: str, **members: Any) -> str:
        """Pin a step of carol's registration."""
        named = {"v": 1, "action": action, "editor": self.carol.globalmetaid}
        return self.net.pin(by, EDITOR, {**named, **members})

    def unsent(self, body: bytes) -> BuiltTx:
        """Make the transaction of a file without sending it: its ids are known already."""
        self._coins += 1
        key = self.net.key(f"late {self._coins}")
        self.net.fund(key)
        with self.net.transaction() as connection:
            coins = purse.coins(connection, key.script)
        return build_pin_tx(key, new_tuple("create", "/file", body), coins)

    def send(self, built: BuiltTx) -> None:
        self.net.send(built.raw)
        self.net.mine()

    def take_up(self) -> None:
        """Read all that is on the chain into the database, as a sync would."""
        with self.database.write() as connection:
            store = open_store(connection)
            for path in PATHS:
                for page in Walk(self.here.man(), path):
                    store.pins.write(page.pins, self.here.url)

    def sources(self, transport: Transport | None = None, **changes: Any) -> Sources:
        """Ask this chain's indexers and explorer; others where they are given."""
        transport, url = transport or self.here.transport, self.here.url
        asked: Json = {
            "mans": (man(transport, url),),
            "servers": (file_server(transport, f"{url}/metafile-indexer"),),
            "txs": (RawTxs(transport, f"{url}/open-api-mvc"),),
        }
        return Sources(transport, **(asked | changes))

    def text(self, pin: str) -> ContentFact:
        with self.database.read() as connection:
            fact = open_store(connection).facts.content(pin)
        assert fact is not None
        return fact

    def stake(self, pin: str) -> StakeFact:
        with self.database.read() as connection:
            fact = open_store(connection).facts.stake(pin)
        assert fact is not None
        return fact

    def body(self, sha256_hex: str) -> bytes | None:
        with self.database.read() as connection:
            return open_store(connection).pins.body(sha256_hex)

    def full(self) -> Json:
        """Fold the chain with the facts of the database; give the full view."""
        with self.database.read() as connection:
            facts = open_store(connection).facts
            texts, stakes = facts.content_states(), facts.stake_states()
        stream = stream_on(self.net)
        check_payloads(stream)
        fold = Fold(PRD, Options(content_facts=texts, stake_facts=stakes))
        fold.apply_many(stream.events, stream.faults)
        return fold.view().full()


@contextmanager
def wiki(database: Database, **policy: Any) -> Iterator[Wiki]:
    """Give a wiki with a constitution on a chain of its own."""
    with world(**policy) as here:
        yield Wiki(here, database)
