"""Settings of this part: what an operator says once instead of with every command."""

from refold.agentpedia.rules import PRD, PROFILES
from refold.kernel.settings import Setting, Value

RULES = Setting(
    "agentpedia_rules",
    PRD.name,
    "rules profile: the PRD's, or those the network runs today",
    choices=tuple(sorted(PROFILES)),
)
GENESIS = Setting(
    "agentpedia_genesis",
    "",
    "pin id of the genesis constitution; empty takes the first valid one, whoever pinned it",
)
SETTINGS: tuple[Setting[Value], ...] = (RULES, GENESIS)
