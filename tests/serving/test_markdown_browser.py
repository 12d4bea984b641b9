"""The samples in a real browser: nothing runs and nothing is asked for, by either lock alone.

Source: agentpedia.md §12 (Reader), PRD AC-F4, issue 11.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from refold.serving.headers import PAGE_HEADERS
from refold.serving.markdown import Markdown
from serving.chromium import ORIGIN, Trap, chromium, need_chromium
from serving.texts import SCHEMES, samples, unsafe_html, uri, wiki

HEADERS: Final = {name.decode(): value.decode() for name, value in PAGE_HEADERS}
MARKDOWN: Final = Markdown(SCHEMES)
ENOUGH: Final = 40

need_chromium()


@pytest.fixture(scope="module")
def trap() -> Iterator[Trap]:
    with chromium() as browser:
        found = Trap(browser)
        yield found
        found.close()


def test_the_trap_hears_samples_where_nothing_keeps_them(trap: Trap) -> None:
    """Without it, silence would prove nothing."""
    heard = 0
    for _, text in samples():
        heard += bool(trap.show(unsafe_html(text), {}))
        if heard == ENOUGH:
            break
    assert heard == ENOUGH


def test_nothing_runs_of_what_markdown_makes(trap: Trap) -> None:
    """Without the policy: the HTML by itself is harmless. One page holds it all."""
    html = [MARKDOWN.document(text).html(wiki, uri) for _, text in samples()]
    assert trap.show("".join(html), {}) == []


def test_nothing_runs_under_the_policy_of_pages_when_nothing_is_taken_out(trap: Trap) -> None:
    """Pictures of the site itself may be loaded, and of no other."""
    heard = {name: trap.show(unsafe_html(text), HEADERS) for name, text in samples()}
    own = f"asked for: {ORIGIN}/"
    assert {n: s for n, s in heard.items() if [one for one in s if not one.startswith(own)]} == {}
