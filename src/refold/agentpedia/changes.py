"""What changed in the full view since somebody looked, told to whoever keeps a copy of it.

The copy is a set of values by section and key (docs/agentpedia-view.md), and a history for each
record. Histories only grow, until a roll-back cuts them, so only their new ends are told.
"""

from typing import NamedTuple, Protocol

from refold.agentpedia.common import Json
from refold.agentpedia.state import Version


class Value(NamedTuple):
    """One value of the full view as it is now, and the hash (hex) that stands for it in its line.

    `value` shares its lists with the fold: who keeps it encodes it at once.
    `record` is the number of the record behind an `entry` or `displaced`, None elsewhere.
    """

    section: str
    key: str
    value: Json
    sha256: str
    record: int | None = None


class Step(NamedTuple):
    """One step of a record's history: the pin or version id, and the version unless it is none."""

    name: str
    version: Version | None


class History(NamedTuple):
    """The history of a record: its first `kept` steps are as they were, `steps` come after them."""

    record: int
    kept: int
    steps: list[Step]


class Sink(Protocol):
    """A copy of the full view that is kept up. Names that go are told before values that come."""

    def forget(self) -> None:
        """Drop all there is: every value and every history follows."""

    def drop(self, section: str, key: str) -> None:
        """Drop a value that is in the view no more."""

    def put(self, value: Value) -> None:
        """Take a value that is new, or another than before."""

    def history(self, history: History) -> None:
        """Take how a record's history goes on; records that are no more end with no steps."""
