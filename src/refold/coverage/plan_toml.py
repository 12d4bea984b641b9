"""Plans as TOML text: what `init` writes, and `refold.coverage.plan` reads again."""

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["plan_text"]

_HEAD = "# A plan for `refold coverage build`; docs/coverage.md says what may stand here.\n"


def plan_text(plan: Mapping[str, Any]) -> str:
    """Give a plan (texts, integers, booleans, tables and lists of them) as TOML.

    What is in a list of tables gets a table of its own; below, tables stand on one line.
    """
    lines = [f"{_key(name)} = {_value(value)}" for name, value in _plain(plan)]
    for name, value in plan.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(inner)} = {_value(member)}" for inner, member in value.items()]
        elif _is_tables(value):
            for table in value:
                lines += ["", f"[[{_key(name)}]]"]
                lines += [f"{_key(inner)} = {_value(member)}" for inner, member in table.items()]
    return _HEAD + "\n".join([*lines, ""])


def _plain(plan: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        (name, value)
        for name, value in plan.items()
        if not isinstance(value, Mapping) and not _is_tables(value)
    ]


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {_value(member)}" for name, member in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int):
        return json.dumps(value)
    return _text(str(value))


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _text(name)


def _text(text: str) -> str:
    # A basic string of TOML is one of JSON, but for the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
