"""`refold agentpedia import` and `export`: pins as JSON lines, into the database and out of it."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import (
    format_option,
    print_json,
    print_line,
    print_problems,
    progress_bar,
    standard_input,
)
from refold.kernel.errors import Exit, Problem, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from refold.metaid.pinfile import Exported, Imported

KIB = 1024

all_paths_option = click.option(
    "--all-paths", is_flag=True, help="Pins of every path, not of the encyclopedia's seven alone."
)


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@database_option
@all_paths_option
@format_option
def import_(files: tuple[str, ...], database: str | None, all_paths: bool, form: str) -> int:
    """Take the pins in each FILE (- for standard input), a JSON line each, into the database.

    Lines are rows of an indexer, as `refold metaid walk` and `export` write them. Lines that are no
    pins are named with their numbers, and the others are taken: exit code 3. To import the same
    again changes nothing.
    """
    from refold.agentpedia.event import PATHS
    from refold.metaid.pinfile import import_pins

    problems: list[Problem] = []
    with ExitStack() as stack:
        streams = [_opened(stack, file) for file in files]  # all, before anything is written
        opened = stack.enter_context(open_database(database))
        for file, stream in zip(files, streams, strict=True):
            started, size = time.monotonic(), _size(stream)
            with progress_bar(f"importing {one_line(file)}") as step:
                done = import_pins(
                    opened,
                    stream,
                    f"import:{Path(file).name}",
                    paths=() if all_paths else PATHS,
                    progress=_in_kib(step, size),
                )
            _print_imported(file, done, time.monotonic() - started, form)
            problems += _problems(file, done)
    if form == "text":
        print_line("the view is as it was: refold agentpedia sync folds what came, or check")
    if problems:
        sys.stdout.flush()
        print_problems(problems, as_json=form == "json")
    return Exit.INPUT if problems else Exit.DONE


@click.command()
@database_option
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: standard output."
)
@click.option("--force", is_flag=True, help="Write over FILE if it is there.")
@click.option("--confirmed", is_flag=True, help="Leave out pins that stand in no block.")
@all_paths_option
@format_option
def export(
    database: str | None,
    output: Path | None,
    force: bool,
    confirmed: bool,
    all_paths: bool,
    form: str,
) -> None:
    """Print the pins of the database as JSON lines that `import` and `replay` read.

    Those in blocks come first, in the total order, then the pending ones by id. FILE gets its name
    when it is whole and on the disk.
    """
    from refold.agentpedia.event import PATHS
    from refold.kernel.newfile import new_file
    from refold.metaid.pinfile import export_pins

    started = time.monotonic()
    paths = () if all_paths else PATHS
    with ExitStack() as stack:
        opened = stack.enter_context(open_database(database, readonly=True))
        file: BinaryIO = sys.stdout.buffer
        if output is not None:
            file = stack.enter_context(new_file(output, force=force))
        step = stack.enter_context(progress_bar("exporting"))
        done = export_pins(opened, file, paths=paths, pending=not confirmed, progress=step)
    if output is not None:
        _print_exported(output, done, time.monotonic() - started, form)


def _opened(stack: ExitStack, file: str) -> BinaryIO:
    if file == "-":
        return standard_input()
    try:
        return stack.enter_context(Path(file).open("rb"))
    except OSError as error:
        raise UsageError(
            "file-unreadable", f"{file}: {error.strerror}", "give a file, or - for standard input"
        ) from error


def _size(stream: BinaryIO) -> int:
    """Give how many bytes there are to read; 0 for a pipe."""
    return stream.seek(0, 2) - stream.seek(0) if stream.seekable() else 0


def _in_kib(step: Callable[[int, int], None], size: int) -> Callable[[int], None]:
    """Count in steps that are worth a bar when there are many of them."""
    return lambda read: step(read // KIB, size // KIB)


def _problems(file: str, done: Imported) -> Sequence[Problem]:
    """Give what was refused of a file, with its name, and how much of it is not named."""
    named = [
        msgspec.structs.replace(problem, message=f"{file}: {problem.message}")
        for problem in done.problems
    ]
    more = done.refused - len(named)
    if more:
        said = f"{file}: {more:,} more lines were refused"
        named.append(Problem("more-refused", said, "mend these first"))
    return named


def _print_imported(file: str, done: Imported, seconds: float, form: str) -> None:
    if form == "json":
        counts = msgspec.to_builtins(done)
        del counts["problems"]  # they go to standard error, as all that is wrong does
        print_json({"file": file, **counts, "seconds": round(seconds, 3)})
        return
    taken = done.new + done.moved + done.amended + done.same + done.conflict
    changed = f"{done.new:,} new, {done.moved:,} moved, {done.amended:,} amended"
    others = f"{done.same:,} the same, {done.conflict:,} in conflict, {done.refused:,} refused"
    print_line(f"{one_line(file)}: {changed}, {others}, {done.passed_over:,} of other paths")
    for one in done.disagreements:
        print_line(f"  line {one.line}: pin {one.pin} differs in {', '.join(one.differs)}")
    print_line(f"{taken:,} pins in {seconds:.1f} s, {taken / max(seconds, 0.001):,.0f} pins/s")


def _print_exported(output: Path, done: Exported, seconds: float, form: str) -> None:
    if form == "json":
        print_json({**msgspec.to_builtins(done), "seconds": round(seconds, 3)})
        return
    total = done.confirmed + done.pending
    rate = f"{total / max(seconds, 0.001):,.0f} pins/s"
    print_line(f"{done.confirmed:,} pins in blocks, {done.pending:,} pending: {done.bytes:,} bytes")
    print_line(f"{one_line(str(output))} is whole, in {seconds:.1f} s, {rate}")
