"""Why pins are refused: the stable reason codes, and what each means to a person.

The codes of the public engines keep their names (spec §3); the rest are ours, in the same style.
"""

import msgspec

from refold.agentpedia.event import (
    CHALLENGE,
    CONSTITUTION,
    EDITOR,
    PARAM_PROPOSAL,
    REV,
    REVIEW,
    RULING,
    Fault,
)


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """A rule's no: the reason code, and the values that the rule compared."""

    reason: str
    values: dict[str, object] = {}


def refuse(reason: str, **values: object) -> Refusal:
    """Say no with a reason of `REASONS` and the values that were compared."""
    return Refusal(reason, values)


def refuse_fault(fault: Fault) -> Refusal:
    """Say no for what an order-free check found."""
    told = {"pointer": fault.pointer, "rule": fault.rule, "found": fault.detail}
    return Refusal(fault.reason, {name: text for name, text in told.items() if text})


def need(member: str, wanted: str) -> Refusal:
    """Say that a rule needs this member of the payload, and what it must be (spec §3)."""
    return Refusal("schema-invalid", {"pointer": f"/{member}", "rule": "needed", "wanted": wanted})


class Reason(msgspec.Struct, frozen=True):
    """One reason: the rule behind it, what it says, and what would have passed."""

    source: str
    says: str
    remedy: str


def _r(source: str, says: str, remedy: str) -> Reason:
    return Reason(source, says, remedy)


