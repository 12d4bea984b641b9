"""A window on the pages: what it hears of a page, and what is measured in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import Browser, ConsoleMessage, Page, Request

HERE: Final = Path(__file__).parent
AXE: Final = HERE / "axe" / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE: Final = "no axe-core here: npm ci --prefix tests/browser/axe"
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
PHONE: Final = 360
DESK: Final = 1280
SIZES: Final = {PHONE: 740, DESK: 900}
"""Heights of windows by their widths, in pixels of CSS."""

OVERFLOW: Final = """() => {
  const width = document.documentElement.clientWidth;
  const over = [...document.body.querySelectorAll('*')].filter(element => {
    const box = element.getBoundingClientRect();
    const isKept = element.closest('.scroll, pre, table, .skip');
    return box.right > width + 0.5 && box.width > 1 && !isKept;
  });
  const page = document.scrollingElement;
  return page.scrollWidth > page.clientWidth
    ? [`${page.scrollWidth}`, ...over.slice(0, 3).map(one => one.outerHTML.slice(0, 120))]
    : [];
}"""
"""What makes a page scroll sideways."""

AXE_RUN: Final = """async rules => {
  const options = {resultTypes: ['violations']};
  if (rules.length) options.runOnly = {type: 'rule', values: rules};
  const found = await axe.run(document, options);
  return found.violations.flatMap(one => one.nodes.slice(0, 3).map(
    node => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`));
}"""

LETTERS: Final = """() => {
  const fonts = {};
  const note = (style, text) => {
    const font = `${style.fontStyle} ${style.fontWeight} 20px ${style.fontFamily}`;
    fonts[font] = fonts[font] || new Set();
    for (const letter of text) if (letter.trim()) fonts[font].add(letter);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const own = element => getComputedStyle(element);
  while (walker.nextNode()) note(own(walker.currentNode.parentElement), walker.currentNode.data);
  for (const element of document.body.querySelectorAll('*')) {
    for (const side of ['::before', '::after', '::marker']) {
      const style = getComputedStyle(element, side);
      const said = style.content.match(/"[^"]*"/);
      if (said) note(style, said[0].slice(1, -1));
    }
    if (element.localName === 'q') note(own(element), own(element).quotes);
    if (element.placeholder) note(own(element), element.placeholder);
    if (element.value && element.type === 'search') note(own(element), element.value);
  }
  const joined = ([font, letters]) => [font, [...letters].join('')];
  return Object.fromEntries(Object.entries(fonts).map(joined));
}"""
"""The letters of a page by the font that they are set in, those that the style adds included."""

TOFU: Final = """([font, letters]) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  pen.font = font;
  const drawn = letter => {
    pen.clearRect(0, 0, 32, 32);
    pen.fillText(letter, 2, 24);
    return pen.getImageData(0, 0, 32, 32).data.join();
  };
  // No font has a letter for these: they show what is drawn where a letter is missing.
  const missing = new Set(['\\u0378', '\\u{10fffd}', '\\u{effff}'].map(drawn));
  return [...letters].filter(letter => missing.has(drawn(letter)));
}"""
"""The letters for which a font, and all that stand in for it, have nothing to show."""


@dataclass
class Window:
    """A page that is gone to address by address. `heard` is what should not have been."""

    page: Page
    origin: str
    heard: list[str] = field(default_factory=list)
    letters: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.heard.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", lambda one: self.heard.append(f"failed: {one.url}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.heard.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith(f"{self.origin}/"):
            self.heard.append(f"asked for: {request.url}")

    def open(self, path: str, lang: str, status: int = 200) -> None:
        """Go to an address. What browsers say of a status that is meant is not heard."""
        member = "&" if "?" in path else "?"
        answer = self.page.goto(f"{self.origin}{path}{member}lang={lang}", wait_until="load")
        assert answer is not None
        assert answer.status == status, (path, answer.status)
        if status != 200:
            said = (
                f"console: Failed to load resource: the server responded with a status of {status}"
            )
            self.heard[:] = [one for one in self.heard if not one.startswith(said)]

    def shape(self, width: int, scheme: Literal["light", "dark"]) -> None:
        """Give the window a width, and the page a colour scheme, without loading it anew."""
        self.page.set_viewport_size({"width": width, "height": SIZES[width]})
        self.page.emulate_media(color_scheme=scheme)

    def overflow(self) -> list[str]:
        """Give what makes the page scroll sideways, if it does."""
        found: list[str] = self.page.evaluate(OVERFLOW)
        return found

    def violations(self, rules: tuple[str, ...] = ()) -> list[str]:
        """Give what axe-core finds, of all its rules or of those named."""
        if not self.page.evaluate("() => typeof axe === 'object'"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: list[str] = self.page.evaluate(AXE_RUN, list(rules))
        return found

    def note_letters(self) -> None:
        """Remember the letters of the page by their fonts."""
        found: dict[str, str] = self.page.evaluate(LETTERS)
        for font, letters in found.items():
            self.letters.setdefault(font, set()).update(letters)

    def tofu(self, font: str, letters: str) -> list[str]:
        """Give the letters that a font has nothing to show for."""
        found: list[str] = self.page.evaluate(TOFU, [font, letters])
        return found


@contextmanager
def window(browser: Browser, origin: str, **options: Any) -> Iterator[Window]:
    """Open one while it is used."""
    context = browser.new_context(service_workers="block", **options)
    yield Window(context.new_page(), origin)
    context.close()
