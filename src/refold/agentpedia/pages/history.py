"""The history of an entry as a drawn list, and two versions compared."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from refold.agentpedia.api.asked import Height, Key, VersionId
from refold.agentpedia.api.asking import Asking
from refold.agentpedia.pages.diffview import column_of, sides_of
from refold.agentpedia.pages.graph import HEAD, LANE, LEGEND, Drawn, Layout, drawn, layout_of
from refold.agentpedia.queries import history, texts
from refold.agentpedia.queries.drawnhistory import drawn_history_of, verdicts_on
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Difference, Edge, Step
from refold.agentpedia.queries.model_reader import Freeze, HistoryDrawn, Verdicts
from refold.agentpedia.worddiff import Piece
from refold.kernel.errors import InputError
from refold.metaid.author import Verdict
from refold.serving.answers import View
from refold.serving.asked import PageAsked
from refold.serving.call import Call
from refold.serving.operation import page

__all__ = ["MAX_STEPS", "DifferenceShown", "HistoryPages"]

MAX_STEPS = 100
"""Steps on a page: with its picture one takes a kilobyte."""


class HistoryPageAsked(PageAsked, kw_only=True, frozen=True, rename="camel"):
    """The history of an entry; `before` is the `earlier` of another page."""

    key: Key
    before: Height | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_STEPS, description="Steps of a page at most.")] = 25


class DiffPageAsked(PageAsked, kw_only=True, frozen=True, rename="camel"):
    """Two versions, and how they are to be set."""

    before: VersionId
    after: VersionId
    view: Literal["inline", "side"] = "inline"


class DifferenceShown(msgspec.Struct, frozen=True, rename="camel"):
    """Two versions compared; where the texts are not compared, `left_out` says why."""

    difference: Difference
    left_out: Literal["long", "withheld", "unavailable"] | None
    verdicts: Verdicts


class HistoryRow(NamedTuple):
    """A step as a row: its picture, where it leads, and what it is."""

    step: Step
    pin: str
    drawn: Drawn
    is_head: bool
    is_displayed: bool
    is_disputed: bool
    is_frozen: bool
    freezes: bool
    went_back_to: str | None
    before: str | None
    contest: tuple[str, str] | None
    verdict: Verdict | None


class HistoryPages:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    @page(
        "/agentpedia/entries/{key}/history", summary="The history of an entry",
        codes=("entry-unknown",),
    )  # fmt: skip
    async def history(self, asked: HistoryPageAsked, call: Call) -> View:
        """Show the newest steps, or those before a place, with the graph beside them."""
        found = await self._asking.in_thread(
            call, drawn_history_of, asked.key, asked.limit, asked.before
        )
        template = "agentpedia/history.html"
        if call.wants_json:
            return View(template, {}, found)
        layout = layout_of(found.graph.nodes, found.graph.edges)
        shown = {
            "found": found,
            "rows": history_rows(found, layout),
            "width": layout.lanes * LANE,
            "head": HEAD,
            "legend": LEGEND,
            "left_out": layout.left_out,
            "is_first": asked.before is None,
        }
        return View(template, shown, found)

    @page("/agentpedia/diff", summary="Two versions compared", codes=("version-unknown",))
    async def diff(self, asked: DiffPageAsked, call: Call) -> View:
        """Show what went and what came, in one column or in two."""
        found = await self._asking.in_thread(call, difference_shown, asked.before, asked.after)
        template = "agentpedia/diff.html"
        if call.wants_json:
            return View(template, {}, found)
        pieces: Sequence[Piece] = found.difference.pieces or ()
        shown = {
            "found": found,
            "view": asked.view,
            "is_same": all(piece.op == "same" for piece in pieces),
            "column": column_of(pieces) if asked.view == "inline" else None,
            "sides": sides_of(pieces) if asked.view == "side" else None,
        }
        return View(template, shown, found)


def difference_shown(look: Look, before: str, after: str) -> DifferenceShown:
    """Compare two versions. Raises InputError `version-unknown`."""
    verdicts = verdicts_on(look, [name.partition("::")[0] for name in (before, after)])
    try:
        difference = history.difference_of(look, before, after)
    except InputError as error:
        if error.code != "diff-too-long":
            raise
        versions = [texts.named_version(look, name) for name in (before, after)]
        older, newer = (texts.item_of(look, version) for version in versions)
        return DifferenceShown(Difference(before=older, after=newer, pieces=None), "long", verdicts)
    if difference.pieces is not None:
        return DifferenceShown(difference, None, verdicts)
    is_withheld = difference.before.withheld or difference.after.withheld
    return DifferenceShown(difference, "withheld" if is_withheld else "unavailable", verdicts)


def history_rows(found: HistoryDrawn, layout: Layout) -> list[HistoryRow]:
    """Give the steps as rows, the newest first."""
    nodes = {node.id: node for node in found.graph.nodes}
    pictures = {one.id: one for one in drawn(layout, found.graph.nodes)}
    back = {edge.source: edge.target for edge in found.graph.edges if edge.kind == "revert"}
    frozen = frozen_places(found.steps, found.freezes)
    begun = {freeze.from_place for freeze in found.freezes}
    before = _before(found.steps, found.graph.edges)
    rows = []
    for step in found.steps:
        node, pin = nodes[step.id], step.id.partition("::")[0]
        rows.append(
            HistoryRow(
                step=step,
                pin=pin,
                drawn=pictures[step.id],
                is_head=node.is_head,
                is_displayed=node.is_displayed,
                is_disputed=node.is_disputed,
                is_frozen=step.place in frozen,
                freezes=step.place in begun,
                went_back_to=back.get(step.id),
                before=before.get(step.id),
                contest=found.contests.get(pin),
                verdict=found.verdicts.get(pin),
            )
        )
    return rows


def _before(steps: Sequence[Step], edges: Sequence[Edge]) -> dict[str, str]:
    """Give the version that each one is compared with: the one that stood before it.

    Of the oldest on the page that is its parent: the one before is not on it.
    """
    parents = {edge.source: edge.target for edge in edges if edge.kind == "parent"}
    versions = [step.id for step in steps if step.version is not None]
    found = dict(pairwise(versions))
    if versions and versions[-1] in parents:
        found[versions[-1]] = parents[versions[-1]]
    return found


def frozen_places(steps: Sequence[Step], freezes: Sequence[Freeze]) -> set[int]:
    """Give the places of the steps that came in a freeze, the one that brought it included.

    A step without a height, of a redirect, stands where the one before it stands.
    """
    places: set[int] = set()
    for freeze in freezes:
        height = freeze.from_height
        for step in reversed(steps):
            height = height if step.version is None else step.version.height
            if step.place < freeze.from_place:
                continue
            is_begin = step.place == freeze.from_place
            goes_on = not freeze.is_over or height < (freeze.until_height or 0)
            if is_begin or goes_on:
                places.add(step.place)
    return places
