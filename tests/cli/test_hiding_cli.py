"""`refold agentpedia hide`, `unhide`, `hidden`: what is said, and what is written."""

from pathlib import Path

import pytest

from cli.terminal import is_plain, refold
from refold.kernel.errors import Exit

PIN = f"{'ab' * 32}i0"
HASH = "cd" * 32


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'refold.db'}"


def test_what_is_hidden_is_listed_until_it_is_shown_again(url: str) -> None:
    given = ("--database", url)
    done = refold("agentpedia", "hide", "hash", HASH, "--reason", "a court", *given)
    assert (done.code, done.out) == (0, f"hash {HASH} is hidden\n")
    refold("agentpedia", "hide", "pin", PIN, "--reason", "spam\x1b[2J", *given)
    listed = refold("agentpedia", "hidden", *given)
    assert is_plain(listed.out)
    assert listed.out.splitlines()[0].startswith(f"hash {HASH}  since 2")
    assert listed.out.splitlines()[2] == "2 hidden"
    items = refold("agentpedia", "hidden", "--format", "json", *given).json["items"]
    assert [(one["id"], one["reason"]) for one in items] == [
        (f"hash:{HASH}", "a court"),
        (f"pin:{PIN}", "spam\x1b[2J"),
    ]
    again = refold("agentpedia", "hide", "hash", HASH, "--reason", "other", *given)
    assert again.out.endswith("with a new reason\n")
    assert refold("agentpedia", "unhide", "hash", HASH, *given).code == 0
    gone = refold("agentpedia", "unhide", "hash", HASH, "--format", "json", *given)
    assert (gone.code, gone.json["wasHidden"]) == (Exit.NO, False)
    assert refold("agentpedia", "hidden", *given).last_line == "1 hidden"


def test_what_cannot_be_hidden_says_why(url: str) -> None:
    for kind, name in (("pin", "x"), ("hash", PIN), ("editor", "two words")):
        done = refold("agentpedia", "hide", kind, name, "--reason", "why", "--database", url)
        assert done.code == Exit.INPUT
        assert "hidden-name" in done.err
    done = refold("agentpedia", "hide", "pin", PIN, "--reason", " ", "--database", url)
    assert "hidden-reason" in done.err
    assert refold("agentpedia", "hide", "pin", PIN, "--database", url).code == Exit.USAGE
