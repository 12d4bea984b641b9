"""The store of the chain side: pins, bodies, how far a sync came, what was found out.

See `interface` for what it does, `merge` for what counts against what.
"""

from sqlalchemy import Connection

from refold.metaid.store.facts import SqlFacts
from refold.metaid.store.interface import Facts, Marks, Pins, Store
from refold.metaid.store.marks import SqlMarks
from refold.metaid.store.model import (
    NO_RIVALS,
    NOWHERE,
    Anchor,
    Conflict,
    ContentFact,
    Counts,
    Cursor,
    FactState,
    Gap,
    Held,
    Indexed,
    Moved,
    Outcome,
    Position,
    Rivals,
    StakeFact,
    Standing,
    State,
    Written,
    places_digest,
)
from refold.metaid.store.pins import SqlPins

__all__ = [
    "NOWHERE",
    "NO_RIVALS",
    "Anchor",
    "Conflict",
    "ContentFact",
    "Counts",
    "Cursor",
    "FactState",
    "Facts",
    "Gap",
    "Held",
    "Indexed",
    "Marks",
    "Moved",
    "Outcome",
    "Pins",
    "Position",
    "Rivals",
    "SqlStore",
    "StakeFact",
    "Standing",
    "State",
    "Store",
    "Written",
    "open_store",
    "places_digest",
]


class SqlStore:
    """See `interface.Store`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self.pins: Pins = SqlPins(connection)
        self.marks: Marks = SqlMarks(connection)
        self.facts: Facts = SqlFacts(connection)


def open_store(connection: Connection) -> Store:
    """Give the store in the tables that a transaction is about (`refold.db.Database.write`)."""
    return SqlStore(connection)
