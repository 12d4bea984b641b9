"""Servers that lie, cut, stall, flood: none of them buries a rev whose text is right."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from contract.factworlds import Wiki, digest, file_server, man, wiki
from kernel.hostile import Hostile, Peer, chunked, http, serving
from refold.agentpedia import sources
from refold.agentpedia.content import FIRST_PAUSE
from refold.agentpedia.facts import FactFinder
from refold.db import Database
from refold.metaid.fileserver import FileServer
from refold.metaid.man.client import ManClient
from refold.metaid.rawtx import RawTxs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXT = b"the lighthouse stands on a rock\n" * 90
LIE = b"the lighthouse fell into the sea\n"
NOW = 1_790_000_000
PAGE = b"<html><h1>busy</h1></html>"
NAMED = "Content-Disposition: inline"
LIMIT = 20_000
"""Bytes that a file may have in these tests, so that a flood is small."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    path: Path = tmp_path_factory.mktemp("facts") / "refold.db"
    policy = {"retries": 0, "max_seconds_idle": 0.2, "max_seconds_total": 1.0}
    with Database.open(f"sqlite:///{path}") as database, wiki(database, **policy) as made:
        yield made


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_CHUNKED_BYTES", LIMIT)


def new_rev(here: Wiki, text: bytes, claimed: bytes) -> tuple[str, str]:
    """Pin a file and a rev that points to it; give the ids of both."""
    file = here.net.file(here.bob, text)
    rev = here.rev(f"a{here.net.height}", file, digest(claimed))
    here.net.mine()
    here.take_up()
    return file, rev


def run(here: Wiki, rev: str, now: int = NOW, **asked: Any) -> str:
    FactFinder(here.database, here.sources(**({"mans": (), "txs": (), "servers": ()} | asked))).run(
        now
    )
    return here.text(rev).state


def always(answer: bytes) -> Callable[[Peer], None]:
    """Answer every request alike."""

    def script(peer: Peer) -> None:
        while peer.request():
            peer.send(answer)

    return script


def cut(peer: Peer) -> None:
    """Send a part of what is announced, and close."""
    peer.request()
    peer.send(http(TEXT[:50], "200 OK", NAMED, length=len(TEXT)))


def silent(peer: Peer) -> None:
    peer.request()
    peer.wait_for_close()


def dripping(peer: Peer) -> None:
    """Send a head, and then nothing of the body that it announces."""
    peer.request()
    peer.send(http(b"", "200 OK", NAMED, length=len(TEXT)))
    peer.wait_for_close()


def resetting(peer: Peer) -> None:
    peer.request()
    peer.reset()


