"""Backups: all rows of all tables as of one moment in one file, and back into an empty database.

Online: whoever writes goes on meanwhile. From and into either kind of database (decision 0009).
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    exists,
    func,
    inspect,
    select,
    text,
    type_coerce,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from refold.db.backupfile import (
    Backup,
    BackupColumn,
    BackupFile,
    BackupTable,
    BackupWriter,
    Kind,
    Progress,
)
from refold.db.database import Database
from refold.db.migrate import METADATA, parts, remake, step_of, steps, upgrade
from refold.kernel.errors import InputError, UsageError, one_line
from refold.kernel.newfile import new_file

__all__ = ["backup", "open_backup", "restore", "write_tables"]

CHUNK_ROWS = 1_000
CHUNK_ROWS_WITH_BYTES = 10
"""Rows that are held at a time; of those with bytes fewer, since one may have 50 MiB."""

_KINDS: tuple[tuple[type[TypeEngine[Any]], Kind], ...] = (
    (String, "text"),
    (Integer, "integer"),
    (Boolean, "boolean"),
    (LargeBinary, "bytes"),
)
_TYPES: Mapping[Kind, TypeEngine[Any]] = MappingProxyType(
    {"text": Text(), "integer": BigInteger(), "boolean": Boolean(), "bytes": LargeBinary()}
)
"""What cells are read and written as: AnyText as the text that is stored, for one."""

_SEQUENCE = text("SELECT pg_get_serial_sequence(:table, :column)")
_GO_ON = text("SELECT setval(CAST(:sequence AS regclass), :last)")


def backup(
    database: Database, path: Path, *, force: bool = False, progress: Progress | None = None
) -> Backup:
    """Write all rows of all tables, as one transaction sees them, to a new file.

    The modules that add tables to `METADATA` have to be imported. `progress` is told rows. Raises
    UsageError as `new_file`, and `backup-tables`; SourceError of `refold.db.errors`.
    """
    with database.read() as connection, new_file(path, force=force) as file:
        step = step_of(connection, database.shown) or steps()[-1]
        _require_all_known(connection)
        return write_tables(connection, METADATA.sorted_tables, step, file, progress)


def write_tables(
    connection: Connection,
    tables: Sequence[Table],
    step: str,
    file: BinaryIO,
    progress: Progress | None = None,
) -> Backup:
    """Write tables, each after those that it refers to, as they are at a step of the history."""
    total = sum(_count(connection, table) for table in tables) if progress is not None else 0
    done = 0
    described = {table.name: _described(table) for table in tables}
    writer = BackupWriter(file, step, list(described.values()))
    for table in tables:
        columns = described[table.name].columns
        has_bytes = any(column.kind == "bytes" for column in columns)
        cells = (type_coerce(table.c[cell.name], _TYPES[cell.kind]) for cell in columns)
        # By key, so that equal tables give equal files, and a restore fills its indexes in order.
        question = select(*cells).order_by(*(table.primary_key or table.c))
        rows = connection.execute(
            question,
            execution_options={"yield_per": CHUNK_ROWS_WITH_BYTES if has_bytes else CHUNK_ROWS},
        )
        with writer.table(described[table.name]) as write:
            for chunk in rows.partitions():
                write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, total)
    return writer.end()


def open_backup(path: Path) -> BackupFile:
    """Open a backup for `restore`, or to `check` it.

    Raises as `BackupFile`, and InputError `backup-newer` when its tables are those of a newer
    refold.
    """
    file = BackupFile(path)
    if file.step not in steps():
        file.close()
        raise InputError(
            "backup-newer",
            f"{path}: its tables are at step {one_line(file.step)}, this refold knows"
            f" {steps()[-1]}",
            "use the newer refold that wrote it",
        )
    return file


def restore(
    database: Database,
    file: BackupFile,
    *,
    holds: Collection[str] = (),
    progress: Progress | None = None,
) -> Backup:
    """Fill an empty database from a backup, in one transaction, and bring it to the last step.

    The file is checked first, unless `check` was called; `progress` is told bytes of it. `holds`
    are the names of processes that may not be at work meanwhile (`Database.hold`). Raises as
    `BackupFile.check`; UsageError `database-not-empty`; SourceError of `refold.db.errors`,
    `database-held`.
    """
    checked = file.checked or file.check()
    with ExitStack() as stack:
        for name in holds:
            stack.enter_context(database.hold(name))
        connection = stack.enter_context(database.write())
        _require_empty(connection, database.shown)
        if step_of(connection, database.shown) != file.step:
            remake(connection, database.shown, file.step)
        tables = {table.name: _made_known(connection, file, table) for table in file.tables}

        def insert(table: BackupTable, rows: list[list[Any]]) -> None:
            names = [column.name for column in table.columns]
            values = [dict(zip(names, row, strict=True)) for row in rows]
            connection.execute(tables[table.name].insert(), values)

        read = file.read(insert, progress)
        if read != checked:
            raise InputError(
                "backup-damaged", f"{file.path}: somebody changed it meanwhile", "try again"
            )
        if connection.dialect.name == "postgresql":
            _count_on(connection, file.tables)
        upgrade(connection, database.shown)
    return read


def _described(table: Table) -> BackupTable:
    # The library's names are of a type of its own.
    columns = tuple(BackupColumn(str(column.name), _kind_of(column)) for column in table.c)
    return BackupTable(str(table.name), columns)


def _kind_of(column: Column[Any]) -> Kind:
    kind = column.type
    stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    for base, name in _KINDS:
        if isinstance(stored, base):
            return name
    raise UsageError(
        "backup-tables",
        f"{column} is of a type that no backup can hold",
        "a defect of refold: report it",
    )


def _require_all_known(connection: Connection) -> None:
    """Refuse to leave out a table of ours, because nobody imported the module that has it."""
    there = inspect(connection).get_table_names()
    ours = {name for name in there if name.partition("_")[0] in parts()}
    forgotten = sorted(ours - set(METADATA.tables))
    if forgotten:
        raise UsageError(
            "backup-tables",
            f"tables would be left out: {', '.join(forgotten)}",
            "import the modules that have them",
        )


def _require_empty(connection: Connection, shown: str) -> None:
    for table in METADATA.sorted_tables:
        if connection.scalar(select(exists(select(table)))):
            raise UsageError(
                "database-not-empty",
                f"{shown}: there are rows in {table.name}, and a restore adds to none",
                "restore into a new database, and name that one from then on",
            )


def _made_known(connection: Connection, file: BackupFile, table: BackupTable) -> Table:
    """Give a table of the backup for inserting, if the database has it."""
    known = inspect(connection)
    there = known.get_columns(table.name) if known.has_table(table.name) else []
    names = {column.name for column in table.columns}
    if not names or names != {column["name"] for column in there}:
        raise InputError(
            "backup-foreign",
            f"{file.path}: at step {file.step} refold has no such table as {one_line(table.name)}",
            "take a backup that refold wrote",
        )
    made = (Column(column.name, _TYPES[column.kind]) for column in table.columns)
    return Table(table.name, MetaData(), *made)


def _count_on(connection: Connection, tables: Sequence[BackupTable]) -> None:
    """Let PostgreSQL number new rows from behind the last one on, as SQLite does by itself."""
    for table in tables:
        quoted = connection.dialect.identifier_preparer.quote(table.name)
        for column in table.columns:
            names = {"table": quoted, "column": column.name}
            sequence = connection.scalar(_SEQUENCE, names)
            if sequence is None:
                continue
            found = Table(table.name, MetaData(), Column(column.name, BigInteger()))
            last = connection.scalar(select(func.max(found.c[column.name])))
            if last is not None and last > 0:
                connection.execute(_GO_ON, {"sequence": sequence, "last": last})


def _count(connection: Connection, table: Table) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0
