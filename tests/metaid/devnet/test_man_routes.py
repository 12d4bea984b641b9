"""The MAN routes over HTTP: shapes as the samples, pages as the facts, in every profile."""

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event
from typing import Any

import httpx2
import pytest

from metaid.devnet.served import LOG, NOTE, Client, Row, ids_of, sample, served, write
from refold.metaid.devnet.quirks import PROFILE_NAMES, Profile
from refold.metaid.devnet.rows import V1_LACKS
from refold.metaid.globalmetaid import metaid_of
from refold.metaid.pin import pin_of_row

V2: tuple[Profile, ...] = ("clean", "man-v2", "man-p2p")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Serve a chain with 45 notes over nine blocks, and two in the mempool."""
    with served(base_height=1_000) as client:
        for _ in range(9):
            write(client.net, 3, key="alice")
            write(client.net, 2, key="bob")
            write(client.net, 1, key="bob", path=LOG)
            client.net.mine()
        write(client.net, 2, key="carol")
        yield client


def shape(value: Any) -> Any:
    """Give the names and types of a JSON value."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return type(value)


def assert_like(row: Row, known: Row, *, but: tuple[str, ...] = ()) -> None:
    """Compare a row with one of a sample: the same members, of the same types but for nulls."""
    assert list(row) == list(known) or set(row) == set(known)
    for name, item in known.items():
        if name not in but and item is not None and row[name] is not None:
            assert type(row[name]) is type(item), name


# shapes


@pytest.mark.parametrize("profile", V2)
def test_rows_and_details_have_the_members_of_the_samples(client: Client, profile: Profile) -> None:
    client.net.quirks(profile)
    known = {row["id"]: row for row in sample("pins_path_list")["data"]["list"]}
    page = client.page()
    assert set(page) == set(sample("pins_path_list")["data"])
    for row in page["list"]:
        assert_like(row, next(iter(known.values())))
    detail = client.data(f"/api/pin/{page['list'][-1]['id']}")
    assert_like(detail, sample("pin_detail")["data"])
    pin_of_row(client.row(detail))


def test_the_row_of_a_known_pin_says_what_it_is(client: Client) -> None:
    client.net.quirks("clean")
    pin = client.net.pins(NOTE)[0]
    detail = client.data(f"/api/pin/{pin.id}")
    alice = client.net.key("alice")
    expected = {
        "id": pin.id,
        "number": 0,
        "metaid": metaid_of(alice.address),
        "address": alice.address,
        "creator": alice.address,
        "createMetaId": metaid_of(alice.address),
        "globalMetaId": alice.globalmetaid,
        "output": f"{pin.id[:64]}:0",
        "outputValue": 1,
        "timestamp": pin.time,
        "genesisHeight": 1_001,
        "txIndex": pin.pin.tx_index,
        "txInIndex": 0,
        "location": f"{pin.id[:64]}:0:0",
        "path": NOTE,
        "parentPath": "/protocols",
        "contentType": "application/json",
        "contentBody": base64.b64encode(pin.body).decode(),
        "contentLength": len(pin.body),
        "contentSummary": pin.body.decode(),
        "preview": f"{client.url}/pin/{pin.id}",
        "content": f"{client.url}/content/{pin.id}",
        "status": 0,
        "modify_history": None,
    }
    assert {name: detail[name] for name in expected} == expected
    assert len(detail["pop"]) == len(sample("pin_detail")["data"]["pop"])
    assert detail["seenTime"] < detail["timestamp"]


def test_every_row_reads_as_the_row_model(client: Client) -> None:
    for profile in PROFILE_NAMES:
        client.net.quirks(profile)
        if profile == "v1":
            page = client.data("/api/getAllPinByPath", page=1, limit=100, path=NOTE)
        else:
            page = client.page()
        for row in page["list"]:
            client.row(row)


def test_short_rows_have_their_members(client: Client) -> None:
    client.net.quirks("clean")
    listed = client.data("/api/pin/list", page=1, size=3)
    assert set(listed) == {"Pins", "Count", "Active", "LastId"}
    newest = client.net.pins()[-1]
    row = listed["Pins"][0]
    assert (row["id"], row["height"], row["path"]) == (newest.id, newest.height, LOG)
    assert set(row) == {
        *("content", "number", "operation", "height", "id", "type", "path", "metaid", "pop"),
        *("popLv", "chainName", "address", "creator", "initialOwner", "timestamp", "seenTime"),
    }
    assert listed["LastId"] == listed["Pins"][-1]["id"]
    waiting = client.data("/mempool/list", page=1, size=3)
    assert [row["id"] for row in waiting["Pins"]] == ids_of(client.net.waiting())[::-1]
    assert waiting["Pins"][0]["height"] == -1
    assert waiting["Active"] == "mempool"
    assert not client.data("/mempool/list", page=2, size=3)["Pins"]


