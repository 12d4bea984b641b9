"""The random streams: the same for a seed, and wide enough to compare two folds with."""

import re
from pathlib import Path

import pytest

from reference.naive import fold
from reference.naive_full import SECTIONS, digest, full_view
from reference.reached import PRD_REASONS, REASONS
from reference.streams import MODES, stream

HERE = Path(__file__).parent


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_gives_the_same_stream_again(mode: str) -> None:
    assert stream(7, mode) == stream(7, mode)
    assert stream(7, mode) != stream(8, mode)


def test_the_lists_of_reasons_name_every_code_of_the_fold() -> None:
    codes = {
        code
        for path in HERE.glob("naive*.py")
        for code in re.findall(
            r'(?:Refused\(|return )"(\w+(?:-\w+)+|unregistered)"', path.read_text()
        )
    }
    assert codes == {*REASONS, *PRD_REASONS}


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_the_order_of_arrival_changes_nothing(profile: str) -> None:
    for seed in range(30):
        events, options = stream(seed, MODES[seed % len(MODES)])
        assert fold(events, options, profile) == fold(events[::-1], options, profile)


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_a_refused_pin_changes_nothing_but_the_graveyard(profile: str) -> None:
    """S 3: it goes to the graveyard and changes nothing else, but for ids shown as editors."""
    for seed in range(30):
        events, options = stream(seed, MODES[seed % len(MODES)])
        tip = max(event["height"] or 0 for event in events) + 1
        whole = fold(events, options, profile, tip)
        refused = {line["pin"] for line in whole["graveyard"]}
        kept = [event for event in events if event["pin"] not in refused]
        rest = fold(kept, options, profile, tip)
        shown = {who: whole["editors"][who] for who in rest["editors"]}
        assert {**rest, "graveyard": whole["graveyard"]} == {**whole, "editors": shown}


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_the_digest_does_not_depend_on_arrival_or_mempool(profile: str) -> None:
    for seed in range(15):
        events, options = stream(seed, MODES[seed % len(MODES)])
        confirmed = [event for event in events if event["height"] not in {None, -1}]
        assert digest(events[::-1], options, profile) == digest(confirmed, options, profile)


def test_no_pin_of_a_stream_can_be_left_out_without_another_digest() -> None:
    events, options = stream(3, "mixed")
    tip = max(event["height"] or 0 for event in events) + 1
    pins = sorted({event["pin"] for event in events if event["height"] not in {None, -1}})
    digests = {digest([e for e in events if e["pin"] != p], options, "prd", tip) for p in pins}
    assert len(digests | {digest(events, options, "prd", tip)}) == len(pins) + 1


MEMBERS = {
    "fold": "rules genesis notAuthoritativeFrom founders",
    "constitution": "pin revision sender height proposalPin params",
    "entry": "head displayHead displayMode status quality history disputed contests redirect"
    " frozenAt baselineRev writers awaitingReview authors versions",
    "editor": "id status tier reputation validRevs registeredAt founder revoked banned"
    " suspendedUntil poolSuspendedUntil registers endorsedBy validReviews halfSignals",
    "proposal": "pin sender challengePin outcome params entryKey baselineRev duringFreeze openedAt"
    " expiresAt arbiters votes approveCount state",
    "param-proposal": "pin sender targetConstitution changes openedAt expiresAt needed voters votes"
    " approveCount state usedBy",
    "challenge": "pin sender target outcome",
    "review": "pin sender target score byT2",
    "case": "pin editor sender height responsePins",
    "register": "pin editor height txid amountSat endorsers",
    "grave": "pin reason entryKey title",
}


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_full_view_has_the_members_of_its_page(profile: str) -> None:
    seen = set()
    for seed in range(120):
        events, options = stream(seed, MODES[seed % len(MODES)])
        for section, values in full_view(events, options, profile).items():
            for value in values.values():
                seen.add(section)
                wanted = MEMBERS["entry" if section == "displaced" else section]
                assert list(value) == wanted.split()
    assert seen == {*MEMBERS, "displaced"} == set(SECTIONS)
