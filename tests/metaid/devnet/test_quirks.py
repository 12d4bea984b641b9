"""Each quirk alone shows what the facts say, and nothing without it."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from metaid.devnet import test_quirks_blocks, test_quirks_rows
from metaid.devnet.served import NOTE, Client, sample, served, write
from metaid.devnet.staged import detail, mined
from refold.kernel.errors import UsageError
from refold.metaid.devnet.found import drawn
from refold.metaid.devnet.quirks import PROFILES, Quirks, switches
from refold.metaid.globalmetaid import metaid_of


@pytest.fixture
def client() -> Iterator[Client]:
    with served(base_height=10) as client:
        yield client


# switches as data


def test_every_switch_is_tested_here() -> None:
    modules = (sys.modules[__name__], test_quirks_blocks, test_quirks_rows)
    names = [name for module in modules for name in vars(module)]
    tested = {name.removeprefix("test_") for name in names if name.startswith("test_")}
    assert {switch.name for switch in switches()} <= tested


def test_switches_say_what_they_are() -> None:
    for switch in switches():
        assert switch.facts.startswith("§")
        assert len(switch.help.splitlines()) == 1
        assert switch.values
        assert all(1 <= number <= 35 for number in switch.pitfalls)
    assert PROFILES["clean"] == Quirks()


def test_changes_add_up_and_profiles_begin_anew(client: Client) -> None:
    net = client.net
    assert net.quirks() == Quirks()
    net.quirks(null_lists=True)
    assert net.quirks(raw_cursor=True).null_lists
    assert not net.quirks("clean", raw_cursor=True).null_lists
    assert net.quirks("man-p2p", total_lag=0).list_body == "preview"


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("quirk-profile", {"profile": "man-v3"}),
        ("quirk-name", {"nul_lists": True}),
        ("quirk-value", {"null_lists": 1}),
        ("quirk-value", {"total_lag": -1}),
        ("quirk-value", {"short_pages": 101}),
        ("quirk-value", {"modify": "nobody"}),
    ],
)
def test_wrong_switches_change_nothing(client: Client, code: str, changes: dict[str, Any]) -> None:
    client.net.quirks("man-v2")
    with pytest.raises(UsageError) as caught:
        client.net.quirks(**changes)
    assert caught.value.code == code
    assert client.net.quirks() == PROFILES["man-v2"]


# routes


def test_generation(client: Client) -> None:
    mined(client)
    client.net.quirks(generation="v1")
    assert client.http.get(f"/api/pin/path/list?path={NOTE}&size=3").status_code == 404
    assert len(client.data("/api/getAllPinByPath", page=1, limit=9, path=NOTE)["list"]) == 3
    client.net.quirks(generation="v2")
    assert client.http.get(f"/api/getAllPinByPath?page=1&limit=9&path={NOTE}").status_code == 404
    assert len(client.page()["list"]) == 3


def test_prefix(client: Client) -> None:
    routes = {
        "api": f"/api/pin/path/list?path={NOTE}&size=3",
        "bare": f"/pin/path/list?path={NOTE}&size=3",
    }
    for prefix in ("both", "api", "bare"):
        client.net.quirks(prefix=prefix)
        for name, route in routes.items():
            answers = 200 if prefix in {"both", name} else 404
            assert client.http.get(route).status_code == answers
        assert client.http.get("/health").status_code == 200


# lists


def test_size_over_100_is_20(client: Client) -> None:
    mined(client, count=110)
    assert len(client.page(size=200)["list"]) == 100
    assert client.get("/api/pin/path/list", path=NOTE, size="many")["code"] == 404
    client.net.quirks(size_over_100_is_20=True)
    for size in (101, 200, "many", 0, -5, "100.0"):
        assert len(client.data("/api/pin/path/list", path=NOTE, size=size)["list"]) == 20
    assert len(client.page(size=100)["list"]) == 100


def test_newest_first(client: Client) -> None:
    pins = mined(client, count=2, blocks=4)
    assert client.ids(size=3) == pins
    client.net.quirks(newest_first=True)
    assert client.ids(size=3) == pins[::-1]


def test_inner_sort(client: Client) -> None:
    """The page's cut is by key, its rows by time; the cursor is of the last by key."""
    net = client.net
    net.quirks(mempool_unseen=True)
    pins = mined(client, count=6)
    by_key = sorted(pins, reverse=True)  # all keys have the block's time, then the id decides
    net.quirks(newest_first=True)
    assert client.ids(size=4) == by_key
    for order in ("timestamp", "seenTime"):
        net.quirks(newest_first=True, inner_sort=order, mempool_rows=True)
        pages = client.pages(size=4)
        assert [row["id"] for page in pages for row in page["list"]] == by_key
    net.quirks(mempool_unseen=False)
    later = mined(client, count=6)
    net.quirks(newest_first=False, inner_sort="seenTime")
    first, second = client.pages(size=9)
    assert [row["id"] for row in first["list"][:3]] == later[:3][::-1]
    assert {row["id"] for row in first["list"]} == {*pins, *later[:3]}
    assert [row["id"] for row in second["list"]] == later[3:][::-1]


