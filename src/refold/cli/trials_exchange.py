"""`refold trials export`, `import`, `verify`: archives of nodes, and what of them is proven."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack, contextmanager
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
    read_input,
    standard_input,
)
from refold.kernel.errors import Exit, InputError, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from refold.db import Database
    from refold.trials.archive.writing import Begun
    from refold.trials.checkpoint import LogKey
    from refold.trials.exchange.importing import Imported, Progress
    from refold.trials.exchange.restoring import Own

HEAD = b'{"type":"head",'
KEY_HELP = "Key of the node's log, NAME+ID+KEY as its operator gives it. Never take it from FILE."


@click.command("export")
@click.argument("file")
@database_option
@format_option
def export_(file: str, database: str | None, form: str) -> None:
    """Write the whole log to FILE (- for standard output) as an archive: JSON lines.

    It is one state of the log, and the node may be running. Where FILE is an archive that was cut
    off, it is finished; one that is whole is not written over. What is in it is public: messages,
    keys with their names, what the operator did. No address of anybody is.
    """
    from refold.trials.exchange.exporting import export_archive

    started = time.monotonic()
    with (
        open_database(database, readonly=True) as opened,
        opened.read() as connection,
        _written(file) as (out, begun),
        progress_bar("messages") as step,
    ):
        done = export_archive(connection, out.write, begun, step)
    if file != "-":
        said = f"{done.size:,} messages of {done.origin}, {done.removed:,} without text"
        _say(form, done, f"{said}, are in {file}, sha256 {done.sha256}", done.size, started)


@click.command("import")
@click.argument("file")
@click.option("--key", "verifier", help=f"{KEY_HELP} Default: this node's own.")
@database_option
@format_option
def import_(file: str, verifier: str | None, database: str | None, form: str) -> int:
    """Take the archive in FILE (- for standard input) into the database.

    Everything is verified first, a thousand messages at a time: what is written is proven, also
    when the rest is refused or never comes. The same command goes on where it stopped.

    Messages of another node are kept and shown under its name and their own ids; they admit no key
    and count nowhere. An archive of this node restores its log, with ids and indexes: that takes
    the node's key, and no server may run meanwhile.

    Exit codes: 0 all of it is here; 2 wrong usage, as no key; 4 the database; 10 damaged, 11 cut
    off, 12 a size or id that is none, 13 another log's key, 14 a wrong signature or digest, 15 not
    what the log's key signed, 16 breaks a rule of this node, 17 tells otherwise what is here.
    """

    def job() -> None:
        started = time.monotonic()
        key, own = _trusted(verifier)
        with (
            _lines(file) as lines,
            open_database(database, durability="full") as opened,
            progress_bar("messages") as step,
        ):
            done = _imported(opened, lines, key, own, step)
        what = "restored" if done.own else f"kept under {done.origin}"
        said = f"{done.size:,} messages are {what}, {done.added:,} of them new"
        _say(form, done, f"{said}; root {done.root}, sha256 {done.sha256}", done.size, started)

    return _coded(form, job)


@click.command()
@click.argument("file")
@click.option("--key", "verifier", required=True, help=KEY_HELP)
@click.option("--older", metavar="NOTE", help="An older checkpoint, from whoever kept one.")
@click.option(
    "--consistency",
    metavar="PROOF",
    help="What the node answers to /v1/public/log/consistency, from the older size to this one.",
)
@format_option
def verify(file: str, verifier: str, older: str | None, consistency: str | None, form: str) -> int:
    """Verify FILE (- for standard input) offline: an archive, the record of a key, a checkpoint.

    It takes the key of the log from you, since whoever forges a file forges its key too, and says
    what is not proven. With --older and --consistency a checkpoint is shown to be of a log that
    only grew since the older one.

    Exit codes: 0 verified; 2 wrong usage, as no key; 10 damaged, 11 cut off, 12 a size, an id or an
    index that is none, 13 not signed by this key, 14 a message with a wrong signature or digest, 15
    not what the log's key signed.
    """

    def job() -> None:
        from refold.trials.archive.claims import NOT_PROVEN, PROVEN
        from refold.trials.archive.verifying import verified

        if (older is None) != (consistency is None):
            raise UsageError("usage", "--older needs --consistency", "give both, or none")
        started = time.monotonic()
        growth = None
        if older is not None and consistency is not None:
            growth = read_input(older), read_input(consistency)
        with _opened(file) as stream:
            done = verified(stream.readline, stream.read, _key(verifier), growth)
        if growth is not None and done.kind != "checkpoint":
            raise UsageError("usage", f"--older is of no use with an {done.kind}", "leave it out")
        if form == "json":
            shown = {"verified": True, **msgspec.to_builtins(done)}
            print_json({**shown, "proven": PROVEN[done.kind], "notProven": NOT_PROVEN[done.kind]})
            return
        print_line(f"{done.kind} of {one_line(done.origin)}: verified in {_since(started):.1f} s")
        for name, value in done.shown():
            print_line(f"  {name}: {one_line(value)}")
        print_line(f"Proven: {PROVEN[done.kind]}")
        for text in NOT_PROVEN[done.kind]:
            print_line(f"Not proven: {text}")

    return _coded(form, job)


def _coded(form: str, job: Callable[[], None]) -> int:
    """Do a job; what is wrong with an archive ends in an exit code of its own."""
    from refold.trials.archive.codes import WRONGS, exit_of

    try:
        job()
    except InputError as error:
        if error.code not in WRONGS:
            raise
        print_problems(error.errors, as_json=form == "json")
        return exit_of(error)
    return Exit.DONE


def _key(verifier: str) -> LogKey:
    from refold.trials.checkpoint import LogKey

    try:
        return LogKey.parse(verifier)
    except InputError as error:
        raise UsageError(error.code, error.message, error.hint) from None


def _trusted(verifier: str | None) -> tuple[LogKey, Own | None]:
    """Give the key that an import begins with, and this node if it is its own."""
    from refold.cli.settings import current_settings
    from refold.kernel.seedfile import read_seed
    from refold.serving.settings import ORIGIN
    from refold.trials.checkpoint import Signer, log_name
    from refold.trials.exchange.restoring import Own
    from refold.trials.node import node_of
    from refold.trials.settings import KEY
    from refold.trials.store.indexes import Indexes

    settings = current_settings()
    key = None if verifier is None else _key(verifier)
    name = log_name(settings[ORIGIN]) if settings[ORIGIN] else None
    if key is not None and key.name != name:
        return key, None
    seed = None if name is None else read_seed(Path(settings[KEY]))
    if name is None or seed is None:
        raise UsageError(
            "import-key",
            "there is no key to verify it by",
            "give --key, or run it where the node is",
        )
    node = node_of(settings, settings[ORIGIN])
    signer = Signer(name, seed)
    if key is not None and key.public != signer.key.public:
        raise UsageError("log-key", "--key is not the key of this node", "leave it out")
    return signer.key, Own(node, signer, (Indexes(node.sites).fold,))


def _imported(
    opened: Database, lines: Iterator[bytes], key: LogKey, own: Own | None, step: Progress
) -> Imported:
    from refold.kernel.utc import now
    from refold.trials.exchange.importing import import_foreign
    from refold.trials.exchange.restoring import restore

    moment = int(now().timestamp())
    if own is None:
        return import_foreign(opened, lines, key, moment, step)
    return restore(opened, lines, own, moment, step)


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """Give a file to read, or standard input for `-`. Raises UsageError `file-unreadable`."""
    if file == "-":
        yield standard_input()
        return
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(Path(file).open("rb"))
        except OSError as error:
            raise UsageError(
                "file-unreadable", f"{file}: {error.strerror}", "name a file, or -"
            ) from error
        yield opened


@contextmanager
def _lines(file: str) -> Iterator[Iterator[bytes]]:
    from refold.trials.archive.lines import lines_of

    with _opened(file) as stream:
        yield lines_of(stream.readline)


@contextmanager
def _written(file: str) -> Iterator[tuple[BinaryIO, Begun | None]]:
    """Give a file to write, and how far it got before. Raises UsageError `file-…`."""
    from refold.trials.archive.lines import lines_of
    from refold.trials.archive.writing import begun_archive

    if file == "-":
        yield sys.stdout.buffer, None
        return
    try:
        with Path(file).open("r+b" if Path(file).exists() else "x+b") as out:
            try:
                begun = begun_archive(lines_of(out.readline))
            except InputError as error:
                raise UsageError(
                    "file-exists", f"{file} is no archive: {error}", "name a new file"
                ) from None
            out.seek(0)
            # A writer that was killed in the first line leaves the beginning of it.
            if begun is None and not HEAD.startswith(out.read(len(HEAD))):
                raise UsageError("file-exists", f"{file} is no archive", "name a new file")
            if begun is not None and begun.is_over:
                raise UsageError("file-exists", f"{file} is whole already", "name a new file")
            out.seek(0 if begun is None else begun.offset)
            out.truncate()
            yield out, begun
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise UsageError(
            "file-unwritable", f"{file}: {error.strerror or error}", "check the folder and its room"
        ) from error


def _say(form: str, done: msgspec.Struct, said: str, count: int, started: float) -> None:
    """Print what was done, and how fast."""
    seconds = _since(started)
    if form == "json":
        print_json({**msgspec.to_builtins(done), "seconds": round(seconds, 3)})
        return
    print_line(f"{said}; {seconds:.1f} s, {count / max(seconds, 1e-9):,.0f} messages/s")


def _since(started: float) -> float:
    return time.monotonic() - started
