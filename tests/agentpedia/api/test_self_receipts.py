"""`refold coverage self`: receipts about a node of our own, over all lists that it describes."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentpedia.api.served import Served, Stored, demo, demo_pins, served
from agentpedia.api.test_walks import growing
from cli.sourced import verify
from cli.terminal import Answer, refold
from coverage.receipts import sealed
from refold.agentpedia.event import REV
from refold.coverage.hashes import EMPTY_SET
from refold.coverage.store import open_store
from refold.db import Database

NOTHING = "no such text stands anywhere"


def about(url: str, out: Path, *question: str) -> tuple[Answer, Any]:
    """Ask a node; give what the command said, and the receipt that it wrote."""
    answer = refold("coverage", "self", url, *question, "--out", str(out), "--retry-wait", "0")
    return answer, json.loads(out.read_bytes()) if out.exists() else None


def again(url: str, record: Any) -> tuple[int, Any]:
    named = url.replace("http:", "https:")
    options = ("--map-origin", f"{named}={url}", "--retry-wait", "0", "--format", "json")
    answer = verify(record, *options)
    return answer.code, answer.json


def list_paths(server: Served) -> set[str]:
    """Give every list of the description that needs no member."""
    paths = server.json("/openapi.json")["paths"]
    return {
        path
        for path, methods in paths.items()
        if "Link" in methods.get("get", {}).get("responses", {}).get("200", {}).get("headers", {})
        and not any(member["required"] for member in methods["get"]["parameters"])
    }


def test_a_receipt_over_all_public_lists_verifies_full(
    demo_url: str, stored: Stored, tmp_path: Path
) -> None:
    del stored
    with Database.open(demo_url, readonly=True) as reader, served(reader, origin=None) as server:
        answer, record = about(server.url, tmp_path / "r.json", "--contains", NOTHING)
        assert answer.code == 0, answer.err
        assert answer.out.startswith("VERIFIED  coverage FULL")
        assert record["claim"] == "ABSENT"
        walked = {unit["id"] for unit in record["corpus"]["units"]}
        assert walked == list_paths(server)
        assert len(walked) > 5
        assert all(unit["boundary"]["endMarkerKind"] == "SET_HASH" for unit in _units(record))
        code, report = again(server.url, record)
        assert (code, report["judgement"], report["coverage"]) == (0, "VERIFIED", "FULL")

        answer, record = about(
            server.url, tmp_path / "p.json", "--field", "slug", "--value", "tide"
        )
        assert (answer.code, record["claim"]) == (0, "PRESENT")
        assert [match["id"] for match in record["result"]["matches"]] == ["en:tide"]
        assert [unit["id"] for unit in _units(record)] == ["/v1/agentpedia/entries"]


def test_without_a_url_it_is_the_node_of_the_settings(
    demo_url: str, stored: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del stored
    with Database.open(demo_url, readonly=True) as reader, served(reader, origin=None) as server:
        monkeypatch.setenv("REFOLD_LISTEN_PORT", server.url.rpartition(":")[2])
        out = tmp_path / "r.json"
        question = ("--contains", NOTHING, "--as", "https://wiki.example.test")
        kept = f"sqlite:///{tmp_path / 'kept.db'}"
        stored_too = ("--out", str(out), "--store", "--database", kept)
        answer = refold("coverage", "self", *question, *stored_too)
        assert answer.code == 0, answer.err
        with Database.open(kept) as opened, opened.read() as connection:
            (row,) = open_store(connection).receipts.page(10)
        assert (row.origin, row.judgement, row.coverage) == ("own", "VERIFIED", "FULL")
        assert row.due_at is not None
        urls = [unit["replay"]["url"] for unit in _units(json.loads(out.read_bytes()))]
        assert all(url.startswith("https://wiki.example.test/v1/") for url in urls)


def _units(record: Any) -> list[Any]:
    units: list[Any] = record["corpus"]["units"]
    return units


def test_an_altered_view_does_not_pass(sqlite_url: str, database: Database, tmp_path: Path) -> None:
    """A node that changed is STALE; a receipt that leaves out what the node shows is REFUTED."""
    with (
        growing(database) as (_, growth),
        Database.open(sqlite_url, readonly=True) as reader,
        served(reader, origin=None) as server,
    ):
        known = _entries(server)
        _, present = about(server.url, tmp_path / "r.json", "--field", "id", "--value", min(known))
        assert present["claim"] == "PRESENT"
        forged = {
            **present,
            "claim": "ABSENT",
            "justification": "no_match_in_full_coverage",
            "result": {"matchCount": 0, "matches": [], "resultHash": EMPTY_SET},
            "blindspots": [],
        }
        code, report = again(server.url, sealed(forged))
        assert (code, report["judgement"], report["coverage"]) == (3, "REFUTED", "FULL")

        first, last = _coming(known)
        receipts = [
            about(server.url, tmp_path / "r.json", "--field", "id", "--value", name)[1]
            for name in (first, last)
        ]
        while first not in _entries(server):
            next(growth)
        code, report = again(server.url, receipts[0])
        assert (code, report["judgement"], report["coverage"]) == (4, "STALE", "FULL")
        assert report["reasons"][0] == "result_drift"
        code, report = again(server.url, receipts[1])
        assert (code, report["judgement"], report["coverage"]) == (0, "VERIFIED", "FULL")
        assert "grew" in {unit["drift"] for unit in report["units"]}


def _coming(known: set[str]) -> tuple[str, str]:
    """Give the first and the last entry that the demo writes and that are not there yet."""
    keys = demo().fold.state.keys
    written = [
        f"{payload['lang']}:{payload['slug']}"
        for payload in (json.loads(pin.body) for pin in demo_pins() if pin.path == REV)
        if payload.get("type") == "create"
    ]
    coming = [key for key in written if key in keys and key not in known]
    return coming[0], coming[-1]


def _entries(server: Served) -> set[str]:
    """Give the keys of all entries; links lead to the address that the server listens at."""
    found: list[Any] = []
    path = "/v1/agentpedia/entries?limit=100"
    while path:
        answer = server.get(path)
        found += answer.json()["items"]
        path = answer.links.get("next", {}).get("url", "").removeprefix(server.url)
    return {item["id"] for item in found}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "no-criterion"),
        (("--contains", "a", "--field", "id", "--value", "b"), "no-criterion"),
        (("--field", "id"), "no-criterion"),
        (("--field", "nowhere.such", "--value", "b"), "own-field"),
        (("--contains", "a", "--as", "http://wiki.test"), "own-origin"),
    ],
)
def test_what_cannot_be_asked_is_told(
    server: Served, arguments: tuple[str, ...], code: str
) -> None:
    answer = refold("coverage", "self", server.url, *arguments, "--retry-wait", "0")
    assert (answer.code, answer.out) == (2, "")
    assert f"refold: {code}: " in answer.err
