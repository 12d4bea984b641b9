"""The rule pack: one versioned data file of conditions on measures, and what it says of one rev.

A pack turns the measures of a rev into a score and a `Level`. A level is a word for readers and
nothing else: no rule of the fold knows it, and none of its three values refuses anything.
`disallow` is what three gates of the fold do (`Gate`, in `signals`); no pack can name it (PRD §4.8,
X11).
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec

from refold.agentpedia.event import MAX_INTEGER
from refold.agentpedia.measure import NUMBER_MEASURES, PHRASES, TEXT_MEASURES
from refold.kernel.canon import digest
from refold.kernel.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.agentpedia.measure import Measures

BUILT_IN = "rulepack.json"

MAX_RULES = 200
MAX_CONDITIONS = 12
MAX_GROUPS = 32
MAX_PHRASES = 100
MAX_PHRASE_CHARS = 64
"""Limits of a pack: they bound what judging one rev costs, whoever wrote the pack."""

Level = Literal["log", "tag", "warn"]
"""What a score comes to. There is no fourth: a score never keeps a rev out."""
LEVELS: tuple[Level, ...] = get_args(Level)
"""The three, from the least."""

_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,47}$")]
_Sentence = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
_Points = Annotated[int, msgspec.Meta(ge=1, le=100)]
_Threshold = Annotated[int, msgspec.Meta(ge=1, le=100 * MAX_RULES)]
_Phrase = Annotated[str, msgspec.Meta(min_length=2, max_length=MAX_PHRASE_CHARS)]
_Phrases = Annotated[list[_Phrase], msgspec.Meta(min_length=1, max_length=MAX_PHRASES)]


class Condition(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One measure compared: with words (`one_of`), or with numbers (`at_least`, `at_most`)."""

    measure: str
    one_of: list[str] | None = None
    at_least: _Count | None = None
    at_most: _Count | None = None

    def holds(self, measures: Measures) -> bool | None:
        """Tell whether it holds; None when the measure is not known."""
        value = measures[self.measure]
        if value is None:
            return None
        if isinstance(value, str):
            return self.one_of is not None and value in self.one_of
        above = self.at_least is None or value >= self.at_least
        return above and (self.at_most is None or value <= self.at_most)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule: it fires when all of its conditions hold, and adds `score`."""

    id: _Name
    says: _Sentence
    score: _Points
    when: Annotated[list[Condition], msgspec.Meta(min_length=1, max_length=MAX_CONDITIONS)]


class Levels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scores from which a rev is tagged, and warned of; below both it is logged."""

    tag: _Threshold
    warn: _Threshold


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Annotated[str, msgspec.Meta(pattern=r"^rule-pack-v[1-9][0-9]{0,8}$")]
    says: _Sentence
    levels: Levels
    phrases: Annotated[dict[_Name, _Phrases], msgspec.Meta(max_length=MAX_GROUPS)]
    rules: Annotated[list[Rule], msgspec.Meta(min_length=1, max_length=MAX_RULES)]


class Pack(msgspec.Struct, frozen=True):
    """A pack ready to judge with. `digest` is that of the file's JSON value, in canonical form."""

    version: str
    digest: str
    levels: Levels
    phrases: dict[str, list[bytes]]
    rules: list[Rule]


class Fired(msgspec.Struct, frozen=True, gc=False):
    """A rule that fired: what it added, and the measures its conditions saw."""

    rule: str
    score: int
    saw: dict[str, int | str]


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """What a pack says of one rev; `unknown` are the rules that an unknown text left open."""

    score: int
    level: Level
    fired: list[Fired]
    unknown: list[str]


def load_pack(data: bytes) -> Pack:
    """Read a pack. Raises `InputError` (`rule-pack-invalid`) with every problem found."""
    try:
        value = msgspec.json.decode(data)
        file = msgspec.convert(value, _File)
        digest_hex = digest(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InputError) as error:
        raise InputError(
            "rule-pack-invalid",
            f"not a rule pack: {error}",
            "see docs/agentpedia-signals.md for the format",
        ) from error
    problems = list(_problems(file))
    if problems:
        raise InputError.of(problems)
    return Pack(
        version=file.version,
        digest=digest_hex,
        levels=file.levels,
        phrases={group: [p.encode() for p in texts] for group, texts in file.phrases.items()},
        rules=file.rules,
    )


@cache
def built_in_pack() -> Pack:
    """Give the pack that this release carries."""
    return load_pack(resources.files("refold.agentpedia").joinpath(BUILT_IN).read_bytes())


def _problems(file: _File) -> Iterator[Problem]:
    """Find what the shape of a pack does not say."""
    if file.levels.tag > file.levels.warn:
        yield _problem("a rev is tagged before it is warned of", "levels/tag")
    for group, texts in file.phrases.items():
        for index, text in enumerate(texts):
            if text != text.encode().lower().decode():
                yield _problem(
                    "a phrase has capitals; texts are lowered", f"phrases/{group}/{index}"
                )
    numbers = {*NUMBER_MEASURES, *(PHRASES + group for group in file.phrases)}
    seen: set[str] = set()
    for index, rule in enumerate(file.rules):
        place = f"rules/{index}"
        if rule.id in seen:
            yield _problem(f"two rules are named {rule.id}", f"{place}/id")
        seen.add(rule.id)
        for number, condition in enumerate(rule.when):
            fault = _fault(condition, numbers)
            if fault:
                yield _problem(fault, f"{place}/when/{number}")


def _fault(condition: Condition, numbers: set[str]) -> str:
    """Say what is wrong with a condition, "" when nothing is; `numbers` are measures that count."""
    name = condition.measure
    is_number = condition.at_least is not None or condition.at_most is not None
    if name in TEXT_MEASURES:
        return "" if condition.one_of and not is_number else f"{name} is compared by oneOf"
    if name not in numbers:
        return f"there is no measure {name}"
    if condition.one_of is not None or not is_number:
        return f"{name} is compared by atLeast and atMost"
    return ""


def _problem(message: str, place: str) -> Problem:
    return Problem(
        "rule-pack-invalid", message, "see docs/agentpedia-signals.md for the format", f"/{place}"
    )


def judge(pack: Pack, measures: Measures) -> Judgement:
    """Judge one rev by its measures. Rules that an unknown text leaves open do not fire."""
    fired: list[Fired] = []
    unknown: list[str] = []
    for rule in pack.rules:
        answers = [condition.holds(measures) for condition in rule.when]
        if False in answers:
            continue
        if None in answers:
            unknown.append(rule.id)
        else:
            fired.append(Fired(rule.id, rule.score, _seen(rule, measures)))
    score = sum(f.score for f in fired)
    return Judgement(score, level_of(score, pack.levels), fired, unknown)


def _seen(rule: Rule, measures: Measures) -> dict[str, int | str]:
    seen: dict[str, int | str] = {}
    for condition in rule.when:
        value = measures[condition.measure]
        if value is not None:
            seen[condition.measure] = value
    return seen


def level_of(score: int, levels: Levels) -> Level:
    """Give the level of a score."""
    if score >= levels.warn:
        return "warn"
    return "tag" if score >= levels.tag else "log"