REASONS: dict[str, Reason] = {
    # what the pin is, before any rule of the protocol
    "unknown-path": _r(
        "PRD §4.3", "The path is not one of the seven.", "Pin it under one of the seven paths."
    ),
    "operation-not-create": _r(
        "PRD §4.1", "The protocol knows only create.", "Pin a new record; nothing can be modified."
    ),
    "encrypted": _r(
        "PRD §4.1", "The body is encrypted; the protocol is public.", "Pin with encryption 0."
    ),
    "version-unknown": _r(
        "PRD §4.1", "The envelope's version is not 1.0.", "Pin with envelope version 1.0."
    ),
    "content-type": _r(
        "PRD §4.1", "The body is not declared as JSON.", "Pin with content type application/json."
    ),
    "malformed-json": _r(
        "PRD §4.1",
        "The body is not one JSON object in UTF-8 without BOM, NUL or lone surrogates, "
        "or it is nested too deep.",
        "Pin one plain JSON object.",
    ),
    "schema-invalid": _r(
        "PRD §4",
        "A member is missing, extra or of a wrong form.",
        "Mend the member named by pointer.",
    ),
    # genesis and constitution
    "no-genesis": _r(
        "PRD §4.7", "Nothing counts before the genesis constitution.", "Pin after the genesis."
    ),
    "duplicate-genesis": _r(
        "PRD §4.7", "The wiki has its genesis already.", "Revise the constitution by a proposal."
    ),
    "algo-unknown": _r(
        "PRD §4.7",
        "The constitution names an algorithm that this engine does not know; "
        "from here on this view is not authoritative.",
        "Fold with a release that knows the algorithm.",
    ),
    "constitution-without-effective-proposal": _r(
        "PRD §4.7",
        "No effective param-proposal stands behind the revision.",
        "Let one take effect.",
    ),
    "constitution-mismatch": _r(
        "spec §1",
        "Revision or previous constitution do not follow from the current one.",
        "Count up by one and cite the current constitution's pin.",
    ),
    "constitution-params-mismatch": _r(
        "spec §1",
        "The params are not the current ones changed exactly by the proposal.",
        "Change what the proposal says, and nothing else.",
    ),
    "constitution-not-issuer": _r(
        "PRD §4.7", "Only the issuer of the genesis pins revisions.", "Ask the genesis issuer."
    ),
    "param-proposal-used": _r(
        "spec §1", "The proposal has made its revision already.", "Open a new proposal."
    ),
    "param-target-stale": _r(
        "spec §1",
        "The proposal aimed at an older constitution.",
        "Propose again on the current one.",
    ),
    "param-changes-invalid": _r(
        "spec §3",
        "The changes are empty, name a param twice or unknown, or leave its range.",
        "List distinct known params with values in range.",
    ),
    "param-proposal-kind-unknown": _r(
        "PRD §4.7", "The kind is neither proposal nor vote.", "Use proposal or vote."
    ),
    "param-vote-on-closed": _r(
        "PRD §4.7", "There is no such open param-proposal.", "Vote inside the challenge window."
    ),
    "duplicate-param-vote": _r(
        "spec §1", "The sender has voted on these changes; the first vote counts.", "Nothing would."
    ),
    "param-vote-outsider": _r(
        "spec §1", "The voter is not in the proposal's snapshot of the pool.", "Nothing would."
    ),
    # who may write
    "unregistered": _r(
        "PRD §4.6",
        "The sender is not a registered editor at this height.",
        "Register: challenge, answer, stake, endorsements; or wait out a suspension.",
    ),
    "t0-no-rev": _r(
        "PRD §2", "A T0 editor reads and reviews; revs begin after t0DurationHours.", "Wait."
    ),
    "t0-review-only": _r(
        "PRD §2", "A T0 editor reads and reviews only.", "Wait until t0DurationHours have passed."
    ),
    "frozen-unauthorized": _r(
        "PRD §5.2", "The entry is frozen; only its drawn arbiters write.", "Wait for a ruling."
    ),
    "protected-unauthorized": _r(
        "PRD §4.9",
        "A protected entry is for T2 editors with reputation of at least thetaProtect.",
        "Gain both.",
    ),
    "rate-global": _r(
        "PRD §5.4", "The day's rateGlobalDaily is used up by this cluster.", "Write tomorrow."
    ),
    "rate-slug": _r(
        "PRD §5.4", "The day's ratePerSlugDaily on this entry is used up.", "Write tomorrow."
    ),
    # revs
    "content-too-large": _r(
        "AC-A5", "The inline text is over inlineContentMaxBytes.", "Put it into a metafile."
    ),
    "content-hash-mismatch": _r(
        "AC-A5, AC-A6", "The text does not hash to contentHash.", "Hash the exact UTF-8 bytes."
    ),
    "rev-type-unknown": _r(
        "PRD §4.4", "The type is not create, edit, revert or redirect.", "Use one of the four."
    ),
    "duplicate-create": _r(
        "PRD §4.4",
        "The entry exists; this create is an orphan.",
        "Edit the entry, or use another slug.",
    ),
    "edit-without-entry": _r("PRD §4.4", "There is no such entry to edit.", "Create it."),
    "revert-without-entry": _r("PRD §4.4", "There is no such entry to revert.", "Create it."),
    "revert-target-unresolvable": _r(
        "PRD §4.4", "revertTo names no known version.", "Name a version of this entry."
    ),
    "revert-entry-mismatch": _r(
        "PRD §4.4", "revertTo is a version of another entry.", "Name a version of this entry."
    ),
    "revert-hash-mismatch": _r(
        "PRD §4.4", "contentHash is not that of the version reverted to.", "Copy the target's hash."
    ),
    "redirect-without-entry": _r("PRD §4.4", "There is no such entry to redirect.", "Create it."),
    "redirect-target-missing": _r(
        "PRD §4.4", "redirectTo names no entry of this language.", "Create the target first."
    ),
    "redirect-self": _r(
        "spec §1, fault 19", "A redirect to itself leads nowhere.", "Name another."
    ),
    # reviews and challenges
    "review-target-unresolvable": _r(
        "PRD §4.5", "targetRev names no known version.", "Name an applied version."
    ),
    "self-review": _r("PRD §4.3", "Nobody reviews a version of their own.", "Ask another editor."),
    "challenge-target-unresolvable": _r(
        "PRD §4.5", "targetRev names no known version.", "Name an applied version."
    ),
    "self-challenge": _r(
        "PRD §4.3", "Nobody challenges a version of their own.", "Revert or edit it instead."
    ),
    # rulings
    "ruling-action-unknown": _r(
        "PRD §4.5", "The action is neither proposal nor vote.", "Use proposal or vote."
    ),
    "ruling-challenge-missing": _r(
        "PRD §4.5", "challengePin names no applied challenge.", "Name an applied challenge."
    ),
    "ruling-seed-mismatch": _r(
        "PRD §4.5", "seed is not challengePin.", "Use the challenge as seed."
    ),
    "baseline-rev-mismatch": _r(
        "PRD §4.5",
        "The entry is frozen and baselineRev is not the head before the freeze.",
        "Use the entry's baselineRev.",
    ),
    "baseline-rev-not-null": _r(
        "PRD §4.5", "The entry is not frozen, so there is no baseline.", "Leave baselineRev null."
    ),
    "ruling-params-missing": _r(
        "PRD §4.5", "The outcome lacks a param it needs.", "Fill in the param of this outcome."
    ),
    "display-mode-not-allowed": _r(
        "PRD §4.5",
        "displayMode goes with protect, unprotect and unfreeze; reviewed with protect alone.",
        "Leave displayMode out, or rule protect.",
    ),
    "challenge-decided": _r(
        "spec §1, fault 9", "An effective proposal decided this challenge.", "Open a new challenge."
    ),
    "proposal-open": _r(
        "spec §1, fault 17",
        "The challenge has an open proposal.",
        "Vote on it, or wait for its end.",
    ),
    "transfer-source-missing": _r(
        "spec §1", "fromEntry is no entry.", "Name an entry that exists."
    ),
    "transfer-self": _r("spec §1", "fromEntry and toEntry are the same.", "Name another slug."),
    "transfer-cross-lang": _r(
        "spec §1", "fromEntry and toEntry are of different languages.", "Stay in one language."
    ),
    "vote-on-closed-proposal": _r(
        "PRD §4.5", "There is no such open proposal.", "Vote inside voteWindowHours."
    ),
    "duplicate-vote": _r(
        "PRD §4.5", "The sender has voted; the first vote counts.", "Nothing would."
    ),
    # registration
    "editor-action-unknown": _r(
        "PRD §4.6", "The action is not one of the six.", "Use one of the six actions."
    ),
    "poc-challenge-mismatch": _r(
        "PRD §4.6",
        "The answer is not the challenged applicant's own.",
        "Answer your own challenge.",
    ),
    "poc-window-exceeded": _r(
        "PRD §4.6",
        "The answer came more than 60 minutes after the challenge.",
        "Ask for a new one.",
    ),
    "poc-response-missing": _r(
        "PRD §4.6", "responsePin names no review by the applicant.", "Pin a review and name it."
    ),
    "poc-review-too-early": _r(
        "spec §1, fault 12",
        "The review is older than the challenge.",
        "Review after the challenge.",
    ),
    "register-invalid": _r(
        "PRD §4.6",
        "No accepted answer of the sender stands behind it.",
        "Answer a challenge first.",
    ),
    "stake-insufficient": _r(
        "PRD §4.6", "The stake is below stakeAmountSat.", "Stake at least stakeAmountSat."
    ),
    "stake-mismatch": _r(
        "spec §4",
        "The transaction does not pay the stake: too little, not the applicant's, or an alias.",
        "Name a transaction of your own with an output of at least amountSat.",
    ),
    "stake-reused": _r(
        "spec §1, fault 12", "Another applicant registered with this stake.", "Stake your own."
    ),
    "endorser-not-t2": _r("PRD §4.9", "Only T2 editors endorse.", "Reach T2 first."),
    "self-endorse": _r("PRD §4.6", "Nobody endorses themselves.", "Ask other T2 editors."),
    "endorse-no-register": _r(
        "PRD §4.6", "The applicant has no staked register.", "Endorse after the register."
    ),
    "duplicate-endorse": _r("PRD §4.6", "The sender has endorsed already.", "Once is enough."),
    "suspend-unauthorized": _r(
        "PRD §4.6", "No effective ruling lets the sender suspend.", "Cite one that does."
    ),
    "revoke-unauthorized": _r(
        "PRD §4.6", "No effective ruling lets the sender revoke.", "Cite one that does."
    ),
}
"""Every reason code, in the order of the gates."""

APPLIED: dict[str, Reason] = {
    REV: _r(
        "PRD §4.4", "Every gate was passed, and the rule of its type made it part of the entry.", ""
    ),
    CHALLENGE: _r("PRD §4.5", "The version it names is disputed from here on; the head stays.", ""),
    RULING: _r("PRD §4.5", "The proposal is open, or the vote stands in its record.", ""),
    REVIEW: _r("PRD §4.5", "The review stands in the record of the version.", ""),
    EDITOR: _r(
        "PRD §4.6", "It is a step of a registration, or a sanction that a ruling backs.", ""
    ),
    CONSTITUTION: _r("PRD §4.7", "Its parameters hold from here on.", ""),
    PARAM_PROPOSAL: _r("PRD §4.7", "The proposal is open, or the vote is counted.", ""),
}
"""What an applied pin did, by path."""
