"""Pictures drawn on the server: graphs of versions, lines of reputation, differences in columns."""

import re
from collections.abc import Sequence

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from refold.agentpedia.pages.curve import HEIGHT, WIDTH, curve_of, told_of
from refold.agentpedia.pages.diffview import CONTEXT, Pair, column_of, sides_of
from refold.agentpedia.pages.graph import LEGEND, MAX_LANES, EdgeKind, Line, drawn, layout_of
from refold.agentpedia.queries.model import Edge, Node
from refold.agentpedia.queries.model_reader import Gain, ReputationLine
from refold.agentpedia.worddiff import Piece, diff_texts

FEW = settings(max_examples=60, phases=(Phase.explicit, Phase.reuse, Phase.generate))
DATA = re.compile(r"(?:[MLHVCaZ][0-9 -]*)+")
KINDS = ("rev", "revert", "ruling", "redirect")


def node(number: int, kind: str = "rev", **said: bool) -> Node:
    marks = {"is_head": False, "is_displayed": False, "is_disputed": False, **said}
    return Node(
        id=f"v{number}", place=number, kind=kind, author="e", height=number, **marks  # type: ignore[arg-type] # one of KINDS
    )  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    """Any versions, and edges between any two of them, or to one that is not there."""
    count = draw(st.integers(1, 25))
    nodes = [node(n, draw(st.sampled_from(KINDS))) for n in range(count)]
    ends = st.integers(0, count)
    kinds: st.SearchStrategy[EdgeKind] = st.sampled_from(("parent", "revert", "contest"))
    some = draw(st.lists(st.tuples(ends, ends, kinds), max_size=60))
    return nodes, [Edge(f"v{one}", f"v{other}", kind) for one, other, kind in some]


def crowded(count: int) -> tuple[list[Node], list[Edge]]:
    """Give versions that all go back to the first ones: more lines than there are lanes."""
    nodes = [node(n) for n in range(2 * count)]
    return nodes, [Edge(f"v{count + n}", f"v{n}", "revert") for n in range(count)]


def a_hole() -> tuple[list[Node], list[Edge]]:
    """Give a branch beside a line that goes on."""
    nodes = [node(n) for n in range(4)]
    return nodes, [
        Edge("v3", "v1", "parent"),
        Edge("v2", "v1", "parent"),
        Edge("v1", "v0", "parent"),
    ]


@given(graphs())
@example(crowded(20))
@example(a_hole())
@FEW
def test_each_version_has_a_row_and_no_line_runs_through_a_node(
    graph: tuple[list[Node], list[Edge]],
) -> None:
    nodes, edges = graph
    layout = layout_of(nodes, edges)
    assert [row.id for row in layout.rows] == [one.id for one in reversed(nodes)]
    assert layout.lanes <= MAX_LANES + 1
    for row in layout.rows:
        assert row.lane < layout.lanes
        lanes = [line.lane for line in row.through]
        assert row.lane not in lanes
        assert len(set(lanes)) == len(lanes)
        assert all(line.lane < MAX_LANES for line in (*row.through, *row.into, *row.out))


@given(graphs())
@example(crowded(20))
@example(a_hole())
@FEW
def test_edges_lead_from_a_version_down_to_its_base(graph: tuple[list[Node], list[Edge]]) -> None:
    nodes, edges = graph
    layout = layout_of(nodes, edges)
    there = {one.id for one in nodes}
    wanted = {
        (edge.source, edge.target)
        for edge in edges
        if edge.source in there and edge.target in there and older(edge)
    }
    led = set()
    for start, row in enumerate(layout.rows):
        for line in row.out:
            led.add((row.id, end_of(layout.rows[start + 1 :], line)))
    assert led <= wanted
    assert len(wanted - led) == layout.left_out
    if len(wanted) <= MAX_LANES:
        assert layout.left_out == 0


def older(edge: Edge) -> bool:
    return int(edge.target[1:]) < int(edge.source[1:])


def end_of(below: Sequence[object], line: Line) -> str:
    """Follow a line down to the version that it ends at."""
    for row in below:
        if line in row.into:  # type: ignore[attr-defined] # rows of a layout
            return str(row.id)  # type: ignore[attr-defined]
        assert line in row.through  # type: ignore[attr-defined]
    raise AssertionError(line)


@given(graphs())
@example(crowded(20))
@FEW
def test_shapes_are_classes_and_numbers_within_the_picture(
    graph: tuple[list[Node], list[Edge]],
) -> None:
    nodes, edges = graph
    for picture in drawn(layout_of(nodes, edges), nodes):
        assert sum("node" in shape.name for shape in picture.head) == 1
        for shape in (*picture.head, *picture.tail):
            assert re.fullmatch(r"[a-z ]+", shape.name)
            assert DATA.fullmatch(shape.data), shape.data


