"""Markdown of strangers: nothing but the whitelist comes out, and nothing is lost in silence."""

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from refold.serving.markdown import (
    MARKDOWN_LIMITS,
    MAX_CHARS,
    MAX_HEADINGS,
    Document,
    Link,
    Markdown,
)
from refold.serving.markdownhtml import MAX_HTML, MAX_SLOTS
from refold.serving.markdownrules import Parser
from refold.serving.whitelist import Element, Whitelist, built_in, cleaner
from serving.stricthtml import problems
from serving.texts import SCHEMES, hostile, samples, unsafe_html, uri, wiki

WHITELIST = built_in()
MARKDOWN = Markdown(SCHEMES)
CLEAN = cleaner(WHITELIST).clean


def html_of(text: str) -> str:
    return MARKDOWN.document(text).html(wiki, uri)


def cuts_of(text: str) -> dict[str, int]:
    return {cut.kind: cut.count for cut in MARKDOWN.document(text).cuts}


def parts_of(text: str) -> list[Document]:
    """Read a text to its end."""
    parts = []
    while True:
        parts.append(MARKDOWN.document(text))
        read = parts[-1].read
        assert read or not text, "nothing was read"
        text = text[read:]
        if not text:
            return parts


# What comes out


def test_there_are_samples_enough_and_each_is_one() -> None:
    found = samples()
    assert len(found) >= 40
    assert len(dict(found)) == len({text for _, text in found}) == len(found)


@pytest.mark.parametrize(("name", "text"), samples())
def test_a_sample_leaves_nothing_but_the_whitelist(name: str, text: str) -> None:
    assert name
    assert problems(html_of(text), WHITELIST) == []


@given(st.one_of(hostile, st.text(max_size=300)))
def test_any_text_gives_what_the_whitelist_allows(text: str) -> None:
    document = MARKDOWN.document(text)
    html = document.html(wiki, uri)
    assert problems(html, WHITELIST) == []
    assert isinstance(html, Markup)
    # Each lock holds by itself: the cleaner finds nothing to do, before and after the links.
    assert CLEAN(document.clean) == document.clean
    assert CLEAN(html) == html


@given(st.one_of(hostile, st.text(max_size=300)))
def test_the_same_text_gives_the_same_document(text: str) -> None:
    fresh = Markdown(SCHEMES, cache_chars=0)
    assert fresh.document(text) == fresh.document(text) == MARKDOWN.document(text)


