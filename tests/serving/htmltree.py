"""HTML as a tree, read strictly: what a page says, and that it is a page at all."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "rect", "line", "path"})
"""Elements without an end, those of drawings included."""


class Element:
    """An element: its name, its attributes, and what stands in it."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str] = []

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str:
        """Give an attribute, "" for none."""
        return self.attributes.get(name, "")

    @property
    def classes(self) -> set[str]:
        return set(self.get("class").split())

    @property
    def text(self) -> str:
        """All that it says, with one space for every space."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child._texts()
                if child.tag not in {"a", "b", "em", "i", "q", "s", "span", "strong", "mark"}:
                    yield " "

    def all(self, tag: str = "", class_: str = "") -> list["Element"]:
        """Give what is inside, of a name and of a class."""
        found = []
        for child in self.children:
            if isinstance(child, str):
                continue
            if tag in {"", child.tag} and (not class_ or class_ in child.classes):
                found.append(child)
            found += child.all(tag, class_)
        return found

    def one(self, tag: str = "", class_: str = "") -> "Element":
        """Give the only one."""
        found = self.all(tag, class_)
        assert len(found) == 1, (tag, class_, len(found))
        return found[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, attrs)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open[-1].tag, f"</{tag}> in <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page_of(text: str) -> Element:
    """Read a page: every element is ended, no attribute stands twice, no id either."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], [one.tag for one in reader.open]
    ids = [one["id"] for one in reader.root.all() if one.get("id")]
    assert len(set(ids)) == len(ids), sorted(ids)
    return reader.root