BOMB = gzip.compress(bytes(50 * LIMIT))
HOSTILE: dict[str, tuple[Callable[[Peer], None], str]] = {
    "a page of HTML": (always(http(PAGE, "200 OK", "Content-Type: text/html")), "file-unreadable"),
    "a page that is named as a file": (always(http(PAGE, "200 OK", NAMED)), "unproven"),
    "other bytes": (always(http(LIE, "200 OK", NAMED)), "unproven"),
    "no bytes": (always(http(b"", "200 OK", NAMED)), "unproven"),
    "a part": (always(http(TEXT[:-1], "200 OK", NAMED)), "unproven"),
    "a cut answer": (cut, "body-short"),
    "an answer that is not begun": (silent, "source-silent"),
    "an answer that stalls": (dripping, "source-silent"),
    "a reset": (resetting, "connection-lost"),
    "more than allowed": (always(http(bytes(LIMIT + 1), "200 OK", NAMED)), "body-too-large"),
    "more than announced": (
        always(http(TEXT, "200 OK", NAMED, length=len(TEXT) - 1)),
        "framing-invalid",
    ),
    "a flood": (always(chunked(*[bytes(1_000)] * (LIMIT // 1_000 + 1))), "body-too-large"),
    "a bomb": (always(http(BOMB, "200 OK", NAMED, "Content-Encoding: gzip")), "body-too-large"),
    "a bomb, unnamed": (always(http(BOMB, "200 OK", NAMED)), "unproven"),
    "a redirect elsewhere": (
        always(http(b"", "302 Found", "Location: http://192.0.2.1/")),
        "redirected-off-source",
    ),
    "no such file": (always(http(b'{"code":40400,"message":"none"}')), "pin-unknown"),
    "a server's trouble": (always(http(b'{"code":50000,"message":"trouble"}')), "file-error"),
}
"""How a server behaves, and the reason that the fact then has."""


@pytest.fixture(params=sorted(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> Iterator[tuple[Hostile, str]]:
    """Give a server that behaves so, and the reason."""
    script, reason = HOSTILE[request.param]
    with serving(script) as server:
        yield server, reason


def files_of(here: Wiki, server: Hostile) -> FileServer:
    return file_server(here.here.transport, f"{server.origin}/metafile-indexer")


def test_a_hostile_file_server_makes_no_fact(here: Wiki, hostile: tuple[Hostile, str]) -> None:
    server, reason = hostile
    _, right = new_rev(here, TEXT, TEXT)
    _, wrong = new_rev(here, TEXT, b"not this")
    servers = (files_of(here, server),)
    assert run(here, right, servers=servers) == "unavailable"
    fact = here.text(right)
    assert (fact.reason, fact.next_try) == (reason, NOW + FIRST_PAUSE)
    assert set(here.full()["unverified"]) >= {right, wrong}
    # nor does it stand in the way of others
    asked = {"servers": servers, "mans": (here.here.man(),), "txs": (here.here.txs(),)}
    assert run(here, right, NOW + FIRST_PAUSE, **asked) == "verified"
    assert here.text(wrong).state == "mismatch"


class Liar:
    """An indexer and explorer that says what a test tells it to, by the last part of a route."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}

    def __call__(self, peer: Peer) -> None:
        while request := peer.request():
            route = request.split(b" ")[1].decode().removesuffix("/raw")
            answer = self.said.get(route.rpartition("/")[2])
            if isinstance(answer, bytes):
                peer.send(http(answer, "200 OK", NAMED))
            elif answer is None:
                peer.send(http(b'{"code":100,"message":"no pin found."}', "404 Not Found"))
            else:
                peer.send(http(json.dumps(answer).encode()))


def detail(here: Wiki, pin_id: str, body: bytes, **changes: Any) -> Any:
    """The whole and consistent detail of a pin with other bytes in it."""
    row = here.here.man().pin(pin_id)
    assert row is not None
    told = {
        "id": pin_id,
        "path": row.path,
        "genesisHeight": row.genesis_height,
        "txIndex": row.tx_index,
        "globalMetaId": row.global_meta_id,
        "operation": "create",
        "contentType": row.content_type,
        "contentBody": b64encode(body).decode(),
        "contentLength": len(body),
    }
    return {"code": 1, "message": "ok", "data": told | changes}


@pytest.fixture
def liar() -> Iterator[tuple[Liar, str]]:
    script = Liar()
    with serving(script) as server:
        yield script, server.origin


def liars_man(here: Wiki, origin: str) -> ManClient:
    return man(here.here.transport, origin)


@pytest.mark.parametrize(
    "lie",
    [
        {"body": LIE},
        {"body": b""},
        {"body": TEXT, "path": "/protocols/simplenote"},
        {"body": TEXT, "path": "/file/index", "contentType": "metafile/index"},
        {"body": json.dumps({"sha256": digest(TEXT)}).encode(), "path": "/file/index"},
        {"body": LIE, "contentLength": 5},
        {"body": LIE, "contentLength": 10**9},
        {"body": LIE, "id": f"{'cd' * 32}i0"},
        {"body": LIE, "status": 1, "modify_history": ["x", "y"]},
    ],
)
def test_an_indexer_that_lies_about_a_pin(
    here: Wiki, liar: tuple[Liar, str], lie: dict[str, Any]
) -> None:
    script, origin = liar
    file, rev = new_rev(here, TEXT, TEXT)
    script.said[file] = detail(here, file, **lie)
    assert run(here, rev, mans=(liars_man(here, origin),)) == "unavailable"
    again = NOW + FIRST_PAUSE
    asked = {"mans": (liars_man(here, origin),), "txs": (here.here.txs(),)}
    assert run(here, rev, again, **asked) == "verified"


def test_an_indexer_and_a_file_server_that_lie_alike_are_found_out(
    here: Wiki, liar: tuple[Liar, str]
) -> None:
    """Together they hide a right text, as long as nobody else is asked; then it comes back."""
    script, origin = liar
    file, rev = new_rev(here, TEXT, TEXT)
    script.said[file] = detail(here, file, LIE)
    with serving(always(http(LIE, "200 OK", NAMED))) as server:
        asked: dict[str, Any] = {
            "mans": (liars_man(here, origin),),
            "servers": (files_of(here, server),),
        }
        assert run(here, rev, **asked) == "mismatch"
        assert here.full()["grave"][rev]["reason"] == "content-hash-mismatch"
        again = here.text(rev).next_try
        assert again is not None
        assert run(here, rev, again, txs=(here.here.txs(),), **asked) == "verified"
    assert rev not in here.full()["grave"]
    assert here.body(digest(TEXT)) == TEXT


def test_one_server_under_two_names_is_one_server(here: Wiki, liar: tuple[Liar, str]) -> None:
    script, origin = liar
    file, rev = new_rev(here, TEXT, TEXT)
    script.said[file] = detail(here, file, LIE)
    mans = (liars_man(here, origin), liars_man(here, f"{origin}/mirror"))
    assert run(here, rev, mans=mans) == "unavailable"
    assert here.text(rev).reason == "unproven"


@pytest.mark.parametrize("given", ["another", "cut", "html", "unknown"])
def test_an_explorer_that_lies(here: Wiki, liar: tuple[Liar, str], given: str) -> None:
    script, origin = liar
    file, rev = new_rev(here, TEXT, TEXT)
    stake = here.net.fund(here.carol, 5_000)
    register = here.register(stake)
    here.net.mine()
    here.take_up()
    other = here.net.raw_tx(here.net.fund(here.bob))
    assert other is not None
    for txid in (file.removesuffix("i0"), stake):
        raw = here.net.raw_tx(txid)
        assert raw is not None
        script.said[txid] = {
            "another": {"hex": other.hex()},
            "cut": {"hex": raw[:-1].hex()},
            "html": PAGE,
            "unknown": None,
        }[given]
    explorer = RawTxs(here.here.transport, f"{origin}/open-api-mvc")
    assert run(here, rev, txs=(explorer,)) == "unavailable"
    assert here.stake(register).state == "unavailable"
    both = (explorer, here.here.txs())
    assert run(here, rev, NOW + FIRST_PAUSE, txs=both) == "verified"
    assert here.stake(register).state == "verified"
