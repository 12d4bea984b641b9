"""The encyclopedia over HTTP for tests: the demo wiki stored, folded and served."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import httpx2
import msgspec

from refold.agentpedia import Fold, Options
from refold.agentpedia.api import agentpedia_part
from refold.agentpedia.demo.story import tell
from refold.agentpedia.demo.world import World
from refold.agentpedia.event import PATHS
from refold.agentpedia.full import records
from refold.agentpedia.indexer import indexing
from refold.agentpedia.intake import MEMPOOL, read_pin
from refold.agentpedia.rules import PRD, Rules
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import ContentFact, open_store
from refold.serving.application import application
from refold.serving.logs import make_log
from refold.serving.part import Part
from refold.serving.server import listen, serving, url_of
from refold.web.home import home_part
from serving.served import problem_in

ORIGIN = "http://wiki.test"
Told = dict[tuple[str, str], Any]
"""Values of the view by section and key."""


@cache
def demo() -> World:
    """Give the demo wiki."""
    return tell(1)


def demo_pins() -> list[Pin]:
    """Give its pins, those of the mempool included."""
    return [
        Pin(
            id=event.pin,
            path=event.path,
            height=None if event.height == MEMPOOL else event.height,
            tx_index=event.tx_index,
            sender=event.sender or "?",
            operation="create",
            encryption="0",
            version="1.0",
            content_type="application/json",
            timestamp=1_700_000_000 + event.height,
            body=msgspec.json.encode(event.payload),
        )
        for event in demo().events
        if event.path in PATHS
    ]


@dataclass
class Stored:
    """A wiki in a database, with the fold over its pins for comparison."""

    database: Database
    fold: Fold
    tip: int

    @cached_property
    def view(self) -> Told:
        """Give the full view."""
        state = self.fold.view(self.tip).state
        return {(section, key): value for section, key, value in records(state, self.tip)}

    def names(self) -> list[str]:
        return sorted(self.fold.state.keys)


def store(
    database: Database,
    pins: Sequence[Pin],
    options: Options | None = None,
    rules: Rules = PRD,
    facts: Sequence[ContentFact] = (),
) -> Stored:
    """Put pins into a database, and let the indexer fold them."""
    plain = options or Options()
    with database.write() as connection:
        kept = open_store(connection)
        kept.pins.write(pins, "test")
        kept.facts.put_content(facts)
    with indexing(database, rules, plain) as indexer:
        caught = indexer.catch_up()
    known = msgspec.structs.replace(plain, content_facts={fact.pin: fact.state for fact in facts})
    fold = Fold(rules, known)
    confirmed = sorted(
        (pin for pin in pins if pin.height is not None),
        key=lambda pin: (pin.height, pin.tx_index, pin.id),
    )
    for pin in confirmed:
        event, fault = read_pin(pin, gates=rules.gates)
        fold.apply(event, fault)
    assert caught.height is not None
    fold.advance(caught.height)
    stored = Stored(database, fold, caught.height)
    assert caught.digest == fold.view(caught.height).digest()
    return stored


def store_demo(database: Database) -> Stored:
    """Put the demo wiki into a database."""
    return store(database, demo_pins())


class Served:
    """A server over a database, and a client that follows nothing."""

    def __init__(self, url: str, http: httpx2.Client, log: io.BytesIO) -> None:
        self.url = url
        self.http = http
        self._log = log

    def get(self, path: str, **headers: str) -> httpx2.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.get(path, headers=names)

    def json(self, path: str) -> Any:
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.text, self.log_lines()[-2:])
        return answer.json()

    def log_lines(self) -> list[str]:
        return self._log.getvalue().decode().splitlines()

    def problem(self, path: str, status: int) -> dict[str, Any]:
        return problem_in(self.get(path), status)

    def pages(self, path: str) -> Iterator[list[Any]]:
        """Follow next links to the end, as a coverage walk does."""
        while path:
            answer = self.get(path)
            assert answer.status_code == 200, (path, answer.text)
            page = answer.json()
            assert list(page) == ["items", "nextCursor"]
            ids = [item.get("id", item.get("pinId")) for item in page["items"]]
            assert all(isinstance(one, str) and one for one in ids)
            yield page["items"]
            path = answer.links.get("next", {}).get("url", "")
            assert bool(path) == (page["nextCursor"] is not None)
            if path:
                assert page["items"]
                assert path.startswith(ORIGIN + "/")
                path = path.removeprefix(ORIGIN)

    def walk(self, path: str) -> list[Any]:
        return [item for page in self.pages(path) for item in page]


@contextmanager
def served(
    database: Database,
    *,
    origin: str | None = ORIGIN,
    make: Callable[[Database], Part] = agentpedia_part,
    has_home: bool = False,
) -> Iterator[Served]:
    """Serve the encyclopedia from a database while open; the origin is by default made up."""
    out = io.BytesIO()
    log = make_log(out)
    listener = listen("127.0.0.1", 0)
    public = url_of(listener) if origin is None else origin
    part = make(database)
    parts = [home_part([part]), part] if has_home else [part]
    app = application(parts, log=log, origin=public)
    with (
        serving(app, listener, log) as url,
        httpx2.Client(base_url=url, trust_env=False, timeout=20) as http,
    ):
        yield Served(url, http, out)
