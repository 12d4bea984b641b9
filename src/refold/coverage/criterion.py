"""The shape of a criterion: what may stand in `query.canon.match` (spec §5.2).

`refold.coverage.match` evaluates what this module found no fault in.
"""

import re
from typing import Any, Final

from refold.coverage.fields import SEGMENT
from refold.coverage.shape import Path, Report
from refold.coverage.text import is_nfc
from refold.kernel.canon import MAX_INTEGER

__all__ = [
    "MAX_CHILDREN",
    "MAX_DEPTH",
    "MAX_NODES",
    "MAX_PATH",
    "MAX_VALUE",
    "OPERATORS",
    "check_criterion",
    "paths_of",
]

MAX_DEPTH: Final = 6
"""Nodes inside each other, the leaf included."""
MAX_NODES: Final = 64
MAX_CHILDREN: Final = 16
MAX_PATH: Final = 256
MAX_VALUE: Final = 256
"""Code points of a path and of a text value."""
OPERATORS: Final = ("eq", "contains", "prefix", "exists")

_PATH: Final = re.compile(rf"(?:{SEGMENT}(?:\.{SEGMENT})*)?")
_LEAF: Final = frozenset({"field", "op", "value"})


def check_criterion(match: object, path: Path, report: Report) -> bool:
    """Report what is wrong with `query.canon.match`; tell whether it can be compiled.

    Codes `E_MATCH_SHAPE` and `E_CANON_NOT_NFC`; a text that is not NFC still compiles. At most
    `MAX_NODES` nodes are looked at, so a hostile criterion costs no more than a large one.
    """
    return _Look(report).look(match, path)


def paths_of(match: dict[str, Any]) -> tuple[str, ...]:
    """Give the distinct paths of a criterion that can be compiled, in the order of its leaves."""
    pending: list[Any] = [match]
    paths: dict[str, None] = {}
    while pending:
        node = pending.pop()
        if "field" in node:
            paths[node["field"]] = None
        else:
            [(word, inner)] = node.items()
            pending += [inner] if word == "not" else reversed(inner)
    return tuple(paths)


class _Look:
    """One look at a criterion: how many nodes were met, and whether any was at fault."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._nodes = 0
        self._whole = True

    def look(self, match: object, path: Path) -> bool:
        self._node(match, path, 1)
        return self._whole

    def _fault(self, path: Path, why: str) -> None:
        self._whole = False
        self._report("E_MATCH_SHAPE", path, why)

    def _node(self, node: object, path: Path, depth: int) -> None:
        self._nodes += 1
        if self._nodes == MAX_NODES + 1:
            self._fault(path, f"more than {MAX_NODES} nodes")
        if self._nodes > MAX_NODES:
            return
        if depth > MAX_DEPTH:
            self._fault(path, f"deeper than {MAX_DEPTH}")
        elif type(node) is not dict:
            self._fault(path, "no object")
        elif node.keys() == {"all"} or node.keys() == {"any"}:
            [(word, children)] = node.items()
            self._children(children, (*path, word), depth)
        elif node.keys() == {"not"}:
            self._node(node["not"], (*path, "not"), depth + 1)
        elif node.keys() == _LEAF:
            self._leaf(node, path)
        else:
            self._fault(path, "neither one of all, any, not, nor field, op and value")

    def _children(self, children: object, path: Path, depth: int) -> None:
        if type(children) is not list or not 1 <= len(children) <= MAX_CHILDREN:
            self._fault(path, f"no list of 1 to {MAX_CHILDREN}")
            return
        for index, child in enumerate(children):
            self._node(child, (*path, index), depth + 1)

    def _leaf(self, leaf: dict[str, Any], path: Path) -> None:
        field, op, value = leaf["field"], leaf["op"], leaf["value"]
        if type(field) is not str or len(field) > MAX_PATH or _PATH.fullmatch(field) is None:
            self._fault((*path, "field"), f"no dot path of at most {MAX_PATH} characters")
        else:
            self._check_form(field, (*path, "field"))
        if type(op) is not str or op not in OPERATORS:
            self._fault((*path, "op"), f"none of {', '.join(OPERATORS)}")
        elif not _fits(op, value):
            self._fault((*path, "value"), f"no value that {op} compares with")
        elif type(value) is str:
            self._check_form(value, (*path, "value"))

    def _check_form(self, text: str, path: Path) -> None:
        if not is_nfc(text):
            self._report("E_CANON_NOT_NFC", path, "not in form NFC")


def _fits(op: str, value: object) -> bool:
    if op == "exists":
        return type(value) is bool
    if type(value) is str:
        return len(value) <= MAX_VALUE and (op == "eq" or value != "")
    if op != "eq":
        return False
    if type(value) is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER
    return value is None or type(value) is bool
