"""The payload schemas of the seven Agentpedia paths, and the check against them.

The seven JSON files beside this module are draft-07 and stand on their own: any validator can
use them. Source: PRD §4, agentpedia spec §3.
"""

from refold.agentpedia.schemas.validate import (
    PATHS,
    PREFIX,
    UNREADABLE,
    Violation,
    check,
    schema,
)

__all__ = ["PATHS", "PREFIX", "UNREADABLE", "Violation", "check", "schema"]
