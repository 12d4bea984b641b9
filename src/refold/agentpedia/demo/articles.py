"""The encyclopedia that the story's bots are writing: finished articles, and drafts on the way.

The articles stand in two Markdown files beside this module. Beyond Markdown they hold

- `=== slug | Title | topic` before each article,
- `{rough => fine}` where a first wording is bettered by a later edit,
- `[[slug]]`, which an article gets by a later edit too,
- `pin://lang:slug`, which stands for the first pin of that entry, and `metafile://name` for a
  made-up file.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGS = ("en", "zh")
Kind = Literal["sentence", "item", "row"]

_SENTENCE_END = {"en": re.compile(r"(?<=[.!?]) (?=[A-Z*\[{])"), "zh": re.compile(r"(?<=[。！？])")}
_JOINT = {"en": " ", "zh": ""}
_SPAN = re.compile(r"\{(?P<rough>[^{}]*?) ?=> (?P<fine>[^{}]*)\}|\[\[(?P<link>[^\]:]+)\]\]")
_TOUCHES = {
    "en": (
        (re.compile(r"\babout (?=\d|one|two|five|eight|half)"), "roughly "),
        (re.compile(r"\bnearly\b"), "almost"),
        (re.compile(r"\bbecause\b"), "since"),
        (re.compile(r"\bis called\b"), "is known as"),
        (re.compile(r"\bsuch as\b"), "like"),
        (re.compile(r"\boften\b"), "frequently"),
        (re.compile(r"\busually\b"), "as a rule"),
        (re.compile(r"\bwhole\b"), "entire"),
        (re.compile(r"\bbeforehand\b"), "in advance"),
        (re.compile(r"\bis made of\b"), "consists of"),
        (re.compile(r"\beach other\b"), "one another"),
        (re.compile(r"\bmostly\b"), "for the most part"),
        (re.compile(r"\btherefore\b"), "for that reason"),
    ),
    "zh": (
        (re.compile("因此"), "因而"),
        (re.compile("(?<!大)约(?=[0-9一二三四五六七八九十百])"), "大约"),
        (re.compile("如今"), "现在"),
        (re.compile("(?<!大)多数"), "大多数"),
        (re.compile("可以"), "能"),
        (re.compile("容易"), "易"),
        (re.compile("差不多"), "大致"),
        (re.compile("叫作"), "称为"),
        (re.compile("又名"), "也叫"),
        (re.compile("又称"), "也称"),
        (re.compile("通常"), "一般"),
        (re.compile("早期"), "早先"),
        (re.compile("(?<!才)能够"), "能"),
    ),
}
"""Touches that a copy-editor's hand gives a sentence; each is a later wording for an earlier."""
_CITED = re.compile(r"pin://([a-z]+:[a-z0-9_\-\u4e00-\u9fff]+)")
_FILE = re.compile(r"metafile://([a-z-]+)")


class Part(msgspec.Struct, frozen=True):
    """A stretch of text: as it is first written, and as a later edit leaves it."""

    rough: str
    fine: str


class Unit(msgspec.Struct, frozen=True):
    """The least that an edit adds: a sentence, a list item or a table row."""

    section: int
    block: int
    kind: Kind
    parts: tuple[Part, ...]
    cites: tuple[str, ...]

    def text(self, done: int) -> str:
        """Give the text with those parts fine whose bits are set in `done`."""
        return "".join(
            part.fine if done >> index & 1 else part.rough for index, part in enumerate(self.parts)
        )

    def open_parts(self, done: int) -> list[int]:
        """List the parts that are still rough and can be bettered."""
        return [
            index
            for index, part in enumerate(self.parts)
            if part.rough != part.fine and not done >> index & 1
        ]


class Piece(msgspec.Struct, frozen=True):
    """A unit as it stands in a draft; `text`, when there is one, stands in its place.

    `wrong`: the text in its place is a slip that somebody will mend.
    """

    unit: int
    done: int = 0
    text: str = ""
    wrong: bool = False


Draft = tuple[Piece, ...]
"""The state of an article: its pieces, in the order of their units."""


