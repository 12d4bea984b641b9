"""The proposals that an editor has to do with, and the registrations: what is on file about one."""

from collections.abc import Sequence

from sqlalchemy import literal, select

from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json
from refold.agentpedia.queries.model_reader import CaseItem, Registration
from refold.agentpedia.store import tables
from refold.agentpedia.store.rows import decode, encode

__all__ = ["MAX_CASES", "case_item", "cases_of", "registrations_of"]

MAX_CASES = 1_000
"""Proposals, the newest, that are looked through for an editor: no index says who is in them."""
MAX_REGISTERS = 20
"""Registrations of one applicant that are shown."""


def cases_of(look: Look, name: str) -> list[Json]:
    """Give the proposals (their values in the view) that name an editor, the newest first."""
    c = tables.proposals.c
    asked = select(c.value).order_by(c.opened_at.desc(), c.key.desc()).limit(literal(MAX_CASES))
    quoted = encode(name)
    found = [value for value in look.connection.scalars(asked) if quoted in value]
    return [value for value in map(decode, found) if _names(value, name)]


def _names(value: Json, name: str) -> bool:
    return bool(
        value["params"]["editor"] == name or value["sender"] == name or name in value["arbiters"]
    )


def case_item(value: Json, name: str) -> CaseItem:
    """Give a proposal as it concerns an editor."""
    votes = {vote["editor"]: vote["approve"] for vote in value["votes"]}
    return CaseItem(
        id=value["pin"],
        outcome=value["outcome"],
        state=value["state"],
        entry_key=value["entryKey"],
        opened_at=value["openedAt"],
        expires_at=value["expiresAt"],
        is_about=value["params"]["editor"] == name,
        is_opener=value["sender"] == name,
        is_drawn=name in value["arbiters"],
        approve=votes.get(name),
    )


def registrations_of(look: Look, registers: Sequence[str]) -> list[Registration]:
    """Give registrations by their pins, the first ones, each with what is known of its stake."""
    found = []
    for pin in registers[:MAX_REGISTERS]:
        stored = look.values.stored("register", pin)
        if stored is None:
            continue
        value: Json = stored.value
        fact = look.store.facts.stake(pin)
        found.append(
            Registration(
                id=pin,
                height=value["height"],
                txid=value["txid"],
                amount_sat=value["amountSat"],
                endorsers=tuple(value["endorsers"]),
                stake=None if fact is None else fact.state,
            )
        )
    return found
