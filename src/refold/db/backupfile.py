"""The form of a backup: JSON lines in one gzip file (decision 0009).

    {"refold_backup": 1, "refold": "0.1.0", "step": "0004", "tables": [{"name", "columns"}, …]}
    ["…", 1, null, …]                                 the rows of the first table, a line each
    {"table": "…", "rows": 2, "sha256": "…"}          their number, SHA-256 over their lines
    …                                                 the next table
    {"rows": 12, "sha256": "…"}                       SHA-256 over all lines but rows and this one

Cells are in the order of the columns. A column is `text`, `integer` (64 bits), `boolean` or
`bytes`; bytes are a text where they are UTF-8, else `{"base64": "…"}`; null is null. Texts are as
the tables hold them (`AnyText` escaped). Nothing in the file depends on the kind of database, nor
on when or where it was written: equal tables give equal lines.
"""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Annotated, Any, BinaryIO, Literal, Self

import msgspec

import refold
from refold.kernel.errors import InputError, UsageError, one_line

__all__ = [
    "Backup",
    "BackupColumn",
    "BackupFile",
    "BackupTable",
    "BackupWriter",
    "Kind",
    "Progress",
    "TableEnd",
]

FORMAT = 1
LEVEL = 1
"""Of gzip: level 6 takes more than twice as long for an eighth less (decision 0009)."""
MAX_LINE_BYTES = 1 << 30
"""Of one row: what SQLite and PostgreSQL take of one value at most."""
MAX_HEAD_BYTES = 1 << 20
BATCH_ROWS = 500
BATCH_BYTES = 4 * 1024 * 1024
"""What is read of the rows at a time; a single row may be larger."""

Kind = Literal["text", "integer", "boolean", "bytes"]
Row = Sequence[Any]
Progress = Callable[[int, int], None]


class BackupColumn(msgspec.Struct, frozen=True, array_like=True):
    """A column of a table in a backup."""

    name: str
    kind: Kind


class BackupTable(msgspec.Struct, frozen=True):
    """A table in a backup."""

    name: str
    columns: tuple[BackupColumn, ...]


class TableEnd(msgspec.Struct, frozen=True):
    """What stands behind the rows of a table: SHA-256 (hex) over their lines."""

    table: str
    rows: int
    sha256: str


class Backup(msgspec.Struct, frozen=True, rename="camel"):
    """What a backup holds, as it was written or read to the end.

    `step` is that of the tables; `sha256` (hex) stands for all of it; `row_bytes` are those of the
    lines, `file_bytes` those of the file.
    """

    refold: str
    step: str
    tables: tuple[TableEnd, ...]
    rows: int
    row_bytes: int
    file_bytes: int
    sha256: str


class _Head(msgspec.Struct, frozen=True):
    refold_backup: int
    refold: str
    step: str
    tables: tuple[BackupTable, ...]


class _Format(msgspec.Struct, frozen=True):
    """What the first line of a backup of any form has."""

    refold_backup: int


class _End(msgspec.Struct, frozen=True):
    rows: int
    sha256: str


class _Base64(msgspec.Struct, frozen=True):
    base64: bytes


_INT64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_CELLS: Mapping[Kind, Any] = MappingProxyType(
    {"text": str | None, "integer": _INT64 | None, "boolean": bool | None}
    | {"bytes": str | _Base64 | None}
)
_encoder = msgspec.json.Encoder()
_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeError)


class BackupWriter:
    """Writes a backup: each table of `tables` in its order, then the end."""

    def __init__(self, file: BinaryIO, step: str, tables: Sequence[BackupTable]) -> None:
        self._file = file
        self._gzip = gzip.GzipFile("", "wb", LEVEL, file, mtime=0)
        self._whole = sha256()
        self._head = _Head(FORMAT, refold.__version__, step, tuple(tables))
        self._ends: list[TableEnd] = []
        self._row_bytes = 0
        self._line(self._head)

    @contextmanager
    def table(self, table: BackupTable) -> Iterator[Callable[[Sequence[Row]], None]]:
        """Give what writes rows of the next table; at the end the table is closed."""
        binary = _binary(table)
        hashed, count = sha256(), 0

        def write(rows: Sequence[Row]) -> None:
            nonlocal count
            plain = [_with_texts(row, binary) if binary else tuple(row) for row in rows]
            lines = _encoder.encode_lines(plain)
            hashed.update(lines)
            self._gzip.write(lines)
            self._row_bytes += len(lines)
            count += len(rows)

        yield write
        end = TableEnd(table.name, count, hashed.hexdigest())
        self._line(end)
        self._ends.append(end)

    def end(self) -> Backup:
        """Write the end; the file is the caller's to close."""
        rows, whole = sum(end.rows for end in self._ends), self._whole.hexdigest()
        self._line(_End(rows, whole))
        self._gzip.close()
        return Backup(
            refold=self._head.refold,
            step=self._head.step,
            tables=tuple(self._ends),
            rows=rows,
            row_bytes=self._row_bytes,
            file_bytes=self._file.tell(),
            sha256=whole,
        )

    def _line(self, value: msgspec.Struct) -> None:
        line = _line_of(value)
        self._whole.update(line)
        self._gzip.write(line)


def _with_texts(row: Row, binary: Sequence[int]) -> list[Any]:
    """Give the cells of a row with bytes as text where they are UTF-8."""
    cells = list(row)
    for index in binary:
        cell = cells[index]
        if cell is not None:
            try:
                cells[index] = cell.decode()
            except UnicodeDecodeError:
                cells[index] = _Base64(cell)
    return cells


