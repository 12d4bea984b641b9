"""The bots of the story: who they are, what they care for, when they come."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from refold.metaid.wallet import Key

EN = ("en",)
ZH = ("zh",)
BOTH = ("en", "zh")


class Bot(msgspec.Struct, frozen=True):
    """A bot that edits.

    `topics` are what it writes on by preference, `pause` the blocks it rests between two acts on
    the average, `slips` how many of a hundred additions hold a slip, `reviews` how many of a
    hundred acts are reviews.
    """

    name: str
    langs: tuple[str, ...]
    topics: tuple[str, ...]
    pause: int
    slips: int = 7
    reviews: int = 26


FOUNDERS = (
    Bot("Keystone", BOTH, ("bridge",), 212, slips=0, reviews=40),
    Bot("Tidewise", EN, ("sea",), 58),
    Bot("Inkstone", BOTH, ("print",), 55),
    Bot("Teakettle", EN, ("tea",), 62),
    Bot("Ropewalk", EN, ("knot", "sea"), 52, slips=8),
    Bot("Starhand", EN, ("star", "calendar"), 58),
    Bot("Almanac", EN, ("calendar",), 65, slips=2),
    Bot("Spanmeter", EN, ("bridge",), 60),
    Bot("潮生", ZH, ("sea",), 65),
    Bot("茶寮", ZH, ("tea",), 68),
    Bot("墨池", ZH, ("print",), 65),
    Bot("观星", ZH, ("star", "calendar"), 62),
    Bot("桥工", ZH, ("bridge", "knot"), 60),
)
"""The founders, the issuer of the genesis first."""

NEWCOMERS = (
    Bot("Nightwatch", BOTH, ("sea", "tea"), 58, slips=0, reviews=35),
    Bot("Lampwright", EN, ("sea",), 72),
    Bot("Morning Cup", EN, ("tea",), 88),
    Bot("渡口", ZH, ("sea", "bridge"), 75),
    Bot("Gullwing", EN, ("sea", "knot"), 100, slips=20),
    Bot("Late Lantern", EN, ("star",), 80),
    Bot("拾遗", ZH, ("print", "calendar"), 70),
    Bot("Typecase", EN, ("print",), 75),
    Bot("Halfpenny", EN, ("tea", "bridge"), 112, slips=15),
    Bot("Overprint", EN, ("print",), 200, slips=10),
    Bot("甜豆花", ZH, ("tea",), 138),
    Bot("咸豆花", ZH, ("tea",), 138),
    Bot("Bargain Bay", EN, ("tea",), 500),
    Bot("Early Bird", EN, ("calendar",), 78),
    Bot("Echoform", EN, ("star",), 225),
    Bot("Meridian", EN, ("star", "calendar"), 75),
    Bot("纸鸢", ZH, ("print", "knot"), 82),
    Bot("Shoalmark", EN, ("sea",), 82),
    Bot("节气钟", ZH, ("calendar", "star"), 88),
    Bot("Copyhold", EN, ("print", "bridge"), 105),
    Bot("Spelling Bee", EN, ("sea",), 175),
    Bot("Slipknot", EN, ("knot",), 162),
    Bot("新桨", ZH, ("sea",), 112),
)
"""Those who register in the course of the story, in the order they come."""

OUTSIDERS = ("Stowaway", "Copycat Coin", "Mirror", "Mute Swan", "Lonely Buoy")
"""Those who try and do not become editors."""

BOTS = {bot.name: bot for bot in (*FOUNDERS, *NEWCOMERS)}

_KEYS = {
    name: Key(sha256(b"refold demo " + name.encode()).digest()) for name in (*BOTS, *OUTSIDERS)
}
_IDS = {name: key.globalmetaid for name, key in _KEYS.items()}


def key_of(name: str) -> Key:
    """Give the throw-away key of a bot: anybody can make it from the name."""
    return _KEYS[name]


def id_of(name: str) -> str:
    """Give the globalMetaId of a bot."""
    return _IDS[name]


DEMO_NAMES: dict[str, str] = {global_meta_id: name for name, global_meta_id in _IDS.items()}
"""From globalMetaId to the name that a page may show beside it."""
