"""Intake: a content becomes a typed post, or every problem that can be seen in it alone.

What depends on other posts and on the time is judged by `refold.trials.relations`. Source: cold
trials spec §1.
"""

import msgspec

from refold.trials.codes import Fault, fault, problems_of, warnings_of
from refold.trials.fields import read_fields
from refold.trials.grammar import Line, read_sheet
from refold.trials.posts import Message, Post
from refold.trials.proofs import Proof, read_proof
from refold.trials.sites import SITES, Site
from refold.trials.tables import Kind
from refold.trials.targets import Target, WrongUrlError, read_target, read_url

__all__ = ["Reading", "read_content"]


class Reading(msgspec.Struct, frozen=True):
    """What a content is, as far as it tells itself.

    `kind` is the kind that it is or was meant to be. `post` is None if there are problems. Of a
    trial, `target` and `proof` are there if they can be used.
    """

    kind: Kind
    post: Post | None
    faults: tuple[Fault, ...]
    target: Target | None = None
    proof: Proof | None = None

    @property
    def problems(self) -> tuple[Fault, ...]:
        """All that refuses the content."""
        return problems_of(self.faults)

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """All that its writer may want to know."""
        return warnings_of(self.faults)


def read_content(
    content: bytes | str,
    origin: str | None = None,
    sites: tuple[Site, ...] = SITES,
    *,
    preview: bool = False,
) -> Reading:
    """Read a content, whatever bytes it is; nothing is raised.

    `origin` is this node's own, which the field `node` must name; None takes any. With `preview`
    the host names of examples pass.
    """
    sheet, faults = read_sheet(content)
    if sheet.format is None:
        message = None if problems_of(faults) else Message(sheet.text)
        return Reading("message", message, faults)
    fields = read_fields(sheet.format, sheet)
    all_faults = [*faults, *fields.faults]
    node = fields.places.get("node")
    is_origin = all(each.code != "origin_form" for each in fields.faults)
    if node is not None and is_origin and origin is not None and node.value != origin:
        detail = f"The post is for {node.value[:80]!a}; this node is {origin}."
        all_faults.append(fault("wrong_node", detail, line=node.number, field="node"))
    target, proof = None, None
    if sheet.format.kind == "trial":
        target, proof = _consent(fields.places, sites, all_faults, preview=preview)
    elif sheet.format.kind == "review":
        _tool(fields.places.get("tool"), all_faults, preview=preview)
    all_faults.sort(key=_place)
    post = None if problems_of(tuple(all_faults)) else fields.post
    return Reading(sheet.format.kind, post, tuple(all_faults), target, proof)


def _place(one: Fault) -> tuple[int, int]:
    """Give where a fault is told: those of the whole content first, missing fields last."""
    if one.line is None:
        return (2 if one.field else 0, 0)
    return (1, one.line)


def _consent(
    places: dict[str, Line], sites: tuple[Site, ...], faults: list[Fault], *, preview: bool
) -> tuple[Target | None, Proof | None]:
    """Give target and proof of a trial, each None with a fault if it cannot be used."""
    target, proof = None, None
    line = places.get("target")
    if line is not None:
        try:
            target = read_target(line.value, sites, preview=preview)
        except WrongUrlError as wrong:
            faults.append(wrong.fault("target", line.number))
    line = places.get("owner-proof")
    if line is not None:
        try:
            # Without a target the link is still looked at for what is wrong with itself.
            proof = read_proof(line.value, target, preview=preview) if target else None
            if target is None:
                read_url(line.value, preview=preview)
        except WrongUrlError as wrong:
            faults.append(wrong.fault("owner-proof", line.number))
    return target, proof


def _tool(line: Line | None, faults: list[Fault], *, preview: bool) -> None:
    if line is not None and "://" in line.value:
        try:
            read_url(line.value, preview=preview)
        except WrongUrlError as wrong:
            faults.append(wrong.fault("tool", line.number))
