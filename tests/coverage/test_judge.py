"""Judgement (spec §5.3): the table by exhaustive enumeration, and the facts from traversals."""

import itertools
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest

from coverage.receipts import (
    DIGEST,
    NOW,
    PIN,
    Json,
    check,
    example,
    http_unit,
    manual,
    manual_unit,
    pins_unit,
    present,
    sealed,
)
from refold.coverage.codes import REASONS
from refold.coverage.hashes import set_hash
from refold.coverage.judge import CONFIRMED_BEFORE, Facts, Judgement, Verdict, judge, rule
from refold.coverage.record import Claim, Coverage, Receipt
from refold.coverage.sight import moment
from refold.coverage.unit import Found, Traversal, is_lasting, reproduces_end, reproduces_marker
from refold.kernel.errors import InputError

FLAGS = (
    *("expired", "found", "decided", "extra", "extra_proved", "unchanged", "missing", "ids_only"),
    *("digest_differs", "digest_lost", "reordered", "shrank"),
)
COVERAGES: tuple[Coverage, ...] = ("BROKEN", "PARTIAL", "FULL")


def every() -> Iterator[Facts]:
    """Every combination of claim, coverage and flags."""
    for claim in get_args(Claim):
        for coverage in COVERAGES:
            for values in itertools.product((False, True), repeat=len(FLAGS)):
                flags = dict(zip(FLAGS, values, strict=True))
                yield Facts(claim=claim, coverage=coverage, **flags)


def by_the_text(f: Facts) -> str:
    """Spec §5.3, Judgement, sentence by sentence: all rules that speak, and then the first."""
    definite = f.claim in {"ABSENT", "PRESENT"}
    full, partial = f.coverage == "FULL", f.coverage == "PARTIAL"
    result_is_as_recorded = (
        not f.missing and not f.digest_differs and not f.digest_lost and not f.reordered
    )
    rules = [
        # 1. INVALID any E_ code
        (f.invalid, "INVALID"),
        # 2a. an item matches now that the record lacks, and it is proved to have been there
        (definite and f.extra and f.extra_proved, "REFUTED"),
        # 2b. FULL, every unit unchanged, the result differs in digest or membership under ids
        (definite and full and f.unchanged and f.digest_differs, "REFUTED"),
        (definite and full and f.unchanged and f.missing and f.ids_only, "REFUTED"),
        # 3. STALE now > validUntil
        (f.expired, "STALE"),
        # 4. claim INCONCLUSIVE
        (not definite and (full or f.decided or f.found), "STALE"),
        (not definite, "INCONCLUSIVE"),
        # 5. an item matches now that the record lacks
        (f.extra, "STALE"),
        # 6. FULL: missing, digest, order; shrank under ABSENT; else VERIFIED
        (full and not result_is_as_recorded, "STALE"),
        (full and f.claim == "ABSENT" and f.shrank, "STALE"),
        (full, "VERIFIED"),
        # 7. PARTIAL and PRESENT, all found again in order with equal digest; else INCONCLUSIVE
        (partial and f.claim == "PRESENT" and result_is_as_recorded, "VERIFIED"),
        (True, "INCONCLUSIVE"),
    ]
    return next(judgement for applies, judgement in rules if applies)


def lowered(facts: Facts, coverage: Coverage) -> Facts:
    flags = {flag: getattr(facts, flag) for flag in FLAGS}
    return Facts(claim=facts.claim, coverage=coverage, **flags)


def test_the_table_is_total_and_as_the_text_says() -> None:
    counted = 0
    for facts in every():
        counted += 1
        judgement = rule(facts)
        assert judgement in get_args(Judgement)
        assert judgement == by_the_text(facts)
    assert counted == 3 * 3 * 2 ** len(FLAGS)


def test_less_coverage_never_gives_verified() -> None:
    for facts in every():
        if rule(facts) != "VERIFIED":
            for coverage in COVERAGES[: COVERAGES.index(facts.coverage)]:
                assert rule(lowered(facts, coverage)) != "VERIFIED", facts


