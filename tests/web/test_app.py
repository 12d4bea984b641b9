"""The whole server: parts on and off, the home page, and a database that is only read."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx2
import pytest

from refold.db import Database
from refold.kernel.errors import UsageError
from refold.kernel.settings import resolve
from refold.serving.logs import make_log
from refold.serving.server import listen, serving
from refold.serving.settings import SETTINGS
from refold.web.app import AVAILABLE, chosen_parts, web_application

LIBRARY = {"library": "serving.library"}


@contextmanager
def served(folder: Path) -> Iterator[tuple[httpx2.Client, Database]]:
    url = f"sqlite:///{folder}/a.db"
    Database.open(url).close()
    log = make_log(BytesIO())
    settings = resolve(SETTINGS, "", {}, {})
    with Database.open(url, readonly=True) as database:
        app = web_application(
            database, settings, origin="http://a.test", log=log, available=LIBRARY
        )
        with (
            serving(app, listen("127.0.0.1", 0), log) as at,
            httpx2.Client(base_url=at, trust_env=False) as http,
        ):
            yield http, database


def test_all_parts_run_when_none_is_named(tmp_path: Path) -> None:
    with served(tmp_path) as (http, _):
        assert http.get("/health").json()["parts"] == ["web", "library"]
        assert http.get("/ready").json()["checks"] == ["database", "library.shelves"]
        assert http.get("/v1/library/books").status_code == 200
        home = http.get("/", headers={"accept-language": "zh"}).text
        assert "由智能体写下" in home
        assert "/v1/library/" in home
        assert '<a href="/library">' in home


def test_a_database_that_is_gone_makes_the_server_not_ready(tmp_path: Path) -> None:
    with served(tmp_path) as (http, database):
        database.close()
        answer = http.get("/ready")
        assert answer.status_code == 503
        assert answer.json()["errors"][1]["detail"] == "database is not ready"
        assert str(tmp_path) not in answer.text
        assert http.get("/health").status_code == 200


def test_a_part_that_does_not_exist_is_refused() -> None:
    settings = resolve(SETTINGS, "", {}, {"parts": ["library", "nonsense"]})
    with pytest.raises(UsageError, match="nonsense"):
        chosen_parts(settings, LIBRARY)


def test_every_part_that_can_be_chosen_can_be_made() -> None:
    settings = resolve(SETTINGS, "", {}, {})
    assert set(chosen_parts(settings)) == set(AVAILABLE)
