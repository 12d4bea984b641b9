"""The Link header of a page: where it goes on, and which relations it names (RFC 8288).

What cannot be read of a header that speaks of a next page is itself a sign that there is one, so
reading it wrongly can only lower coverage. Source: coverage spec §5.5 R-5, R-6.
"""

import re
from collections.abc import Iterator

import msgspec

__all__ = ["NO_LINKS", "Links", "read_links"]

_TARGET = re.compile(r"[ \t,]*+<([^>]*+)>")
_PARAMETER = re.compile(
    r"""[ \t]*+;[ \t]*+([^\s;=,"<>]++)(?:[ \t]*+=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;,"]*+)))?"""
)
_BETWEEN = re.compile(r"[ \t]*+(?:,|$)")
_ESCAPED = re.compile(r"\\(.)")


class Links(msgspec.Struct, frozen=True):
    """The links of a page.

    `next` are the different targets of `rel="next"`, as they are written, `last` those of
    `rel="last"`; `relations` all relations (lower case) of links that could be read; `doubtful`
    tells that a link to a next page may be in what could not be read, or is said to lead on from
    another page.
    """

    next: tuple[str, ...]
    relations: frozenset[str]
    doubtful: bool
    last: tuple[str, ...] = ()


NO_LINKS = Links((), frozenset(), doubtful=False)


class _Link(msgspec.Struct, frozen=True):
    target: str
    relations: tuple[str, ...]
    anchored: bool


def read_links(header: str | None) -> Links:
    """Read the Link header (its lines joined with commas); None where a page has none."""
    if header is None:
        return NO_LINKS
    following: dict[str, None] = {}
    last: dict[str, None] = {}
    relations: set[str] = set()
    doubtful = False
    for link in _links(header):
        if isinstance(link, str):
            doubtful = doubtful or "next" in link.lower()
            continue
        if "next" in link.relations and link.anchored:
            doubtful = True
            continue
        relations.update(link.relations)
        if "next" in link.relations:
            following[link.target] = None
        if "last" in link.relations:
            last[link.target] = None
    return Links(tuple(following), frozenset(relations), doubtful, tuple(last))


def _links(header: str) -> Iterator[_Link | str]:
    """Give the links of a header, and what is left of it where it cannot be read any further."""
    at = 0
    while header[at:].strip(" \t,"):
        target = _TARGET.match(header, at)
        if target is None:
            yield header[at:]
            return
        begun, at = at, target.end()
        relations: tuple[str, ...] | None = None
        anchored = False
        while (parameter := _PARAMETER.match(header, at)) is not None:
            at = parameter.end()
            name = parameter[1].lower()
            value = _ESCAPED.sub(r"\1", parameter[2]) if parameter[2] else parameter[3] or ""
            if name == "rel" and relations is None:  # only the first one counts: RFC 8288 §3.3
                relations = tuple(value.lower().split())
            anchored = anchored or name == "anchor"
        between = _BETWEEN.match(header, at)
        if between is None:
            yield header[begun:]
            return
        at = between.end()
        yield _Link(target[1].strip(), relations or (), anchored)
