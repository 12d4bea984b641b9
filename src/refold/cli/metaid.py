"""`refold metaid`: transactions, authors, and what indexers list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.output import format_option, print_json, print_line, read_input
from refold.cli.walk import walk
from refold.kernel.errors import Exit, InputError, one_line

if TYPE_CHECKING:
    from refold.metaid.author import AuthorCheck
    from refold.metaid.decoded import DecodedTx


@click.group("metaid")
def group() -> None:
    """Read transactions, check who wrote a pin, walk indexers."""


group.add_command(walk)


@group.group()
def tx() -> None:
    """Read raw MVC transactions: FILE holds one in hexadecimal."""


@tx.command()
@click.argument("file", default="-")
@format_option
def decode(file: str, form: str) -> None:
    """Lay out the transaction in FILE: ids, inputs, outputs, and the pin it carries."""
    from refold.metaid.decoded import decode_tx

    decoded = decode_tx(_raw(file))
    if form == "json":
        print_json(decoded)
    else:
        _print_tx(decoded)


@tx.command()
@click.argument("claimed", metavar="GLOBALMETAID")
@click.argument("file", default="-")
@click.option(
    "--parent",
    "parents",
    multiple=True,
    metavar="FILE",
    help="A transaction whose outputs this one spends; without them no signature can be checked.",
)
@click.option("--pin", "pin_id", metavar="PIN", help="The transaction must be that of this pin.")
@format_option
def author(claimed: str, file: str, parents: tuple[str, ...], pin_id: str | None, form: str) -> int:
    """Check that the key of GLOBALMETAID wrote the pin in the transaction in FILE.

    Exit code 0 when that is proven, 1 when it is not: indexers name the first output's address,
    which anyone can forge.
    """
    from refold.metaid.author import check_author, outputs_of

    lookup = outputs_of(map(_raw, parents)) if parents else None
    check = check_author(_raw(file), claimed, lookup, pin_id=pin_id)
    if form == "json":
        print_json(check)
    else:
        _print_check(check)
    return Exit.DONE if check.verdict == "proven" else Exit.NO


def _raw(file: str) -> bytes:
    text = read_input(file)
    try:
        return bytes.fromhex(text.decode("ascii"))
    except ValueError as error:
        raise InputError(
            "tx-no-hex", f"{file} holds no hexadecimal", "give the raw transaction in hexadecimal"
        ) from error


def _print_tx(decoded: DecodedTx) -> None:
    print_line(f"txid {decoded.txid}")
    if decoded.plain_txid != decoded.txid:
        print_line(f"plain double hash {decoded.plain_txid} (not the id of this version)")
    print_line(f"version {decoded.version}, {decoded.size:,} bytes, lock time {decoded.lock_time}")
    for index, spent in enumerate(decoded.inputs):
        shown = "no key shown" if spent.public_key is None else f"key {spent.public_key}"
        print_line(f"input {index}: spends {spent.spends}, {shown}")
    for index, output in enumerate(decoded.outputs):
        print_line(f"output {index}: {output.value:,} satoshi to {output.address or 'no address'}")
    if decoded.pin is None:
        print_line("no pin")
        return
    for name, value in msgspec.to_builtins(decoded.pin).items():
        if value is not None and name != "raw":
            print_line(f"pin {name}: {one_line(str(value))}")


def _print_check(check: AuthorCheck) -> None:
    """Print the verdict first, then what it rests on, then what was not checked."""
    from refold.metaid.author import REASONS

    print_line(f"{check.verdict}: {check.claimed} wrote {check.pin_id}")
    for reason in check.reasons:
        print_line(f"  {reason}: {REASONS[reason]}")
    for signer in check.inputs:
        shown = signer.signer or "no key"
        covers = "covers the pin" if signer.covers_pin else "does not cover the pin"
        print_line(f"  input {signer.index}: {shown}, signature {signer.signature}, {covers}")
    print_line(f"  an indexer would name {check.named_by_output or 'nobody'}")
    print_line(f"  not checked: {'; '.join(check.not_checked)}")