def test_absent_is_verified_only_under_full_coverage_before_it_expires() -> None:
    for facts in every():
        if rule(facts) == "VERIFIED":
            assert not facts.expired
            assert not facts.extra
            assert facts.claim != "INCONCLUSIVE"
            assert facts.coverage == "FULL" or facts.claim == "PRESENT"
            assert facts.coverage != "BROKEN"


def test_what_is_found_wrong_never_turns_into_verified() -> None:
    better = {"found", "decided", "unchanged", "ids_only"}
    worse = tuple(flag for flag in FLAGS if flag not in better)
    for facts in every():
        if rule(facts) != "VERIFIED":
            for flag in worse:
                more = {name: getattr(facts, name) for name in FLAGS} | {flag: True}
                raised = Facts(claim=facts.claim, coverage=facts.coverage, **more)
                assert rule(raised) != "VERIFIED"


def test_inconclusive_is_never_verified_nor_refuted() -> None:
    judgements = {rule(facts) for facts in every() if facts.claim == "INCONCLUSIVE"}
    assert judgements == {"STALE", "INCONCLUSIVE"}


def test_an_invalid_record_is_nothing_else() -> None:
    for facts in itertools.islice(every(), 0, None, 17):
        flags = {flag: getattr(facts, flag) for flag in FLAGS}
        assert (
            rule(Facts(invalid=True, claim=facts.claim, coverage=facts.coverage, **flags))
            == "INVALID"
        )


# --- from traversals

IDS = ["1", "2", "3"]
AS_OF = moment("2030-01-02T03:04:05Z") or 0


def receipt(record: Json) -> Receipt:
    validation = check(record)
    assert validation.receipt is not None, validation.errors
    return validation.receipt


def walk(unit: str = "list", ids: list[str] | None = None, **changes: Any) -> Traversal:
    """A whole walk over a list of three rows."""
    ids = IDS if ids is None else ids
    whole: dict[str, Any] = {
        "pages": 2,
        "rows": len(ids),
        "ends": ("CURSOR_END",),
        "set_hash": set_hash(ids),
        "distinct": len(set(ids)),
        "last_id": ids[-1] if ids else "",
        "cursor": "link:next=",
        "ids_only": bool(ids),
    }
    return Traversal(unit=unit, **whole | changes)


def pins(ids: tuple[str, ...] = (PIN, "00" * 32 + "i0"), **changes: Any) -> Traversal:
    """A whole walk over two pins."""
    whole: dict[str, Any] = {"ends": ("EXHAUSTED",), "ids_only": False, "lasting": True}
    return walk("pins", list(ids), **whole | changes)


def over(*units: Json, **members: Any) -> Json:
    record = example() | members
    record["corpus"] = record["corpus"] | {"units": list(units)}
    return record


def listed(*ids: str, **members: Any) -> Json:
    """PRESENT over one list."""
    record = present(*[{"id": name} for name in ids]) | members
    record["query"]["canon"] = example()["query"]["canon"]
    record["corpus"]["units"] = [http_unit()]
    return sealed(record)


def verdict(record: Json, *walks: Traversal, now: str = NOW) -> Verdict:
    return judge(receipt(record), walks, now)


def test_absence_walked_again_is_verified() -> None:
    told = verdict(over(http_unit()), walk())
    assert (told.judgement, told.coverage, told.reasons) == ("VERIFIED", "FULL", ())
    assert told.units[0].drift == "unit_unchanged"


def test_growth_without_a_match_stays_verified() -> None:
    told = verdict(over(http_unit()), walk(ids=[*IDS, "4"]))
    assert (told.judgement, told.units[0].drift) == ("VERIFIED", "grew")


def test_fewer_rows_make_an_absence_stale_and_a_presence_not() -> None:
    told = verdict(over(http_unit()), walk(ids=["1", "2"]))
    assert (told.judgement, told.reasons) == ("STALE", ("shrank",))
    told = verdict(listed("1"), walk(ids=["1", "2"], matches=(Found("1"),)))
    assert (told.judgement, told.units[0].drift) == ("VERIFIED", "shrank")


def test_another_end_or_other_rows_in_equal_number_is_a_change() -> None:
    for other in (walk(ends=("EXHAUSTED",)), walk(ids=["1", "2", "4"])):
        told = verdict(over(http_unit()), other)
        assert (told.judgement, told.coverage, told.units[0].drift) == (
            "VERIFIED",
            "FULL",
            "changed",
        )


