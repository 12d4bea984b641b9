"""A whole server for agents of tests, a service to try, and agents that are shell scripts."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from refold.cli.settings import current_settings
from refold.cli.trials_demo import play_demo_trials
from refold.db import Database
from refold.kernel.seedfile import new_seed
from refold.serving.logs import make_log
from refold.serving.server import listen, serving, url_of
from refold.trials.settings import KEY
from refold.web.app import web_application

HERE = Path(__file__).parent
POSTER = "203.0.113.77"
"""Where the agents post from, as a proxy says: nobody else may learn it."""


@contextmanager
def node(folder: Path, *, demo: int | None = None) -> Iterator[str]:
    """Run a whole server while open, all its parts; give its address.

    Its database is `node.db` in the folder, with the demo played until `demo`, if that is given.
    """
    url = f"sqlite:///{folder / 'node.db'}"
    listener = listen("127.0.0.1", 0)
    with ExitStack() as stack:
        writing = stack.enter_context(Database.open(url))
        flags: dict[str, object] = {KEY.name: str(folder / "node.key")}
        if demo is None:
            new_seed(folder / "node.key")
        else:
            flags = play_demo_trials(writing, url_of(listener), folder, demo)
        settings = current_settings(
            **flags | {"public_origin": url_of(listener)},
            database=url,
            trusted_proxies=["127.0.0.1"],
            log_requests=False,
        )
        reading = stack.enter_context(Database.open(url, readonly=True))
        log = make_log(form="text")
        app = web_application(reading, settings, origin=url_of(listener), log=log, writing=writing)
        yield stack.enter_context(serving(app, listener, log))


@contextmanager
def service(folder: Path) -> Iterator[int]:
    """Serve a folder on loopback while open, as the service that is tried; give the port."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Agent:
    """An agent with a folder of its own, and all that the node ever told it."""

    def __init__(self, folder: Path, host: str, world: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._host = host
        self._world = world

    def turn(self, *words: str) -> str:
        solve = f"{sys.executable} {HERE / 'solver.py'}"
        done = subprocess.run(
            ["sh", str(HERE / "agent.sh"), self._host, solve, *words],
            cwd=self.folder,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
                 "CURL_HOME": str(self._world)},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def waiting(self) -> Any:
        return json.loads(self.turn("waiting"))


def everything(database: Path) -> dict[str, list[Any]]:
    """Give all rows of all tables of this part: others write by themselves."""
    with closing(sqlite3.connect(database)) as connection:
        names = [
            row[0]
            for row in connection.execute(
                "select name from sqlite_master where type = 'table' and name glob 'trials_*'"
            )
        ]
        return {
            name: sorted(connection.execute(f'select * from "{name}"'), key=repr)  # noqa: S608 (our own tables)
            for name in names
        }
