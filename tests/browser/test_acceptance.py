"""The reader's items of acceptance, AC-F1 to AC-F5, in a browser. Source: PRD §9.6.

Their static halves: tests/agentpedia/api/test_reader_static.py (AC-F3, AC-F5), the samples of
AC-F4: tests/browser/test_strangers.py and tests/serving/test_markdown_browser.py.
"""

from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser, Page

from agentpedia.api.reading import WIKI, Reader, entry_path
from agentpedia.api.served import Stored
from browser.addresses import Addresses
from browser.seeing import DESK, PHONE, window
from refold.serving.whitelist import built_in
from serving.chromium import need_chromium
from serving.texts import samples

need_chromium()

WIDTHS = pytest.mark.parametrize("width", [PHONE, DESK])


def is_seen(page: Page, selector: str) -> bool:
    """Tell whether all that a selector names has a place on the page, and there is something."""
    found: bool = page.evaluate(
        """selector => {
          const all = [...document.querySelectorAll(selector)];
          return all.length > 0 && all.every(one => one.getClientRects().length);
        }""",
        selector,
    )
    return found


@WIDTHS
def test_ac_f1_the_four_elements_are_seen(
    browser: Browser, site: Reader, wiki: Stored, addresses: Addresses, width: int
) -> None:
    """Version displayed, graph of the history, warning strip, composition of editors."""
    entry = wiki.view["entry", addresses.frozen]
    with window(browser, site.server.url) as seen:
        seen.shape(width, "light")
        seen.open(entry_path(addresses.frozen), "en")
        text = site.server.get(f"/v1{WIKI}/versions/{entry['displayHead']}/text").text
        said = seen.page.inner_text("article.prose")
        assert text.split("**")[1].split()[0] in said
        assert is_seen(seen.page, ".notice.warn .title")
        titles = seen.page.locator(".notice.warn .title").all_inner_texts()
        assert {"Disputed", "Frozen"} <= set(titles)
        assert is_seen(seen.page, "svg.bar rect")
        assert (
            seen.page.locator("ul.legend li").count() == seen.page.locator("svg.bar rect").count()
        )
        seen.open(entry_path(addresses.frozen, "history") + "?limit=100", "en")
        assert is_seen(seen.page, "li.step svg.graph path.node")
        assert seen.page.locator("svg.graph path.node").count() >= len(entry["history"])
        assert is_seen(seen.page, "svg.graph path.revert")
        seen.open(entry_path("en:tide", "history") + "?limit=100", "en")
        assert is_seen(seen.page, "svg.graph path.contest")


def test_ac_f2_reviewed_entries_show_what_passed_and_others_the_last_word(
    browser: Browser, site: Reader, wiki: Stored, addresses: Addresses
) -> None:
    entry = wiki.view["entry", addresses.awaiting]
    assert (entry["displayMode"], entry["displayHead"]) != ("lww", entry["head"])
    with window(browser, site.server.url) as seen:
        seen.open(entry_path(addresses.awaiting), "en")
        notice = seen.page.locator(".notice", has_text="Newer versions await review")
        waiting = notice.locator("a").evaluate_all("all => all.map(one => one.title)")
        assert waiting == entry["awaitingReview"]
        assert entry["displayHead"] not in waiting
        assert entry["displayHead"] in str(seen.page.text_content("details.verify"))
        plain = wiki.view["entry", addresses.featured]
        assert plain["displayMode"] == "lww"
        seen.open(entry_path(addresses.featured), "en")
        assert seen.page.locator(".notice", has_text="await review").count() == 0
        assert plain["displayHead"] == plain["head"]


def test_ac_f3_no_page_has_a_control_that_writes(
    browser: Browser, site: Reader, addresses: Addresses
) -> None:
    """All that can be filled or pressed asks for another page; nothing but GET is ever sent."""
    methods: set[str] = set()
    with window(browser, site.server.url) as seen:
        seen.page.on("request", lambda request: methods.add(request.method))
        for path in addresses.all:
            seen.open(path, "en")
            found = seen.page.evaluate(
                """() => ({
                  forms: [...document.forms].map(
                    form => [form.method, new URL(form.action).pathname]),
                  fields: [...document.querySelectorAll('input, select, textarea, button')].map(
                    one => one.type),
                  editable: document.querySelectorAll('[contenteditable]').length,
                  scripts: document.scripts.length,
                })"""
            )
            assert {method for method, _ in found["forms"]} <= {"get"}
            assert {target for _, target in found["forms"]} <= {f"{WIKI}/search", f"{WIKI}/diff"}
            assert set(found["fields"]) <= {"search", "hidden", "radio", "submit"}
            assert (found["editable"], found["scripts"]) == (0, 0), path
        seen.open(WIKI, "en")
        seen.page.fill("input[type=search]", "harbour")
        seen.page.press("input[type=search]", "Enter")
        seen.page.wait_for_url("**/search?*")
        assert "harbour" in seen.page.inner_text("main")
    assert methods == {"GET"}


def test_ac_f4_there_is_one_list_of_what_a_text_may_hold_and_no_page_goes_beyond(
    browser: Browser, site: Reader, wiki: Stored
) -> None:
    assert len(samples()) >= 40
    allowed = built_in()
    assert allowed.version
    elements: set[str] = set()
    with window(browser, site.server.url) as seen:
        for key in wiki.view:
            if key[0] == "entry" and key[1].startswith("en:t"):
                seen.open(entry_path(key[1]), "en")
                elements |= set(
                    seen.page.evaluate(
                        "[...document.querySelectorAll('.prose *')].map(one => one.localName)"
                    )
                )
    assert elements
    assert elements <= set(allowed.elements)


KEPT = """async () => ({
  cookie: document.cookie,
  local: localStorage.length, session: sessionStorage.length,
  databases: (await indexedDB.databases()).length,
  workers: navigator.serviceWorker ? (await navigator.serviceWorker.getRegistrations()).length : 0,
})"""


def test_ac_f5_nothing_is_kept_and_lists_load_no_texts(
    browser: Browser, site: Reader, addresses: Addresses
) -> None:
    asked: list[str] = []
    with window(browser, site.server.url) as seen:
        seen.page.on("request", lambda request: asked.append(request.url))
        for paths in addresses.pages.values():
            asked.clear()
            seen.open(paths[0], "en")
            assert len(asked) - 1 == len([one for one in asked if "/static/" in one]) <= 3, asked
            kept = seen.page.evaluate(KEPT)
            assert kept == {"cookie": "", "local": 0, "session": 0, "databases": 0, "workers": 0}
        state = seen.page.context.storage_state(indexed_db=True)
        assert state == {"cookies": [], "origins": []}


def test_ac_f5_pages_are_whole_without_scripts(
    browser: Browser, site: Reader, addresses: Addresses
) -> None:
    """What the browser shows is what was sent, and the same when it may run nothing."""
    paths = [some[0] for some in addresses.pages.values()]
    said: list[dict[str, str]] = []
    for is_on in (True, False):
        with window(browser, site.server.url, java_script_enabled=is_on) as seen:
            words: dict[str, str] = {}
            for path in paths:
                seen.open(path, "zh")
                words[path] = seen.page.inner_text("body")
            said.append(words)
    assert said[0] == said[1]
    assert all(len(text) > 100 for text in said[0].values()), [unquote(path) for path in paths]