@pytest.mark.parametrize("kind", ["SET_HASH", "ITEM_ID", "CURSOR", "TOTAL_COUNT", "NONE"])
@pytest.mark.parametrize("ids_only", [True, False])
def test_e5_a_weak_marker_saves_nobody_whose_criterion_reads_ids(kind: str, ids_only: bool) -> None:
    marker = {
        "SET_HASH": set_hash(IDS),
        "ITEM_ID": "3",
        "CURSOR": "link:next=",
        "TOTAL_COUNT": "total=3",
        "NONE": "",
    }[kind]
    termination = "COUNT_MATCHED" if kind == "TOTAL_COUNT" else "CURSOR_END"
    unit = http_unit(endMarkerKind=kind, endMarker=marker, termination=termination)
    blind = [{"what": "a", "why": "b"}] if kind == "NONE" else []
    label = "no_match_in_declared_subset" if kind == "NONE" else "no_match_in_full_coverage"
    record = over(unit, blindspots=blind, justification=label)
    seen = walk(
        matches=(Found("2"),),
        ids_only=ids_only,
        ends=("CURSOR_END", "COUNT_MATCHED"),
        totals=("total=3",),
    )
    told = verdict(record, seen)
    proved = ids_only and kind != "NONE"
    assert told.judgement == ("REFUTED" if proved else "STALE")
    assert told.added == ("2",)
    assert told.weak == (() if kind == "SET_HASH" else ("list",))
    unchanged = () if kind == "NONE" else ("unit_unchanged",)
    assert told.reasons == ("result_drift", *unchanged)
    grown = verdict(record, walk(ids=[*IDS, "4"], matches=(Found("2"),), ids_only=ids_only))
    assert grown.judgement == "STALE"


@pytest.mark.parametrize(
    ("before", "judgement"),
    [(CONFIRMED_BEFORE, "REFUTED"), (CONFIRMED_BEFORE - 1, "STALE"), (None, "STALE")],
)
@pytest.mark.parametrize("reasons", [(), ("budget_exhausted",), ("not_json",)])
def test_a_pin_that_was_long_confirmed_refutes_under_any_coverage(
    before: int | None, judgement: str, reasons: tuple[str, ...]
) -> None:
    record = sealed(over(pins_unit(), query=present()["query"]))
    when = None if before is None else AS_OF - before
    found = Found("11" * 32 + "i0", DIGEST, when)
    seen = pins((PIN, found.id), matches=(found,), reasons=reasons)
    assert verdict(record, seen).judgement == judgement
    after = "2031-01-01T00:00:00Z"
    assert verdict(record, seen, now=after).judgement == judgement
    edited = pins((PIN, found.id), matches=(found,), reasons=reasons, lasting=False)
    assert verdict(record, edited).judgement == "STALE"


@pytest.mark.parametrize(
    "name", ["doc", "doc.path", "doc.a.b", "chain.id", "chain.path", "chain.operation"]
)
def test_bodies_and_paths_of_confirmed_pins_last(name: str) -> None:
    assert is_lasting(name)


@pytest.mark.parametrize(
    "name",
    ["", "docs", "chain.status", "chain.modify_history", "chain.contentSummary", "chain.address"],
)
def test_status_history_and_owner_do_not(name: str) -> None:
    assert not is_lasting(name)


def test_what_the_record_has_proves_nothing_against_it() -> None:
    old = Found(PIN, DIGEST, AS_OF - CONFIRMED_BEFORE)
    fresh = Found("11" * 32 + "i0", DIGEST, AS_OF)
    told = verdict(present(), pins((PIN, fresh.id), matches=(old, fresh)))
    assert (told.judgement, told.added) == ("STALE", (fresh.id,))
    seen = walk(ids=[*IDS, "4"], matches=(Found("1"), Found("4")))
    assert verdict(listed("1"), seen).judgement == "STALE"


