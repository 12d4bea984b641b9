"""`refold coverage draft|publish|import`: receipts as pins, onto a chain and from one."""

from __future__ import annotations

import base64
import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.coverage_report import note, read_bounded, whoever_reads
from refold.cli.coverage_walks import clock, moment_of, now_option, status_line, store_option
from refold.cli.devnet import url_option
from refold.cli.output import format_option, print_json, print_line, print_problems
from refold.kernel.errors import Exit, one_line

if TYPE_CHECKING:
    from refold.coverage.chainpin import Draft
    from refold.coverage.indexer import Imported

INCOMPLETE = 5
"""Exit code of an import that could not read all: 3 and 4 are judgements in this group."""


@click.command()
@click.argument("receipt", default="-")
@click.option("--payload", is_flag=True, help="Write the payload's bytes alone.")
@now_option
@format_option
def draft(receipt: str, moment: str | None, form: str, *, payload: bool) -> int:
    """Print the pin that carries RECEIPT: the 7-tuple, ready for any wallet.

    The payload is the record in its canonical bytes: its SHA-256 is the receiptHash. Exit code 1
    when the record is not valid.
    """
    drafted = _drafted(receipt, moment, form)
    if drafted is None:
        return Exit.NO
    with whoever_reads():
        if payload:
            sys.stdout.buffer.write(drafted.payload.encode())
        elif form == "json":
            print_json(drafted)
        else:
            for name, value in msgspec.to_builtins(drafted).items():
                print_line(f"{name} {_printable(value)}")
    return Exit.DONE


@click.command()
@click.argument("receipt", default="-")
@click.option("--key", "name", default="coverage", show_default=True, help="A throw-away key.")
@click.option("--mine", is_flag=True, help="Mine a block with it.")
@url_option
@now_option
@format_option
def publish(receipt: str, name: str, url: str, moment: str | None, form: str, *, mine: bool) -> int:
    """Pin RECEIPT on a local chain (refold devnet serve) with the throw-away key of a name.

    On a real chain a wallet does it: `draft` prints what to write. Exit code 1 when the record is
    not valid.
    """
    from refold.metaid.devnet.remote import Remote

    drafted = _drafted(receipt, moment, form)
    if drafted is None:
        return Exit.NO
    order = {
        "key": name,
        "path": drafted.path,
        "payloadBase64": base64.b64encode(drafted.payload.encode()).decode(),
        "operation": drafted.operation,
        "version": drafted.version,
        "contentType": drafted.content_type,
        "encryption": drafted.encryption,
    }
    with Remote(url) as remote:
        pinned = remote.order("pin", order)
        if mine:
            pinned["height"] = remote.order("mine").get("height")
    if form == "json":
        print_json(pinned)
    else:
        where = f" in block {pinned['height']}" if mine else ""
        print_line(f"pinned as {one_line(str(pinned['pinId']))}{where}")
    return Exit.DONE


@click.command("import")
@click.option("--indexer", required=True, metavar="URL", help="The MAN indexer to read from.")
@click.option(
    "--transactions",
    default="",
    metavar="URL",
    help="Where raw transactions are: holds every byte of a pin against the chain.",
)
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="A private network (CIDR) that the URLs may lead to; 127.0.0.0/8 for this machine.",
)
@store_option
@now_option
@format_option
def import_(
    indexer: str,
    transactions: str,
    networks: tuple[str, ...],
    database: str | None,
    moment: str | None,
    form: str,
) -> int:
    """Store the receipts that are pinned on a chain, and follow what became of known pins.

    Pins that are no receipts are told with their codes. Exit code 5 when something could not be
    read: what is missing is named.
    """
    from refold.cli.options import open_database
    from refold.coverage.indexer import import_receipts
    from refold.kernel.fetch import GuardedClient
    from refold.kernel.policy import FetchPolicy
    from refold.metaid.man.client import ManClient
    from refold.metaid.rawtx import RawTxs

    with ExitStack() as stack:
        transport = stack.enter_context(GuardedClient(FetchPolicy(allowed_networks=networks)))
        man = ManClient(transport, indexer)
        txs = RawTxs(transport, transactions) if transactions else None
        opened = stack.enter_context(open_database(database))
        say = stack.enter_context(status_line())
        imported = import_receipts(
            opened,
            man,
            clock(moment_of(moment)),
            txs=txs,
            on_lot=lambda pins: say(f"{pins:,} pins read"),
        )
    with whoever_reads():
        if form == "json":
            print_json(imported)
        else:
            _print_imported(imported)
    if not imported.is_complete:
        end = imported.walk.end
        why = end.message or f"{imported.missing} pins could not be read ({end.reason})"
        note("import-incomplete", why)
        return INCOMPLETE
    return Exit.DONE


def _drafted(receipt: str, moment: str | None, form: str) -> Draft | None:
    """Give the pin of a file; None where its record is not valid, which is said."""
    from refold.coverage import validate
    from refold.coverage.chainpin import draft as draft_of

    validation = validate(read_bounded(receipt), clock(moment_of(moment)))
    if not validation.is_valid:
        print_problems(validation.errors, as_json=form == "json")
        return None
    return draft_of(validation)


def _printable(text: str) -> str:
    """Give JSON with what no terminal should get in escapes: another spelling of the same value."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def _print_imported(imported: Imported) -> None:
    print_line(
        f"{imported.new:,} new, {imported.again:,} again by another pin, {imported.moved:,} moved, "
        f"{imported.vanished:,} vanished, {imported.known:,} known, {imported.refused:,} refused, "
        f"{imported.refused_before:,} refused before, {imported.missing:,} missing"
    )
    for refused in imported.refusals:
        codes = ", ".join(dict.fromkeys(problem.code for problem in refused.errors))
        place = "the mempool" if refused.height is None else f"block {refused.height:,}"
        print_line(f"  refused {one_line(refused.pin_id)} in {place}: {one_line(codes)}")
    for missing in imported.misses:
        said = f"{missing.code}, {missing.message}"
        print_line(f"  missing {one_line(missing.id)}: {one_line(said)}")
