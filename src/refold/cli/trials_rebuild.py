"""`refold trials rebuild`: the indexes of a node, folded from its log anew, or compared with it."""

from __future__ import annotations

import time

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import Exit, one_line


@click.command()
@click.option("--check", is_flag=True, help="Change nothing: tell which rows are not as folded.")
@database_option
@format_option
def rebuild(*, check: bool, database: str | None, form: str) -> int:
    """Fold the log from scratch, and put that in place of the indexes.

    Trials, services, blockers, records and home follow from the log; posts have to wait meanwhile,
    so stop the node first. After a change of trials_sites it puts targets under other services.
    With --check a node may be running; exit code 1 when a row is not what the log says.
    """
    from refold.cli.settings import current_settings
    from refold.serving.settings import ORIGIN
    from refold.trials.node import node_of
    from refold.trials.store.indexes import Indexes

    settings = current_settings(database=database)
    indexes = Indexes(node_of(settings, settings[ORIGIN]).sites)
    started = time.monotonic()
    if check:
        with open_database(database, readonly=True) as opened, opened.read() as connection:
            differences = indexes.check(connection)
        if form == "json":
            print_json({"differences": [msgspec.structs.asdict(each) for each in differences]})
        else:
            for each in differences:
                text = f"{each.table} {each.key}: kept {each.kept or 'none'}, folded "
                print_line(one_line(f"{text}{each.folded or 'none'}"))
            said = f"{len(differences)} differences" if differences else "the indexes are whole"
            print_line(f"{said}; {time.monotonic() - started:.1f} s")
        return Exit.NO if differences else Exit.DONE
    with open_database(database, durability="full") as opened, opened.write() as connection:
        rows = indexes.rebuild(connection)
    if form == "json":
        print_json({"rows": rows})
    else:
        print_line(f"{rows:,} rows written in {time.monotonic() - started:.1f} s")
    return Exit.DONE
