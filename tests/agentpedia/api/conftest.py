"""The demo wiki, served from each kind of database, opened for reading only."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentpedia.api.served import Served, Stored, served, store_demo
from contract.databases import KINDS, fresh_schema, postgres_server
from refold.db import Database


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Give the URL of a server."""
    with postgres_server() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'refold.db'}"


@pytest.fixture
def database(sqlite_url: str) -> Iterator[Database]:
    """Give an empty file that a test may write to."""
    with Database.open(sqlite_url, durability="normal") as opened:
        yield opened


@pytest.fixture(scope="session", params=KINDS)
def demo_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Give the URL of an empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('demo') / 'refold.db'}"
    else:
        with fresh_schema(request.getfixturevalue("postgres")) as url:
            yield url


@pytest.fixture(scope="session")
def stored(demo_url: str) -> Iterator[Stored]:
    """Give the demo wiki in a database of each kind."""
    with Database.open(demo_url, durability="normal") as opened:
        yield store_demo(opened)


@pytest.fixture(scope="session")
def server(demo_url: str, stored: Stored) -> Iterator[Served]:
    """Give a server that cannot write to the database."""
    del stored
    with Database.open(demo_url, readonly=True) as opened, served(opened) as found:
        yield found
