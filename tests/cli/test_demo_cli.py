"""`refold demo`: chain, sync, view and server together; what it says is what was folded."""

import re
from pathlib import Path

from cli.terminal import refold_process

ARGUMENTS = ("demo", "--once", "--port", "0", "--chain-port", "0", "--folder")
DEADLINE = 600
"""Seconds after which a demo that hangs is given up: it takes ten on an idle machine."""


def test_the_demo_works_and_works_again_on_what_it_left(tmp_path: Path) -> None:
    first, again = (
        refold_process(*ARGUMENTS, str(tmp_path / "wiki"), seconds=DEADLINE) for _ in range(2)
    )
    for done in (first, again):
        assert done.code == 0, done.err
        assert "the same digest" in done.out
        assert not re.findall(r" [345]\d\d, ", done.out)
    digests = [re.findall(r"height .* digest ([0-9a-f]{64})", done.out) for done in (first, again)]
    assert len(digests[0]) > 1  # it followed while the story was played
    assert digests[1] == digests[0][-1:]
