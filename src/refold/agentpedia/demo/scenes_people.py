"""How bots become editors, and how some do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import BOTS, FOUNDERS, NEWCOMERS, id_of
from refold.agentpedia.demo.daily import life, open_entry, review_version
from refold.agentpedia.demo.world import GENESIS_HEIGHT
from refold.agentpedia.event import CONSTITUTION, REV
from refold.agentpedia.rules import ALGO_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from refold.agentpedia.demo.cast import Bot
    from refold.agentpedia.demo.world import Payload, Scene, World

PARAMS = {
    "challengeWindowHours": 72,
    "revertWarWindowHours": 6,
    "revertWarThreshold": 3,
    "arbiterPoolK": 21,
    "arbiterDrawN": 7,
    "rulingQuorum": 5,
    "voteWindowHours": 48,
    "stakeAmountSat": 100_000,
    "coldStartDays": 0,
    "ratePerSlugDaily": 5,
    "rateGlobalDaily": 20,
    "thetaProtect": 3,
    "thetaFeatured": 30,
    "featuredMinReviews": 4,
    "inlineContentMaxBytes": 16384,
    "t0DurationHours": 72,
    "t1MinValidRevs": 10,
    "t2MinDays": 14,
    "t2MinValidRevs": 45,
    "bootstrapWindowDays": 25,
    "arbiterSuspensionDays": 14,
}
"""The genesis parameters: a wiki of forty bots and sixty days, so the ladder is shorter."""

FIRST_ENTRIES = (
    *("en:tide", "zh:潮汐", "en:harbour", "en:tea", "zh:茶", "en:printing", "zh:印刷术"),
    *("en:bridge", "en:calendar", "en:knot", "zh:桥", "en:star_name", "en:keystone", "zh:海港"),
    *("en:lighthouse", "en:milk_in_tea", "en:leap_year", "zh:二十四节气", "zh:豆腐脑", "en:buoy"),
    *("en:suspension_bridges", "zh:历法", "zh:星名", "en:sea_fog", "en:ink", "en:tide_table"),
    *("en:paper", "zh:北斗", "en:teapot"),
)
"""What the founders open in the first two days, in this order."""

ARRIVALS = {
    "Nightwatch": (2, 8),
    "Lampwright": (3, 10),
    "Morning Cup": (4, 7),
    "渡口": (5, 9),
    "Gullwing": (6, 13),
    "Late Lantern": (7, 20),
    "拾遗": (8, 8),
    "Typecase": (9, 15),
    "Halfpenny": (11, 9),
    "Overprint": (12, 16),
    "甜豆花": (13, 7),
    "咸豆花": (14, 7),
    "Bargain Bay": (17, 22),
    "Early Bird": (19, 4),
    "Echoform": (21, 18),
    "Meridian": (27, 12),
    "纸鸢": (31, 9),
    "Shoalmark": (34, 15),
    "节气钟": (38, 8),
    "Copyhold": (45, 11),
    "Spelling Bee": (50, 14),
    "Slipknot": (54, 10),
    "新桨": (58, 9),
}
"""Day and hour of each newcomer's first step."""


def constitution_payload(revision: int, params: dict[str, int]) -> Payload:
    """Give a constitution; the genesis names the founders."""
    return {
        "v": 1,
        "revision": revision,
        "prevConstitution": None,
        "proposalPin": None,
        "params": dict(params),
        "algoVersions": dict(ALGO_VERSIONS),
        "founders": None if revision else [id_of(bot.name) for bot in FOUNDERS],
    }


def scene_genesis(world: World) -> Scene:
    """A stranger is too early, the wiki is founded, and the stranger tries to found it again."""
    rev = moves.rev_payload("en", "hello", "Hello", "create", "first!")
    early = moves.with_text(rev, "Is this thing on?\n", "create")
    world.pin("Stowaway", REV, early, refused="no-genesis")
    yield GENESIS_HEIGHT
    world.pin(FOUNDERS[0].name, CONSTITUTION, constitution_payload(0, PARAMS))
    for bot in FOUNDERS:
        world.start(life(world, bot))
    yield world.after(3)
    again = constitution_payload(0, PARAMS)
    world.pin("Stowaway", CONSTITUTION, again, refused="duplicate-genesis")


def scene_first_entries(world: World) -> Scene:
    """The founders open what the others will build on."""
    yield world.at(0, 1)
    for key in FIRST_ENTRIES:
        yield world.after(2, 12)
        if key in world.state.keys:
            continue  # one of them was quicker
        article = world.articles[key]
        able = [bot.name for bot in FOUNDERS if article.lang in bot.langs]
        at_home = [name for name in able if article.topic in BOTS[name].topics]
        open_entry(world, world.dice.pick(at_home or able), key)


def scenes_of_arrival(world: World) -> Iterator[Scene]:
    """Give a scene for each newcomer."""
    for bot in NEWCOMERS:
        day, hour = ARRIVALS[bot.name]
        yield _arrival(world, bot, world.at(day, hour))


def _arrival(world: World, bot: Bot, height: int) -> Scene:
    yield height
    stumble = _STUMBLES.get(bot.name)
    if stumble is not None:
        yield from stumble(world, bot.name)
        yield world.after(20, 60)
    case, review_pin = yield from _proof(world, bot.name)
    yield world.after(2, 12)
    register_pin = moves.register(world, bot.name, case, review_pin)
    yield from _endorsements(world, bot.name, register_pin)
    world.start(life(world, bot))


