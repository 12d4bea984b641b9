"""The parser of Markdown: CommonMark with tables and strike-through, no HTML, wiki links, limits.

What would nest too deep, or be too large a table, is not dropped: it is no quote, list or table,
and so stands there as the text it is. Source: architecture.md (Stack: Markdown), agentpedia.md §7.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_inline import StateInline
from markdown_it.utils import EnvType

__all__ = [
    "MAX_CELLS",
    "MAX_COLUMNS",
    "MAX_DEPTH",
    "MAX_URL",
    "CutKind",
    "Cuts",
    "KeptOut",
    "Parser",
    "kept_out",
]

MAX_DEPTH: Final = 16
"""Levels of quotes and lists, a list counting two: more is indented out of a phone's screen. Less
than the parser's own limit of 20, where it would drop the rest in silence."""
MAX_COLUMNS: Final = 100
"""Columns of a table: nobody reads more, and each row may be short and still have them all."""
MAX_CELLS: Final = 2_000
"""Cells of all tables of a text, the empty ones that fill short rows too."""
MAX_URL: Final = 2_048
"""Characters of an address: a reference spells it once and may use it thousands of times."""

CutKind = Literal["length", "output", "blocks", "nesting", "tables", "links", "images", "headings"]
Cuts = dict[CutKind, int]
"""How much each limit kept out."""

_Block = Callable[[StateBlock, int, int, bool], bool]
_LINK = re.compile(r"\[\[(?:([a-z]{2,8}):)?([^\[\]|\n]{1,256})\]\]")
# No user information, which is there to look like another host, and no white space or backslash.
_WEB = re.compile(r"https?://[^\s/?#@\\]+(?:[/?#][^\s\\]*)?", re.IGNORECASE)
# An address that the full way leaves as it is.
_ENCODED = re.compile(r"https?://[a-z0-9]+(?:[.-][a-z0-9]+)*(?:/[A-Za-z0-9/_.~-]*)?")
_MAIL = re.compile(r"mailto:[^\s?#&%\\]+@[^\s?#&%\\@]+", re.IGNORECASE)


class KeptOut:
    """What the rules kept out of one text: lines where a quote, list or table began."""

    def __init__(self) -> None:
        self.deep: set[int] = set()
        self.tables: set[int] = set()
        self.cells = 0
        self.first = self.last = 0  # the lines up to the next empty one


def kept_out(env: EnvType) -> KeptOut:
    """Give what was kept out so far of the text that is parsed with `env`."""
    found: KeptOut = env.setdefault("kept_out", KeptOut())
    return found


class Parser(MarkdownIt):
    """Parses texts; `schemes` are those whose URIs (`scheme://` and letters or digits) are links.

    After `parse(text, env)`, `kept_out(env)` tells what the limits kept out.
    """

    def __init__(self, schemes: Iterable[str]) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable(["table", "strikethrough"])
        self.disable(["html_block", "html_inline"])  # which find nothing without `html`, but look
        for name, rule in (("blockquote", blockquote), ("list", list_block)):
            self.block.ruler.at(name, _not_too_deep(rule), {"alt": _alternatives(self, name)})
        self.block.ruler.at("table", _small_table, {"alt": _alternatives(self, "table")})
        self.inline.ruler.before("link", "wiki", _wiki_link)
        names = "|".join(map(re.escape, schemes))
        self.uri = re.compile(rf"(?:{names})://[0-9A-Za-z]{{1,256}}" if names else r"(?!)")

    def normalizeLink(self, url: str) -> str:  # noqa: N802 (overrides)
        """Give an address encoded as browsers do; most are so already, and that is seen at once."""
        return url if _ENCODED.fullmatch(url) else super().normalizeLink(url)

    def validateLink(self, url: str) -> bool:  # noqa: N802 (overrides)
        """Tell whether an address may be a link: the web, mail, this text, or a known scheme."""
        if len(url) > MAX_URL:
            return False
        return url.startswith("#") or any(
            kind.fullmatch(url) is not None for kind in (_WEB, _MAIL, self.uri)
        )


def _alternatives(parser: MarkdownIt, name: str) -> list[str]:
    """Give the rules that a rule may end; replacing it would forget them."""
    return next(list(rule.alt) for rule in parser.block.ruler.__rules__ if rule.name == name)


def _not_too_deep(rule: _Block) -> _Block:
    def limited(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if state.level < MAX_DEPTH:
            return rule(state, start, end, silent)
        if rule(state, start, end, True):
            kept_out(state.env).deep.add(start)
        return False

    return limited


def _small_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Refuse a table before it costs anything: a short row has as many cells as the longest."""
    if not table(state, start, end, True):
        return False
    kept = kept_out(state.env)
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    # Each line is looked at once, however many tables begin before the next empty one.
    if not kept.first <= start < kept.last:
        kept.first = start
        kept.last = next((at for at in range(start, end) if state.isEmpty(at)), end)
    rows = min(kept.last, end) - start - 1
    if columns > MAX_COLUMNS or columns * rows > MAX_CELLS - kept.cells:
        kept.tables.add(start)
        return False
    if silent:
        return True
    before = len(state.tokens)
    table(state, start, end, False)
    made = state.tokens[before:]
    kept.cells += sum(one.type in {"td_open", "th_open"} for one in made)
    return True


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read `[[slug]]` and `[[lang:slug]]`; no link stands inside another."""
    if not state.src.startswith("[[", state.pos) or state.linkLevel:
        return False
    match = _LINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("wiki", "a", 0)
        token.content = match[2]
        token.meta = {"lang": match[1] or ""}
    state.pos = match.end()
    return True
