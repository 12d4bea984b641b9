"""Each page in both languages, both colour schemes, on a phone and on a desk. Source: issue 11."""

import os

import pytest
from playwright.sync_api import Browser

from agentpedia.api.reading import Reader, with_pages
from agentpedia.api.served import Stored
from browser.addresses import PROBLEMS, Addresses
from browser.seeing import AXE, DESK, NO_AXE, PHONE, SCHEMES, Window, window
from serving.chromium import need_chromium

need_chromium()

OF_COLOUR = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that ask for colours: all others read the same in both schemes."""
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def faults_of(seen: Window, path: str) -> list[str]:
    """Give what is wrong with the page that is open, in each scheme at each width."""
    faults: list[str] = []
    for width in (PHONE, DESK):
        for scheme in SCHEMES:
            seen.shape(width, scheme)
            is_whole = (width, scheme) in {(PHONE, "light"), (DESK, "dark")}
            found = [f"sideways: {one}" for one in seen.overflow()]
            if AXE.exists():
                found += seen.violations(() if is_whole else OF_COLOUR)
            faults += [f"{path} {width} {scheme}: {one}" for one in found]
    seen.note_letters()
    return faults


def test_axe_core_is_among_what_pages_are_tried_with() -> None:
    if not AXE.exists() and os.environ.get("REFOLD_AXE") != "required":
        pytest.skip(NO_AXE)
    assert AXE.stat().st_size > 100_000


@LANGUAGES
def test_every_page_is_sound_wherever_it_is_read(
    browser: Browser, site: Reader, addresses: Addresses, lang: str
) -> None:
    faults: list[str] = []
    with window(browser, site.server.url) as seen:
        for path in addresses.all:
            seen.open(path, lang)
            faults += faults_of(seen, path)
        for path in PROBLEMS:
            seen.open(path, lang, status=404)
            faults += faults_of(seen, path)
        assert faults == []
        assert seen.heard == []
        letters = {font: "".join(sorted(found)) for font, found in seen.letters.items()}
        assert any("潮" in found for found in letters.values())
        missing = {font: seen.tofu(font, found) for font, found in letters.items()}
        assert {font: found for font, found in missing.items() if found} == {}
        for font in letters:
            assert seen.tofu(font, "a\u0378字\U000efff0") == ["\u0378", "\U000efff0"]


def test_every_page_is_among_them(site: Reader, wiki: Stored, addresses: Addresses) -> None:
    """A page that is new must be given an address here."""
    assert site.server.url
    routes = {
        operation.route.path
        for operation in with_pages(wiki.database).operations
        if operation.route.kind == "page"
    }
    assert set(addresses.pages) == routes | {"/"}
