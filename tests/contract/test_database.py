"""What a database of ours keeps to, on SQLite and on PostgreSQL."""

import logging
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, text

from cli.terminal import MINUTE, environment
from refold.db import Database
from refold.kernel.errors import RefoldError, SourceError, UsageError
from refold.metaid.store.tables import bodies, pins

ADD = text("INSERT INTO metaid_bodies (sha256, size, body) VALUES (:name, 0, '')")
COUNT = text("SELECT count(*) FROM metaid_bodies")


def add(connection: Connection, name: str) -> None:
    connection.execute(ADD, {"name": name})


def count(database: Database) -> int:
    with database.read() as connection:
        return connection.scalar(COUNT) or 0


@contextmanager
def refused(code: str) -> Iterator[None]:
    """Expect an error of refold with a code, in one line, with a remedy."""
    with pytest.raises(RefoldError) as caught:
        yield
    assert caught.value.code == code
    assert caught.value.hint
    assert "\n" not in str(caught.value)


class UnexpectedError(Exception):
    """Something that goes wrong in the middle of a transaction."""


def test_what_was_written_is_there(database: Database) -> None:
    with database.write() as connection:
        add(connection, "a")
    assert count(database) == 1


@pytest.mark.parametrize("error", [UnexpectedError, KeyboardInterrupt, GeneratorExit])
def test_any_error_undoes_the_whole_transaction(
    database: Database, error: type[BaseException]
) -> None:
    with pytest.raises(error), database.write() as connection:  # noqa: PT012 - it is one block
        add(connection, "a")
        raise error
    assert count(database) == 0


def test_an_error_of_the_database_undoes_the_whole_transaction(database: Database) -> None:
    with refused("database-constraint"), database.write() as connection:
        add(connection, "a")
        add(connection, "a")
    assert count(database) == 0
    with database.write() as connection:
        add(connection, "a")
    assert count(database) == 1


def test_readers_see_what_is_committed_and_nothing_else(database: Database) -> None:
    with database.write() as connection:
        add(connection, "a")
        assert count(database) == 0
    assert count(database) == 1


def test_a_reading_sees_one_state_from_its_first_question_on(database: Database) -> None:
    with database.read() as reading:
        assert reading.scalar(COUNT) == 0
        with database.write() as connection:
            add(connection, "a")
        assert reading.scalar(COUNT) == 0
    assert count(database) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO metaid_bodies (sha256, size, body) VALUES ('a', 0, '')",
        "DELETE FROM metaid_bodies",
        "CREATE TABLE mine (a INTEGER)",
        "DROP TABLE metaid_bodies",
    ],
)
def test_a_connection_for_reading_cannot_write(database: Database, statement: str) -> None:
    with refused("database-readonly"), database.read() as connection:
        connection.execute(text(statement))


def test_a_database_opened_for_reading_cannot_be_asked_to_write(database_url: str) -> None:
    Database.open(database_url).close()
    with Database.open(database_url, readonly=True) as database:
        assert count(database) == 0
        with refused("database-readonly"), database.write():
            pass


ENDLESS = text(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000)"
    " SELECT max(i) FROM n"
)


def test_a_question_is_broken_off_at_its_time_limit(database: Database) -> None:
    with refused("database-time-limit"), database.read(seconds=0.05) as connection:
        connection.execute(ENDLESS)


def test_a_time_limit_ends_with_its_reading(database: Database) -> None:
    """The next reading may get the same connection."""
    longer = text(str(ENDLESS).replace("1000000000", "50000"))
    with refused("database-time-limit"), database.read(seconds=0.001) as connection:
        connection.execute(longer)
    with database.read() as connection:
        assert connection.scalar(longer) == 50_000


def test_another_writer_is_waited_for_and_then_named(database_url: str) -> None:
    with (
        Database.open(database_url) as first,
        Database.open(database_url, wait=0.05) as second,
    ):
        with first.write() as connection:
            add(connection, "a")
            with refused("database-busy"), second.write():
                pass
        with second.write() as connection:
            add(connection, "b")
        assert count(first) == 2


def test_opening_waits_for_no_writer(database_url: str) -> None:
    with (
        Database.open(database_url) as first,
        first.write() as connection,
        Database.open(database_url, wait=0.05) as second,
    ):
        add(connection, "a")
        assert count(second) == 0


def test_threads_write_one_after_the_other(database: Database) -> None:
    def write(number: int) -> None:
        for step in range(10):
            with database.write() as connection:
                before = connection.scalar(COUNT)
                add(connection, f"{number} {step}")
                assert connection.scalar(COUNT) == (before or 0) + 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count(database) == 40


def test_a_transaction_inside_another_is_refused_and_not_waited_for_for_ever(
    database_url: str,
) -> None:
    with Database.open(database_url, wait=0.05) as database, database.write() as connection:
        add(connection, "a")
        with refused("database-busy"), database.write():
            pass


def test_only_one_process_holds_a_name(database_url: str) -> None:
    with Database.open(database_url) as first, Database.open(database_url) as second:
        with first.hold("agentpedia"):
            with refused("database-held"), second.hold("agentpedia"):
                pass
            with second.hold("coverage"), first.write(), first.read():
                pass
        with second.hold("agentpedia"):
            pass


