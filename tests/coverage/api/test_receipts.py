"""Stored receipts over HTTP: stored once, found, with their history, and what is hidden."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agentpedia.api.served import ORIGIN
from cases.servers import BASE, scripted
from cli.terminal import MINUTE
from contract.test_coverage_store import pin, two_digests, walked_later
from coverage.api.served import V1, Served, served
from coverage.api.test_verifying import PAGE, absent
from coverage.receipts import NOW, VALID, changed, check, example, manual, present
from refold.coverage.api.desk import Share
from refold.coverage.jobs.pace import Rhythm
from refold.coverage.store import Origin, Store, open_store
from refold.db import Database
from serving.served import problem_in

RECEIPTS = f"{V1}/receipts"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'refold.db'}"


@contextmanager
def writing(url: str) -> Iterator[Store]:
    with Database.open(url) as database, database.write() as connection:
        yield open_store(connection)


@contextmanager
def idle(url: str) -> Iterator[Served]:
    """Serve without anybody who verifies."""
    with served(url, workers=0) as server:
        yield server


def stored(server: Served, record: Any) -> str:
    answer = server.post("/receipts", record)
    assert answer.status_code in {200, 201}, answer.text
    name: str = answer.json()["id"]
    return name


def checked(server: Served, name: str) -> Any:
    """Wait until a receipt was checked; give it."""
    deadline = time.monotonic() + MINUTE
    while (shown := server.json(f"{RECEIPTS}/{name}"))["receipt"]["checkedAt"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return shown


@pytest.mark.parametrize("name", VALID)
def test_a_receipt_is_stored_once_under_its_hash(url: str, name: str) -> None:
    record = VALID[name]()
    with idle(url) as server:
        first = server.post("/receipts", record)
        assert first.status_code == 201
        expected = check(record).receipt_hash
        assert first.json()["id"] == expected
        assert first.headers["location"] == f"{ORIGIN}{RECEIPTS}/{expected}"
        again = server.post("/receipts", json.dumps(record, indent=3).encode())
        assert (again.status_code, again.json()) == (200, first.json())
        shown = server.json(f"{RECEIPTS}/{expected}")
        assert shown["receipt"] == first.json()
        assert shown["record"] == record
        assert server.get(f"{RECEIPTS}/{expected}/record").content == json.dumps(record).encode()
        assert (shown["judgements"], shown["receipt"]["judgement"]) == ([], None)
        assert server.problem(f"{RECEIPTS}/{expected}/report", 404)["code"] == "report-unknown"


def test_only_valid_ones_are_stored(url: str) -> None:
    record = changed(changed(example(), "/result/matchCount", 7), "/claim", "MAYBE")
    with idle(url) as server:
        problem = problem_in(server.post("/receipts", record), 422)
        assert [(one["code"], one["pointer"]) for one in problem["errors"]] == [
            (one.code, one.pointer) for one in check(record).errors
        ]
        assert problem_in(server.post("/receipts", b"no JSON"), 422)["code"] == "E_JSON"
        assert server.walk(RECEIPTS) == []


def test_what_is_stored_is_checked_and_keeps_its_history(url: str) -> None:
    moved = {"get": "/items", "json": {"items": "range(1,2)"}}
    with (
        scripted({"routes": [PAGE]}) as (as_it_was, _),
        scripted({"routes": [moved]}) as (shrunk, _),
        served(url, {BASE: as_it_was.origin}) as server,
    ):
        name = stored(server, absent())
        shown = checked(server, name)
        assert [one["judgement"] for one in shown["judgements"]] == ["VERIFIED"]
        server.verified(absent())
        server.origins[BASE] = shrunk.origin
        server.verified(absent())
        server.verified(absent())
        shown = server.json(f"{RECEIPTS}/{name}")
        assert [one["judgement"] for one in shown["judgements"]] == ["STALE", "VERIFIED"]
        assert shown["judgements"][0]["reasons"] == ["shrank"]
        assert shown["receipt"]["judgement"] == "STALE"
        assert shown["receipt"]["dueAt"] > NOW
        assert server.walk(f"{RECEIPTS}/{name}/judgements?limit=1") == shown["judgements"]
        report = server.json(f"{RECEIPTS}/{name}/report")
        assert (report["judgement"], report["receiptHash"]) == ("STALE", name)


def test_lists_are_searched_and_walked_to_their_end(url: str) -> None:
    with idle(url) as server:
        ours = [stored(server, example() | {"question": f"Straße {n}?"}) for n in range(5)]
        there, by_hand = stored(server, present()), stored(server, manual())
        everything = [by_hand, there, *reversed(ours)]

        def ids(query: str) -> list[str]:
            return [item["id"] for item in server.walk(f"{RECEIPTS}?{query}")]

        assert ids("limit=2") == everything
        assert ids("question=STRASSE&limit=2") == ours[::-1]
        assert ids("question=STRASSE%203") == [ours[3]]
        assert ids("question=stra_e") == []
        assert ids("claim=PRESENT") == [there]
        assert ids("claim=ABSENT&limit=1") == ours[::-1]
        assert ids("kind=repo-list&claim=INCONCLUSIVE") == [by_hand]
        assert ids("kind=repo") == []
        query_hash = present()["query"]["queryHash"]
        assert ids(f"queryHash={query_hash}") == [there]
        assert ids("judgement=NONE&limit=3") == everything
        assert ids("judgement=VERIFIED") == []


def test_chains_and_contradictions_are_shown_from_both_sides(url: str) -> None:
    early = walked_later(example(), 1)
    late = walked_later(example(), 2) | {"supersedes": pin(1)}
    one, other = two_digests()
    with writing(url) as store:
        names = [
            store.receipts.put(json.dumps(record).encode(), NOW, Origin(*origin)).hash
            for record, origin in (
                (early, ("chain", pin(1), "anna", 7)),
                (late, ("chain", pin(2), "anna", None)),
                (one, ("posted",)),
                (other, ("posted",)),
            )
        ]
    with idle(url) as server:
        shown = [server.json(f"{RECEIPTS}/{name}") for name in names]
    assert shown[0]["supersededBy"] == [{"pin": pin(1), "receipt": names[1], "maySupersede": True}]
    assert shown[1]["supersedes"] == [{"pin": pin(1), "receipt": names[0], "maySupersede": True}]
    assert shown[0]["pins"] == [{"id": pin(1), "writer": "anna", "genesisHeight": 7}]
    assert shown[1]["pins"] == [{"id": pin(2), "writer": "anna", "genesisHeight": None}]
    for mine, its in ((2, 3), (3, 2)):
        found = shown[mine]["equivocations"]
        assert [(two["receipt"], two["sameWriter"]) for two in found] == [(names[its], None)] * 2
        assert found[0]["digest"] == ("cd" * 32 if mine == 2 else "ee" * 32)
        assert found[0]["otherDigest"] == ("ee" * 32 if mine == 2 else "cd" * 32)


def test_what_is_not_there_is_said_to_be(url: str) -> None:
    with idle(url) as server:
        for path in ("", "/record", "/report", "/judgements"):
            problem = server.problem(f"{RECEIPTS}/{'0' * 64}{path}", 404)
            assert problem["code"] == "receipt-unknown"
        server.problem(f"{RECEIPTS}/nothing", 400)


def test_what_the_operator_hides_is_in_no_answer_but_on_a_list(url: str) -> None:
    with idle(url) as server:
        name, other = stored(server, example()), stored(server, manual())
        with writing(url) as store:
            store.hiding.hide(name, "names a person", NOW)
        for path in ("", "/record", "/report", "/judgements"):
            problem = server.problem(f"{RECEIPTS}/{name}{path}", 451)
            assert problem["code"] == "receipt-withheld"
            assert "names a person" in problem["detail"]
        assert problem_in(server.post("/receipts", example()), 451)["code"] == "receipt-withheld"
        assert [item["id"] for item in server.walk(RECEIPTS)] == [other]
        assert server.walk(f"{V1}/hidden") == [
            {"id": name, "reason": "names a person", "since": NOW}
        ]
        with writing(url) as store:
            store.hiding.unhide(name)
        assert server.json(f"{RECEIPTS}/{name}")["record"] == example()


def test_a_client_stores_no_more_than_its_share(url: str) -> None:
    share = Share(storing=Rhythm(3_600.0, 2))
    with served(url, workers=0, share=share) as server:
        for number in range(2):
            stored(server, example() | {"note": f"{number}"})
        answer = server.post("/receipts", example() | {"note": "one more"})
        assert problem_in(answer, 429)["code"] == "store-many"
        assert int(answer.headers["retry-after"]) > 0


def test_the_store_has_an_end(url: str) -> None:
    with patch("refold.coverage.store.receipts.MAX_RECEIPTS", 1), idle(url) as server:
        stored(server, example())
        assert problem_in(server.post("/receipts", manual()), 503)["code"] == "store-full"


def test_figures_say_how_much_there_is(url: str) -> None:
    with idle(url) as server:
        stored(server, example())
        server.post("/verify?wait=0", example())
        figures = server.get("/metrics").text
    assert "refold_coverage_receipts 1.0" in figures
    assert "refold_coverage_jobs 1.0" in figures
