"""A node: what its operator chose, checked. Pure; the key is read elsewhere."""

import re
from typing import Final

import msgspec

from refold.kernel.errors import UsageError
from refold.kernel.settings import Settings
from refold.trials import settings as rows
from refold.trials.limits import MAX_BITS
from refold.trials.sites import SITES, Site

__all__ = ["MAX_ROOMS", "Node", "node_of"]

MAX_ROOMS: Final = 50
"""Rooms of a node: all are in one answer."""
MAX_RATE: Final = 1_000_000_000

_ROOM = re.compile("[a-z0-9][a-z0-9-]{0,39}")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")
_STYLES: Final = {
    "forgejo": next(site for site in SITES if site.host == "codeberg.org"),
    "gitlab": next(site for site in SITES if site.host == "gitlab.com"),
}
"""Software of shared hosts, by a site that runs it."""


class Node(msgspec.Struct, frozen=True):
    """A node. `origin` is scheme, host and port as others reach it; `counts` are of the limits."""

    origin: str
    name: str = rows.NAME.default
    rooms: tuple[str, ...] = rows.ROOMS.default
    sites: tuple[Site, ...] = SITES
    bits: int = 0
    counts: dict[str, int] = {}

    @property
    def host(self) -> str:
        """Host and port: what a challenge names."""
        return self.origin.partition("://")[2]


def node_of(settings: Settings, origin: str) -> Node:
    """Give the node that the settings describe.

    Raises UsageError `trials-rooms`, `trials-sites`, `trials-work`, `trials-limit`.
    """
    rooms = settings[rows.ROOMS]
    if not 0 < len(set(rooms)) == len(rooms) <= MAX_ROOMS or not all(map(_ROOM.fullmatch, rooms)):
        raise UsageError(
            "trials-rooms",
            "trials_rooms are no names of rooms",
            f"give 1 to {MAX_ROOMS}, each once, of a-z, 0-9 and hyphens",
        )
    bits = settings[rows.WORK]
    if not 0 <= bits <= MAX_BITS:
        raise UsageError("trials-work", f"trials_work_bits is {bits}", f"give 0 to {MAX_BITS}")
    counts = {name: settings[row] for name, row in rows.LIMITS.items()}
    for name, count in counts.items():
        if not 0 <= count <= MAX_RATE:
            raise UsageError(
                "trials-limit", f"{rows.LIMITS[name].name} is {count}", f"give 0 to {MAX_RATE:,}"
            )
    return Node(
        origin=origin,
        name=settings[rows.NAME],
        rooms=rooms,
        sites=SITES + tuple(map(_site, settings[rows.SITES])),
        bits=bits,
        counts=counts,
    )


def _site(text: str) -> Site:
    host, _, style = text.lower().partition("=")
    if not _HOST.fullmatch(host) or style not in _STYLES:
        raise UsageError(
            "trials-sites",
            f"trials_sites: {text!r} names no shared host",
            f"write HOST=STYLE with a style of {', '.join(_STYLES)}",
        )
    return msgspec.structs.replace(_STYLES[style], host=host)
