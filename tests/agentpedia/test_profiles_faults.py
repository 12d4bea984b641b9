"""The nineteen faults of the public engines (facts page), each under both profiles.

Under `prd` the right behaviour; under `deployed` the engines' common view, without their crashes.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentpedia.scenario import Scenario, Seen, both, hash_of, reasons
from refold.agentpedia.event import Event, position
from refold.agentpedia.fold import Fold
from refold.agentpedia.replay import replay
from refold.agentpedia.rules import DEPLOYED, PRD, Rules
from refold.agentpedia.state import Options
from refold.kernel.errors import InputError

if TYPE_CHECKING:
    from types import FrameType

PROFILES = (DEPLOYED, PRD)


# --- 1: one malformed pin ends the whole replay -------------------------------------------

MALFORMED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("rev", {"lang": {}, "slug": "a", "type": "edit"}),
    ("rev", {"lang": "en", "slug": ["a"], "type": "edit"}),
    ("rev", {"lang": "en", "slug": "a", "type": "toString"}),
    ("rev", {"lang": "en", "slug": "a", "type": "edit", "contentHash": 7}),
    ("rev", {"lang": "en", "slug": "a", "type": "revert", "revertTo": "__proto__"}),
    ("challenge", {"targetRev": {"toString": 1}}),
    ("ruling", {"action": "constructor"}),
    ("ruling", {"action": "vote", "proposalPin": []}),
    ("review", {"targetRev": None}),
    ("editor", {"action": "__proto__", "editor": "E1"}),
    ("editor", {"action": "register", "editor": {}}),
    ("constitution", {"revision": "0"}),
    ("param-proposal", {"kind": None}),
    ("unknown", {}),
)


def test_fault_01_a_malformed_pin_harms_itself_alone() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    before = both(world, tip=world.height)
    bad = [world.tell(path, "E2", **payload) for path, payload in MALFORMED]
    challenge = world.challenge("E2", first)
    bad.append(world.propose("E3", challenge, "hasOwnProperty"))
    after = world.edit("E3", "a")
    for seen, earlier in zip(both(world), before, strict=True):
        assert None not in seen.reasons(bad)
        assert seen.entry()["head"] == after
        assert earlier.entry()["head"] == first


def test_fault_01_a_negative_arbiter_draw_draws_nobody() -> None:
    world = Scenario(arbiterDrawN=-3)
    proposal = world.propose("E2", world.challenge("E2", world.create("E1", "a")), "dismiss")
    del world.options["arbiterOverrides"][proposal]
    for seen in both(world):
        assert seen.proposal(proposal)["arbiters"] == []


# --- 2: no check of schema, hash, size, envelope ------------------------------------------


def rows_of(world: Scenario, **envelope: str) -> bytes:
    """Give a story as indexer rows, all but the genesis in another envelope."""
    rows = []
    for event in world.events:
        body = msgspec.json.encode(event.payload)
        row = {
            "id": event.pin,
            "path": event.path,
            "genesisHeight": event.height,
            "txIndex": event.tx_index,
            "globalMetaId": event.sender,
            "operation": "create",
            "encryption": "0",
            "version": "1.0",
            "contentType": "application/json",
            "contentBody": b64encode(body).decode(),
            "contentLength": len(body),
        }
        rows.append(msgspec.json.encode(row | (envelope if event.pin != world.genesis else {})))
    return b"\n".join(rows)


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        ({"operation": "modify"}, "operation-not-create"),
        ({"encryption": "1"}, "encrypted"),
        ({"version": "2.0"}, "version-unknown"),
        ({"contentType": "text/plain"}, "content-type"),
        ({"contentType": "application/json; charset=utf-8"}, None),
    ],
)
def test_fault_02_the_envelope_is_a_gate_under_prd_and_not_looked_at_under_deployed(
    envelope: dict[str, str], reason: str | None
) -> None:
    world = Scenario(valid=True)
    rev = world.create("E1", "a")
    rows = rows_of(world, **envelope)
    deployed, prd = (Seen(world, replay(rows, rules)) for rules in PROFILES)
    assert (deployed.reason(rev), prd.reason(rev)) == (None, reason)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"extra": 1}, "schema-invalid"),
        ({"title": ""}, "schema-invalid"),
        ({"contentHash": hash_of("another text")}, "content-hash-mismatch"),
        ({"content": "é" * 8193}, "content-too-large"),
        ({"content": "é" * 8192}, None),
    ],
)
def test_fault_02_schema_hash_and_size_are_gates_under_prd_and_not_looked_at_under_deployed(
    payload: dict[str, Any], reason: str | None
) -> None:
    world = Scenario(valid=True)
    rev = world.create("E1", "a", **payload)
    deployed, prd = (Seen(world, replay(world.document(), rules)) for rules in PROFILES)
    assert (deployed.reason(rev), prd.reason(rev)) == (None, reason)


# --- 3: a pin listed twice is applied twice -----------------------------------------------


@pytest.mark.parametrize("rules", PROFILES)
def test_fault_03_a_pin_listed_twice_is_one_event(rules: Rules) -> None:
    world = Scenario(valid=True)
    world.create("E1", "a")
    edit = world.edit("E2", "a")
    twice = {"events": [*world.events, *world.events], "options": world.options}
    view = Seen(world, replay(msgspec.json.encode(twice), rules))
    assert view.full == Seen(world, replay(world.document(), rules)).full
    assert view.entry()["history"].count(edit) == 1

    fold = Fold(rules, msgspec.convert(world.options, Options))
    for event in sorted(world.events, key=position):
        fold.apply(event)
        fold.apply(event)
    assert fold.view().digest() == world.seen(rules).view.digest()


def test_fault_03_copies_that_differ_are_an_input_error_that_names_both() -> None:
    world = Scenario(valid=True)
    world.create("E1", "a")
    other = msgspec.structs.replace(world.events[-1], sender=world.who("E2"))
    document = msgspec.json.encode({"events": [*world.events, other]})
    with pytest.raises(InputError) as caught:
        replay(document)
    (problem,) = caught.value.errors
    assert problem.code == "conflicting-pin"
    assert "/events/1 and /events/2" in problem.message


# --- 4: a missing revision is taken as the genesis ----------------------------------------


def test_fault_04_a_constitution_without_revision_is_no_genesis() -> None:
    world = Scenario()
    first = world.create("E1", "a")
    genesis = world.events[0]
    payload = {name: value for name, value in genesis.payload.items() if name != "revision"}
    world.events[0] = msgspec.structs.replace(genesis, payload=payload)
    for seen in both(world):
        assert seen.reasons([world.genesis, first]) == ["schema-invalid", "no-genesis"]


# --- 5: pins cannot name what a revert or a ruling made -----------------------------------


def test_fault_05_the_pin_of_a_revert_names_its_version_under_prd_and_nothing_under_deployed() -> (
    None
):
    world = Scenario()
    first = world.create("E1", "a")
    second = world.edit("E2", "a")
    back = world.revert("E1", first)
    edit = world.edit("E3", "a", basedOn=back, parentRev=back)
    review, challenge = world.review("E4", back), world.challenge("E4", back)
    again = world.revert("E2", back)
    deployed, prd = both(world)
    assert deployed.entry()["contests"] == [
        {"pin": edit, "expected": f"{back}::eq", "declared": back}
    ]
    assert prd.entry()["contests"] == []
    assert deployed.version(edit)["parentRev"] == back
    assert prd.version(edit)["parentRev"] == f"{back}::eq"
    assert reasons(world, review) == ("review-target-unresolvable", None)
    assert reasons(world, challenge) == ("challenge-target-unresolvable", None)
    assert reasons(world, again) == ("revert-target-unresolvable", None)
    stale = world.edit("E3", "a", basedOn=second)
    assert world.seen().entry()["contests"] == [
        {"pin": stale, "expected": f"{again}::eq", "declared": second}
    ]


def test_fault_05_the_pin_of_a_ruling_names_its_version_under_prd_and_nothing_under_deployed() -> (
    None
):
    world = Scenario()
    first = world.create("E1", "a")
    second = world.edit("E2", "a")
    ruling = world.rule(second, "revert-to", revertTo=first)
    edit = world.edit("E3", "a", basedOn=ruling)
    content_hash = world.seen().version(first)["contentHash"]
    back = world.revert("E2", ruling, contentHash=content_hash)
    deployed, prd = both(world)
    assert deployed.entry()["contests"] == [
        {"pin": edit, "expected": f"{ruling}::rev", "declared": ruling}
    ]
    assert prd.entry()["contests"] == []
    assert reasons(world, back) == ("revert-target-unresolvable", None)


def test_fault_05_baseline_and_ruled_target_may_be_pins_under_prd_and_not_under_deployed() -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    challenge = world.challenge("E3", f"{frozen}::eq")
    made_by = baseline.removesuffix("::eq")
    plain = world.propose("E4", challenge, "revert-to", baseline=made_by, revertTo=made_by)
    assert reasons(world, plain) == ("baseline-rev-mismatch", None)
    assert world.seen().proposal(plain)["baselineRev"] == baseline

    world = Scenario()
    back = world.revert("E2", world.create("E1", "a"))
    challenge = world.challenge("E3", f"{back}::eq")
    ruling = world.propose("E4", challenge, "revert-to", revertTo=back)
    assert reasons(world, ruling) == ("ruling-params-missing", None)


# --- 6: nothing releases a freeze but unfreeze --------------------------------------------


def test_fault_06_an_effective_revert_to_ends_a_freeze_under_prd_and_not_under_deployed() -> None:
    world = Scenario()
    frozen, baseline, first = world.war()
    ruling = world.rule(f"{frozen}::eq", "revert-to", baseline=baseline, revertTo=first)
    deployed, prd = both(world)
    assert (deployed.entry()["status"], prd.entry()["status"]) == ("frozen", "normal")
    assert deployed.entry()["head"] == prd.entry()["head"] == f"{ruling}::rev"


def test_fault_06_dismiss_leaves_the_freeze_and_another_proposal_may_end_it() -> None:
    world = Scenario()
    frozen, baseline, _ = world.war()
    world.rule(f"{frozen}::eq", "dismiss", baseline=baseline)
    assert [s.entry()["status"] for s in both(world)] == ["frozen", "frozen"]
    world.rule(f"{frozen}::eq", "unfreeze", baseline=baseline)
    assert [s.entry()["status"] for s in both(world)] == ["normal", "normal"]


# --- 7: weights survive the end of a freeze -----------------------------------------------


@pytest.mark.parametrize("ending", ["unfreeze", "expiry", "unprotect"])
def test_fault_07_the_end_of_a_freeze_clears_its_traces_under_prd_and_not_under_deployed(
    ending: str,
) -> None:
    world = Scenario()
    frozen, baseline, first = world.war()
    if ending == "expiry":
        challenge = world.challenge("E3", f"{frozen}::eq")
        world.propose("E4", challenge, "dismiss", baseline=baseline)
        world.wait(world.blocks("voteWindowHours"))
    else:
        world.rule(f"{frozen}::eq", ending, baseline=baseline, protected=False)
    deployed, prd = both(world)
    assert (deployed.entry()["status"], prd.entry()["status"]) == ("normal", "normal")
    assert (deployed.entry()["frozenAt"], deployed.entry()["baselineRev"]) == (frozen, baseline)
    assert (prd.entry()["frozenAt"], prd.entry()["baselineRev"]) == (None, None)
    assert (len(deployed.entry()["writers"]), prd.entry()["writers"]) == (3, [])

    again = world.revert("E3", first)
    deployed, prd = both(world)
    assert (deployed.entry()["status"], prd.entry()["status"]) == ("frozen", "normal")
    assert deployed.entry()["frozenAt"] == again
    for name in ("E3", "E4"):
        world.revert(name, first)
    assert world.seen().entry()["status"] == "frozen"  # a new war, counted from its own beginning


# --- 8: old weights count in the repeat test ----------------------------------------------


def test_fault_08_an_old_vandalism_fix_is_forgotten_under_prd_and_remembered_under_deployed() -> (
    None
):
    world = Scenario()
    first = world.create("E1", "a")
    world.revert("E2", first, fix=True)
    world.wait(world.blocks("revertWarWindowHours"))  # the fix has left the window
    world.revert("E2", first, fix=True)  # 0.5, or 1.0 as a repeat
    world.revert("E3", first)
    assert [s.entry()["status"] for s in both(world)] == ["normal", "normal"]
    world.revert("E4", first)
    assert [s.entry()["status"] for s in both(world)] == ["frozen", "normal"]  # 3.0, 2.5


# --- 9: a challenge stays open for good ---------------------------------------------------


def test_fault_09_any_ruling_decides_under_prd_and_only_dismiss_clears_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    challenge = world.challenge("E2", target)
    proposal = world.propose("E3", challenge, "warn-editor", editor="E1")
    world.carry(proposal)
    deployed, prd = both(world)
    assert (deployed.entry()["disputed"], prd.entry()["disputed"]) == ([target], [])
    assert prd.full["challenge"][challenge]["outcome"] == "warn-editor"
    repeated = world.propose("E3", challenge, "dismiss")
    world.carry(repeated)
    assert reasons(world, repeated) == (None, "challenge-decided")
    assert world.seen(DEPLOYED).entry()["disputed"] == []


def test_fault_09_dismiss_clears_its_own_challenge_under_prd_and_every_one_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    world.challenge("E2", target)
    world.rule(target, "dismiss", challenger="E3")
    deployed, prd = both(world)
    assert (deployed.entry()["disputed"], prd.entry()["disputed"]) == ([], [target])
    world.rule(target, "dismiss", challenger="E4")
    assert world.seen().entry()["disputed"] == [target]  # E2's is still undecided


def test_fault_09_rulings_on_one_challenge_repeat_under_deployed() -> None:
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    for _ in range(3):
        world.carry(world.propose("E3", challenge, "warn-editor", editor="E1"))
    deployed, prd = both(world)
    assert (deployed.tenths("E1"), prd.tenths("E1")) == (-30, -10)


# --- 10: any ruling lets any T2 editor suspend anyone -------------------------------------


@pytest.mark.parametrize("step", [Scenario.suspend, Scenario.revoke])
@pytest.mark.parametrize(
    ("outcome", "sender", "editor", "refused"),
    [
        ("slash-stake-half", "J1", "E1", False),
        ("slash-stake-full", "J2", "E1", False),
        ("ban-editor", "J3", "E1", False),
        ("warn-editor", "J1", "E1", True),  # not an outcome that takes rights
        ("dismiss", "J1", "E1", True),
        ("slash-stake-full", "E2", "E1", True),  # not an arbiter of it
        ("slash-stake-full", "J1", "E3", True),  # not the editor it is about
    ],
)
def test_fault_10_sanctions_need_an_arbiter_of_that_very_ruling_under_prd_and_any_t2_under_deployed(
    step: Any, outcome: str, sender: str, editor: str, refused: bool
) -> None:
    world = Scenario()
    ruling = world.rule(world.create("E1", "a"), outcome, editor="E1")
    sanction = step(world, sender, editor, ruling)
    code = f"{step.__name__}-unauthorized"
    assert reasons(world, sanction) == (None, code if refused else None)
    taken = "revoked" if step is Scenario.revoke else "suspendedUntil"
    deployed, prd = both(world)
    assert bool(deployed.editor(editor)[taken])
    assert bool(prd.editor(editor)[taken]) == (not refused)


@pytest.mark.parametrize("step", [Scenario.suspend, Scenario.revoke])
def test_fault_10_an_open_or_missing_ruling_sanctions_nobody_under_either(step: Any) -> None:
    world = Scenario()
    challenge = world.challenge("E2", world.create("E1", "a"))
    still_open = world.propose("E3", challenge, "ban-editor", editor="E1")
    code = f"{step.__name__}-unauthorized"
    for ruling in (still_open, challenge, "none", None):
        assert reasons(world, step(world, "J1", "E1", ruling)) == (code, code)


# --- 11: see the rows on the constitution in test_profiles.py -----------------------------


def test_fault_11_a_param_proposal_serves_once_under_prd_and_freely_under_deployed() -> None:
    world = Scenario(founders=("E1", "E2", "E3", "E4", "E5"))
    amendment = world.amend("E2", rulingQuorum=3)
    for name in world.founders:
        world.amend_vote(name, amendment)
    stranger = world.revise(amendment, sender="N1", rulingQuorum=3)
    first = world.revise(amendment, rulingQuorum=3)
    second = world.revise(amendment, revision=2, previous=first, stakeAmountSat=1)
    assert reasons(world, stranger) == (None, "constitution-not-issuer")
    assert reasons(world, first) == (None, None)
    assert reasons(world, second) == (None, "param-proposal-used")
    deployed, prd = both(world)
    assert (deployed.params()["stakeAmountSat"], prd.params()["stakeAmountSat"]) == (1, 1000)


# --- 12: stakes and reviews are taken from anywhere ---------------------------------------


def test_fault_12_a_stake_serves_one_applicant_under_prd_and_all_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    registers = []
    for name in ("N1", "N1", "N2"):
        case = world.ask("E1", name)
        review = world.review(name, target)
        world.answer(name, case, review)
        registers.append(world.register(name, case, review, txid="the one stake"))
    deployed, prd = both(world)
    assert deployed.reasons(registers) == [None] * 3
    assert prd.reasons(registers) == [None, None, "stake-reused"]
    assert (deployed.editor("N2")["status"], prd.editor("N2")["status"]) == ("pending", "none")


# --- 13: unresolvable targets cost a scan -------------------------------------------------


def steps_of(fold: Fold, event: Event) -> int:
    """Count the bytecode steps that one event takes."""
    count = 0

    def trace(frame: FrameType, kind: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += kind == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        fold.apply(event)
    finally:
        sys.settrace(before)
    return count


def tell_unresolvable(world: Scenario, path: str) -> None:
    """Tell an event that names something which does not exist."""
    match path:
        case "review":
            world.review("E2", "nothing")
        case "challenge":
            world.challenge("E2", "nothing")
        case "rev":
            world.revert("E2", "nothing", "entry_0")
        case "ruling":
            world.propose("E2", "nothing", "dismiss")


@pytest.mark.parametrize("rules", PROFILES)
@pytest.mark.parametrize("path", ["review", "challenge", "rev", "ruling"])
def test_fault_13_an_unresolvable_target_costs_the_same_beside_any_number_of_entries(
    path: str, rules: Rules
) -> None:
    def cost(entries: int) -> int:
        world = Scenario(rateGlobalDaily=10_000)
        for number in range(entries):
            world.create("E1", f"entry_{number}")
        tell_unresolvable(world, path)
        *events, last = world.events
        fold = Fold(rules, msgspec.convert(world.options, Options))
        fold.apply_many(events)
        return steps_of(fold, last)

    assert 0 < cost(400) == cost(4)


# --- 14: endorsements pool across registers -----------------------------------------------


def test_fault_14_endorsements_count_per_register_under_prd_and_together_under_deployed() -> None:
    world = Scenario()
    target = world.create("E1", "a")
    registers = []
    for _ in range(2):
        registers.append(world.apply_for("N1", target))
        world.wait(1)
    first, second = registers
    for name in ("E1", "E2"):
        world.endorse(name, "N1", first)
    for name in ("E3", "E4"):
        world.endorse(name, "N1", second)
    repeat = world.endorse("E1", "N1", second)
    deployed, prd = both(world)
    assert (deployed.editor("N1")["status"], prd.editor("N1")["status"]) == ("active", "pending")
    assert reasons(world, repeat) == ("duplicate-endorse", None)
    world.endorse("E2", "N1", second)
    registered_at = world.seen().full["register"][second]["height"]
    assert world.seen().editor("N1")["registeredAt"] == registered_at  # age counts from its pin
    assert world.seen().full["register"][first]["height"] < registered_at < world.height


# --- 15: transfer-slug drops the record that held the key ---------------------------------


def test_fault_15_a_displaced_record_is_ruled_on_under_prd_and_gone_under_deployed() -> None:
    world = Scenario()
    moved, held = world.create("E1", "a"), world.create("E2", "b")
    case = world.challenge("E3", held)
    world.rule(moved, "transfer-slug", fromEntry="en:a", toEntry="en:b")
    ruling = world.propose("E4", case, "protect", protected=True)
    world.carry(ruling)
    assert reasons(world, ruling) == ("ruling-challenge-missing", None)
    prd = world.seen()
    assert prd.full["displaced"][held]["status"] == "protected"
    assert prd.entry("en:b")["status"] == "normal"
    back = world.revert("E2", held, "b")
    assert reasons(world, back) == ("revert-target-unresolvable", "revert-entry-mismatch")


# --- 16: any proposal can release or reset a freeze ---------------------------------------


def test_fault_16_a_proposal_from_before_a_freeze_ends_it_under_deployed_and_not_under_prd() -> (
    None
):
    for outcome in ("unfreeze", "unprotect", "protect", "revert-to"):
        world = Scenario()
        first = world.create("E1", "a")
        early = world.propose(
            "E4", world.challenge("E3", first), outcome, protected=True, revertTo=first
        )
        for name in ("E1", "E2", "E1"):
            world.revert(name, first)
        world.carry(early)
        deployed, prd = both(world)
        ended = {"unfreeze": "normal", "unprotect": "normal", "protect": "protected"}
        assert deployed.entry()["status"] == ended.get(outcome, "frozen"), outcome
        assert prd.entry()["status"] == "frozen", outcome
        assert prd.proposal(early)["state"] == "effective"


def test_fault_16_a_proposal_left_over_from_an_earlier_freeze_resets_the_next_under_deployed() -> (
    None
):
    world = Scenario()
    frozen, baseline, first = world.war()
    left_over = world.propose(
        "E5", world.challenge("E4", f"{frozen}::eq"), "dismiss", baseline=baseline
    )
    expiry = world.height + world.blocks("voteWindowHours")
    world.rule(f"{frozen}::eq", "unfreeze", baseline=baseline)
    reverts = [world.wait(1).revert(name, first) for name in ("E1", "E2", "E3")]
    deployed, prd = both(world, tip=expiry)
    assert deployed.proposal(left_over)["state"] == prd.proposal(left_over)["state"] == "voided"
    # `deployed` froze again at the first revert; the old proposal's end set the old baseline
    assert (deployed.entry()["status"], deployed.entry()["head"]) == ("normal", baseline)
    assert (prd.entry()["status"], prd.entry()["head"]) == ("frozen", f"{reverts[-1]}::eq")
    assert prd.entry()["frozenAt"] == reverts[-1]


# --- 17: proposals without number empty the arbiter pool ----------------------------------


def test_fault_17_many_proposals_charge_an_absence_once_under_prd_and_never_under_deployed() -> (
    None
):
    world = Scenario()
    targets = [world.create("E1", f"a{number}") for number in range(20)]
    challenges = [world.challenge("E2", target) for target in targets]
    proposals = [world.propose("E3", challenge, "dismiss") for challenge in challenges]
    repeated = [world.propose("E3", challenge, "dismiss") for challenge in challenges * 3]
    assert world.seen(DEPLOYED).reasons(repeated) == [None] * 60
    assert world.seen(PRD).reasons(repeated) == ["proposal-open"] * 60
    deployed, prd = both(world, tip=world.height + world.blocks("voteWindowHours"))
    assert {s.proposal(p)["state"] for s in (deployed, prd) for p in proposals} == {"voided"}
    for name in ("J1", "J2", "J3"):
        assert (deployed.tenths(name), prd.tenths(name)) == (0, -10)


# --- 18: the first stranger's genesis wins ------------------------------------------------


@pytest.mark.parametrize("rules", PROFILES)
def test_fault_18_a_genesis_pin_keeps_a_strangers_genesis_out(rules: Rules) -> None:
    world = Scenario()
    rev = world.create("E1", "a")
    own, *rest = world.events
    payload = own.payload | {"founders": ["X1", "X2"]}
    stranger = Event("000-aaa", own.path, own.height - 1, 0, "X1", payload)
    world.events = [stranger, own, *rest]
    open_to_all = world.seen(rules)
    assert open_to_all.common["founders"] == ["X1", "X2"]
    assert open_to_all.reasons([own.pin, rev]) == ["duplicate-genesis", "unregistered"]
    world.options["genesisPin"] = own.pin
    pinned = world.seen(rules)
    assert pinned.common["founders"] == list(world.founders)
    assert pinned.reasons([stranger.pin, own.pin, rev]) == ["no-genesis", None, None]


# --- 19: a redirect to itself -------------------------------------------------------------


def test_fault_19_a_redirect_to_itself_is_refused_under_prd_and_taken_under_deployed() -> None:
    world = Scenario()
    world.create("E1", "a")
    itself = world.redirect("E1", "a", "a")
    assert reasons(world, itself) == (None, "redirect-self")
