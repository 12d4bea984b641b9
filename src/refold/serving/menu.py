"""The menu of a server: each part with pages has its links there."""

import msgspec

__all__ = ["Menu", "Nav"]


class Nav(msgspec.Struct, frozen=True):
    """A link of the menu. `label` is a message of the catalogue."""

    label: str
    path: str


class Menu(msgspec.Struct, frozen=True):
    """The links of a part. The first of them is its own beginning, above all its pages."""

    title: str
    links: tuple[Nav, ...]
