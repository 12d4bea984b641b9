"""What a walk returns: the traversal that judgement reads, and the proof behind it for the report.

Source: coverage spec §5.5 R-10.
"""

import msgspec

from refold.coverage.record import Replay, Unit
from refold.coverage.unit import Traversal
from refold.coverage.walk.asking import Answer
from refold.kernel.canon import sha256_hex

__all__ = ["Listed", "PageProof", "Walked", "listed", "proof_of"]


class Listed(msgspec.Struct, frozen=True):
    """A source to walk: its unit's id, its recipe, and the path of a total that its record names.

    `total_path` is "" where no record says anything, or another kind of marker.
    """

    id: str
    replay: Replay
    total_path: str = ""


class PageProof(msgspec.Struct, frozen=True, rename="camel"):
    """One answer that a walk read: where from, its rows, bytes and SHA-256, when it was whole.

    `url` is what answered in the end, `redirects` what redirected to it. `mapped_to` is the origin
    that was asked in place of the URL's, "" for itself. `role` is `page`, `again` for a first page
    read once more, `detail` for the detail of a pin.
    """

    url: str
    rows: int
    bytes: int
    sha256: str
    at: str
    mapped_to: str = ""
    role: str = "page"
    redirects: tuple[str, ...] = ()


def proof_of(reply: Answer, rows: int, at: str, role: str) -> PageProof:
    """Give the proof of an answer with so many rows, whole at the time `at`."""
    size, name = len(reply.body), sha256_hex(reply.body)
    return PageProof(reply.url, rows, size, name, at, reply.mapped_to, role, reply.redirects)


class Walked(msgspec.Struct, frozen=True):
    """A traversal, the words that its reasons were met in, by reason, and every answer it read."""

    traversal: Traversal
    why: dict[str, str]
    proofs: tuple[PageProof, ...]


def listed(unit: Unit) -> Listed:
    """Give the source that a unit of a record is."""
    boundary = unit.boundary
    declares = boundary.end_marker_kind == "TOTAL_COUNT"
    path = boundary.end_marker.rpartition("=")[0] if declares else ""
    return Listed(unit.id, unit.replay, path)