def test_signs_tell_kinds_and_marks_apart() -> None:
    plain = {drawn(layout_of([node(0, kind)], []), [node(0, kind)])[0].head for kind in KINDS}
    assert len(plain) == len(KINDS)
    marked = [node(0), node(0, is_displayed=True), node(0, is_disputed=True)]
    assert len({drawn(layout_of([one], []), [one])[0].head for one in marked}) == 3
    assert len({shapes for _, shapes in LEGEND}) == len(LEGEND)


def test_of_two_edges_to_one_base_the_one_that_says_more_is_drawn() -> None:
    nodes = [node(0), node(1)]
    edges = [Edge("v1", "v0", "contest"), Edge("v1", "v0", "parent")]
    assert layout_of(nodes, edges).rows[0].out == (Line(0, "contest"),)


LINES = st.lists(st.sampled_from(["a", "b", "tea", "灯", "x y"]), max_size=14).map("\n".join)


@given(before=LINES, after=LINES)
@example(before="a\nb", after="")
@example(before="", after="")
@FEW
def test_columns_hold_both_texts_but_for_what_is_folded(before: str, after: str) -> None:
    pieces = diff_texts(before, after)
    column = column_of(pieces)
    assert not column.is_cut
    if all(part.piece for part in column.parts):
        assert [part.piece for part in column.parts] == pieces
    shown = [part.piece for part in column.parts if part.piece]
    assert [p for p in shown if p.op != "same"] == [p for p in pieces if p.op != "same"]
    sides = sides_of(pieces)
    assert not sides.is_cut
    for text, at in ((before, 0), (after, 1)):
        lines = [said(pair[at]) for pair in sides.pairs if not pair.folded and pair[at] is not None]
        hidden = sum(pair.folded for pair in sides.pairs)
        assert len(lines) + hidden == len(text.split("\n"))
        if not hidden:
            assert "\n".join(lines) == text


def said(cell: object) -> str:
    return "".join(piece.text for piece in cell or ())  # type: ignore[attr-defined] # a cell


def test_what_stayed_is_folded_to_the_lines_around_a_change() -> None:
    many = [f"line {n}" for n in range(100)]
    pieces = diff_texts("\n".join([*many, "old", *many]), "\n".join([*many, "new", *many]))
    assert [pair.folded for pair in sides_of(pieces).pairs if pair.folded] == [100 - CONTEXT] * 2
    folded = [part.folded for part in column_of(pieces).parts if part.folded]
    assert len(folded) == 2
    assert sum(folded) > 190


def test_one_line_stands_beside_that_of_several_which_it_was_part_of() -> None:
    several = "first line, which goes on\n\nmiddle\n\nand the last line"
    for one, at in (("first line, and no more", 0), ("here comes the last line", -1)):
        for before, after, side in ((one, several, 0), (several, one, 1)):
            pairs = sides_of(diff_texts(before, after)).pairs
            assert len(pairs) == 5
            assert said(pairs[at][side]) == one
            assert said(pairs[at][1 - side]) == several.split("\n")[at]


def test_a_difference_is_cut_where_it_would_be_too_much() -> None:
    pieces = [Piece("gone", "a\n" * 500), Piece("new", "b" * 1000)]
    assert column_of(pieces, 100).is_cut
    sides = sides_of(pieces, 100)
    assert sides.is_cut
    assert sum(len(said(pair.before)) + len(said(pair.after)) for pair in sides.pairs) <= 101
    assert sides_of([Piece("same", "short")], 100) == (
        (Pair(*((Piece("same", "short"),),) * 2),),
        False,
    )


GAINS = st.lists(
    st.builds(
        Gain,
        st.integers(100, 900),
        st.integers(-50, 10),
        st.sampled_from(["stood", "reviews", "overturned", "warn-editor"]),
        st.just("p"),
    ),
    max_size=60,
).map(lambda gains: tuple(sorted(gains, key=lambda gain: gain.height)))


@given(gains=GAINS, start=st.integers(-40, 40))
@FEW
def test_a_line_of_reputation_is_steps_inside_of_its_picture(
    gains: tuple[Gain, ...], start: int
) -> None:
    end = start + sum(gain.tenths for gain in gains)
    line = ReputationLine(
        from_height=100, to_height=900, start=start, end=end, gains=gains, is_whole=start == 0
    )
    curve = curve_of(line)
    for data in (curve.line, curve.zero, curve.ticks):
        assert DATA.fullmatch(data) or not data
    assert all(0 <= int(x) <= WIDTH for x in re.findall(r"H(-?\d+)", curve.line))
    levels = [int(y) for y in re.findall(r"(?:V|M0 )(-?\d+)", curve.line)]
    assert all(0 <= y <= HEIGHT for y in levels)
    assert curve.low <= min(0, start, end)
    assert curve.high >= max(0, start, end)
    told = told_of(gains)
    assert told.loud_count + sum(count for _, count, _ in told.sums) == len(gains)
