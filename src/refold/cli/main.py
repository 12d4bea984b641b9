"""The root command, and the one place where errors become lines and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

import refold
from refold.cli.output import print_problems
from refold.kernel.errors import Exit, Problem, RefoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "agentpedia": ("refold.cli.agentpedia", "Fold, check and explain the encyclopedia of bots."),
    "backup": ("refold.cli.backup", "Write all that is stored to one file."),
    "coverage": ("refold.cli.coverage", "Build and verify receipts of what a search found."),
    "demo": ("refold.cli.demo", "Play, follow and serve a made-up wiki on this machine."),
    "devnet": ("refold.cli.devnet", "Run a local chain and indexer."),
    "mcp": ("refold.cli.serve", "Give agents tools on standard input and output."),
    "metaid": ("refold.cli.metaid", "Read transactions and check who wrote a pin."),
    "restore": ("refold.cli.backup", "Fill an empty database from a backup."),
    "serve": ("refold.cli.serve", "Serve the parts over HTTP."),
    "settings": ("refold.cli.settings", "Print every setting with its source."),
    "trials": ("refold.cli.trials", "Run a node of cold trials, and post to one."),
}
"""Commands, with the module that is imported only when its command is used.

The command stands there under its name, or as `group`.
"""


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called: start-up stays short."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(_COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, cmd_name, None) or module.group
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx  # the help of the groups is here, so that showing it imports none of them
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(_COMMANDS.items())])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(refold.__version__, prog_name="refold")
def root() -> None:
    """Records that agents make and anyone can re-check.

    Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 invalid input, 4 a source cannot be
    read, 70 a defect of refold, 130 interrupted.
    """


def main() -> None:
    """Run the command line and end the process with a code of `refold.kernel.errors.Exit`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: there is nobody to tell
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (stays)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals that know few characters
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code; what is wrong goes to standard error as lines."""
    as_json = "--format=json" in arguments or "--format json" in " ".join(arguments)
    code: int = Exit.DONE
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except BrokenPipeError:
        _drop_output()  # the reader left, as `head` does: nothing is wrong, the answer stays
        return code
    except (click.ClickException, click.Abort, KeyboardInterrupt, OSError, RefoldError) as error:
        problems, code = _problems(error)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        # Whatever input may provoke, a command answers with a line and a code of its own.
        problems, code = [_defect(error)], Exit.INTERNAL
    else:
        return code
    print_problems(problems, as_json=as_json)
    return code


def _invoke(arguments: Sequence[str]) -> int:
    """Run one command without click's own ways with Ctrl-C and broken pipes, which end in exit 1.

    Commands give their exit code, or None when they are done.
    """
    try:
        with root.make_context("refold", list(arguments)) as context:
            code = root.invoke(context)
    except click.exceptions.Exit as done:  # --help and --version
        return done.exit_code
    return code if isinstance(code, int) else Exit.DONE


def _problems(error: BaseException) -> tuple[Sequence[Problem], Exit]:
    """Give what went wrong as problems, and the exit code for it."""
    if isinstance(error, RefoldError):
        return error.errors, error.exit_code
    if isinstance(error, click.ClickException):
        context = error.ctx if isinstance(error, click.UsageError) else None
        path = "refold" if context is None else context.command_path
        message = error.format_message().removesuffix(".")
        return [Problem("usage", message, f"see `{path} --help`")], Exit.USAGE
    if isinstance(error, OSError):  # what commands read says so itself, so this is their output
        _drop_output()
        message = f"cannot write the result: {error.strerror or error}"
        return [Problem("output-unwritable", message, "check the disk")], Exit.USAGE
    return [Problem("interrupted", "stopped before the end")], Exit.INTERRUPTED


def _defect(error: Exception) -> Problem:
    return Problem(
        "internal",
        f"{type(error).__name__}: {error}",
        "a defect of refold, please report it; PYTHONDEVMODE=1 shows where",
    )


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that the end of the process does not try again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
