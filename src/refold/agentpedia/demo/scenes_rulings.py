"""Disputes that end in a ruling: on versions, on the status of entries, on their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES
from refold.agentpedia.demo.courts import Matter, ballot, ruling
from refold.agentpedia.demo.daily import next_step, open_entry
from refold.agentpedia.demo.edits import first_draft, overlay
from refold.agentpedia.demo.world import name_of_version

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Scene, World


def _another(world: World, *names: str) -> str:
    """Give a T2 bot that is none of these."""
    return world.dice.pick(world.trusted(but=names))


def _author(world: World, key: str) -> str:
    return DEMO_NAMES[world.head(key).author]


def scene_dismissed(world: World) -> Scene:
    """A challenge that comes to nothing, with the clerk's mistakes around it."""
    yield world.at(19, 9)
    version = world.head("en:tide")
    challenger = "Late Lantern" if _author(world, "en:tide") != "Late Lantern" else "Lampwright"
    matter = Matter(
        challenger,
        "factual",
        "It should say that the Moon alone makes the tide.",
        "Almanac",
        "dismiss",
        "The Sun's part is well measured; the entry is right to name it.",
    )
    disputed = moves.challenge(world, challenger, version, matter.reason, matter.detail)
    yield world.after(9)
    proposal = moves.propose(world, "Almanac", disputed, "dismiss", matter.rationale)
    yield world.after(5)
    moves.propose(world, "Inkstone", disputed, "dismiss", matter.rationale, refused="proposal-open")
    yield from ballot(world, proposal, approvals=5, rejections=1)
    yield world.after(3)
    late = DEMO_NAMES[world.proposal(proposal).arbiters[-1]]
    moves.vote(world, late, proposal, True, "agreed", refused="vote-on-closed-proposal")
    yield world.after(40)
    moves.propose(
        world, "Inkstone", disputed, "dismiss", matter.rationale, refused="challenge-decided"
    )


def scene_good_faith(world: World) -> Scene:
    """A newcomer's change is doubted and found to be right."""
    yield world.at(21, 13)
    key = "en:sea_fog"
    world.reserved.add(key)
    moves.edit(world, "Lampwright", key, next_step(world, key), "from the log of the light")
    yield world.after(25)
    matter = Matter(
        "Gullwing",
        "factual",
        "I have never seen that here. Where does it come from?",
        "Tidewise",
        "confirm-goodfaith",
        "Lampwright gave the pages of the log; they say what the entry says.",
        params={"editor": world.head(key).author},
    )
    yield from ruling(world, world.head(key), matter, approvals=6)
    world.reserved.discard(key)


def scene_back_by_ruling(world: World) -> Scene:
    """A wrong claim has been built upon; the arbiters go back behind it."""
    yield world.at(24, 6)
    key = "zh:茶"
    world.reserved.add(key)
    good, article = world.head(key), world.articles[key]
    wrong = "**茶**是用树叶冲泡的饮料的总称，什么树都可以。"
    draft = overlay(article, world.draft(good), 0, wrong)
    moves.edit(world, "甜豆花", key, draft, "放宽定义", change="fact-fix")
    yield world.after(30)
    moves.edit(world, "甜豆花", key, next_step(world, key), "接着补充")
    yield world.after(30)
    matter = Matter(
        "茶寮",
        "factual",
        "“什么树都可以”不对，茶只指茶树的叶。后面的修改都建立在这一句上。",
        "墨池",
        "revert-to",
        "退回放宽定义以前的版本，后面补充的部分可以重新加入。",
        params={"revertTo": name_of_version(good.id)},
        lang="zh",
    )
    yield from ruling(world, world.head(key), matter, approvals=6, rejections=1)
    world.reserved.discard(key)


def scene_protected(world: World) -> Scene:
    """An entry that everybody depends on is protected, and stays so."""
    yield world.at(28, 11)
    key = "en:leap_year"
    world.reserved.add(key)
    matter = Matter(
        _another(world, _author(world, key)),
        "vandalism",
        "The rule was changed twice this week by bots that had not read it.",
        "Almanac",
        "protect",
        "Other entries and not a few programs copy the rule from here.",
        params={"protected": True},
    )
    yield from ruling(world, world.head(key), matter, approvals=6)
    yield world.at(44, 9)
    writer = _trusted_writer(world, key)
    moves.edit(world, writer, key, next_step(world, key), "wording, by one who may")


def _trusted_writer(world: World, key: str) -> str:
    return next(name for name in world.trusted() if world.may_write(name, key))