class BackupFile:
    """A backup, opened for reading: its head at once, its rows as often as wanted.

    `step` and `tables` are what the head says, `checked` is what `check` gave. What is in the file
    may be believed only when it was read to the end: there at the latest, damage raises InputError
    `backup-damaged`.
    """

    def __init__(self, path: Path) -> None:
        """Open a file. Raises what `check` raises, as far as its first line can show it."""
        self.path = path
        self.checked: Backup | None = None
        try:
            self._file = path.open("rb")
            self._size = path.stat().st_size
        except OSError as error:
            raise _unreadable(path, error) from error
        self._gzip = gzip.GzipFile(fileobj=self._file)
        try:
            with self._judging():
                head = self._head(sha256())
        except BaseException:
            self.close()
            raise
        self.step = head.step
        self.tables = head.tables

    def check(self, progress: Progress | None = None) -> Backup:
        """Read the file to its end; give what it holds. `progress` is told bytes of the file.

        Raises InputError `backup-foreign` (no backup), `backup-newer` (a form that only a newer
        refold knows), `backup-damaged`; UsageError `file-unreadable`.
        """
        self.checked = self.read(lambda _table, _rows: None, progress)
        return self.checked

    def read(
        self, take: Callable[[BackupTable, list[list[Any]]], None], progress: Progress | None = None
    ) -> Backup:
        """Read the file to its end, and hand over its rows in batches, table by table.

        Raises what `check` does, maybe after rows were handed over: whoever took them undoes it.
        """
        whole = sha256()
        with self._judging():
            self._gzip.seek(0)
            head = self._head(whole)
        ends: list[TableEnd] = []
        row_bytes = 0
        for table in head.tables:
            reader = _TableReader(table)
            line = b""
            while not line:
                with self._judging():
                    rows, line = self._batch(reader)
                if rows:
                    take(table, rows)
                if progress is not None:
                    progress(self._file.tell(), self._size)
            self._require(line, reader.end(), f"the rows of {one_line(table.name)}")
            whole.update(line)
            ends.append(reader.end())
            row_bytes += reader.bytes
        end = _End(sum(table.rows for table in ends), whole.hexdigest())
        with self._judging():
            self._require(self._line(), end, "its tables")
            if self._gzip.read(1):
                raise self._damaged("more stands behind its end")
        return Backup(
            refold=head.refold,
            step=head.step,
            tables=tuple(ends),
            rows=end.rows,
            row_bytes=row_bytes,
            file_bytes=self._size,
            sha256=end.sha256,
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _head(self, whole: "hashlib._Hash") -> _Head:
        try:
            line = self._gzip.readline(MAX_HEAD_BYTES)
            found = msgspec.json.decode(line, type=_Format).refold_backup
        except (gzip.BadGzipFile, *_UNREADABLE) as error:
            raise InputError(
                "backup-foreign", f"{self.path} is no backup of refold", "name a backup"
            ) from error
        if found != FORMAT:
            raise InputError(
                "backup-newer",
                f"{self.path}: a backup of form {found}, and this refold knows {FORMAT}",
                "use the newer refold that wrote it",
            )
        whole.update(line)
        return msgspec.json.decode(line, type=_Head)

    def _batch(self, reader: "_TableReader") -> tuple[list[list[Any]], bytes]:
        """Give the next rows of a table, and the line behind the last one, or b"" before that."""
        rows: list[list[Any]] = []
        full = reader.bytes + BATCH_BYTES
        while len(rows) < BATCH_ROWS and reader.bytes < full:
            line = self._line()
            if not line.startswith(b"["):
                return rows, line
            rows.append(reader.row(line))
        return rows, b""

    def _line(self) -> bytes:
        line = self._gzip.readline(MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise self._damaged("it ends too early")
        return line

    def _require(self, line: bytes, end: TableEnd | _End, what: str) -> None:
        if line != _line_of(end):
            raise self._damaged(f"{what} are not what was written")

    @contextmanager
    def _judging(self) -> Iterator[None]:
        """Say of what fails in reading whether the file is damaged or cannot be read."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile, *_UNREADABLE) as error:
            raise self._damaged(one_line(str(error))) from error
        except OSError as error:
            raise _unreadable(self.path, error) from error

    def _damaged(self, why: str) -> InputError:
        return InputError(
            "backup-damaged", f"{self.path}: the backup is damaged ({why})", "take another copy"
        )


class _TableReader:
    """Reads the rows of one table, and keeps count."""

    def __init__(self, table: BackupTable) -> None:
        self.bytes = 0
        self._name = table.name
        self._rows = 0
        self._hash = sha256()
        self._binary = _binary(table)
        cells = tuple(_CELLS[column.kind] for column in table.columns)
        self._decode: Callable[[bytes], tuple[Any, ...]]
        self._decode = msgspec.json.Decoder(tuple.__class_getitem__(cells)).decode

    def row(self, line: bytes) -> list[Any]:
        self._hash.update(line)
        self.bytes += len(line)
        self._rows += 1
        row = list(self._decode(line))
        for index in self._binary:
            cell = row[index]
            if cell is not None:
                row[index] = cell.encode() if isinstance(cell, str) else cell.base64
        return row

    def end(self) -> TableEnd:
        return TableEnd(self._name, self._rows, self._hash.hexdigest())


def _binary(table: BackupTable) -> list[int]:
    return [index for index, column in enumerate(table.columns) if column.kind == "bytes"]


def _line_of(value: msgspec.Struct) -> bytes:
    return _encoder.encode(value) + b"\n"


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        "file-unreadable", f"{path}: {error.strerror or error}", "name a backup that can be read"
    )
