"""What strangers write runs nowhere: by what the pages are made of alone, and by the policy alone.

Each sample stands in every field that a stranger can fill, and in every member of an address. The
pages are those that the server sends; a real browser shows them, and listens. Source: spec §12
(Reader), PRD AC-F4, issue 11.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from agentpedia.api.reading import reader_of
from agentpedia.api.served import store
from browser.strangers import (
    BY_ADDRESS,
    BY_ADDRESS_TOO,
    ENOUGH,
    SOME,
    TEXTS,
    Sent,
    addresses,
    nothing_is_taken_out,
    pins,
    sent_by,
)
from refold.agentpedia.rules import DEPLOYED
from refold.db import Database
from serving.chromium import ORIGIN, Trap, need_chromium

need_chromium()

BATCH: Final = 15
"""Pages shown at once, one behind the other: each is whole, so none changes how others are read."""
FEW: Final = 8
"""Pages of a kind that are shown with nothing taken out: more than half of the samples."""
CONSTANT: Final = re.compile(r'<link rel="(?:stylesheet|icon)"[^>]*>')
AROUND: Final = re.compile(r"<(header|footer) class=\"site\">.*?</\1>", re.DOTALL)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sent, Sent]:
    """Give the pages as they are, and as they would be if nothing were taken out."""
    path = Path(tmp_path_factory.mktemp("strangers")) / "a.db"
    with Database.open(f"sqlite:///{path}", durability="normal") as database:
        store(database, pins(), rules=DEPLOYED)
        with reader_of(database) as reader:
            asked = addresses(reader)
            safe = sent_by(reader, asked)
        few = {kind: paths[:FEW] for kind, paths in asked.items()}
        with nothing_is_taken_out(), reader_of(database) as reader:
            unsafe = sent_by(reader, few)
    return safe, unsafe


@pytest.fixture(scope="module")
def trap(browser: Browser) -> Iterator[Trap]:
    found = Trap(browser)
    yield found
    found.close()


def shown(trap: Trap, kind: str, pages: list[str], policy: str = "") -> list[str]:
    """Show pages, and give what was heard but for what the site itself was asked for.

    What stands around a page holds nothing of strangers but its address.
    """
    headers = {"content-security-policy": policy} if policy else {}
    pages = [CONSTANT.sub("", page) for page in pages]
    if kind not in (*BY_ADDRESS, *BY_ADDRESS_TOO):
        pages = [AROUND.sub("", page) for page in pages]
    heard = [
        one
        for start in range(0, len(pages), BATCH)
        for one in trap.show("".join(pages[start : start + BATCH]), headers)
    ]
    return [one for one in heard if not one.startswith(f"asked for: {ORIGIN}/")]


def test_there_are_enough_samples() -> None:
    assert len(SOME) >= ENOUGH


def test_nothing_of_a_stranger_runs_by_what_the_pages_are_made_of(
    both: tuple[Sent, Sent], trap: Trap
) -> None:
    safe, _ = both
    heard = {kind: shown(trap, kind, pages) for kind, pages in safe.pages.items()}
    assert {kind: found for kind, found in heard.items() if found} == {}


def test_nothing_of_a_stranger_runs_by_the_policy_alone(
    both: tuple[Sent, Sent], trap: Trap
) -> None:
    """Each sample by itself: tests/serving/test_markdown_browser.py."""
    safe, unsafe = both
    (policy,) = unsafe.policies
    assert safe.policies == {policy}
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, pages in unsafe.pages.items():
        assert shown(trap, kind, pages, policy) == [], kind


def test_the_trap_hears_them_where_neither_stands(both: tuple[Sent, Sent], trap: Trap) -> None:
    """Else silence would mean nothing: each kind of page that shows a sample would have run it."""
    _, unsafe = both
    live = [text for text in TEXTS.values() if text.startswith("<")]
    showing = {
        kind
        for kind, pages in unsafe.pages.items()
        if any(text in page for page in pages for text in live)
    }
    heard = {kind for kind, pages in unsafe.pages.items() if shown(trap, kind, pages)}
    assert showing - heard == set()
    assert len(heard) > 15
