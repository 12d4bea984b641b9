"""The published JSON Schemas (draft-07) of record and report, as package data.

They say what a schema can: members, types, bounds, words. Hashes, sums, times that exist, what must
fit together and the canonical domain are the validator's (`codes.Code.schema` tells which codes).
JSON Schema takes 3.0 for an integer; a record may not hold it (`E_CANON_DOMAIN`).
"""

import json
from importlib import resources
from typing import Any, Final, Literal

__all__ = ["NAMES", "Name", "schema", "schema_text"]

Name = Literal["record", "report"]
NAMES: Final[tuple[Name, ...]] = ("record", "report")


def schema_text(name: Name) -> str:
    """Give a schema as it is published: indented JSON, a newline at its end."""
    return resources.files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")


def schema(name: Name) -> dict[str, Any]:
    """Give a schema, freshly read."""
    document: dict[str, Any] = json.loads(schema_text(name))
    return document
