"""The key of a log, given from outside, and what of a log it makes trustworthy.

Nobody can learn from an archive whose it is: whoever forges one forges its key too. So the key
comes from somewhere else, and everything here begins with it. Source: cold trials spec §5; facts
C6.
"""

from collections.abc import Sequence

from refold.kernel.errors import InputError
from refold.kernel.keys import parse_public
from refold.kernel.utc import parse_utc
from refold.trials.archive.codes import wrong
from refold.trials.archive.lines import FORMAT, MAX_SIZE, Head, HeadKey
from refold.trials.checkpoint import PREFIX, Checkpoint, LogKey, read_checkpoint, read_rotation

__all__ = ["Chain", "counted", "name_of", "origin_of", "signed_checkpoint", "trusted"]


class Chain:
    """The keys of a log in order, and the roots that each took over at, by size."""

    def __init__(self, keys: Sequence[LogKey], roots: dict[int, bytes]) -> None:
        self.keys = tuple(keys)
        self.roots = roots


def name_of(origin: str) -> str:
    """Give the name of the log of an origin: host, and port if it has one."""
    return origin + PREFIX


def origin_of(name: str) -> str:
    """Give the origin whose log has a name."""
    return name.removesuffix(PREFIX)


def counted(size: object, most: int = MAX_SIZE) -> bool:
    """Tell whether something is a size: a whole number from 0."""
    return isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= most


def signed_checkpoint(note: str, keys: Sequence[LogKey], line: int | None = None) -> Checkpoint:
    """Read a checkpoint that one of `keys` signed.

    Raises InputError `archive-size`, `archive-key`, `archive-damaged`.
    """
    size = (*note.split("\n", 2), "", "")[1]
    # Told apart from a false signature, which such a size has too.
    if not (size.isascii() and size.isdigit() and str(int(size[:20])) == size):
        raise wrong("archive-size", "the checkpoint's size is no whole number from 0", line)
    try:
        found = read_checkpoint(note, keys)
    except InputError as error:
        is_form = error.code in {"note-form", "checkpoint-form"}
        code = "archive-damaged" if is_form else "archive-key"
        raise wrong(code, f"the checkpoint: {error.message}", line) from None
    if not counted(found.size):
        raise wrong("archive-size", f"the checkpoint is of {found.size} messages", line)
    return found


def trusted(head: Head, key: LogKey) -> tuple[Chain, Checkpoint]:
    """Give the keys of an archive's log and its checkpoint, if `key` is one of them.

    Keys before and after it are trusted by the statements that both sides of each change signed.
    Raises InputError `archive-damaged`, `archive-size`, `archive-key`.
    """
    name = name_of(head.origin)
    if head.format != FORMAT:
        raise wrong("archive-damaged", f"the format is not {FORMAT}", 1)
    if not counted(head.size):
        raise wrong("archive-size", f"the head says {head.size} messages", 1)
    if name != key.name:
        raise wrong("archive-key", f"the key is of {origin_of(key.name)!r}, not of this origin", 1)
    if not head.keys or head.keys[0].statement is not None:
        raise wrong("archive-damaged", "the head has not the keys of the log", 1)
    first, *others = [_key(name, each) for each in head.keys]
    keys, roots = [first], {}
    for row, found in zip(head.keys[1:], others, strict=True):
        try:
            said = read_rotation(row.statement or "", keys[-1])
        except InputError as error:
            raise wrong("archive-key", f"a change of the log's key: {error.message}", 1) from None
        if (said.new, said.size, said.at) != (found.public, row.since_size, row.since):
            raise wrong("archive-key", "a change of the log's key is another's", 1)
        if not 0 <= said.size <= head.size:
            raise wrong("archive-size", f"a key is said to sign from {said.size} messages on", 1)
        roots[said.size] = said.root
        keys.append(found)
    if key.public not in {each.public for each in keys}:
        raise wrong("archive-key", "the archive is not of the log of the key that was given", 1)
    checkpoint = signed_checkpoint(head.checkpoint, keys[-1:], 1)
    if checkpoint.size != head.size:
        text = f"the head says {head.size} messages, its checkpoint {checkpoint.size}"
        raise wrong("archive-size", text, 1)
    return Chain(keys, roots), checkpoint


def _key(name: str, row: HeadKey) -> LogKey:
    try:
        parse_utc(row.since)
        return LogKey(name, parse_public(row.public_key))
    except InputError as error:
        text = f"a key of the log is none: {error.message}"
        raise wrong("archive-damaged", text, 1) from None
