"""How text is set: length of lines, leading, and the language that each text is marked with.

Source: issue 11 (lines of 60 to 75 characters, CJK leading and `lang` right).
"""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser

from agentpedia.api.reading import WIKI, Reader, entry_path
from browser.addresses import Addresses
from browser.seeing import DESK, PHONE, window
from serving.chromium import need_chromium

need_chromium()

LINES: Final = """selector => [...document.querySelectorAll(selector)].map(block => {
  const lines = new Map();
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const text = walker.currentNode;
    for (let at = 0; at < text.length; at++) {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      const base = [...lines.keys()].find(one => Math.abs(one - box.bottom) < 9);
      lines.set(base ?? box.bottom, (lines.get(base) ?? 0) + 1);
    }
  }
  const style = getComputedStyle(block);
  return {
    lang: block.closest('[lang]').lang,
    lines: [...lines.entries()].sort((a, b) => a[0] - b[0]).map(line => line[1]),
    leading: parseFloat(style.lineHeight) / parseFloat(style.fontSize),
  };
})"""
"""Letters of each line of blocks, with language and leading."""

HAN_ELSEWHERE: Final = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, element = text.parentElement;
    const lang = element.closest('[lang]').lang;
    // What stands in a text of its own language is its author's to mark.
    const isOurs = element.closest('[lang]') === document.documentElement;
    if (/\\p{Script=Han}/u.test(text.data) && isOurs && !/^zh/.test(lang))
      found.push(`${lang}: ${element.outerHTML.slice(0, 160)}`);
  }
  return found;
}"""
"""Chinese that a page says is its own language: it would be set with the letters of that."""

PARAGRAPHS: Final = ".prose > p, main > p"
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def blocks_of(found: list[Any], language: str) -> list[Any]:
    return [one for one in found if one["lang"].startswith(language) and len(one["lines"]) > 2]


def test_lines_have_sixty_to_seventy_five_characters(
    browser: Browser, site: Reader, addresses: Addresses
) -> None:
    """The last line of a paragraph is as long as it happens to be."""
    counts: list[int] = []
    with window(browser, site.server.url) as seen:
        seen.shape(DESK, "light")
        for path in (entry_path(addresses.featured), entry_path("en:knot"), f"{WIKI}/about"):
            seen.open(path, "en")
            found = blocks_of(seen.page.evaluate(LINES, PARAGRAPHS), "en")
            assert found, path
            lines = [count for one in found for count in one["lines"][:-1]]
            assert 60 <= sum(lines) / len(lines) <= 75, (path, lines)
            counts += lines
    counts.sort()
    assert counts[len(counts) // 10] >= 55
    assert counts[-1 - len(counts) // 50] <= 80


def test_chinese_lines_are_no_longer_and_have_more_room(
    browser: Browser, site: Reader, addresses: Addresses
) -> None:
    with window(browser, site.server.url) as seen:
        for width, least, most in ((DESK, 30, 42), (PHONE, 14, 24)):
            seen.shape(width, "light")
            for lang in ("zh", "en"):
                seen.open(entry_path(addresses.chinese), lang)
                found = blocks_of(seen.page.evaluate(LINES, PARAGRAPHS), "zh")
                lines = [count for one in found for count in one["lines"][:-1]]
                assert least <= sum(lines) / len(lines) <= most
                assert all(1.7 <= one["leading"] <= 1.9 for one in found)
                seen.open(entry_path(addresses.featured), lang)
                found = blocks_of(seen.page.evaluate(LINES, PARAGRAPHS), "en")
                assert found
                assert all(1.45 <= one["leading"] <= 1.65 for one in found)


@LANGUAGES
def test_chinese_is_marked_as_chinese_on_every_page(
    browser: Browser, site: Reader, addresses: Addresses, lang: str
) -> None:
    with window(browser, site.server.url, java_script_enabled=False) as seen:
        for path in addresses.all:
            seen.open(path, lang)
            assert seen.page.evaluate("document.documentElement.lang") == (
                "zh-Hans" if lang == "zh" else "en"
            )
            assert seen.page.evaluate(HAN_ELSEWHERE) == [], path


def test_the_measures_find_what_is_wrong(browser: Browser, site: Reader) -> None:
    """Else that they find nothing would mean nothing."""
    with window(browser, site.server.url, bypass_csp=True) as seen:
        seen.open(f"{WIKI}/about", "en")
        seen.shape(PHONE, "dark")
        assert not seen.overflow()
        seen.page.evaluate(
            """() => {
              const main = document.querySelector('main');
              const add = html => main.insertAdjacentHTML('beforeend', html);
              add('<p id="wide">' + 'x'.repeat(400) + '</p><p>汉字</p>');
              const style = document.createElement('style');
              style.textContent = '#wide { white-space: nowrap; color: #333; }';
              document.head.append(style);
              console.error('here');
              new Image().src = 'http://elsewhere.test/x';
            }"""
        )
        assert seen.overflow()
        assert seen.page.evaluate(HAN_ELSEWHERE)
        seen.page.wait_for_function(
            "() => performance.getEntriesByName('http://elsewhere.test/x').length"
        )
        assert "console: here" in seen.heard
        assert "asked for: http://elsewhere.test/x" in seen.heard
