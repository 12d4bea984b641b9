"""Verification over HTTP: at once or as a job, within limits, and never to where it must not go."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import patch

import pytest

from agentpedia.api.served import ORIGIN
from cases.receipts import NOW
from cases.servers import BASE, Scripted, scripted
from contract.test_coverage_workers import Walks
from coverage.api.served import V1, Served, quick_pace, served, walker
from coverage.receipts import changed, example, http_unit, manual, pins_unit, present, sealed
from kernel.hostile import Hostile, Peer, serving
from refold.coverage import query_hash, result_hash, set_hash, validate
from refold.coverage.api.desk import Share
from refold.coverage.api.verifying import is_short
from refold.coverage.jobs.pace import Rhythm
from refold.coverage.record import Match
from refold.coverage.store import open_store
from refold.coverage.store.model import NewJob, Origin
from refold.db import Database
from refold.kernel.utc import later
from serving.served import problem_in

PAGE = {"get": "/items", "json": {"items": "range(1,3)"}}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'refold.db'}"


def absent(**changes: Any) -> dict[str, Any]:
    """Give a receipt that is true of `PAGE`."""
    record = example() | changes
    record["corpus"]["units"][0]["boundary"]["termination"] = "SINGLE_PAGE"
    return record


def by_id(wanted: str, *found: str) -> dict[str, Any]:
    """Give a receipt about an id in `PAGE`, with what it says was found."""
    record = absent()
    canon = {"match": {"field": "id", "op": "eq", "value": int(wanted)}}
    record["query"] = {"canon": canon, "queryHash": query_hash(canon)}
    if found:
        del record["justification"]
        record["claim"] = "PRESENT"
    record["result"] = {
        "matchCount": len(found),
        "matches": [{"id": name} for name in found],
        "resultHash": result_hash(map(Match, found)),
    }
    return record


@contextmanager
def on_page(url: str, **options: Any) -> Iterator[tuple[Served, Scripted]]:
    """Serve, with `PAGE` as the source."""
    with (
        scripted({"routes": [PAGE]}) as (source, asked),
        served(url, {BASE: source.origin}, **options) as server,
    ):
        yield server, asked


@contextmanager
def held(url: str, **options: Any) -> Iterator[tuple[Served, Walks]]:
    """Serve, with walks that wait until they are let go."""
    walks = Walks()
    with served(url, walk=walks, **options) as server:
        try:
            yield server, walks
        finally:
            walks.go.set()


# Answers


@pytest.mark.parametrize(
    ("record", "judgement", "reason"),
    [
        (absent(), "VERIFIED", None),
        (by_id("2"), "REFUTED", "result_drift"),
        (by_id("2", "2"), "VERIFIED", None),
        (by_id("2", "9"), "REFUTED", "result_drift"),
        (absent(validUntil=later(NOW, -3_600)), "STALE", "expired"),
    ],
    ids=["true", "false", "there", "not there", "expired"],
)
def test_whatever_is_found_is_a_report_and_no_error(
    url: str, record: dict[str, Any], judgement: str, reason: str | None
) -> None:
    with on_page(url) as (server, _):
        answer = server.post("/verify", record)
    assert answer.status_code == 200
    told = answer.json()
    assert told["judgement"] == told["report"]["judgement"] == judgement
    assert told["report"]["reasons"][:1] == ([] if reason is None else [reason])
    assert told["report"]["basis"] == "LIVE"
    assert (told["job"]["state"], told["job"]["report"]) == ("done", None)
    assert told["job"]["receiptHash"] == told["report"]["receiptHash"]


def test_what_needs_no_walk_makes_no_job(url: str) -> None:
    with served(url) as server:
        for record, judgement in (
            (changed(example(), "/result/matchCount", 7), "INVALID"),
            (example() | {"v": "1.0.0"}, "INCONCLUSIVE"),
        ):
            told = server.post("/verify", record).json()
            assert (told["judgement"], told["job"]) == (judgement, None)
            assert told["report"]["basis"] == "NONE"


def test_a_source_that_only_a_person_can_see_is_answered(url: str) -> None:
    with served(url) as server:
        assert server.verified(manual())["judgement"] == "INCONCLUSIVE"


def test_a_long_one_is_a_job(url: str) -> None:
    record = absent()
    record["corpus"]["units"][0]["boundary"]["observed"] = 100_000
    with on_page(url) as (server, _):
        answer = server.post("/verify", record)
        assert (answer.status_code, answer.json()["report"]) == (202, None)
        assert int(answer.headers["retry-after"]) > 0
        location = answer.headers["location"]
        assert location.startswith(f"{ORIGIN}{V1}/jobs/")
        job = server.ended(answer.json()["job"]["id"])
        assert server.json(location.removeprefix(ORIGIN)) == job
        assert job["report"]["judgement"] == "STALE"
        assert job["progress"] == {"unit": "acme-list", "pages": 1, "rows": 3, "requests": 1}
        assert server.json(f"{V1}/jobs/{job['id']}/report") == job["report"]


def test_what_is_short_is_told_by_the_record() -> None:
    def short(*units: dict[str, Any]) -> bool:
        record = sealed(changed(present(), "/corpus/units", list(units)))
        receipt = validate(json.dumps(record).encode(), NOW).receipt
        assert receipt is not None
        return is_short(receipt)

    assert short(pins_unit())
    assert not short(*(pins_unit(f"u{number}") for number in range(6)))
    many = pins_unit(fetch="LIST_PLUS_DETAIL")
    many["boundary"] |= {"observed": 50, "statusCounts": {"0": 50}}
    assert not short(many)
    assert short(pins_unit(), http_unit(observed=900))
    assert not short(pins_unit(), http_unit(observed=9_000))


# One walk for all who ask


def test_a_record_under_way_is_not_walked_again(url: str) -> None:
    with held(url) as (server, walks):
        first = server.post("/verify?wait=0", absent()).json()["job"]
        assert walks.reached.wait(20)
        spelled = json.dumps(absent(), indent=1).encode()
        second = server.post("/verify?wait=0", spelled).json()["job"]
        assert first["id"] == second["id"]
        walks.go.set()
        server.ended(first["id"])
        assert sum(walks.done.values()) == 1


def test_a_report_of_just_now_is_given_again(url: str) -> None:
    with on_page(url, share=Share()) as (server, asked):
        first = server.post("/verify", absent()).json()
        count = len(asked.asked)
        assert server.post("/verify", absent()).json() == first
        assert len(asked.asked) == count
        more = server.post("/verify?sources=true", absent()).json()
        assert more["job"]["id"] != first["job"]["id"]


# Limits


def test_a_client_may_have_so_many_at_once(url: str) -> None:
    with held(url, share=Share(jobs=2)) as (server, walks):
        jobs = [
            server.post("/verify?wait=0", absent(note=f"{number}")).json()["job"]["id"]
            for number in range(2)
        ]
        answer = server.post("/verify?wait=0", absent(note="one more"))
        assert problem_in(answer, 429)["code"] == "verify-many"
        assert int(answer.headers["retry-after"]) > 0
        assert server.post("/verify?wait=0", absent(note="1")).status_code == 202
        walks.go.set()
        for job in jobs:
            assert server.ended(job)["state"] == "done"
        assert server.post("/verify?wait=0", absent(note="one more")).status_code == 202


def test_a_client_asks_for_so_many_in_a_while(url: str) -> None:
    share = Share(jobs=50, verifying=Rhythm(3_600.0, 2), fresh=60)
    with on_page(url, share=share) as (server, _):
        for number in range(2):
            assert server.post("/verify", absent(note=f"{number}")).status_code == 200
        answer = server.post("/verify", absent(note="one more"))
        assert problem_in(answer, 429)["code"] == "verify-many"
        assert 3_000 < int(answer.headers["retry-after"]) <= 3_600
        # What costs no walk is answered.
        assert server.post("/verify", absent(note="1")).status_code == 200
        assert server.post("/verify", b"{}").status_code == 200


def test_the_node_takes_so_many_at_once(url: str) -> None:
    with held(url) as (server, _), patch("refold.coverage.api.desk.MAX_JOBS", 1):
        assert server.post("/verify?wait=0", absent()).status_code == 202
        answer = server.post("/verify?wait=0", absent(note="one more"))
        assert problem_in(answer, 503)["code"] == "verify-full"
        assert int(answer.headers["retry-after"]) > 0


def test_so_many_wait_for_an_answer_and_others_get_the_job(url: str) -> None:
    with held(url) as (server, _), patch("refold.coverage.api.desk.WAITING_REQUESTS", 0):
        assert server.post("/verify", absent()).status_code == 202


def test_a_process_that_only_reads_says_so(url: str) -> None:
    with served(url, writes=False) as server:
        for path in ("/verify", "/receipts"):
            assert problem_in(server.post(path, absent()), 503)["code"] == "coverage-reading"
        assert server.post("/validate", absent()).json()["valid"]
        assert server.walk(f"{V1}/receipts") == []


# Cancelling


def test_a_job_is_cancelled(url: str) -> None:
    with held(url) as (server, walks):
        job = server.post("/verify?wait=0", absent()).json()["job"]["id"]
        assert walks.reached.wait(20)
        assert server.post(f"/jobs/{job}/cancel", b"").json()["cancelled"]
        ended = server.ended(job)
        assert (ended["state"], ended["report"], ended["code"]) == ("cancelled", None, None)
        assert server.problem(f"{V1}/jobs/{job}/report", 404)["code"] == "report-unknown"
        again = server.post(f"/jobs/{job}/cancel", b"")
        assert problem_in(again, 409)["code"] == "job-ended"


def test_what_others_wait_for_is_not_cancelled(url: str) -> None:
    with held(url) as (server, walks), Database.open(url) as database:
        job = server.post("/verify?wait=0", absent()).json()["job"]["id"]
        assert walks.reached.wait(20)
        with database.write() as connection:
            store = open_store(connection)
            name = store.jobs.get(job)
            assert name is not None
            store.jobs.ask(NewJob("other", name.receipt, "another"), b"", NOW)
        answer = server.post(f"/jobs/{job}/cancel", b"")
        assert problem_in(answer, 409)["code"] == "job-not-yours"


def test_a_check_by_schedule_is_not_cancelled(url: str) -> None:
    with held(url) as (server, walks):
        assert server.post("/receipts", absent()).status_code == 201
        assert walks.reached.wait(20)
        job = server.post("/verify?wait=0", absent()).json()["job"]["id"]
        answer = server.post(f"/jobs/{job}/cancel", b"")
        assert problem_in(answer, 409)["code"] == "job-not-yours"


def test_a_job_that_is_not_there(url: str) -> None:
    with served(url) as server:
        for path in ("", "/report"):
            problem = server.problem(f"{V1}/jobs/{'0' * 32}{path}", 404)
            assert problem["code"] == "job-unknown"
        answer = server.post(f"/jobs/{'0' * 32}/cancel", b"")
        assert problem_in(answer, 404)["code"] == "job-unknown"


# Where it must not go


class Trap:
    """A server that nobody may reach."""

    def __init__(self) -> None:
        self.met = Event()

    def __call__(self, _: Peer) -> None:
        self.met.set()


@contextmanager
def trap() -> Iterator[tuple[Hostile, Trap]]:
    script = Trap()
    with serving(script) as server:
        yield server, script


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "169.254.169.254", "10.1.2.3"])
def test_private_addresses_are_not_asked(url: str, host: str) -> None:
    """Whether somebody listens there or not, the report says the same."""
    with trap() as (server_there, met), served(url) as server:
        where = []
        for port in (server_there.port, 9):
            record = changed(absent(), "/corpus/units/0/replay/url", f"https://{host}:{port}/items")
            where.append(server.verified(record))
        assert not met.met.is_set()
        assert server_there.connections == 0
    for report in where:
        assert report["units"][0]["reasons"] == ["address_refused"]
        assert (report["judgement"], report["coverage"]) == ("INCONCLUSIVE", "BROKEN")


def test_names_that_lead_to_private_addresses_are_not_asked(url: str) -> None:
    system = socket.getaddrinfo

    def resolved(host: Any, *rest: Any, **options: Any) -> Any:
        return system("127.0.0.1" if host == "far.example" else host, *rest, **options)

    with (
        trap() as (there, met),
        patch("socket.getaddrinfo", resolved),
        served(url, walk=walker({}, pace=quick_pace())) as server,
    ):
        record = changed(
            absent(), "/corpus/units/0/replay/url", f"https://far.example:{there.port}/"
        )
        assert server.verified(record)["units"][0]["coverage"] == "BROKEN"
        assert not met.met.is_set()


def test_a_redirect_to_a_private_address_is_not_followed(url: str) -> None:
    with trap() as (there, met):
        to = {"Location": f"https://127.0.0.1:{there.port}/"}
        routes = [{"get": "/items", "status": 302, "headers": to}]
        with (
            scripted({"routes": routes}) as (source, _),
            served(url, {BASE: source.origin}) as server,
        ):
            report = server.verified(absent())
        assert report["units"][0]["reasons"] == ["redirected_off_source"]
        assert not met.met.is_set()


def test_a_network_that_the_operator_allows_is_asked(url: str) -> None:
    with trap() as (there, met):
        walk = walker({}, networks=("127.0.0.0/8",), pace=quick_pace())
        with served(url, walk=walk) as server:
            record = changed(
                absent(), "/corpus/units/0/replay/url", f"https://127.0.0.1:{there.port}/items"
            )
            report = server.verified(record)
        assert met.met.is_set()
        assert report["units"][0]["reasons"] == ["source_unreachable"]


def test_stored_receipts_are_checked_within_the_same_rules(url: str) -> None:
    """A pin from a chain names what it likes, and is walked by schedule."""
    with trap() as (there, met), Database.open(url) as database:
        record = changed(
            absent(), "/corpus/units/0/replay/url", f"https://127.0.0.1:{there.port}/items"
        )
        body = json.dumps(record).encode()
        with database.write() as connection:
            origin = Origin("chain", f"{'a' * 64}i0", "anna", 1)
            name = open_store(connection).receipts.put(body, NOW, origin).hash
        with served(url) as server:
            report = server.verified(record)
            assert report["units"][0]["reasons"] == ["address_refused"]
            shown = server.json(f"{V1}/receipts/{name}")
        assert shown["receipt"]["judgement"] == "INCONCLUSIVE"
        assert not met.met.is_set()


def test_the_example_is_what_it_is() -> None:
    assert absent()["corpus"]["units"][0]["boundary"]["endMarker"] == set_hash(["1", "2", "3"])
