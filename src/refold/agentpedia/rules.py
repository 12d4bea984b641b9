"""Rules profiles: what differs between the PRD and the engines that run the network today.

One fold serves both. Each field of `Rules` is one row of spec §1 or one fault of the facts page;
the constants that the profiles share stand below, each with its reason.
"""

from dataclasses import dataclass, field, fields

ARBITER_DRAW = "arbiter-draw-v1"
ALGO_VERSIONS = {
    "adoption": "adoption-algo-v1",
    "reputation": "reputation-algo-v1",
    "arbiterDraw": ARBITER_DRAW,
}
"""The algorithms this engine knows (PRD §4.7)."""

INLINE_MAX_BYTES = 16384
"""Inline text of a rev in bytes of UTF-8: `inlineContentMaxBytes`, a constant (spec §3)."""
POC_WINDOW_MINUTES = 60
"""A poc-response comes within an hour of its challenge (PRD §4.6)."""
ENDORSEMENTS_BOOTSTRAP = 4
ENDORSEMENTS = 2
"""Endorsements that make a register effective, in the bootstrap window and after (PRD §4.6)."""

TENTHS = 10
"""Reputation and revert weights are kept in tenths, so that no float is ever needed (spec §2)."""
WEIGHT_PLAIN = 10
WEIGHT_FIX = 5
"""Weight of a revert, and of an editor's first vandalism-fix in the window (§4.8), in tenths."""

RULING_DELTAS = {
    "confirm-goodfaith": 10,
    "warn-editor": -10,
    "slash-stake-half": -20,
    "slash-stake-full": -50,
    "ban-editor": -50,
}
"""What an effective personal ruling adds to the editor's reputation, in tenths (spec §6)."""
OUTCOMES_ON_ENTRIES = ("dismiss", "revert-to", "protect", "unprotect", "unfreeze", "transfer-slug")
OUTCOMES = (*OUTCOMES_ON_ENTRIES, *RULING_DELTAS)
"""The PRD's eleven (PRD §4.5)."""


def _flag(says: str) -> bool:
    """Declare one difference between the profiles, with what holds where it is true."""
    return field(metadata={"says": says})  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Rules:
    """A rules profile (spec §1): a flag is true for the PRD's rule, false for the network's."""

    name: str
    gates: bool = _flag("Envelope, schema and content are checked (fault 2, spec §3).")
    top_pool: bool = _flag(
        "Arbiters come from the top `arbiterPoolK` T2 editors by reputation, not from all T2."
    )
    absence_duty: bool = _flag(
        "An arbiter who let a proposal expire without voting pays and leaves the pool for a while."
    )
    t0_reviews_only: bool = _flag("Challenges, proposals and votes are for T0+ and up.")
    decided_challenges: bool = _flag(
        "An effective proposal decides its challenge; one open proposal a challenge (faults 9, 17)."
    )
    bound_freezes: bool = _flag(
        "Only a proposal opened during a freeze ends it, and its end clears the weights (6, 7, 16)."
    )
    aliases: bool = _flag(
        "The pin of a revert or of an effective revert-to names the version it made (fault 5)."
    )
    window_now: bool = _flag(
        "The repeat test of vandalism-fix sees only weights inside the window now (fault 8)."
    )
    bound_registration: bool = _flag(
        "Reviews, responses, stakes and endorsements belong to one registration (12, 14, spec §1)."
    )
    bound_sanctions: bool = _flag(
        "suspend and revoke need an arbiter of an effective ruling against this editor (fault 10)."
    )
    param_snapshot: bool = _flag(
        "Voters on parameters are a snapshot of the pool; others leave a line in the graveyard."
    )
    bound_constitution: bool = _flag(
        "A revision is its issuer's, uses its proposal once, and changes just what it says (11)."
    )
    checked_transfers: bool = _flag(
        "transfer-slug is checked, keeps the displaced record, and shows a plate (fault 15)."
    )
    checked_redirects: bool = _flag(
        "No redirect to itself; a later edit lifts the plate (fault 19, spec §5)."
    )
    settled_signals: bool = _flag(
        "Reputation counts edits, overturned edits and reviews beside rulings (spec §8)."
    )
    content_facts: bool = _flag(
        "A rev whose fetched text does not hash to its contentHash is refused (spec §7, AC-A6)."
    )
    stake_facts: bool = _flag(
        "Where stakes are looked up, a register waits for its own and a wrong one is refused (§4)."
    )
    display_modes: bool = _flag("`displayMode` of a ruling is judged and takes effect (spec §6).")


FLAGS: dict[str, str] = {
    row.name: str(row.metadata["says"]) for row in fields(Rules) if "says" in row.metadata
}
"""Every difference between the profiles: the flag's name, and what the PRD says."""

DEPLOYED = Rules("deployed", **dict.fromkeys(FLAGS, False))
"""The rules of the two public engines that run the network today."""
PRD = Rules("prd", **dict.fromkeys(FLAGS, True))
"""The rules of the PRD v0.9.3."""
PROFILES = {rules.name: rules for rules in (PRD, DEPLOYED)}
