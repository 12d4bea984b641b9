"""`refold coverage hide`, `unhide` and `hidden`: receipts that the operator withholds, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.hiding import told_unhidden
from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import one_line

if TYPE_CHECKING:
    from refold.coverage.store.model import Hidden

PAGE = 500

hash_argument = click.argument("receipt_hash", metavar="HASH")


@click.command()
@hash_argument
@click.option("--reason", required=True, help="Why, in a sentence: it is public.")
@database_option
@format_option
def hide(receipt_hash: str, reason: str, database: str | None, form: str) -> None:
    """Withhold the receipt HASH from the answers of a node.

    Nothing is deleted, and it is checked on. Running servers follow at once.
    """
    from refold.coverage.store import open_store
    from refold.kernel import utc

    now = utc.format_utc(utc.now())
    with open_database(database, durability="full") as opened, opened.write() as connection:
        is_new = open_store(connection).hiding.hide(receipt_hash, reason, now)
    if form == "json":
        print_json({"id": receipt_hash, "isNew": is_new})
    else:
        print_line(f"{receipt_hash} is hidden" + ("" if is_new else ", with a new reason"))


@click.command()
@hash_argument
@database_option
@format_option
def unhide(receipt_hash: str, database: str | None, form: str) -> int:
    """Show the receipt HASH again. Exit code 1 when it was not hidden."""
    from refold.coverage.store import open_store

    with open_database(database, durability="full") as opened, opened.write() as connection:
        was_hidden = open_store(connection).hiding.unhide(receipt_hash)
    return told_unhidden(receipt_hash, {"id": receipt_hash}, form, was=was_hidden)


@click.command()
@database_option
@format_option
def hidden(database: str | None, form: str) -> None:
    """List what is withheld, and why: the same list is public at /v1/coverage/hidden."""
    from refold.coverage.store import open_store

    rows: list[Hidden] = []
    with open_database(database, readonly=True) as opened, opened.read() as connection:
        hiding = open_store(connection).hiding
        while page := hiding.page(PAGE, rows[-1].hash if rows else None):
            rows += page
    if form == "json":
        print_json({"items": [msgspec.to_builtins(row) for row in rows]})
        return
    for row in rows:
        print_line(f"{row.hash}  since {row.since}: {one_line(row.reason)}")
    print_line(f"{len(rows):,} hidden")
