"""An older state put in place of a log under a running node: nothing is signed over it."""

from typing import Any

import pytest
from sqlalchemy import Table, delete, insert, select

from refold.db import Database
from refold.kernel.errors import SourceError
from refold.trials.log.writer import Log
from refold.trials.store import tables
from trials.logged import SIGNER, Clock, all_messages, append, posting, problems_of

TABLES = (tables.messages, tables.texts, tables.tiles, tables.checkpoints)
State = dict[Table, list[dict[str, Any]]]


def kept(database: Database) -> State:
    with database.read() as connection:
        return {
            table: [dict(row) for row in connection.execute(select(table)).mappings()]
            for table in TABLES
        }


def put_back(database: Database, state: State) -> None:
    with database.write() as connection:
        for table in reversed(TABLES):
            connection.execute(delete(table))
        for table in TABLES:
            connection.execute(insert(table), state[table])


def refused(log: Log, content: str) -> str:
    error = log.append(posting(content), lambda *_: ()).exception()
    assert isinstance(error, SourceError)
    return error.code


@pytest.mark.parametrize("size", [3, 260])
def test_a_shorter_log_is_not_gone_on_with(database: Database, size: int) -> None:
    with Log(database, SIGNER, clock=Clock()) as log:
        append(log, *(posting(f"{number}") for number in range(size)))
        before = kept(database)
        append(log, posting("lost"))
        put_back(database, before)
        assert refused(log, "more") == "log-damaged"
        assert len(all_messages(database)) == size
    with Log(database, SIGNER, clock=Clock()) as log:  # its operator started it again
        append(log, posting("more"))
    assert problems_of(database) == []


def test_another_history_of_the_same_length_or_more_is_not_gone_on_with(
    database: Database,
) -> None:
    with Log(database, SIGNER, clock=Clock()) as log:
        append(log, posting("a"))
        before = kept(database)
        append(log, posting("b"))
        put_back(database, before)
        with Log(database, SIGNER, clock=Clock()) as other:
            for number in range(3):
                append(other, posting(f"other {number}"))
                assert refused(log, f"more {number}") == "log-damaged"
    assert [each.content for each in all_messages(database)][:2] == ["a", "other 0"]


def test_what_another_process_appended_is_gone_on_with(database: Database) -> None:
    with Log(database, SIGNER, clock=Clock()) as log, Log(database, SIGNER, clock=Clock()) as other:
        for number in range(4):
            append(log, posting(f"one {number}"))
            append(other, posting(f"other {number}"))
    assert len(all_messages(database)) == 8
    assert problems_of(database) == []