def test_one_unit_that_shrank_makes_an_absence_stale() -> None:
    record = over(http_unit("a"), http_unit("b"))
    told = verdict(record, walk("a"), walk("b", ids=["1", "2"]))
    assert (told.judgement, told.reasons) == ("STALE", ("shrank",))


def test_another_digest_of_a_pin_refutes_where_the_unit_is_unchanged() -> None:
    record = present()
    assert verdict(record, pins(matches=(Found(PIN, DIGEST),))).judgement == "VERIFIED"
    other = Found(PIN, "ee" * 32)
    told = verdict(record, pins(matches=(other,)))
    assert (told.judgement, told.reasons) == ("REFUTED", ("result_drift",))
    grown = pins((PIN, "00" * 32 + "i0", "22" * 32 + "i0"), matches=(other,))
    assert verdict(record, grown).judgement == "STALE"
    partial = pins(matches=(other,), reasons=("budget_exhausted",))
    assert verdict(record, partial).judgement == "INCONCLUSIVE"


def test_a_digest_that_cannot_be_compared_verifies_nothing() -> None:
    told = verdict(present(), pins(matches=(Found(PIN),)))
    assert told.judgement == "STALE"
    told = verdict(present(), pins(matches=(Found(PIN),), reasons=("detail_mismatch",)))
    assert told.judgement == "INCONCLUSIVE"


def test_a_digest_left_out_of_the_record_is_not_compared() -> None:
    record = sealed(present({"id": PIN}) | {"blindspots": [{"what": "a", "why": "b"}]})
    assert verdict(record, pins(matches=(Found(PIN, DIGEST),))).judgement == "VERIFIED"


@pytest.mark.parametrize("ids_only", [True, False])
def test_a_match_that_is_gone(ids_only: bool) -> None:
    record = listed("1", "2")
    told = verdict(record, walk(matches=(Found("1"),), ids_only=ids_only))
    assert told.judgement == ("REFUTED" if ids_only else "STALE")
    assert (told.removed, told.reasons) == (("2",), ("result_drift",))
    told = verdict(record, walk(matches=(Found("1"),), ids_only=ids_only, reasons=("total_drift",)))
    assert (told.judgement, told.reasons) == ("INCONCLUSIVE", ())
    told = verdict(record, walk(ids=["1"], matches=(Found("1"),), ids_only=ids_only))
    assert told.judgement == "STALE"


def test_a_match_in_a_source_that_is_empty_as_recorded_was_never_there() -> None:
    empty = pins_unit()
    empty["boundary"] |= {"observed": 0, "endMarker": set_hash([])}
    empty["boundary"].pop("statusCounts")
    record = present()
    record["corpus"]["units"] = [empty]
    told = verdict(record, pins((), last_id=""))
    assert told.judgement == "REFUTED"


def test_another_order_is_stale_under_full_and_no_witness_under_partial_coverage() -> None:
    record = listed("1", "2")
    turned = (Found("2"), Found("1"))
    told = verdict(record, walk(matches=turned))
    assert (told.judgement, told.reasons) == ("STALE", ("order_drift",))
    told = verdict(record, walk(matches=turned, reasons=("total_drift",)))
    assert told.judgement == "INCONCLUSIVE"


def test_presence_needs_one_witness_and_absence_all() -> None:
    found = (Found("1"),)
    for reasons, coverage in ((("budget_exhausted",), "PARTIAL"), (("page_loop",), "BROKEN")):
        told = verdict(listed("1"), walk(matches=found, reasons=reasons))
        assert told.coverage == coverage
        assert told.judgement == ("VERIFIED" if coverage == "PARTIAL" else "INCONCLUSIVE")
        assert verdict(over(http_unit()), walk(reasons=reasons)).judgement == "INCONCLUSIVE"


def test_after_valid_until_nothing_is_verified() -> None:
    at_the_end, after = "2030-01-09T03:04:05Z", "2030-01-09T03:04:06Z"
    assert verdict(over(http_unit()), walk(), now=at_the_end).judgement == "VERIFIED"
    told = verdict(over(http_unit()), walk(), now=after)
    assert (told.judgement, told.reasons) == ("STALE", ("expired",))


