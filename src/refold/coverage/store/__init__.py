"""The store of coverage: receipts with their judgements, and the jobs that verify.

See `interface` for what it does, `tables` for what stands where.
"""

from sqlalchemy import Connection

from refold.coverage.store.hiding import SqlHiding
from refold.coverage.store.interface import Hiding, Jobs, Receipts, Store
from refold.coverage.store.jobs import SqlJobs
from refold.coverage.store.model import Origin, Stored, StoredReceipt
from refold.coverage.store.receipts import SqlReceipts

__all__ = ["Origin", "SqlStore", "Store", "Stored", "StoredReceipt", "open_store"]


class SqlStore:
    """See `interface.Store`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self.receipts: Receipts = SqlReceipts(connection)
        self.jobs: Jobs = SqlJobs(connection)
        self.hiding: Hiding = SqlHiding(connection)


def open_store(connection: Connection) -> Store:
    """Give the store in the tables that a transaction is about (`refold.db.Database.write`)."""
    return SqlStore(connection)
