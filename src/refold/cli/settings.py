"""`refold settings`: every setting, its value, and where the value comes from."""

import os
from pathlib import Path

import click
import msgspec

from refold.agentpedia.settings import SETTINGS as AGENTPEDIA
from refold.cli.output import format_option, print_json, print_line
from refold.coverage.settings import SETTINGS as COVERAGE
from refold.kernel.errors import UsageError, one_line
from refold.kernel.settings import DEFAULT_FILE, Described, Setting, Settings, Value, load
from refold.serving.settings import SETTINGS as SERVING
from refold.trials.settings import SETTINGS as TRIALS

DATABASE = Setting(
    "database",
    "sqlite:///refold.db",
    "where everything is kept: sqlite:///file.db or postgresql://user@host/name",
)
DATABASE_PASSWORD = Setting(
    "database_password",
    "",
    "password for PostgreSQL; libpq's own ways, such as PGPASSFILE, work as well",
    secret=True,
)
SETTINGS: tuple[Setting[Value], ...] = (
    DATABASE,
    DATABASE_PASSWORD,
    *SERVING,
    *AGENTPEDIA,
    *COVERAGE,
    *TRIALS,
)
"""The rows of the program: its own, then those of the parts."""


def current_settings(**flags: object) -> Settings:
    """Give the settings of this call: defaults < refold.toml here < environment < flags."""
    path = Path(DEFAULT_FILE)
    return load(SETTINGS, path if path.exists() else None, os.environ, flags)


@click.command("settings")
@format_option
def group(form: str) -> None:
    """Print every setting with its value, its source and what it is for.

    Defaults give way to refold.toml in this folder, that to REFOLD_* variables, those to flags.
    """
    settings = current_settings()
    described = [_fit_to_be_shown(row, settings) for row in settings.describe()]
    if form == "json":
        print_json({"settings": msgspec.to_builtins(described), "ignored": settings.ignored})
        return
    for row in described:
        print_line(f"{row.name} = {row.value or '(empty)'}    [{row.source}]  {row.help}")
    for name in settings.ignored:
        print_line(f"{name} is set and is no setting of refold")


def _fit_to_be_shown(row: Described, settings: Settings) -> Described:
    """Give a row without the password that a database URL may hold."""
    if row.name != DATABASE.name or row.value.startswith("sqlite:"):
        return row  # without the time that reading other URLs costs
    from refold.db.url import parse_database_url

    try:
        shown = one_line(parse_database_url(settings[DATABASE]).shown)
    except UsageError:
        shown = "(no URL of a database)"
    return msgspec.structs.replace(row, value=shown)
