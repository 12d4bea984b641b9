"""The tables of the encyclopedia. A section that is listed has its own, the rest share `others`.

The columns before `value` are what lists are sorted and searched by. A key that is too long for an
index stands whole in `long_key` (`rows.indexed`).
"""

from sqlalchemy import Column, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME


def _line(*columns: Column[object]) -> tuple[Column[object], ...]:
    """Give the columns of a line of the digest; the value comes last, as it may be long."""
    return (
        Column("key", NAME, primary_key=True),
        Column("long_key", NAME),
        Column("sha256", NAME, nullable=False),
        *columns,
        Column("value", BYTES, nullable=False),
    )


entries = Table(
    "agentpedia_entries",
    METADATA,
    *_line(
        Column("record", INT64, nullable=False, index=True),
        Column("lang", NAME, nullable=False),
        Column("title", NAME, nullable=False),
        Column("status", NAME, nullable=False),
        Column("quality", NAME, nullable=False),
        Column("featured", INT64, nullable=False),
        Column("head", NAME, nullable=False),
        Column("display_head", NAME, nullable=False),
        Column("updated", INT64, nullable=False),
    ),
    Index(None, "updated", "key"),
    Index(None, "featured", "updated", "key"),
    Index(None, "title", "key"),
    Index(None, "lang", "updated", "key"),
    Index(None, "lang", "featured", "updated", "key"),
    Index(None, "lang", "title", "key"),
)
"""`updated` is the height of the last version, `title` that of the version displayed, as far as it
is sorted by; `featured` is 1 or 0. `value` lacks `history` and `versions`.
"""

displaced = Table(
    "agentpedia_displaced",
    METADATA,
    *_line(Column("record", INT64, nullable=False, index=True)),
)
"""Records that no key names any more. `value` lacks `history` and `versions`."""

editors = Table(
    "agentpedia_editors",
    METADATA,
    *_line(Column("reputation", INT64, nullable=False)),
    Index(None, "reputation", "key"),
)
"""Reputation in tenths."""

proposals = Table(
    "agentpedia_proposals",
    METADATA,
    *_line(
        Column("state", NAME, nullable=False),
        Column("opened_at", INT64, nullable=False),
        Column("expires_at", INT64, nullable=False),
        Column("sender", NAME, nullable=False),
        Column("entry_key", NAME, nullable=False),
        Column("challenge", NAME, nullable=False, index=True),
    ),
    Index(None, "opened_at", "key"),
    Index(None, "state", "opened_at", "key"),
    Index(None, "entry_key", "opened_at", "key"),
)

param_proposals = Table(
    "agentpedia_param_proposals",
    METADATA,
    *_line(
        Column("state", NAME, nullable=False),
        Column("opened_at", INT64, nullable=False),
        Column("expires_at", INT64, nullable=False),
        Column("sender", NAME, nullable=False),
    ),
    Index(None, "opened_at", "key"),
    Index(None, "state", "opened_at", "key"),
)

challenges = Table(
    "agentpedia_challenges",
    METADATA,
    *_line(Column("target", NAME, nullable=False)),
    Index(None, "target", "key"),
)

reviews = Table(
    "agentpedia_reviews",
    METADATA,
    *_line(Column("target", NAME, nullable=False)),
    Index(None, "target", "key"),
)

graves = Table(
    "agentpedia_graves",
    METADATA,
    *_line(
        Column("reason", NAME, nullable=False),
        Column("position", INT64, nullable=False, unique=True),
    ),
    Index(None, "reason", "position"),
)
"""`position` rises in the order of the graveyard; after a roll-back it may skip numbers."""

others = Table(
    "agentpedia_others",
    METADATA,
    *_line(Column("section", NAME, primary_key=True)),
    Index(None, "section", "key"),
)
"""The sections `fold`, `constitution`, `case`, `register`."""

history = Table(
    "agentpedia_history",
    METADATA,
    Column("record", INT64, primary_key=True, autoincrement=False),
    Column("place", INT64, primary_key=True, autoincrement=False),
    Column("name", NAME, nullable=False, unique=True),
    Column("seq", INT64),
    Column("height", INT64),
    Column("author", NAME),
    Column("long_author", NAME),
    Column("content_hash", NAME),
    Column("parent_rev", NAME),
    Column("entry_key", NAME),
    Column("equivalent_of", NAME),
    Column("title", NAME),
    Column("size", INT64),
    Column("refs_found", INT64),
    Column("content_ref", NAME),
    Column("text_pin", NAME),
    Index(None, "author", "seq", "record", "place"),
    # The steps of a record stand together, and no second tree maps them to rows.
    sqlite_with_rowid=False,
)
"""The steps of each record from place 0 on. After `name` all is null for a step that is no version
(a redirect). `text_pin` is null where it is `name`.
"""

links = Table(
    "agentpedia_links",
    METADATA,
    Column("from_entry", NAME, primary_key=True),
    Column("to_key", NAME, primary_key=True),
    Column("from_rev", NAME, nullable=False),
    Index(None, "to_key", "from_entry"),
    sqlite_with_rowid=False,
)
"""The links in the text that an entry displays. They stand outside the digest (spec §7)."""

digests = Table(
    "agentpedia_digests",
    METADATA,
    Column("height", INT64, primary_key=True, autoincrement=False),
    Column("digest", NAME, nullable=False),
    Column("events", INT64, nullable=False),
    Column("lines", INT64, nullable=False),
)

folded = Table(
    "agentpedia_folded",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),  # always 1
    Column("rules", NAME, nullable=False),
    Column("options", NAME, nullable=False),
    Column("height", INT64, nullable=False),
    Column("event_height", INT64, nullable=False),
    Column("event_tx_index", INT64, nullable=False),
    Column("event_pin", NAME, nullable=False),
    Column("digest", NAME, nullable=False),
)
"""How far the fold came: one row, or none."""

snapshots = Table(
    "agentpedia_snapshots",
    METADATA,
    Column("height", INT64, primary_key=True, autoincrement=False),
    Column("format", INT64, nullable=False),
    Column("options", NAME, nullable=False),
    Column("sha256", NAME, nullable=False),
    Column("size", INT64, nullable=False),
    Column("chunks", INT64, nullable=False),
)

chunks = Table(
    "agentpedia_chunks",
    METADATA,
    Column("height", INT64, primary_key=True, autoincrement=False),
    Column("number", INT64, primary_key=True, autoincrement=False),
    Column("bytes", BYTES, nullable=False),
)
"""The bytes of snapshots, each chunk compressed for itself."""
