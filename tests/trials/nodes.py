"""A node of cold trials for tests: real databases, real HTTP over loopback, clocks of the test."""

import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from refold.db import Database
from refold.serving.application import application
from refold.serving.logs import make_log
from refold.serving.server import listen, serving
from refold.trials.api import trials_part
from refold.trials.api.office import Clocks, Office, Writing, open_writing
from refold.trials.node import Node
from refold.trials.signing import SignedMessage
from refold.trials.store.keys import Keys
from refold.trials.tables import Kind
from trials import examples
from trials.logged import NOON, key_of, signed

ORIGIN = "http://node.test"
SEED = b"the seed of a node of tests....."
PROBLEM = "application/problem+json"


class Time:
    """The clocks of a node: they stand until a test moves them."""

    def __init__(self) -> None:
        self.unix = float(NOON)
        self.steady = 1_000.0
        self._drawn = 0

    def pass_(self, seconds: float) -> None:
        self.unix += seconds
        self.steady += seconds

    def chance(self, count: int) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(count)

    def clocks(self) -> Clocks:
        return Clocks(lambda: self.unix, lambda: self.steady, self.chance)


class Running:
    """A node that runs, and a client."""

    def __init__(
        self, url: str, office: Office, writing: Database, time: Time, log: io.BytesIO
    ) -> None:
        self.url = url
        self.office = office
        self.database = writing
        self.time = time
        self._log = log
        self.http = httpx2.Client(base_url=url, trust_env=False, timeout=30)

    def log(self) -> str:
        return self._log.getvalue().decode()

    def admit(self, *who: int) -> None:
        """Admit keys as if each had answered its challenge."""
        with self.database.write() as connection:
            for each in who:
                Keys(connection).admit(key_of(each), f"agent {each}", NOON - 86_400)

    def send(self, message: SignedMessage, **other: Any) -> httpx2.Response:
        return self.http.post("/v1/messages", json=msgspec.to_builtins(message) | other)

    def say(self, content: str, **how: Any) -> httpx2.Response:
        """Sign a content and post it."""
        return self.send(signed(content, **how))

    def take(self, content: str, **how: Any) -> int:
        """Post what must be taken; give its id."""
        answer = self.say(content, **how)
        assert answer.status_code == 201, answer.text
        found: int = answer.json()["id"]
        return found

    def together(self, messages: Sequence[SignedMessage]) -> list[httpx2.Response]:
        """Send all at once, each on a connection of its own."""
        with ThreadPoolExecutor(len(messages)) as threads:
            return list(threads.map(self.send, messages))

    def get(self, path: str, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.get(f"/v1/public/{path}", headers=names)

    def json(self, path: str) -> Any:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


def problem(answer: httpx2.Response, status: int = 422) -> dict[str, Any]:
    """Give a problem, whose first error is the whole one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert found["type"] == f"{ORIGIN}/v1/errors/{found['code']}"
    assert found["errors"][0]["code"] == found["code"]
    return found


def codes(answer: httpx2.Response, status: int = 422) -> list[str]:
    return [each["code"] for each in problem(answer, status)["errors"]]


def text(kind: Kind, **fields: str) -> str:
    """Give a content of a kind, with other fields (`_` for `-`)."""
    return examples.altered(examples.ALL[kind], **fields)


@contextmanager
def running(
    folder: Path | str, *, closed: bool = False, proxies: Sequence[str] = (), **about: Any
) -> Iterator[Running]:
    """Run a node while open, over the database of a folder or URL; `about` are parts of it."""
    url = folder if isinstance(folder, str) else f"sqlite:///{folder / 'node.db'}"
    time = Time()
    node = Node(ORIGIN, **about)
    with ExitStack() as stack:
        writing = stack.enter_context(Database.open(url))
        reading = stack.enter_context(Database.open(url, readonly=True))
        opened: Writing | None = None
        if not closed:
            opened = open_writing(writing, node, SEED, clock=lambda: time.unix)
        office = Office(node, reading, opened, time.clocks())
        out = io.BytesIO()
        log = make_log(out)
        app = application([trials_part(office)], log=log, origin=ORIGIN, proxies=proxies)
        served = stack.enter_context(serving(app, listen("127.0.0.1", 0), log))
        found = Running(served, office, writing, time, out)
        with found.http:
            yield found
