"""Stored receipts in other forms, and the pins of the chain, over HTTP."""

import json
from pathlib import Path

import pytest

from coverage.api.served import V1, served
from coverage.receipts import check, example
from refold.cli.coverage_demo import demo_served, load_demo
from refold.coverage.demo import demo_receipts
from refold.coverage.export import MEDIA_TYPES
from refold.coverage.store import Origin, open_store
from refold.db import Database

AT = "2030-01-03T00:00:00Z"
DEMO_AT = "2026-12-01T00:00:00Z"
ROUTES = {"intoto": "statement", "sarif": "sarif", "markdown": "markdown"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'refold.db'}"


def store(url: str, *records: object, pin: str = "", height: int | None = None) -> None:
    """Store records, each with a pin whose id ends with its number where one is given."""
    with Database.open(url) as database, database.write() as connection:
        for number, record in enumerate(records):
            named = f"{pin}{number:02x}i0" if pin else ""
            origin = Origin("chain" if pin else "posted", named, "idq1someone", height)
            open_store(connection).receipts.put(json.dumps(record).encode(), AT, origin)


def test_every_form_of_a_stored_receipt(url: str) -> None:
    name = check(example()).receipt_hash
    store(url, example())
    with served(url, workers=0) as server:
        for form, route in ROUTES.items():
            answer = server.get(f"{V1}/receipts/{name}/{route}")
            assert answer.status_code == 200, answer.text
            assert answer.headers["content-type"] == MEDIA_TYPES[form]
            assert name in answer.text
            same = server.get(f"{V1}/receipts/{name}/{route}", if_none_match=answer.headers["etag"])
            assert same.status_code == 304
            unknown = server.get(f"{V1}/receipts/{'00' * 32}/{route}")
            assert (unknown.status_code, unknown.json()["code"]) == (404, "receipt-unknown")
        statement = server.get(f"{V1}/receipts/{name}/statement").json()
        assert statement["subject"] == [{"name": name, "digest": {"sha256": name}}]


def test_what_the_operator_hides_has_no_other_form_either(url: str) -> None:
    name = check(example()).receipt_hash
    store(url, example(), pin="ab" * 31, height=5)
    with served(url, workers=0) as server:
        (item,) = server.json(f"{V1}/pins")["items"]
        assert item == {
            "id": "ab" * 31 + "00i0",
            "receiptHash": name,
            "writer": "idq1someone",
            "genesisHeight": 5,
        }
        with Database.open(url) as database, database.write() as connection:
            open_store(connection).hiding.hide(name, "a test", AT)
        for route in ROUTES.values():
            answer = server.get(f"{V1}/receipts/{name}/{route}")
            assert (answer.status_code, answer.json()["code"]) == (451, "receipt-withheld")
            assert example()["question"] not in answer.text
        assert server.json(f"{V1}/pins")["items"] == []


def test_pins_stand_in_the_order_of_the_chain_whatever_as_of_says(url: str) -> None:
    late = [example() | {"question": f"late {number}?"} for number in range(3)]
    early = [example() | {"question": f"early {number}?"} for number in range(3)]
    store(url, *late, pin="cd" * 31, height=9)
    store(url, *early, pin="ef" * 31, height=4)
    store(url, *late, pin="ab" * 31, height=9)  # again, by other pins
    store(url, *late, pin="00" * 31, height=None)  # in the mempool
    with served(url, workers=0) as server:
        found: list[tuple[int, str]] = []
        path = f"{V1}/pins?limit=2"
        while path:
            answer = server.get(path)
            found += [(one["genesisHeight"], one["id"]) for one in answer.json()["items"]]
            path = answer.links.get("next", {}).get("url", "").partition("/v1")[2]
            path = f"/v1{path}" if path else ""
        assert found == sorted(found)
        assert len(found) == 9


def test_the_demo_is_listed_with_every_judgement_and_is_walked_again(url: str) -> None:
    shown = [one for one in demo_receipts() if one.scene.judgement != "INVALID"]
    with demo_served() as sources:
        with Database.open(url, durability="normal") as database:
            assert load_demo(database, sources, DEMO_AT)
            assert load_demo(database, sources, DEMO_AT)
        with served(url, {"https://lists.example.test": sources}) as server:
            items = server.json(f"{V1}/receipts?limit=100")["items"]
            assert len(items) == len(shown)
            judged = {item["question"]: item["judgement"] for item in items}
            assert judged == {one.scene.question: one.scene.judgement for one in shown}
            assert set(judged.values()) == {"VERIFIED", "STALE", "REFUTED", "INCONCLUSIVE"}
            for one in shown:
                name = check(json.loads(one.data)).receipt_hash
                told = server.get(f"{V1}/receipts/{name}/markdown").text
                assert f"judged {one.scene.judgement}" in told
                log = server.json(f"{V1}/receipts/{name}/sarif")
                assert log["runs"][0]["properties"]["judgement"] == one.scene.judgement
                report = server.verified(one.data)
                assert report["judgement"] == one.scene.judgement
