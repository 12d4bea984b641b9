"""Options that the commands of the encyclopedia share, and what they mean with the settings."""

import click

from refold.agentpedia.rules import PROFILES, Rules
from refold.agentpedia.settings import GENESIS, RULES
from refold.cli.settings import current_settings

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


def profile_of(rules: str | None) -> Rules:
    """Give the rules profile named by the flag, else by the settings."""
    return PROFILES[current_settings(agentpedia_rules=rules)[RULES]]


def genesis_of(genesis: str | None) -> str | None:
    """Give the genesis pin named by the flag, else by the settings; None when none is."""
    return current_settings(agentpedia_genesis=genesis)[GENESIS] or None