HOLDER = """
import sys
from refold.db import Database
with Database.open(sys.argv[1]) as database, database.hold("agentpedia"), database.write():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_held_is_free(database_url: str) -> None:
    with Database.open(database_url) as database:
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, database_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
        )
        with holder:
            assert holder.stdout
            assert holder.stdout.readline() == b"held\n"
            with refused("database-held"), database.hold("agentpedia"):
                pass
            holder.kill()
        with database.hold("agentpedia"), database.write() as connection:
            add(connection, "a")
    assert holder.wait(MINUTE) == -9


def test_a_hold_that_the_server_let_go_stops_the_writing(postgres_url: str) -> None:
    with Database.open(postgres_url) as database, Database.open(postgres_url) as other:
        with database.hold("agentpedia"):
            with other.write() as connection:
                connection.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                        " AND pid <> pg_backend_pid()"
                    )
                )
            with refused("database-hold-lost"), database.write():
                pass
        with database.write() as connection:
            add(connection, "a")


def test_a_server_that_was_started_again_costs_no_transaction(postgres_url: str) -> None:
    """Connections that the server closed are opened again without an error."""
    with Database.open(postgres_url) as database, Database.open(postgres_url) as other:
        count(database)
        with other.write() as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                    " AND usename = current_user"
                )
            )
        with database.write() as connection:
            add(connection, "a")
        assert count(database) == 1


@pytest.mark.parametrize("name", ["", "Agentpedia", "../x", "a b", "ä"])
def test_a_name_to_hold_is_a_word(database: Database, name: str) -> None:
    with refused("database-hold"), database.hold(name):
        pass


def test_a_closed_database_says_so(database: Database) -> None:
    database.close()
    database.close()
    with refused("database-closed"), database.read():
        pass
    with refused("database-closed"), database.write():
        pass


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT * FROM nowhere", "database-failed"),
        ("this is no SQL", "database-failed"),
        ("INSERT INTO metaid_bodies (sha256) VALUES ('a')", "database-constraint"),
    ],
)
def test_no_error_of_the_library_comes_through(
    database: Database, statement: str, code: str
) -> None:
    with refused(code), database.write() as connection:
        connection.execute(text(statement))


def test_foreign_keys_hold(database: Database) -> None:
    with refused("database-constraint"), database.write() as connection:
        connection.execute(
            text("INSERT INTO metaid_moves (pin, source) VALUES ('a pin that is nowhere', 'me')")
        )


def test_a_pin_is_in_a_block_or_not(database: Database) -> None:
    """Height and index go together with the state, whoever writes them."""
    names = [column.name for column in pins.c if not column.nullable]
    row: dict[str, object] = dict.fromkeys(names, "") | dict.fromkeys(
        ("timestamp", "status", "size"), 0
    )
    with database.write() as connection:
        connection.execute(bodies.insert(), {"sha256": "", "size": 0, "body": b""})
        connection.execute(pins.insert(), row | {"state": "confirmed", "height": 1, "tx_index": 0})
    for wrong in ({"state": "confirmed"}, {"state": "vanished", "height": 1, "tx_index": 0}):
        with refused("database-constraint"), database.write() as connection:
            connection.execute(pins.insert(), row | {"pin": "b"} | wrong)


PASSWORD = "open-sesame"  # noqa: S105 - it opens nothing


def told(error: BaseException) -> str:
    """Give all that a log could show of an error: its chain and its trace."""
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://reader:{PASSWORD}@127.0.0.1:1/refold",
        f"postgresql://reader:{PASSWORD}@127.0.0.1:{PASSWORD}/refold",
        f"postgresql://reader@127.0.0.1:1/refold?password={PASSWORD}",
        f"postgresql://reader@127.0.0.1:1/refold?sslpassword={PASSWORD}",
        f"postgresql://reader:{PASSWORD}@127.0.0.1:1/refold?connect_timeout=none",
        f"mysql://reader:{PASSWORD}@127.0.0.1/refold",
        f"reader:{PASSWORD}",
    ],
)
def test_no_error_and_no_log_shows_a_password(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises((UsageError, SourceError)) as caught:
        Database.open(url)
    assert caught.value.code in {"database-url", "database-unreachable", "database-failed"}
    assert PASSWORD not in told(caught.value) + caplog.text


def test_an_opened_database_shows_no_password(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The server of the tests trusts everybody, so any password opens it."""
    with (
        caplog.at_level(logging.DEBUG),
        Database.open(postgres_url, password=PASSWORD) as database,
    ):
        assert count(database) == 0
        with pytest.raises(RefoldError) as caught, database.write() as connection:
            connection.execute(text("SELECT * FROM nowhere"))
        shown = repr(database) + str(vars(database)) + database.shown
    assert PASSWORD not in shown + told(caught.value) + caplog.text


def test_a_name_that_was_let_go_is_free_at_once(database: Database, database_url: str) -> None:
    """Again and again, for PostgreSQL sees only after a while that a connection has ended."""
    with Database.open(database_url) as other:
        for number in range(100):
            with (database if number % 2 else other).hold("fold"):
                pass
