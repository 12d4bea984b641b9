"""What every command shares: reading its input, and printing results, errors and progress."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
import msgspec

from refold.kernel.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from refold.kernel.errors import Problem

FORMATS = ("text", "json")
PROGRESS_FROM = 50_000
"""Steps of work below which no progress bar is worth its flicker: about a quarter of a second."""

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print results and errors.",
)


def read_input(name: str) -> bytes:
    """Give the bytes of a file, or of standard input for `-`. Raises `UsageError`."""
    if name == "-":
        return standard_input().read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(
            "file-unreadable", f"{name}: {error.strerror}", "give a file, or - for standard input"
        ) from error


def standard_input() -> BinaryIO:
    """Give standard input as bytes. Raises `UsageError` when the caller closed it."""
    if sys.stdin is None:
        raise UsageError("stdin-closed", "standard input is closed", "name a file, or pipe one in")
    return sys.stdin.buffer


def print_json(value: object) -> None:
    """Print one JSON value on one line."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")


def print_line(text: str) -> None:
    """Print one line of text."""
    sys.stdout.buffer.write(text.encode(errors="backslashreplace") + b"\n")


def print_problems(problems: Sequence[Problem], *, as_json: bool) -> None:
    """Print what is wrong to standard error: a line a problem, or one JSON object."""
    if as_json:
        lines = [msgspec.json.encode(error_body(problems)).decode()]
    else:
        lines = [f"refold: {problem.code}: {problem}" for problem in problems]
    for line in lines:
        sys.stderr.buffer.write(line.encode(errors="backslashreplace") + b"\n")


def error_body(problems: Sequence[Problem]) -> dict[str, object]:
    """Give problems as the JSON object `{"error": {...}}` that stands in place of a result."""
    errors = [_plain(problem) for problem in problems]
    return {"error": {**errors[0], "errors": errors}}


def _plain(problem: Problem) -> dict[str, object]:
    """Give a problem as JSON members; what a terminal typed that is no Unicode is escaped."""
    members = msgspec.structs.asdict(problem)
    for name in ("field", "docs"):  # those of posts only
        if not members[name]:
            del members[name]
    return {
        name: value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
        for name, value in members.items()
    }


@contextmanager
def progress_bar(
    label: str, visible_from: int = PROGRESS_FROM
) -> Iterator[Callable[[int, int], None]]:
    """Give a function (done, all) that draws a bar on a terminal, for long work only."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, visible=False)
        yield lambda done, total: bar.update(
            task, completed=done, total=total, visible=total >= visible_from
        )
