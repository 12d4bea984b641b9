"""Budgets: each ends a walk with the right reason, and over stored answers at the same place."""

from typing import Any

import msgspec
import pytest

from cases.sources import Scripted, answer, items, needle, source, to
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.coverage.walk.budget import Budgets, Purse
from refold.coverage.walk.drive import walk_corpus, walk_source


def endless(rows: int = 1, **options: Any) -> Scripted:
    """Give a list without end."""

    def reply(ask: Ask) -> Answer | Failure:
        start = len(transport.asks) * rows
        page = {"items": items(*range(start, start + rows))}
        return answer(ask.url, page, headers=to(f"/items?n={len(transport.asks)}"))

    transport = Scripted(reply, **options)
    return transport


PAGE = len(answer("", {"items": items(1)}).body)


@pytest.mark.parametrize(
    ("budgets", "seconds", "asked"),
    [
        (Budgets(unit_pages=5), 0, 5),
        (Budgets(record_requests=4), 0, 4),
        (Budgets(unit_bytes=3 * PAGE), 0, 3),
        (Budgets(unit_seconds=10), 2.5, 4),
        (Budgets(record_seconds=10), 5, 2),
        (Budgets(unit_rows=3), 0, 3),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_every_budget_ends_an_endless_list(budgets: Budgets, seconds: float, asked: int) -> None:
    transport = endless(seconds=seconds)
    walked = walk_source(source(), needle(), transport, Purse(budgets))
    assert walked.traversal.reasons == ("budget_exhausted",)
    assert walked.traversal.ends == ()
    assert len(transport.asks) == asked
    assert walked.traversal.pages == asked


def test_rows_are_counted_while_a_page_is_read() -> None:
    transport = endless(rows=100)
    seen = walk_source(source(), needle(), transport, Purse(Budgets(unit_rows=250))).traversal
    assert seen.reasons == ("budget_exhausted",)
    assert seen.rows == 250
    assert seen.pages == 2


def test_questions_are_limited_to_what_is_left() -> None:
    budgets = Budgets(page_bytes=3 * PAGE, unit_bytes=4 * PAGE, unit_seconds=10, record_seconds=13)
    purse = Purse(budgets)
    transport = endless(seconds=4.0)
    walk_source(source(), needle(), transport, purse)
    assert [ask.max_seconds for ask in transport.asks] == [10, 6, 2]
    assert [ask.max_bytes for ask in transport.asks] == [3 * PAGE, 3 * PAGE, 2 * PAGE]
    walk_source(source(), needle(), transport, purse)
    assert [ask.max_seconds for ask in transport.asks[3:]] == [1]
    assert purse.exhausted() == "record_seconds"


def test_the_budgets_of_a_record_are_those_of_all_its_units() -> None:
    units = [source(f"/{name}", name=name) for name in "abc"]
    transport = Scripted(lambda ask: answer(ask.url, {"items": items(1)}))
    walked = list(walk_corpus(units, needle(), transport, budgets=Budgets(record_requests=2)))
    assert [unit.traversal.reasons for unit in walked] == [(), (), ("budget_exhausted",)]
    transport = Scripted(lambda ask: answer(ask.url, {"items": items(1)}))
    walked = list(walk_corpus(units, needle(), transport, budgets=Budgets(unit_pages=1)))
    assert [unit.traversal.reasons for unit in walked] == [(), (), ()]


def test_the_first_page_is_not_read_again_beyond_a_budget() -> None:
    def reply(ask: Ask) -> Answer | Failure:
        last = ask.url.endswith("b")
        return answer(ask.url, {"items": items(2 if last else 1)}, headers={} if last else to("?b"))

    transport = Scripted(reply)
    seen = walk_source(source(), needle(), transport, Purse(Budgets(record_requests=2))).traversal
    assert seen.reasons == ("budget_exhausted",)
    assert len(transport.asks) == 2


def test_the_budgets_of_the_specification() -> None:
    budgets = Budgets()
    assert (budgets.unit_pages, budgets.record_requests) == (1_000, 20_000)
    assert (budgets.page_bytes, budgets.unit_bytes) == (32 << 20, 256 << 20)
    assert (budgets.request_seconds, budgets.unit_seconds, budgets.record_seconds) == (
        30,
        600,
        30 * 60,
    )


def test_progress_is_told_after_each_answer() -> None:
    told: list[tuple[str, int]] = []
    purse = Purse(Budgets(unit_pages=3))
    walk_source(
        source(), needle(), endless(), purse, lambda unit, spent: told.append((unit, spent.pages))
    )
    assert [pages for _, pages in told] == [1, 2, 3]
    assert msgspec.to_builtins(purse.spent)["requests"] == 3
