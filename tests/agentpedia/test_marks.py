"""Association marks: what suggests that two editors are one, and that it counts for nothing."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.wiki import NO_WAR, Wiki, wikis
from refold.agentpedia import DEPLOYED, PRD
from refold.agentpedia.corpus import Corpus
from refold.agentpedia.marks import MAX_EVIDENCE, MIN_TURNS, Mark, association_marks
from refold.agentpedia.state import Register, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from refold.agentpedia import Rules

both_profiles = pytest.mark.parametrize("rules", [PRD, DEPLOYED], ids=lambda rules: rules.name)


def marks(wiki: Wiki) -> list[Mark]:
    return association_marks(Corpus(wiki.view().state, wiki.events), wiki.events)


# --- the same stake ------------------------------------------------------------------------------


@both_profiles
def test_two_applicants_who_name_one_stake_are_marked_accepted_or_not(rules: Rules) -> None:
    """`prd` refuses the second register for it, `deployed` takes it: the mark is the same."""
    wiki = Wiki(rules)
    target = wiki.create("E1", "a", "first")
    one = wiki.register("X1", target, "t1")
    wiki.register("X3", target, "t2")
    two = wiki.register("X2", target, "t1")
    assert (wiki.refusal is not None) == (rules is PRD)
    assert marks(wiki) == [Mark("same-stake", ["X1", "X2"], 2, [one, two])]


@both_profiles
def test_one_applicant_may_name_his_stake_again(rules: Rules) -> None:
    wiki = Wiki(rules)
    target = wiki.create("E1", "a", "first")
    wiki.register("X1", target, "t1")
    wiki.register("X1", target, "t1")
    assert marks(wiki) == []


@both_profiles
def test_registers_refused_for_something_else_make_no_mark(rules: Rules) -> None:
    wiki = Wiki(rules)
    target = wiki.create("E1", "a", "first")
    wiki.register("X1", target, "t1")
    stake = {"txid": "t1", "amountSat": 100}
    wiki.pin(
        "/protocols/agentpedia/editor",
        "X2",
        {"action": "register", "editor": "X2", "challengePin": "none", "stake": stake},
    )
    assert wiki.refusal is not None
    assert marks(wiki) == []


# --- endorsement rings ---------------------------------------------------------------------------


@both_profiles
def test_editors_who_endorse_each_other_are_a_ring(rules: Rules) -> None:
    """Founders who register as well can be endorsed by each other; those outside are not marked."""
    wiki = Wiki(rules)
    target = wiki.create("E6", "a", "first")
    pins = {name: wiki.register(name, target, f"t-{name}") for name in ("E1", "E2", "E3", "X1")}
    for endorser, name in (("E1", "E2"), ("E2", "E3"), ("E3", "E1"), ("E1", "X1"), ("E4", "E1")):
        wiki.endorse(endorser, name, pins[name])
        assert wiki.refusal is None
    ring = Mark("endorsement-ring", ["E1", "E2", "E3"], 3, [pins[n] for n in ("E1", "E2", "E3")])
    assert marks(wiki) == [ring]


def rings(edges: list[tuple[str, str]]) -> list[list[str]]:
    """Finds the rings of a graph of endorsements, put into a state."""
    state = State(PRD, Wiki().fold.state.options)
    for number, (endorser, name) in enumerate(edges):
        register = Register(f"p{number}", name, 1, None, 100, [endorser])
        state.registers[register.pin] = register
    return [mark.editors for mark in association_marks(Corpus(state, []), [])]


NAMES = st.sampled_from("ABCDEFG")
EDGES = st.lists(
    st.tuples(NAMES, NAMES).filter(lambda edge: edge[0] != edge[1]), max_size=14, unique=True
)


@given(EDGES)
def test_rings_are_the_editors_who_reach_each_other(edges: list[tuple[str, str]]) -> None:
    reach = {name: {other for one, other in edges if one == name} for name in "ABCDEFG"}
    for _ in reach:  # paths of up to seven steps
        for name, others in reach.items():
            reach[name] = others.union(*(reach[other] for other in others))
    expected = {
        tuple(sorted(other for other in reach[name] if name in reach[other]))
        for name in reach
        if name in reach[name]
    }
    assert rings(edges) == sorted(map(list, expected))


def test_long_chains_of_endorsements_are_followed_without_recursion() -> None:
    chain = [(f"N{number}", f"N{number + 1}") for number in range(20_000)]
    assert rings(chain) == []
    ((*ring,),) = rings([*chain, ("N20000", "N0")])
    assert len(ring) == 20_001


# --- alternating edits ---------------------------------------------------------------------------


@both_profiles
def test_editors_who_take_turns_on_an_entry_within_one_block_are_marked(rules: Rules) -> None:
    wiki = Wiki(rules)
    first = wiki.create("E1", "a", "first")
    turns = [wiki.write("E2", "a", "2"), wiki.revert("E1", "a", first)]
    assert marks(wiki) == []
    turns.append(wiki.redirect("E2", "a", "a") if rules is DEPLOYED else wiki.write("E2", "a", "4"))
    assert marks(wiki) == [Mark("alternating-edits", ["E1", "E2"], MIN_TURNS, turns)]


def test_turns_add_up_over_blocks_and_entries() -> None:
    wiki = Wiki(params=NO_WAR)
    turns = []
    for slug in ("a", "b", "c"):
        wiki.create("E2", slug, "first")
        turns.append(wiki.write("E1", slug, "second"))
        wiki.wait(1)
    assert marks(wiki) == [Mark("alternating-edits", ["E1", "E2"], 3, turns)]


def test_turns_in_different_blocks_or_of_different_entries_or_with_another_are_none() -> None:
    wiki = Wiki(params=NO_WAR)
    for slug, author in (("a", "E2"), ("b", "E1"), ("c", "E2"), ("d", "E1"), ("e", "E2")):
        wiki.create(author, slug, "one block, five entries")
    for author in ("E1", "E2", "E1", "E2"):
        wiki.wait(1)
        wiki.write(author, "a", "one entry, four blocks")
    wiki.wait(1)
    for author in ("E1", "E3", "E4", "E2"):
        wiki.write(author, "a", "one block, four editors")
    wiki.wait(1)
    for _ in range(4):
        wiki.write("E1", "a", "one editor")
    assert marks(wiki) == []


def test_a_refused_rev_is_no_turn() -> None:
    wiki = Wiki()
    wiki.create("E1", "a", "first")
    for author in ("X1", "E1", "X1", "E1", "X1"):
        wiki.write(author, "a", "more")
    assert marks(wiki) == []


def test_evidence_is_cut_and_the_count_is_not() -> None:
    wiki = Wiki(params=NO_WAR)
    wiki.create("E1", "a", "first")
    for number in range(50):
        wiki.write("E1" if number % 2 else "E2", "a", f"{number}")
    (mark,) = marks(wiki)
    assert (mark.count, len(mark.evidence)) == (50, MAX_EVIDENCE)


# --- what marks are, and are not -----------------------------------------------------------------


@given(wikis(st.sampled_from([PRD, DEPLOYED])), st.randoms(use_true_random=False))
def test_the_order_of_the_events_does_not_matter(wiki: Wiki, random: object) -> None:
    shuffled = list(wiki.events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert association_marks(Corpus(wiki.view().state, shuffled), shuffled) == marks(wiki)


@both_profiles
def test_a_mark_merges_no_counter(rules: Rules) -> None:
    """Two marked editors keep a rate each: only the operator's alias table would merge them."""
    wiki = Wiki(rules, {**NO_WAR, "ratePerSlugDaily": 3})
    wiki.create("E1", "a", "first")
    for author in ("E2", "E1", "E2", "E1", "E2"):
        wiki.write(author, "a", "more")
        assert wiki.refusal is None
    assert [mark.editors for mark in marks(wiki)] == [["E1", "E2"]]
    rates = wiki.fold.state.rates
    assert (rates["E1"].total, rates["E2"].total) == (3, 3)
    assert wiki.fold.state.roots == {}


def seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("shape", ["star", "chain", "one block"])
def test_marks_are_near_linear(shape: str) -> None:
    """Sixteen times the graph takes about sixteen times as long; quadratic would be 256 times."""

    def work(size: int) -> Callable[[], object]:
        if shape == "star":
            return partial(rings, [("A", f"N{n}") for n in range(size)])
        if shape == "chain":
            return partial(rings, [(f"N{n}", f"N{n + 1}") for n in range(size)])
        wiki = Wiki(DEPLOYED, NO_WAR)
        wiki.create("E1", "a", "first")
        for number in range(size):
            wiki.write(f"E{number % 5 + 1}", "a", "more")
        return partial(marks, wiki)

    assert seconds(work(8000)) < 64 * seconds(work(500))
