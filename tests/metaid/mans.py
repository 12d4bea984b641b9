"""An indexer without a network: a transport that answers as a function says, and rows to answer."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from refold.kernel.fetch import Fetched
from refold.metaid.man.client import ManClient

VECTORS = Path(__file__).parents[1] / "vectors" / "man"
BASE = "https://indexer.example.test"
PATH = "/protocols/agentpedia/rev"
AUTHOR = "1JFgdjyqcTJwjxzQD4McJDNn1EVrY4o3QU"

Answer = Any
"""JSON to answer with status 200, or `(status, body)`, or `(status, body, headers)`."""
Script = Callable[[str, Mapping[str, str]], Answer]


def load(name: str) -> Any:
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


class Scripted:
    """A transport that asks a function for the answer to a path and its query."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests = 0
        self.bytes_received = 0
        self.asked: list[str] = []
        self.queries: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = {},
        max_bytes: int | None = None,
    ) -> Fetched:
        del max_bytes
        parts = urlsplit(url)
        query = dict(
            parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        )
        self.requests += 1
        self.asked.append(parts.path)
        self.queries.append(query)
        self.headers.append(dict(headers))
        answer = self.script(parts.path, query)
        if isinstance(answer, Exception):
            raise answer
        status, body, sent = (*answer, {})[:3] if isinstance(answer, tuple) else (200, answer, {})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.bytes_received += len(data)
        return Fetched(status, tuple(sent.items()), data, url, (), "", "", 1, len(data), 0.0)

    def asked_for(self, part: str) -> list[str]:
        return [path for path in self.asked if part in path]


def client(script: Script, **options: Any) -> ManClient:
    """Give a client of a scripted indexer that never waits."""
    options.setdefault("sleep", lambda _seconds: None)
    return ManClient(Scripted(script), BASE, **options)


def transport_of(man: ManClient) -> Scripted:
    assert isinstance(man.transport, Scripted)
    return man.transport


def pin_id(number: int) -> str:
    return f"{sha256(str(number).encode()).hexdigest()}i0"


def row(number: int, height: int = -1, tx_index: int = 0, **members: Any) -> dict[str, Any]:
    """Give the row of a pin whose body is text, as lists give it since April 2026."""
    body = f"body {number}"
    return {
        "id": pin_id(number),
        "path": PATH,
        "genesisHeight": height,
        "txIndex": tx_index,
        "creator": AUTHOR,
        "operation": "create",
        "contentBody": "",
        "contentSummary": body,
        "contentLength": len(body),
    } | members


def whole(listed: dict[str, Any], body: bytes | None = None) -> dict[str, Any]:
    """Give the detail of a row: its body whole, in base64."""
    data = listed["contentSummary"].encode() if body is None else body
    shown = {"contentSummary": data.decode(errors="replace"), "contentLength": len(data)}
    return listed | shown | {"contentBody": b64encode(data).decode()}


def page(rows: Sequence[Any] | None, cursor: str = "", total: int | None = None) -> Answer:
    data = {"list": rows, "nextCursor": cursor} | ({} if total is None else {"total": total})
    return {"code": 1, "message": "ok", "data": data}


def one(listed: dict[str, Any]) -> Answer:
    return {"code": 1, "message": "ok", "data": listed}


ZERO_PIN = one(row(0) | {"id": "", "genesisHeight": 0, "contentLength": 0, "contentSummary": ""})
NO_PIN = {"code": 100, "message": "no pin found.", "data": None}
NO_ROUTE = (404, b"404 page not found", {"content-type": "text/plain"})
HTML = b"<html><h1>502 Bad Gateway</h1></html>"


class Indexer:
    """Lists fixed pages by cursor, and details by id; whatever else is asked is no route.

    `pages` are `(rows, total)`; page n is asked for with the cursor `n` & more. `override` may
    answer first.
    """

    def __init__(
        self,
        pages: Sequence[Sequence[Any] | None],
        details: Mapping[str, Answer] = {},
        *,
        last_has_cursor: bool = True,
    ) -> None:
        self.pages = list(pages)
        self.details = dict(details)
        self.last_has_cursor = last_has_cursor
        self.override: Callable[[str, Mapping[str, str]], Answer | None] = lambda _path, _query: (
            None
        )

    def __call__(self, path: str, query: Mapping[str, str]) -> Answer:
        special = self.override(path, query)
        if special is not None:
            return special
        if path == "/debug/sync":
            return {"mvc_sync_height": "500", "btc_sync_height": None}
        if path == "/api/pin/path/list":
            return self.list(query.get("cursor", ""))
        if path.startswith("/api/pin/") and path.count("/") == 3:
            return self.details.get(path.rpartition("/")[2], ZERO_PIN)
        return NO_ROUTE

    def list(self, cursor: str) -> Answer:
        number = int(cursor.partition("&")[0] or 0)
        if number >= len(self.pages):
            return page(None)
        is_last = number == len(self.pages) - 1 and not self.last_has_cursor
        return page(self.pages[number], "" if is_last else f"{number + 1}&mvc&{number:010d}")


def cut(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Give rows in pages."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]
