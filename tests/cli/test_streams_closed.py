"""A caller may close standard streams, feed a batch line by line, or hash what comes out."""

import os
import subprocess
import sys
from hashlib import sha256

import pytest

REFOLD = [sys.executable, "-c", "from refold.cli import main; main()"]
REPLAY = [*REFOLD, "agentpedia", "replay"]
EMPTY = b'{"events": []}\n'


def in_shell(command: str) -> subprocess.CompletedProcess[bytes]:
    refold = f"{sys.executable} -c 'from refold.cli import main; main()'"
    return subprocess.run(
        ["/bin/sh", "-c", f"{refold} {command}"], capture_output=True, check=False
    )


def test_standard_input_closed() -> None:
    for command in ("agentpedia replay - <&-", "agentpedia replay - --batch <&-"):
        done = in_shell(command)
        assert done.returncode == 2
        assert done.stderr.startswith(b"refold: stdin-closed: ")


def test_standard_output_and_error_closed() -> None:
    assert in_shell("settings >&-").returncode == 0
    assert in_shell("agentpedia replay nowhere 2>&-").returncode == 2


def test_a_batch_answers_line_by_line() -> None:
    with subprocess.Popen(
        [*REPLAY, "-", "--batch", "--view", "digest"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for _ in range(3):
            batch.stdin.write(EMPTY)
            batch.stdin.flush()
            assert len(batch.stdout.readline()) == 65  # would wait for ever without a flush
        batch.stdin.close()


@pytest.mark.parametrize("view", ["full", "common"])
def test_output_is_the_same_bytes_under_every_hash_seed(view: str) -> None:
    demo = subprocess.run([*REFOLD, "agentpedia", "demo"], capture_output=True, check=True).stdout
    seen = {
        sha256(
            subprocess.run(
                [*REPLAY, "-", "--view", view],
                input=demo,
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
        ).hexdigest()
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1
