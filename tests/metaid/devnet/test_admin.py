"""Orders over HTTP: what they do, and from whom they are taken."""

import asyncio
import base64
import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from metaid.devnet.served import NOTE, Client, ids_of, served, write
from refold.kernel.errors import SourceError, UsageError
from refold.metaid.devnet.app import application
from refold.metaid.devnet.loopback import is_loopback
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.node import Node
from refold.metaid.devnet.quirks import switches
from refold.metaid.devnet.remote import Remote
from refold.metaid.devnet.server import serving

ADMIN = "/devnet/admin"


@pytest.fixture
def client() -> Iterator[Client]:
    with served(base_height=5) as client:
        yield client


@pytest.fixture
def remote(client: Client) -> Iterator[Remote]:
    with Remote(client.url) as remote:
        yield remote


def test_orders_do_what_the_methods_do(client: Client, remote: Remote) -> None:
    assert remote.order("mine", {"count": 3})["height"] == client.net.height == 8
    key = remote.order("key", {"key": "dora", "satoshi": 5_000})
    dora = client.net.key("dora")
    assert key == {
        "name": "dora",
        "address": dora.address,
        "globalMetaId": dora.globalmetaid,
        "worthlessSecret": dora.secret.hex(),
    }
    assert client.net.count_waiting() == 1
    pin = remote.order("pin", {"key": "dora", "path": NOTE, "payload": {"a": 1}})["pinId"]
    raw = base64.b64encode(b"\x00\xff").decode()
    other = remote.order("pin", {"key": "dora", "path": NOTE, "payloadBase64": raw})["pinId"]
    change = {"key": "eve", "path": f"@{pin}", "operation": "modify", "payload": "x"}
    remote.order("pin", change)
    remote.order("mine", {"order": "fee"})
    assert [p.body for p in client.net.pins(NOTE)] == [b'{"a":1}', b"\x00\xff"]
    assert [p.body for p in client.net.pins(f"@{pin}")] == [b'"x"']
    done = remote.order("reorg", {"depth": 1, "drop": [other], "order": "reversed"})
    assert done["returned"] == [str(other)[:64]]
    status = remote.status()
    assert status["tip"] == client.get("/devnet/tip")
    assert status["mempool"] == 1


def test_quirks_and_faults_by_order(client: Client, remote: Remote) -> None:
    told = remote.switches()
    assert isinstance(told["switches"], list)
    assert [switch["name"] for switch in told["switches"]] == [s.name for s in switches()]
    remote.order("quirks", {"profile": "man-p2p", "null_lists": False})
    assert client.net.quirks().list_body == "preview"
    assert not client.net.quirks().null_lists
    remote.order("quirks", {"stuck": True})
    assert client.net.quirks().stuck
    assert remote.status()["quirks"]
    remote.order("faults", {"drop": 2, "seed": "x"})
    assert client.net.plan.faults.drop == 2
    assert remote.status()["faults"] == {"drop": 2, "seed": "x"}
    remote.order("faults", {})
    assert remote.status()["faults"] == {}


def test_a_rescan_by_order(client: Client, remote: Remote) -> None:
    client.net.quirks(skip_every=6)
    write(client.net, 2)
    client.net.mine()
    assert not client.ids()
    client.net.quirks(skip_every=0)
    remote.order("rescan")
    assert client.ids() == ids_of(client.net.pins())


@pytest.mark.parametrize(
    ("verb", "body", "code"),
    [
        ("mine", {"count": 0}, "order-form"),
        ("mine", {"count": 10_001}, "order-form"),
        ("mine", {"cuont": 1}, "order-form"),
        ("mine", {"order": "best"}, "order-form"),
        ("reorg", {"depth": 9}, "reorg-depth"),
        ("reorg", {"depth": 2, "blocks": 2}, "reorg-length"),
        ("quirks", {"profile": "man-v3"}, "quirk-profile"),
        ("quirks", {"profile": 5}, "quirk-profile"),
        ("quirks", {"nothing": True}, "quirk-name"),
        ("faults", {"drop": 2.0}, "fault-value"),
        ("key", {}, "order-form"),
        ("pin", {"key": "a", "path": "/nowhere/x"}, "path-root"),
        ("pin", {"key": "a", "path": "/protocols/X"}, "tuple-unstable"),
        ("pin", {"key": "a", "path": NOTE, "operation": "hide"}, "order-form"),
        ("pin", {"key": "a", "path": NOTE, "payloadBase64": "!"}, "payload-base64"),
    ],
)
def test_wrong_orders_are_refused_by_code(
    client: Client, remote: Remote, verb: str, body: dict[str, Any], code: str
) -> None:
    client.net.mine(3)
    before = client.net.tip
    with pytest.raises(UsageError) as caught:
        remote.order(verb, body)
    assert caught.value.code == code
    assert client.net.tip == before
    answer = client.http.post(f"{ADMIN}/{verb}", json=body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json()) == {"type", "title", "status", "code", "detail", "hint"}


