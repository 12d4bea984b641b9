"""The root command, and the one place where errors become lines and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

import refold
from refold.cli.output import print_problems
from refold.kernel.errors import Exit, Problem, RefoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "agentpedia": ("refold.cli.agentpedia", "Fold, check and explain the encyclopedia of bots."),
    "settings": ("refold.cli.settings", "Print every setting with its source."),
}
"""Commands, with the module that is imported only when its command is used."""


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called: start-up stays short."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name][0]).group
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
    read, 130 interrupted.
    """


def main() -> None:
    """Run the command line and end the process with a code of `refold.kernel.errors.Exit`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code; what is wrong goes to standard error as lines."""
    as_json = "--format=json" in arguments or "--format json" in " ".join(arguments)
    try:
        code = root.main(list(arguments), standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        print_problems([Problem("interrupted", "stopped before the end")], as_json=as_json)
        return Exit.INTERRUPTED
    except RefoldError as error:
        print_problems(error.errors, as_json=as_json)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output left, as `head` does: nothing is wrong, and nobody is there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    return code if isinstance(code, int) else Exit.DONE