def test_raw_cursor(client: Client) -> None:
    pins = mined(client, count=3)
    client.net.quirks(newest_first=True, raw_cursor=True)
    cursor = client.page(size=2)["nextCursor"]
    path_hash, time, chain, height, pin_id = cursor.split("&")
    assert path_hash == metaid_of(NOTE)
    assert (len(time), chain, height, pin_id) == (10, "mvc", "0000000011", pins[1])
    known = sample("pins_path_list")["data"]["nextCursor"]
    assert [len(part) for part in known.split("&")] == [len(part) for part in cursor.split("&")]
    unescaped = client.http.get(f"/api/pin/path/list?path={NOTE}&size=2&cursor={cursor}").json()
    assert unescaped["data"]["list"] in ([], None), "cut at the first &, it lies before all keys"
    client.net.quirks(raw_cursor=False)
    assert "&" not in client.page(size=2)["nextCursor"]
    alice = client.net.key("alice")
    client.net.quirks(raw_cursor=True)
    by_owner = client.data(f"/api/address/pin/list/{alice.address}", path=NOTE, size=2)
    assert by_owner["nextCursor"] == f"{metaid_of(alice.address)}&{cursor}"


def test_cursor_on_last_page(client: Client) -> None:
    mined(client, count=4)
    assert [len(page["list"]) for page in client.pages(size=2)] == [2, 2]
    assert client.pages(size=2)[-1]["nextCursor"] == ""
    client.net.quirks(cursor_on_last_page=True)
    pages = client.pages(size=2)
    assert [len(page["list"]) for page in pages] == [2, 2, 0]
    assert [bool(page["nextCursor"]) for page in pages] == [True, True, False]


def test_null_lists(client: Client) -> None:
    assert client.page()["list"] == []
    assert client.data("/pin/list", page=1, size=3)["Pins"] == []
    client.net.quirks(null_lists=True)
    assert client.page() == sample("empty_page")["data"]
    assert client.data("/pin/list", page=1, size=3)["Pins"] is None


def test_total_lag(client: Client) -> None:
    totals = []
    client.net.quirks(total_lag=4)
    for _ in range(7):  # up to height 17
        mined(client, count=2)
        totals.append(client.page(size=3)["total"])
    assert totals == [0, 4, 4, 4, 4, 12, 12]
    client.net.quirks(total_lag=0)
    assert client.page(size=3)["total"] == 14


def test_short_pages(client: Client) -> None:
    pins = mined(client, count=20)
    client.net.quirks(short_pages=100)
    pages = client.pages(size=8)
    assert [len(page["list"]) for page in pages] == [6, 6, 6, 2]
    assert [row["id"] for page in pages for row in page["list"]] == pins
    assert client.ids(size=1) == pins
    client.net.quirks(short_pages=40)
    assert {len(page["list"]) for page in client.pages(size=4)} >= {3, 4}
    assert client.ids(size=4) == pins


def test_lost_rows(client: Client) -> None:
    pins = mined(client, count=30)
    client.net.quirks(lost_rows=30)
    lost = [pin for pin in pins if drawn(30, "lost row", pin)]
    assert 0 < len(lost) < 20
    assert client.ids(size=7) == [pin for pin in pins if pin not in lost]
    assert client.ids(size=30) == client.ids(size=7)
    assert detail(client, lost[0])["id"] == lost[0]
    assert client.page()["total"] == 30


def test_short_rows_bare(client: Client) -> None:
    mined(client)
    write(client.net, 1)
    rows = [client.data(f"/{kind}/list", page=1, size=1)["Pins"][0] for kind in ("pin", "mempool")]
    assert [row["height"] for row in rows] == [11, -1]
    client.net.quirks(short_rows_bare=True)
    rows = [client.data(f"/{kind}/list", page=1, size=1)["Pins"][0] for kind in ("pin", "mempool")]
    assert [row["height"] for row in rows] == [0, 0]
    assert rows[0]["address"]
    assert [rows[1][name] for name in ("address", "creator", "chainName")] == ["", "", ""]