def test_nobody_there(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Remote(f"http://127.0.0.1:{port}") as remote, pytest.raises(SourceError) as caught:
        remote.status()
    assert caught.value.code == "devnet-away"
    with Remote(f"{client.url}/elsewhere") as other, pytest.raises(SourceError) as caught:
        other.status()
    assert caught.value.code == "devnet-answer"


# who may give orders


def mine_with(client: Client, **headers: str) -> int:
    before = client.net.height
    answer = client.http.post(f"{ADMIN}/mine", content=b"{}", headers=headers)
    assert (client.net.height > before) == (answer.status_code == 200)
    return answer.status_code


def test_pages_in_a_browser_give_no_orders(client: Client) -> None:
    as_json = {"content-type": "application/json"}
    assert mine_with(client, **as_json) == 200
    assert mine_with(client, **as_json, origin="http://127.0.0.1:80") == 403
    assert mine_with(client, **as_json, origin="null") == 403
    assert mine_with(client, **as_json, host="rebound.example") == 403
    assert mine_with(client, **as_json, host="localhost:1") == 200
    assert mine_with(client, **{"content-type": "text/plain"}) == 400
    assert mine_with(client, **{"content-type": "application/x-www-form-urlencoded"}) == 400


def test_a_server_bound_elsewhere_takes_none() -> None:
    with (
        Devnet() as net,
        serving(net, host="0.0.0.0") as url,  # noqa: S104 (what is tested)
        httpx2.Client(trust_env=False) as http,
    ):
        port = url.rpartition(":")[2]
        local = f"http://127.0.0.1:{port}"
        assert http.get(f"{local}/health").status_code == 200
        for route in ("status", "quirks"):
            answer = http.get(f"{local}{ADMIN}/{route}")
            assert (answer.status_code, answer.json()["code"]) == (403, "admin-loopback")
        assert http.post(f"{local}{ADMIN}/mine", json={}).status_code == 403
        assert net.height == 0


@pytest.mark.parametrize(("peer", "status"), [("127.0.0.1", 200), ("203.0.113.9", 403)])
def test_a_peer_from_elsewhere_gives_none(peer: str, status: int) -> None:
    with Devnet() as net:
        app = application(net, bound_host="127.0.0.1")
        assert asyncio.run(ask(app, peer)) == status
        assert net.height == (1 if status == 200 else 0)


async def ask(app: Any, peer: str) -> int:
    """Let a peer mine, and give the status of the answer."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"{ADMIN}/mine",
        "raw_path": f"{ADMIN}/mine".encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "server": ("127.0.0.1", 80),
        "client": (peer, 5),
    }

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        sent.append(message)

    await app(scope, receive, send)
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("127.0.0.1", True),
        ("127.9.8.7", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LocalHost", True),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("10.0.0.1", False),
        ("127.0.0.1.example", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_what_is_loopback(host: str, answer: bool) -> None:
    assert is_loopback(host) == answer


def test_a_node_without_a_wallet_has_no_keys() -> None:
    with Node() as node, serving(node) as url, Remote(url) as remote:
        assert remote.order("mine")["height"] == 1
        with pytest.raises(UsageError) as caught:
            remote.order("key", {"key": "a"})
        assert caught.value.code == "no-wallet"


def test_a_port_that_is_taken(client: Client) -> None:
    port = int(client.url.rpartition(":")[2])
    with Devnet() as net, pytest.raises(SourceError) as caught, net.serve(port=port):
        pass
    assert caught.value.code == "port-taken"
