"""Copies of the parts of a state, taken before a block changes them (`refold.agentpedia.past`)."""

from copy import copy

import msgspec


def copied(part: object) -> object:
    """Give a copy that no change of the part reaches: two levels, and below they are frozen."""
    if isinstance(part, dict):
        return part.copy()
    if not isinstance(part, msgspec.Struct):
        return part
    copied = copy(part)
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, list | dict):
            setattr(copied, name, value.copy())
    return copied
