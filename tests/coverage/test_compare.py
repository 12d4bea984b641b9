"""Two receipts side by side: supersedes (F-34) and equivocation (Y-5)."""

from typing import Any

import pytest

from coverage.receipts import DIGEST, PIN, Json, changed, check, consensus, example, source
from refold.coverage.compare import Comparison, compare

LATER = "2030-01-03T03:04:05Z"
OTHER = "ef" * 32


def compared(first: Json, second: Json, pin: str = "") -> Comparison:
    receipts = [check(record, "2030-02-01T00:00:00Z").receipt for record in (first, second)]
    assert receipts[0] is not None
    assert receipts[1] is not None
    return compare(receipts[0], receipts[1], pin)


def later(record: Json, **members: Any) -> Json:
    return changed(record, "/corpus/asOf", LATER) | members


def test_the_same_question_walked_later_may_supersede() -> None:
    told = compared(example(), later(example(), supersedes=PIN), PIN)
    assert (told.same_question, told.later, told.names_first) == (True, True, True)
    assert told.may_supersede
    assert told.is_clean
    assert compared(example(), later(example(), supersedes=PIN)).may_supersede


@pytest.mark.parametrize(
    "second",
    [
        example() | {"supersedes": PIN},
        later(changed(example(), "/corpus/units/0/replay/url", "https://b.test"), supersedes=PIN),
        later(changed(example(), "/corpus/units/0/id", "other"), supersedes=PIN),
    ],
)
def test_another_question_or_no_later_walk_may_not(second: Json) -> None:
    told = compared(example(), second, PIN)
    assert not told.may_supersede
    assert not told.is_clean


def test_another_pin_or_none_claims_nothing() -> None:
    for members in ({}, {"supersedes": "00" * 32 + "i0"}):
        told = compared(example(), later(example(), **members), PIN)
        assert told.names_first is False
        assert not told.may_supersede
        assert told.is_clean


def test_ends_may_differ_and_titles_too() -> None:
    second = later(changed(example(), "/corpus/units/0/boundary/observed", 4), question="Again?")
    assert compared(example(), second).same_question


def test_one_source_with_two_digests_in_one_window_is_equivocation() -> None:
    second = consensus(source(setDigest=OTHER, operator=" ACME"), mode="SINGLE")
    told = compared(consensus(), second)
    [found] = told.equivocations
    assert (found.locator, found.digests) == ("https://a.test", (DIGEST, OTHER))
    assert not told.is_clean
    assert compared(consensus(), consensus()).is_clean


@pytest.mark.parametrize(
    "other",
    [
        source(setDigest=OTHER, digestFrame="MATCH_LIST"),
        source(setDigest=OTHER, locator="https://c.test"),
        source(setDigest="", outcome="UNREACHABLE"),
    ],
)
def test_another_frame_another_source_or_none_is_not(other: Json) -> None:
    told = compared(consensus(), consensus(other, mode="SINGLE"))
    assert told.same_window
    assert told.equivocations == ()


def test_another_window_is_not() -> None:
    second = changed(consensus(source(setDigest=OTHER), mode="SINGLE"), "/consensus/epoch", "7")
    second = changed(second, "/consensus/epochBasis", "BLOCK_HEIGHT")
    told = compared(consensus(), second)
    assert not told.same_window
    assert told.is_clean
    assert not compared(example(), example()).same_window