def test_an_open_question_stays_open_until_it_can_be_decided() -> None:
    record = over(http_unit(termination="UNKNOWN"), claim="INCONCLUSIVE")
    record["justification"] = "termination_not_proven"
    assert verdict(record, walk(ends=())).judgement == "INCONCLUSIVE"
    told = verdict(record, walk(ends=(), matches=(Found("1"),)))
    assert (told.judgement, told.reasons) == ("STALE", ("now_decidable",))
    # Its own termination is the ceiling; that the source can be read to its end now is told still.
    told = verdict(record, walk())
    assert (told.coverage, told.judgement, told.reasons) == ("PARTIAL", "STALE", ("now_decidable",))
    for reason in ("total_drift", "page_loop"):
        assert verdict(record, walk(reasons=(reason,))).judgement == "INCONCLUSIVE"
    record["corpus"]["units"].append(manual_unit())
    assert verdict(record, walk(), Traversal(unit="desk")).judgement == "INCONCLUSIVE"
    whole = over(http_unit(), claim="INCONCLUSIVE", justification="source_inconsistent")
    told = verdict(whole, walk())
    assert (told.judgement, told.reasons) == ("STALE", ("now_decidable",))


# --- coverage (V-8)


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_lowers_its_unit_by_its_effect(reason: str) -> None:
    told = verdict(over(http_unit()), walk(reasons=(reason,)))
    effect = REASONS[reason].effect
    assert told.coverage == told.units[0].coverage == ("FULL" if effect == "NOTE" else effect)


def test_a_reason_that_nobody_knows_is_the_worst() -> None:
    assert verdict(over(http_unit()), walk(reasons=("new",))).coverage == "BROKEN"


def test_a_walk_without_an_end_is_partial_and_says_so() -> None:
    told = verdict(over(http_unit()), walk(ends=()))
    assert told.units[0].coverage == "PARTIAL"
    assert told.units[0].reasons == ("termination_not_proven",)


@pytest.mark.parametrize(
    "change", [{"termination": "UNKNOWN"}, {"endMarkerKind": "NONE", "endMarker": ""}]
)
def test_the_record_itself_may_cap_the_coverage(change: Json) -> None:
    record = over(http_unit(**change), justification="no_match_in_declared_subset")
    record["blindspots"] = [{"what": "a", "why": "b"}]
    assert verdict(record, walk()).coverage == "PARTIAL"


def test_the_record_has_the_coverage_of_its_worst_unit() -> None:
    record = over(http_unit("a"), http_unit("b"), http_unit("c"))
    for second, third, coverage in (
        ((), (), "FULL"),
        (("total_drift",), (), "PARTIAL"),
        (("total_drift",), ("not_json",), "BROKEN"),
    ):
        told = verdict(record, walk("a"), walk("b", reasons=second), walk("c", reasons=third))
        assert told.coverage == coverage


def test_a_scan_that_read_nothing_is_broken() -> None:
    dead = Traversal(unit="list", reasons=("source_unreachable",))
    told = verdict(over(http_unit()), dead)
    assert (told.coverage, told.units[0].coverage) == ("BROKEN", "PARTIAL")
    told = verdict(over(http_unit("a"), http_unit("b")), walk("a"), dead)
    assert told.coverage == "PARTIAL"
    told = verdict(manual(), Traversal(unit="desk"))
    assert (told.coverage, told.units[0].coverage) == ("BROKEN", "PARTIAL")


def test_a_manual_unit_is_never_full() -> None:
    record = over(http_unit(), manual_unit(), justification="no_match_in_declared_subset")
    record["blindspots"] = [{"what": "a", "why": "b"}]
    told = verdict(record, walk(), Traversal(unit="desk"))
    assert (told.coverage, told.judgement) == ("PARTIAL", "INCONCLUSIVE")


def test_r9_one_pin_with_two_digests_lowers_the_units_that_say_so() -> None:
    record = present()
    record["corpus"]["units"] = [pins_unit("a"), pins_unit("b"), pins_unit("c")]
    one, two = Found(PIN, DIGEST), Found(PIN, "ee" * 32)
    told = verdict(record, pins(matches=(one,)), pins(matches=(two,)), pins())
    assert [unit.coverage for unit in told.units] == ["PARTIAL", "PARTIAL", "FULL"]
    assert told.units[0].reasons == ("source_inconsistent",)
    assert told.judgement == "VERIFIED"
    same = verdict(record, pins(matches=(one,)), pins(matches=(one,)), pins(matches=(Found(PIN),)))
    assert (same.coverage, same.judgement) == ("FULL", "VERIFIED")