class Article(msgspec.Struct, frozen=True):
    """An article in full, as units under headings and table heads."""

    lang: str
    slug: str
    title: str
    topic: str
    units: tuple[Unit, ...]
    headings: dict[int, str]
    table_heads: dict[int, str]

    @property
    def key(self) -> str:
        """The entry key."""
        return f"{self.lang}:{self.slug}"

    def unit_with(self, words: str) -> int:
        """Give the first unit whose first wording holds these words."""
        return next(i for i, unit in enumerate(self.units) if words in unit.text(0))

    def piece_text(self, piece: Piece) -> str:
        """Give the text of one piece."""
        return piece.text or self.units[piece.unit].text(piece.done)

    def render(self, draft: Draft, first_pins: Mapping[str, str]) -> str:
        """Write a draft out as Markdown; `first_pins` by entry key."""
        blocks: list[str] = []
        section = block = -1
        for piece in draft:
            unit = self.units[piece.unit]
            if unit.section != section and unit.section in self.headings:
                blocks.append(self.headings[unit.section])
            text = self.piece_text(piece)
            if unit.block == block:
                joint = _JOINT[self.lang] if unit.kind == "sentence" else "\n"
                blocks[-1] += joint + text
            elif unit.block in self.table_heads:
                blocks.append(self.table_heads[unit.block] + "\n" + text)
            else:
                blocks.append(text)
            section, block = unit.section, unit.block
        return _resolve("\n\n".join(blocks) + "\n", first_pins)


def _resolve(text: str, first_pins: Mapping[str, str]) -> str:
    text = _CITED.sub(lambda found: f"pin://{first_pins[found[1]]}", text)
    return _FILE.sub(lambda found: f"metafile://{file_pin(found[1])}", text)


def file_pin(name: str) -> str:
    """Give the pin id of a made-up file."""
    return sha256(f"refold demo file {name}".encode()).hexdigest() + "i0"


@cache
def articles() -> dict[str, Article]:
    """Read all articles, by entry key, in the order of the files."""
    found = {}
    for lang in LANGS:
        name = f"articles.{lang}.md"
        text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
        for chunk in text.split("=== ")[1:]:
            article = _read_article(lang, chunk)
            found[article.key] = article
    return found


def _read_article(lang: str, chunk: str) -> Article:
    head, _, body = chunk.partition("\n")
    slug, title, topic = head.split(" | ")
    units: list[Unit] = []
    headings: dict[int, str] = {}
    table_heads: dict[int, str] = {}
    section = 0
    for block, text in enumerate(body.strip().split("\n\n")):
        if text.startswith("## "):
            section = block
            headings[section] = text
            continue
        kind, pieces = _split(lang, text)
        if kind == "row":
            table_heads[block] = "\n".join(pieces[:2])
            pieces = pieces[2:]
        units += [_read_unit(lang, section, block, kind, piece) for piece in pieces]
    return Article(lang, slug, title, topic, tuple(units), headings, table_heads)


def _split(lang: str, block: str) -> tuple[Kind, list[str]]:
    if block.startswith("|"):
        return "row", block.split("\n")
    if block.startswith(("- ", "1. ")):
        return "item", block.split("\n")
    return "sentence", [piece for piece in _SENTENCE_END[lang].split(block) if piece]


def _read_unit(lang: str, section: int, block: int, kind: Kind, text: str) -> Unit:
    parts: list[Part] = []
    end = 0
    for span in _SPAN.finditer(text):
        before, rough, link = text[end : span.start()], span["rough"], span["link"]
        if link is not None:
            part = Part(link.replace("_", " "), span[0])
        elif rough:
            part = Part(rough, span["fine"])
        else:  # something comes in where nothing stood
            before = before.rstrip(" ")
            part = Part("", _JOINT[lang] + span["fine"])
        parts += [*_touched(lang, before), part]
        end = span.end()
    parts += _touched(lang, text[end:])
    return Unit(section, block, kind, tuple(parts), tuple(_CITED.findall(text)))


def _touched(lang: str, text: str) -> list[Part]:
    """Part a stretch of text at the first place for each touch that it offers."""
    for pattern, touch in _TOUCHES[lang]:
        found = pattern.search(text)
        if found is not None:
            before, after = text[: found.start()], text[found.end() :]
            return [*_touched(lang, before), Part(found[0], touch), Part(after, after)]
    return [Part(text, text)]
