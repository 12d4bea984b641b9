"""The history of the tables: one line, and from everywhere on it the tables that the code has."""

import importlib
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text

import refold
from refold.db import METADATA, Database, migrate
from refold.db.url import SqliteUrl, parse_database_url
from refold.kernel.errors import SourceError

SOURCE = Path(refold.__file__).parent
VERSIONS = SOURCE / "db/migrations/versions"
FILES = sorted(path.name for path in VERSIONS.glob("*.py"))
STEPS = migrate.steps()


def import_all_tables() -> None:
    """Import every module that adds tables, so that METADATA has those of all parts."""
    for path in sorted(SOURCE.glob("*/**/*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        if "METADATA" in path.read_text("utf-8") and ".db." not in name:
            importlib.import_module(name.removesuffix(".__init__"))


def engine_of(url: str) -> Engine:
    """Give an engine of the library's own, without any rule of ours."""
    parsed = parse_database_url(url)
    return create_engine(url if isinstance(parsed, SqliteUrl) else parsed.url)


def migrated_to(url: str, step: str) -> None:
    """Bring an empty database to a step."""
    config = Config()
    config.set_main_option("script_location", "refold.db:migrations")
    engine = engine_of(url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, step)
    engine.dispose()


def described(connection: Connection) -> dict[str, object]:
    """Give all that a database knows of our tables, in an order of ours."""
    known = inspect(connection)
    names = [name for name in known.get_table_names() if name != migrate.VERSION_TABLE]
    return {
        name: {
            # The order of columns depends on when they were added; nothing else does on it.
            "columns": by_name([{**c, "type": str(c["type"])} for c in known.get_columns(name)]),
            "primary key": known.get_pk_constraint(name),
            "foreign keys": by_name(known.get_foreign_keys(name)),
            "indexes": by_name(known.get_indexes(name)),
            "unique": by_name(known.get_unique_constraints(name)),
            "checks": by_name(known.get_check_constraints(name)),
        }
        for name in sorted(names)
    }


def by_name(items: Sequence[object]) -> list[str]:
    """Sort descriptions; a comment or a sequence's name is nothing that we say."""
    shown = [re.sub(r"nextval\([^)]*\)|, 'comment': None", "", str(item)) for item in items]
    return sorted(shown)


def test_the_steps_are_one_line_and_each_names_its_part() -> None:
    parts = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    before = None
    for number, file in enumerate(FILES, 1):
        found = re.fullmatch(r"v(\d{4})_([a-z]+)_\w+\.py", file)
        assert found, file
        assert int(found[1]) == number
        assert found[2] in parts
        spec = importlib.util.spec_from_file_location(file, VERSIONS / file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert (module.revision, module.down_revision) == (found[1], before)
        before = found[1]
    assert before == STEPS[-1]


def test_a_step_imports_no_part() -> None:
    """It says what the tables were then, whatever the parts say today."""
    for file in FILES:
        source = (VERSIONS / file).read_text("utf-8")
        imported = re.findall(r"^(?:from|import) (\S+)", source, re.MULTILINE)
        assert set(imported) <= {"alembic", "sqlalchemy", "refold.db.types"}


@pytest.mark.parametrize("step", [None, *STEPS])
def test_every_step_leads_to_the_tables_that_the_code_has(
    database_url: str, step: str | None
) -> None:
    import_all_tables()
    if step is not None:
        migrated_to(database_url, step)
    with Database.open(database_url) as database, database.write() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": migrate.VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, METADATA) == []
        migrated = described(connection)
        METADATA.drop_all(connection)
        METADATA.create_all(connection)
        assert migrated == described(connection)


def test_texts_compare_by_code_point_whatever_the_language_of_the_server(
    postgres_url: str,
) -> None:
    with Database.open(postgres_url) as database, database.read() as connection:
        columns = connection.execute(
            text(
                "SELECT table_name, column_name, collation_name FROM information_schema.columns"
                " WHERE table_schema = current_schema() AND data_type = 'text'"
            )
        ).all()
    assert len(columns) > 50
    assert [tuple(column) for column in columns if column[2] != "C"] == []


def test_tables_begin_with_the_name_of_their_part() -> None:
    import_all_tables()
    parts = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {name.partition("_")[0] for name in METADATA.tables} <= parts - {"db", "kernel"}


def test_opening_again_changes_nothing(database_url: str) -> None:
    with Database.open(database_url) as database, database.read() as connection:
        before = described(connection)
    with Database.open(database_url) as database, database.read() as connection:
        assert described(connection) == before
        assert connection.scalar(text("SELECT version_num FROM refold_version")) == STEPS[-1]


@pytest.mark.parametrize("readonly", [False, True])
def test_a_database_newer_than_the_code_is_refused_in_one_line(
    database_url: str, readonly: bool
) -> None:
    with Database.open(database_url) as database, database.write() as connection:
        connection.execute(text("UPDATE refold_version SET version_num = '9999'"))
    with pytest.raises(SourceError) as caught:
        Database.open(database_url, readonly=readonly)
    assert caught.value.code == "database-newer"
    assert "9999" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_reading_never_migrates(database_url: str) -> None:
    """A reader of an older database says so, and leaves it as it is."""
    with Database.open(database_url) as database, database.write() as connection:
        connection.execute(text("DELETE FROM refold_version"))
    with pytest.raises(SourceError) as caught:
        Database.open(database_url, readonly=True)
    assert caught.value.code == "database-older"


def test_a_migration_that_fails_leaves_nothing_behind(database_url: str) -> None:
    def fail(*arguments: object) -> None:
        if str(arguments[2]).startswith("CREATE INDEX"):
            raise SourceError("test", "the disk was pulled out", "put it back")

    event.listen(Engine, "before_cursor_execute", fail)
    try:
        with pytest.raises(SourceError, match="pulled out"):
            Database.open(database_url)
    finally:
        event.remove(Engine, "before_cursor_execute", fail)
    with pytest.raises(SourceError) as caught:
        Database.open(database_url, readonly=True)
    assert caught.value.code == "database-older"
    engine = engine_of(database_url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()


def test_a_schema_shared_with_others_is_taken(postgres_url: str) -> None:
    """And Alembic's own table of another program is not touched."""
    engine = engine_of(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('theirs')"))
    with Database.open(postgres_url) as database, database.read() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "theirs"
    engine.dispose()
