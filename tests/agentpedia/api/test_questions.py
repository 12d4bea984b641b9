"""Statements that go past the library: what the driver raises is an error of refold."""

import pytest
from sqlalchemy import Column, MetaData, Table, bindparam, func, select

from agentpedia.api.served import Stored
from refold.agentpedia.queries.questions import Question, named_in
from refold.agentpedia.store import tables
from refold.db import NAME
from refold.kernel.errors import SourceError

MISSING = Table("agentpedia_missing", MetaData(), Column("name", NAME))


def test_what_the_database_does_not_like_has_a_code(stored: Stored) -> None:
    asked = Question(lambda _: select(MISSING.c.name).where(MISSING.c.name == bindparam("name")))
    with stored.database.read() as connection, pytest.raises(SourceError) as caught:
        asked.first(connection, name="x")
    assert caught.value.code == "database-failed"


def test_a_question_that_takes_too_long_is_broken_off(stored: Stored) -> None:
    e, f, g = (tables.history.alias(name) for name in "efg")
    asked = Question(lambda _: select(func.max(e.c.name + f.c.name + g.c.name)))
    with stored.database.read(seconds=0.05) as connection, pytest.raises(SourceError) as caught:
        asked.first(connection)
    assert caught.value.code == "database-time-limit"


def test_many_names_go_as_one_value(stored: Stored) -> None:
    c = tables.entries.c
    asked = Question(lambda kind: select(c.key).where(named_in(kind, c.key, "keys")))
    names = stored.names()[:5]
    with stored.database.read() as connection:
        rows = asked.rows(connection, keys=[*names, "en:none_such", "a'b\\"])
        assert sorted(row[0] for row in rows) == names
        assert asked.rows(connection, keys=[]) == []
