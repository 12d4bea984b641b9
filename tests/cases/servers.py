"""Servers that answer by a script: routes as data, with the faults of real ones down to the socket.

    {"routes": [{"get": "/items", "query": {"page": "2"}, "nth": 1, "repeat": 3,
                 "status": 200, "headers": {"Link": "<{base}/items?page=3>; rel=\"next\""},
                 "json": …  |  "text": "…"  |  "b64": "…",
                 "gzip": true, "cutBytes": 20, "claimLength": 500, "chunked": 7, "noEnd": true,
                 "after": "…", "drop": true, "delayMs": 5}]}

The first route that fits answers. `query` is a part of the query; `nth` and `repeat` count the
requests for the same path and query: the nth, the first so many. `{base}` is the public origin,
`"range(1,3)"` the items 1 to 3 in place of a list, `"pin(4,needle)"` a row of MAN. After the head,
`cutBytes` are missing at the end, `claimLength` is what Content-Length says, `chunked` the size of
the chunks, `noEnd` leaves out the last one, `after` follows behind it all; `drop` closes instead.
"""

import base64
import gzip
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from kernel.hostile import Hostile, Peer, serving

BASE = "https://api.example.test"
"""The public origin that receipts name."""

Script = Mapping[str, Any]
_RANGE = re.compile(r"range\((\d+),(\d+)\)")
_PIN = re.compile(r"pin\((\d+)(?:,([^)]*))?\)")


def pin_id(number: int) -> str:
    return f"{sha256(b'pin %d' % number).hexdigest()}i0"


def pin_row(number: int, name: str = "", **members: Any) -> dict[str, Any]:
    """Give the row of a pin in a block, whose body says a name."""
    body = json.dumps({"name": name or f"item-{number}"})
    return {
        "id": pin_id(number),
        "number": 0,
        "path": "/protocols/x",
        "operation": "create",
        "genesisHeight": 1_000 + number,
        "timestamp": 1_900_000_000 + number,
        "txIndex": 0,
        "status": 0,
        "contentBody": "",
        "contentSummary": body,
        "contentLength": len(body),
        "originalContentBody": None,
        "modify_history": None,
    } | members


def pin_detail(number: int, name: str = "", **members: Any) -> dict[str, Any]:
    """Give the answer of /api/pin/<id> for a row of `pin_row`."""
    row = pin_row(number, name)
    body = base64.b64encode(row["contentSummary"].encode()).decode()
    return {"code": 1, "message": "ok", "data": row | {"contentBody": body} | members}


def expanded(value: Any, base: str) -> Any:
    """Give a value with what stands for something replaced."""
    if isinstance(value, str):
        if found := _RANGE.fullmatch(value):
            return [{"id": n, "name": f"item-{n}"} for n in range(int(found[1]), int(found[2]) + 1)]
        if found := _PIN.fullmatch(value):
            return pin_row(int(found[1]), found[2] or "")
        return value.replace("{base}", base)
    if isinstance(value, list):
        return [expanded(member, base) for member in value]
    if isinstance(value, dict):
        return {name: expanded(member, base) for name, member in value.items()}
    return value


class Scripted:
    """Answers each connection by a script; `asked` are the targets of all requests, in order."""

    def __init__(self, script: Script, base: str = BASE) -> None:
        self.asked: list[str] = []
        self._routes = script["routes"]
        self._base = base
        self._hits: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, peer: Peer) -> None:
        while request := peer.request():
            target = request.split(b" ", 2)[1].decode("latin-1")
            with self._lock:
                self.asked.append(target)
                self._hits[target] += 1
                route = self._route(target, self._hits[target])
            time.sleep(route.get("delayMs", 0) / 1_000)
            if route.get("drop"):
                return
            answer, whole = self._answer(route)
            peer.send(answer)
            if not whole:
                return

    def _route(self, target: str, hit: int) -> Mapping[str, Any]:
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        for route in self._routes:
            if (
                route["get"] == unquote(parts.path)
                and route.get("query", {}).items() <= query.items()
                and route.get("nth", hit) == hit
                and hit <= route.get("repeat", hit)
            ):
                return dict(route)
        return {"status": 404, "json": {"code": 404, "message": "no such route"}}

    def _answer(self, route: Mapping[str, Any]) -> tuple[bytes, bool]:
        """Give the bytes to send, and whether they say truly where they end."""
        body = self._body(route)
        headers = {"Content-Type": "application/json"} | expanded(
            dict(route.get("headers", {})), self._base
        )
        if route.get("gzip"):
            body = gzip.compress(body, mtime=0)
            headers["Content-Encoding"] = "gzip"
        body = body[: len(body) - route.get("cutBytes", 0)]
        if size := route.get("chunked"):
            headers["Transfer-Encoding"] = "chunked"
            pieces = [body[at : at + size] for at in range(0, len(body), size)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
            body += b"" if route.get("noEnd") else b"0\r\n\r\n"
        else:
            headers["Content-Length"] = str(route.get("claimLength", len(body)))
        lines = [f"HTTP/1.1 {route.get('status', 200)} X"]
        for name, value in headers.items():
            lines += [f"{name}: {one}" for one in (value if isinstance(value, list) else [value])]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        whole = not route.keys() & {"claimLength", "noEnd", "after"}
        return head + body + route.get("after", "").encode(), whole

    def _body(self, route: Mapping[str, Any]) -> bytes:
        if "b64" in route:
            return base64.b64decode(route["b64"])
        if "text" in route:
            return str(route["text"]).replace("{base}", self._base).encode()
        if "json" in route:
            return json.dumps(expanded(route["json"], self._base)).encode()
        return b""


@contextmanager
def scripted(script: Script, base: str = BASE) -> Iterator[tuple[Hostile, Scripted]]:
    """Serve a script on loopback."""
    answers = Scripted(script, base)
    with serving(answers) as server:
        yield server, answers
