"""Badges of services: a small picture (SVG without style or script), and JSON for shields.io.

A service without a proven trial has none. Counts are of first runs; those of young keys are left
out. Source: cold trials spec §4; shields.io/badges/endpoint-badge.
"""

from typing import Annotated, Final
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.answers import JSON_TYPE, Answer
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.operation import get
from refold.trials.api.indexesfresh import Fresh
from refold.trials.api.indexesmaking import services_shown
from refold.trials.api.indexesshown import ServiceCounts
from refold.trials.api.office import Office
from refold.trials.store.indexreading import IndexReader

__all__ = ["BADGE_CODES", "FILE", "BadgesApi", "split_file"]

SVG_TYPE = "image/svg+xml"
LABEL: Final = "cold trials"
CACHE_SECONDS: Final = 300
CACHE: Final = f"public, max-age={CACHE_SECONDS}"
"""Pages that show a badge ask for it at each view."""
_GREEN, _ORANGE, _GREY = "#2e7d32", "#b45309", "#57606a"
_HEIGHT = 20
_CHAR = 6.6
_GAP = 12

BADGE_CODES: tuple[Code, ...] = (
    Code("badge-none", 404, "No badge", "The service has no trial whose owner proof another key"
         " reported as verified."),
    Code("file-form", 404, "No such form", "Write .svg or .json for a badge, .atom or .json for a"
         " feed, behind the name."),
)  # fmt: skip

FILE = Meta(max_length=610, description="A name, and the form behind a dot.")
_File = Annotated[str, FILE, Meta(examples=["shop.io.svg"])]
_Segment = Annotated[str, Meta(min_length=1, max_length=600)]


class BadgeAsked(msgspec.Struct, kw_only=True, frozen=True):
    """The badge of a host."""

    file: _File

    @property
    def path(self) -> str:
        """The service and the form."""
        return self.file


class BadgeAsked3(BadgeAsked, kw_only=True, frozen=True):
    """The badge of a repository."""

    host: _Segment
    owner: _Segment

    @property
    def path(self) -> str:
        """The service and the form."""
        return f"{self.host}/{self.owner}/{self.file}"


class BadgeAsked4(BadgeAsked3, kw_only=True, frozen=True):
    """The badge of a repository with a prefix or a group."""

    repo: _Segment

    @property
    def path(self) -> str:
        """The service and the form."""
        return f"{self.host}/{self.owner}/{self.repo}/{self.file}"


class Shield(msgspec.Struct, frozen=True, rename="camel"):
    """What shields.io makes a badge of."""

    schema_version: int
    label: str
    message: str
    color: str
    cache_seconds: int


class BadgesApi:
    """See the module."""

    def __init__(self, office: Office, fresh: Fresh) -> None:
        self._office = office
        self._fresh = fresh

    @get(
        "/v1/public/badge/{file}",
        summary="Give the badge of a service",
        codes=("service-unknown", "badge-none", "file-form"),
        media_type=SVG_TYPE,
        example={"file": "shop.io.svg"},
    )
    def badge(self, asked: BadgeAsked, call: Call) -> Answer[bytes]:
        """Give a picture for .svg, and for .json what shields.io makes one of."""
        return self._badge(asked, call)

    @get(
        "/v1/public/badge/{host}/{owner}/{file}",
        summary="Give the badge of a service on a shared host",
        codes=("service-unknown", "badge-none", "file-form"),
        media_type=SVG_TYPE,
    )
    def badge_3(self, asked: BadgeAsked3, call: Call) -> Answer[bytes]:
        """Give the same for a repository."""
        return self._badge(asked, call)

    @get(
        "/v1/public/badge/{host}/{owner}/{repo}/{file}",
        summary="Give the badge of a service on a shared host",
        codes=("service-unknown", "badge-none", "file-form"),
        media_type=SVG_TYPE,
    )
    def badge_4(self, asked: BadgeAsked4, call: Call) -> Answer[bytes]:
        """Give the same for a repository with a prefix or a group."""
        return self._badge(asked, call)

    def _badge(self, asked: BadgeAsked, call: Call) -> Answer[bytes]:
        service, form = split_file(asked.path, "svg", "json")

        def make(connection: Connection, now: int) -> tuple[bytes, str]:
            reader = IndexReader(connection, now)
            row = reader.service(service)
            if row is None:
                detail = f"no trial names the service {service[:100]!a}"
                raise InputError("service-unknown", detail, "list the services", "/file")
            if not row.proven:
                raise InputError("badge-none", "no trial of the service is proven", "", "/file")
            counts = services_shown(reader, [row], self._office.address)[0].counts
            message, color = _words(counts)
            if form == "svg":
                return _svg(message, color), ""
            shield = Shield(1, LABEL, message, color, CACHE_SECONDS)
            return msgspec.json.encode(shield), ""

        return self._fresh.give(call, make, SVG_TYPE if form == "svg" else JSON_TYPE, CACHE)


def split_file(path: str, *forms: str) -> tuple[str, str]:
    """Give the name and the form of a file. Raises InputError `file-form`."""
    name, _, form = path.rpartition(".")
    if not name or form not in forms:
        raise InputError("file-form", f"{form[:20]!a} is none of {', '.join(forms)}", "", "/file")
    return name, form


def _words(counts: ServiceCounts) -> tuple[str, str]:
    """Give what a badge says, and its colour."""
    completed, blocked = counts.completed.posts, counts.blocked.posts
    parts = [f"{completed} completed", f"{blocked} blocked"]
    if counts.confirmed.posts:
        parts.append(f"{counts.confirmed.posts} fixed and confirmed")
    if not completed and not blocked:
        return "no runs yet", _GREY
    return ", ".join(parts), _GREEN if completed >= blocked else _ORANGE


def _svg(message: str, color: str) -> bytes:
    """Give a picture of a label and a message; both are words of ours and numbers."""
    left, right = (round(len(text) * _CHAR) + _GAP for text in (LABEL, message))
    svg = Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(left + right),
        height=str(_HEIGHT),
        role="img",
    )
    SubElement(svg, "title").text = f"{LABEL}: {message}"
    for at, width, fill in ((0, left, "#24292f"), (left, right, color)):
        SubElement(svg, "rect", x=str(at), width=str(width), height=str(_HEIGHT), fill=fill)
    font = {
        "fill": "#ffffff",
        "font-family": "Verdana, DejaVu Sans, sans-serif",
        "font-size": "11",
        "text-anchor": "middle",
    }
    group = SubElement(svg, "g", font)
    for middle, width, text in ((left / 2, left, LABEL), (left + right / 2, right, message)):
        place = {"x": f"{middle:g}", "y": "14", "textLength": str(width - _GAP)}
        SubElement(group, "text", place).text = text
    return bytes(tostring(svg))
