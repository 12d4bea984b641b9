"""Texts of strangers for the tests of Markdown: samples, pieces, and links for what they name."""

import json
from pathlib import Path
from typing import Final
from urllib.parse import quote

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from refold.serving.markdown import Link

HERE: Final = Path(__file__).parent / "xss"
SCHEMES: Final = ("pin", "metafile")


def samples() -> list[tuple[str, str]]:
    """Give the name and text of each sample."""
    return [
        (f"{path.stem}: {one['name']}", one["text"])
        for path in sorted(HERE.glob("*.json"))
        for one in json.loads(path.read_text(encoding="utf-8"))["samples"]
    ]


class _Open(MarkdownIt):
    """Lets HTML and all addresses through."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 (overrides)
        return True


_OPEN = _Open("commonmark", {"html": True}).enable(["table", "strikethrough"])


def unsafe_html(text: str) -> str:
    """Give a text as HTML with nothing taken out: what there is to be kept from running."""
    html: str = _OPEN.render(text.encode("utf-8", "replace").decode())
    return html


def wiki(lang: str, slug: str) -> Link | None:
    """Give a link to an entry, as a page may do it: some are missing, some have no name."""
    name = quote(slug.strip().lower(), safe="")
    if not name.strip("."):
        return None
    return Link(f"/{lang or 'zh'}/{name}", is_missing=slug.startswith("M"))


def uri(name: str) -> Link | None:
    """Give a link to a pin, none to a file."""
    scheme, _, rest = name.partition("://")
    return Link(f"/pins/{rest}") if scheme == "pin" else None


_PIECES = (
    *("[", "]", "(", ")", "<", ">", "![", "[[", "]]", "](", "*", "**", "_", "~~", "`", "```", "&"),
    *(
        "\\",
        '"',
        "'",
        "#",
        "# ",
        "## ",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "  \n",
        "---",
    ),
    *("|", "|-|-|\n", "| a | b |\n", ":-:", "=", "!", ":", "://", "//", "@", "{{", "%", "\r", "\0"),
    *("javascript:", "http://a.test/", "https://b.test?c=d&e", "data:", "pin://ab1i0", "a@b.test"),
    *("metafile://cd2i0", "<script>", "</p>", "<b onclick=x>", "<!--", "&lt;", "&#60;", "&nbsp;"),
    *("[r]: ", "[r]", "[[zh:", "M", "\xa0", "\u202e", "\u2028", "字", "\ud800", "\x85", "\ufffe"),
)
hostile = st.lists(
    st.one_of(
        st.sampled_from(_PIECES),
        st.text(max_size=6),
        st.sampled_from(samples()).map(lambda s: s[1]),
    ),
    max_size=40,
).map("".join)
"""Texts that are dense with what Markdown and HTML react to."""
