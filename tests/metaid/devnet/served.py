"""A served chain, a plain client for it, and walks as the facts describe them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.truth import TruePin
from refold.metaid.pin import FullRow

NOTE = "/protocols/simplenote"
LOG = "/protocols/simplelog"
VECTORS = Path(__file__).parents[2] / "vectors"

Row = dict[str, Any]


def sample(name: str) -> Any:
    """Give a sample of what the real services answer."""
    folder = "man" if (VECTORS / "man" / f"{name}.json").exists() else "metaid"
    return json.loads((VECTORS / folder / f"{name}.json").read_text(encoding="utf-8"))


class Client:
    """Asks a served chain, without any of the care that a real client takes."""

    def __init__(self, net: Devnet, url: str, http: httpx2.Client | None = None) -> None:
        self.net = net
        self.url = url
        self.http = http or httpx2.Client(base_url=url, trust_env=False, timeout=20)

    def get(self, route: str, **query: Any) -> Any:
        """Give the JSON of an answer, whatever its status."""
        return self.http.get(route, params=query).json()

    def data(self, route: str, **query: Any) -> Any:
        """Give what a successful MAN answer carries."""
        answer = self.get(route, **query)
        assert answer["code"] == 1, answer
        return answer["data"]

    def page(self, path: str = NOTE, size: int = 100, **query: Any) -> Row:
        page: Row = self.data("/api/pin/path/list", path=path, size=size, **query)
        return page

    def pages(self, path: str = NOTE, size: int = 100) -> list[Row]:
        """Walk to the page that is empty, or has no cursor."""
        pages, cursor = [], ""
        while True:
            page = self.page(path, size, cursor=cursor)
            pages.append(page)
            cursor = page["nextCursor"]
            if not page["list"] or not cursor:
                return pages

    def rows(self, path: str = NOTE, size: int = 100) -> list[Row]:
        return [row for page in self.pages(path, size) for row in page["list"] or ()]

    def row(self, row: Row) -> FullRow:
        """Read a row as the model of the client does."""
        return msgspec.convert(row, FullRow)

    def ids(self, path: str = NOTE, size: int = 100) -> list[str]:
        return [row["id"] for row in self.rows(path, size)]


@contextmanager
def served(**options: Any) -> Iterator[Client]:
    """Serve a new chain in memory."""
    with Devnet(**options) as net, net.serve() as url:
        client = Client(net, url)
        with client.http:
            yield client


def write(net: Devnet, count: int, *, key: str = "alice", path: str = NOTE) -> list[str]:
    """Pin small notes that differ; give their ids."""
    with net.batch():
        start = net.height * 1_000
        return [
            net.pin(net.key(key), path, {"n": start + number, "by": key}) for number in range(count)
        ]


def ids_of(pins: list[TruePin]) -> list[str]:
    return [pin.id for pin in pins]