@given(hostile, st.integers(1, 3_000))
def test_no_text_gives_more_than_the_limit_and_parts_reach_its_end(text: str, times: int) -> None:
    long = (text * times)[: MAX_CHARS + MAX_CHARS // 4]
    parts = parts_of(long)
    assert sum(part.read for part in parts) == len(long)
    for part in parts:
        assert part.read <= MAX_CHARS
        assert len(part.clean) <= MAX_HTML
        assert len(part.slots) <= MAX_SLOTS
        assert len(part.toc) <= MAX_HEADINGS
    assert problems(parts[0].html(wiki, uri), WHITELIST) == []
    is_cut = {"length", "output"} & {cut.kind for cut in parts[0].cuts}
    assert bool(is_cut) == (len(parts) > 1)


_STAGES = st.sampled_from(
    [
        *(
            "{} ",
            "*{}* ",
            "**{}",
            "~~{}~~ ",
            "`{}` ",
            "[{}](http://a.test/x) ",
            "[[{}]] ",
            "\n> {} ",
        ),
        *(
            "\n- {} ",
            "\n\n1. {} ",
            "\n\n# {}\n\n",
            "\n\n| {} | a |\n|---|---|\n",
            "\n\n```\n{}\n```\n",
        ),
        *(
            "<{}> ",
            "![{}](http://a.test/y) ",
            "[{}](javascript:x) ",
            "[a](http://a.test/{}) ",
            "\n    {}\n",
        ),
        *(
            "![a](data:{}) ",
            "<http://a.test/{}> ",
            "&{}; ",
            "[a {} ",
            "](",
            "[[zh:{}]]",
            '[a](/ "{}") ',
        ),
    ]
)


@given(st.lists(_STAGES, max_size=60))
def test_no_word_is_lost(stages: list[str]) -> None:
    words = [f"w{number}w" for number in range(len(stages))]
    text = "".join(stage.format(word) for stage, word in zip(stages, words, strict=True))
    html = html_of(text)
    used = [word for stage, word in zip(stages, words, strict=True) if "{}" in stage]
    assert [word for word in used if word not in html] == []


def test_a_line_that_ends_in_chinese_text_leaves_no_gap() -> None:
    assert html_of("潮汐，\n每天 \n两次 tide\n表\n**粗**\n文") == (
        "<p>潮汐，每天两次 tide\n表\n<strong>粗</strong>\n文</p>\n"
    )


# Links


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[[Tide Table]]", '<a href="/zh/tide%20table" class="wiki">Tide Table</a>'),
        ("[[en:x]]", '<a href="/en/x" class="wiki">x</a>'),
        ("[[M]]", '<a href="/zh/m" class="wiki missing" title="M">M</a>'),
        ("[[..]]", '<span class="unresolved" title="..">..</span>'),
        ("`[[a]]`", "<code>[[a]]</code>"),
        (r"\[[a]]", "[[a]]"),
        ("[[a|b]]", "[[a|b]]"),
        ("pin://ab1i0.", '<a href="/pins/ab1i0" class="uri" title="pin://ab1i0">pin://ab1i0</a>.'),
        ("[*t*](pin://ab)", '<a href="/pins/ab" class="uri" title="pin://ab"><em>t</em></a>'),
        ("![t](pin://ab)", '<a href="/pins/ab" class="uri" title="pin://ab">t</a>'),
        ("[t](metafile://a)", '<span class="unresolved" title="metafile://a">t</span>'),
        ("ftp://a.test pin:a", "ftp://a.test pin:a"),
        ("[a](b.html) [a](/b)", "[a](b.html) [a](/b)"),
        ("[a](#The%20end)", '<a href="#s-the-end">a</a>'),
    ],
)
def test_links_of_this_site(text: str, html: str) -> None:
    assert html_of(text) == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    ("text", "said", "image"),
    [
        ("[a](https://b.test/)", "a", ""),
        ("<https://b.test/>", "https://b.test/", ""),
        ("![a](https://b.test/)", "a", " image"),
        ("![](https://b.test/)", "https://b.test/", " image"),
        ("[a][]\n\n[a]: https://b.test/", "a", ""),
    ],
)
def test_links_out_are_marked_and_images_are_links(text: str, said: str, image: str) -> None:
    rel = "nofollow noopener noreferrer ugc"
    link = f'<a href="https://b.test/" class="external{image}" rel="{rel}">{said}</a>'
    assert html_of(text) == f"<p>{link}</p>\n"


@pytest.mark.parametrize(
    "href",
    [
        *("javascript:x", "//elsewhere.test", "/\\elsewhere.test", "\x01//elsewhere.test", ""),
        *("\tjavascript:x", "java\nscript:x", "data:text/html,x", "https://a@b.test", "/a b"),
        "/" + "a" * 3_000,
    ],
)
def test_an_address_that_no_link_may_have_is_none(href: str) -> None:
    html = MARKDOWN.document("[[a]]").html(lambda *_: Link(href), uri)
    assert html == '<p><span class="unresolved" title="a">a</span></p>\n'


@pytest.mark.parametrize("href", ["/zh/a:b", "../zh/a.html", "a.html", "?a=b:c", "https://a.test/"])
def test_addresses_that_a_link_may_have(href: str) -> None:
    html = MARKDOWN.document("[[a]]").html(lambda *_: Link(href), uri)
    assert html.startswith(f'<p><a href="{href}" class="wiki')
    assert ("external" in html) == href.startswith("https")


def test_all_that_will_be_looked_up_is_known_before() -> None:
    text = "[[a]] [[en:b]] [[a]] pin://c <metafile://d> [x](pin://c) `[[no]]`"
    document = MARKDOWN.document(text)
    asked: list[object] = []
    document.html(lambda *of: asked.append(of), asked.append)
    assert document.entries == (("", "a"), ("en", "b"))
    assert document.uris == ("pin://c", "metafile://d")
    assert dict.fromkeys(asked) == dict.fromkeys([*document.entries, *document.uris])


MARKDOWN_PARSER = Parser(SCHEMES)
COMMONMARK = MarkdownIt("commonmark")


@given(st.from_regex(r"https?://[a-z0-9.-]{1,30}(/[ -~]{0,20})?", fullmatch=True))
def test_an_address_is_encoded_as_by_the_parser_itself(url: str) -> None:
    assert MARKDOWN_PARSER.normalizeLink(url) == COMMONMARK.normalizeLink(url)


