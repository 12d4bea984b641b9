"""`refold trials check`, `rotate`: the log of a node verified whole, and its key changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line, read_input
from refold.cli.settings import current_settings
from refold.kernel.errors import Exit, InputError, Problem, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


@click.command()
@click.option(
    "--checkpoint",
    "note_file",
    metavar="FILE",
    help="A checkpoint that was kept elsewhere (- for standard input): it must be of this log.",
)
@click.option("--no-signatures", is_flag=True, help="Leave out the posters' signatures: quicker.")
@database_option
@format_option
def check(*, note_file: str | None, no_signatures: bool, database: str | None, form: str) -> int:
    """Verify the whole log from its messages: ids, times, texts, signatures, tree, checkpoints.

    Nothing is changed, and a node may be running. Only a checkpoint from elsewhere shows that no
    older state, and no other history, was put in place of the log. Exit code 1 when anything is
    wrong.
    """
    from refold.trials.log.verifying import verify_log

    started = time.monotonic()
    note = None if note_file is None else _text(note_file)
    with open_database(database, readonly=True) as opened, opened.read() as connection:
        report = verify_log(connection, signatures=not no_signatures)
        problems = [*report.problems, *(() if note is None else _against(connection, note))]
    if form == "json":
        print_json({**msgspec.to_builtins(report), "problems": msgspec.to_builtins(problems)})
    else:
        for each in problems:
            print_line(one_line(f"{each.code}: {each.message}"))
        print_line(
            f"{report.size:,} messages, {report.removed:,} without text, {report.checkpoints:,}"
            f" checkpoints, {report.keys} keys; root {report.root};"
            f" {len(problems) or 'no'} problems; {time.monotonic() - started:.1f} s"
        )
    return Exit.NO if problems else Exit.DONE


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@database_option
@format_option
def rotate(file: Path, database: str | None, form: str) -> None:
    """Let the node's key (trials_key) give way to the one in FILE, which is made if need be.

    Both sign a statement that names size and root of the log. A node that runs takes no posts from
    then on; set trials_key to FILE and start it again. Keep the old key: it may not come back, and
    proves what it signed. Rotating again after an interruption does no harm.
    """
    from refold.kernel.keys import public_of
    from refold.kernel.seedfile import new_seed, read_seed
    from refold.serving.settings import ORIGIN
    from refold.trials.checkpoint import LogKey, Signer, log_name
    from refold.trials.log.keys import rotate as rotate_log
    from refold.trials.settings import KEY
    from refold.trials.store.tree import Tree

    settings = current_settings(database=database)
    name = log_name(settings[ORIGIN])
    old = read_seed(Path(settings[KEY]))
    if old is None:
        raise UsageError("key-file", f"{settings[KEY]} is not there", "set trials_key")
    with open_database(database, readonly=True) as opened, opened.read() as connection:
        if not Tree(connection).keys():
            raise UsageError("log-missing", "the database has no log", "start the node once")
    new = read_seed(file) or new_seed(file)
    with open_database(database, durability="full") as opened:
        row = rotate_log(opened, Signer(name, old), Signer(name, new), int(time.time()))
    verifier = LogKey(name, public_of(new)).verifier
    if form == "json":
        print_json({"key": str(file), "verifier": verifier, "size": row.since_size})
        return
    print_line(f"from {row.since_size:,} messages on, checkpoints are signed by {verifier}")
    print_line(f"set trials_key to {file}, and start the node again")


def _text(file: str) -> str:
    try:
        return read_input(file).decode()
    except UnicodeDecodeError as error:
        raise InputError("note-form", f"{file} is no signed note", "give it as served") from error


def _against(connection: Connection, note: str) -> Iterator[Problem]:
    """Give what is wrong if the log does not begin with what a checkpoint says.

    Raises InputError for what is no checkpoint by a key of this log.
    """
    from refold.trials.checkpoint import read_checkpoint
    from refold.trials.log.keys import known_keys
    from refold.trials.store.tree import Tree

    tree = Tree(connection)
    said = read_checkpoint(note, known_keys(tree.keys()))
    size = tree.size()
    hint = "restore the newest backup; keep the checkpoint"
    if said.size > size:
        text = f"the checkpoint is of {said.size} messages, the log has {size}"
        yield Problem("log-short", text, hint)
    elif tree.root(said.size) != said.root:
        text = f"the first {said.size} messages are not those of the checkpoint"
        yield Problem("log-root", text, hint)
