"""HTML out of the tokens of Markdown, counted while it is written.

Source: architecture.md (Stack: Markdown). What is written is already what the whitelist allows; the
cleaner after it is a second lock, and changes nothing.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote

import msgspec
from markdown_it.token import Token

from refold.serving.markdownrules import CutKind, Cuts

__all__ = [
    "MAX_HTML",
    "MAX_MARKS",
    "MAX_SLOTS",
    "REL",
    "SLOT",
    "Heading",
    "Writer",
    "attribute",
    "headings",
    "plain",
]

MAX_HTML: Final = 256 * 1024
"""Characters of HTML of a text. A text of the longest size that is all `&` takes 160 K."""
MAX_MARKS: Final = 8
"""Emphasis inside emphasis: the rest of it would look the same."""
MAX_SLOTS: Final = 1_000
"""Wiki links and URIs that are looked up for one text, as many as make backlinks (spec §7)."""
MAX_ID: Final = 64
"""Characters of an id without its prefix."""
REL: Final = "nofollow noopener noreferrer ugc"

SLOT = re.compile(r'<a href="/~(\d+)">(.*?)</a>', re.DOTALL)
"""A link that is still to be looked up, by its number. No text of a stranger can hold one: its
quotes are escaped in attributes, its `<` everywhere."""

_UNFIT = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Han, kana and their punctuation; Hangul has spaces between words.
_HAN = re.compile(
    "[\u2e80-\u312f\u3190-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]"
)
_NO_WORD = re.compile(r"[^\w]+")
_ALIGNED = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}


class Heading(msgspec.Struct, frozen=True):
    """A line of the table of contents: `level` 2 to 6, `id` of the element, its text."""

    level: int
    id: str
    text: str


class Slot(msgspec.Struct, frozen=True):
    """What a link is to: an entry (`lang`, "" for the text's own, and `target`), or a URI."""

    kind: str
    lang: str
    target: str


class Full(Exception):  # noqa: N818 (no error: what was written is kept)
    """The next piece would make too much of it."""


def text(value: str) -> str:
    """Give a text as HTML; what no document should hold is replaced by U+FFFD."""
    if _UNFIT.search(value):
        value = _UNFIT.sub("\ufffd", value)
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return value.replace("\xa0", "&nbsp;")


def attribute(value: str) -> str:
    """Give a text as the value of an attribute, between double quotes."""
    return text(value).replace('"', "&quot;")


def plain(tokens: Iterable[Token] | None) -> str:
    """Give what inline tokens say, without their markup."""
    parts = []
    for token in tokens or ():
        if token.type == "image":
            parts.append(described(token))
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        else:
            parts.append(token.content)
    return "".join(parts)


def described(image: Token) -> str:
    """Give what is shown in place of an image: its description, else its address."""
    return plain(image.children).strip() or str(image.attrs["src"])


def anchor(said: str) -> str:
    """Give the id of a heading that says something, before it is made unique and prefixed."""
    return _NO_WORD.sub("-", _UNFIT.sub("", said).casefold()).strip("-_")[:MAX_ID] or "section"


def headings(tokens: Sequence[Token], prefix: str) -> dict[int, Heading]:
    """Give the headings among block tokens, by their place; each has an id of its own.

    The page's title is the only h1, no level is skipped on the way down, and headings that are
    equal in the text stay so: that is how those who listen to a page find their way. What says
    nothing is no heading.
    """
    found: dict[int, Heading] = {}
    used: set[str] = set()
    numbers: dict[str, int] = {}
    above: list[int] = []  # the levels in the text that the present heading stands under
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        said = " ".join(plain(tokens[at + 1].children).split())
        if not said:
            continue
        base = anchor(said)
        name, number = base, numbers.get(base, 1)
        while name in used:
            number += 1
            name = f"{base}-{number}"
        numbers[base] = number
        used.add(name)
        written = int(token.tag[1:])
        while above and above[-1] >= written:
            above.pop()
        above.append(written)
        found[at] = Heading(min(len(above) + 1, 6), prefix + name, _UNFIT.sub("\ufffd", said))
    return found


class Writer:
    """Writes tokens. `slots` are the links to look up, in order; `cuts` counts what is kept out."""

    def __init__(
        self, uri: re.Pattern[str], found: dict[int, Heading], prefix: str, cuts: Cuts
    ) -> None:
        self.slots: list[Slot] = []
        self._uri = uri
        self._headings = found
        self._prefix = prefix
        self._cuts = cuts
        self._out: list[str] = []
        self._size = 0
        self._marks: list[str] = []
        self._in_link = False

    def html(self) -> str:
        """Give what was written."""
        return "".join(self._out)

    def block(self, tokens: Sequence[Token], first: int, end: int) -> bool:
        """Write one block; False, and nothing of it is written, when it does not fit."""
        state = len(self._out), self._size, len(self.slots), dict(self._cuts)
        try:
            for at in range(first, end):
                self._token(tokens[at], at)
        except Full:
            count, self._size, slots, cuts = state
            del self._out[count:], self.slots[slots:]
            self._cuts.clear()
            self._cuts.update(cuts)
            self._marks.clear()
            self._in_link = False
            return False
        return True

    def source(self, lines: str) -> None:
        """Write a block as it was sent."""
        self._put(f'<pre class="source" tabindex="0"><code>{text(lines)}</code></pre>\n')

    def _put(self, piece: str) -> None:
        self._size += len(piece)
        if self._size > MAX_HTML:
            raise Full
        self._out.append(piece)

    def _cut(self, name: CutKind) -> None:
        self._cuts[name] = self._cuts.get(name, 0) + 1

    def _token(self, token: Token, at: int) -> None:
        kind = token.type
        if kind == "inline":
            self._inline(token.children or ())
        elif kind in {"fence", "code_block"}:
            self._put(f'<pre tabindex="0"><code>{text(token.content)}</code></pre>\n')
        elif kind == "hr":
            self._put("<hr>\n")
        elif kind == "heading_open":
            found = self._headings.get(at)
            self._put(f'<h{found.level} id="{attribute(found.id)}">' if found else "<p>")
        elif kind == "heading_close":
            found = self._headings.get(at - 2)
            self._put(f"</h{found.level}>\n" if found else "</p>\n")
        elif kind == "table_open":
            self._put('<div class="scroll" tabindex="0"><table>')
        elif kind == "table_close":
            self._put("</table></div>\n")
        elif token.hidden:  # the paragraph of a tight list
            if token.nesting < 0:
                self._put("\n")
        elif token.nesting > 0:
            self._put(f"<{token.tag}{_block_attributes(token)}>")
        else:
            self._put(f"</{token.tag}>\n")

    def _inline(self, tokens: Sequence[Token]) -> None:
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "text":
                self._text(token.content)
            elif kind == "softbreak":
                if not _is_between_han(tokens, at):
                    self._put("\n")
            elif kind == "hardbreak":
                self._put("<br>\n")
            elif kind == "code_inline":
                self._put(f"<code>{text(token.content)}</code>")
            elif kind == "wiki":
                self._wiki(token)
            elif kind == "image":
                self._image(token)
            elif token.nesting < 0:
                self._close(token)
            elif kind == "link_open":
                self._link(token)
            else:
                self._open_mark(token.tag)

    def _text(self, content: str) -> None:
        if self._in_link or "://" not in content:
            self._put(text(content))
            return
        done = 0
        for match in self._uri.finditer(content):
            self._put(text(content[done : match.start()]))
            self._slot(Slot("uri", "", match[0]), match[0], match[0])
            done = match.end()
        self._put(text(content[done:]))

    def _open_mark(self, tag: str) -> None:
        is_too_deep = sum(map(bool, self._marks)) >= MAX_MARKS
        if is_too_deep:
            self._cut("nesting")
        else:
            self._put(f"<{tag}>")
        self._marks.append("" if is_too_deep else tag)

    def _close(self, token: Token) -> None:
        tag = self._marks.pop()
        if tag:
            self._put(f"</{tag}>")
            self._in_link = self._in_link and token.type != "link_close"

    def _link(self, token: Token) -> None:
        href = str(token.attrs["href"])
        opened = "" if self._in_link else self._opening(href, str(token.attrs.get("title", "")))
        self._put(opened)
        self._marks.append("a" if opened else "")
        self._in_link = self._in_link or bool(opened)

    def _opening(self, href: str, title: str, more: str = "") -> str:
        """Give the tag that begins a link; nothing when there are too many to look up."""
        if self._uri.fullmatch(href):
            return self._numbered(Slot("uri", "", href))
        said = f' title="{attribute(title)}"' if title else ""
        if href.startswith("#"):
            return f'<a href="#{attribute(self._prefix + anchor(unquote(href[1:])))}"{said}>'
        return f'<a href="{attribute(href)}" class="external{more}" rel="{REL}"{said}>'

    def _numbered(self, slot: Slot) -> str:
        if len(self.slots) == MAX_SLOTS:
            self._cut("links")
            return ""
        self.slots.append(slot)
        return f'<a href="/~{len(self.slots) - 1}">'

    def _slot(self, slot: Slot, said: str, source: str) -> None:
        opened = self._numbered(slot)
        self._put(f"{opened}{text(said)}</a>" if opened else text(source))

    def _wiki(self, token: Token) -> None:
        lang, slug = token.meta["lang"], token.content
        source = f"[[{lang}:{slug}]]" if lang else f"[[{slug}]]"
        if self._in_link:
            self._put(text(source))
        else:
            self._slot(Slot("wiki", lang, slug), slug.replace("_", " ").strip() or slug, source)

    def _image(self, token: Token) -> None:
        """Write a link where a picture was wanted: nothing is loaded from anywhere."""
        src = str(token.attrs["src"])
        said = described(token)
        if self._in_link:
            self._cut("images")
            self._put(text(said))
            return
        opened = self._opening(src, str(token.attrs.get("title", "")), " image")
        self._put(f"{opened}{text(said)}{'</a>' if opened else ''}")


def _is_between_han(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a line ends and goes on with a character that is set without spaces."""
    before, after = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    return bool(
        before and after and _HAN.match(before[0].content[-1:]) and _HAN.match(after[0].content[:1])
    )


def _block_attributes(token: Token) -> str:
    if token.tag in {"td", "th"}:
        aligned = _ALIGNED.get(str(token.attrs.get("style", "")))
        return f' class="{aligned}"' if aligned else ""
    if token.tag == "ol" and "start" in token.attrs:
        return f' start="{int(token.attrs["start"])}"'
    return ""
