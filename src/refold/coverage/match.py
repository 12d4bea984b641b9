"""Match evaluation: whether an item satisfies a criterion (spec §5.2).

Total: no criterion that `refold.coverage.criterion` passed and no JSON value raises. An item is a
parsed JSON value; its numbers are int or Decimal (never float), so that none is rounded.

    scan = compile_criterion(receipt.query.canon).scan()
    found = [item for item in items if scan.matches(item)]
    if items and not scan.addressed: …                        # criterion_field_never_seen
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from refold.coverage.text import folded, nfc

__all__ = ["Criterion", "Scan", "compile_criterion", "resolve"]

# What a path resolved to on one item, and a test over the values of every path of the criterion.
_Values = Sequence[Any]
_Test = Callable[[Sequence[_Values]], bool]
# Whether a node is addressed, given which paths were seen.
_Addressed = Callable[[Sequence[bool]], bool]


class Criterion:
    """A compiled criterion. `paths` are its distinct paths, in the order of their first leaf."""

    def __init__(self, canon: Mapping[str, Any]) -> None:
        paths: dict[str, int] = {}
        self._form = folded if canon.get("caseFold") else nfc
        self._test, self._addressed = _node(canon["match"], paths, self._form)
        self.paths: tuple[str, ...] = tuple(paths)
        self._steps = tuple(tuple(path.split(".")) if path else () for path in paths)

    def scan(self) -> "Scan":
        """Begin the evaluation of one unit."""
        return Scan(self)

    def matches(self, item: object) -> bool:
        """Tell whether one item satisfies the criterion."""
        return self._test(self._look(item))

    def reads_only(self, path: str) -> bool:
        """Tell whether the criterion reads the value at one path and nothing else of an item."""
        return self.paths == (path,)

    def _look(self, item: object) -> list[list[Any]]:
        """Give what each path resolves to, texts in the form that is compared."""
        form = self._form
        return [
            [form(value) if type(value) is str else value for value in resolve(item, steps)]
            for steps in self._steps
        ]


class Scan:
    """The evaluation of a criterion over the items of one unit; remembers which paths it met."""

    def __init__(self, criterion: Criterion) -> None:
        self._criterion = criterion
        self._seen = [False] * len(criterion.paths)

    def matches(self, item: object) -> bool:
        """Tell whether an item satisfies the criterion, and note which paths it has."""
        values = self._criterion._look(item)  # noqa: SLF001 - two halves of one thing
        seen = self._seen
        for index, found in enumerate(values):
            if found:
                seen[index] = True
        return self._criterion._test(values)  # noqa: SLF001

    @property
    def addressed(self) -> bool:
        """Whether the criterion was addressed on the items so far (field-never-seen rule).

        A leaf is when its path resolved on some item; `all` when every child is, `any` when one is,
        `not` when its child is. False before the first item.
        """
        return self._criterion._addressed(self._seen)  # noqa: SLF001


def compile_criterion(canon: Mapping[str, Any]) -> Criterion:
    """Compile `query.canon`, in which `refold.coverage.criterion` found no fault."""
    return Criterion(canon)


def resolve(item: object, steps: Sequence[str]) -> list[Any]:
    """Give the values at a path of an item; [] where it is missing.

    Object members are walked by name. On the way and at its end, an array stands for each of its
    elements; at its end it is there itself as well, so that an empty array exists. No step is an
    index: a numeric one is a member name.
    """
    value = item
    for place, step in enumerate(steps):
        if type(value) is not dict:
            return _resolve_all(value, steps[place:])
        if step not in value:
            return []
        value = value[step]
    return [value, *_elements(value)] if type(value) is list else [value]


def _resolve_all(item: object, steps: Sequence[str]) -> list[Any]:
    """Resolve a path of at least one step from what may be an array."""
    values = [item]
    for step in steps:
        values = [
            value[step]
            for container in values
            for value in (_elements(container) if type(container) is list else (container,))
            if type(value) is dict and step in value
        ]
    return [inner for value in values for inner in (value, *_elements(value))]


def _elements(value: object) -> Iterator[Any]:
    """Give the elements of an array, of arrays in it too; nothing for any other value."""
    pending = [iter(value)] if type(value) is list else []
    while pending:
        for inner in pending[-1]:
            yield inner
            if type(inner) is list:
                pending.append(iter(inner))
                break
        else:
            pending.pop()


def _node(
    node: Mapping[str, Any], paths: dict[str, int], form: Callable[[str], str]
) -> tuple[_Test, _Addressed]:
    """Compile one node and what stands below it (at most 6 deep)."""
    if "not" in node:
        test, addressed = _node(node["not"], paths, form)
        return (lambda values: not test(values)), addressed
    for word, joined in (("all", all), ("any", any)):
        if word in node:
            return _joined([_node(child, paths, form) for child in node[word]], joined)
    path: str = node["field"]
    index = paths.setdefault(path, len(paths))
    compares = _comparison(node["op"], node["value"], form)
    return (lambda values: compares(values[index])), (lambda seen: seen[index])


def _joined(
    children: Sequence[tuple[_Test, _Addressed]], joined: Callable[[Iterator[bool]], bool]
) -> tuple[_Test, _Addressed]:
    tests = [test for test, _ in children]
    addressed = [each for _, each in children]
    return (
        lambda values: joined(test(values) for test in tests),
        lambda seen: joined(each(seen) for each in addressed),
    )


def _comparison(op: str, value: Any, form: Callable[[str], str]) -> Callable[[_Values], bool]:  # noqa: ANN401 - a scalar of JSON
    """Compile the comparison of a leaf with the values that its path resolved to."""
    if op == "exists":
        return lambda values: bool(values) is value
    if type(value) is str:
        wanted = form(value)
        if op == "contains":
            return lambda values: any(type(v) is str and wanted in v for v in values)
        if op == "prefix":
            return lambda values: any(type(v) is str and v.startswith(wanted) for v in values)
        return lambda values: any(type(v) is str and v == wanted for v in values)
    if type(value) is int:
        # Both compare exactly; bool is an int to Python and not to JSON.
        return lambda values: any(
            (type(v) is int or type(v) is Decimal) and v == value for v in values
        )
    return lambda values: any(v is value for v in values)
