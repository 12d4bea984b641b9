"""Writes docs/pictures/reader: the main pages as Debian's Chromium shows them of the demo wiki.

`make screenshots` runs it. The wiki is always the same, so a picture changes when a page does.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final, Literal, NamedTuple

from agentpedia.api.reading import WIKI, entry_path, reader_of
from agentpedia.api.served import store_demo
from browser.addresses import Addresses
from browser.seeing import DESK, PHONE, window
from refold.db import Database
from serving.chromium import chromium

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures" / "reader"
HEIGHTS: Final = {DESK: 800, PHONE: 640}


class Picture(NamedTuple):
    """A page in a language, a scheme and a width; `part` is what it is scrolled to."""

    name: str
    path: str
    lang: Literal["en", "zh"]
    scheme: Literal["light", "dark"]
    width: int
    part: str = ""


def pictures_of(known: Addresses) -> list[Picture]:
    """Give what is worth a look."""
    diff, side = known.pages[f"{WIKI}/diff"]
    ruling = known.pages[f"{WIKI}/proposals/{{id}}"][0]
    arbiter = known.pages[f"{WIKI}/editors/{{id}}"][1]
    return [
        Picture("home-en", WIKI, "en", "light", DESK),
        Picture("home-zh-phone", WIKI, "zh", "dark", PHONE),
        Picture("list-zh", f"{WIKI}/entries?sort=featured", "zh", "light", DESK),
        Picture("entry-en", entry_path(known.featured), "en", "light", DESK),
        Picture("entry-zh-dark", entry_path(known.chinese), "zh", "dark", DESK),
        Picture("entry-frozen-phone", entry_path(known.frozen), "en", "light", PHONE),
        Picture("entry-zh-phone", entry_path(known.chinese), "zh", "light", PHONE, "article"),
        Picture("history-en", entry_path(known.frozen, "history"), "en", "light", DESK),
        Picture(
            "history-zh-phone", entry_path(known.frozen, "history"), "zh", "dark", PHONE, ".step"
        ),
        Picture("diff-en-dark", side, "en", "dark", DESK),
        Picture("diff-zh-phone", diff, "zh", "light", PHONE),
        Picture("editor-en", arbiter, "en", "light", DESK),
        Picture("docket-zh", f"{WIKI}/proposals", "zh", "light", DESK),
        Picture("ruling-en-phone", ruling, "en", "dark", PHONE),
        Picture("graveyard-en", f"{WIKI}/graveyard", "en", "light", DESK),
    ]


def main() -> None:
    """Write the pictures, or into the folder given: together less than two megabytes."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        url = f"sqlite:///{place}/refold.db"
        with Database.open(url, durability="normal") as database:
            wiki = store_demo(database)
            known = Addresses(wiki)
            with reader_of(database, origin=None) as reader, chromium() as browser:
                for one in pictures_of(known):
                    scale = 2 if one.width == PHONE else 1
                    size = {"width": one.width, "height": HEIGHTS[one.width]}
                    with window(
                        browser, reader.server.url, viewport=size, device_scale_factor=scale,
                        color_scheme=one.scheme,
                    ) as seen:  # fmt: skip
                        seen.open(one.path, one.lang)
                        if one.part:
                            seen.page.locator(one.part).first.evaluate("it => it.scrollIntoView()")
                        seen.page.screenshot(path=folder / f"{one.name}.png", animations="disabled")


if __name__ == "__main__":
    main()
