"""Databases: opening, transactions, migrations. No table of any part."""

from refold.db.backend import Durability
from refold.db.database import WAIT_SECONDS, Database
from refold.db.migrate import METADATA
from refold.db.statements import insert_missing, one_of, put
from refold.db.types import BYTES, INT64, NAME, AnyText

__all__ = [
    "BYTES",
    "INT64",
    "METADATA",
    "NAME",
    "WAIT_SECONDS",
    "AnyText",
    "Database",
    "Durability",
    "insert_missing",
    "one_of",
    "put",
]
