"""The history of the tables, one line of numbered steps, and a database brought to its end.

A database has one history, so the steps of all parts stand in one folder, `migrations/versions`:
`v0007_agentpedia_views.py` is step 0007, of agentpedia. A step spells out the tables as they were
then, and imports no part. How to add one: docs/decisions/0007.
"""

import re
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, MetaData, Table, Text, delete, inspect, select
from sqlalchemy.schema import Column

from refold.kernel.errors import SourceError

__all__ = ["METADATA", "is_latest", "parts", "remake", "step_of", "steps", "upgrade"]

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""The tables of all parts: each part adds its own, under names that begin with the part's."""

VERSION_TABLE = "refold_version"
"""Not Alembic's own name, which another program may use in the same schema."""

_MIGRATIONS = Path(__file__).with_name("migrations")
_STEP = re.compile(r"v(\d{4})_([a-z]+)_\w+\.py")
_version = Table(VERSION_TABLE, MetaData(), Column("version_num", Text))


@cache
def steps() -> tuple[str, ...]:
    """Give the numbers of all steps in their order, as "0001"."""
    return tuple(sorted(match[1] for match in _step_files()))


@cache
def parts() -> tuple[str, ...]:
    """Give the names of the parts that have tables; those of a table begin with its part's."""
    return tuple(sorted({match[2] for match in _step_files()}))


def _step_files() -> list[re.Match[str]]:
    found = (_STEP.fullmatch(path.name) for path in (_MIGRATIONS / "versions").iterdir())
    return [match for match in found if match]


def is_latest(connection: Connection, shown: str) -> bool:
    """Tell whether a database is at the last step.

    Raises SourceError `database-newer`, `database-foreign`.
    """
    return step_of(connection, shown) == steps()[-1]


def upgrade(connection: Connection, shown: str, step: str | None = None) -> None:
    """Bring a database to a step, by default the last, in the transaction of `connection`.

    Raises SourceError `database-newer`, `database-foreign`.
    """
    step = step or steps()[-1]
    if step_of(connection, shown) == step:  # as another process may just have brought it
        return
    # Alembic takes longer to import than everything else; most calls find the tables as they are.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "refold.db:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, step)


def remake(connection: Connection, shown: str, step: str) -> None:
    """Drop the tables of a database at the last step, and make those of a step."""
    METADATA.drop_all(connection)
    connection.execute(delete(_version))
    upgrade(connection, shown, step)


def step_of(connection: Connection, shown: str) -> str | None:
    """Give the step that a database is at, None for an empty one.

    Raises SourceError `database-newer`, `database-foreign`.
    """
    tables = inspect(connection).get_table_names()
    if VERSION_TABLE not in tables:
        # A schema of PostgreSQL may be shared; a file with others' tables was named by mistake.
        if tables and connection.dialect.name == "sqlite":
            raise SourceError(
                "database-foreign",
                f"{shown}: the tables in it are not refold's",
                "name another file",
            )
        return None
    step = connection.scalar(select(_version.c.version_num))
    if step is not None and step not in steps():
        raise SourceError(
            "database-newer",
            f"{shown}: its tables are at step {step}, and this refold knows {steps()[-1]}",
            "use the newer refold that wrote it",
        )
    return step
