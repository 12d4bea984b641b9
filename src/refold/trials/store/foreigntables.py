"""The tables of archives: whose were imported how far, and the messages of other nodes."""

from sqlalchemy import Column, Table

from refold.db import INT64, METADATA, NAME, AnyText

origins = Table(
    "trials_origins",
    METADATA,
    Column("origin", NAME, primary_key=True),
    Column("verifier", NAME, nullable=False),
    Column("size", INT64, nullable=False),
    Column("target", INT64, nullable=False),
    Column("checkpoint", NAME, nullable=False),
    Column("imported_at", INT64, nullable=False),
)
"""Nodes of which archives were imported, this one too if its log was restored. `size` messages of
the `target` that the archive has are here; `checkpoint` signs the target."""

foreign = Table(
    "trials_foreign",
    METADATA,
    Column("origin", NAME, primary_key=True),
    Column("id", INT64, primary_key=True, autoincrement=False),
    Column("accepted_at", INT64, nullable=False),
    Column("digest", NAME, nullable=False),
    Column("room", AnyText, nullable=False),
    Column("reply_to", INT64),
    Column("public_key", NAME, nullable=False),
    Column("signature", NAME, nullable=False),
    Column("content", AnyText),
)
"""Messages of other nodes, under their own ids. `content` is null once the text was removed."""
