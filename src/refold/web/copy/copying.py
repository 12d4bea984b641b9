"""Copies the pages: from the home page on, along every link, each page in every language.

All of a copy is of one view. Where the view moves meanwhile, it is begun again; of what is not in
the view (who looked at signatures, which indexer answered when) each page tells what held when it
was copied. Source: issue 11.
"""

import asyncio
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import msgspec

from refold.kernel.errors import SourceError, UsageError
from refold.serving.application import Application
from refold.serving.here import Here
from refold.serving.language import LANGUAGES
from refold.web.copy.asking import Asked
from refold.web.copy.folder import MANIFEST, Folder, Written
from refold.web.copy.names import Address, address_of, file_of, relative
from refold.web.copy.rewriting import Follow, feed_for, page_for, sitemap_for
from refold.web.copy.rules import DATA, FEED, PAGE, Scope

__all__ = ["Copied", "Wanted", "copy_site"]

STARTS = 5
"""How often a copy is begun before it is given up: a chain has a block in ten minutes."""
LOOK_EVERY = 250
"""Pages between two looks at whether the view moved."""
_HELD_BYTES = 8 * 1024 * 1024
"""What of a stream stays in memory."""
_HOME = Address("/")
_SITEMAP = Address("/agentpedia/sitemap.xml")
_STATIC = "/static/"


class _Status(msgspec.Struct, frozen=True):
    """What a copy says of its view: the last height, its digest, by which rules and genesis."""

    height: int | None
    digest: str | None
    rules: str | None
    genesis: str | None
    version: str


class _MovedError(Exception):
    """The view is another one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a site is copied.

    The first language stands at the top, others each in a folder of its name. `base` is the address
    at which the copy will stand, "" where nobody knows it. Raises UsageError `site-language`,
    `site-base`.
    """

    languages: tuple[str, ...] = LANGUAGES
    base: str = ""
    records: bool = True

    def __post_init__(self) -> None:
        unknown = [one for one in self.languages if one not in LANGUAGES]
        if unknown or not self.languages or len({*self.languages}) < len(self.languages):
            raise UsageError(
                "site-language",
                f"{', '.join(self.languages) or 'none'}: no choice of languages",
                f"give some of {', '.join(LANGUAGES)}, each once",
            )
        try:
            parts = urlsplit(self.base)
            is_base = parts.scheme in {"http", "https"} and bool(parts.hostname)
        except ValueError:
            is_base = False
        is_plain = (
            self.base.isascii() and self.base.isprintable() and not {*self.base} & {*'?# "<>'}
        )
        if self.base and not (is_base and is_plain and self.base.endswith("/")):
            raise UsageError(
                "site-base",
                f"{self.base!r} is no address of a folder",
                "give one as https://wiki.example/copy/, with the slash at its end",
            )


class Copied(NamedTuple):
    """What was copied: the view it is of, pages (each language counts), and what was written.

    `starts` is how often it was begun.
    """

    height: int | None
    digest: str | None
    languages: tuple[str, ...]
    pages: int
    written: Written
    starts: int


def copy_site(
    app: Application, path: Path, wanted: Wanted, step: Callable[[int, int], None]
) -> Copied:
    """Copy the pages of an application without an origin into a folder.

    `step` is told how many pages are done, of how many known. The same view gives the same bytes.
    Raises UsageError as `Folder`, SourceError `site-answer` and `site-moving`.
    """

    async def run() -> Copied:
        with Folder(path) as folder:
            for start in range(1, STARTS + 1):
                copy = _Copy(app, folder, wanted, step)
                try:
                    return await copy.made(start)
                except _MovedError:
                    folder.forget()
        raise SourceError(
            "site-moving",
            f"the view moved each of {STARTS} times while it was copied",
            "copy from a backup, or while no sync runs",
        )

    return asyncio.run(run())


