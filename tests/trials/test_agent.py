"""From the name of a host to an accepted run, a disposition and a recheck, by the documents alone.

Two agents, a publisher and a reporter, are shell scripts that run what the documents of a node say;
nothing of refold helps them. Source: issue 10, "must hold".
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from refold.cli.settings import current_settings
from refold.db import Database
from refold.kernel.seedfile import new_seed
from refold.serving.logs import make_log
from refold.serving.server import listen, serving, url_of
from refold.web.app import web_application

HERE = Path(__file__).parent
SERVICE = "http://shop.refold-demo.org"
POSTER = "203.0.113.77"
"""Where the agents post from, as a proxy says: nobody else may learn it."""


@contextmanager
def node(folder: Path) -> Iterator[str]:
    """Run a whole server while open, all its parts; give its address."""
    url = f"sqlite:///{folder / 'node.db'}"
    new_seed(folder / "node.key")
    listener = listen("127.0.0.1", 0)
    settings = current_settings(
        database=url,
        public_origin=url_of(listener),
        trials_key=str(folder / "node.key"),
        trusted_proxies=["127.0.0.1"],
        log_requests=False,
    )
    with ExitStack() as stack:
        writing = stack.enter_context(Database.open(url))
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


@pytest.fixture(name="world")
def _world(tmp_path: Path) -> Iterator[tuple[str, Path, Agent, Agent]]:
    """Give a node, the folder of a service that has nothing yet, a publisher and a reporter."""
    www = tmp_path / "www"
    www.mkdir()
    with node(tmp_path) as url, service(www) as port:
        settings = (
            f'connect-to = "{SERVICE.removeprefix("http://")}:80:127.0.0.1:{port}"\n'
            f'header = "X-Forwarded-For: {POSTER}"\nnoproxy = "*"\n'
        )
        (tmp_path / ".curlrc").write_text(settings)
        host = url.removeprefix("http://")
        yield (
            url,
            www,
            Agent(tmp_path / "publisher", host, tmp_path),
            Agent(tmp_path / "reporter", host, tmp_path),
        )


def test_documents_alone_lead_from_a_host_name_to_a_completed_recheck(
    world: tuple[str, Path, Agent, Agent], tmp_path: Path
) -> None:
    _, www, publisher, reporter = world
    (www / "start").write_text("Order at /order.\n")
    keys = [agent.turn("join", name) for agent, name in ((publisher, "P"), (reporter, "R"))]
    trial = int(publisher.turn("publish", SERVICE, str(www)))
    first = int(reporter.turn("report"))
    fixed = int(publisher.turn("answer", str(first), "shop 2"))
    (www / "order").write_text("1\n")
    second = int(reporter.turn("report", str(first)))
    assert trial < first < fixed < second
    assert len(set(keys)) == 2
    seen = b"".join(path.read_bytes() for path in tmp_path.glob("*/*") if path.is_file())
    assert POSTER.encode() not in seen
    assert POSTER.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("node.db*"))
