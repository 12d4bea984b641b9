"""The folder of a copy: files that are whole or not there, a journal while it is made, a manifest.

While a run writes, the journal names all that may be in the folder: what the last run left, and
what this one wrote. At its end what is there and does not belong is removed, the manifest written,
and the journal removed. So a run that was killed is known by its journal, and the next one goes on
from whatever there is. A folder with neither is somebody else's.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import copyfileobj
from typing import IO, NamedTuple, Self

import msgspec

from refold.kernel.errors import UsageError
from refold.kernel.newfile import new_file
from refold.web.copy.names import is_file_name

__all__ = ["FORMAT", "MANIFEST", "Folder", "Written"]

FORMAT = "refold-site/1"
MANIFEST = "manifest.json"
JOURNAL = ".refold-site"
_PARTIAL = re.compile(r"\.[a-z0-9._-]+\.[0-9a-f]{8}\.part")
_CHUNK = 1 << 20


class File(msgspec.Struct, frozen=True, gc=False):
    """A file of the copy."""

    path: str
    sha256: str
    bytes: int


class _Manifest(msgspec.Struct):
    format: str
    files: tuple[File, ...]


class Written(NamedTuple):
    """What a run did to a folder: `bytes` is the size of all files."""

    files: int
    changed: int
    removed: int
    bytes: int


class Folder:
    """See the module. Raises UsageError `site-foreign`, `site-folder`, `file-…`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[str, tuple[bytes, int]] = {}
        self._changed: set[str] = set()
        self._before = _left_in(path)
        self._journal = (path / JOURNAL).open("ab")
        if (path / MANIFEST).exists():
            self._put_in_journal(*sorted(self._before))
            (path / MANIFEST).unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def forget(self) -> None:
        """Begin anew: what this run wrote so far need not belong to the copy."""
        self._before |= set(self._files)
        self._files.clear()

    def put(self, name: str, body: bytes) -> None:
        """Write a file, unless it is there and says the same."""
        digest = sha256(body).digest()
        self._files[name] = (digest, len(body))
        path = self._path / name
        if not _is_same(path, digest, len(body)):
            self._will_change(name)
            with new_file(path, force=True, durable=False) as file:
                file.write(body)

    def put_from(self, name: str, source: IO[bytes]) -> None:
        """Write a file that need not fit into memory, unless it is there and says the same."""
        digest, size = _digest(source)
        self._files[name] = (digest, size)
        path = self._path / name
        if not _is_same(path, digest, size):
            self._will_change(name)
            source.seek(0)
            with new_file(path, force=True, durable=False) as file:
                copyfileobj(source, file, _CHUNK)

    def _will_change(self, name: str) -> None:
        self._changed.add(name)
        if name not in self._before:
            self._put_in_journal(name)
        path = self._path / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():  # what it leads to is not ours
                path.unlink()
        except OSError as error:
            raise UsageError(
                "file-unwritable", f"{name}: {error.strerror or error}", "empty the folder"
            ) from error

    def _put_in_journal(self, *names: str) -> None:
        self._journal.write("".join(f"{name}\n" for name in names).encode())
        self._journal.flush()

    def close(self, said: Mapping[str, object]) -> Written:
        """Remove what does not belong, and write the manifest: what is said of the copy, its files.

        A line a file, in the order of their names.
        """
        removed = sum(map(self._remove, sorted(self._before - set(self._files))))
        with new_file(self._path / MANIFEST, force=True) as file:
            head = msgspec.json.encode({"format": FORMAT, **said})
            file.write(head[:-1] + b',"files":[')
            for number, name in enumerate(sorted(self._files)):
                digest, size = self._files[name]
                line = msgspec.json.encode(File(name, digest.hex(), size))
                file.write((b",\n" if number else b"\n") + line)
            file.write(b"\n]}\n")
        self._journal.close()
        (self._path / JOURNAL).unlink()
        total = sum(size for _, size in self._files.values())
        return Written(len(self._files), len(self._changed), removed, total)

    def _remove(self, name: str) -> bool:
        path = self._path / name
        try:
            path.unlink()
        except OSError:
            return False
        with suppress(OSError):  # the first that is not empty ends it
            for parent in path.parents:
                if parent == self._path:
                    break
                parent.rmdir()
        return True


def _left_in(path: Path) -> set[str]:
    """Give what a run before left in a folder, which is made if need be."""
    journal, manifest = path / JOURNAL, path / MANIFEST
    left: list[str] = []
    try:
        path.mkdir(parents=True, exist_ok=True)
        if journal.is_file():
            left += journal.read_text("ascii", "replace").split("\n")
        if manifest.is_file():
            left += (file.path for file in _read(manifest).files)
        elif not journal.is_file() and next(path.iterdir(), None) is not None:
            raise _foreign(path)
        for partial in path.rglob(".*.part"):
            if _PARTIAL.fullmatch(partial.name):
                partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            "site-folder", f"{path}: {error.strerror or error}", "name a folder to write to"
        ) from error
    return set(filter(is_file_name, left))


def _read(path: Path) -> _Manifest:
    with suppress(msgspec.MsgspecError):
        manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
        if manifest.format == FORMAT:
            return manifest
    raise _foreign(path.parent)


def _foreign(path: Path) -> UsageError:
    return UsageError(
        "site-foreign",
        f"{path} holds what this command did not write",
        "name a new folder, or an empty one",
    )


def _is_same(path: Path, digest: bytes, size: int) -> bool:
    """Tell whether a file says what it should."""
    try:
        if path.is_symlink() or path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            return _digest(file)[0] == digest
    except OSError:
        return False


def _digest(file: IO[bytes]) -> tuple[bytes, int]:
    file.seek(0)
    made, size = sha256(), 0
    while chunk := file.read(_CHUNK):
        made.update(chunk)
        size += len(chunk)
    return made.digest(), size
