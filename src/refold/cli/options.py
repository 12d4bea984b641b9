"""Options that several commands share, and what they mean with the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from refold.agentpedia.rules import PROFILES, Rules
from refold.agentpedia.settings import GENESIS, RULES
from refold.cli.settings import DATABASE, DATABASE_PASSWORD, current_settings

if TYPE_CHECKING:
    from refold.db import Database, Durability

rules_option = click.option(
    "--rules",
    type=click.Choice(sorted(PROFILES)),
    help="Rules profile: the PRD's (the default), or those the network runs today.",
)
genesis_option = click.option(
    "--genesis", metavar="PIN", help="Take only this pin as the genesis; default: the first valid."
)
schema_option = click.option(
    "--no-schema", is_flag=True, help="Leave out envelope, schema and content gates."
)
database_option = click.option(
    "--database",
    metavar="URL",
    help="sqlite:///file.db or postgresql://user@host/name; default: the setting.",
)


def open_database(
    url: str | None, *, readonly: bool = False, durability: Durability = "normal"
) -> Database:
    """Open the database named by the flag, else by the settings; `Database.open` has the rest."""
    from refold.db import Database

    settings = current_settings(database=url)
    return Database.open(
        settings[DATABASE],
        password=settings[DATABASE_PASSWORD],
        readonly=readonly,
        durability=durability,
    )


def profile_of(rules: str | None) -> Rules:
    """Give the rules profile named by the flag, else by the settings."""
    return PROFILES[current_settings(agentpedia_rules=rules)[RULES]]


def genesis_of(genesis: str | None) -> str | None:
    """Give the genesis pin named by the flag, else by the settings; None when none is."""
    return current_settings(agentpedia_genesis=genesis)[GENESIS] or None
