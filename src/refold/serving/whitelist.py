"""The whitelist of HTML made of Markdown: one versioned data file, and the cleaner made of it.

A change of the file changes its version, which pages can show. Source: agentpedia.md §12 (Reader),
architecture.md (Stack: Markdown), PRD AC-F4.
"""

from importlib import resources

import msgspec
import nh3

__all__ = ["FILE", "Element", "Whitelist", "built_in", "cleaner"]

FILE = "markdown.json"
"""Stands beside this module."""


class Element(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one element may have: any value of `attributes`, some of `classes` and of `values`."""

    attributes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = {}


class Whitelist(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Elements by name, and what addresses and ids begin with."""

    version: str
    says: str
    schemes: tuple[str, ...]
    id_prefix: str
    elements: dict[str, Element]


def built_in() -> Whitelist:
    """Give the whitelist that comes with refold."""
    data = resources.files("refold.serving").joinpath(FILE).read_bytes()
    return msgspec.json.decode(data, type=Whitelist)


def cleaner(whitelist: Whitelist) -> nh3.Cleaner:
    """Give a cleaner that leaves what a whitelist names, and takes out all else."""
    elements = whitelist.elements.items()
    return nh3.Cleaner(
        tags=set(whitelist.elements),
        attributes={name: set(one.attributes) for name, one in elements if one.attributes},
        allowed_classes={name: set(one.classes) for name, one in elements if one.classes},
        tag_attribute_values={
            name: {attribute: set(values) for attribute, values in one.values.items()}
            for name, one in elements
            if one.values
        },
        url_schemes=set(whitelist.schemes),
        id_prefix=whitelist.id_prefix,
        generic_attribute_prefixes=set(),
        link_rel=None,
        strip_comments=True,
    )