# Contents


def test_a_table_of_contents_has_ids_of_its_own_and_skips_no_level() -> None:
    text = "### A *b*\n\n# 历史\n\n### 历史\n\n# A b\n\n# A b-2\n\n#\n\n> # quoted\n\n# <b id=x>"
    document = MARKDOWN.document(text)
    assert [(one.level, one.id, one.text) for one in document.toc] == [
        (2, "s-a-b", "A b"),
        (2, "s-历史", "历史"),
        (3, "s-历史-2", "历史"),
        (2, "s-a-b-2", "A b"),
        (2, "s-a-b-2-2", "A b-2"),
        (2, "s-b-id-x", "<b id=x>"),
    ]
    html = document.html(wiki, uri)
    assert [html.count(f'id="{one.id}"') for one in document.toc] == [1] * 6
    assert '<blockquote><h2 id="s-quoted">quoted</h2>' in html


# Limits


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (">" * 16_000, "nesting"),
        ("".join(" " * 2 * n + "- a\n" for n in range(100)), "nesting"),
        ("*a **b " * 20 + "c" + "** d*" * 20, "nesting"),
        ("|a" * 2_000 + "\n" + "|-" * 2_000 + "\n|b\n", "tables"),
        ("|a" * 50 + "\n" + "|-" * 50 + "\n" + "|b\n" * 100, "tables"),
        ("a\n" + "|a" * 200 + "\n" + "|-" * 200, "tables"),
        ("[[a]] " * 1_001, "links"),
        ("[![a](http://b.test)](http://c.test)", "images"),
        ("# a\n" * 201, "headings"),
        (f"[r]: http://a.test/{'x' * 2_000}\n\n" + "[r] " * 5_000, "blocks"),
        (f"[r]: http://a.test/{'x' * 2_000}\n\n" + "[r]\n\n" * 5_000, "output"),
        ("word " * 20_000, "length"),
    ],
)
def test_what_a_limit_keeps_out_is_told(text: str, cut: str) -> None:
    assert cuts_of(text).keys() == {cut}
    html = html_of(text)
    assert len(html) <= MAX_HTML + MAX_SLOTS * 200
    assert problems(html, WHITELIST) == []


def test_what_is_no_table_and_no_quote_any_more_still_stands_there() -> None:
    table = "|a" * 200 + "\n" + "|-" * 200
    assert "".join(html_of(table).split()) == f"<p>{''.join(table.split())}</p>"
    assert html_of("> " * 20 + "deep").count("&gt;") == 4


def test_what_fits_is_not_cut() -> None:
    table = "|a" * 40 + "\n" + "|-" * 40 + "\n" + "|b\n" * 40
    text = f"{'> ' * 16}deep\n\n{table}\n\n{'[[a]] ' * 1_000}\n\n" + "# a\n" * 200
    assert cuts_of(text) == {}
    assert html_of(text).count("<td") == 40 * 40


def test_parts_end_between_blocks_and_the_next_one_begins_there() -> None:
    blocks = [f"{number} " + "x" * 900 for number in range(100)]
    text = "\r\n\r\n".join(blocks) + "\n\n" + "\n\n".join(blocks)
    shown = "".join(part.html(wiki, uri) for part in parts_of(text))
    assert shown == "".join(f"<p>{block}</p>\n" for block in blocks * 2)
    full = f"[r]: http://a.test/{'x' * 2_000}\n\n" + "[r] a\n\n" * 300
    first = MARKDOWN.document(full)
    assert full[first.read :].startswith("[r] a\n\n")
    assert first.clean.count("<p>") + full[first.read :].count("[r]") == 300


def test_limits_are_published_with_reasons() -> None:
    assert len({limit.id for limit in MARKDOWN_LIMITS}) == len(MARKDOWN_LIMITS)
    assert all(limit.value and limit.reason for limit in MARKDOWN_LIMITS)


