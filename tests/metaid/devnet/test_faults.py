"""What goes wrong on the way: each fault alone, by lot or counted, never on the admin's routes."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from time import monotonic
from typing import Any

import httpx2
import pytest

from metaid.devnet.served import NOTE, Client, served, write
from refold.kernel.errors import UsageError
from refold.metaid.devnet.faults import KINDS, FaultPlan, Faults, Kind, faults_of

ROUTE = f"/api/pin/path/list?path={NOTE}&size=50"


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    with served() as client:
        write(client.net, 30)
        client.net.mine()
        yield client


@pytest.fixture
def client(shared: Client) -> Iterator[Client]:
    yield shared
    shared.net.faults()


def meets(client: Client, kind: Kind) -> bool:
    """Ask once, and tell whether this fault came."""
    try:
        answer = client.http.get(ROUTE)
    except httpx2.RemoteProtocolError as error:
        cut = "without sending complete message body" in str(error)
        return kind == ("truncate" if cut else "drop")
    if answer.status_code != 200:
        html = answer.headers["content-type"] == "text/html" and b"<html>" in answer.content
        return html and kind == f"error_{answer.status_code}"
    if not answer.content:
        return kind == "empty"
    try:
        rows = answer.json()["data"]["list"]
    except (ValueError, TypeError, KeyError):
        return kind == "wrong_json"
    return kind == "wrong_json" and not isinstance(rows, list)


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_alone_for_the_next_requests(client: Client, kind: Kind) -> None:
    client.net.faults(**{kind: 3})
    assert [meets(client, kind) for _ in range(5)] == [True] * 3 + [False] * 2
    assert len(client.ids(size=7)) == 30


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_by_lot(client: Client, kind: Kind) -> None:
    client.net.faults(**{kind: 0.5})
    hits = [meets(client, kind) for _ in range(40)]
    assert 5 < sum(hits) < 35
    client.net.faults(**{kind: 0.5})
    assert [meets(client, kind) for _ in range(40)] == hits, "the same lots again"
    client.net.faults(**{kind: 0.5}, seed="other")
    assert [meets(client, kind) for _ in range(40)] != hits


def test_a_delay_comes_on_top(client: Client) -> None:
    client.net.faults(delay=1, delay_seconds=0.2)
    start = monotonic()
    assert client.page()["list"]
    assert monotonic() - start >= 0.2
    client.net.faults(delay=1.0, error_500=1.0, delay_seconds=0.0)
    assert meets(client, "error_500")


def test_wrong_json_comes_in_several_shapes(client: Client) -> None:
    client.net.faults(wrong_json=1.0)
    shapes: Counter[str] = Counter()
    for _ in range(60):
        content = client.http.get(ROUTE).content
        try:
            shapes[json.dumps(json.loads(content))] += 1
        except ValueError:
            shapes["cut"] += 1
    assert len(shapes) == 6


def test_wrong_json_leaves_other_content_alone(client: Client) -> None:
    pin = client.net.pins(NOTE)[0]
    client.net.quirks(odd_content=True)
    client.net.faults(wrong_json=1.0)
    assert client.http.get(f"/content/{pin.id}").content == pin.body
    client.net.quirks("clean")


def test_a_cut_body_says_its_whole_length(client: Client) -> None:
    client.net.faults(truncate=1)
    got: list[bytes] = []
    with client.http.stream("GET", ROUTE) as answer:
        length = int(answer.headers["content-length"])
        with pytest.raises(httpx2.RemoteProtocolError):
            got.extend(answer.iter_raw(chunk_size=64))
    assert 0 < len(b"".join(got)) <= length // 2
    assert len(client.http.get(ROUTE).content) == length


def test_orders_never_fail(client: Client) -> None:
    client.net.faults(**dict.fromkeys(KINDS, 1.0))
    for _ in range(5):
        assert client.http.get("/devnet/admin/status").json()["tip"]["height"] == 1
    assert meets(client, "drop")


def test_faults_on_some_routes_only(client: Client) -> None:
    client.net.faults(error_502=1.0, only="/api/pin/")
    assert meets(client, "error_502")
    assert client.http.get("/health").status_code == 200


def test_the_first_kind_hides_the_others() -> None:
    plan = FaultPlan(Faults(drop=1, error_500=1, empty=1.0))
    assert [plan.cast("/x").kind for _ in range(3)] == ["drop", "error_500", "empty"]


def test_lots_of_different_targets_do_not_hang_together() -> None:
    targets = [f"/pin/{number}" for number in range(50)]
    plan = FaultPlan(Faults(drop=0.3, delay=0.3, seed="s"))
    cast = {target: [plan.cast(target) for _ in range(4)] for target in targets}
    other = FaultPlan(Faults(drop=0.3, delay=0.3, seed="s"))
    for target in reversed(targets):
        assert [other.cast(target) for _ in range(4)] == cast[target]
    kinds = Counter(lot.kind for lots in cast.values() for lot in lots)
    assert 30 < kinds["drop"] < 90
    assert any(a != b for lots in cast.values() for a, b in pairwise(lots))


@pytest.mark.parametrize(
    ("code", "rates"),
    [
        ("fault-name", {"dorp": 1}),
        ("fault-value", {"drop": -1}),
        ("fault-value", {"drop": 1.5}),
        ("fault-value", {"drop": "often"}),
        ("fault-value", {"delay_seconds": 601.0}),
    ],
)
def test_wrong_faults_are_refused(client: Client, code: str, rates: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        client.net.faults(**rates)
    assert caught.value.code == code
    assert client.net.plan.faults == Faults()
    assert faults_of({}) == Faults()
