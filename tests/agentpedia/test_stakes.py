"""Stakes of registers: who waits for a look, and what a transaction says of one. All of it pure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpedia.scenario import Scenario
from metaid.samples import AUTHOR, SPONSOR, VICTIM, coin, parent
from refold.agentpedia.stakes import (
    REASONS,
    WantedStake,
    judge_stake,
    wanted_stake,
)
from refold.metaid.address import Address
from refold.metaid.envelope import new_tuple
from refold.metaid.globalmetaid import encode_globalmetaid
from refold.metaid.script import push
from refold.metaid.tx import Input, Outpoint, Output, Tx, plain_txid_of, serialize_tx, txid_of
from refold.metaid.wallet import Key, build_pin_tx

AMOUNT = 100_000
APPLICANT = AUTHOR.globalmetaid
DATA = Output(0, b"\x00\x6a\x06metaid")


def funded_by(key: Key, *outputs: Output) -> Tx:
    """A transaction one of whose inputs shows a key."""
    unlock = push(b"\x30" * 70 + b"\x41") + push(key.public)
    foreign = Input(Outpoint("22" * 32, 0), push(b"\x30" * 70 + b"\x41") + push(VICTIM.public))
    return Tx(10, (foreign, Input(Outpoint("11" * 32, 1), unlock)), outputs)


def judged(tx: Tx, amount: int = AMOUNT, applicant: str = APPLICANT) -> Any:
    return judge_stake(WantedStake(txid_of(tx), amount), applicant, serialize_tx(tx))


# --- who waits ---------------------------------------------------------------------------------


def register(**changes: Any) -> tuple[str, dict[str, Any]]:
    world = Scenario(valid=True)
    world.apply_for("N1", world.create("E1"))
    event = world.events[-1]
    return event.sender, event.payload | changes


def test_a_register_of_ones_own_waits_for_its_stake() -> None:
    sender, payload = register(stake={"txid": "cd" * 32, "amountSat": 1_000.0})
    assert wanted_stake(sender, payload) == WantedStake("cd" * 32, 1_000)


@pytest.mark.parametrize(
    "changes",
    [
        {"action": "endorse"},
        {"editor": "idq1" + "z" * 38},
        {"stake": None},
        {"stake": []},
        {"stake": {"txid": "cd" * 32}},
        {"stake": {"txid": "cd" * 31, "amountSat": 5}},
        {"stake": {"txid": "cd" * 32, "amountSat": 0}},
        {"stake": {"txid": "cd" * 32, "amountSat": "5"}},
        {"challengePin": None},
    ],
)
def test_whatever_is_refused_anyway_waits_for_nothing(changes: dict[str, Any]) -> None:
    sender, payload = register(**changes)
    assert wanted_stake(sender, payload) is None


# --- what counts -------------------------------------------------------------------------------


def test_an_output_to_the_applicant_counts_whoever_pays_it() -> None:
    tx = parent(DATA, Output(AMOUNT + 1, AUTHOR.script), Output(9 * AMOUNT, VICTIM.script))
    finding = judged(tx)
    assert (finding.state, finding.found) == ("verified", AMOUNT + 1)


def test_an_output_to_anybody_counts_when_the_applicant_funds_it() -> None:
    finding = judged(funded_by(AUTHOR, DATA, Output(AMOUNT, VICTIM.script)))
    assert (finding.state, finding.found) == ("verified", AMOUNT)


def test_what_strangers_pay_each_other_is_nobodys_stake() -> None:
    finding = judged(funded_by(SPONSOR, DATA, Output(9 * AMOUNT, VICTIM.script)))
    assert (finding.state, finding.reason, finding.found) == ("mismatch", "stake-foreign", 0)


def test_one_output_is_the_stake_and_not_their_sum() -> None:
    tx = funded_by(AUTHOR, *[Output(AMOUNT - 1, AUTHOR.script)] * 5)
    finding = judged(tx)
    assert (finding.state, finding.reason, finding.found) == ("mismatch", "stake-short", AMOUNT - 1)


@given(
    st.lists(
        st.tuples(st.integers(0, 3 * AMOUNT), st.sampled_from([AUTHOR, VICTIM, SPONSOR])),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([AUTHOR, SPONSOR]),
    st.integers(1, 3 * AMOUNT),
)
def test_the_rule_in_one_sentence(paid: list[tuple[int, Key]], payer: Key, amount: int) -> None:
    """An output worth the stake, funded by the applicant or paid to him; and no other state."""
    tx = funded_by(payer, *(Output(value, key.script) for value, key in paid))
    counts = [value for value, key in paid if AUTHOR in {payer, key}]
    finding = judged(tx, amount)
    assert finding.state == ("verified" if max(counts, default=0) >= amount else "mismatch")
    assert finding.found == max(counts, default=0)


def test_real_signatures_of_a_wallet_show_the_key() -> None:
    built = build_pin_tx(
        AUTHOR, new_tuple("create", "/protocols/simplenote", b"{}"), [coin(AUTHOR, 5 * AMOUNT)]
    )
    wanted = WantedStake(built.pin.txid, AMOUNT)
    assert judge_stake(wanted, APPLICANT, built.raw).state == "verified"
    assert judge_stake(wanted, VICTIM.globalmetaid, built.raw).state == "mismatch"


# --- what proves nothing -----------------------------------------------------------------------


def test_one_transaction_is_a_stake_under_one_name_alone() -> None:
    """Else two applicants could each name it, and `stake-reused` would not see it."""
    tx = parent(Output(AMOUNT, AUTHOR.script))
    finding = judge_stake(WantedStake(plain_txid_of(tx), AMOUNT), APPLICANT, serialize_tx(tx))
    assert (finding.state, finding.reason, finding.detail) == ("mismatch", "tx-alias", txid_of(tx))


@given(st.binary(max_size=300))
def test_bytes_of_anything_else_are_no_word_about_it(raw: bytes) -> None:
    finding = judge_stake(WantedStake("cd" * 32, AMOUNT), APPLICANT, raw)
    assert (finding.state, finding.found) == ("unavailable", None)
    assert finding.reason


def test_an_absent_or_another_transaction_and_an_odd_applicant() -> None:
    tx = parent(Output(AMOUNT, AUTHOR.script))
    raw, wanted = serialize_tx(tx), WantedStake(txid_of(tx), AMOUNT)
    other = WantedStake("cd" * 32, AMOUNT)
    script = encode_globalmetaid(Address("p2sh", b"s" * 20))
    assert judge_stake(wanted, APPLICANT, None).reason == "tx-unknown"
    assert judge_stake(other, APPLICANT, raw).reason == "tx-is-another"
    for odd in ("", "idq1" + "z" * 38, script):
        finding = judge_stake(wanted, odd, raw)
        assert (finding.state, finding.reason) == ("unavailable", "applicant-no-key")


def test_every_reason_has_its_meaning() -> None:
    assert all(REASONS.values())