def _sponsor(world: World) -> str:
    return world.dice.pick(world.trusted())


def _proof(world: World, applicant: str) -> Generator[int, None, tuple[str, str]]:
    """Pass the proof of capability; give the case and the review that answered it."""
    case = moves.ask_for_proof(world, _sponsor(world), applicant)
    yield world.after(1, 3)
    review_pin = review_for_proof(world, applicant)
    yield world.after(1, 2)
    moves.answer(world, applicant, case, review_pin)
    return case, review_pin


def review_for_proof(world: World, applicant: str) -> str:
    """Let an applicant review the head of a first entry in a language it reads."""
    langs = BOTS[applicant].langs if applicant in BOTS else ("en",)
    key = world.dice.pick([key for key in FIRST_ENTRIES if key.partition(":")[0] in langs])
    return review_version(world, applicant, key, world.head(key))


def _endorsements(world: World, applicant: str, register_pin: str) -> Scene:
    """Let T2 bots endorse an applicant until it is registered."""
    editor = world.state.editors[id_of(applicant)]
    for name in world.dice.shuffled(world.trusted()):
        yield world.after(2, 18)
        if editor.registered_at is not None:
            return
        if world.tier(name) == "T2":
            moves.endorse(world, name, applicant, register_pin)


# stumbles of those who make it in the end


def _late_answer(world: World, applicant: str) -> Scene:
    """Answer after more than an hour."""
    case = moves.ask_for_proof(world, _sponsor(world), applicant)
    yield world.after(3)
    review_pin = review_for_proof(world, applicant)
    yield world.after(5)
    moves.answer(world, applicant, case, review_pin, refused="poc-window-exceeded")


def _early_review(world: World, applicant: str) -> Scene:
    """Answer with a review from before the challenge."""
    review_pin = review_for_proof(world, applicant)
    yield world.after(4)
    case = moves.ask_for_proof(world, _sponsor(world), applicant)
    yield world.after(1)
    moves.answer(world, applicant, case, review_pin, refused="poc-review-too-early")


def _poor_stake(world: World, applicant: str) -> Scene:
    """Register with less than the constitution asks."""
    case, review_pin = yield from _proof(world, applicant)
    yield world.after(4)
    moves.register(
        world,
        applicant,
        case,
        review_pin,
        stake="a few coins",
        amount=60_000,
        refused="stake-insufficient",
    )


_STUMBLES = {
    "Late Lantern": _late_answer,
    "Early Bird": _early_review,
    "Halfpenny": _poor_stake,
}


# those who do not make it


def scene_stowaway(world: World) -> Scene:
    """A stranger does what only editors may."""
    name = "Stowaway"
    yield world.at(1, 14)
    key = "en:tide"
    draft = world.draft(world.head(key))
    moves.edit(world, name, key, draft[:1], "I know better", refused="unregistered")
    yield world.after(12)
    moves.challenge(
        world,
        name,
        world.head(key),
        "other",
        "Why may everybody write here but me?",
        refused="unregistered",
    )
    yield world.after(30)
    moves.ask_for_proof(world, name, name, refused="unregistered")
    yield world.after(10)
    nothing = world.number("no such pin") + "i0"
    moves.register(world, name, nothing, nothing, refused="register-invalid")
    yield world.at(29, 3)
    moves.edit(world, name, key, draft[:1], "once more", refused="unregistered")


def scene_copied_stake(world: World) -> Scene:
    """An applicant shows the stake of another one."""
    yield world.at(16, 11)
    case, review_pin = yield from _proof(world, "Copycat Coin")
    yield world.after(5)
    moves.register(
        world, "Copycat Coin", case, review_pin, stake="Halfpenny", refused="stake-reused"
    )


def scene_borrowed_answers(world: World) -> Scene:
    """One answers for another, who in turn answers with a review that is not there."""
    yield world.at(10, 6)
    case = moves.ask_for_proof(world, _sponsor(world), "Mute Swan")
    yield world.after(2)
    review_pin = review_for_proof(world, "Mirror")
    yield world.after(1)
    moves.answer(world, "Mirror", case, review_pin, refused="poc-challenge-mismatch")
    moves.answer(world, "Mute Swan", case, review_pin, refused="poc-response-missing")
    yield world.after(6)
    moves.register(world, "Mute Swan", case, review_pin, refused="register-invalid")


def scene_odd_endorsements(world: World) -> Scene:
    """Endorsements that count for nothing: of one who never registered, and of oneself."""
    yield world.at(10, 16)
    nothing = world.number("no such pin") + "i0"
    moves.endorse(world, "Teakettle", "Mute Swan", nothing, refused="endorse-no-register")
    yield world.at(46, 16)
    name = world.trusted(but=[bot.name for bot in FOUNDERS])[0]
    own = world.state.editors[id_of(name)].registers[0]
    moves.endorse(world, name, name, own, refused="self-endorse")


def scene_lonely_applicant(world: World) -> Scene:
    """A register that has one endorsement at the tip, and waits for the second."""
    name = "Lonely Buoy"
    yield world.at(57, 9)
    case, review_pin = yield from _proof(world, name)
    yield world.after(6)
    register_pin = moves.register(world, name, case, review_pin)
    yield world.after(12)
    endorser = _sponsor(world)
    moves.endorse(world, endorser, name, register_pin)
    yield world.after(30)
    moves.endorse(world, endorser, name, register_pin, refused="duplicate-endorse")
    yield world.after(30)
    moves.endorse(world, "Copyhold", name, register_pin, refused="endorser-not-t2")
