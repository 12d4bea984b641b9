"""The tables of coverage: stored receipts, their judgements, and the jobs that verify.

Times are RFC 3339, UTC, Z, and compare as texts. A receipt's name is its receiptHash.
"""

from sqlalchemy import Column, Index, Table

from refold.db import BYTES, INT64, METADATA, NAME, AnyText

records = Table(
    "coverage_records",
    METADATA,
    Column("hash", NAME, primary_key=True),
    Column("body", BYTES, nullable=False),
)
"""The bytes of records, as they came first: of stored receipts, and of those that jobs verify."""

receipts = Table(
    "coverage_receipts",
    METADATA,
    Column("hash", NAME, primary_key=True),
    Column("number", INT64, nullable=False, unique=True),
    Column("size", INT64, nullable=False),
    Column("stored_at", NAME, nullable=False),
    Column("origin", NAME, nullable=False),
    Column("claim", NAME, nullable=False),
    Column("kind", AnyText, nullable=False),
    Column("question", AnyText, nullable=False),
    Column("asked", NAME, nullable=False),
    Column("query_hash", NAME, nullable=False),
    Column("as_of", NAME, nullable=False),
    Column("valid_until", NAME, nullable=False),
    Column("supersedes", NAME, nullable=False),
    Column("signing_window", NAME, nullable=False),
    Column("judgement", NAME, nullable=False),
    Column("coverage", NAME, nullable=False),
    Column("judged_at", NAME, nullable=False),
    Column("checked_at", NAME, nullable=False),
    Column("failures", INT64, nullable=False),
    Column("due_at", NAME),
    Index(None, "query_hash", "number"),
    Index(None, "claim", "number"),
    Index(None, "judgement", "number"),
    Index(None, "kind", "number"),
    Index(None, "supersedes", "number"),
    Index(None, "signing_window", "number"),
    Index(None, "due_at", "number"),
    Index(None, "checked_at"),
)
"""`number` counts receipts as they came. `asked` is the question as it is searched.
`signing_window` is the hash of question, units, epoch and basis, "" without a consensus block.
`judgement` to `failures` are of the last check, "" and 0 before the first; `due_at` is NULL for
one that is never checked again.
"""

pins = Table(
    "coverage_pins",
    METADATA,
    Column("pin", NAME, primary_key=True),
    Column("receipt", NAME, nullable=False),
    Column("writer", NAME, nullable=False),
    Column("height", INT64),
    Index(None, "receipt", "height", "pin"),
    Index(None, "height", "pin"),
    Index(None, "writer", "receipt"),
)
"""The pins that brought a receipt; `height` is the genesisHeight, NULL in the mempool."""

refused = Table(
    "coverage_refused",
    METADATA,
    Column("pin", NAME, primary_key=True),
    Column("height", INT64, nullable=False),
    Column("indexer", AnyText, nullable=False),
    Column("version", NAME, nullable=False),
    Column("proved", INT64, nullable=False),
    Column("at", NAME, nullable=False),
    Index(None, "at", "pin"),
)
"""Pins in blocks that were read, at `at`, and are no receipts: by which indexer's words, and by the
rules of which version of refold; `proved` is 1 where the bytes were held against the transaction.
"""

judgements = Table(
    "coverage_judgements",
    METADATA,
    Column("receipt", NAME, primary_key=True),
    Column("number", INT64, primary_key=True, autoincrement=False),
    Column("judgement", NAME, nullable=False),
    Column("coverage", NAME, nullable=False),
    Column("reasons", NAME, nullable=False),
    Column("at", NAME, nullable=False),
)
"""A row for each change of judgement, from 1; `reasons` are codes with spaces between."""

reports = Table(
    "coverage_reports",
    METADATA,
    Column("receipt", NAME, primary_key=True),
    Column("body", BYTES, nullable=False),
)
"""The report of the last check of a stored receipt, as JSON."""

equivocations = Table(
    "coverage_equivocations",
    METADATA,
    Column("first", NAME, primary_key=True),
    Column("second", NAME, primary_key=True),
    Column("place", INT64, primary_key=True, autoincrement=False),
    Column("operator", AnyText, nullable=False),
    Column("locator", AnyText, nullable=False),
    Column("frame", NAME, nullable=False),
    Column("first_digest", NAME, nullable=False),
    Column("second_digest", NAME, nullable=False),
    Column("found_at", NAME, nullable=False),
    Index(None, "second", "first", "place"),
)
"""Two receipts of one signing window with two digests of one source; `first` was stored before."""

jobs = Table(
    "coverage_jobs",
    METADATA,
    Column("id", NAME, primary_key=True),
    Column("number", INT64, nullable=False, unique=True),
    Column("receipt", NAME, nullable=False),
    Column("running", NAME, unique=True),
    Column("origin", NAME, nullable=False),
    Column("asker", NAME, nullable=False),
    Column("shared", INT64, nullable=False),
    Column("sources", INT64, nullable=False),
    Column("state", NAME, nullable=False),
    Column("cancel", INT64, nullable=False),
    Column("attempts", INT64, nullable=False),
    Column("made_at", NAME, nullable=False),
    Column("began_at", NAME, nullable=False),
    Column("ended_at", NAME, nullable=False),
    Column("unit", AnyText, nullable=False),
    Column("pages", INT64, nullable=False),
    Column("rows", INT64, nullable=False),
    Column("requests", INT64, nullable=False),
    Column("code", NAME, nullable=False),
    Index(None, "receipt", "number"),
    Index(None, "state", "origin", "number"),
)
"""Verifications. `running` is the receipt's hash while the job is not ended, else NULL: unique, so
that no receipt has two. `origin` is "asked" or "due". `shared` is 1 once it was given to a second
asker, `sources` 1 where the sources of the consensus block are read too, `cancel` 1 once somebody
wants it to end. `unit` to `requests` say how far it came.
"""

job_reports = Table(
    "coverage_job_reports",
    METADATA,
    Column("job", NAME, primary_key=True),
    Column("body", BYTES, nullable=False),
)
"""The report of a job that is done, as JSON."""

totals = Table(
    "coverage_totals",
    METADATA,
    Column("id", INT64, primary_key=True, autoincrement=False),  # always 1
    Column("receipts", INT64, nullable=False),
    Column("bytes", INT64, nullable=False),
)
"""How much is stored: receipts, and the bytes of their records."""

hidden = Table(
    "coverage_hidden",
    METADATA,
    Column("hash", NAME, primary_key=True),
    Column("reason", AnyText, nullable=False),
    Column("since", NAME, nullable=False),
)
"""Receipts that the operator withholds from answers."""
