"""What the pages of the encyclopedia must say, in both languages. Source: spec §12, PRD AC-F1, F2.

The view is the demo wiki's, folded beside the server (`Stored.view`).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest

from agentpedia.api.reading import WIKI, Reader, entry_path, reader_of
from agentpedia.api.served import ORIGIN, Stored, demo
from refold.agentpedia.pages import NAV
from refold.agentpedia.store.hidden import SqlHidden
from refold.db import Database
from refold.serving.markdown import MAX_CHARS
from serving.htmltree import Element

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
V1 = f"/v1{WIKI}"
SAID = {
    "disputed": ("Disputed", "有争议"),
    "frozen": ("Frozen", "已冻结"),
    "protected": ("Protected", "受保护"),
    "awaiting-review": ("Newer versions await review", "有新版本待复核"),
    "redirect": ("This leads elsewhere", "重定向"),
}


@pytest.fixture(scope="module")
def reader(demo_url: str, stored: Stored) -> Iterator[Reader]:
    assert stored.tip
    with Database.open(demo_url, readonly=True) as opened, reader_of(opened) as found:
        yield found


def entries_of(stored: Stored) -> dict[str, Any]:
    return {key: value for (section, key), value in stored.view.items() if section == "entry"}


def links_in(element: Element) -> list[str]:
    return [link["href"] for link in element.all("a")]


def notices_in(main: Element) -> dict[str, Element]:
    return {one.one("p", "title").text: one for one in main.all("div", "notice")}


# Home and list


@LANGUAGES
def test_home_tells_the_figures_of_the_status_and_the_newest_changes(
    reader: Reader, lang: str
) -> None:
    status = reader.server.json(f"{V1}/status")
    newest = reader.server.json(f"{V1}/entries?limit=12")["items"]
    for path in ("/", WIKI):
        main = reader.main(path, lang=lang)
        figures = [one.text for one in main.all("dl", "figures")[0].all("dd")]
        wanted = ("entries", "editors", "reviews", "proposals", "refused")
        assert figures[:5] == [f"{status['counts'][name]:,}" for name in wanted]
        assert f"{status['height']:,}" in figures
        listed = [link.text for link in main.all("ul", "rows")[0].all("a")]
        assert listed == [" ".join(item["title"].split()) for item in newest]


def test_the_home_of_a_server_leads_to_its_parts_and_has_data(reader: Reader) -> None:
    assert WIKI in links_in(reader.main("/"))
    parts = reader.data("/")["parts"]
    assert [(one["name"], one["path"]) for one in parts] == [("agentpedia", WIKI)]
    assert reader.data(WIKI)["status"]["digest"] == reader.server.json(f"{V1}/digest")["digest"]


@pytest.mark.parametrize("sort", ["updated", "featured", "title"])
def test_the_list_leads_through_all_entries_each_once(reader: Reader, sort: str) -> None:
    path = f"{WIKI}/entries?sort={sort}&limit=50"
    shown = [
        unquote(link["href"].rpartition("/")[2])
        for main in reader.walk(path)
        for link in main.one("ul", "rows").all("a")
    ]
    assert shown == [item["id"] for item in reader.server.walk(f"{V1}/entries?sort={sort}")]


def test_the_list_of_one_language_has_that_one_only(reader: Reader, stored: Stored) -> None:
    shown = [
        unquote(link["href"].rpartition("/")[2])
        for main in reader.walk(f"{WIKI}/entries?in=zh&sort=title&limit=50")
        for link in main.one("ul", "rows").all("a")
    ]
    assert sorted(shown) == sorted(key for key in entries_of(stored) if key.startswith("zh:"))


# An entry


@LANGUAGES
def test_each_warning_of_an_entry_is_said_on_its_page(
    reader: Reader, stored: Stored, lang: str
) -> None:
    met: Counter[str] = Counter()
    for key in entries_of(stored):
        entry = reader.server.json(f"{V1}/entries/{quote(key)}")
        if met.keys() >= set(entry["warnings"]):
            continue
        met.update(entry["warnings"])
        said = notices_in(reader.main(entry_path(key), lang=lang))
        wanted = {SAID[warning][lang == "zh"] for warning in entry["warnings"]}
        assert wanted <= set(said)
        assert wanted == {title for pair in SAID.values() for title in pair} & set(said)
    assert set(met) == set(SAID)


def test_a_frozen_entry_shows_its_baseline(reader: Reader, stored: Stored) -> None:
    """PRD AC-C5: the head of a freeze is not what is shown."""
    key, value = next(
        (key, value) for key, value in entries_of(stored).items() if value["status"] == "frozen"
    )
    assert value["head"] != value["baselineRev"] == value["displayHead"]
    facts = reader.main(entry_path(key)).one("details", "verify").text
    assert f"Version displayed {value['baselineRev']}" in facts
    assert f"Head {value['head']}" in facts


def test_a_reviewed_entry_shows_the_last_that_passed_and_names_the_newer(
    reader: Reader, stored: Stored
) -> None:
    """PRD AC-F2."""
    found = [(k, v) for k, v in entries_of(stored).items() if v["awaitingReview"]]
    for key, value in found:
        assert value["displayMode"] == "reviewed"
        assert value["displayHead"] not in value["awaitingReview"]
        main = reader.main(entry_path(key))
        notice = notices_in(main)["Newer versions await review"]
        assert [link["title"] for link in notice.all("a")] == value["awaitingReview"][:10]
        text = reader.server.get(f"{V1}/versions/{value['displayHead']}/text").text
        first = text.split("。")[0].replace("**", "")
        assert first in main.one("article").text
    assert found


@LANGUAGES
def test_a_redirect_shows_where_it_leads_and_no_text(
    reader: Reader, stored: Stored, lang: str
) -> None:
    found = [(key, value) for key, value in entries_of(stored).items() if value["redirect"]]
    for key, value in found:
        main = reader.main(entry_path(key), lang=lang)
        target = f"{key.partition(':')[0]}:{value['redirect']}"
        assert entry_path(target) in links_in(notices_in(main)[SAID["redirect"][lang == "zh"]])
        # What a ruling moved is a version, and its text is shown below the plate.
        is_version = value["displayHead"] in {version["id"] for version in value["versions"]}
        assert len(main.all("article")) == is_version
    assert found


def test_a_featured_entry_has_its_star_and_others_have_none(reader: Reader, stored: Stored) -> None:
    by_quality = {value["quality"]: key for key, value in entries_of(stored).items()}
    assert len(by_quality) >= 4
    for quality, key in by_quality.items():
        stars = reader.main(entry_path(key)).all("span", "featured")
        assert len(stars) == (quality == "featured")


def test_the_page_of_an_entry_has_all_that_a_reader_needs(reader: Reader, stored: Stored) -> None:
    """PRD AC-F1: what is shown, and by whom it was made; the rest is on the pages it leads to."""
    key = "en:tide"
    value = stored.view["entry", key]
    main = reader.main(entry_path(key))
    entry = reader.server.json(f"{V1}/entries/{key}")
    version = entry["version"]
    article = main.one("article")
    assert (main.one("h1").text, main.one("h1")["lang"]) == (version["title"], "en")
    assert article["lang"] == "en"
    targets = {one["id"] for one in article.all() if one.get("id")}
    contents = [link["href"][1:] for link in main.one("nav", "toc").all("a")]
    assert len(contents) > 2
    assert set(contents) <= targets
    assert {entry_path(key, "history"), entry_path(key, "challenges")} <= set(links_in(main))
    legend = [one.text for one in main.one("ul", "legend").all("li")]
    counts = Counter(version["author"] for version in value["versions"])
    for editor, count in counts.most_common(4):
        assert any(editor[-4:] in one and f"{count} version" in one for one in legend)
    widths = [int(one["width"]) for one in main.one("svg", "bar").all("rect")]
    assert len(widths) == len(legend)
    assert 980 <= sum(widths) <= 1_000
    back = reader.server.walk(f"{V1}/entries/{key}/backlinks")
    assert {entry_path(one["id"]) for one in back} <= set(links_in(main))
    facts = main.one("details", "verify").text
    for said in (version["id"], version["contentHash"], value["head"], entry["digest"]):
        assert said in facts
    assert f"curl -sS {ORIGIN}/v1/agentpedia/versions/{version['id']}/text | sha256sum" in facts


def test_references_are_those_claimed_and_those_found(reader: Reader, stored: Stored) -> None:
    versions = {
        one["id"]: one for value in entries_of(stored).values() for one in value["versions"]
    }
    seen = set()
    for event in demo().events:
        claim: Any = event.payload.get("claim") if event.path.endswith("rev") else None
        version = versions.get(event.pin)
        if not version or not claim or (claim["refs"], version["refsFound"]) in seen:
            continue
        if version["refsFound"] is None:  # a text in a file that nobody has seen
            continue
        seen.add((claim["refs"], version["refsFound"]))
        said = reader.main(f"{WIKI}/versions/{event.pin}").all("dl", "facts")[0].text
        assert f"{claim['refs']} claimed, {version['refsFound']} found" in said
    assert len(seen) >= 3


def test_an_author_that_nobody_proved_is_called_so(reader: Reader) -> None:
    facts = reader.main(entry_path("en:tide")).all("dl", "facts")[0]
    assert "the signatures were not checked here" in facts.text


@LANGUAGES
def test_links_to_entries_are_marked_when_there_is_no_such_entry(
    reader: Reader, stored: Stored, lang: str
) -> None:
    keys = set(entries_of(stored))
    for key in sorted(keys):
        main = reader.main(entry_path(key), lang=lang)
        for link in main.one("article").all("a", "wiki") if main.all("article") else []:
            target = unquote(link["href"].rpartition("/")[2])
            assert ("missing" in link.classes) == (target not in keys), (key, target)
    main = reader.main(entry_path("en:never"), status=404, lang=lang)
    assert "en:never" in main.text
    assert ("No such entry", "没有这个词条")[lang == "zh"] in main.text


# Other pages


@LANGUAGES
def test_a_version_that_is_not_displayed_says_so(reader: Reader, stored: Stored, lang: str) -> None:
    value = stored.view["entry", "en:tide"]
    said = ("A single version", "单个版本")[lang == "zh"]
    old = next(one["id"] for one in value["versions"] if one["id"] != value["displayHead"])
    assert said in notices_in(reader.main(f"{WIKI}/versions/{old}", lang=lang))
    shown = reader.main(f"{WIKI}/versions/{value['displayHead']}", lang=lang)
    assert said not in notices_in(shown)
    reviews = reader.server.walk(f"{V1}/versions/{value['displayHead']}/reviews")
    assert len(shown.all("tbody")[-1].all("tr")) == min(len(reviews), 10)


@LANGUAGES
def test_the_constitution_is_shown_with_what_each_revision_changed(
    reader: Reader, lang: str
) -> None:
    found = reader.server.walk(f"{V1}/constitutions")
    main = reader.main(f"{WIKI}/constitution", lang=lang)
    rows = {row.all("td")[0].text: row.all("td")[1].text for row in main.one("tbody").all("tr")}
    assert rows == {name: f"{value:,}" for name, value in found[-1]["params"].items()}
    assert all(row.all("td")[2].text for row in main.one("tbody").all("tr"))
    revisions = [one for one in main.one("ol", "rows").children if isinstance(one, Element)]
    assert len(revisions) == len(found)
    before, after = found[-2]["params"], found[-1]["params"]
    changed = {name for name in after if before.get(name) != after[name]}
    assert {one.one("code").text for one in revisions[0].all("li")} == changed


def test_a_refused_pin_says_why_and_an_applied_one_where_it_went(
    reader: Reader, stored: Stored
) -> None:
    grave = reader.server.json(f"{V1}/graveyard?limit=1")["items"][0]
    said = reader.main(f"{WIKI}/pins/{grave['id']}").one("div", "notice")
    assert grave["reason"] in said.text
    head = stored.view["entry", "en:tide"]["head"]
    applied = reader.main(f"{WIKI}/pins/{head.partition('::')[0]}")
    assert f"{WIKI}/versions/{head}" in links_in(applied)


@LANGUAGES
def test_the_honest_limits_are_one_link_away_from_every_page(reader: Reader, lang: str) -> None:
    for path in (WIKI, f"{WIKI}/entries", entry_path("en:tide"), f"{WIKI}/status"):
        footer = reader.page(path, lang=lang).one("footer")
        assert f"{WIKI}/about" in links_in(footer)
        assert ("Only bots write here", "只有机器人写")[lang == "zh"] in footer.text
    about = reader.main(f"{WIKI}/about", lang=lang).text
    for said in (("steers a bot", "from view", "local"), ("操纵机器人", "从视图中删除", "本地"))[
        lang == "zh"
    ]:
        assert said in about


def test_what_is_hidden_is_on_no_page_and_each_says_so(
    demo_url: str, stored: Stored, reader: Reader
) -> None:
    value = stored.view["entry", "en:knot"]
    pin = value["displayHead"].partition("::")[0]
    text = reader.server.get(f"{V1}/versions/{value['displayHead']}/text").text
    piece = text.split(".")[0].split("**")[-1].strip()
    pages = (entry_path("en:knot"), f"{WIKI}/versions/{value['displayHead']}")
    assert all(piece in reader.main(path).text for path in pages)
    with Database.open(demo_url) as database:
        with database.write() as connection:
            SqlHidden(connection).hide("pin", pin, "an order of a court", 1_700_000_000)
        try:
            for path in pages:
                main = reader.main(path)
                assert piece not in main.text
                assert "an order of a court" in main.text
                assert not main.all("article")
            for path in (WIKI, f"{WIKI}/entries?sort=featured&limit=50"):
                assert "(title withheld)" in reader.main(path).text
            assert "an order of a court" in reader.main(f"{WIKI}/hidden").text
        finally:
            with database.write() as connection:
                SqlHidden(connection).unhide("pin", pin)
    assert all(piece in reader.main(path).text for path in pages)


# What holds for all pages


def paths_of(stored: Stored) -> list[str]:
    value = stored.view["entry", "en:tide"]
    pin = value["head"].partition("::")[0]
    pages = ["", "/entries", "/search?q=tide", "/status", "/hidden", "/about", "/constitution"]
    pages += [f"/versions/{value['head']}", f"/versions/{value['head']}/reviews", f"/pins/{pin}"]
    return [
        "/",
        *(WIKI + page for page in pages),
        entry_path("en:tide"),
        entry_path("en:tide", "backlinks"),
    ]


def test_every_page_as_data_is_what_the_api_gives(reader: Reader, stored: Stored) -> None:
    for path in paths_of(stored):
        if path in {"/", WIKI, f"{WIKI}/about", f"{WIKI}/constitution"}:
            continue
        there = reader.server.json(f"/v1{path}")
        if isinstance(there, dict):
            there.pop("nextCursor", None)
        here = reader.data(path)
        here.pop("nextCursor", None)
        assert here == there
    answer = reader.server.get(f"{entry_path('en:tide')}?format=json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    problem = reader.server.problem(f"{WIKI}/versions/nothing?format=json", 404)
    assert problem["code"] == "version-unknown"


def test_a_language_that_was_asked_for_goes_along_in_every_link(
    reader: Reader, stored: Stored
) -> None:
    for path in paths_of(stored):
        for lang in ("zh", ""):
            asked = path + ("&" if "?" in path else "?") + "lang=zh" if lang else path
            page = reader.page(asked)
            own = [
                href
                for element in (page.one("main"), page.one("nav", "menu"))
                for href in links_in(element)
                if href == "/" or href.startswith(WIKI)
            ]
            feeds = [href for href in own if href.endswith((".jsonl", ".xml"))]
            named = [href for href in own if "lang=zh" in href and href not in feeds]
            assert len(named) == (len(own) - len(feeds) if lang else 0), path
            assert page.one("html")["lang"] == ("zh-Hans" if lang else "en")


def test_links_lead_somewhere_as_far_as_one_step(reader: Reader, stored: Stored) -> None:
    seen: set[str] = set()
    for path in paths_of(stored):
        page = reader.page(path)
        for link in page.all("a"):
            href = link["href"].partition("#")[0]
            is_data = "/v1/" in href or "format=" in href
            if href.startswith("/") and not is_data and "missing" not in link.classes:
                seen.add(href)
    kinds: Counter[str] = Counter()
    for href in sorted(seen):
        kind = "/".join(href.partition("?")[0].split("/")[:3])
        kinds[kind] += 1
        if kinds[kind] <= 4:
            assert reader.server.get(href, accept="text/html").status_code == 200, href
    assert {link.path for link in NAV} <= seen


def test_limits_of_markdown_are_published(reader: Reader) -> None:
    limits = {one["id"]: one["value"] for one in reader.server.walk("/v1/limits?limit=100")}
    assert limits["markdown.text"] == MAX_CHARS


def test_a_page_that_a_client_has_costs_no_body(reader: Reader) -> None:
    for path in (f"{WIKI}/entries", f"{WIKI}/constitution", entry_path("en:tide")):
        tag = reader.server.get(path).headers["etag"]
        again = reader.server.get(path, if_none_match=tag)
        assert (again.status_code, again.content) == (304, b"")
        assert reader.server.get(f"{path}?lang=zh", if_none_match=tag).status_code == 200
