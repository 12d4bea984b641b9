"""Quirks about bodies, about what rows say, and about pins that are not there."""

import base64
from collections.abc import Iterator

import pytest

from metaid.devnet.served import NOTE, Client, sample, served
from metaid.devnet.staged import bodies, detail, forged, mined, modified, pin_body
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.devnet.found import drawn
from refold.metaid.globalmetaid import metaid_of
from refold.metaid.tx import parse_tx

LAMP = "灯塔"


@pytest.fixture
def client() -> Iterator[Client]:
    with served(base_height=10) as client:
        yield client


# bodies


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
