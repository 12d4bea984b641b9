"""`refold agentpedia export-site`: a copy that works from the file system. Source: issue 11."""

import io
import re
import signal
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit
from xml.etree.ElementTree import fromstring

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from agentpedia.api.served import demo_pins, store
from agentpedia.api.test_reader_hostile import pin_of
from agentpedia.wiki import FOUNDERS, NO_WAR, Wiki
from cli.terminal import COMMAND, MINUTE, environment, refold
from refold.agentpedia.rules import DEPLOYED
from refold.cli.settings import current_settings
from refold.db import Database
from refold.serving.logs import make_log
from refold.web.app import web_application
from refold.web.copy import copying
from refold.web.copy.names import Address, address_of, file_of, is_file_name, relative
from serving.chromium import chromium, need_chromium

FIRST_DAYS = 14
"""Pins of the demo wiki: genesis, registrations, the first entries with their edits."""
SLUGS = (
    *("..", "CON", "con", "nul", "aux.html", "trailing...", "a/b", "q?x=1#y", "%2e%2e"),
    *("茶", "index", "Tide", "tide", "x" * 120),
)
"""Names that some file system takes for something else; the rules in force there take them all."""
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
MAX_PATH = 200
"""Characters below DIR: Windows has 260 for a path."""
BRIEF = ("--lang", "en", "--no-records")
OUTSIDE = ("http", "https", "mailto")


class Link(NamedTuple):
    tag: str
    href: str
    classes: str


class Page(HTMLParser):
    """The links of a page, and what else it must not have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.tags: set[str] = set()
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.ids.add(found.get("id", ""))
        for name in ("href", "src", "action"):
            if name in found:
                self.links.append(Link(tag, found[name], found.get("class", "")))


def files_of(folder: Path) -> dict[str, bytes]:
    """Give all files, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def target_of(name: str, href: str) -> str:
    """Give the file that a link of a file leads to."""
    return unquote(urlsplit(urljoin(f"file:///site/{quote(name)}", href)).path).removeprefix(
        "/site/"
    )


def walk(files: dict[str, bytes]) -> set[str]:
    """Follow every link from index.html on; give all that is reached."""
    reached, todo = {"index.html"}, ["index.html"]
    while todo:
        name = todo.pop()
        if not name.endswith(".html"):
            continue
        for link in Page(files[name].decode()).links:
            if urlsplit(link.href).scheme in OUTSIDE:
                assert "external" in link.classes.split(), (name, link)
                continue
            assert not link.href.startswith("/"), (name, link)
            assert urlsplit(link.href).scheme == "", (name, link)
            target = target_of(name, link.href)
            assert target in files, (name, link)
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return reached


