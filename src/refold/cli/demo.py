"""`refold demo`: a chain, an indexer, a sync and a server, all on this machine, at once."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from refold.cli.coverage_demo import demo_served, load_demo
from refold.cli.coverage_walks import clock
from refold.cli.options import profile_of
from refold.cli.output import print_line
from refold.cli.settings import current_settings
from refold.cli.sync import stopping
from refold.cli.syncing import Said, print_turn
from refold.cli.trials_demo import TO_TRY as TRIALS_TO_TRY
from refold.cli.trials_demo import play_demo_trials
from refold.kernel.errors import Exit, RefoldError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.agentpedia.indexer import Follower, Turn
    from refold.db import Database
    from refold.metaid.devnet.net import Devnet
    from refold.metaid.sync import Happening, Sync

FOLDER = "var/demo"
CHAIN_PORT = 8480
TO_TRY = (
    "/agentpedia",
    "/agentpedia/entries/en:harbour",
    "/v1/agentpedia/status",
    "/v1/agentpedia/entries?limit=3",
    "/v1/agentpedia/entries/en:harbour",
    "/v1/agentpedia/search?q=harbour",
    "/api/agentpedia/entry_list?lang=en",
    "/v1/coverage/receipts?limit=3",
    "/v1/coverage/receipts?judgement=REFUTED",
    *TRIALS_TO_TRY,
    "/openapi.json",
)
"""Addresses that show what there is."""
LOOK_SECONDS = 1.0
BLOCK_SECONDS = 20.0
WAIT_SECONDS = 10
"""For one answer of our own server."""


@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Where chain and database are kept; removed, the story is played anew.",
)
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True)
@click.option("--chain-port", type=click.IntRange(0, 65_535), default=CHAIN_PORT, show_default=True)
@click.option("--once", is_flag=True, help="End when all of it has been seen to work.")
def demo(folder: Path, port: int, chain_port: int, once: bool) -> int:
    """Play the demo wiki onto a local chain, follow it into a database, and serve what it folds to.

    Sixty days of bots who write, quarrel and rule, and forty of agents who try services. A line
    tells after each round of the sync at what height the view stands, how far behind the chain,
    and its digest.
    """
    from refold.agentpedia.demo.onchain import BASE_HEIGHT
    from refold.agentpedia.indexer import Wiring, wired
    from refold.db import Database
    from refold.kernel.addresses import LOOPBACK
    from refold.metaid.devnet.clock import Ticker
    from refold.metaid.devnet.net import Devnet

    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stop = stack.enter_context(stopping())
        net = stack.enter_context(Devnet(str(folder / "chain.sqlite"), base_height=BASE_HEIGHT))
        net.quirks("man-p2p")
        chain = stack.enter_context(net.serve(port=chain_port))
        opened = stack.enter_context(Database.open(_url(folder), durability="normal"))
        wiring = Wiring(
            indexers=(chain,),
            files=(chain,),
            networks=tuple(map(str, LOOPBACK)),
            rules=profile_of(None),
        )
        sync, follower = stack.enter_context(wired(opened, wiring))
        sources = stack.enter_context(demo_served())
        is_meant = load_demo(opened, sources, clock(""))
        server = stack.enter_context(_serving(opened, folder, port, sources))
        print_line(f"chain and indexer at {chain}, what it folds to at {server}")
        sys.stdout.flush()
        player = _Player(net)
        player.start()
        following = _Following(sync, follower, stop)
        following.start()
        player.join()
        if player.error is not None:
            raise player.error
        following.reach(net.height, stop)
        works = stop.is_set() or (is_meant and _is_true(net, following) and _answers(server))
        if not once and not stop.is_set():
            print_line("a block every so often from here on; Ctrl-C ends it")
            sys.stdout.flush()
            stack.enter_context(Ticker(net, BLOCK_SECONDS))
            stop.wait()
        stop.set()
        following.join()
    return Exit.DONE if works else Exit.NO


class _Player(Thread):
    """Plays the story, unless the chain holds it already."""

    def __init__(self, net: Devnet) -> None:
        super().__init__(name="refold demo player", daemon=True)
        self.error: RefoldError | None = None
        self._net = net

    def run(self) -> None:
        from refold.agentpedia.demo.onchain import play_demo

        if self._net.pins():
            return
        try:
            play_demo(self._net)
        except RefoldError as error:
            self.error = error


class _Following(Thread):
    """Follows the chain, and says how things stand."""

    def __init__(self, sync: Sync, follower: Follower, stop: Event) -> None:
        super().__init__(name="refold demo sync", daemon=True)
        self.turn: Turn | None = None
        self._sync = sync
        self._follower = follower
        self._ended = stop
        self._said = Said(form="text", measure=False, genesis="the demo's")

    @property
    def digest(self) -> str | None:
        """The digest of the view as it stands."""
        return None if self.turn is None or self.turn.view is None else self.turn.view.digest

    @property
    def height(self) -> int:
        """The tip of the view, -1 without one."""
        view = None if self.turn is None else self.turn.view
        return -1 if view is None or view.height is None else view.height

    def run(self) -> None:
        from refold.metaid.sync import Loop, Pace

        pace = Pace(seconds=LOOK_SECONDS, max_seconds=LOOK_SECONDS, look_seconds=1)
        Loop(self._sync, tell=self._tell, stop=self._ended, pace=pace).run()

    def reach(self, height: int, stop: Event) -> None:
        """Wait until the view has come to a height."""
        while self.height <= height and not stop.wait(LOOK_SECONDS / 10):
            if not self.is_alive():
                raise SourceError("demo-stopped", "the sync ended", "start the demo again")

    def _tell(self, happening: Happening) -> None:
        from refold.metaid.sync import Done

        if not isinstance(happening, Done):
            return
        started = time.monotonic()
        turn = self._follower.follow(happening.report, int(time.time()), stop=self._ended)
        is_news = turn.view is not None and turn.view.digest != self.digest
        self.turn = turn
        if is_news:
            print_turn(turn, time.monotonic() - started, self._said)
            sys.stdout.flush()


def _is_true(net: Devnet, following: _Following) -> bool:
    """Hold the view against one folded from the raw transactions, past indexer and database."""
    from refold.agentpedia.demo.onchain import stream_on
    from refold.agentpedia.intake import check_payloads
    from refold.agentpedia.replay import fold_stream

    height, digest = following.height, following.digest
    truth = stream_on(net)
    check_payloads(truth)
    same = fold_stream(truth, profile_of(None)).view(height).digest() == digest
    print_line(f"folded from the raw transactions: {'the same digest' if same else 'ANOTHER ONE'}")
    return same


@contextmanager
def _serving(writing: Database, folder: Path, port: int, sources: str) -> Iterator[str]:
    """Serve all parts over the database, in a thread; receipts are walked at `sources`."""
    from refold.coverage.demo import ORIGIN
    from refold.db import Database
    from refold.serving.logs import make_log
    from refold.serving.server import listen, serving, url_of
    from refold.web.app import web_application

    log = make_log(form="text")
    listener = listen("127.0.0.1", port)
    origin = url_of(listener)
    settings = current_settings(
        database=_url(folder),
        log_requests=False,
        coverage_origins=[f"{ORIGIN}={sources}"],
        **play_demo_trials(writing, origin, folder, int(time.time())),
    )
    with Database.open(_url(folder), readonly=True) as opened:
        app = web_application(opened, settings, origin=origin, log=log, writing=writing)
        with serving(app, listener, log):
            yield origin


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'refold.db'}"


def _answers(server: str) -> bool:
    """Ask for what is worth a look, and print the addresses; tell whether all of them answered."""
    works = True
    print_line("to try:")
    for path in TO_TRY:
        # Our own server in this process: no stranger's address, so no guarded client.
        connection = HTTPConnection(server.removeprefix("http://"), timeout=WAIT_SECONDS)
        connection.request("GET", path)
        answer = connection.getresponse()
        size = len(answer.read())
        connection.close()
        works = works and answer.status == HTTPStatus.OK
        print_line(f"  {server}{path}    {answer.status}, {size:,} bytes")
    return works
