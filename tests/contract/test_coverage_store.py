"""The store of coverage on each database: receipts, what stands between them, judgements, jobs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from coverage.receipts import (
    NOW,
    PIN,
    VALID,
    changed,
    check,
    consensus,
    example,
    http_unit,
    manual,
    present,
    source,
)
from refold.coverage import Report, report_unreplayed
from refold.coverage.store import Origin, Store, open_store
from refold.coverage.store.between import MAX_COMPARED
from refold.coverage.store.model import Link, NewJob, Wanted
from refold.coverage.store.refusals import REFUSED_SECONDS, Reader, Refusals
from refold.coverage.text import folded
from refold.db import Database
from refold.kernel.errors import InputError
from refold.kernel.utc import later

POSTED = Origin("posted")
ANY = "0" * 64
few = settings(
    max_examples=12,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@contextmanager
def writing(database: Database) -> Iterator[Store]:
    with database.write() as connection:
        yield open_store(connection)


@contextmanager
def reading(database: Database) -> Iterator[Store]:
    with database.read() as connection:
        yield open_store(connection)


def data(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode()


def put(store: Store, record: Any, origin: Origin = POSTED) -> str:
    return store.receipts.put(data(record), NOW, origin).hash


def asking(question: str, **changes: Any) -> dict[str, Any]:
    return {**example(), "question": question, **changes}


def pin(number: int) -> str:
    return f"{number:064x}i0"


def walked_later(record: dict[str, Any], day: int) -> dict[str, Any]:
    """Give a record whose walk ended on a later day."""
    return changed(record, "/corpus/asOf", f"2029-01-{day:02}T00:00:00Z")


# Receipts


def test_a_record_is_stored_once_whatever_its_spelling(database: Database) -> None:
    record = example()
    pretty = json.dumps(record, indent=2, sort_keys=True).encode()
    with writing(database) as store:
        first = store.receipts.put(data(record), NOW, POSTED)
        again = store.receipts.put(pretty, later(NOW, 60), POSTED)
    assert (first.is_new, again.is_new) == (True, False)
    assert first.hash == again.hash == check(record).receipt_hash
    with reading(database) as store:
        assert store.receipts.record(first.hash) == data(record)
        found = store.receipts.get(first.hash)
        assert found is not None
        assert (found.stored_at, found.due_at, found.judgement) == (NOW, NOW, "")
        assert store.receipts.totals().receipts == 1
        assert store.receipts.totals().bytes == found.size == len(data(record))


@pytest.mark.parametrize("name", VALID)
def test_every_kind_of_record_is_kept_as_it_is(database: Database, name: str) -> None:
    record = VALID[name]()
    with writing(database) as store:
        kept = put(store, record)
    with reading(database) as store:
        found = store.receipts.get(kept)
        assert found is not None
        assert store.receipts.record(kept) == data(record)
        told = (found.claim, found.question, found.query_hash, found.as_of, found.valid_until)
        assert told == (
            record["claim"],
            record["question"],
            record["query"]["queryHash"],
            record["corpus"]["asOf"],
            record["validUntil"],
        )


def test_what_is_not_valid_is_refused_with_all_its_errors(database: Database) -> None:
    record = changed(changed(example(), "/result/matchCount", 7), "/claim", "MAYBE")
    with pytest.raises(InputError) as caught, writing(database) as store:
        put(store, record)
    assert {one.code for one in caught.value.errors} >= {"E_MATCH_COUNT", "E_ENUM"}
    assert {one.pointer for one in caught.value.errors} >= {"/result/matchCount", "/claim"}
    with reading(database) as store:
        assert store.receipts.page(10) == []


def test_the_store_has_an_end(database: Database) -> None:
    with writing(database) as store:
        put(store, example())
        for limit, most in (("MAX_RECEIPTS", 1), ("MAX_BYTES", 1_500)):
            with patch(f"refold.coverage.store.receipts.{limit}", most):
                put(store, example())  # it is here
                with pytest.raises(InputError) as caught:
                    put(store, manual())
            assert caught.value.code == "store-full"
        put(store, manual())


WORDS = st.sampled_from(["Ebb", "straße", "STRASSE", "é", "e\u0301", "100%", "_", "\\", "\0", " "])
QUESTIONS = st.lists(WORDS, max_size=5).map("".join)


@few
@given(
    questions=st.lists(QUESTIONS, min_size=1, max_size=6, unique=True),
    wanted=QUESTIONS.filter(lambda text: "\0" not in text),
    limit=st.integers(1, 3),
)
def test_a_list_gives_what_holds_the_text_page_by_page(
    database: Database, questions: list[str], wanted: str, limit: int
) -> None:
    wipe(database)
    with writing(database) as store:
        names = [put(store, asking(question)) for question in questions]
    expected = [
        name
        for name, question in zip(names, questions, strict=True)
        if folded(wanted) in folded(question)
    ]
    found: list[str] = []
    last: int | None = None
    with reading(database) as store:
        while page := store.receipts.page(limit, last, Wanted(wanted)):
            found += [row.hash for row in page]
            last = page[-1].number
    assert found == expected[::-1]


def test_lists_are_filtered_by_each_member(database: Database) -> None:
    with writing(database) as store:
        absent, there, open_ = put(store, example()), put(store, present()), put(store, manual())
        other = changed(example(), "/corpus/kind", 'a "kind" \\ of its own')
        kinded = put(store, other)
        hidden = put(store, asking("Is it hidden?"))
        store.hiding.hide(hidden, "for a test", NOW)
        store.receipts.judged(there, judged(present(), "VERIFIED"), None, away=False)
    with reading(database) as store:

        def names(**equal: Any) -> list[str]:
            return [row.hash for row in store.receipts.page(10, None, Wanted(**equal))]

        assert names() == [kinded, open_, there, absent]
        assert names(claim="PRESENT") == [there]
        assert names(kind=other["corpus"]["kind"]) == [kinded]
        assert names(query_hash=example()["query"]["queryHash"]) == [kinded, open_, absent]
        assert names(judgement="VERIFIED") == [there]
        assert names(judgement="") == [kinded, open_, absent]
        assert names(claim="ABSENT", judgement="VERIFIED") == []


# What stands between them


def test_chains_are_followed_both_ways(database: Database) -> None:
    records = [
        walked_later(example(), number) | ({"supersedes": pin(number - 1)} if number > 1 else {})
        for number in (1, 2, 3)
    ]
    early = walked_later(example(), 1) | {"supersedes": pin(3), "note": "walked before"}
    with writing(database) as store:
        names = [
            put(store, record, Origin("chain", pin(number), "anna", number))
            for number, record in enumerate(records, 1)
        ]
        wrong = put(store, early)
        lost = put(store, example() | {"supersedes": pin(99)})
    with reading(database) as store:
        back = [Link(pin(2), names[1], may=True), Link(pin(1), names[0], may=True)]
        assert store.receipts.superseded(names[2], 10) == back
        assert store.receipts.superseded(names[2], 1) == back[:1]
        assert store.receipts.superseded(names[0], 10) == []
        assert store.receipts.superseding(names[0], 10) == [Link(pin(1), names[1], may=True)]
        assert store.receipts.superseding(names[2], 10) == [Link(pin(3), wrong, may=False)]
        assert store.receipts.superseded(wrong, 10)[0] == Link(pin(3), names[2], may=False)
        assert store.receipts.superseded(lost, 10) == [Link(pin(99), "", may=None)]


def test_a_chain_in_a_circle_ends(database: Database) -> None:
    """Whoever pins can know the id of no later pin; a store that is told one must not hang."""
    first, second = (
        walked_later(example(), day) | {"supersedes": pin(other)} for day, other in ((1, 2), (2, 1))
    )
    with writing(database) as store:
        one = put(store, first, Origin("chain", pin(1), "", 1))
        two = put(store, second, Origin("chain", pin(2), "", 2))
    with reading(database) as store:
        assert [link.receipt for link in store.receipts.superseded(one, 100)] == [two, one]


def test_pins_are_in_the_order_of_the_chain(database: Database) -> None:
    order = [(pin(9), 3), (pin(1), 5), (pin(2), 5), (pin(0), None)]
    with writing(database) as store:
        for name, height in reversed(order):
            put(store, example(), Origin("chain", name, "anna", height))
        kept = put(store, example(), Origin("chain", pin(2), "anna", 5))
    with reading(database) as store:
        assert [(one.pin, one.height) for one in store.receipts.pins(kept, 10)] == order


def two_digests() -> tuple[dict[str, Any], dict[str, Any]]:
    other = (
        source(setDigest="ee" * 32),
        source(operator="Bolt", locator="https://b.test", setDigest="ee" * 32),
    )
    return consensus(), consensus(*other)


@pytest.mark.parametrize(
    ("writers", "same"), [(("anna", "anna"), True), (("anna", ""), None), (("anna", "ben"), False)]
)
def test_equivocation_is_found_when_the_second_comes(
    database: Database, writers: tuple[str, str], same: bool | None
) -> None:
    with writing(database) as store:
        first, second = (
            put(store, record, Origin("chain", pin(number), writer, number))
            for number, (record, writer) in enumerate(zip(two_digests(), writers, strict=True))
        )
    with reading(database) as store:
        found = store.receipts.equivocations(second, 10)
        assert found == store.receipts.equivocations(first, 10)
    if same is False:
        assert found == []
        return
    assert [(one.first, one.second, one.same_writer) for one in found] == [
        (first, second, same)
    ] * 2
    assert {one.operator for one in found} == {"Acme", "Bolt"}
    assert found[0].digests == ("cd" * 32, "ee" * 32)


def test_other_questions_and_other_days_do_not_equivocate(database: Database) -> None:
    first, second = two_digests()
    second["consensus"]["epoch"] = "2030-01-01"
    for one in second["consensus"]["sourceSet"]:
        one["observedAt"] = "2030-01-01T00:00:00Z"
    third = two_digests()[1]
    third["corpus"]["units"] = [http_unit("another")]
    with writing(database) as store:
        names = [put(store, record) for record in (first, second, third)]
        assert [store.receipts.equivocations(name, 10) for name in names] == [[], [], []]


def test_a_window_that_is_flooded_costs_no_more_and_more(database: Database) -> None:
    with writing(database) as store:
        names = [
            put(store, consensus(source(setDigest=f"{number:064x}"), mode="SINGLE"))
            for number in range(MAX_COMPARED + 3)
        ]
        assert len(store.receipts.equivocations(names[-1], 1_000)) == MAX_COMPARED


def test_a_window_that_others_flood_hides_no_equivocation(database: Database) -> None:
    def told(number: int) -> dict[str, Any]:
        return consensus(source(setDigest=f"{number:064x}"), mode="SINGLE")

    with writing(database) as store:
        for number in range(MAX_COMPARED):
            put(store, told(number), Origin("chain", pin(number), f"other {number}", number))
        first, second = (
            put(store, told(number), Origin("chain", pin(number), "anna", number))
            for number in (90, 91)
        )
        posted = put(store, told(92))
        for name in (first, second):
            found = store.receipts.equivocations(name, 1)
            assert [(one.first, one.second, one.same_writer) for one in found] == [
                (first, second, True)
            ]
        assert store.receipts.equivocations(posted, 1)[0].same_writer is None
        put(store, told(92), Origin("chain", pin(92), "anna", 92))
        found = store.receipts.equivocations(posted, 9)
        assert [(one.first, one.same_writer) for one in found] == [
            (name, True) for name in sorted((first, second))
        ]


PLAIN_READER = Reader("https://man.example", "1", proves=False)


@pytest.mark.parametrize(
    ("again", "is_known"),
    [
        (PLAIN_READER, True),
        (Reader("https://other.example", "1", proves=False), False),
        (Reader("https://man.example", "2", proves=False), False),
        (Reader("https://man.example", "1", proves=True), False),
    ],
    ids=["same", "other indexer", "other rules", "proof"],
)
def test_a_refused_pin_is_read_again_by_who_may_see_it_otherwise(
    database: Database, again: Reader, is_known: bool
) -> None:
    with database.write() as connection:
        refusals = Refusals(connection)
        refusals.remember([(pin(1), 7), (pin(2), 8)], PLAIN_READER, NOW)
        refusals.remember([(pin(3), 9)], Reader("https://third.example", again.version, True), NOW)
        refusals.forget([pin(2)])
        ids = [pin(number) for number in range(5)]
        week = later(NOW, -REFUSED_SECONDS), NOW
        assert refusals.of(ids, again, *week) == {pin(3): 9} | ({pin(1): 7} if is_known else {})
        assert refusals.of(ids, again, later(NOW, 1), later(NOW, 2)) == {}  # too long ago
        assert refusals.of(ids, again, "", later(NOW, -1)) == {}  # by a clock that was ahead
        refusals.prune(later(NOW, 1))
        assert refusals.of(ids, again, *week) == {}


# Judgements


def judged(record: Any, judgement: str, at: str = NOW, **changes: Any) -> Report:
    report = report_unreplayed(check(record), at)
    return msgspec.structs.replace(report, judgement=judgement, coverage="FULL", **changes)


JUDGEMENTS = st.sampled_from(["VERIFIED", "STALE", "REFUTED", "INCONCLUSIVE"])


@few
@given(st.lists(st.tuples(JUDGEMENTS, st.booleans()), min_size=1, max_size=8))
def test_each_change_is_a_row_and_nothing_else_is(
    database: Database, checks: list[tuple[str, bool]]
) -> None:
    wipe(database)
    expected: list[tuple[str, str]] = []
    failures, at, report = 0, NOW, judged(example(), "STALE")
    with writing(database) as store:
        name = put(store, example())
        for hour, (judgement, away) in enumerate(checks):
            at = later(NOW, hour * 3_600)
            report = judged(example(), judgement, at, reasons=("result_drift",))
            change = store.receipts.judged(name, report, later(at, 60), away=away)
            failures = failures + 1 if away else 0
            is_new = not expected or expected[-1][0] != judgement
            assert (change is not None) == is_new
            if is_new:
                expected.append((judgement, at))
    with reading(database) as store:
        rows = store.receipts.judgements(name, 100)
        assert [(row.judgement, row.at) for row in reversed(rows)] == expected
        assert [row.number for row in reversed(rows)] == list(range(1, len(expected) + 1))
        assert {row.reasons for row in rows} == {("result_drift",)}
        found = store.receipts.get(name)
        assert found is not None
        assert (found.judgement, found.judged_at) == expected[-1]
        assert (found.checked_at, found.due_at) == (at, later(at, 60))
        assert found.failures == failures
        report_kept = store.receipts.report(name)
        assert report_kept is not None
        assert msgspec.json.decode(report_kept, type=Report) == report
        assert store.receipts.judgements(name, 1, before=2) == rows[-1:]


def test_what_is_not_stored_is_not_judged(database: Database) -> None:
    with writing(database) as store:
        assert store.receipts.judged(ANY, judged(example(), "STALE"), NOW, away=False) is None
        assert store.receipts.report(ANY) is None


def test_due_receipts_come_in_the_order_of_their_time(database: Database) -> None:
    with writing(database) as store:
        names = [put(store, asking(f"Question {number}?")) for number in range(4)]
        times = (later(NOW, 60), None, later(NOW, 30), later(NOW, 90))
        for name, due in zip(names, times, strict=True):
            store.receipts.postpone(name, due)
        store.jobs.ask(NewJob("j", names[2], "a"), b"{}", NOW)
        found = store.receipts.due(later(NOW, 60), 10)
        assert [row.hash for row in found] == [names[0]]
        assert store.receipts.next_due() == later(NOW, 30)
        store.jobs.ended("j", NOW)
        found = store.receipts.due(later(NOW, 1_000), 2)
        assert [row.hash for row in found] == [names[2], names[0]]


# Hiding


def test_hiding(database: Database) -> None:
    with writing(database) as store:
        assert store.hiding.hide(ANY, "a reason", NOW)
        assert not store.hiding.hide(ANY, "another", later(NOW, 5))
        found = store.hiding.of(ANY)
        assert found is not None
        assert (found.reason, found.since) == ("another", NOW)
        assert store.hiding.page(10) == [found]
        assert store.hiding.page(10, ANY) == []
        assert store.hiding.unhide(ANY)
        assert not store.hiding.unhide(ANY)
        for name, reason in ((PIN, "x"), (ANY, " "), (ANY, "x" * 501)):
            with pytest.raises(InputError):
                store.hiding.hide(name, reason, NOW)
