"""C-22, C-23 and the mode of Y-12: total, free of order, and never better for one source more."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage.receipts import DIGEST, changed, codes, consensus, errors, example, source
from refold.coverage.consensus import Observation, mode_of, normal_operator
from refold.coverage.record import MAX_OPERATOR
from refold.coverage.urls import normal_locator

OTHER = "ef" * 32
SOURCE = "/consensus/sourceSet/0"
SECOND = "/consensus/sourceSet/1"


# --- C-22


@pytest.mark.parametrize("member", ["mode", "epoch", "epochBasis", "sourceSet"])
def test_c22_the_block_has_all_four_members(member: str) -> None:
    place = f"/consensus/{member}"
    told = errors(changed(consensus(), place, ...))
    assert told == [(place, "E_CONSENSUS_FIELDS"), (place, "E_MISSING_FIELD")]


@pytest.mark.parametrize("note", [..., "", " \t"])
def test_c22_declared_needs_a_note(note: Any) -> None:
    record = changed(consensus(), "/consensus/epochBasis", "DECLARED")
    assert errors(record | {"note": "one week"}) == []
    record = record if note is ... else record | {"note": note}
    assert errors(record) == [("/note", "E_CONSENSUS_FIELDS")]


@pytest.mark.parametrize(("epoch", "passes"), [("0", True), ("191702", True), ("", False)])
def test_c22_a_block_height_is_digits(epoch: str, passes: bool) -> None:
    record = changed(consensus(), "/consensus/epochBasis", "BLOCK_HEIGHT")
    assert (codes(changed(record, "/consensus/epoch", epoch)) == set()) is passes
    for wrong in ("2030-01-02", "-1", "1.0", "٣", " 1", "0x1"):
        told = errors(changed(record, "/consensus/epoch", wrong))
        assert told == [("/consensus/epoch", "E_CONSENSUS_FIELDS")]


# --- C-23: epochs


@pytest.mark.parametrize(
    ("basis", "epoch", "passes"),
    [
        ("UTC_DAY", "2030-01-02", True),
        ("UTC_DAY", "2030-01-03", False),
        ("UTC_DAY", "2030-01-02T03", False),
        ("UTC_DAY", "2030-01-2", False),
        ("UTC_HOUR", "2030-01-02T03", True),
        ("UTC_HOUR", "2030-01-02T02", False),
        ("UTC_HOUR", "2030-01-02", False),
        ("BLOCK_HEIGHT", "7", True),
    ],
)
def test_c23_every_source_was_observed_in_the_epoch(basis: str, epoch: str, passes: bool) -> None:
    record = changed(consensus(), "/consensus/epochBasis", basis)
    told = errors(changed(record, "/consensus/epoch", epoch))
    places = [f"{place}/observedAt" for place in (SOURCE, SECOND)]
    assert told == ([] if passes else [(place, "E_SOURCE_EPOCH") for place in places])


@pytest.mark.parametrize(
    ("at", "passes"),
    [
        ("2030-01-02T03:09:05Z", True),
        ("2030-01-02T03:09:06Z", False),
        ("2030-01-02T00:00:00Z", True),
    ],
)
def test_c23_no_source_was_observed_after_as_of(at: str, passes: bool) -> None:
    told = errors(changed(consensus(), f"{SOURCE}/observedAt", at))
    assert told == ([] if passes else [(f"{SOURCE}/observedAt", "E_SOURCE_EPOCH")])


@pytest.mark.parametrize("at", ["2030-02-30T00:00:00Z", "2030-01-02T03:00:00.5Z", ""])
def test_c23_a_source_has_a_time(at: str) -> None:
    told = errors(changed(consensus(), f"{SOURCE}/observedAt", at))
    assert (f"{SOURCE}/observedAt", "E_TIME_FORMAT") in told


# --- C-23: locators, roles, digests


@pytest.mark.parametrize(
    "locator",
    [
        *("https://c.test", "https://C.test", "https://c.test/", "https://c.test:443"),
        *("https://bücher.test", "https://xn--bcher-kva.test", "https://c.test."),
        "https://192.0.2.1",
    ],
)
def test_c23_remote_locators(locator: str) -> None:
    assert errors(changed(consensus(), f"{SOURCE}/locator", locator)) == []


@pytest.mark.parametrize(
    "locator",
    [
        *("", "c.test", "http://c.test", "https://", "https://c.test/x", "https://c.test?x"),
        *("https://me@c.test", "https://c.test:8443", "https://c.test#", "https://c..test"),
        *("https://c.test//", "https://" + "a" * 64 + ".test", "file:///etc/passwd", "https:// c"),
    ],
)
def test_c23_what_is_no_locator(locator: str) -> None:
    told = errors(changed(consensus(), f"{SOURCE}/locator", locator))
    assert told == [(f"{SOURCE}/locator", "E_SOURCE_LOCATOR")]


@pytest.mark.parametrize(
    ("label", "passes"),
    [
        ("a", True),
        ("0.copy_of-x", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("", False),
        ("A", False),
        ("-a", False),
        ("a/b", False),
        ("../etc", False),
        ("a b", False),
    ],
)
def test_c23_labels_of_local_copies(label: str, passes: bool) -> None:
    copy = source(operator="Bolt", role="LOCAL_COPY", locator=f"local:{label}")
    told = errors(consensus(source(), copy, mode="SELF_CHECK"))
    assert told == ([] if passes else [(f"{SECOND}/locator", "E_SOURCE_LOCATOR")])


@pytest.mark.parametrize("role", ["THIRD_PARTY", "SELF_OPERATED", "LOCAL_COPY"])
@pytest.mark.parametrize("locator", ["local:copy", "https://c.test"])
def test_c23_local_and_local_copy_go_together(role: str, locator: str) -> None:
    told = errors(consensus(source(role=role, locator=locator), mode="SINGLE"))
    fits = (role == "LOCAL_COPY") == locator.startswith("local:")
    assert told == ([] if fits else [(f"{SOURCE}/role", "E_SOURCE_ROLE")])


@pytest.mark.parametrize("outcome", ["OBSERVED", "PARTIAL", "UNREACHABLE"])
@pytest.mark.parametrize("digest", ["", DIGEST, DIGEST.upper(), DIGEST[1:]])
def test_c23_an_observed_source_has_a_digest_and_no_other(outcome: str, digest: str) -> None:
    told = errors(consensus(source(outcome=outcome, setDigest=digest), mode="SINGLE"))
    fits = digest == (DIGEST if outcome == "OBSERVED" else "")
    assert told == ([] if fits else [(f"{SOURCE}/setDigest", "E_SOURCE_DIGEST")])


# --- C-23: identities (E3)


@pytest.mark.parametrize(
    ("first", "second", "passes"),
    [
        (("Acme", "https://a.test"), ("Bolt", "https://b.test"), True),
        (("Acme", "https://a.test"), ("ACME ", "https://A.test/"), False),
        (("Acme", "https://a.test"), ("Bolt", "https://a.test"), False),
        (("Acme", "https://a.test"), ("Bolt", "https://a.test:443"), False),
        (("Acme", "https://a.test"), ("Bolt", "https://a.test."), False),
        (("Acme", "https://bücher.test"), ("Bolt", "https://xn--bcher-kva.test"), False),
        (("Acme", "https://BÜCHER.test"), ("Bolt", "https://bücher.test"), False),
        (("Acme", "https://straße.test"), ("Bolt", "https://strasse.test"), False),
        (("Acme", "https://a。test"), ("Bolt", "https://a.test"), False),
    ],
)
def test_c23_no_source_stands_twice(
    first: tuple[str, str], second: tuple[str, str], passes: bool
) -> None:
    sources = [source(operator=operator, locator=locator) for operator, locator in (first, second)]
    told = errors(consensus(*sources))
    told = [each for each in told if each[1] != "E_CONSENSUS_MODE"]
    assert told == ([] if passes else [(SECOND, "E_DUPLICATE_SOURCE")])


def test_c23_two_hosts_of_one_operator_are_two_sources() -> None:
    sources = [source(), source(locator="https://b.test", operator="ＡＣＭＥ")]
    assert errors(consensus(*sources, mode="SELF_CHECK")) == []
    assert errors(consensus(*sources)) == [("/consensus/mode", "E_CONSENSUS_MODE")]


def test_c23_a_label_stands_once_too() -> None:
    copies = [source(operator=name, role="LOCAL_COPY", locator="local:x") for name in "ab"]
    assert errors(consensus(*copies, mode="SELF_CHECK")) == [(SECOND, "E_DUPLICATE_SOURCE")]


@given(st.text(max_size=MAX_OPERATOR))
def test_an_operators_name_is_compared_without_case_width_and_spaces(name: str) -> None:
    once = normal_operator(name)
    assert normal_operator(once) == once
    assert normal_operator(f"  {name}\t") == once
    assert "  " not in once


@given(st.text(max_size=80))
def test_a_locators_normal_form_is_one_and_stays(text: str) -> None:
    once = normal_locator(f"https://{text}")
    assert normal_locator(once) == once if once else True
    assert once == once.lower()


# --- the mode

MODES = ("SINGLE", "SELF_CHECK", "AGREE", "INCOMPARABLE", "SPLIT")
KINDS = [
    Observation(operator, role, outcome, frame, digest)
    for operator in ("a", "b")
    for role in ("THIRD_PARTY", "SELF_OPERATED", "LOCAL_COPY")
    for outcome in ("OBSERVED", "UNREACHABLE")
    for frame in ("SEEN_SET", "MATCH_LIST")
    for digest in ("1", "2")
]


def plain_mode(sources: Iterable[Observation]) -> str:
    """Y-12 once more, by its text: pairs instead of groups."""
    seen = [each for each in sources if each.outcome == "OBSERVED"]
    if len(seen) < 2:
        return "SINGLE"
    aligned = [(x, y) for x, y in itertools.combinations(seen, 2) if x.frame == y.frame]
    if not aligned:
        return "INCOMPARABLE"
    for x, y in aligned:
        if x.digest != y.digest:
            return "SPLIT"
    for x, y in aligned:
        if x.role == y.role == "THIRD_PARTY" and x.operator != y.operator:
            return "AGREE"
    return "SELF_CHECK"


def sets(size: int) -> Iterator[tuple[Observation, ...]]:
    return itertools.combinations_with_replacement(KINDS, size)


def test_every_set_of_sources_has_one_mode_in_any_order() -> None:
    counted = 0
    for size in range(4):
        for chosen in sets(size):
            counted += 1
            mode = mode_of(chosen)
            assert mode in MODES
            assert mode == plain_mode(chosen)
            assert mode == mode_of(reversed(chosen))
    assert counted > 20_000


def test_the_order_of_three_sources_changes_nothing() -> None:
    for chosen in itertools.islice(sets(3), 0, None, 7):
        assert len({mode_of(order) for order in itertools.permutations(chosen)}) == 1


def test_one_source_more_hides_no_disagreement_and_breaks_no_agreement_but_by_one() -> None:
    for size in (2, 3):
        for chosen in itertools.islice(sets(size), 0, None, 1 if size == 2 else 11):
            mode = mode_of(chosen)
            after = {mode_of((*chosen, more)) for more in KINDS}
            if mode == "SPLIT":
                assert after == {"SPLIT"}
            if mode == "AGREE":
                assert after <= {"AGREE", "SPLIT"}


def test_copies_and_own_servers_never_make_third_parties() -> None:
    for chosen in sets(3):
        others = sum(each.role == "THIRD_PARTY" for each in chosen)
        if others < 2:
            assert mode_of(chosen) != "AGREE"


@pytest.mark.parametrize(
    ("sources", "mode"),
    [
        ([source()], "SINGLE"),
        ([source(), source(operator="b", locator="https://b.test")], "AGREE"),
        ([source(), source(locator="https://b.test")], "SELF_CHECK"),
        ([source(), source(operator="b", role="LOCAL_COPY", locator="local:b")], "SELF_CHECK"),
        (
            [source(), source(operator="b", role="SELF_OPERATED", locator="https://b.test")],
            "SELF_CHECK",
        ),
        (
            [source(), source(operator="b", locator="https://b.test", digestFrame="RAW_BYTES")],
            "INCOMPARABLE",
        ),
        ([source(), source(operator="b", locator="https://b.test", setDigest=OTHER)], "SPLIT"),
        (
            [
                source(),
                source(operator="b", locator="https://b.test", setDigest=OTHER),
                source(operator="c", locator="https://c.test", digestFrame="MATCH_LIST"),
            ],
            "SPLIT",
        ),
        (
            [
                source(),
                source(operator="b", locator="https://b.test", outcome="UNREACHABLE", setDigest=""),
            ],
            "SINGLE",
        ),
        ([source(outcome="PARTIAL", setDigest="")], "SINGLE"),
    ],
)
def test_c23_the_mode_recomputes(sources: list[Any], mode: str) -> None:
    for written in MODES:
        told = errors(consensus(*sources, mode=written))
        assert told == ([] if written == mode else [("/consensus/mode", "E_CONSENSUS_MODE")])


def test_the_block_takes_no_part_in_any_hash_but_the_receipts() -> None:
    assert errors(consensus()) == errors(example()) == []
    assert consensus()["result"] == example()["result"]
