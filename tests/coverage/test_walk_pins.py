"""Walks over pins against the local chain, whatever its indexer does: the chain, or a reason.

Full coverage means that every pin was seen, with the bytes that were pinned; what is wrong with an
indexer must not look like absence.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaid.worlds import PATH, World, populate, world
from refold.coverage.hashes import set_hash
from refold.coverage.match import compile_criterion
from refold.coverage.record import Dedupe, Fetch, MvcPins
from refold.coverage.transport.live import Live
from refold.coverage.unit import Traversal
from refold.coverage.walk.drive import walk_source
from refold.coverage.walk.walked import Listed
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.quirks import switches

ENDPOINT = "https://man.example.test"
EVERY = {"match": {"field": "chain.id", "op": "exists", "value": True}}
SEVENTH = {"match": {"field": "doc.n", "op": "eq", "value": 1}}


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world() as made:
        made.ids = populate(made, blocks=5)
        yield made


@pytest.fixture(autouse=True)
def _calm(here: World) -> Iterator[None]:
    yield
    here.net.faults()
    here.net.quirks("clean")


def walk(
    here: World,
    canon: dict[str, Any] = EVERY,
    *,
    size: int = 17,
    fetch: Fetch = "LIST_PLUS_DETAIL",
    dedupe: Dedupe = "ID_MULTISET",
    only: dict[str, str] | None = None,
) -> Traversal:
    """Walk the revisions under the address at which they are served."""
    recipe = MvcPins(here.url, PATH, size, fetch, dedupe, only or {})
    criterion = compile_criterion(canon)
    return walk_source(Listed("pins", recipe), criterion, Live(here.transport)).traversal


def true_ids(here: World, *, history: bool = True) -> set[str]:
    """Give the ids that lists stand for: those at the path, and the modifies shown on them."""
    quirks = here.net.quirks()
    pins = [*here.net.pins(PATH), *(here.net.waiting(PATH) if quirks.mempool_rows else ())]
    ids = {pin.id for pin in pins}
    if quirks.modify != "never" and history:
        ids |= {
            pin.id
            for pin in here.net.pins()
            if pin.path.startswith("@")
            and pin.pin.envelope.operation == "modify"
            and (quirks.modify == "anyone" or pin.author in authors(here, pin.path[1:]))
        }
    return ids


def authors(here: World, pin_id: str) -> set[str]:
    return {pin.author for pin in here.net.pins() if pin.id == pin_id}


def digests(here: World) -> dict[str, str]:
    pins = [*here.net.pins(), *here.net.waiting()]
    return {pin.id: sha256(pin.body).hexdigest() for pin in pins}


@pytest.mark.parametrize("profile", ["clean", "man-v2", "man-p2p"])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_every_profile_gives_the_chain(here: World, profile: Any, size: int) -> None:
    here.net.quirks(profile)
    seen = walk(here, size=size)
    truth = true_ids(here)
    assert seen.reasons == ()
    assert seen.ends == (("CURSOR_END",) if profile == "clean" else ("EXHAUSTED",))
    assert {found.id for found in seen.matches} == truth
    assert (seen.set_hash, seen.distinct) == (set_hash(truth), len(truth))
    wanted = digests(here)
    assert {found.id: found.digest for found in seen.matches} == {
        found.id: wanted[found.id] for found in seen.matches
    }
    assert seen.status_counts is not None
    assert sum(seen.status_counts.values()) == seen.rows
    assert seen.lasting
    assert seen.ids_only


@pytest.mark.parametrize("profile", ["clean", "man-v2", "man-p2p"])
def test_blocks_are_those_of_each_pin(here: World, profile: Any) -> None:
    here.net.quirks(profile)
    times = {pin.id: pin.time for pin in here.net.pins()}
    for found in walk(here).matches:
        assert found.block_time == times.get(found.id)
    for found in walk(here, fetch="LIST_ONLY").matches:
        assert found.block_time in {None, times.get(found.id)}
        assert found.digest is None


def test_a_history_counts_unless_the_recipe_says_otherwise(here: World) -> None:
    here.net.quirks("man-v2")
    assert {found.id for found in walk(here, dedupe="NONE").matches} == true_ids(
        here, history=False
    )
    assert walk(here, dedupe="NONE").distinct < walk(here).distinct


def test_a_list_alone_asks_for_no_details(here: World) -> None:
    here.net.quirks("man-v2")
    alone, with_details = walk(here, fetch="LIST_ONLY"), walk(here)
    assert alone.requests == alone.pages
    assert with_details.requests == with_details.pages + with_details.distinct
    assert alone.set_hash == with_details.set_hash


def test_details_are_asked_for_where_they_can_tell_something(here: World) -> None:
    missing = {"match": {"field": "chain.operation", "op": "eq", "value": "revoke"}}
    seen = walk(here, missing)
    assert (seen.requests, seen.reasons, seen.matches) == (seen.pages, (), ())


def test_a_criterion_on_bodies_reads_what_was_pinned_first(here: World) -> None:
    here.net.quirks("man-v2")
    seen = walk(here, SEVENTH)
    plain = {pin.id for pin in here.net.pins(PATH) if pin.body.strip() == b'{"n":1}'}
    plain |= {pin.id for pin in here.net.waiting(PATH) if pin.body.strip() == b'{"n":1}'}
    assert {found.id for found in seen.matches} == plain
    assert seen.reasons == ("doc_unparsable",)  # most bodies of this chain are no JSON


def test_a_filter_is_applied_here(here: World) -> None:
    here.net.quirks("man-v2")
    confirmed = walk(here, only={"chain.genesisHeight": "1003"})
    heights = {pin.id: pin.height for pin in here.net.pins()}
    assert {found.id for found in confirmed.matches} >= {
        pin.id for pin in here.net.pins(PATH) if heights[pin.id] == 1003
    }
    assert confirmed.distinct == walk(here).distinct
    by_body = walk(here, only={"doc.n": "1"})
    assert [found.id for found in by_body.matches] == [
        found.id for found in walk(here, SEVENTH).matches
    ]


def test_an_empty_path_is_read_to_its_end(here: World) -> None:
    for profile in ("clean", "man-v2"):
        here.net.quirks(profile)
        recipe = MvcPins(here.url, "/protocols/nothing", 20, "LIST_ONLY")
        seen = walk_source(
            Listed("none", recipe), compile_criterion(EVERY), Live(here.transport)
        ).traversal
        assert (seen.ends, seen.rows, seen.reasons) == (("EXHAUSTED",), 0, ())


def test_an_indexer_of_the_first_generation_has_no_such_route(here: World) -> None:
    here.net.quirks("v1")
    assert walk(here).reasons == ("http_status",)


@pytest.mark.parametrize("prefix", ["both", "api", "bare"])
def test_the_routes_may_stand_with_and_without_api(here: World, prefix: str) -> None:
    here.net.quirks("man-p2p", prefix=prefix)
    seen = walk(here)
    assert (seen.reasons, seen.distinct) == ((), len(true_ids(here)))


def check(here: World, seen: Traversal) -> None:
    """Compare a walk with the chain: true, and whole or with a reason."""
    quirks = here.net.quirks()
    truth, wanted = true_ids(here), digests(here)
    ids = {found.id for found in seen.matches}
    assert ids <= truth
    if not seen.reasons:
        assert seen.ends
        if not quirks.lost_rows:  # what a list never shows nobody can miss
            assert ids == truth
            assert seen.set_hash == set_hash(truth)
    if not quirks.original_body_missing:
        for found in seen.matches:
            assert found.digest in {None, wanted[found.id]}


def other_values(kind: str, default: object) -> list[object]:
    if kind == "on|off":
        return [not default]
    if ".." in kind:
        return [int(kind.partition("..")[2]), 3]
    return [value for value in kind.split("|") if value != default]


SWITCHED = [
    pytest.param({switch.name: value}, id=f"{switch.name}={value}")
    for switch in switches()
    for value in other_values(switch.values, switch.default)
    if switch.name not in {"generation", "ignores_reorgs", "skip_every", "stuck"}
]


IN_DETAILS = {"metadata_only", "original_body_missing", "odd_version_0", "unknown_pin", "modify"}
"""Switches that show in details; for the others the list alone tells."""


@pytest.mark.parametrize("change", SWITCHED)
def test_each_quirk_alone(here: World, change: dict[str, object]) -> None:
    here.net.quirks("man-p2p", **change)
    seen = walk(
        here, size=23, fetch="LIST_PLUS_DETAIL" if set(change) & IN_DETAILS else "LIST_ONLY"
    )
    check(here, seen)
    if "metadata_only" in change:
        assert seen.reasons == ("detail_mismatch",)
    elif change == {"lost_rows": 100}:  # null with a cursor is no empty page: R-7
        assert seen.reasons == ("array_path_missing",)
    else:
        assert seen.reasons == ()


@settings(deadline=None, max_examples=8)
@given(st.sampled_from(KINDS), st.sampled_from([0.1, 0.5, 1.0, 1, 5]), st.integers(0, 10**6))
def test_no_fault_passes_for_absence(here: World, kind: str, rate: float, seed: int) -> None:
    here.net.quirks("man-p2p")
    here.net.faults(**{kind: rate}, seed=str(seed))
    check(here, walk(here, size=10))
