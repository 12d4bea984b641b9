"""`refold coverage hide`, `unhide`, `hidden`: what is said, and what is written."""

from pathlib import Path

from cli.terminal import is_plain, refold

HASH, OTHER = "cd" * 32, "ab" * 32


def test_what_is_hidden_is_listed_until_it_is_shown_again(tmp_path: Path) -> None:
    given = ("--database", f"sqlite:///{tmp_path / 'refold.db'}")
    done = refold("coverage", "hide", HASH, "--reason", "a court\x1b[2J", *given)
    assert (done.code, done.out) == (0, f"{HASH} is hidden\n")
    again = refold("coverage", "hide", HASH, "--reason", "names a\x1b person", *given)
    assert again.out == f"{HASH} is hidden, with a new reason\n"
    refold("coverage", "hide", OTHER, "--reason", "spam", *given)
    listed = refold("coverage", "hidden", *given)
    assert is_plain(listed.out)
    assert [line.split()[0] for line in listed.out.splitlines()] == [OTHER, HASH, "2"]
    items = refold("coverage", "hidden", "--format", "json", *given).json["items"]
    assert [(one["hash"], one["reason"]) for one in items] == [
        (OTHER, "spam"),
        (HASH, "names a\x1b person"),
    ]
    assert refold("coverage", "unhide", HASH, *given).out == f"{HASH} is shown again\n"
    gone = refold("coverage", "unhide", HASH, "--format", "json", *given)
    assert (gone.code, gone.json["wasHidden"]) == (1, False)
    assert refold("coverage", "hidden", *given).last_line == "1 hidden"


def test_what_is_no_hash_is_refused(tmp_path: Path) -> None:
    given = ("--database", f"sqlite:///{tmp_path / 'refold.db'}")
    done = refold("coverage", "hide", "a\x1b\nname", "--reason", "x", *given)
    assert done.code == 2
    assert done.err.startswith("refold: hidden-name: ")
    assert is_plain(done.err)
