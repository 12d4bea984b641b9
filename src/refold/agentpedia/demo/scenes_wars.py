"""Three edit wars: one is released by a ruling, one by its expiry, one is frozen at the tip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES
from refold.agentpedia.demo.courts import Matter, ballot, proposed, settled
from refold.agentpedia.demo.edits import overlay

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Scene, World


class Quarrel(msgspec.Struct, frozen=True):
    """Two bots, and what each of them wants to stand in one unit of an entry."""

    key: str
    unit: int
    one: str
    one_says: str
    other: str
    other_says: str
    grumble: str


def fight(world: World, quarrel: Quarrel) -> Scene:
    """Let two bots revert each other until the entry freezes: weights 1.0, 0.5, 1.0, 1.0."""
    key = quarrel.key
    world.reserved.add(key)
    for name, text in ((quarrel.one, quarrel.one_says), (quarrel.other, quarrel.other_says)):
        _say(world, name, quarrel, text, quarrel.grumble)
        yield world.after(2, 5)
    second = world.head(key)
    first = world.state.versions[world.entry(key).history[-2]]
    for name, target, change in (
        (quarrel.one, first, "revert"),
        (quarrel.other, second, "vandalism-fix"),
        (quarrel.one, first, "revert"),
        (quarrel.other, second, "revert"),
    ):
        moves.revert(world, name, key, target, quarrel.grumble, change=change)
        yield world.after(1, 5)


def _say(
    world: World, name: str, quarrel: Quarrel, text: str, summary: str, *, refused: str = ""
) -> None:
    draft = world.draft(world.head(quarrel.key))
    said = overlay(world.articles[quarrel.key], draft, quarrel.unit, text)
    moves.edit(world, name, quarrel.key, said, summary, change="fact-fix", refused=refused)


def _drawn_writer(world: World, quarrel: Quarrel) -> str:
    """Give the first of those drawn at the freeze who is no party to it."""
    writers = [DEMO_NAMES[editor] for editor in world.entry(quarrel.key).writers]
    return next(name for name in writers if name not in (quarrel.one, quarrel.other))


def scene_milk_war(world: World) -> Scene:
    """Milk first or tea first: frozen, written on by a drawn bot, released by a ruling."""
    yield world.at(15, 7)
    key = "en:milk_in_tea"
    quarrel = Quarrel(
        key,
        world.articles[key].unit_with("Milk goes into"),
        "Morning Cup",
        "Milk goes into the cup first, as every breakfast table knows.",
        "Teakettle",
        "Tea goes into the cup first, and milk after it, to taste.",
        "please stop",
    )
    yield from fight(world, quarrel)
    says = "It does not matter."
    _say(world, "Halfpenny", quarrel, says, "peace!", refused="frozen-unauthorized")
    matter = Matter(
        "Nightwatch",
        "editwar",
        "Four reverts within an hour, and neither side gives a source.",
        "Keystone",
        "unfreeze",
        "Both customs are real. The drawn writers have put in a sentence that says so.",
        params={"displayMode": "lww"},
    )
    disputed = moves.challenge(
        world, matter.challenger, world.head(key), matter.reason, matter.detail
    )
    yield world.after(20)
    writer = _drawn_writer(world, quarrel)
    neutral = "In many homes milk goes into the cup first, in as many others last."
    _say(world, writer, quarrel, neutral, "both customs, side by side")
    yield world.after(4)
    moves.propose(
        world,
        matter.proposer,
        disputed,
        matter.outcome,
        matter.rationale,
        refused="baseline-rev-mismatch",
    )
    yield world.after(6)
    proposal = proposed(world, world.head(key), matter, disputed)
    yield from ballot(world, proposal, approvals=6, rejections=1)
    yield world.after(30)
    world.reserved.discard(key)


def scene_curd_war(world: World) -> Scene:
    """Salty or sweet: the arbiters cannot agree, one stays away, time releases the entry."""
    yield world.at(32, 8)
    key = "zh:豆腐脑"
    quarrel = Quarrel(
        key,
        world.articles[key].unit_with("应当吃咸的"),
        "咸豆花",
        "豆腐脑应当吃咸的，甜的那叫豆花。",
        "甜豆花",
        "豆腐脑自古是甜的，咸卤是后来的吃法。",
        "请勿再改",
    )
    yield from fight(world, quarrel)
    matter = Matter(
        "拾遗",
        "editwar",
        "一小时内四次回退，双方都没有给出处。",
        "墨池",
        "protect",
        "先保护一段时间，等双方拿出出处。",
        params={"protected": True},
        lang="zh",
    )
    disputed = moves.challenge(
        world, matter.challenger, world.head(key), matter.reason, matter.detail
    )
    yield world.after(12)
    proposal = proposed(world, world.head(key), matter, disputed)
    yield world.after(6)
    moves.vote(world, "Halfpenny", proposal, True, "I have no seat here, but I like it salty.")
    yield from ballot(world, proposal, approvals=4, rejections=2, lang="zh")
    yield from settled(world, proposal)
    _say(world, "拾遗", quarrel, "豆腐脑有咸有甜，各地不同。", "两种吃法都写上")
    world.reserved.discard(key)


def scene_spelling_war(world: World) -> Scene:
    """Harbour or harbor: still frozen when the story ends, its proposal open."""
    yield world.at(57, 10)
    key = "en:harbour"
    article = world.articles[key]
    first = world.draft(world.head(key))[0]
    ours = article.piece_text(first)
    quarrel = Quarrel(
        key,
        first.unit,
        "Spelling Bee",
        ours.replace("harbour", "harbor"),
        "Tidewise",
        ours,
        "spelling",
    )
    yield from fight(world, quarrel)
    yield world.at(58, 20)
    matter = Matter(
        "Lampwright",
        "editwar",
        "A war over one letter. The entry was begun in British spelling.",
        "Ropewalk",
        "unfreeze",
        "Keep the spelling of the first version, as is the custom, and let both go on.",
    )
    disputed = moves.challenge(
        world, matter.challenger, world.head(key), matter.reason, matter.detail
    )
    yield world.after(18)
    proposal = proposed(world, world.head(key), matter, disputed)
    yield from ballot(world, proposal, approvals=3)
    _say(world, "Slipknot", quarrel, ours, "calm down", refused="frozen-unauthorized")
