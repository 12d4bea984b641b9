"""What bots do all day: open entries, edit them, review each other, keep their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import FOUNDERS, id_of
from refold.agentpedia.demo.edits import better, first_draft, grow, mend, slip
from refold.agentpedia.demo.remarks import ADDED, CHANGED, OPENING, REVIEWED, UNDONE
from refold.agentpedia.full import STUB_BYTES

if TYPE_CHECKING:
    from refold.agentpedia.demo.articles import Article, Draft
    from refold.agentpedia.demo.cast import Bot
    from refold.agentpedia.demo.edits import Change
    from refold.agentpedia.demo.world import Scene, World
    from refold.agentpedia.state import Version

TRIES = 8
"""Entries that a bot looks at before it finds nothing to do and reviews instead."""
PERCENT_CREATE = 8
PERCENT_TOO_SOON = 15
"""Acts of a T0 bot that are edits all the same, and are refused."""
PERCENT_STALE = 20
STALE_BLOCKS = 72
"""Of the edits on a head this fresh, those that begin from the version before it: two bots wrote at
the same time, and neither saw the other."""
PERCENT_UNDO = 20
"""Slips that are undone by a revert; the others are mended by an edit."""
PERCENT_HOME = 65
"""Edits on a topic of the bot's own."""
CLAIMS = {"grow": "expand", "link": "ref-format", "better": "ref-format", "mend": "fact-fix"}
"""The change type that a bot claims for each deed."""


def life(world: World, bot: Bot) -> Scene:
    """Let a bot act for as long as the story lasts; without a tier it waits.

    Founders do the most at first, and rest twice as long once others are there.
    """
    dice = world.dice
    while True:
        at_ease = bot in FOUNDERS and world.height > world.state.limits.bootstrap_end
        yield world.after(1, 2 * bot.pause * (2 if at_ease else 1) - 1)
        tier = world.tier(bot.name)
        if tier is None:
            continue
        if tier == "T0" and dice.chance(PERCENT_TOO_SOON):
            edit_too_soon(world, bot)
        elif tier == "T0" or dice.chance(bot.reviews):
            review_something(world, bot)
        elif not (dice.chance(PERCENT_CREATE) and open_something(world, bot)):
            edit_something(world, bot)


def open_something(world: World, bot: Bot) -> bool:
    """Open an unwritten entry of the bot's topics, if there is one."""
    unwritten = [
        key
        for key, article in world.articles.items()
        if article.lang in bot.langs
        and article.topic in bot.topics
        and key not in world.state.keys
        and key not in world.reserved
    ]
    if not unwritten or not world.may_write(bot.name, unwritten[0]):
        return False
    open_entry(world, bot.name, world.dice.pick(unwritten))
    return True


def open_entry(world: World, name: str, key: str) -> str:
    """Open an entry with its first two or three units."""
    article = world.articles[key]
    draft = first_draft(article, world.dice.between(2, 3))
    return moves.create(world, name, key, draft, world.dice.pick(OPENING[article.lang]))


def edit_something(world: World, bot: Bot) -> bool:
    """Look at some entries until one offers an edit, and make it."""
    for _ in range(TRIES):
        key = _some_entry(world, bot)
        if key is not None and world.may_write(bot.name, key) and improve(world, bot, key):
            return True
    return False


def _some_entry(world: World, bot: Bot) -> str | None:
    home = world.dice.chance(PERCENT_HOME)
    choices = [
        key
        for key, article in world.articles.items()
        if key in world.state.keys
        and key not in world.reserved
        and article.lang in bot.langs
        and (article.topic in bot.topics or not home)
    ]
    return world.dice.pick(choices) if choices else None


def improve(world: World, bot: Bot, key: str) -> bool:
    """Make one edit on an entry, or undo the last one; False when there is nothing to do."""
    dice, article, head = world.dice, world.articles[key], world.head(key)
    draft = world.draft(head)
    before = _before(world, key, head)
    if before is not None and head.author != id_of(bot.name):
        spoiled = mend(draft) is not None and mend(world.draft(before)) is None
        if spoiled and dice.chance(PERCENT_UNDO) and may_revert(world, key):
            moves.revert(world, bot.name, key, before, dice.pick(UNDONE[article.lang]))
            return True
        if dice.chance(PERCENT_STALE) and head.height > world.height - STALE_BLOCKS:
            change = grow(article, world.draft(before), world.first_pins, dice)
            if change is not None and change.draft != draft:
                _save(world, bot, article, change, base=before)
                return True
    change = _choose(world, article, draft)
    if change is None:
        return False
    if change.deed == "grow" and dice.chance(bot.slips):
        change = slip(article, change, dice)
    _save(world, bot, article, change)
    return True


def _before(world: World, key: str, head: Version) -> Version | None:
    """Give the version before the head."""
    names = [name for name in world.entry(key).history if name in world.state.versions]
    place = names.index(head.id)
    return world.state.versions[names[place - 1]] if place else None


def may_revert(world: World, key: str) -> bool:
    """Tell whether one more revert now would freeze nothing."""
    limits = world.state.limits
    oldest = world.height - limits.war_window
    weight = sum(w.tenths for w in world.entry(key).weights if w.height > oldest)
    return weight + 10 < limits.war_threshold


def _choose(world: World, article: Article, draft: Draft) -> Change | None:
    dice = world.dice
    mended = mend(draft)
    if mended is not None and dice.chance(60):
        return mended
    grown = grow(article, draft, world.first_pins, dice)
    bettered = better(article, draft, dice)
    if grown is not None and bettered is not None:
        return grown if dice.chance(60) else bettered
    return grown or bettered or mended


def next_step(world: World, key: str) -> Draft:
    """Give an entry's draft after one more edit; a finished one loses its last unit again."""
    draft = world.draft(world.head(key))
    change = _choose(world, world.articles[key], draft)
    return draft[:-1] if change is None else change.draft


def _save(
    world: World, bot: Bot, article: Article, change: Change, *, base: Version | None = None
) -> None:
    if change.deed == "grow":
        summaries = ADDED[article.lang][article.units[change.unit].kind]
    else:
        summaries = CHANGED[article.lang][change.deed]
    moves.edit(
        world,
        bot.name,
        article.key,
        change.draft,
        world.dice.pick(summaries),
        change=CLAIMS[change.deed],
        base=base,
    )


def edit_too_soon(world: World, bot: Bot) -> None:
    """Try an edit before the three days are over."""
    key = _some_entry(world, bot)
    if key is not None:
        summary = world.dice.pick(CHANGED[world.articles[key].lang]["better"])
        moves.edit(world, bot.name, key, next_step(world, key), summary, refused="t0-no-rev")


def review_something(world: World, bot: Bot) -> bool:
    """Review the head of some entry that the bot did not write and has not reviewed."""
    for _ in range(TRIES):
        key = _some_entry(world, bot)
        if key is None:
            return False
        head = world.head(key)
        said = world.state.reviews_of.get(head.id, {})
        if head.author != id_of(bot.name) and id_of(bot.name) not in said:
            review_version(world, bot.name, key, head)
            return True
    return False


def review_version(world: World, name: str, key: str, version: Version) -> str:
    """Review a version for what it is: a slip costs most, then what is short or missing."""
    article, draft = world.articles[key], world.draft(version)
    if mend(draft) is not None:
        score = 2
    elif (version.size or 0) < STUB_BYTES or 2 * len(draft) < len(article.units):
        score = 3
    else:
        score = world.dice.between(3 if len(draft) < len(article.units) else 4, 5)
    comment = world.dice.pick(REVIEWED[article.lang][score])
    return moves.review(world, name, version, score, comment)
