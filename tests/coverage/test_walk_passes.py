"""Two passes before absence: what moved between them, and what only the second one found."""

from typing import Any

import pytest

from cases.sources import Scripted, answer, items, needle, pages, source
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.coverage.walk.passes import walk_settled

FOUND = [{"id": 9, "name": "needle"}]


def then(*passes: Any) -> Scripted:
    """Give a source of one page that answers differently in each pass, and then the last."""

    def reply(ask: Ask) -> Answer | Failure:
        body = passes[min(len(transport.asks), len(passes)) - 1]
        return body if isinstance(body, Failure) else answer(ask.url, body)

    transport = Scripted(reply)
    return transport


def settled(transport: Scripted) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Give the reasons, what was found, and how often it was waited."""
    waits: list[None] = []
    (walked,) = walk_settled([source()], needle(), transport, settle=lambda: waits.append(None))
    seen = walked.traversal
    assert set(walked.why) <= set(seen.reasons)
    return seen.reasons, tuple(found.id for found in seen.matches), len(waits)


def test_absence_takes_two_passes_over_the_same_rows() -> None:
    transport = then({"items": items(1, 2)})
    assert settled(transport) == ((), (), 1)
    assert len(transport.asks) == 2


def test_what_is_found_at_once_is_there() -> None:
    transport = then({"items": FOUND})
    assert settled(transport) == ((), ("9",), 0)
    assert len(transport.asks) == 1


def test_what_only_the_second_pass_finds_is_there() -> None:
    assert settled(then({"items": items(1)}, {"items": items(1) + FOUND})) == ((), ("9",), 1)


@pytest.mark.parametrize(
    "second", [{"items": items(1, 2, 3)}, {"items": items(1)}, {"items": items(1, 3)}]
)
def test_rows_that_moved_between_the_passes(second: Any) -> None:
    assert settled(then({"items": items(1, 2)}, second)) == (("moved_during_traversal",), (), 1)


def test_a_second_pass_that_fails_leaves_the_question_open() -> None:
    reasons, found, waits = settled(then({"items": items(1)}, Failure("", "body-short", "no")))
    assert (reasons, found, waits) == (("source_unreachable",), (), 1)


def test_what_was_wrong_in_the_first_pass_counts() -> None:
    transport = then({"items": items(1), "truncated": True}, {"items": items(1)})
    reasons, _, waits = settled(transport)
    assert reasons == ("source_truncated", "termination_not_proven")
    assert (len(transport.asks), waits) == (2, 1)


def test_what_cannot_be_read_at_all_is_not_asked_twice() -> None:
    transport = then(Failure("", "connect-failed", "no"))
    assert settled(transport) == (("source_unreachable",), (), 0)


def test_each_unit_is_compared_with_itself() -> None:
    transport = pages(
        {"/a": ({"items": items(1)}, {}), "/b": ({"items": items(2)}, {})}, seconds=1.0
    )
    units = [source("/a", name="a"), source("/b", name="b")]
    walked = walk_settled(units, needle(), transport)
    assert [unit.traversal.unit for unit in walked] == ["a", "b"]
    assert [unit.traversal.reasons for unit in walked] == [(), ()]
    assert transport.urls == ["/a", "/b", "/a", "/b"]
