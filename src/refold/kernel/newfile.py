"""A file that is there whole or not at all, whatever happens while it is written."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from refold.kernel.errors import UsageError

__all__ = ["new_file"]


@contextmanager
def new_file(path: Path, *, force: bool = False, durable: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write, which has the name `path` once the block ended without an error.

    Until then it stands in the same folder under a name that begins with a dot and ends in `.part`;
    an error removes it, a kill leaves it. When it gets its name it is on the disk. Of a link the
    target is written. `force` lets it take the place of a file that is there. One that is not
    `durable` comes to the disk when the system sees fit: for thousands that can be made again.

    Raises UsageError `file-exists`, `file-not-regular`, and `file-unwritable` for every OSError in
    the block.
    """
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    _require_free(path, target, force=force)
    try:
        try:
            with partial.open("xb") as file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            _require_free(path, target, force=force)  # somebody else may have been quicker
            partial.replace(target)
            if durable:
                _settle(target.parent)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(
            "file-unwritable",
            f"{path}: {error.strerror or error}",
            "check the folder, the rights on it, and the room on the disk",
        ) from error


def _require_free(path: Path, target: Path, *, force: bool) -> None:
    """Refuse to write over a file without `force`, and over a device or folder in any case."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return  # not there; or what hinders us is said when we write
    if not stat.S_ISREG(mode):
        raise UsageError("file-not-regular", f"{path} is no file", "name a new file")
    if not force:
        raise UsageError(
            "file-exists", f"{path} is there already", "name a new file, or add --force"
        )


def _settle(folder: Path) -> None:
    """Bring a folder to the disk, so that the new name outlives a power failure."""
    with suppress(OSError):  # not every system lets folders be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