class _Copy:
    """One go."""

    def __init__(
        self, app: Application, folder: Folder, wanted: Wanted, step: Callable[[int, int], None]
    ) -> None:
        self._pages = app.site.pages
        self._asked = Asked(app)
        self._folder = folder
        self._wanted = wanted
        self._scope = Scope(records=wanted.records)
        self._step = step
        self._numbers: dict[Address, int] = {}
        self._found: list[Address] = []
        self._links: list[array[int]] = []
        self._failed: set[int] = set()
        self._static: set[str] = set()
        self._stamp = ""
        self._status = _Status(None, None, None, None, "")

    async def made(self, start: int) -> Copied:
        """Copy all. Raises _MovedError."""
        self._stamp = await self._stamp_now()
        answered = await self._asked.get(Address("/agentpedia/status"), "format=json")
        self._status = msgspec.json.decode(answered.body, type=_Status)
        self._number(_HOME)
        number = 0
        while number < len(self._found):  # more are found on the way
            await self._copy(number)
            number += 1
            self._step(number, len(self._found))
            if number % LOOK_EVERY == 0:
                await self._require_still()
        if self._failed:  # what leads there is copied again, as text
            for number, links in enumerate(self._links):
                if number not in self._failed and not self._failed.isdisjoint(links):
                    await self._copy(number)
        await self._copy_rest()
        await self._require_still()
        return self._closed(start)

    async def _stamp_now(self) -> str:
        """Give what changes with the view, and with what is hidden of it."""
        answered = await self._asked.get(Address("/agentpedia/entries", "limit=1"), "format=json")
        return answered.etag

    async def _require_still(self) -> None:
        if await self._stamp_now() != self._stamp:
            raise _MovedError

    def _number(self, address: Address) -> int:
        number = self._numbers.setdefault(address, len(self._found))
        if number == len(self._found):
            self._found.append(address)
            self._links.append(array("L"))
        return number

    async def _copy(self, number: int) -> None:
        address = self._found[number]
        ending = self._scope.ending(address)
        self._links[number] = array("L")
        if ending == PAGE:
            is_there = await self._copy_page(number, address)
        elif ending == FEED:
            is_there = await self._copy_feed(number, address)
        else:
            is_there = await self._copy_data(address, ending or DATA)
        if not is_there:
            self._failed.add(number)

    async def _copy_page(self, number: int, address: Address) -> bool:
        for language in self._wanted.languages:
            answered = await self._asked.get(address, f"lang={language}")
            if answered.status != 200:
                return False
            name = self._file(address, PAGE, language)
            follow = self._follow(number, name, language)
            note = self._note(language, name)
            page = page_for(answered.body.decode(), follow, self._whole(name), note)
            self._folder.put(name, page.encode())
        answered = await self._asked.get(address, "format=json")
        self._folder.put(self._file(address, DATA), answered.body)
        return True

    async def _copy_feed(self, number: int, address: Address) -> bool:
        answered = await self._asked.get(address)
        if answered.status != 200:
            return False
        name = self._file(address, FEED)
        about = Address(address.path.removesuffix("/feed"))
        home = self._file(about, PAGE, self._wanted.languages[0])
        id_ = self._whole(name) or f"urn:uuid:{uuid5(NAMESPACE_URL, f'refold:{address}')}"
        follow = self._follow(number, name, self._wanted.languages[0])
        if self._wanted.base:
            follow = self._wholly(follow, name)
            home = f"{self._wanted.base}{home}"
        else:
            home = relative(home, name)
        self._folder.put(name, feed_for(answered.body.decode(), follow, home, id_).encode())
        return True

    async def _copy_data(self, address: Address, ending: str) -> bool:
        with SpooledTemporaryFile(_HELD_BYTES) as body:
            answered = await self._asked.get(address, into=body)
            if answered.status != 200:
                return False
            self._folder.put_from(self._file(address, ending), body)
        return True

    async def _copy_rest(self) -> None:
        """Copy the style and the mark, and where the copy has an address, what crawlers ask for."""
        for path in sorted(self._static):
            asset = self._pages.assets.get(path.removeprefix(_STATIC))
            if asset is not None:
                self._folder.put(path.strip("/"), asset.body)
        base = self._wanted.base
        if not base:
            return
        answered = await self._asked.get(_SITEMAP)

        def follow(link: str) -> str | None:
            number = self._numbers.get(Address(link))
            if number is None or number in self._failed:
                return None
            return self._whole(self._file(Address(link), PAGE, self._wanted.languages[0]))

        self._folder.put("sitemap.xml", sitemap_for(answered.body.decode(), follow).encode())
        if urlsplit(base).path == "/":  # nobody looks for it elsewhere
            robots = f"User-agent: *\nAllow: /\n\nSitemap: {base}sitemap.xml\n"
            self._folder.put("robots.txt", robots.encode())

    def _closed(self, start: int) -> Copied:
        status, wanted = self._status, self._wanted
        copied = [
            address
            for number, address in enumerate(self._found)
            if number not in self._failed and self._scope.ending(address) == PAGE
        ]
        pages = len(copied) * len(wanted.languages)
        written = self._folder.close(
            {
                **msgspec.to_builtins(status),
                "languages": wanted.languages,
                "base": wanted.base,
                "records": wanted.records,
                "pages": pages,
            }
        )
        return Copied(status.height, status.digest, wanted.languages, pages, written, start)

    def _file(self, address: Address, ending: str, language: str = "") -> str:
        is_top = not language or language == self._wanted.languages[0]
        return file_of(address, ending, "" if is_top else language)

    def _whole(self, name: str) -> str | None:
        base = self._wanted.base
        return f"{base}{'' if name == 'index.html' else name}" if base else None

    def _note(self, language: str, name: str) -> str:
        here = Here("/", lang=language)
        data = {"status": self._status, "manifest": escape(relative(MANIFEST, name))}
        return self._pages.render("web/copied.html", here, data).decode()

    def _follow(self, number: int, name: str, language: str) -> Follow:
        """Give what follows the links of a file, and notes where they lead."""
        links, seen_from = self._links[number], self._found[number]

        def follow(link: str) -> str | None:
            link, sharp, fragment = link.partition("#")
            if link.startswith(_STATIC):
                self._static.add(link)
                return relative(link.strip("/"), name)
            address, named, is_data = address_of(link)
            ending = self._scope.ending(address, seen_from)
            named = named or language
            if ending is None or named not in self._wanted.languages:
                return None
            target = self._number(address)
            if target in self._failed:
                return None
            links.append(target)
            if ending != PAGE or is_data:
                named = ""
                ending = DATA if is_data else ending
            return relative(self._file(address, ending, named), name) + sharp + fragment

        return follow

    def _wholly(self, follow: Follow, name: str) -> Follow:
        """Give what follows links to whole addresses."""
        folder = f"{self._wanted.base}{name}".rpartition("/")[0]

        def whole(link: str) -> str | None:
            found = follow(link)
            return None if found is None else _joined(folder, found)

        return whole


def _joined(folder: str, found: str) -> str:
    while found.startswith("../"):
        folder, found = folder.rpartition("/")[0], found[3:]
    return f"{folder}/{found}"