def exported(database: str, folder: Path, *options: str) -> Any:
    answer = refold(
        "agentpedia", "export-site", str(folder), "--database", database, *options,
        "--format", "json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert answer.err == ""
    return answer.json


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the URL of a database with the first days of the demo wiki."""
    url = f"sqlite:///{tmp_path_factory.mktemp('demo') / 'a.db'}"
    with Database.open(url, durability="normal") as opened:
        store(opened, demo_pins()[:FIRST_DAYS])
    return url


@pytest.fixture(scope="module")
def copy(demo_file: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of it."""
    folder = tmp_path_factory.mktemp("site") / "copy"
    exported(demo_file, folder)
    return folder


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the URL of a database with entries of names that are hard to keep in files."""
    wiki = Wiki(DEPLOYED, NO_WAR)
    for number, slug in enumerate(SLUGS):
        text = f"[[{SLUGS[number - 1]}]] and [[nobody wrote this]]"
        wiki.create(FOUNDERS[number % len(FOUNDERS)], slug, text, title=slug)
    url = f"sqlite:///{tmp_path_factory.mktemp('hostile') / 'a.db'}"
    with Database.open(url, durability="normal") as opened:
        store(opened, [pin_of(wiki, n) for n in range(len(wiki.events))], rules=DEPLOYED)
    return url


@pytest.fixture(scope="module")
def hostile_copy(hostile_file: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of those, in one language, of what is read only."""
    folder = tmp_path_factory.mktemp("hostile") / "copy"
    exported(hostile_file, folder, *BRIEF)
    return folder


def test_every_link_leads_to_a_file_or_out_and_every_file_is_reached(copy: Path) -> None:
    files = files_of(copy)
    reached = walk(files)
    assert set(files) - reached == set()
    assert {"zh/index.html", "agentpedia/feed.xml", "manifest.json"} <= reached
    for name, body in files.items():
        if name.endswith(".html"):
            page = Page(body.decode())
            assert not page.tags & {"form", "input", "button", "script"}, name
            assert name.removeprefix("zh/").removesuffix(".html") + ".json" in files


def test_feeds_lead_to_files_and_name_no_place(copy: Path) -> None:
    files = files_of(copy)
    feeds = {name: body for name, body in files.items() if name.endswith(".xml")}
    assert len(feeds) > 2
    ids = []
    for name, body in feeds.items():
        feed = fromstring(body)  # noqa: S314 (our own)
        ids.append(feed.findtext("{*}id"))
        for link in feed.iter("{http://www.w3.org/2005/Atom}link"):
            assert target_of(name, link.attrib["href"]) in files
            assert not link.attrib["href"].startswith("/")
    assert len(set(ids)) == len(ids)


def test_the_manifest_names_every_file_with_its_hash_and_the_view(copy: Path) -> None:
    files = files_of(copy)
    manifest = msgspec.json.decode(files.pop("manifest.json"))
    assert manifest["format"] == "refold-site/1"
    assert [one["path"] for one in manifest["files"]] == sorted(files)
    for one in manifest["files"]:
        assert one["sha256"] == sha256(files[one["path"]]).hexdigest()
        assert one["bytes"] == len(files[one["path"]])
    status = msgspec.json.decode(files["agentpedia/status.json"])
    assert (manifest["height"], manifest["digest"]) == (status["height"], status["digest"])
    assert status["digest"] in files["index.html"].decode()


def test_what_is_there_is_not_written_and_what_is_gone_is_removed(
    hostile_file: str, hostile_copy: Path, tmp_path: Path
) -> None:
    exported(hostile_file, tmp_path, "--lang", "zh")
    files = files_of(tmp_path)
    assert set(files) - walk(files) == set()
    (tmp_path / "mine.txt").write_bytes(b"mine")
    other = exported(hostile_file, tmp_path, *BRIEF)["written"]
    assert other["changed"] < other["files"]  # data has no language
    assert other["removed"] > len(SLUGS)  # the pages of versions, with their folders
    assert (tmp_path / "mine.txt").read_bytes() == b"mine"
    (tmp_path / "mine.txt").unlink()
    assert files_of(tmp_path) == files_of(hostile_copy)  # the same view gives the same bytes
    assert set(tmp_path.rglob("*")) == {
        tmp_path / path.relative_to(hostile_copy) for path in hostile_copy.rglob("*")
    }
    (tmp_path / "index.html").write_bytes(b"spoilt")
    (tmp_path / "agentpedia" / "status.html").unlink()
    again = exported(hostile_file, tmp_path, *BRIEF)["written"]
    assert (again["changed"], again["removed"]) == (2, 0)
    assert files_of(tmp_path) == files_of(hostile_copy)


def test_names_that_file_systems_mistake_are_kept_apart(hostile_copy: Path) -> None:
    files = files_of(hostile_copy)
    assert set(files) - walk(files) == set()
    assert len({name.casefold() for name in files}) == len(files)
    entries = {
        name: msgspec.json.decode(body)["slug"]
        for name, body in files.items()
        if re.fullmatch(r"agentpedia/entries/[^/]+\.json", name)
    }
    assert len(set(entries.values())) == len(entries)
    assert {"con", "nul", "茶", "index", "tide", "x" * 120} <= set(entries.values())
    for name in entries:
        page = files[name.removesuffix(".json") + ".html"].decode()
        assert re.search(r'<span class="wiki missing"[^>]*>nobody wrote this</span>', page)


def test_a_run_that_is_killed_is_gone_on_with(
    hostile_file: str, hostile_copy: Path, tmp_path: Path
) -> None:
    command = [COMMAND, "agentpedia", "export-site", str(tmp_path), "--database", hostile_file]
    with subprocess.Popen(
        [*command, *BRIEF], env=environment(), stdout=subprocess.DEVNULL
    ) as process:
        while not (tmp_path / "agentpedia.html").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(MINUTE)
    left = files_of(tmp_path)
    assert "manifest.json" not in left
    assert "index.html" in left
    (tmp_path / ".index.html.0123abcd.part").write_bytes(b"half")
    exported(hostile_file, tmp_path, *BRIEF)
    assert files_of(tmp_path) == files_of(hostile_copy)


def test_with_an_address_there_is_a_sitemap_and_pages_name_themselves(
    hostile_file: str, tmp_path: Path
) -> None:
    base = "https://wiki.example/copy/"
    exported(hostile_file, tmp_path / "a", *BRIEF, "--base", base)
    files = files_of(tmp_path / "a")
    sitemap = fromstring(files["sitemap.xml"])  # noqa: S314 (our own)
    places = [one.text or "" for one in sitemap.iter() if one.tag.endswith("loc")]
    assert len(places) > len(set(SLUGS)) // 2
    assert all(place.removeprefix(base) in files for place in places)
    assert f'<link rel="canonical" href="{base}">' in files["index.html"].decode()
    assert "robots.txt" not in files
    feed = files["agentpedia/feed.xml"].decode()
    assert f"<id>{base}agentpedia/feed.xml</id>" in feed
    links = re.findall(r'href="([^"]*)"', feed)
    assert all(link.removeprefix(base) in files for link in links)


def test_a_view_that_moves_is_copied_anew(
    hostile_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "LOOK_EVERY", 2)
    path = tmp_path / "a.db"
    path.write_bytes(Path(hostile_file.removeprefix("sqlite:///")).read_bytes())
    url = f"sqlite:///{path}"
    moves = iter(range(1))

    def hide(_: int, __: int) -> None:
        if next(moves, None) is not None:
            with Database.open(url) as opened, opened.write() as connection:
                connection.exec_driver_sql("UPDATE agentpedia_folded SET height = height + 1")

    said = copied_while(url, tmp_path / "site", hide)
    assert said.starts == 2
    manifest = msgspec.json.decode((tmp_path / "site" / "manifest.json").read_bytes())
    assert manifest["height"] == said.height


def copied_while(url: str, folder: Path, step: Any) -> copying.Copied:
    """Copy, and call `step` after each page."""
    settings = current_settings(parts=["agentpedia"])
    with Database.open(url, readonly=True) as opened:
        app = web_application(opened, settings, origin="", log=make_log(io.BytesIO()))
        return copying.copy_site(app, folder, copying.Wanted(("en",), records=False), step)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--lang", "fr"), "site-language"),
        (("--lang", "en", "--lang", "en"), "site-language"),
        (("--base", "wiki.example/"), "site-base"),
        (("--base", "https://wiki.example"), "site-base"),
        (("--base", 'https://wiki.example/">/'), "site-base"),
    ],
)
def test_wrong_wishes_are_told_in_one_line(
    options: tuple[str, ...], code: str, hostile_file: str, tmp_path: Path
) -> None:
    answer = refold(
        "agentpedia", "export-site", str(tmp_path / "a"), "--database", hostile_file, *options
    )
    assert answer.code == 2
    assert answer.err.startswith(f"refold: {code}: ")
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json"])
def test_a_folder_of_somebody_else_is_left_alone(
    name: str, hostile_file: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text('{"format": "other", "files": []}')
    answer = refold("agentpedia", "export-site", str(tmp_path), "--database", hostile_file)
    assert answer.code == 2
    assert answer.err.startswith("refold: site-foreign: ")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_manifest_removes_nothing_outside(hostile_file: str, tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"1")
    site = tmp_path / "site"
    site.mkdir()
    (site / "kept.txt").symlink_to(tmp_path / "precious")
    files = [
        {"path": path, "sha256": "", "bytes": 1}
        for path in ("../precious", "/etc/hostname", "a/../../precious", "index.html")
    ]
    manifest = msgspec.json.encode({"format": "refold-site/1", "files": files})
    (site / "manifest.json").write_bytes(manifest)
    (site / "index.html").symlink_to(tmp_path / "precious")
    exported(hostile_file, site, *BRIEF)
    assert (tmp_path / "precious").read_bytes() == b"1"
    assert not (site / "index.html").is_symlink()


SEGMENTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ADDRESSES = st.builds(
    lambda parts, query: Address("/" + "/".join(quote(part, safe=":~") for part in parts), query),
    st.lists(SEGMENTS | st.sampled_from(SLUGS), min_size=1, max_size=4),
    st.sampled_from(["", "", "a=b", "cursor=AbC", "cursor=abc"]),
)


@given(st.lists(ADDRESSES, min_size=2, max_size=2, unique=True))
@example([Address("/a/con"), Address("/a/CON")])
@example([Address("/a", "x=1"), Address("/a-x=1")])
@example([Address("/"), Address("/index/..")])
def test_addresses_have_names_of_their_own_that_every_file_system_holds(
    addresses: list[Address],
) -> None:
    one, other = (file_of(address, ".html", "zh") for address in addresses)
    assert one != other
    for name in (one, other):
        assert is_file_name(name)
        assert name == name.casefold()
        for part in name.split("/"):
            assert len(part) < MAX_PATH
            assert not DEVICE.fullmatch(part)
            assert not part.endswith((".", " "))
    assert target_of(one, relative(other, one)) == other


def test_an_address_has_one_spelling() -> None:
    assert address_of("/a?b=1&lang=zh&a=2") == (Address("/a", "a=2&b=1"), "zh", False)
    assert address_of("/a?a=2&format=json&b=1") == (Address("/a", "a=2&b=1"), "", True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need_chromium()
    with chromium() as found:
        yield found


def test_a_browser_shows_it_from_the_file_system(copy: Path, browser: Browser) -> None:
    page = browser.new_page()
    said: list[str] = []
    failed: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((copy / "index.html").as_uri())
    sheets = page.evaluate("[...document.styleSheets].map(one => one.href)")
    assert [target_of("", one) for one in sheets] != []
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"  # the style was read
    page.click("ul.languages a[lang=zh-Hans]")
    assert page.get_attribute("html", "lang") == "zh-Hans"
    page.click("nav.menu li:nth-child(2) a")
    page.click("ul.rows .title a")
    assert "/zh/agentpedia/entries/" in page.url
    assert page.inner_text("h1")
    assert said == []
    assert failed == []
    page.close()
