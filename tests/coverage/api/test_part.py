"""The part as the server makes it from settings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.coverage.api import make_part
from refold.coverage.settings import SETTINGS, origin_map
from refold.db import Database
from refold.kernel.errors import UsageError
from refold.kernel.settings import resolve


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(f"sqlite:///{tmp_path / 'refold.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("workers", "writes", "tasks"), [(2, True, 1), (0, True, 0), (2, False, 0), (-1, True, 0)]
)
def test_only_a_process_that_writes_and_may_work_has_a_task(
    database: Database, workers: int, writes: bool, tasks: int
) -> None:
    settings = resolve(SETTINGS, f"coverage_workers = {workers}", {}, {})
    part = make_part(database, settings, database if writes else None)
    assert len(part.tasks) == tasks
    assert [gauge.value for gauge in part.gauges()] == [0, 0]


@pytest.mark.parametrize(
    ("toml", "code"),
    [
        ('coverage_networks = ["all of them"]', "fetch-policy"),
        ('coverage_origins = ["https://a.test"]', "setting-type"),
        ('coverage_origins = ["https://a.test=http://b.test"]', "fetch-policy"),
        ('coverage_origins = ["https://a.test/x=http://127.0.0.1:80"]', "fetch-policy"),
    ],
)
def test_settings_that_are_wrong_stop_the_server(database: Database, toml: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_part(database, resolve(SETTINGS, toml, {}, {}))
    assert caught.value.code == code
    assert caught.value.hint


def test_origins_are_pairs() -> None:
    pairs = ("https://a.test=http://127.0.0.1:80", "https://b.test = http://[::1]:81")
    assert origin_map(pairs) == {
        "https://a.test": "http://127.0.0.1:80",
        "https://b.test": "http://[::1]:81",
    }
