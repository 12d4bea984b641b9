"""Vectors of a rule pack: small changes, and which rules fire on them.

A file of vectors goes with one pack and names it by version and digest. Every rule of the pack has
at least one vector that makes it fire and one near miss, where all conditions but one hold;
`lacking` finds the rules that have none.
"""

from __future__ import annotations

import msgspec

from refold.agentpedia.measure import Change, measure
from refold.agentpedia.rulepack import Level, Pack, judge
from refold.kernel.errors import InputError


class RuleVector(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vector: a change, and all that fires on it.

    `about` is the rule of the pack that it was made for, whether it fires or not.
    """

    id: str
    title: str
    about: str
    change: Change
    fired: list[str]
    score: int
    level: Level
    unknown: list[str] = []


class RuleVectorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Vectors of the pack with this version and digest."""

    version: str
    digest: str
    vectors: list[RuleVector]


class RuleResult(msgspec.Struct, frozen=True):
    """How one vector went: `difference` is what was found instead, "" when it was met."""

    id: str
    title: str
    difference: str

    @property
    def passed(self) -> bool:
        """Whether the vector was met."""
        return not self.difference


def read_rule_vectors(data: bytes) -> RuleVectorFile:
    """Read a file of vectors. Raises `InputError` (`rule-vectors-unreadable`)."""
    try:
        return msgspec.json.decode(data, type=RuleVectorFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            "rule-vectors-unreadable",
            f"not a file of rule vectors: {error}",
            "give the file that goes with the pack",
        ) from error


def run_rule_vector(vector: RuleVector, pack: Pack) -> RuleResult:
    """Judge the change of one vector by a pack, and compare whole."""
    judged = judge(pack, measure(vector.change, pack.phrases))
    found = ([fired.rule for fired in judged.fired], judged.score, judged.level, judged.unknown)
    wanted = (vector.fired, vector.score, vector.level, vector.unknown)
    difference = "" if found == wanted else f"expected {wanted}, found {found}"
    return RuleResult(vector.id, vector.title, difference)


def lacking(file: RuleVectorFile, pack: Pack) -> list[str]:
    """Name the rules of a pack that no vector made for them makes fire, or just misses."""
    rules = {rule.id: rule for rule in pack.rules}
    fires: set[str] = set()
    misses: set[str] = set()
    for vector in file.vectors:
        if vector.about not in rules:
            continue
        measures = measure(vector.change, pack.phrases)
        answers = [condition.holds(measures) for condition in rules[vector.about].when]
        unmet = len(answers) - answers.count(True)
        if not unmet:
            fires.add(vector.about)
        elif unmet == 1 and False in answers:
            misses.add(vector.about)
    return [rule for rule in rules if rule not in fires & misses]
