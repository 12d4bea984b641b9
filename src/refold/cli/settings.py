"""`refold settings`: every setting, its value, and where the value comes from."""

import os
from pathlib import Path

import click
import msgspec

from refold.agentpedia.settings import SETTINGS
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.settings import DEFAULT_FILE, Settings, load


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
    described = settings.describe()
    if form == "json":
        print_json({"settings": msgspec.to_builtins(described), "ignored": settings.ignored})
        return
    for row in described:
        print_line(f"{row.name} = {row.value or '(empty)'}    [{row.source}]  {row.help}")
    for name in settings.ignored:
        print_line(f"{name} is set and is no setting of refold")
