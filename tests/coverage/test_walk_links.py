"""The Link header: what RFC 8288 says, and a doubt for what cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.coverage.walk.links import NO_LINKS, read_links


@pytest.mark.parametrize(
    ("header", "following", "relations"),
    [
        ('</a?p=2>; rel="next"', ("/a?p=2",), {"next"}),
        ("</a>; rel=next", ("/a",), {"next"}),
        ('</a>; REL="Next"', ("/a",), {"next"}),
        ('</a>; rel="prev next last"', ("/a",), {"prev", "next", "last"}),
        ('</a>;rel="next",</b>;rel="last"', ("/a",), {"next", "last"}),
        ('</a>; rel="first", </b>; rel="next"', ("/b",), {"first", "next"}),
        ('</a,b;c>; rel="next"', ("/a,b;c",), {"next"}),
        ('</a>; title="x, </z>; rel=\\"next\\""; rel="last"', (), {"last"}),
        ('</a>; rel="last"; rel="next"', (), {"last"}),  # the first rel counts
        ('</a>; rel="next", </a>; rel="next"', ("/a",), {"next"}),
        ('</a>; rel="next", </b>; rel="next"', ("/a", "/b"), {"next"}),
        ('<>; rel="next"', ("",), {"next"}),
        ("< /a >; rel=next", ("/a",), {"next"}),
        ("</a>; foo; rel=next; bar=1", ("/a",), {"next"}),
        (", </a>; rel=next ,, </b>; rel=up ,", ("/a",), {"next", "up"}),
        ("</s.css>; rel=preload; as=style", (), {"preload"}),
        ("</a>; rel=nextpage", (), {"nextpage"}),
        ("</a>", (), set()),
        ("", (), set()),
    ],
)
def test_links_are_read(header: str, following: tuple[str, ...], relations: set[str]) -> None:
    links = read_links(header)
    assert (links.next, set(links.relations), links.doubtful) == (following, relations, False)
    assert ("last" in relations) is bool(links.last)


@pytest.mark.parametrize(
    "header",
    [
        '/a; rel="next"',
        '</a; rel="next"',
        '</a> rel="next"',
        '</a>; rel="next',
        '</a>; rel=="next"',
        '</b>; rel="last", </a> x; rel="next"',
        'rel="next"; </a>',
        '</a>; rel="next"; anchor="/other"',
    ],
)
def test_what_cannot_be_read_may_be_a_next_page(header: str) -> None:
    links = read_links(header)
    assert links.doubtful
    assert links.next == ()


def test_what_cannot_be_read_and_says_nothing_of_a_next_page() -> None:
    assert not read_links('</a> rel="last"').doubtful
    assert read_links(None) == NO_LINKS


HEADERS = st.lists(
    st.sampled_from(["<", ">", ";", ",", " ", "rel", "=", '"', "next", "\\", "/a", "anchor", "\t"])
).map("".join)


@given(HEADERS | st.text())
def test_no_header_raises_and_none_loses_a_next_page_in_silence(header: str) -> None:
    links = read_links(header)
    if 'rel="next"' in header and "<" not in header:
        assert links.doubtful


@given(st.lists(st.sampled_from(["next", "prev", "last", "x"]), min_size=1), st.text("abc/?=&,;"))
def test_a_link_that_is_written_plainly_is_found(relations: list[str], target: str) -> None:
    links = read_links(f'<{target}>; rel="{" ".join(relations)}"')
    assert links.relations == set(relations)
    assert links.next == ((target,) if "next" in relations else ())


@pytest.mark.parametrize("piece", ['<a>; x="', "<a>;", '\\"', "<a>,", "<a>; rel=next,", "< ", ";a"])
def test_long_headers_take_no_longer_than_they_are(piece: str) -> None:
    read_links(piece * (256 * 1024 // len(piece)))
