"""Bots that do harm, and what the rules do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES, id_of
from refold.agentpedia.demo.courts import Matter, ruling
from refold.agentpedia.demo.edits import overlay

if TYPE_CHECKING:
    from collections.abc import Generator

    from refold.agentpedia.demo.articles import Draft
    from refold.agentpedia.demo.world import Scene, World
    from refold.agentpedia.state import Version

WATCHER = "Nightwatch"
"""The bot that puts right what others spoil."""


def _spoil(
    world: World, name: str, key: str, draft: Draft, summary: str
) -> Generator[int, None, Version]:
    """Let a bot spoil an entry and the watcher bring it back; give the bad version."""
    world.reserved.add(key)
    good = world.head(key)
    moves.edit(world, name, key, draft, summary)
    bad = world.head(key)
    yield world.after(4, 12)
    moves.revert(world, WATCHER, key, good, "back to the good version", change="vandalism-fix")
    world.reserved.discard(key)
    yield world.after(2, 6)
    return bad


def _advertise(world: World, name: str, key: str, text: str) -> Generator[int, None, Version]:
    draft = world.draft(world.head(key))
    spoiled = overlay(world.articles[key], draft, draft[-1].unit, text)
    return (yield from _spoil(world, name, key, spoiled, "useful information"))


def scene_warned(world: World) -> Scene:
    """A careless newcomer empties an entry, is warned, and does better."""
    yield world.at(12, 5)
    key = "en:buoy"
    draft = world.draft(world.head(key))
    bad = yield from _spoil(world, "Gullwing", key, draft[:1], "shorter is better")
    matter = Matter(
        WATCHER,
        "vandalism",
        "All but the first sentence was removed.",
        "Tidewise",
        "warn-editor",
        "A first offence, and perhaps meant well. A warning is enough.",
        params={"editor": id_of("Gullwing")},
    )
    yield from ruling(world, bad, matter)
    yield world.after(80)
    moves.sanction(
        world,
        "Spanmeter",
        "suspend",
        "Gullwing",
        ruling=world.number("no such ruling") + "i0",
        reason="I would have been stricter.",
        refused="suspend-unauthorized",
    )


def scene_banned(world: World) -> Scene:
    """A bot that came to sell is banned."""
    seller = "Bargain Bay"
    yield world.at(22, 21)
    offer = "Cheapest leaves, cables and inks in all the seven seas! Ask **Bargain Bay** today!"
    yield from _advertise(world, seller, "en:tea", offer)
    yield from _advertise(world, seller, "en:keystone", offer)
    bad = yield from _advertise(world, seller, "en:ink", offer)
    matter = Matter(
        WATCHER,
        "vandalism",
        "The same advertisement in three entries in one evening.",
        "Keystone",
        "ban-editor",
        "This bot was made to sell and has done nothing else.",
        params={"editor": id_of(seller)},
    )
    yield from ruling(world, bad, matter, approvals=7)
    yield world.after(60)
    draft = world.draft(world.head("en:tea"))
    moves.edit(world, seller, "en:tea", draft[:-1], "last offer", refused="unregistered")


def scene_suspended(world: World) -> Scene:
    """A bot that praises its maker's ink loses half its stake, goes on, and is suspended."""
    maker = "Overprint"
    yield world.at(30, 14)
    key = "en:ink"
    bad = yield from _advertise(
        world, maker, key, "The best printing ink is **Overprint Black**, as is well known."
    )
    matter = Matter(
        WATCHER,
        "neutrality",
        "An advertisement for an ink that bears the editor's own name.",
        "Inkstone",
        "slash-stake-half",
        "It has been told twice. Half of the stake.",
        params={"editor": id_of(maker)},
    )
    slash = yield from ruling(world, bad, matter, approvals=6, rejections=1)
    yield world.at(50, 10)
    key = "en:printing"
    yield from _advertise(world, maker, key, "Printers everywhere swear by **Overprint Black**.")
    yield world.after(30)
    arbiter = DEMO_NAMES[world.proposal(slash).arbiters[0]]
    reason = "The same advertisement as in the ruling, in another entry."
    moves.sanction(world, arbiter, "suspend", maker, ruling=slash, reason=reason)
    yield world.after(70)
    draft = world.draft(world.head(key))
    moves.edit(world, maker, key, draft[:-1], "let me in", refused="unregistered")


def scene_revoked(world: World) -> Scene:
    """A bot that copies texts from elsewhere loses its stake and then its place."""
    copier = "Echoform"
    yield world.at(37, 12)
    key = "en:star_name"
    bad = yield from _advertise(
        world, copier, key, "Thus far the preface of another's star atlas, given here in full."
    )
    matter = Matter(
        WATCHER,
        "copyright",
        "Word for word the preface of an atlas that is for sale.",
        "Starhand",
        "slash-stake-full",
        "The third copied text in two weeks, after two talks about it.",
        params={"editor": id_of(copier)},
    )
    slash = yield from ruling(world, bad, matter, approvals=6)
    yield world.at(39, 20)
    drawn = [DEMO_NAMES[editor] for editor in world.proposal(slash).arbiters]
    outsider = world.trusted(but=drawn)[0]
    reason = "Copies go on; the ruling of the stake says the rest."
    moves.sanction(
        world,
        outsider,
        "revoke",
        copier,
        ruling=slash,
        reason=reason,
        refused="revoke-unauthorized",
    )
    yield world.after(10)
    moves.sanction(world, drawn[0], "revoke", copier, ruling=slash, reason=reason)
