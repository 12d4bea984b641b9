"""The tables of the search index. All of it can be made again from the texts."""

from sqlalchemy import Column, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME

documents = Table(
    "agentpedia_search_documents",
    METADATA,
    Column("number", INT64, primary_key=True, autoincrement=False),
    Column("key", NAME, nullable=False),
    Column("lang", NAME, nullable=False),
    Column("stream", BYTES, nullable=False),  # `scoring.Stream`, compressed
    Index(None, "key", unique=True),
)

terms = Table(
    "agentpedia_search_terms",
    METADATA,
    Column("term", NAME, primary_key=True),
    Column("documents", INT64, nullable=False),
    Column("head", BYTES, nullable=False),
    sqlite_with_rowid=False,
)
"""Each term with the number of its documents and the first of its postings, which for most are all.

The row of the term "" counts all documents.
"""

blocks = Table(
    "agentpedia_search_blocks",
    METADATA,
    Column("term", NAME, primary_key=True),
    Column("first", INT64, primary_key=True, autoincrement=False),
    Column("block", BYTES, nullable=False),
    sqlite_with_rowid=False,
)
"""The postings behind the head, in their order: a block has those from `first` up to the next."""
