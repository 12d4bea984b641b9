"""What a member of a query may be, in words and as a plain type: made from the types themselves."""

from msgspec import inspect

from refold.kernel.errors import UsageError

__all__ = ["is_list", "pattern_of", "plain_kind", "wanted"]

_LISTS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)


def without_none(kind: inspect.Type) -> inspect.Type:
    """Give a type without None, which stands for a member that was not given."""
    if isinstance(kind, inspect.Metadata):
        return without_none(kind.type)
    if isinstance(kind, inspect.UnionType):
        rest = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        if len(rest) == 1:
            return without_none(rest[0])
    return kind


def is_list(kind: inspect.Type) -> bool:
    """Tell whether a member may be given several times."""
    return isinstance(without_none(kind), _LISTS)


def plain_kind(kind: inspect.Type) -> str:
    """Give "integer", "boolean" or "text". Raises UsageError `route-members` for other types."""
    kind = without_none(kind)
    if isinstance(kind, _LISTS):
        return plain_kind(kind.item_type)
    if isinstance(kind, inspect.IntType):
        return "integer"
    if isinstance(kind, inspect.BoolType):
        return "boolean"
    if isinstance(kind, inspect.LiteralType):
        integers = all(isinstance(value, int) for value in kind.values)
        return "integer" if integers else "text"
    if isinstance(kind, (inspect.StrType, inspect.EnumType)):
        return "text"
    raise UsageError(
        "route-members",
        f"{kind} cannot be read from a query",
        "use int, bool, str, Literal, an Enum, or a tuple of one of them",
    )


def pattern_of(kind: inspect.Type) -> str:
    """Give the pattern that a text must match, "" for none."""
    kind = without_none(kind)
    if isinstance(kind, _LISTS):
        return pattern_of(kind.item_type)
    return (kind.pattern or "") if isinstance(kind, inspect.StrType) else ""


def wanted(kind: inspect.Type) -> str:
    """Say what a member may be, as in "an integer from 1 to 100"."""
    kind = without_none(kind)
    if isinstance(kind, _LISTS):
        return f"{wanted(kind.item_type)}, once or more"
    if isinstance(kind, inspect.IntType):
        return f"an integer{_range(kind.ge, kind.le)}"
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(map(str, kind.values))}"
    if isinstance(kind, inspect.EnumType):
        return f"one of {', '.join(str(value.value) for value in kind.cls)}"
    if isinstance(kind, inspect.StrType):
        length = _range(kind.min_length, kind.max_length)
        pattern = f" that matches {kind.pattern}" if kind.pattern else ""
        return f"a text{f' of{length} characters' if length else ''}{pattern}"
    return "another value"


def _range(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f" from {least}"
    return f" up to {most}" if most is not None else ""
