"""Each case of the cases page through HTTP: the judgement is the library's."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from cases.receipts import NOW, absent_receipts
from cases.scripts import CASES, Case
from cases.servers import BASE, scripted
from cases.walking import live, walk
from coverage.api.served import Served, served
from refold.coverage import validate, verify


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("cases")
    with served(f"sqlite:///{folder / 'refold.db'}") as found:
        yield found


def careless(case: Case, origin: str) -> bytes:
    """Give a valid receipt that claims absence of a case."""
    with live(origin) as transport:
        walked = walk(case, transport)
    records = (json.dumps(record).encode() for record in absent_receipts(case, walked))
    return next(record for record in records if validate(record, NOW).is_valid)


def told(report: dict[str, Any]) -> dict[str, Any]:
    """Give a report without what differs from walk to walk: bytes of heads, times, ports."""
    units = [
        {name: value for name, value in unit.items() if name not in {"firstAt", "lastAt", "why"}}
        for unit in report["units"]
    ]
    return {**report, "units": units, "origins": sorted(report["origins"])}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_server_judges_as_the_library_does(case: Case, server: Served) -> None:
    script = {"routes": case.routes}
    with scripted(script) as (source, _):
        record = careless(case, source.origin)
    with scripted(script) as (source, _), live(source.origin) as transport:
        expected = verify(record, transport, NOW, origins={BASE: source.origin})
    with scripted(script) as (source, asked):
        server.origins[BASE] = source.origin
        report = server.verified(record)
    assert report["judgement"] == expected.judgement
    assert told(report) == told(msgspec.json.decode(msgspec.json.encode(expected)))
    assert asked.asked
