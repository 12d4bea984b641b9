"""The demo wiki's pages, served once for all tests of a process, and one browser to see them."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from agentpedia.api.reading import Reader, reader_of
from agentpedia.api.served import Stored, store_demo
from browser.addresses import Addresses
from browser.seeing import window
from refold.db import Database
from serving.chromium import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give Debian's Chromium, with a font that has Chinese letters.

    Closed behind the last test of a file: until then the thread counts as in an event loop, and
    no other test could run one of its own.
    """
    with chromium() as found:
        with window(found, "") as seen:
            is_short = seen.tofu("20px serif", "字") != []
        if is_short and os.environ.get("REFOLD_BROWSER") != "required":
            pytest.skip("no font with Chinese letters here: apt-get install fonts-noto-cjk")
        yield found


@pytest.fixture(scope="session")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the URL of a file for the demo wiki."""
    return f"sqlite:///{tmp_path_factory.mktemp('browser') / 'refold.db'}"


@pytest.fixture(scope="session")
def wiki(demo_file: str) -> Iterator[Stored]:
    """Give the demo wiki, stored."""
    with Database.open(demo_file, durability="normal") as opened:
        yield store_demo(opened)


@pytest.fixture(scope="session")
def site(demo_file: str, wiki: Stored) -> Iterator[Reader]:
    """Give its pages, at their own address, by a server that cannot write."""
    assert wiki.tip
    with Database.open(demo_file, readonly=True) as opened, reader_of(opened, origin=None) as found:
        yield found


@pytest.fixture(scope="session")
def addresses(wiki: Stored) -> Addresses:
    """Give an address of each kind of page."""
    return Addresses(wiki)