def steps(work: Callable[[], object]) -> int:
    """Count the functions that are called."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "![", "[[", "[[a", "](", "<", "<a:", "*a ", "**a*", "*_", "`a", "> ", "- ", "1. "),
        *(
            "[a\n",
            "[a]: b\n",
            "a\n",
            "|a\n|-\n",
            "|a\n|-\n\n",
            "> - a\n",
            "- a\n",
            "# a\n",
            "a\n=\n",
        ),
        *("![[]()", "[a](b", "&", "pin://a ", "[[a]] ", "<http://a.test>", "~~a", "```\n", "\\"),
    ],
)
def test_twice_the_text_takes_no_more_than_twice_the_steps(piece: str) -> None:
    fresh = Markdown(SCHEMES, cache_chars=0)
    fresh.document("warm")
    once, twice = (piece * (size // len(piece)) for size in (2_000, 4_000))
    assert steps(lambda: fresh.document(twice)) <= 2.4 * steps(lambda: fresh.document(once))


# Memory


def test_a_text_is_read_once_and_links_are_looked_up_each_time() -> None:
    markdown = Markdown(SCHEMES)
    document = markdown.document("[[a]]")
    assert markdown.document("[[a]]") is document
    assert "missing" in document.html(lambda *_: Link("/a", is_missing=True), uri)
    assert "missing" not in document.html(lambda *_: Link("/a"), uri)


def test_the_longest_unused_texts_are_forgotten() -> None:
    markdown = Markdown(SCHEMES, cache_chars=5_000)
    first, second = markdown.document("a" * 900), markdown.document("b" * 900)
    assert markdown.document("a" * 900) is first
    markdown.document("c" * 900)
    assert markdown.document("a" * 900) is first
    assert markdown.document("b" * 900) is not second
    huge = markdown.document("d" * 9_000)
    assert markdown.document("d" * 9_000) is not huge


def test_threads_share_it() -> None:
    markdown = Markdown(SCHEMES, cache_chars=20_000)
    texts = [f"# {number}\n\n[[a{number}]] *b*\n\n> c" for number in range(60)]
    wanted = [html_of(text) for text in texts]
    seen: list[list[str]] = []

    def work() -> None:
        seen.append([markdown.document(text).html(wiki, uri) for text in texts])

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [wanted] * 4


# The whitelist and its judge


def test_the_whitelist_has_nothing_that_loads_or_runs() -> None:
    assert re.fullmatch(r"markdown-whitelist-v\d+", WHITELIST.version)
    assert MARKDOWN.version == WHITELIST.version
    assert set(WHITELIST.schemes) == {"http", "https", "mailto"}
    assert not {"script", "style", "svg", "math", "img", "iframe", "form"} & set(WHITELIST.elements)
    for element in WHITELIST.elements.values():
        for name in {*element.attributes, *element.values}:
            assert name in {"href", "id", "rel", "start", "tabindex", "title"}


class Listed(HTMLParser):
    """Lists what elements stand in HTML, and their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def test_the_cleaner_takes_out_all_else_by_itself() -> None:
    """What a parser that lets everything through makes of the samples, the cleaner makes safe."""
    before, after = set(), set()
    for _, text in samples():
        html = unsafe_html(text)
        found = Listed(CLEAN(html))
        before |= Listed(html).names
        after |= found.names
        for name, value in found.attributes:
            assert name in {"href", "id", "title", "class", "rel", "start", "tabindex"}
            # As browsers read addresses: without controls and white space.
            scheme = re.match("[a-z][a-z0-9+.-]*:", re.sub("[\0- ]", "", value.lower()))
            if name == "href":
                assert scheme is None or scheme[0] in {"http:", "https:", "mailto:"}
    assert {"script", "img", "iframe", "svg", "style"} <= before
    assert after <= set(WHITELIST.elements)


@pytest.mark.parametrize(
    "html",
    [
        *(
            "<script></script>",
            "<p>",
            "</p>",
            "<p></em></p>",
            '<p onclick="x"></p>',
            "a > b",
            "a & b",
        ),
        *(
            '<a href="javascript:x">a</a>',
            '<a href="//a.test">a</a>',
            '<a href="https://a.test">a</a>',
        ),
        *(
            '<a href="/~1">a</a>',
            "<a>a</a>",
            '<p class="x"></p>',
            "<!-- a -->",
            '<h2 id="x">a</h2>',
        ),
        *("<p a></p>", "<p class='x'></p>", '<a href="/a"><a href="/b">a</a></a>', "a\0b", "<br/>"),
    ],
)
def test_the_judge_refuses(html: str) -> None:
    assert problems(html, WHITELIST) != []


def test_another_whitelist_makes_another_cleaner() -> None:
    small = Whitelist("v0", "", ("https",), "x-", {"b": Element(), "h2": Element(("id",))})
    assert cleaner(small).clean('<b><i>a</i></b><h2 id="c">d</h2>') == '<b>a</b><h2 id="x-c">d</h2>'
