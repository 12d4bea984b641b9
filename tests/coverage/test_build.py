"""The builder: a receipt says what was seen and no more, and verifies as it claims."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.sources import NEEDLE, ORIGIN, Scripted, answer, items, to
from refold.coverage import REASONS, Built, build, plan_of, set_hash, validate, verify
from refold.coverage.claim import _LABELS
from refold.coverage.record import MAX_BLINDSPOTS
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.kernel.errors import InputError

NOW = "2030-01-01T00:00:00Z"
LATER = "2030-01-02T00:00:00Z"
Pages = list[list[int]]
FOUND = {"id": 9, "name": "needle"}


def unit(name: str = "u", path: str = "/items", **members: Any) -> dict[str, Any]:
    recipe = {"id": name, "kind": "HTTP_JSON", "url": ORIGIN + path, "arrayPath": "items"}
    return recipe | members


def desk(name: str = "desk") -> dict[str, Any]:
    return {"id": name, "kind": "MANUAL", "instructions": "Look into the drawer."}


def plan(*units: Any, **members: Any) -> dict[str, Any]:
    whole = {"question": "?", "criterion": NEEDLE, "units": list(units) or [unit()]}
    return whole | members


def built(transport: Scripted, value: Any = None, **options: Any) -> Built:
    made = build(plan_of(value or plan()), transport, NOW, **options)
    assert validate(made.data, made.receipt.corpus.as_of).receipt == made.receipt
    return made


def one_page(body: Any, status: int = 200) -> Scripted:
    return Scripted(lambda ask: answer(ask.url, body, status))


def in_passes(*passes: Pages, named: tuple[int, ...] = ()) -> Scripted:
    """Give a list in pages joined by links, whose rows are those of each pass in turn.

    A pass is begun by the second question for the first page: the first pass of a list of several
    pages ends with such a one.
    """

    def reply(ask: Ask) -> Answer | Failure:
        number = int(ask.url.partition("n=")[2] or 0)
        turn["at"] += ask.url.endswith("/items")
        several = len(passes[0]) > 1
        shown = passes[min((turn["at"] - 1) // (2 if several else 1), len(passes) - 1)]
        rows = shown[number] if number < len(shown) else []
        page = [{"id": n, "name": "needle" if n in named else f"item-{n}"} for n in rows]
        following = to(f"/items?n={number + 1}") if number + 1 < len(shown) else {}
        return answer(ask.url, {"items": page}, headers=following)

    turn = {"at": 0}
    return Scripted(reply)


rows = st.lists(st.integers(0, 30), max_size=6, unique=True)
lists = rows.flatmap(
    lambda ids: st.lists(st.integers(0, len(ids)), max_size=3).map(
        lambda cuts: [
            ids[start:end]
            for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(ids)], strict=True)
        ]
    )
)


@given(pages=lists, named=st.sets(st.integers(0, 30), max_size=2))
def test_what_is_built_of_a_source_at_rest_verifies_as_it_claims(
    pages: Pages, named: set[int]
) -> None:
    made = built(in_passes(pages, named=tuple(named)))
    ids = [n for page in pages for n in page]
    matching = [str(n) for n in ids if n in named]
    assert made.receipt.claim == ("PRESENT" if matching else "ABSENT")
    assert [match.id for match in made.receipt.result.matches] == matching
    if not matching:
        label = "no_match_in_full_coverage" if ids else "all_sources_empty"
        assert made.receipt.justification == label
    [boundary] = [each.boundary for each in made.receipt.corpus.units]
    assert (boundary.observed, boundary.end_marker) == (len(ids), set_hash(map(str, ids)))
    again = verify(made.data, in_passes(pages, named=tuple(named)), LATER)
    assert (again.judgement, again.coverage) == ("VERIFIED", "FULL")
    assert again.units[0].drift == "unit_unchanged"
    assert made.report.judgement == "VERIFIED"


@given(first=lists, second=lists)
def test_a_source_that_changes_between_the_passes_never_gives_absence(
    first: Pages, second: Pages
) -> None:
    made = built(in_passes(first, second))
    before, after = (sorted(n for page in pages for n in page) for pages in (first, second))
    if before == after:
        assert made.receipt.claim == "ABSENT"
    else:
        assert made.receipt.claim == "INCONCLUSIVE"
        assert made.receipt.justification == "source_inconsistent"


def test_what_only_the_second_pass_finds_is_present() -> None:
    waits: list[None] = []
    made = built(in_passes([[1]], [[1, 9]], named=(9,)), settle=lambda: waits.append(None))
    assert (made.receipt.claim, len(waits)) == ("PRESENT", 1)
    assert made.receipt.corpus.units[0].boundary.observed == 2


def test_a_find_beside_an_item_that_cannot_be_read_is_written_down() -> None:
    made = built(one_page({"items": [FOUND, {"no": "id"}]}))
    assert (made.receipt.claim, made.report.judgement) == ("PRESENT", "INCONCLUSIVE")
    assert made.receipt.corpus.units[0].boundary.observed == 1
    assert "item_without_id" in made.receipt.blindspots[-1].why


@pytest.mark.parametrize(
    ("transport", "label"),
    [
        (Scripted(lambda ask: Failure(ask.url, "connect-failed", "no")), "source_unreachable"),
        (Scripted(lambda ask: Failure(ask.url, "too-slow", "no")), "budget_exhausted"),
        (one_page({}, 401), "access_restricted"),
        (one_page({}, 403), "access_restricted"),
        (one_page({}, 404), "source_unreachable"),
        (one_page({"items": items(1), "partial": True}), "source_truncated"),
        (one_page({"items": items(1), "total": 7}), "source_truncated"),
        (one_page({"items": items(1, 2, 1)}), "source_inconsistent"),
        (one_page({"items": items(*range(10))}), "termination_not_proven"),
        (one_page({"items": [{"id": 1, "title": "needle"}]}), "under_investigation"),
    ],
)
def test_absence_is_refused_for_a_reason(transport: Scripted, label: str) -> None:
    made = built(transport)
    assert (made.receipt.claim, made.receipt.justification) == ("INCONCLUSIVE", label)
    assert made.receipt.result.matches == ()
    [reason] = made.open_reasons
    assert reason.startswith("unit u is ")
    [spot] = made.receipt.blindspots
    assert spot.what == "unit u"
    assert made.report.judgement == "INCONCLUSIVE"


def test_what_only_a_person_can_look_at() -> None:
    made = built(one_page({}), plan(desk()))
    assert made.receipt.justification == "manual_source_only"
    assert made.open_reasons == ("unit desk is PARTIAL: only a person can look",)


def test_absence_in_a_part_is_claimed_only_on_demand() -> None:
    def source() -> Scripted:
        return one_page({"items": items(1, 2)})

    both = (unit(), desk())
    assert built(source(), plan(*both)).receipt.claim == "INCONCLUSIVE"
    part = built(source(), plan(*both, subset=True)).receipt
    assert (part.claim, part.justification) == ("ABSENT", "no_match_in_declared_subset")
    whole = built(source(), plan(unit(), subset=True)).receipt
    assert whole.justification == "no_match_in_full_coverage"
    round_number = one_page({"items": items(*range(10))})
    endless = built(round_number, plan(unit(), subset=True)).receipt
    assert (endless.claim, endless.corpus.units[0].boundary.termination) == ("ABSENT", "UNKNOWN")
    for lying in (
        one_page({"items": items(1), "truncated": True}),
        one_page({"items": items(1, 1)}),
        one_page({}, 500),
        one_page({"items": None}),
    ):
        assert built(lying, plan(*both, subset=True)).receipt.claim == "INCONCLUSIVE"
    only_desks = built(source(), plan(desk("a"), desk("b"), subset=True)).receipt
    assert only_desks.claim == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("url", "body", "end", "kind", "marker"),
    [
        ("/items", {"items": items(1, 2)}, "SINGLE_PAGE", "SET_HASH", set_hash(["1", "2"])),
        (
            "/items?limit=50",
            {"items": items(1, 2), "total": 2},
            *("COUNT_MATCHED", "TOTAL_COUNT", "total=2"),
        ),
        (
            "/items?limit=50",
            {"items": items(1, 2), "total": 2, "has_more": False},
            *("SINGLE_PAGE", "SET_HASH", set_hash(["1", "2"])),
        ),
    ],
)
def test_the_strongest_marker_is_taken(
    url: str, body: Any, end: str, kind: str, marker: str
) -> None:
    made = built(one_page(body), plan(unit(path=url)))
    boundary = made.receipt.corpus.units[0].boundary
    assert made.receipt.claim == "ABSENT"
    assert (boundary.termination, boundary.end_marker_kind) == (end, kind)
    assert boundary.end_marker == marker
    assert verify(made.data, one_page(body), LATER).judgement == "VERIFIED"


def test_a_match_in_a_list_is_a_blindspot_as_it_has_no_digest() -> None:
    made = built(one_page({"items": [FOUND]}))
    [match], [spot] = made.receipt.result.matches, made.receipt.blindspots
    assert match.digest is None
    assert "raw bytes" in spot.what


def test_a_find_beside_a_unit_that_cannot_be_read() -> None:
    def reply(ask: Ask) -> Answer | Failure:
        body = {"items": [FOUND]} if ask.url.endswith("/items") else {"rows": []}
        return answer(ask.url, body)

    made = built(Scripted(reply), plan(unit(), unit("gone", "/gone")))
    assert (made.receipt.claim, made.report.judgement) == ("PRESENT", "INCONCLUSIVE")
    assert [spot.what for spot in made.receipt.blindspots][1:] == ["unit gone"]
    assert made.open_reasons == ()


@given(count=st.integers(1, 40), own=st.integers(0, 6))
def test_blindspots_never_outgrow_a_record(count: int, own: int) -> None:
    spots = [{"what": f"{n}", "why": "because"} for n in range(own)]
    units = [desk(f"desk {n}") for n in range(count)]
    made = built(one_page({"items": [FOUND]}), plan(unit(), *units, blindspots=spots))
    assert len(made.receipt.blindspots) == min(own + 1 + count, MAX_BLINDSPOTS)
    if own + 1 + count > MAX_BLINDSPOTS:
        assert made.receipt.blindspots[-1].what.endswith(" more units")


@pytest.mark.parametrize(
    "rows_",
    [
        [{"id": "x" * 257, "name": "needle"}],
        [{"id": f"{n}-{'x' * 200}", "name": "needle"} for n in range(6_000)],
        [{"id": "\ud7ff\ue000" * 100, "name": "needle"}, {"id": "y" * 300, "name": "needle"}],
    ],
    ids=["an id too long", "more than 1 MiB", "some of each"],
)
def test_what_has_no_place_in_a_record_is_no_receipt(rows_: Any) -> None:
    with pytest.raises(InputError) as caught:
        built(one_page({"items": rows_}))
    assert {error.code for error in caught.value.errors} == {"receipt-impossible"}


def test_every_reason_that_lowers_coverage_has_a_label() -> None:
    """What no label names leaves the question under investigation, or its end not proved."""
    named = set[str]().union(*(signs for _, signs in _LABELS))
    open_ones = {"doc_unparsable", "criterion_field_never_seen", "starts_midway"}
    open_ones |= {"termination_not_proven", "round_count_without_end_signal"}
    lowering = {reason.id for reason in REASONS.values() if reason.effect != "NOTE"}
    assert named | open_ones == lowering
    assert named & open_ones == set()


def counted(*pages: int, **members: Any) -> tuple[Scripted, dict[str, Any]]:
    """Give a source that counts its pages of so many rows, and a plan for it."""

    def reply(ask: Ask) -> Answer | Failure:
        number = int(ask.url.partition("page=")[2])
        size = pages[number - 1] if number <= len(pages) else 0
        return answer(ask.url, {"items": items(*range(number * 100, number * 100 + size))})

    return Scripted(reply), plan(unit(path="/items?page=1", pagesBy="page") | members)


@given(pages=st.lists(st.integers(1, 5), max_size=12))
def test_pages_without_links_are_counted_to_the_first_empty_one(pages: list[int]) -> None:
    transport, value = counted(*pages)
    made = built(transport, value)
    assert len(made.receipt.corpus.units) == len(pages) + 1
    if pages:
        assert made.receipt.claim == "ABSENT"
        again = verify(made.data, counted(*pages)[0], LATER)
        assert (again.judgement, again.coverage) == ("VERIFIED", "FULL")


def test_more_pages_than_a_record_has_units_are_no_absence() -> None:
    transport, value = counted(*[1] * 70)
    made = built(transport, value)
    assert len(made.receipt.corpus.units) == 64
    assert (made.receipt.claim, made.receipt.justification) == (
        "INCONCLUSIVE",
        "termination_not_proven",
    )


def test_pages_that_fail_end_the_counting() -> None:
    transport = Scripted(lambda ask: Failure(ask.url, "connect-failed", "no"))
    made = built(transport, counted()[1])
    assert [unit.id for unit in made.receipt.corpus.units] == ["u page=1"]
    assert made.receipt.justification == "source_unreachable"
