"""M3 (PRD §8): a constitution changed by its voters, and a first arbitration, as one stream."""

from __future__ import annotations

import pytest

from acceptance.m3 import CHANGES, FOUNDERS, GENESIS_PARAMS, M3, STREAM
from agentpedia.scenario import HOUR, Seen, drawn, hash_of
from refold.agentpedia.intake import check_payloads, read_document
from refold.agentpedia.replay import replay


@pytest.fixture(scope="module")
def story() -> M3:
    return M3()


@pytest.fixture(scope="module")
def seen(story: M3) -> Seen:
    """The stream in the file, read with every gate and folded."""
    return Seen(story.world, replay(STREAM.read_bytes()))


def test_m3_the_stream_in_the_file_is_the_story_and_passes_every_schema(story: M3) -> None:
    assert STREAM.read_bytes() == story.stream()
    stream = read_document(STREAM.read_bytes())
    check_payloads(stream)
    assert stream.faults == {}
    assert len(stream.events) == len(story.world.events)


def test_m3_a_param_proposal_becomes_revision_one_by_two_thirds_of_its_voters(
    story: M3, seen: Seen
) -> None:
    amendment = seen.amendment(story.amendment)
    assert sorted(amendment["voters"]) == sorted(story.world.who(name) for name in FOUNDERS)
    assert amendment["needed"] == len(story.approvals) == amendment["approveCount"]
    assert (amendment["state"], amendment["usedBy"]) == ("effective", story.revision)
    assert seen.params() == GENESIS_PARAMS | CHANGES
    assert [c["pin"] for c in seen.full["constitution"].values()] == [
        story.world.genesis,
        story.revision,
    ]
    assert set(seen.full["fold"]["fold"]["founders"]) == {story.world.who(f) for f in FOUNDERS}


def test_m3_a_param_proposal_without_them_ends_with_its_challenge_window(
    story: M3, seen: Seen
) -> None:
    unloved = seen.amendment(story.unloved)
    window = unloved["expiresAt"] - unloved["openedAt"]
    assert window == GENESIS_PARAMS["challengeWindowHours"] * HOUR
    assert (unloved["state"], unloved["approveCount"]) == ("voided", unloved["needed"] - 1)
    assert seen.reason(story.late) == "param-vote-on-closed"
    assert seen.reason(story.refused_revision) == "constitution-without-effective-proposal"


def test_m3_the_first_arbitration_takes_effect_with_the_quorum_of_revision_one(
    story: M3, seen: Seen
) -> None:
    proposal = seen.proposal(story.proposal)
    pool = [story.world.who(name) for name in FOUNDERS]
    seats = GENESIS_PARAMS["arbiterDrawN"]
    assert proposal["arbiters"] == drawn(story.challenge, pool, seats) == story.drawn
    assert proposal["expiresAt"] - proposal["openedAt"] == CHANGES["voteWindowHours"] * HOUR
    assert (proposal["state"], proposal["approveCount"]) == ("effective", CHANGES["rulingQuorum"])
    assert len(proposal["votes"]) == CHANGES["rulingQuorum"] + 1 + len(story.outsiders)
    assert story.outsiders

    entry = seen.entry("en:tide_table")
    assert entry["head"] == f"{story.proposal}::rev"
    assert entry["disputed"] == []
    assert seen.version(entry["head"])["contentHash"] == hash_of("Water rises and falls.")
    assert seen.full["challenge"][story.challenge]["outcome"] == "revert-to"
    refused = set(seen.full["grave"])
    assert refused == {story.late, story.refused_revision}


def test_m3_without_the_last_vote_the_ruling_is_not_in_force(story: M3) -> None:
    world = M3().world
    world.events = [event for event in world.events if event.pin != story.last_vote]
    seen = world.checked()
    assert seen.proposal(story.proposal)["state"] == "open"
    assert seen.entry("en:tide_table")["head"] == story.slip