def test_r9_matches_are_merged_by_first_occurrence() -> None:
    record = listed("2", "1")
    record["corpus"]["units"] = [http_unit("a"), http_unit("b")]
    first, second = walk("a", matches=(Found("2"),)), walk("b", matches=(Found("1"), Found("2")))
    assert verdict(record, first, second).judgement == "VERIFIED"
    assert verdict(record, second, first).judgement == "STALE"


REASON_SETS = [(), ("total_drift",), ("budget_exhausted", "page_loop")]
LOWERING = ["expired", "total_drift", "not_json"]
"""One reason of each effect."""
WALKS = [
    walk(ids=ids, ends=ends, reasons=reasons, matches=tuple(map(Found, found)), ids_only=ids_only)
    for ids in (IDS, ["1"], [*IDS, "4"], [])
    for ends in (("CURSOR_END",), ("EXHAUSTED",), ())
    for reasons in REASON_SETS
    for found in ((), ("1",), ("2", "1"), ("1", "2"))
    for ids_only in (True, False)
]
RECORDS = [over(http_unit()), listed("1"), listed("1", "2")]
TIMES = [NOW, "2031-01-01T00:00:00Z"]


def test_a_walk_that_saw_less_never_verifies_what_it_did_not() -> None:
    """The whole way, from walks: without its end, or with a reason more."""
    for record, now in itertools.product(map(receipt, RECORDS), TIMES):
        for whole in WALKS:
            told = judge(record, [whole], now)
            assert told == judge(record, [whole], now)
            if told.judgement == "VERIFIED":
                continue
            for less in (
                msgspec.structs.replace(whole, ends=()),
                *(msgspec.structs.replace(whole, reasons=(*whole.reasons, r)) for r in LOWERING),
            ):
                assert judge(record, [less], now).judgement != "VERIFIED"


def test_the_order_of_units_changes_no_verdict_on_an_absence() -> None:
    units = [http_unit(name) for name in "abc"]
    some = WALKS[:: len(WALKS) // 11]
    for walks in itertools.combinations(some, 3):
        told = set()
        for order in itertools.permutations(range(3)):
            record = over(*[units[n] for n in order])
            verdict = judge(receipt(record), [walks[n] for n in order], NOW)
            told.add(
                (verdict.judgement, verdict.coverage, frozenset(verdict.added), verdict.reasons)
            )
        assert len(told) == 1


def test_a_judge_needs_a_clock_that_shows_a_time() -> None:
    with pytest.raises(InputError):
        verdict(over(http_unit()), walk(), now="tomorrow")


def test_every_unit_has_its_traversal() -> None:
    with pytest.raises(ValueError, match="zip"):
        verdict(over(http_unit()), walk(), walk())


# --- what reproduces


def test_unknown_comes_again_as_no_end() -> None:
    assert reproduces_end(walk(ends=()), "UNKNOWN")
    assert not reproduces_end(walk(), "UNKNOWN")
    assert not reproduces_end(Traversal(unit="x"), "UNKNOWN")
    assert reproduces_end(walk(ends=("EXHAUSTED", "CURSOR_END")), "CURSOR_END")
    assert not reproduces_end(walk(), "EXHAUSTED")


def test_markers_come_again_only_from_pages() -> None:
    nothing = Traversal(unit="x")
    assert not reproduces_marker(nothing, "SET_HASH", "")
    assert not reproduces_marker(nothing, "ITEM_ID", "")
    assert not reproduces_marker(nothing, "CURSOR", "")
    assert not reproduces_marker(nothing, "NONE", "")
    assert reproduces_marker(walk(totals=("a=1", "total=3")), "TOTAL_COUNT", "total=3")
    assert not reproduces_marker(walk(totals=("total=4",)), "TOTAL_COUNT", "total=3")
