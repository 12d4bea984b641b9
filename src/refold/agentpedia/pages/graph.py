"""A history drawn: from the graph of versions to lanes, and from those to shapes of SVG. Pure.

Each version has a row of its own, the newest first, as in the list that it stands beside; a row is
as high as its words need. So a row is two pictures: its *head* of a fixed height holds the node and
all bends, its *tail* below has only upright lines and is stretched. Shapes are paths with classes:
no style stands in them, and no text of anybody.

What a line leads to, the list says as well: where there are more lines than lanes, the picture
leaves some out and never grows wider.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from refold.agentpedia.queries.model import Edge, Node

__all__ = [
    "HEAD",
    "LANE",
    "LEGEND",
    "MAX_LANES",
    "Drawn",
    "Layout",
    "Line",
    "Row",
    "Shape",
    "drawn",
    "layout_of",
]

EdgeKind = Literal["parent", "revert", "contest"]

MAX_LANES = 6
"""Lanes of lines: more do not fit beside words on a telephone. One more is kept for nodes that come
when all are taken."""
LANE = 14
"""Width of a lane, in units of the drawing: pixels at the usual size of letters."""
HEAD = 40
"""Height of the head of a row, in the same units."""
_NODE = 18
"""Where in the head its node is."""
_RADIUS = 5
_RING = 7
_RANK: dict[str, int] = {"parent": 0, "revert": 1, "contest": 2}


class Line(NamedTuple):
    """A line in a lane, and what it means."""

    lane: int
    kind: EdgeKind


class Row(NamedTuple):
    """One version: its lane, and the lines around it.

    `through` pass by, `into` end here from above, `out` begin here and go on below; `open` are the
    kinds of those whose base is on another page, or for which no lane was left.
    """

    id: str
    lane: int
    through: tuple[Line, ...]
    into: tuple[Line, ...]
    out: tuple[Line, ...]
    open: tuple[EdgeKind, ...]


class Layout(NamedTuple):
    """All rows, the newest first, and how many lanes are in use.

    `left_out` counts the edges between rows that have no line.
    """

    rows: tuple[Row, ...]
    lanes: int
    left_out: int


class Shape(NamedTuple):
    """A path: its class and its data."""

    name: str
    data: str


class Drawn(NamedTuple):
    """The shapes of one row: those of its head, and the upright ones of its tail."""

    id: str
    head: tuple[Shape, ...]
    tail: tuple[Shape, ...]


class _Lanes:
    """What each lane waits for while rows are gone through from the newest down."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, EdgeKind] | None] = [None] * MAX_LANES

    def ending_at(self, name: str) -> list[Line]:
        """Free the lanes that wait for a version; give them."""
        found = []
        for lane, waits in enumerate(self._waiting):
            if waits is not None and waits[0] == name:
                found.append(Line(lane, waits[1]))
                self._waiting[lane] = None
        return found

    def taken(self) -> list[Line]:
        return [Line(lane, waits[1]) for lane, waits in enumerate(self._waiting) if waits]

    def free(self) -> int:
        """Give the first lane that nothing runs in, `MAX_LANES` for none."""
        return next((lane for lane, waits in enumerate(self._waiting) if not waits), MAX_LANES)

    def towards(self, target: str, kind: EdgeKind, beside: int) -> Line | None:
        """Give a lane to a version: one that leads there already, else a free one; None for none.

        `beside` is the lane of the node, which is taken first when it is free.
        """
        if (target, kind) in self._waiting:
            return Line(self._waiting.index((target, kind)), kind)
        lane = beside if beside < MAX_LANES and not self._waiting[beside] else self.free()
        if lane == MAX_LANES:
            return None
        self._waiting[lane] = (target, kind)
        return Line(lane, kind)


