"""The command line as tests use it: in this process, which is quick, or as the real command."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from refold.cli.main import run

COMMAND = str(Path(sys.executable).with_name("refold"))
"""The command as it was installed."""
MINUTE = 60
"""Seconds after which a process that should have ended long ago is given up."""


@dataclass(frozen=True)
class Answer:
    """What a command left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return msgspec.json.decode(self.out)

    @property
    def last_line(self) -> str:
        return self.out.splitlines()[-1]


def refold(*arguments: str, stdin: bytes = b"") -> Answer:
    """Run a command in this process."""
    given, out, err = (TextIOWrapper(BytesIO(data), "utf-8") for data in (stdin, b"", b""))
    with patch("sys.stdin", given), patch("sys.stdout", out), patch("sys.stderr", err):
        code = run(arguments)
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())
    return Answer(code, *texts)


def environment(**more: str) -> dict[str, str]:
    """Give this process's environment without what would change the output of a command."""
    dropped = ("REFOLD_", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | more


def refold_process(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    seconds: int = MINUTE,
) -> Answer:
    """Run the installed command in a process of its own."""
    done = subprocess.run(
        [COMMAND, *arguments],
        input=stdin,
        env=env or environment(),
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def is_plain(text: str) -> bool:
    """Tell whether a text can be shown by any terminal without moving or recolouring anything."""
    return all(char.isprintable() or char == "\n" for char in text)
