"""Lists of a store that is full: each is read along an index, and nothing is sorted for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text

from coverage.receipts import NOW
from refold.coverage.store import open_store
from refold.coverage.store.model import Wanted
from refold.coverage.store.onchain import OnChain
from refold.db import Database

HASH = "0" * 64


def wanted(connection: Connection, which: Wanted) -> object:
    return open_store(connection).receipts.page(10, 5, which)


LISTS: dict[str, Callable[[Connection], object]] = {
    "receipts": lambda connection: open_store(connection).receipts.page(10, 5),
    "kind": lambda connection: wanted(connection, Wanted(kind="list")),
    "queryHash": lambda connection: wanted(connection, Wanted(query_hash=HASH)),
    "claim": lambda connection: wanted(connection, Wanted(claim="ABSENT")),
    "judgement": lambda connection: wanted(connection, Wanted(judgement="")),
    "due": lambda connection: open_store(connection).receipts.due(NOW, 1),
    "next due": lambda connection: open_store(connection).receipts.next_due(),
    "judgements": lambda connection: open_store(connection).receipts.judgements(HASH, 10, 5),
    "ahead": lambda connection: open_store(connection).receipts.check_again(NOW, NOW),
    "pins": lambda connection: OnChain(connection).confirmed(10),
    "pins, further on": lambda connection: OnChain(connection).confirmed(10, (5, "pin")),
    "claimed": lambda connection: open_store(connection).jobs.claim(NOW),
    "claimed, of the schedule": lambda connection: open_store(connection).jobs.claim(NOW, due=True),
    "hidden": lambda connection: open_store(connection).hiding.page(10, HASH),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_read_along_an_index(tmp_path: Path, name: str) -> None:
    with Database.open(f"sqlite:///{tmp_path}/refold.db") as database, database.write() as opened:
        asked: list[tuple[str, Any]] = []

        def hear(_: object, __: object, statement: str, given: Any, *___: object) -> None:
            asked.append((statement, given))

        event.listen(opened, "before_cursor_execute", hear)
        LISTS[name](opened)
        event.remove(opened, "before_cursor_execute", hear)
        assert asked
        for statement, given in asked:
            steps = opened.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
            told = [row.detail for row in steps]
            assert [step for step in told if "TEMP B-TREE" in step] == []
            assert [step for step in told if step.startswith("SCAN") and "INDEX" not in step] == []
        assert opened.execute(text("SELECT count(*) FROM coverage_receipts")).scalar() == 0