def layout_of(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Give each node a row and a lane, and each edge a way down through lanes.

    `nodes` go from the oldest to the newest, as in a `Graph`; edges that do not lead from a node to
    an older one of them are open.
    """
    row_of = {node.id: row for row, node in enumerate(reversed(nodes))}
    leading = _leading(edges)
    lanes = _Lanes()
    rows: list[Row] = []
    left_out = 0
    for name, row in row_of.items():
        into = lanes.ending_at(name)
        lane = min((line.lane for line in into), default=lanes.free())
        through = lanes.taken()
        out: list[Line] = []
        unled: list[EdgeKind] = []
        for edge in leading.get(name, {}).values():
            is_here = row_of.get(edge.target, -1) > row
            line = lanes.towards(edge.target, edge.kind, lane) if is_here else None
            if line is None:
                unled.append(edge.kind)
                left_out += is_here
            else:
                out.append(line)
        rows.append(Row(name, lane, tuple(through), tuple(into), tuple(out), tuple(unled)))
    used = max((1 + line.lane for row in rows for line in (*row.into, *row.out)), default=1)
    widest = max([used, *(1 + row.lane for row in rows)])
    return Layout(tuple(rows), widest, left_out)


def _leading(edges: Sequence[Edge]) -> dict[str, dict[str, Edge]]:
    """Give the edges by source and target; of several between two the one that says most."""
    leading: dict[str, dict[str, Edge]] = {}
    for edge in sorted(edges, key=lambda edge: _RANK[edge.kind]):
        leading.setdefault(edge.source, {})[edge.target] = edge
    return leading


def drawn(layout: Layout, nodes: Sequence[Node]) -> list[Drawn]:
    """Give the shapes of each row, in the order of the rows."""
    by_id = {node.id: node for node in nodes}
    return [_drawn(row, by_id[row.id]) for row in layout.rows]


def _drawn(row: Row, node: Node) -> Drawn:
    at = _middle(row.lane)
    head = [Shape(line.kind, f"M{_middle(line.lane)} 0V{HEAD}") for line in row.through]
    head += [Shape(line.kind, _bend(_middle(line.lane), 0, at, _NODE)) for line in row.into]
    head += [Shape(line.kind, _bend(at, _NODE, _middle(line.lane), HEAD)) for line in row.out]
    if row.open and all(line.lane != row.lane for line in row.out):
        head.append(Shape(f"{row.open[0]} open", f"M{at} {_NODE}V{HEAD - 4}"))
    head += _mark(node, at)
    lanes = dict.fromkeys((*row.through, *row.out))
    tail = [Shape(line.kind, f"M{_middle(line.lane)} 0V1") for line in lanes]
    return Drawn(row.id, tuple(head), tuple(tail))


def _middle(lane: int) -> int:
    return lane * LANE + LANE // 2


def _bend(x: int, y: int, to_x: int, to_y: int) -> str:
    """Give a line down, curved when it changes its lane."""
    if x == to_x:
        return f"M{x} {y}V{to_y}"
    half = (y + to_y) // 2
    return f"M{x} {y}C{x} {half} {to_x} {half} {to_x} {to_y}"


def _mark(node: Node, x: int) -> list[Shape]:
    """Give the sign of a node: one for each kind, with a ring where it is displayed."""
    y, r = _NODE, _RADIUS
    signs = {
        "rev": _circle(x, y, r - 1),
        "revert": f"M{x} {y - r}L{x + r} {y}L{x} {y + r}L{x - r} {y}Z",
        "ruling": f"M{x - 4} {y - 4}H{x + 4}V{y + 4}H{x - 4}Z",
        "redirect": f"M{x - 4} {y - 5}L{x + 5} {y}L{x - 4} {y + 5}Z",
    }
    name = f"node {node.kind} disputed" if node.is_disputed else f"node {node.kind}"
    ring = [Shape("ring", _circle(x, y, _RING))] if node.is_displayed else []
    return [*ring, Shape(name, signs[node.kind])]


def _circle(x: int, y: int, r: int) -> str:
    return f"M{x - r} {y}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"


def _plain(kind: Literal["rev", "revert", "ruling", "redirect"], **said: bool) -> Node:
    marks = {"is_head": False, "is_displayed": False, "is_disputed": False, **said}
    return Node(id="", place=0, kind=kind, author=None, height=None, **marks)


def _sign(kind: Literal["rev", "revert", "ruling", "redirect"], **said: bool) -> tuple[Shape, ...]:
    """Give the sign of a node on its own."""
    return tuple(_mark(_plain(kind, **said), _NODE))


LEGEND: tuple[tuple[str, tuple[Shape, ...]], ...] = (
    ("rev", _sign("rev")),
    ("revert", _sign("revert")),
    ("ruling", _sign("ruling")),
    ("redirect", _sign("redirect")),
    ("displayed", _sign("rev", is_displayed=True)),
    ("disputed", _sign("rev", is_disputed=True)),
    ("to-parent", (Shape("parent", f"M8 {_NODE}H28"),)),
    ("to-older", (Shape("revert", f"M8 {_NODE}H28"),)),
    ("to-declared", (Shape("contest", f"M8 {_NODE}H28"),)),
    ("elsewhere", (*_mark(_plain("rev"), 13), Shape("parent open", f"M13 {_NODE}H28"))),
)
"""Each sign and line alone, for the words beside the picture; its view box is 8 8 20 20."""
