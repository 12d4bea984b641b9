"""`refold serve` as a process of its own."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from cli.terminal import COMMAND, MINUTE, environment


@contextmanager
def running(*options: str, **more: str) -> Iterator[tuple[httpx2.Client, subprocess.Popen[str]]]:
    """Run a server with more in its environment; give a client for it, and the process."""
    with subprocess.Popen(
        [COMMAND, "serve", "--port", "0", *options],
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            match = re.fullmatch(r"serving (?:\S+ at )?(http://\S+)\n", said)
            assert match is not None, process.stderr and process.stderr.read()
            with httpx2.Client(base_url=match[1], trust_env=False, timeout=20) as http:
                assert http.get("/health").status_code == 200  # from here on signals are heard
                yield http, process
        finally:
            if process.poll() is None:
                process.kill()


def stopped(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """Stop a server in order; give its log."""
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=MINUTE)
    assert process.returncode == 0, log
    return [json.loads(line) for line in log.splitlines()]
