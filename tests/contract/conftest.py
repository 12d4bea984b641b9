"""What every contract suite is given: `database`, once on SQLite and once on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.databases import KINDS, fresh_schema, postgres_server
from refold.db import Database


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Give the URL of the server of this test process."""
    with postgres_server() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Give the URL of a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'refold.db'}"


@pytest.fixture
def postgres_url(server: str) -> Iterator[str]:
    """Give the URL of an empty schema."""
    with fresh_schema(server) as url:
        yield url


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """Give the URL of an empty database of each kind."""
    url: str = request.getfixturevalue(
        "sqlite_url" if request.param == "sqlite" else "postgres_url"
    )
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """Give an opened database of each kind, with its tables and no rows."""
    with Database.open(database_url) as opened:
        yield opened