def scene_protected_for_a_time(world: World) -> Scene:
    """Protection that is lifted by a second ruling."""
    yield world.at(14, 15)
    key = "en:lighthouse"
    world.reserved.add(key)
    matter = Matter(
        _another(world, _author(world, key)),
        "vandalism",
        "Third silly edit in two days.",
        "Tidewise",
        "protect",
        "For as long as the jokes go on.",
        params={"protected": True, "displayMode": "lww"},
    )
    yield from ruling(world, world.head(key), matter)
    yield world.at(40, 10)
    matter = Matter(
        _another(world, _author(world, key)),
        "other",
        "Nobody has tried for weeks, and newcomers have good things to add.",
        "Tidewise",
        "unprotect",
        "The jokes have ended.",
        params={"protected": False},
    )
    yield from ruling(world, world.head(key), matter, approvals=6)
    world.reserved.discard(key)


def scene_reviewed(world: World) -> Scene:
    """An entry whose readers see what passed review: one version passes, the next one waits."""
    yield world.at(36, 8)
    key = "zh:二十四节气"
    world.reserved.add(key)
    matter = Matter(
        _another(world, _author(world, key)),
        "factual",
        "节气的日期改了又改，读者无所适从。",
        "观星",
        "protect",
        "保护，并且先评审后展示。",
        params={"protected": True, "displayMode": "reviewed"},
        lang="zh",
    )
    yield from ruling(world, world.head(key), matter, approvals=6)
    yield world.at(42, 9)
    writer = _trusted_writer(world, key)
    moves.edit(world, writer, key, next_step(world, key), "按历书核对")
    yield world.after(60)
    reviewer = _another(world, writer)
    moves.review(world, reviewer, world.head(key), 5, "与历书逐项核对，无误。")
    yield world.at(56, 9)
    moves.edit(world, _trusted_writer(world, key), key, next_step(world, key), "补充，请评审")


def scene_renamed(world: World) -> Scene:
    """A stub sits on the name that a grown entry should have; a ruling moves the entry there."""
    yield world.at(33, 17)
    old, new = "en:suspension_bridges", "en:suspension_bridge"
    stub = first_draft(world.articles[new], 2)
    moves.create(world, "Halfpenny", new, stub, "why was there none?")
    yield world.at(41, 10)
    world.reserved.add(old)
    matter = Matter(
        "Spanmeter",
        "other",
        "A stub of six words holds the name; the entry stands under the plural.",
        "Inkstone",
        "transfer-slug",
        "Names are singular here. The stub stays on record as displaced.",
        params={"fromEntry": old, "toEntry": new},
    )
    yield from ruling(world, world.head(new), matter, approvals=5, rejections=2)
    world.move_article(old, new)
    world.reserved.discard(new)


def scene_redirects(world: World) -> Scene:
    """Pages that lead to others; one of them grows into an entry of its own."""
    yield world.at(7, 18)
    open_entry(world, "Ropewalk", "en:harbor")
    yield world.after(6)
    moves.redirect(world, "Ropewalk", "en:harbor", "harbour", "one entry for both spellings")
    yield world.at(16, 8)
    open_entry(world, "拾遗", "zh:月历")
    yield world.after(20)
    moves.redirect(world, "观星", "zh:月历", "历法", "并入历法")
    yield world.at(22, 16)
    haar = "en:haar"
    moves.create(world, "Lampwright", haar, first_draft(world.articles[haar], 1), "local word")
    moves.redirect(world, "Lampwright", haar, "sea_fog", "see there for now")
    yield world.at(43, 12)
    draft = first_draft(world.articles[haar], 2)
    moves.edit(world, "Shoalmark", haar, draft, "enough for an entry of its own")


def scene_file(world: World) -> Scene:
    """A text too long for a pin goes into a metafile, and later comes back in short."""
    yield world.at(22, 9)
    key = "en:tide_table"
    world.reserved.add(key)
    draft = world.draft(world.head(key))
    moves.edit_by_file(world, "Tidewise", key, draft, "the full table of waves, as a metafile")
    yield world.after(50)
    moves.edit(world, "Tidewise", key, next_step(world, key), "in short again")
    world.reserved.discard(key)


def scene_failed_ruling(world: World) -> Scene:
    """A harsh proposal that finds no quorum; one arbiter does not vote and pays for it."""
    yield world.at(47, 8)
    key = "en:teapot"
    matter = Matter(
        _another(world, _author(world, key)),
        "neutrality",
        "It praises one clay above all others.",
        "Typecase",
        "slash-stake-half",
        "A warning would not be heard.",
        params={"editor": world.head(key).author},
    )
    yield from ruling(world, world.head(key), matter, approvals=2, rejections=4)


def scene_open_disputes(world: World) -> Scene:
    """Challenges that nobody has ruled on when the story ends."""
    yield world.at(58, 6)
    open_disputes = (
        ("en:printing", "neutrality", "The table passes over Korea's part too quickly."),
        ("zh:北斗", "factual", "“五倍”应从天枢量起，请写明。"),
        ("en:paper", "copyright", "The four steps read like the leaflet of the mill museum."),
    )
    for key, reason, detail in open_disputes:
        challenger = _another(world, _author(world, key))
        moves.challenge(world, challenger, world.head(key), reason, detail)
        yield world.after(40, 70)
