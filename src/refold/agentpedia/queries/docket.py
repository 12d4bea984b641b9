"""Proposals as the docket shows them: why they were made, who voted when, what is to change."""

from refold.agentpedia.payload import decode_payload
from refold.agentpedia.queries.casting import casts_of, decided_at, said_by
from refold.agentpedia.queries.challenges import challenges_shown
from refold.agentpedia.queries.drawnhistory import verdicts_on
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Json
from refold.agentpedia.queries.model_reader import ParamProposalShown, ProposalShown, Said
from refold.agentpedia.queries.rulings import constitutions_of, param_proposal_of, proposal_of
from refold.agentpedia.state import Options

__all__ = ["param_proposal_shown", "proposal_shown"]


def proposal_shown(look: Look, pin: str) -> ProposalShown:
    """Give a proposal for a ruling. Raises InputError `proposal-unknown`. For a thread."""
    item = proposal_of(look, pin)
    value = _value(look, "proposal", pin)
    casts = casts_of(look, "proposal", value)
    challenge = look.values.stored("challenge", item.challenge_pin)
    constitutions = constitutions_of(look)
    names = [pin, item.challenge_pin, *(cast.id for cast in casts)]
    return ProposalShown(
        proposal=item,
        rationale=_rationale(look, pin, item.sender),
        challenge=None if challenge is None else challenges_shown(look, [challenge.value])[0],
        votes=tuple(casts),
        quorum=int(constitutions[-1].params["rulingQuorum"]) if constitutions else 0,
        decided_at=decided_at(value, casts),
        blocks_per_hour=Options().blocks_per_hour,
        verdicts=verdicts_on(look, names),
    )


def param_proposal_shown(look: Look, pin: str) -> ParamProposalShown:
    """Give a proposal to change parameters. Raises InputError `proposal-unknown`. For a thread."""
    item = param_proposal_of(look, pin)
    value = _value(look, "param-proposal", pin)
    casts = casts_of(look, "param-proposal", value)
    constitutions = constitutions_of(look)
    return ParamProposalShown(
        proposal=item,
        rationale=_rationale(look, pin, item.sender),
        votes=tuple(casts),
        present=dict(constitutions[-1].params) if constitutions else {},
        decided_at=decided_at(value, casts),
        blocks_per_hour=Options().blocks_per_hour,
        verdicts=verdicts_on(look, [pin, *(cast.id for cast in casts)]),
    )


def _value(look: Look, section: str, pin: str) -> Json:
    stored = look.values.stored(section, pin)
    return {} if stored is None else stored.value


def _rationale(look: Look, pin: str, sender: str) -> Said:
    payload = decode_payload(look.store.pins.first_bodies([pin]).get(pin, b"")) or {}
    return said_by(look, pin, sender, payload.get("rationale"))
