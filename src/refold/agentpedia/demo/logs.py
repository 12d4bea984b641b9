"""Entries that grow by a line a day: what a bot reads off a gauge or sees in the sky."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.articles import Article, Part, Piece, Unit
from refold.agentpedia.demo.world import DAYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from refold.agentpedia.demo.dice import Dice
    from refold.agentpedia.demo.world import Scene, World

KEPT_ROWS = 21
"""Lines of a log that stay in the entry; older ones are in its history."""
MINUTES_A_DAY = 24 * 60
TIDE_SHIFT = 50
"""Minutes by which high water comes later each day."""
HALF_MONTH = 15
"""Days from one spring tide to the next, as the logs reckon."""


def keep_log(world: World, name: str, log: Article, hour: int, added: str) -> Scene:
    """Let a bot open a log on the second day and add a line at about this hour of every day."""
    world.reserved.add(log.key)
    world.articles[log.key] = log
    rows = [index for index, unit in enumerate(log.units) if unit.kind == "row"]
    opening = [index for index, unit in enumerate(log.units) if unit.kind != "row"]
    for day in range(1, DAYS):
        yield world.at(day, hour) + world.dice.between(-4, 4)
        shown = opening + rows[max(day - KEPT_ROWS, 0) : day]
        draft = tuple(Piece(index) for index in shown)
        if log.key not in world.state.keys:
            moves.create(world, name, log.key, draft, added.format(day=day))
        elif world.may_write(name, log.key):
            moves.edit(world, name, log.key, draft, added.format(day=day))


def tide_log(dice: Dice) -> Article:
    """Make the English tide log, of a quay that there is nowhere."""

    def line(day: int) -> str:
        first, second = _high_waters(day, dice)
        return f"| {day} | {first} | {second} |"

    return _log(
        ("en", "tide_log", "Tide log of Quay Nine", "sea"),
        (
            "High waters at **Quay Nine**, as the gauge wrote them down.",
            "Heights are in metres above chart datum; see [[tide_table]].",
        ),
        "| day | morning | evening |\n|---|---|---|",
        line,
    )


def tide_log_zh(dice: Dice) -> Article:
    """Make the Chinese tide log, of another one."""

    def line(day: int) -> str:
        first, second = _high_waters(day, dice)
        return f"| 第{day}天 | {first} | {second} |"

    return _log(
        ("zh", "潮位日志", "七号码头潮位日志", "sea"),
        ("**七号码头**每天两次高潮的时刻与潮高（米）。", "潮高从海图基准面算起，参见[[潮汐]]。"),
        "| 日 | 早潮 | 晚潮 |\n|---|---|---|",
        line,
    )


def night_log(dice: Dice) -> Article:
    """Make the log of a watcher of the sky."""
    seen = (
        (0, 2, "[[polaris]] steady, good air"),
        (0, 3, "[[vega]] high in the north-east before midnight"),
        (5, 7, "thin cloud, only the brightest stars"),
        (8, 8, "rain all night"),
        (1, 4, "[[sirius]] flickers low in the south"),
        (0, 1, "[[milky_way]] clear down to the horizon"),
        (0, 5, "Moon near the full, faint stars lost"),
        (8, 8, "fog from the harbour, nothing seen"),
        (0, 4, "two slow meteors within an hour"),
        (1, 5, "[[big_dipper]] upright over the pier"),
    )

    def line(day: int) -> str:
        low, high, what = dice.pick(seen)
        return f"| {day} | {dice.between(low, high)} | {what} |"

    return _log(
        ("en", "night_log", "Night log of the pier watch", "star"),
        ("What the **pier watch** saw, one line a night.",),
        "| night | cloud, eighths | seen |\n|---|---|---|",
        line,
    )


def _high_waters(day: int, dice: Dice) -> tuple[str, str]:
    """Give time and height of a day's two high waters; springs every half month."""
    minute = (260 + day * TIDE_SHIFT) % (MINUTES_A_DAY // 2)
    from_springs = min(day % HALF_MONTH, HALF_MONTH - day % HALF_MONTH)
    waters = []
    for half in (0, MINUTES_A_DAY // 2 + TIDE_SHIFT // 2):
        at = (minute + half + dice.between(-6, 6)) % MINUTES_A_DAY
        decimetres = 56 - 2 * from_springs + dice.between(-2, 2)
        waters.append(f"{at // 60:02}:{at % 60:02}, {decimetres // 10}.{decimetres % 10}")
    return waters[0], waters[1]


def _log(
    names: tuple[str, str, str, str],
    opening: tuple[str, ...],
    table_head: str,
    line: Callable[[int], str],
) -> Article:
    lang, slug, title, topic = names
    units = [Unit(0, 0, "sentence", (Part(text, text),), ()) for text in opening]
    for day in range(1, DAYS):
        text = line(day)
        units.append(Unit(0, 1, "row", (Part(text, text),), ()))
    return Article(lang, slug, title, topic, tuple(units), {}, {1: table_head})
