"""Registry documents: a chain that lists every accepted editor event once, and its pointer."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.wiki import Wiki
from refold.agentpedia import DEPLOYED, PRD, Fold, Rules, registry
from refold.agentpedia.event import EDITOR
from refold.agentpedia.registry import (
    INDEX,
    ROOT,
    PinnedIndex,
    RegistryDocuments,
    document_digest,
    payload_bytes,
    read_index,
    registry_documents,
)
from refold.kernel.canon import sha256_hex
from refold.kernel.errors import InputError

PROFILES = [PRD, DEPLOYED]
both_profiles = pytest.mark.parametrize("rules", PROFILES, ids=lambda rules: rules.name)


def town(rules: Rules = PRD, applicants: int = 3) -> Wiki:
    """A wiki where applicants register, some refused on the way, in blocks of their own."""
    wiki = Wiki(rules)
    target = wiki.create("E6", "a", "first")
    for number in range(applicants):
        name = f"X{number}"
        register = wiki.register(name, target, f"t{number}")
        for endorser in ("E1", "E2", "E3", "E4", "X9"):
            wiki.endorse(endorser, name, register)
        wiki.wait(1)
    return wiki


def documents(wiki: Wiki, previous: PinnedIndex | None = None) -> RegistryDocuments:
    return registry_documents(wiki.view(), wiki.events, previous)


def refusal(wiki: Wiki, previous: PinnedIndex | None = None) -> str:
    with pytest.raises(InputError) as caught:
        documents(wiki, previous)
    return caught.value.code


def pinned(made: RegistryDocuments, number: int = 0) -> PinnedIndex:
    """What a later export is given: the pin, and the index read back from its body."""
    return PinnedIndex(f"i{number}", read_index(payload_bytes(made.index)))


@both_profiles
def test_the_index_lists_the_accepted_editor_events_in_order(rules: Rules) -> None:
    wiki = town(rules)
    refused = {grave.pin for grave in wiki.fold.state.graveyard}
    accepted = [e for e in wiki.events if e.path == EDITOR and e.pin not in refused]
    assert refused & {event.pin for event in wiki.events if event.path == EDITOR}
    listed = documents(wiki).index.events
    assert [line.pin for line in listed] == [event.pin for event in accepted]
    assert [line.action for line in listed[:4]] == [
        "challenge",
        "poc-response",
        "register",
        "endorse",
    ]
    assert (listed[3].editor, listed[3].sender, listed[3].height) == ("X0", "E1", 10)


@both_profiles
def test_the_root_points_to_the_index_and_tells_what_to_check_it_with(rules: Rules) -> None:
    wiki = town(rules)
    view = wiki.view()
    made = registry_documents(view, wiki.events, index_pin="i0")
    assert made.root.index == "i0"
    assert made.root.index_digest == sha256_hex(payload_bytes(made.index))
    assert (made.root.tip, made.root.view_digest) == (view.tip, view.digest())
    assert (made.root.genesis, made.root.constitution) == (wiki.genesis, wiki.genesis)
    assert (made.index.rules, made.root.rules) == (rules.name, rules.name)
    assert made.root.active == 6 + 3
    assert registry_documents(view, wiki.events).root.index is None


def test_the_banned_and_the_revoked_are_not_active() -> None:
    wiki = town()
    wiki.wait(10)
    wiki.rule(wiki.create("X0", "b", "x"), "ban-editor", editor="E5")
    assert documents(wiki).root.active == 6 + 3 - 1


def test_documents_are_canonical_and_the_same_for_the_same_pins() -> None:
    wiki = town()
    made = documents(wiki)
    shuffled = list(wiki.events)
    random.Random(1).shuffle(shuffled)
    again = registry_documents(Fold.restore(wiki.fold.snapshot()).view(), shuffled)
    assert (payload_bytes(again.index), payload_bytes(again.root)) == (
        payload_bytes(made.index),
        payload_bytes(made.root),
    )
    body = msgspec.json.decode(payload_bytes(made.index))
    assert payload_bytes(made.index) == msgspec.json.encode(body, order="sorted")
    assert set(body) == {
        *("v", "rules", "genesis", "sequence", "prevIndex", "prevDigest"),
        *("fromHeight", "throughHeight", "events", "remaining"),
    }
    assert set(body["events"][0]) == {"pin", "height", "txIndex", "action", "editor", "sender"}


@given(st.sampled_from(PROFILES), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_a_chain_of_exports_lists_every_event_once(rules: Rules, steps: list[int]) -> None:
    """However the exports are spaced, their lists joined are the list of one export of it all."""
    wiki = Wiki(rules)
    target = wiki.create("E6", "a", "first")
    previous: PinnedIndex | None = None
    joined = []
    for number, applicants in enumerate(steps):
        for applicant in range(applicants):
            wiki.register(f"X{number}.{applicant}", target, f"t{number}.{applicant}")
        wiki.wait(1)
        wiki.create("E6", f"s{number}", "so that there is a block")
        made = documents(wiki, previous)
        assert made.index.from_height == (
            0 if previous is None else previous.index.through_height + 1
        )
        assert made.index.prev_digest == (previous and document_digest(previous.index))
        assert made.index.prev_index == (previous and previous.pin)
        assert (made.index.sequence, made.index.remaining) == (number, 0)
        joined += made.index.events
        previous = pinned(made, number)
        wiki.wait(1)
    assert joined == documents(wiki).index.events


def test_a_long_registry_is_cut_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    wiki = town(applicants=5)  # seven accepted events in each of five blocks
    whole = documents(wiki).index.events
    monkeypatch.setattr(registry, "MAX_EVENTS", 15)
    previous: PinnedIndex | None = None
    sizes, remaining, joined = [], [], []
    for number in range(3):
        made = documents(wiki, previous)
        previous = pinned(made, number)
        sizes.append(len(made.index.events))
        remaining.append(made.index.remaining)
        joined += made.index.events
    assert (sizes, remaining) == ([14, 14, 7], [21, 7, 0])
    assert joined == whole


def test_a_block_above_the_limit_is_listed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MAX_EVENTS", 3)
    wiki = town(applicants=2)
    first = documents(wiki)
    assert (len(first.index.events), first.index.remaining) == (7, 7)
    assert len(documents(wiki, pinned(first)).index.events) == 7


def test_an_export_without_editor_events_says_that_there_are_none() -> None:
    wiki = Wiki()
    made = documents(wiki)
    assert (made.index.events, made.index.through_height) == ([], wiki.height)


def test_a_block_at_the_tip_is_left_to_the_next_export() -> None:
    """A view at the height of its last event may lack the rest of that block."""
    wiki = town()
    wiki.register("X7", wiki.events[1].pin, "t7")
    made = registry_documents(wiki.view(wiki.height), wiki.events)
    assert (made.index.through_height, made.index.remaining) == (wiki.height - 1, 0)
    assert "X7" not in {line.editor for line in made.index.events}
    later = documents(wiki, pinned(made))
    assert {line.editor for line in later.index.events} == {"X7"}


# --- refusals ------------------------------------------------------------------------------------


def test_nothing_is_exported_before_a_genesis_or_without_new_blocks() -> None:
    with pytest.raises(InputError) as caught:
        registry_documents(Fold(PRD).view(), [])
    assert caught.value.code == "registry-no-genesis"
    wiki = town()
    assert refusal(wiki, pinned(documents(wiki))) == "registry-nothing-new"


def test_an_index_of_another_chain_is_refused() -> None:
    wiki = town()
    previous = pinned(documents(wiki))
    wiki.wait(1)
    wiki.create("E1", "b", "x")
    assert documents(wiki, previous).index.sequence == 1
    for change in ({"genesis": "other"}, {"rules": "deployed"}):
        index = msgspec.structs.replace(previous.index, **change)
        assert refusal(wiki, PinnedIndex("i0", index)) == "registry-previous-foreign"


def test_an_index_that_lists_other_events_is_refused() -> None:
    """A reorganised chain, a forged index, a lost event: what it lists is rebuilt and compared."""
    wiki = town()
    previous = pinned(documents(wiki))
    wiki.wait(1)
    wiki.create("E1", "b", "x")
    lines = previous.index.events
    moved = [msgspec.structs.replace(lines[0], tx_index=99), *lines[1:]]
    for events in (lines[1:], [*lines, lines[0]], moved):
        index = msgspec.structs.replace(previous.index, events=events)
        assert refusal(wiki, PinnedIndex("i0", index)) == "registry-previous-differs"


@pytest.mark.parametrize("body", [b"", b"{}", b"\xff", b"[" * 100_000, b'{"v":1,"x":2}'])
def test_what_is_no_index_is_an_input_error(body: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_index(body)
    assert caught.value.code == "registry-index-unreadable"


# --- the fold never reads them -------------------------------------------------------------------


@both_profiles
@pytest.mark.parametrize("path", [ROOT, INDEX])
def test_pinned_documents_are_no_pins_of_the_protocol(rules: Rules, path: str) -> None:
    wiki = town(rules)
    made = documents(wiki)
    before = msgspec.msgpack.encode(wiki.fold.state.editors)
    document = made.root if path == ROOT else made.index
    body = msgspec.json.decode(payload_bytes(document))
    wiki.pin(path, "E1", body)
    assert wiki.refusal is not None
    assert wiki.refusal.reason == "unknown-path"
    assert msgspec.msgpack.encode(wiki.fold.state.editors) == before
