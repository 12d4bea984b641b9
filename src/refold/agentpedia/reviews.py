"""Reviews and challenges: what editors say about one version (spec §6, §8)."""

from refold.agentpedia.editors import same_cluster, tier_at
from refold.agentpedia.entries import resolve
from refold.agentpedia.event import Event, integer
from refold.agentpedia.reasons import Refusal, need, refuse
from refold.agentpedia.reputation import count_review
from refold.agentpedia.state import Challenge, Review, State

PASSING_SCORE = 4
"""A review passes a version, and counts towards featured, from here on (spec §6, §9)."""


def apply_review(state: State, event: Event) -> Refusal | None:
    """Fold one review. No membership gate: an applicant's proof is a review (facts page)."""
    named = event.payload.get("targetRev")
    if type(named) is not str:
        return need("targetRev", "a pin id")
    version = resolve(state, named)
    if version is None:
        return refuse("review-target-unresolvable", targetRev=named)
    if version.author == event.sender:
        return refuse("self-review", author=version.author)
    score = integer(event.payload.get("score"))
    if score is None and state.rules.settled_signals:
        return need("score", "a whole number from 1 to 5")
    tier = tier_at(state, event.sender, event.height)
    independent = not same_cluster(state, event.sender, version.author)
    by_t2 = independent and tier == "T2"
    state.keep("reviews_of", version.id)
    said = state.reviews_of.setdefault(version.id, {})
    earlier = said.get(event.sender)
    counted = earlier is not None and state.reviews[earlier].counted
    if not counted and tier is not None and independent and state.rules.settled_signals:
        count_review(state, state.editors[event.sender], tier)
        counted = True
    said[event.sender] = event.pin
    state.touch("reviews", event.pin)
    state.touch("records", version.record)
    state.reviews[event.pin] = Review(
        event.pin, state.seq, event.sender, version.id, score, by_t2, counted
    )
    if by_t2 and score is not None and score >= PASSING_SCORE:
        state.keep("versions", version.id)
        version.approved = True
    return None


def apply_challenge(state: State, event: Event) -> Refusal | None:
    """Fold one challenge: the version is disputed from now on, the head stays (V11)."""
    named = event.payload.get("targetRev")
    if type(named) is not str:
        return need("targetRev", "a pin id")
    version = resolve(state, named)
    if version is None:
        return refuse("challenge-target-unresolvable", targetRev=named)
    tier = tier_at(state, event.sender, event.height)
    if tier is None:
        return refuse("unregistered", sender=event.sender)
    if tier == "T0" and state.rules.t0_reviews_only:
        return refuse("t0-review-only", tier=tier)
    if version.author == event.sender:
        return refuse("self-challenge", author=version.author)
    state.touch("challenges", event.pin)
    state.touch("records", version.record)
    state.challenges[event.pin] = Challenge(event.pin, event.sender, version.id)
    disputed = state.records[version.record].disputed
    disputed[version.id] = disputed.get(version.id, 0) + 1
    return None
