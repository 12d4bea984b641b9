"""A record as it was read, errors and all: what the checks may look at without asking its types.

What has the wrong type is None or empty here; its shape is at fault already, and a check that needs
it says nothing more.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from refold.coverage.record import MAX_SOURCES, MAX_UNITS, ceiling
from refold.kernel.errors import InputError
from refold.kernel.utc import parse_utc

__all__ = ["Sight", "UnitSight", "moment", "object_of", "text_of"]


def object_of(value: object) -> dict[str, Any]:
    """Give an object, {} for anything else."""
    return value if type(value) is dict else {}


def list_of(value: object) -> list[Any]:
    """Give an array, [] for anything else."""
    return value if type(value) is list else []


def text_of(value: object) -> str | None:
    """Give a text, None for anything else."""
    return value if type(value) is str else None


def count_of(value: object) -> int | None:
    """Give an integer from 0 on, None for anything else."""
    return value if type(value) is int and value >= 0 else None


def moment(text: object) -> int | None:
    """Give the Unix seconds that a time names, None if it is no time of the one form."""
    return _moment(text) if type(text) is str else None


@lru_cache(maxsize=256)
def _moment(text: str) -> int | None:
    try:
        return int(parse_utc(text).timestamp())
    except InputError:
        return None


class UnitSight:
    """One unit as it was read."""

    def __init__(self, index: int, value: object) -> None:
        unit = object_of(value)
        self.path: tuple[str | int, ...] = ("corpus", "units", index)
        self.id = text_of(unit.get("id"))
        self.replay = object_of(unit.get("replay"))
        self.kind = text_of(self.replay.get("kind"))
        self.boundary = object_of(unit.get("boundary"))
        self.termination = text_of(self.boundary.get("termination"))
        self.observed = count_of(self.boundary.get("observed"))
        self.marker_kind = text_of(self.boundary.get("endMarkerKind"))
        self.marker = text_of(self.boundary.get("endMarker"))

    @property
    def ceiling(self) -> str:
        """The ceiling of V-8."""
        return ceiling(self.kind, self.termination, self.marker_kind)

    @property
    def has_bytes(self) -> bool:
        """Whether its walk could see raw bytes: no list shows them, nor pins without details."""
        return self.kind != "HTTP_JSON" and self.replay.get("fetch") != "LIST_ONLY"


class Sight:
    """A whole record as it was read; of too many units or sources only as many as may be."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        corpus = object_of(record.get("corpus"))
        self.result = object_of(record.get("result"))
        self.version = text_of(record.get("v"))
        self.claim = text_of(record.get("claim"))
        self.query = object_of(record.get("query"))
        self.canon = object_of(self.query.get("canon"))
        self.as_of = corpus.get("asOf")
        self.as_of_seconds = moment(self.as_of)
        units = list_of(corpus.get("units"))[:MAX_UNITS]
        self.units = [UnitSight(index, unit) for index, unit in enumerate(units)]
        self.match_count = count_of(self.result.get("matchCount"))
        self.matches = [object_of(match) for match in list_of(self.result.get("matches"))]
        self.valid_until = record.get("validUntil")
        self.blindspots = list_of(record.get("blindspots"))
        self.justification = record.get("justification")
        self.has_justification = "justification" in record
        self.note = text_of(record.get("note"))
        self.has_consensus = "consensus" in record
        self.consensus = object_of(record.get("consensus"))
        self.sources = list_of(self.consensus.get("sourceSet"))[:MAX_SOURCES]

    def hashed_matches(self) -> list[dict[str, str]] | None:
        """Give the matches as F-28 hashes them, None if an id or a digest is no text."""
        hashed = []
        for match in self.matches:
            part: dict[str, str] = {name: match[name] for name in ("id", "digest") if name in match}
            if "id" not in part or any(type(value) is not str for value in part.values()):
                return None
            hashed.append(part)
        return hashed
