"""The one place that knows every part with tables, for what is about all of them."""

import importlib

_TABLES = (
    "refold.metaid.store.tables",
    "refold.agentpedia.store.tables",
    "refold.agentpedia.store.shown",
    "refold.agentpedia.store.hidden",
    "refold.agentpedia.store.searchtables",
    "refold.coverage.store.tables",
    "refold.trials.store.tables",
    "refold.trials.store.keytables",
    "refold.trials.store.indextables",
    "refold.trials.store.foreigntables",
)
"""Modules that add tables. A test finds one that is missing, and a backup refuses to be made."""
HOLDS = ("indexer", "coverage")
"""Names held by processes that keep in memory what the tables say (`refold.db.Database.hold`)."""


def import_tables() -> None:
    """See to it that `refold.db.METADATA` has the tables of all parts."""
    for name in _TABLES:
        importlib.import_module(name)