def test_pages_of_short_rows_go_through_all(client: Client) -> None:
    client.net.quirks("clean")
    found = []
    for page in range(1, 12):
        found += [row["id"] for row in client.data("/pin/list", page=page, size=5)["Pins"]]
    assert found == ids_of(client.net.pins())[::-1]


def test_debug_and_health(client: Client) -> None:
    client.net.quirks("man-v2")
    sync = client.get("/debug/sync")
    assert set(sync) == set(sample("debug_sync"))
    assert sync["mvc_sync_height"] == "1009"
    count = client.get("/debug/count")
    assert count == {"pin": 54, "block": 9, "metaId": 2, "app": 0}
    assert client.get("/health")["status"] == "ok"
    notes = client.get("/api/notifcation/list", address="1x", size=5)
    assert (notes["code"], notes["data"], notes["total"]) == (200, None, 0)


# pages


@pytest.mark.parametrize("profile", V2)
@pytest.mark.parametrize("size", [1, 7, 20, 100])
def test_a_walk_meets_every_confirmed_pin(client: Client, profile: Profile, size: int) -> None:
    client.net.quirks(profile)
    pages = client.pages(size=size)
    rows = [row for page in pages for row in page["list"] or ()]
    confirmed = {row["id"] for row in rows if row["genesisHeight"] >= 0}
    assert confirmed == set(ids_of(client.net.pins(NOTE)))
    if profile == "clean":
        assert [row["id"] for row in rows] == ids_of(client.net.pins(NOTE))
        assert pages[-1]["list"]
    else:
        waiting = {row["id"] for row in rows} - confirmed
        assert waiting == set(ids_of(client.net.waiting(NOTE)))
        empty = sample("empty_page")["data"]
        assert pages[-1] == empty | {"total": pages[0]["total"]}


@pytest.mark.parametrize("profile", V2)
def test_lists_of_an_address_and_a_metaid(client: Client, profile: Profile) -> None:
    client.net.quirks(profile)
    bob = client.net.key("bob")
    own = {pin.id for pin in client.net.pins(NOTE) if pin.author == bob.globalmetaid}
    routes = (
        f"/api/address/pin/list/{bob.address}",
        f"/metaid/pin/list/{metaid_of(bob.address)}",
        f"/api/metaid/pin/list/{bob.globalmetaid}",
    )
    for route in routes:
        found: list[str] = []
        cursor = "0"
        while cursor:
            page = client.data(route, path=NOTE, size=4, cursor=cursor)
            rows = page["list"] or []
            assert all(row["content"] and row["preview"] for row in rows)
            found += [row["id"] for row in rows]
            assert page["total"] <= len(own)
            cursor = page["nextCursor"]
        assert len(found) == len(own)
        assert set(found) == own


@pytest.mark.parametrize("profile", V2)
def test_missing_parameters_are_told_in_the_body(client: Client, profile: Profile) -> None:
    client.net.quirks(profile)
    routes = (
        "/api/pin/path/list",
        "/api/pin/path/list?size=10",
        f"/api/pin/path/list?path={NOTE}",
        "/address/pin/list/1x?size=3",
        f"/metaid/pin/list/x?size=3&path={NOTE}",
        "/pin/list?size=3",
        "/mempool/list?page=0&size=3",
        "/notifcation/list",
    )
    for route in routes:
        answer = client.http.get(route)
        assert answer.status_code == 200
        assert answer.json() == sample("error_response")


def test_asked_orders_change_the_inner_order_only(client: Client) -> None:
    client.net.quirks("man-v2")
    plain = client.page(size=20)
    by_height = client.page(size=20, sortBy="height", order="asc")
    heights = [row["genesisHeight"] for row in by_height["list"]]
    assert heights == sorted(heights)
    assert by_height["nextCursor"] == plain["nextCursor"]
    assert {row["id"] for row in by_height["list"]} == {row["id"] for row in plain["list"]}
    down = client.page(size=20, sortBy="timestamp", sortOrder="desc")
    assert all(a["timestamp"] >= b["timestamp"] for a, b in pairwise(down["list"]))


def test_paths_are_matched_to_the_letter(client: Client) -> None:
    client.net.quirks("man-v2")
    for path in (NOTE.upper(), f"{NOTE}/", NOTE[:-1], "/protocols"):
        assert client.page(path)["list"] is None


