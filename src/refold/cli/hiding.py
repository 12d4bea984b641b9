"""`refold agentpedia hide`, `unhide` and `hidden`: what the operator withholds, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import Exit, one_line

if TYPE_CHECKING:
    from refold.agentpedia.store.hidden import Kind

PAGE = 500

kind_argument = click.argument("kind", type=click.Choice(["pin", "hash", "editor"]))


@click.command()
@kind_argument
@click.argument("name")
@click.option("--reason", required=True, help="Why, in a sentence: it is public.")
@database_option
@format_option
def hide(kind: Kind, name: str, reason: str, database: str | None, form: str) -> None:
    """Withhold texts from answers: those of a pin, those with a hash, or all of an editor.

    No digest changes, and nothing is deleted. Running servers follow at once.
    """
    from refold.agentpedia.store.hidden import SqlHidden
    from refold.kernel.utc import now

    with open_database(database, durability="full") as opened, opened.write() as connection:
        is_new = SqlHidden(connection).hide(kind, name, reason, int(now().timestamp()))
    if form == "json":
        print_json({"kind": kind, "name": name, "isNew": is_new})
    else:
        print_line(f"{kind} {name} is hidden" + ("" if is_new else ", with a new reason"))


@click.command()
@kind_argument
@click.argument("name")
@database_option
@format_option
def unhide(kind: Kind, name: str, database: str | None, form: str) -> int:
    """Show texts again. Exit code 1 when they were not hidden."""
    from refold.agentpedia.store.hidden import SqlHidden

    with open_database(database, durability="full") as opened, opened.write() as connection:
        was_hidden = SqlHidden(connection).unhide(kind, name)
    return told_unhidden(f"{kind} {name}", {"kind": kind, "name": name}, form, was=was_hidden)


def told_unhidden(shown: str, members: dict[str, str], form: str, *, was: bool) -> int:
    """Print that something is shown again, `was` hidden or not; give the exit code."""
    if form == "json":
        print_json({**members, "wasHidden": was})
    else:
        print_line(f"{one_line(shown)} {'is shown again' if was else 'was not hidden'}")
    return Exit.DONE if was else Exit.NO


@click.command()
@database_option
@format_option
def hidden(database: str | None, form: str) -> None:
    """List what is withheld, and why: the same list is public at /v1/agentpedia/hidden."""
    from refold.agentpedia.queries.records import hidden_item
    from refold.agentpedia.store.hidden import HiddenRow, SqlHidden

    rows: list[HiddenRow] = []
    with open_database(database, readonly=True) as opened, opened.read() as connection:
        page = SqlHidden(connection).page(PAGE)
        while page:
            rows += page
            page = SqlHidden(connection).page(PAGE, (page[-1].kind, page[-1].name))
    items = [hidden_item(row) for row in rows]
    if form == "json":
        print_json({"items": msgspec.to_builtins(items)})
        return
    for item in items:
        print_line(f"{item.kind} {item.name}  since {item.since}: {one_line(item.reason)}")
    print_line(f"{len(items):,} hidden")
