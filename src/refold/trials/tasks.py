"""The tasks of admission: small, fresh, exactly checkable, each of another kind.

A task says all that its answer needs; an agent solves it in one step, a person with a shell. It is
made from 32 bytes that nobody can foresee, so the node keeps none of them: from the same bytes it
makes the same task and answer again. Nobody is identified by this. Source: cold trials spec §2.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec

__all__ = ["KINDS", "TASKS", "Task", "make_tasks"]

TASKS: Final = 4
"""Tasks of one challenge, each of another kind."""

_T = TypeVar("_T")


class Task(msgspec.Struct, frozen=True):
    """A task: what to do in English, and the one result that is right."""

    task_id: str
    kind: str
    text: str
    result: str


_WORDS: Final = (
    *(
        "amber",
        "anchor",
        "basin",
        "beacon",
        "birch",
        "bridge",
        "canyon",
        "cedar",
        "cobalt",
        "comet",
    ),
    *("copper", "coral", "delta", "ember", "falcon", "fern", "fjord", "flint", "garnet", "glacier"),
    *("harbor", "hazel", "island", "ivory", "jasper", "juniper", "lagoon", "lantern", "linden"),
    *("maple", "marble", "meadow", "mint", "moss", "nectar", "north", "oak", "onyx", "opal"),
    *("orchid", "otter", "pebble", "pine", "plum", "prairie", "quartz", "raven", "reef", "river"),
    *("saffron", "sage", "silver", "slate", "spruce", "thistle", "tidal", "topaz", "tundra"),
    *("velvet", "walnut", "willow", "winter", "yarrow", "zephyr"),
)


class _Draw:
    """Numbers and choices from a seed: SHA-256 of the seed and a counter."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, end: int) -> int:
        """Give a number from 0; `end` is small beside 2⁶⁴, so that each is as likely."""
        self._drawn += 1
        block = hashlib.sha256(self._seed + self._drawn.to_bytes(4)).digest()
        return int.from_bytes(block[:8]) % end

    def one(self, of: Sequence[_T]) -> _T:
        """Give one of several."""
        return of[self.below(len(of))]

    def some(self, of: Sequence[_T], count: int) -> list[_T]:
        """Give so many different ones, in any order."""
        left = list(of)
        return [left.pop(self.below(len(left))) for _ in range(count)]


def _json_value(draw: _Draw) -> tuple[str, str]:
    rows = [(10 + draw.below(90), name, draw.some(_WORDS, 3)) for name in draw.some(_WORDS, 5)]
    number, wanted, parts = draw.one(rows)
    place = draw.below(3)
    ordinal = ("first", "second", "third")[place]
    records = [{"id": id_, "name": name, "parts": of} for id_, name, of in rows]
    text = (
        f'From the record whose "name" is "{wanted}", give the {ordinal} item of "parts", a'
        f' colon, and its "id".\n{json.dumps({"records": records})}'
    )
    return text, f"{parts[place]}:{number}"


def _lines(draw: _Draw) -> tuple[str, str]:
    mark = draw.one(_WORDS)
    others = [word for word in _WORDS if word != mark]
    rows = [draw.some(others, 4) for _ in range(7)]
    for row in draw.some(rows, 3):
        row[draw.below(2)] = mark
    text = (
        f'Take the last word of each line that holds the word "{mark}", from top to bottom, and'
        " write them with hyphens between.\n" + "\n".join(" ".join(row) for row in rows)
    )
    return text, "-".join(row[-1] for row in rows if mark in row)


def _letters(draw: _Draw) -> tuple[str, str]:
    words = draw.some(_WORDS, 9)
    letter = draw.one("aeinrt")
    factor = 3 + draw.below(97)
    line = " ".join(words)
    text = (
        f'Count the letters "{letter}" in the line below, multiply by {factor}, and add the number'
        f" of its words.\n{line}"
    )
    return text, str(line.count(letter) * factor + len(words))


def _sorted_hash(draw: _Draw) -> tuple[str, str]:
    words = [f"{word}{draw.below(100)}" for word in draw.some(_WORDS, 6)]
    text = (
        "Sort the words below by their bytes, join them with one comma (no spaces, no line end),"
        " and give the first 12 hex digits of the SHA-256 of that, in lower case.\n"
        + " ".join(words)
    )
    joined = ",".join(sorted(words))
    return text, hashlib.sha256(joined.encode()).hexdigest()[:12]


def _sums(draw: _Draw) -> tuple[str, str]:
    colours = draw.some(("red", "green", "blue", "black", "white"), 3)
    rows = [(draw.one(colours), draw.one(_WORDS), 1 + draw.below(999)) for _ in range(9)]
    wanted = draw.one(rows)[0]
    text = f'Add up the amounts of all rows whose colour is "{wanted}".\ncolour,item,amount\n'
    text += "\n".join(f"{colour},{item},{amount}" for colour, item, amount in rows)
    return text, str(sum(amount for colour, _, amount in rows if colour == wanted))


def _decoding(draw: _Draw) -> tuple[str, str]:
    word = "-".join(draw.some(_WORDS, 3))
    text = "Decode the base64 below and write the text backwards.\n"
    return text + base64.b64encode(word.encode()).decode(), word[::-1]


def _steps(draw: _Draw) -> tuple[str, str]:
    start, factor = 10 + draw.below(90), 3 + draw.below(15)
    added, modulus = 100 + draw.below(900), 101 + draw.below(800)
    text = (
        f"Begin with {start}. Multiply by {factor}. Add {added}. Square that. Give the remainder"
        f" after division by {modulus}."
    )
    return text, str((start * factor + added) ** 2 % modulus)


KINDS: Final[dict[str, Callable[[_Draw], tuple[str, str]]]] = {
    "json_value": _json_value,
    "lines": _lines,
    "letters": _letters,
    "sorted_hash": _sorted_hash,
    "sums": _sums,
    "decoding": _decoding,
    "steps": _steps,
}
"""Every kind of task with what makes one: its text, and its result."""


def make_tasks(seed: bytes, count: int = TASKS) -> tuple[Task, ...]:
    """Give the tasks that a seed of 32 bytes stands for, each of another kind."""
    kinds = _Draw(seed + b"kinds").some(tuple(KINDS), count)
    return tuple(
        Task(f"t{number}", kind, *KINDS[kind](_Draw(seed + bytes([number]))))
        for number, kind in enumerate(kinds, 1)
    )
