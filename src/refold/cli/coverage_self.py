"""`refold coverage self`: a receipt about a node of refold, over its own public lists."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from refold.cli.coverage_build import OPERATORS, leaf_of
from refold.cli.coverage_report import note, whoever_reads
from refold.cli.coverage_walks import (
    Seconds,
    WalkOptions,
    budgets_of,
    clock,
    store_option,
    transport_of,
    walk_options,
    walk_progress,
)
from refold.cli.output import print_line
from refold.kernel.errors import SourceError, UsageError, one_line

if TYPE_CHECKING:
    from refold.coverage import Plan
    from refold.coverage.walk.asking import Transport

DESCRIPTION = "/openapi.json"
DOCUMENT_SECONDS = 30.0
"""For the node's description."""
EXITS = {"VERIFIED": 0, "INVALID": 1, "REFUTED": 3, "STALE": 4, "INCONCLUSIVE": 5}
"""As `verify`; a test compares."""


@click.command("self")
@click.argument("url", required=False)
@click.option("--contains", "text", metavar="TEXT", help="Any text of any item contains TEXT.")
@click.option("--field", help="A dot path: only lists whose items have it.")
@click.option("--op", type=click.Choice(OPERATORS), default="eq", show_default=True)
@click.option("--value", help="With what the field is compared.")
@click.option("--case-fold", is_flag=True, help="Compare texts without regard to case.")
@click.option("--question", default="", help="The question, for people.")
@click.option("--valid-for", default="7d", show_default=True, help="As 30m, 12h, 7d.")
@click.option(
    "--as",
    "public",
    metavar="ORIGIN",
    help="The https origin that the receipt names; default: that of URL, with https.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="Default: standard output.")
@click.option("--settle", type=Seconds(), default=0.0, help="Wait between two passes.")
@click.option("--store", is_flag=True, help="Keep it in the database too, with its verdict.")
@store_option
@walk_options
def self_(
    url: str | None,
    text: str | None,
    field: str | None,
    op: str,
    value: str | None,
    question: str,
    valid_for: str,
    public: str | None,
    out: str | None,
    settle: float,
    database: str | None,
    *,
    case_fold: bool,
    store: bool,
    walking: WalkOptions,
) -> int:
    """Write a receipt over all public lists of the node at URL, and verify it.

    Without URL it is the node of the settings. Exit codes are those of `verify`.
    """
    from refold.coverage import build, render, verify

    if (text is None) == (field is None) or (field is None) != (value is None):
        raise UsageError(
            "no-criterion", "nothing to look for", "give --contains TEXT, or --field and --value"
        )
    asked, named, walking = _reached(url, public, walking)
    with transport_of(walking) as transport, walk_progress() as progress:
        budgets = budgets_of(walking)
        built = build(
            _planned(
                _description(transport, named),
                named,
                field=field or "",
                match=None if field is None else leaf_of(field, op, value or ""),
                text=text or "",
                options={"question": question, "valid_for": valid_for},
                case_fold=case_fold,
            ),
            transport,
            clock(walking.moment),
            settle=lambda: time.sleep(settle),
            budgets=budgets,
            progress=progress,
        )
        report = verify(
            built.data,
            transport,
            clock(walking.moment),
            budgets=budgets,
            origins=walking.origins,
            progress=progress,
        )
    if out is not None:
        Path(out).write_bytes(built.data)
    if store:
        from refold.cli.options import open_database
        from refold.coverage.jobs.keeping import keep
        from refold.coverage.store import Origin

        with open_database(database, durability="full") as opened:
            keep(opened, built.data, report, Origin("own"))
    with whoever_reads():
        if out is None:
            sys.stdout.buffer.write(built.data)
        else:
            sys.stdout.buffer.write(render(report).encode(errors="backslashreplace"))
            print_line(f"  written to {one_line(out)}")
            if asked != named:
                print_line(f"  to walk it again: --map-origin {named}={asked}")
    if report.coverage != "FULL":
        note("coverage-too-low", f"a list of {asked} was read to no sure end")
    return EXITS[report.judgement]


def _reached(
    url: str | None, public: str | None, walking: WalkOptions
) -> tuple[str, str, WalkOptions]:
    """Give where the node is asked, the https origin that names it, and how it is reached."""
    from refold.kernel.addresses import parse_url

    asked = parse_url(url or _of_settings())
    named = parse_url(public).origin if public else asked.origin.replace("http:", "https:", 1)
    if not named.startswith("https://"):
        raise UsageError("own-origin", f"--as {public} is no https origin", "give https://HOST")
    if named == asked.origin:
        return asked.origin, named, walking
    origins = {**walking.origins, named: asked.origin}
    return asked.origin, named, msgspec.structs.replace(walking, origins=origins)


def _of_settings() -> str:
    """Give the address of the node of the settings: where it listens, or how others reach it."""
    from refold.cli.settings import current_settings
    from refold.serving.settings import HOST, ORIGIN, PORT, checked_origin

    settings = current_settings()
    host = settings[HOST]
    shown = f"[{host}]" if ":" in host else host
    return checked_origin(settings[ORIGIN], host, f"http://{shown}:{settings[PORT]}")


def _description(transport: Transport, origin: str) -> bytes:
    """Give the node's OpenAPI document. Raises SourceError."""
    from refold.coverage.ownlists import MAX_DOCUMENT_BYTES
    from refold.coverage.walk.asking import Answer, Ask

    ask = Ask(origin + DESCRIPTION, MAX_DOCUMENT_BYTES, DOCUMENT_SECONDS)
    reply = transport.ask((ask,)).replies[0]
    if not isinstance(reply, Answer):
        raise SourceError(reply.code, reply.message, "name a node of refold that answers")
    if reply.status != 200:
        raise SourceError(
            "own-description",
            f"{origin}{DESCRIPTION}: status {reply.status}",
            "name a node of refold",
        )
    return reply.body


def _planned(
    document: bytes,
    origin: str,
    *,
    field: str,
    match: dict[str, Any] | None,
    text: str,
    options: dict[str, str],
    case_fold: bool,
) -> Plan:
    from refold.coverage.ownlists import (
        containing,
        plan_of_lists,
        public_lists,
        unasked,
        with_field,
    )

    every = public_lists(document)
    lists = with_field(field, every)
    canon: dict[str, Any] = {"match": match or containing(text, lists)}
    if case_fold:
        canon["caseFold"] = True
    left_out = len(every.lists) - len(lists.lists)
    return plan_of_lists(
        lists,
        origin,
        canon,
        left_out=left_out,
        fields_left_out=() if match else unasked(lists),
        **options,
    )