def test_a_cursor_that_no_page_gave(client: Client) -> None:
    client.net.quirks("clean")
    answer = client.get("/api/pin/path/list", path=NOTE, size=5, cursor="&&&")
    assert answer["code"] == 404
    client.net.quirks("man-v2")
    assert client.page(size=5, cursor="&&&")["list"] is None
    assert len(client.page(size=5, cursor="g" * 70)["list"]) == 5


# routes


def test_every_route_has_the_headers_for_browsers(client: Client) -> None:
    for route in ("/api/pin/path/list", "/health", "/content/x"):
        assert client.http.get(route).headers["access-control-allow-origin"] == "*"
    options = client.http.options("/api/pin/list")
    assert (options.status_code, options.content) == (204, b"")
    assert options.headers["access-control-allow-origin"] == "*"


def test_unknown_routes_and_methods(client: Client) -> None:
    client.net.quirks("clean")
    assert client.http.get("/nothing/here").status_code == 404
    assert client.http.get("/nothing/here").text == "404 page not found"
    assert client.http.delete("/api/pin/list").status_code == 405


def test_the_first_generation_has_its_own_routes(client: Client) -> None:
    client.net.quirks("v1")
    assert client.http.get("/api/pin/path/list", params={"path": NOTE, "size": 5}).text == (
        "404 page not found"
    )
    newest = ids_of(client.net.pins(NOTE))[::-1]
    found: list[str] = []
    for page in range(1, 6):
        data = client.data("/api/getAllPinByPath", page=page, limit=10, path=f"{NOTE},/x")
        assert data["total"] == len(newest)
        found += [row["id"] for row in data["list"] or ()]
    assert found == newest
    assert client.data("/api/getAllPinByPath", page=9, limit=10, path=NOTE)["list"] is None
    row = client.data("/getAllPinByPath", page=1, limit=1, path=NOTE)["list"][0]
    assert set(row) == set(sample("list_row_variants")["v1_man_indexer"])
    assert not set(row) & set(V1_LACKS)
    assert base64.b64decode(row["contentBody"]) == client.net.pins(NOTE)[-1].body
    assert client.get("/api/getAllPinByPath", page=1, limit=1)["code"] == 101
    assert client.get("/api/getAllPinByPath", page=0, limit=1, path=NOTE)["code"] == 101


def test_the_first_generation_by_authors(client: Client) -> None:
    client.net.quirks("v1")
    bob = client.net.key("bob")
    own = [p.id for p in client.net.pins(NOTE) if p.author == bob.globalmetaid][::-1]
    asked = {"page": 1, "size": 50, "path": NOTE, "metaIdList": [metaid_of(bob.address)]}
    told = client.http.post("/api/getAllPinByPathAndMetaId", json=asked).json()["data"]
    assert ([row["id"] for row in told["list"]], told["total"]) == (own, len(own))
    route = f"/api/address/pin/list/creator/{bob.address}"
    by_address = client.data(route, path=NOTE, size=50, page=1)
    assert [row["id"] for row in by_address["list"]] == own
    broken = client.http.post("/api/getAllPinByPathAndMetaId", json=asked | {"page": 0}).json()
    assert broken["code"] == 101
    assert client.http.post("/api/getAllPinByPathAndMetaId", content=b"{").json()["code"] == 101


def test_versions_of_a_pin_that_nobody_changed(client: Client) -> None:
    pin = client.net.pins(NOTE)[0]
    client.net.quirks("clean")
    first = client.data(f"/api/pin/ver/{pin.id}/0")
    assert base64.b64decode(first["contentBody"]) == pin.body
    client.net.quirks("man-v2")
    odd = client.data(f"/api/pin/ver/{pin.id}/0")
    assert (odd["contentBody"], odd["contentSummary"]) == (None, "")
    assert odd["contentLength"] == len(pin.body)
    assert client.data(f"/api/pin/ver/{pin.id}/5")["id"] == pin.id
    zero = sample("pin_not_found")["production_man_http_200"]["data"]
    assert client.data(f"/api/pin/ver/{pin.id}/last") == zero
    assert client.data(f"/api/pin/ver/{'0' * 64}i0/0") == zero


def test_many_may_read_while_one_writes() -> None:
    with served(base_height=1) as client, ThreadPoolExecutor(4) as pool:
        stop = Event()

        def read() -> int:
            walks = 0
            while not stop.is_set() or not walks:
                with httpx2.Client(base_url=client.url, trust_env=False) as http:
                    other = Client(client.net, client.url, http)
                    found = other.ids(size=9)
                assert len(found) == len(set(found))
                walks += 1
            return walks

        readers = [pool.submit(read) for _ in range(4)]
        for block in range(12):
            write(client.net, 5, key="ab"[block % 2])
            client.net.mine()
        stop.set()
        assert all(reader.result() for reader in readers)
        assert client.ids(size=9) == ids_of(client.net.pins())
