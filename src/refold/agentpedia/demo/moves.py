"""What a bot can do: each move builds one payload as the schemas want it, and pins it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from refold.agentpedia.demo.articles import file_pin
from refold.agentpedia.demo.cast import id_of
from refold.agentpedia.demo.world import name_of_version
from refold.agentpedia.event import CHALLENGE, EDITOR, PARAM_PROPOSAL, REV, REVIEW, RULING
from refold.agentpedia.links import refs_found

if TYPE_CHECKING:
    from refold.agentpedia.demo.articles import Draft
    from refold.agentpedia.demo.world import Payload, World
    from refold.agentpedia.state import Version

# revs


def rev_payload(lang: str, slug: str, title: str, kind: str, summary: str) -> Payload:
    """Give a rev with every member there is, null where a type may leave it so."""
    return {
        "v": 1,
        "slug": slug,
        "lang": lang,
        "title": title,
        "type": kind,
        "parentRev": None,
        "basedOn": None,
        "content": None,
        "contentRef": None,
        "contentHash": None,
        "revertTo": None,
        "redirectTo": None,
        "summary": summary,
        "claim": None,
    }


def with_text(payload: Payload, text: str, change: str) -> Payload:
    """Put an inline text, its hash and its claim into a rev."""
    payload["content"] = text
    payload["contentHash"] = sha256(text.encode()).hexdigest()
    payload["claim"] = {"changeType": change, "refs": refs_found(text)}
    return payload


def on_head(world: World, key: str, payload: Payload) -> Payload:
    """Let a rev stand on the head of its entry."""
    parent = name_of_version(world.entry(key).head)
    payload["parentRev"] = payload["basedOn"] = parent
    return payload


def create(world: World, name: str, key: str, draft: Draft, summary: str) -> str:
    """Open an entry with a draft of its article."""
    article = world.articles[key]
    payload = rev_payload(article.lang, article.slug, article.title, "create", summary)
    pin = world.pin(name, REV, with_text(payload, world.text_of(key, draft), "create"))
    world.first_pins[key] = pin
    return pin


def edit(
    world: World,
    name: str,
    key: str,
    draft: Draft,
    summary: str,
    *,
    change: str = "expand",
    base: Version | None = None,
    refused: str = "",
) -> str:
    """Make a draft the head of an entry; `base` is the version it began from, if not the head."""
    article = world.articles[key]
    payload = rev_payload(article.lang, article.slug, article.title, "edit", summary)
    on_head(world, key, payload)
    if base is not None:
        payload["parentRev"] = payload["basedOn"] = name_of_version(base.id)
    with_text(payload, world.text_of(key, draft), change)
    return world.pin(name, REV, payload, refused=refused)


def edit_by_file(world: World, name: str, key: str, draft: Draft, summary: str) -> str:
    """Make a text in a metafile the head; nobody has fetched it, so what it says is not known."""
    article = world.articles[key]
    payload = rev_payload(article.lang, article.slug, article.title, "edit", summary)
    on_head(world, key, payload)
    text = f"the long form of {article.title}"
    world.remember(text, draft)
    payload["contentRef"] = f"metafile://{file_pin(text)}"
    payload["contentHash"] = sha256(text.encode()).hexdigest()
    payload["claim"] = {"changeType": "expand", "refs": 1}
    pin = world.pin(name, REV, payload)
    world.content_facts[pin] = "unavailable"
    return pin


def revert(
    world: World,
    name: str,
    key: str,
    target: Version,
    summary: str,
    *,
    change: str = "revert",
) -> str:
    """Bring an older version of an entry back."""
    lang, _, slug = key.partition(":")
    payload = on_head(world, key, rev_payload(lang, slug, target.title, "revert", summary))
    payload["revertTo"] = name_of_version(target.id)
    payload["contentHash"] = target.content_hash
    payload["claim"] = {"changeType": change, "refs": 0}
    return world.pin(name, REV, payload)


def redirect(world: World, name: str, key: str, slug: str, summary: str) -> str:
    """Let an entry lead to another one."""
    lang, _, own = key.partition(":")
    payload = on_head(
        world, key, rev_payload(lang, own, world.head(key).title, "redirect", summary)
    )
    payload["redirectTo"] = slug
    return world.pin(name, REV, payload)


# reviews, challenges, rulings


def review_payload(world: World, version: Version, score: int, comment: str) -> Payload:
    """Give a review; the three dimensions lie at the score or one beside it."""
    marks = {
        aspect: min(max(score + world.dice.between(-1, 1), 1), 5)
        for aspect in ("accuracy", "citation", "neutrality")
    }
    return {
        "v": 1,
        "targetRev": name_of_version(version.id),
        "score": score,
        "dimensions": marks,
        "comment": comment,
    }


def review(
    world: World, name: str, version: Version, score: int, comment: str, *, refused: str = ""
) -> str:
    """Review a version."""
    payload = review_payload(world, version, score, comment)
    return world.pin(name, REVIEW, payload, refused=refused)


def challenge(
    world: World,
    name: str,
    version: Version,
    reason: str,
    detail: str,
    *,
    proposed: Payload | None = None,
    refused: str = "",
) -> str:
    """Dispute a version."""
    payload: Payload = {
        "v": 1,
        "targetRev": name_of_version(version.id),
        "reason": reason,
        "detail": detail,
        "proposed": proposed,
    }
    return world.pin(name, CHALLENGE, payload, refused=refused)


def proposal_payload(challenge_pin: str, outcome: str, params: Payload, rationale: str) -> Payload:
    """Give a proposal on a challenge."""
    return {
        "v": 1,
        "action": "proposal",
        "challengePin": challenge_pin,
        "seed": challenge_pin,
        "outcome": outcome,
        "params": params or None,
        "rationale": rationale,
        "proposalPin": None,
        "approve": None,
        "comment": None,
        "baselineRev": None,
    }


def propose(
    world: World,
    name: str,
    challenge_pin: str,
    outcome: str,
    rationale: str,
    *,
    params: Payload | None = None,
    baseline: str | None = None,
    refused: str = "",
) -> str:
    """Propose an outcome; `baseline` is the head before the freeze of a frozen entry."""
    payload = proposal_payload(challenge_pin, outcome, params or {}, rationale)
    payload["baselineRev"] = None if baseline is None else name_of_version(baseline)
    return world.pin(name, RULING, payload, refused=refused)


def vote_payload(proposal_pin: str, approve: bool, comment: str) -> Payload:
    """Give a vote on a proposal."""
    return {
        "v": 1,
        "action": "vote",
        "challengePin": None,
        "seed": None,
        "outcome": None,
        "params": None,
        "rationale": None,
        "proposalPin": proposal_pin,
        "approve": approve,
        "comment": comment,
        "baselineRev": None,
    }


def vote(
    world: World, name: str, proposal_pin: str, approve: bool, comment: str, *, refused: str = ""
) -> str:
    """Vote on a proposal."""
    return world.pin(name, RULING, vote_payload(proposal_pin, approve, comment), refused=refused)


# editors


def _editor_payload(action: str, editor: str) -> Payload:
    return {
        "v": 1,
        "action": action,
        "editor": id_of(editor),
        "nonce": None,
        "challengePin": None,
        "responsePin": None,
        "registerPin": None,
        "stake": None,
        "rulingPin": None,
        "reason": None,
    }


def ask_for_proof(world: World, name: str, applicant: str, *, refused: str = "") -> str:
    """Challenge an applicant to show a review within the hour."""
    payload = _editor_payload("challenge", applicant)
    payload["nonce"] = world.number("nonce", len(world.events))[:16]
    return world.pin(name, EDITOR, payload, refused=refused)


def answer(world: World, applicant: str, case: str, review_pin: str, *, refused: str = "") -> str:
    """Answer a proof challenge with a review."""
    payload = _editor_payload("poc-response", applicant)
    payload |= {"challengePin": case, "responsePin": review_pin}
    return world.pin(applicant, EDITOR, payload, refused=refused)


def register(
    world: World,
    applicant: str,
    case: str,
    review_pin: str,
    *,
    stake: str = "",
    amount: int = 100_000,
    refused: str = "",
) -> str:
    """Register with a stake in satoshis; `stake` is the name of its transaction."""
    txid = world.number("stake of", stake or applicant)
    payload = _editor_payload("register", applicant)
    payload |= {"challengePin": case, "responsePin": review_pin}
    payload["stake"] = {"txid": txid, "amountSat": amount}
    return world.pin(applicant, EDITOR, payload, refused=refused)


def endorse(
    world: World, name: str, applicant: str, register_pin: str, *, refused: str = ""
) -> str:
    """Endorse a register."""
    payload = _editor_payload("endorse", applicant)
    payload["registerPin"] = register_pin
    return world.pin(name, EDITOR, payload, refused=refused)


def sanction(
    world: World,
    name: str,
    action: str,
    editor: str,
    *,
    ruling: str,
    reason: str,
    refused: str = "",
) -> str:
    """Suspend or revoke an editor, citing a ruling."""
    payload = _editor_payload(action, editor)
    payload |= {"rulingPin": ruling, "reason": reason}
    return world.pin(name, EDITOR, payload, refused=refused)


# the constitution's parameters


def propose_params(
    world: World,
    name: str,
    constitution: str,
    changes: dict[str, int],
    rationale: str,
    *,
    refused: str = "",
) -> str:
    """Propose to change parameters of a constitution."""
    payload: Payload = {
        "v": 1,
        "kind": "proposal",
        "targetConstitution": constitution,
        "changes": [{"param": param, "value": value} for param, value in changes.items()],
        "rationale": rationale,
        "proposalPin": None,
        "approve": None,
    }
    return world.pin(name, PARAM_PROPOSAL, payload, refused=refused)


def vote_params(
    world: World, name: str, proposal_pin: str, approve: bool, *, refused: str = ""
) -> str:
    """Vote on a change of parameters."""
    target = world.state.param_proposals.get(proposal_pin)
    payload: Payload = {
        "v": 1,
        "kind": "vote",
        "targetConstitution": proposal_pin if target is None else target.target_constitution,
        "changes": None,
        "rationale": None,
        "proposalPin": proposal_pin,
        "approve": approve,
    }
    return world.pin(name, PARAM_PROPOSAL, payload, refused=refused)
