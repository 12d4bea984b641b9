"""Each quirk alone shows what the facts say, and nothing without it."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from metaid.devnet.served import NOTE, Client, Row, ids_of, sample, served, write
from refold.kernel.errors import UsageError
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.devnet import purse
from refold.metaid.devnet.found import drawn
from refold.metaid.devnet.indexer import FAR_FUTURE
from refold.metaid.devnet.quirks import PROFILES, Quirks, switches
from refold.metaid.envelope import new_tuple, pin_script
from refold.metaid.globalmetaid import metaid_of
from refold.metaid.tx import MVC_VERSION, Input, Output, Tx, parse_tx, serialize_tx
from refold.metaid.wallet import Key, sign_tx

LAMP = "灯塔"


@pytest.fixture
def client() -> Iterator[Client]:
    with served(base_height=10) as client:
        yield client


def mined(client: Client, count: int = 3, blocks: int = 1) -> list[str]:
    pins = []
    for _ in range(blocks):
        pins += write(client.net, count)
        client.net.mine()
    return pins


def detail(client: Client, pin_id: str) -> Row:
    row: Row = client.data(f"/api/pin/{pin_id}")
    return row


def pin_body(client: Client, body: bytes, content_type: str = "application/json") -> str:
    pin = client.net.pin(client.net.key("alice"), NOTE, body, content_type=content_type)
    client.net.mine()
    return pin


# switches as data


def test_every_switch_is_tested_here() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
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


# mempool and blocks


def test_mempool_rows(client: Client) -> None:
    pins = mined(client)
    waiting = write(client.net, 2)
    assert client.ids() == pins
    assert detail(client, waiting[0])["genesisHeight"] == -1, "it is known, and not listed"
    for order in (False, True):
        client.net.quirks(mempool_rows=True, newest_first=order)
        rows = client.rows(size=2)
        assert [row["id"] for row in rows] == (pins + waiting)[:: -1 if order else 1]
        row = next(row for row in rows if row["id"] == waiting[1])
        expected = {"genesisHeight": -1, "number": -1, "popLv": -1, "pop": "", "txIndex": 0}
        assert {name: row[name] for name in expected} == expected
        assert row["timestamp"] == row["seenTime"]
        assert client.page()["total"] == 3
    client.net.mine()
    row = client.rows()[0]
    assert (row["id"], row["genesisHeight"], row["popLv"]) == (waiting[1], 12, 0)
    assert row["seenTime"] < row["timestamp"]


def test_mempool_key(client: Client) -> None:
    client.net.quirks(
        mempool_rows=True, newest_first=True, raw_cursor=True, cursor_on_last_page=True
    )
    first, second = write(client.net, 2)
    seen = detail(client, first)["timestamp"]
    cursor = client.page()["nextCursor"]
    assert cursor.split("&")[1:] == [str(seen), "mvc", "-000000001", first]
    client.net.quirks(mempool_key="far-future")
    cursor = client.page()["nextCursor"]
    assert cursor.split("&")[1:3] == [str(FAR_FUTURE), "mvc"]
    assert client.ids() == sorted((first, second), reverse=True), "one time, so the id decides"
    client.net.mine()
    assert client.ids() == [second, first]


def test_mempool_unseen(client: Client) -> None:
    client.net.quirks(mempool_unseen=True, mempool_rows=True)
    (pin,) = write(client.net, 1)
    assert client.http.get(f"/api/pin/{pin}").status_code == 404
    assert client.ids() == []
    assert client.data("/mempool/list", page=1, size=5)["Pins"] == []
    client.net.mine()
    row = client.rows()[0]
    assert row["seenTime"] == row["timestamp"] == client.net.tip.time


def test_stale_keys(client: Client) -> None:
    """A pin stands under two keys, so on two pages; never twice on one."""
    client.net.quirks(mempool_rows=True, newest_first=True, mempool_key="far-future")
    pins = mined(client, count=4)
    assert sorted(client.ids(size=3)) == sorted(pins)
    client.net.quirks(stale_keys=2)
    walk = client.ids(size=3)
    assert sorted(set(walk)) == sorted(pins)
    assert len(walk) > 4
    assert sorted(client.ids(size=100)) == sorted(pins)
    assert all(row["genesisHeight"] == 11 for row in client.rows(size=3))
    client.net.mine()
    assert len(client.ids(size=3)) > 4
    client.net.mine()
    assert sorted(client.ids(size=3)) == sorted(pins)


def test_ignores_reorgs(client: Client) -> None:
    net = client.net
    pins = mined(client, count=3, blocks=2)
    net.quirks(ignores_reorgs=True)
    net.reorg(2, drop=[pins[5]], fate="gone", shift=1)
    assert [pin.height for pin in net.pins()] == [12] * 3 + [13] * 2
    rows = {row["id"]: row["genesisHeight"] for row in client.rows()}
    assert rows == dict.fromkeys(pins[:3], 11) | dict.fromkeys(pins[3:5], 13) | {pins[5]: 12}
    net.mine()
    assert pins[5] in client.ids(), "a ghost stays"
    net.rescan()
    assert client.ids() == ids_of(net.pins())
    net.quirks(ignores_reorgs=False)
    net.reorg(1, shift=-1)
    assert client.ids() == ids_of(net.pins())


def test_an_ignored_reorg_leaves_two_keys_of_blocks(client: Client) -> None:
    client.net.quirks(ignores_reorgs=True, newest_first=True)
    (pin,) = mined(client, count=1)
    client.net.reorg(1, shift=1)
    assert client.ids(size=1) == [pin, pin]
    assert {row["genesisHeight"] for row in client.rows(size=1)} == {12}


@pytest.mark.parametrize("unseen", [False, True])
def test_a_pin_first_met_in_a_block_is_seen_when_it_waits_again(
    client: Client, unseen: bool
) -> None:
    client.net.quirks(mempool_unseen=True, mempool_rows=True)
    first, second = mined(client, count=2)
    client.net.quirks(mempool_unseen=unseen)
    client.net.reorg(1, drop=[second])
    rows: dict[str, Any] = {}
    for newest_first in (False, True):
        client.net.quirks(newest_first=newest_first)
        rows = {row["id"]: row for row in client.rows()}
        assert set(rows) == ({first} if unseen else {first, second})
    if not unseen:
        assert rows[second]["genesisHeight"] == -1
        assert rows[second]["seenTime"] == client.net.tip.time
    client.net.mine()
    assert sorted(client.ids()) == sorted((first, second))


def test_skip_every(client: Client) -> None:
    client.net.quirks(skip_every=3)
    pins = mined(client, count=1, blocks=5)  # heights 11 to 15
    assert client.ids() == [pins[0], pins[2], pins[3]]
    assert client.get("/debug/sync")["mvc_sync_height"] == 15
    assert detail(client, pins[1])["genesisHeight"] == -1, "still in its mempool"
    client.net.quirks(skip_every=0)
    mined(client, count=1)
    assert pins[1] not in client.ids(), "nobody goes back"
    client.net.rescan()
    assert client.ids() == ids_of(client.net.pins())


def test_stuck(client: Client) -> None:
    pins = mined(client, count=2)
    client.net.quirks(stuck=True)
    more = mined(client, count=2, blocks=2)
    assert client.ids() == pins
    assert client.get("/debug/sync")["mvc_sync_height"] == 11
    assert client.get("/devnet/tip")["height"] == 13
    assert client.http.get(f"/api/pin/{more[0]}").status_code == 404
    client.net.quirks(stuck=False)
    assert client.ids() == pins + more


def test_a_reorg_while_stuck_is_caught_up_with(client: Client) -> None:
    pins = mined(client, count=2, blocks=2)
    client.net.quirks(stuck=True)
    client.net.reorg(2, order="reversed", shift=1, drop=[pins[3]])
    client.net.quirks(stuck=False)
    assert client.ids() == ids_of(client.net.pins())
    client.net.mine()
    assert client.ids() == ids_of(client.net.pins())
    assert len(client.ids()) == 4


def test_sync_height(client: Client) -> None:
    for form, height in (("number", 10), ("text", "10"), ("null", None)):
        client.net.quirks(sync_height=form)
        assert client.get("/debug/sync")["mvc_sync_height"] == height
        assert client.get("/debug/sync")["btc_sync_height"] is None


# bodies


def bodies(row: Row) -> tuple[str, int, str]:
    return (row["contentBody"], row["contentLength"], row["contentSummary"])


def test_list_body(client: Client) -> None:
    body = b'{"t":"' + b"x" * 5_000 + b'"}'
    pin = pin_body(client, body)
    text, whole = body.decode(), base64.b64encode(body).decode()
    expected = {
        "base64": (whole, len(body), text),
        "summary": ("", len(body), text),
        "preview": ("", len(body), text[:4_096]),
        "v1": (whole, len(body), text[:150]),
    }
    for form, row in expected.items():
        client.net.quirks(list_body=form)
        assert bodies(client.rows()[0]) == row
        in_detail = text[:150] if form == "v1" else text
        assert bodies(detail(client, pin)) == (whole, len(body), in_detail)


def test_a_binary_body_is_lossy_as_text(client: Client) -> None:
    body = b"\x89PNG\r\n\x1a\n\xff\xfe\x00"
    pin = pin_body(client, body, "image/png")
    client.net.quirks(list_body="summary")
    row = client.rows()[0]
    assert row["contentSummary"] == "\ufffdPNG\r\n\x1a\n\ufffd\ufffd\x00"
    assert row["contentLength"] == len(body) != len(row["contentSummary"].encode())
    assert row["contentTypeDetect"] == "image/png"
    assert base64.b64decode(detail(client, pin)["contentBody"]) == body
    client.net.quirks(list_body="v1")
    assert client.rows()[0]["contentSummary"] == f"/content/{pin}"


def test_cut_letters(client: Client) -> None:
    """A cut inside a letter can make the lengths equal again: three bytes are lost and given."""
    body = ("x" * 4_095 + LAMP).encode()
    pin_body(client, body)
    client.net.quirks(list_body="preview")
    assert client.rows()[0]["contentSummary"] == "x" * 4_095
    client.net.quirks(cut_letters=True)
    assert client.rows()[0]["contentSummary"] == "x" * 4_095 + "\ufffd"
    client.net.quirks(list_body="v1")
    pin_body(client, LAMP.encode() * 100)
    assert client.rows()[1]["contentSummary"] == LAMP * 25
    pin_body(client, b"x" + LAMP.encode() * 100)
    assert client.rows()[2]["contentSummary"].endswith("\ufffd\ufffd")


def test_metadata_only(client: Client) -> None:
    pins = mined(client, count=20)
    client.net.quirks(metadata_only=40)
    rows = {row["id"]: row for row in client.rows()}
    empty = [pin for pin in pins if drawn(40, "metadata only", pin)]
    assert 0 < len(empty) < 20
    for pin in pins:
        assert (bodies(rows[pin])[::2] == ("", "")) == (pin in empty)
        assert rows[pin]["contentLength"] > 0
    assert bodies(detail(client, empty[0]))[::2] == ("", "")
    answer = client.http.get(f"/content/{empty[0]}")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["x-man-content-status"] == "metadata-only"


def test_original_body_missing(client: Client) -> None:
    pins = modified(client, "anyone")
    assert client.rows()[0]["originalContentBody"]
    client.net.quirks(original_body_missing=True)
    for row in (client.rows()[0], detail(client, pins[0])):
        assert (row["status"], row["originalContentBody"]) == (1, None)
    first = client.data(f"/api/pin/ver/{pins[0]}/0")
    assert base64.b64decode(first["contentBody"]) == client.net.pins(NOTE)[0].body


def test_odd_version_0(client: Client) -> None:
    first, changed, _ = modified(client, "anyone")
    body = client.net.pins(NOTE)[0].body
    route = f"/api/pin/ver/{first}"
    clean = client.data(f"{route}/0")
    assert (base64.b64decode(clean["contentBody"]), clean["contentLength"]) == (body, len(body))
    client.net.quirks(odd_version_0=True)
    odd = client.data(f"{route}/0")
    assert base64.b64decode(odd["contentBody"]) == body
    assert odd["contentLength"] == len(b"changed") != len(body)
    assert client.data(f"{route}/1")["id"] == changed
    assert client.data(f"{route}/2")["id"] == first
    untouched = mined(client, count=1)[0]
    assert client.data(f"/api/pin/ver/{untouched}/0")["contentBody"] is None


def test_odd_content(client: Client) -> None:
    kinds = {
        "application/json": b'{"n":1}',
        "application/mp4": b"\x00\x00\x00\x18ftypmp42",
        "image/png;utf-8": base64.b64encode(b"\x89PNG\r\n\x1a\n....."),
    }
    pins = {kind: pin_body(client, body, kind) for kind, body in kinds.items()}
    for kind, pin in pins.items():
        answer = client.http.get(f"/content/{pin}")
        assert (answer.headers["content-type"], answer.content) == (kind, kinds[kind])
    client.net.quirks(odd_content=True)
    plain, video, image = (client.http.get(f"/content/{pin}") for pin in pins.values())
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.content == kinds["application/json"]
    assert video.headers["content-type"] == "text/html; charset=utf-8"
    assert f"/stream/{pins['application/mp4']}" in video.text
    assert image.content == b"data:image/png;base64," + kinds["image/png;utf-8"]
    assert client.http.get(f"/stream/{pins['application/mp4']}").content == b""


# what rows say


def forged(client: Client, victim: Key) -> str:
    """Let mallory pay for a pin whose first output names the victim."""
    mallory = client.net.key("mallory")
    client.net.fund(mallory)
    with client.net.transaction() as connection:
        coin = purse.coins(connection, mallory.script)[0]
    outputs = (
        Output(1, victim.script),
        Output(0, pin_script(new_tuple("create", NOTE, b"not mine"))),
        Output(coin.output.value - 2_000, mallory.script),
    )
    tx = sign_tx(Tx(MVC_VERSION, (Input(coin.outpoint, b""),), outputs), [coin.output], [mallory])
    txid = client.net.send(serialize_tx(tx))
    client.net.mine()
    return f"{txid}i0"


def test_creator(client: Client) -> None:
    victim, mallory = client.net.key("victim"), client.net.key("mallory")
    pin = forged(client, victim)
    row = client.rows()[0]
    assert (row["creator"], row["globalMetaId"]) == (mallory.address, mallory.globalmetaid)
    client.net.quirks(creator="output")
    row = client.rows()[0]
    assert (row["creator"], row["globalMetaId"]) == (victim.address, victim.globalmetaid)
    assert row["address"] == row["initialOwner"] == victim.address
    assert row["createMetaId"] == metaid_of(victim.address)
    raw = client.get(f"/open-api-mvc/tx/{pin[:64]}/raw")["hex"]
    named = pin_of_tx(parse_tx(bytes.fromhex(raw)))
    assert named is not None
    assert named.named_author == victim.globalmetaid
    assert client.net.pins()[0].author == mallory.globalmetaid


def test_globalmetaid_missing(client: Client) -> None:
    mined(client)
    assert client.rows()[0]["globalMetaId"].startswith("idq1")
    client.net.quirks(globalmetaid_missing=True)
    assert {row["globalMetaId"] for row in client.rows()} == {""}
    assert client.rows()[0]["creator"]


def modified(client: Client, rule: str) -> list[str]:
    """Let bob modify a pin of alice; give both, and an untouched one."""
    first, other = mined(client, count=2)
    client.net.quirks(modify=rule)
    change = client.net.pin(client.net.key("bob"), f"@{first}", b"changed", "modify", version="2.0")
    client.net.mine()
    return [first, change, other]


def test_modify(client: Client) -> None:
    first, change, other = modified(client, "never")
    body = client.net.pins(NOTE)[0].body
    assert client.ids() == [first, other]
    assert client.ids(f"@{first}") == [change]
    for rule in ("never", "owner"):
        client.net.quirks(modify=rule)
        row = client.rows()[0]
        assert (row["status"], base64.b64decode(row["contentBody"])) == (0, body)
        assert row["modify_history"] is None
    client.net.quirks(modify="anyone")
    row = client.rows()[0]
    assert (row["status"], base64.b64decode(row["contentBody"])) == (1, b"changed")
    assert base64.b64decode(row["originalContentBody"]) == body
    assert row["modify_history"] == [first, change]
    assert (row["version"], row["genesisHeight"]) == ("1.0", 11)
    assert row["globalMetaId"] == client.net.key("alice").globalmetaid
    assert client.http.get(f"/content/{first}").content == b"changed"
    own = detail(client, change)
    assert (own["originalId"], own["path"]) == (first, f"@{first}")
    assert own["modify_history"] == [first, change]
    assert set(own) == set(sample("pin_detail_modify_pin")["data"])


def test_modify_of_modify_by_the_owner(client: Client) -> None:
    (first,) = mined(client, count=1)
    alice = client.net.key("alice")
    client.net.quirks(modify="owner")
    second = client.net.pin(alice, f"@{first}", b"second", "modify")
    third = client.net.pin(alice, f"@{second}", b"third", "modify")
    client.net.mine()
    row = client.rows()[0]
    assert base64.b64decode(row["contentBody"]) == b"third"
    assert row["modify_history"] == [first, second, third]
    assert detail(client, second)["modify_history"] == [first, second]
    assert client.data(f"/api/pin/ver/{first}/2")["id"] == third
    client.net.pin(alice, f"@{second}", operation="revoke")
    client.net.mine()
    assert detail(client, second)["status"] == -1, "a revoke is about what it names"
    assert client.rows()[0]["status"] == 1


def test_a_revoked_pin_stays_in_its_list(client: Client) -> None:
    first, other = mined(client, count=2)
    client.net.quirks(modify="anyone")
    client.net.pin(client.net.key("bob"), f"@{first}", operation="revoke")
    client.net.mine()
    assert [row["status"] for row in client.rows()] == [-1, 0]
    assert client.ids() == [first, other]
    client.net.quirks(modify="owner")
    assert [row["status"] for row in client.rows()] == [0, 0]


def test_modify_from_mempool(client: Client) -> None:
    (first,) = mined(client, count=1)
    client.net.quirks(modify="anyone")
    client.net.pin(client.net.key("bob"), f"@{first}", b"soon", "modify")
    assert client.rows()[0]["status"] == 0
    client.net.quirks(modify_from_mempool=True)
    row = client.rows()[0]
    assert (row["status"], base64.b64decode(row["contentBody"])) == (1, b"soon")
    assert row["genesisHeight"] == 11


def test_content_links(client: Client) -> None:
    (pin,) = mined(client, count=1)
    assert (client.rows()[0]["content"], client.rows()[0]["preview"]) == ("", "")
    client.net.quirks(content_links=True)
    row = client.rows()[0]
    assert (row["content"], row["preview"]) == (f"{client.url}/content/{pin}", "")


def test_milliseconds(client: Client) -> None:
    mined(client, count=1)
    seconds = client.rows()[0]
    client.net.quirks(milliseconds=True)
    row = client.rows()[0]
    for name in ("timestamp", "seenTime"):
        assert row[name] == seconds[name] * 1_000 >= 10**12


# pins that are not there


def test_unknown_pin(client: Client) -> None:
    pin = "0" * 64 + "i0"
    known = sample("pin_not_found")
    shapes = {
        "404": (404, known["man_p2p_http_404"]),
        "zero": (200, known["production_man_http_200"]),
        "code-100": (200, known["v1_http_200"]),
    }
    for form, (status, answer) in shapes.items():
        client.net.quirks(unknown_pin=form)
        found = client.http.get(f"/api/pin/{pin}")
        assert (found.status_code, found.json()) == (status, answer)
        content = client.http.get(f"/content/{pin}")
        if form == "404":
            assert (content.status_code, content.json()["code"]) == (404, 100)
        else:
            assert (content.status_code, content.text) == (200, "fail")


def test_aliases(client: Client) -> None:
    mined(client, count=1)
    alias = client.net.pins()[0].pin.alias
    assert alias is not None
    assert client.http.get(f"/api/pin/{alias}").status_code == 404
    client.net.quirks(aliases=True)
    assert detail(client, alias)["id"] == client.net.pins()[0].id
    assert client.http.get(f"/content/{alias}").content == client.net.pins()[0].body
