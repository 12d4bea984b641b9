"""The tables of the local chain and of its indexer.

Both live in one file, so that a block and what the indexer makes of it are one transaction. The
chain's tables (`blocks`, `txs`, `outputs`) never look at the indexer's (`pins`, `listing`), which
can be built again from them.
"""

from sqlalchemy import (
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

METADATA = MetaData()

META = Table(
    "meta",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the file is, its settings, and how far the indexer has come."""

BLOCKS = Table(
    "blocks",
    METADATA,
    Column("height", Integer, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),
    Column("time", Integer, nullable=False),
    Column("header", LargeBinary, nullable=False),
)
"""The blocks of the chain; those that a reorganisation replaced are gone."""

TXS = Table(
    "txs",
    METADATA,
    Column("txid", Text, primary_key=True),
    Column("arrival", Integer, nullable=False, unique=True),
    Column("seen", Integer, nullable=False),
    Column("fee", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("height", Integer),
    Column("position", Integer),
    Column("raw", LargeBinary, nullable=False),
)
"""Transactions in blocks, and in the mempool (`height` NULL).

`arrival` counts them as they came, parents before children. `depth` is how many unconfirmed
transactions stand above one in the mempool, one over the other.
"""
Index("txs_by_place", TXS.c.height, TXS.c.position)
Index("txs_waiting", TXS.c.arrival, sqlite_where=TXS.c.height.is_(None))

OUTPUTS = Table(
    "outputs",
    METADATA,
    Column("txid", Text, primary_key=True),
    Column("index", Integer, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("script", LargeBinary, nullable=False),
    Column("spent_by", Text),
    sqlite_with_rowid=False,
)
"""Outputs that can be spent, of all of `txs`, with the transaction that spends each."""
Index("coins", OUTPUTS.c.script, OUTPUTS.c.value, sqlite_where=text("spent_by IS NULL"))
Index("spenders", OUTPUTS.c.spent_by, sqlite_where=text("spent_by IS NOT NULL"))

KEYS = Table(
    "keys",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("address", Text, nullable=False, unique=True),
    Column("worthless_secret", LargeBinary, nullable=False),
)
"""Throw-away keys of the local chain. They are worth nothing: never send anything real to them."""

PINS = Table(
    "pins",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("txid", Text, nullable=False, unique=True),
    Column("alias", Text),
    Column("path_hash", Text, nullable=False),
    Column("owner_metaid", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("root", Text),
    Column("height", Integer, nullable=False),
    Column("place", Text, nullable=False),
    Column("time", Integer, nullable=False),
    Column("seen", Integer, nullable=False),
    Column("record", LargeBinary, nullable=False),
)
"""Pins as the indexer knows them.

`height` is -1 and `time` the time of arrival in the mempool. `place` sorts as the chain does, the
mempool last. `seen` is 0 for pins first met in a block. `root` is the pin that a modify or revoke
is about, through all modifies of modifies. `record` is a `refold.metaid.devnet.record.Record`.
"""
Index("pins_by_alias", PINS.c.alias)
Index("pins_by_place", PINS.c.place)
Index("pins_by_path", PINS.c.path_hash, PINS.c.place, PINS.c.id)
Index("pins_by_owner", PINS.c.path_hash, PINS.c.owner_metaid, PINS.c.place, PINS.c.id)
Index("pins_by_root", PINS.c.root, PINS.c.place)

LISTING = Table(
    "listing",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("far_key", Text, nullable=False),
    Column("path_hash", Text, nullable=False),
    Column("owner_metaid", Text, nullable=False),
    Column("height", Integer, nullable=False),
    Column("pin_id", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""The keys under which the key-value indexers list a pin (facts: metaid §3.4).

One pin may have several: from the mempool (`height` -1), from a block, from a block that is gone.
`far_key` is `key` with the far-future time that some indexers give to the mempool.
"""
Index("listing_by_key", LISTING.c.path_hash, LISTING.c.key)
Index("listing_by_far_key", LISTING.c.path_hash, LISTING.c.far_key)
Index("listing_by_pin", LISTING.c.pin_id)
