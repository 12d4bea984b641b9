"""`refold agentpedia registry`: documents for the genesis issuer to pin (PRD §4.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from refold.cli.options import (
    genesis_of,
    genesis_option,
    profile_of,
    rules_option,
    schema_option,
)
from refold.cli.output import format_option, print_json, print_line, read_input
from refold.kernel.errors import UsageError

if TYPE_CHECKING:
    from refold.agentpedia.registry import PinnedIndex, RegistryDocuments


@click.group()
def registry() -> None:
    """Derive the registry documents from a fold; no fold ever reads them."""


@registry.command()
@click.argument("file", default="-")
@rules_option
@schema_option
@genesis_option
@click.option("--previous", metavar="FILE", help="The last index that was pinned.")
@click.option("--previous-pin", metavar="PIN", help="The pin id of --previous.")
@click.option("--index-pin", metavar="PIN", help="The pin id of this index, once it is pinned.")
@format_option
def export(
    file: str,
    rules: str | None,
    no_schema: bool,
    genesis: str | None,
    previous: str | None,
    previous_pin: str | None,
    index_pin: str | None,
    form: str,
) -> None:
    """Write the registry index and root of the stream in FILE.

    Pin the index first; export again with --index-pin, and pin the root.
    """
    from refold.agentpedia.registry import registry_documents
    from refold.agentpedia.replay import fold_stream, prepare

    profile = profile_of(rules)
    stream = prepare(
        read_input(file), profile, schema=not no_schema, genesis_pin=genesis_of(genesis)
    )
    fold = fold_stream(stream, profile)
    documents = registry_documents(
        fold.view(),
        stream.events,
        previous=_pinned(previous, previous_pin),
        index_pin=index_pin,
    )
    if form == "json":
        print_json(documents)
    else:
        _print_documents(documents)


def _pinned(file: str | None, pin: str | None) -> PinnedIndex | None:
    from refold.agentpedia.registry import PinnedIndex, read_index

    if file is None and pin is None:
        return None
    if file is None or pin is None:
        raise UsageError(
            "registry-previous-half",
            "the last index takes both its file and its pin id",
            "give --previous and --previous-pin together",
        )
    return PinnedIndex(pin, read_index(read_input(file)))


def _print_documents(documents: RegistryDocuments) -> None:
    """Print what the documents cover, then the exact bodies to pin."""
    from refold.agentpedia.registry import payload_bytes

    index, root = documents.index, documents.root
    print_line(
        f"index {index.sequence}: {len(index.events):,} editor events of the blocks"
        f" {index.from_height:,} to {index.through_height:,}, {index.remaining:,} remain"
    )
    print_line(f"root: {root.active:,} active editors, index digest {root.index_digest}")
    print_line("registry-index " + payload_bytes(index).decode())
    if root.index is None:
        print_line("pin the index first, then export again with --index-pin for the root")
    else:
        print_line("registry-root " + payload_bytes(root).decode())
