"""The scenes of the demo: a list then, the same list now, and what becomes of a receipt about it.

Names, places and lists are made up. `then` is what the receipt was written from, `now` what its
source answers today.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from refold.coverage.demo.told import NOTHING, ToldPage
from refold.coverage.hashes import EMPTY_SET
from refold.coverage.judge import Judgement
from refold.coverage.record import Coverage

__all__ = ["BUILT_AT", "ORIGIN", "SCENES", "Scene"]

ORIGIN: Final = "https://lists.example.test"
"""The origin that the receipts name; nobody can have it (RFC 6761)."""
BUILT_AT: Final = "2025-11-05T09:00:00Z"
"""When all of them were written."""
LONG: Final = "9000d"
"""How long most of them hold: so that they show today what they are made to show."""

Json = dict[str, Any]
Pages = tuple[ToldPage, ...]


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """One receipt: how it is built, what its source answers now, and what that makes of it.

    `then` and `now` are the pages of its list, in their order. `forge` changes the record that was
    built, as a writer who is not honest does. `coverage` is None where nothing is walked.
    """

    name: str
    judgement: Judgement
    coverage: Coverage | None
    about: str
    question: str
    match: Json
    then: Pages
    now: Pages
    valid_for: str = LONG
    forge: Callable[[Json], Json] | None = None

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of its pages, as many as it has had."""
        count = max(len(self.then), len(self.now))
        first = f"{ORIGIN}/{self.name}"
        return (first, *(f"{first}?page={number}" for number in range(2, count + 1)))


def _pages(*rows: list[Json]) -> Pages:
    """Give a list in pages; who sets them together adds the links."""
    return tuple(ToldPage({"items": items}) for items in rows)


def _boats(*names: str) -> list[Json]:
    return [{"id": name.lower().replace(" ", "-"), "name": name} for name in names]


def _hide_the_find(record: Json) -> Json:
    """Claim that nothing was found, over the same rows."""
    result = {"matchCount": 0, "matches": [], "resultHash": EMPTY_SET}
    forged = {**record, "claim": "ABSENT", "result": result, "blindspots": []}
    return {**forged, "justification": "no_match_in_full_coverage"}


def _grade_oneself(record: Json) -> Json:
    """Say who verified it, and count a match that is not there."""
    result = {**record["result"], "matchCount": 1}
    return {**record, "verifiedBy": "the writer", "result": result}


def _named(field: str, value: str, op: str = "eq") -> Json:
    return {"field": field, "op": op, "value": value}


_HARBOUR: Final = (
    _boats("Amber", "Breton", "Cormorant", "Dunlin"),
    _boats("Eider", "Fulmar", "Gannet"),
)
_LEDGER: Final = [{"id": f"entry-{number}", "name": f"Crate {number}"} for number in range(1, 101)]

SCENES: Final = (
    Scene(
        name="harbour",
        judgement="VERIFIED",
        coverage="FULL",
        about="nothing was found, and nothing is; a boat has come since, and it is another one",
        question="Is a boat named Kittiwake moored in the harbour?",
        match=_named("name", "Kittiwake"),
        then=_pages(*_HARBOUR),
        now=_pages(*_HARBOUR, _boats("Heron")),
    ),
    Scene(
        name="moorings",
        judgement="VERIFIED",
        coverage="FULL",
        about="one was found, and it is still there",
        question="Is a boat named Gannet moored in the harbour?",
        match=_named("name", "Gannet"),
        then=_pages(*_HARBOUR),
        now=_pages(*_HARBOUR),
    ),
    Scene(
        name="arrivals",
        judgement="STALE",
        coverage="FULL",
        about="nothing was found then; now there is one",
        question="Has a boat named Petrel arrived?",
        match=_named("name", "Petrel"),
        then=_pages(_boats("Amber", "Breton")),
        now=_pages(_boats("Amber", "Breton", "Petrel")),
    ),
    Scene(
        name="tides",
        judgement="STALE",
        coverage="FULL",
        about="nothing has changed, but it was to hold for a week",
        question="Does the tide table mention a spring tide on Friday?",
        match=_named("name", "Friday, spring", "prefix"),
        then=_pages(_boats("Thursday neap", "Friday neap", "Saturday neap")),
        now=_pages(_boats("Thursday neap", "Friday neap", "Saturday neap")),
        valid_for="7d",
    ),
    Scene(
        name="registry",
        judgement="REFUTED",
        coverage="FULL",
        about="the writer left out what stands in the very rows that the receipt vouches for",
        question="Is the name kittiwake free in the registry?",
        match=_named("id", "kittiwake"),
        then=_pages(_boats("Amber", "Kittiwake", "Osprey")),
        now=_pages(_boats("Amber", "Kittiwake", "Osprey")),
        forge=_hide_the_find,
    ),
    Scene(
        name="ledger",
        judgement="INCONCLUSIVE",
        coverage="PARTIAL",
        about="a hundred rows and no word about more: nobody can say whether that is all",
        question="Does the ledger list a crate of lamp oil?",
        match=_named("name", "Lamp oil", "prefix"),
        then=_pages(_LEDGER),
        now=_pages(_LEDGER),
    ),
    Scene(
        name="pilots",
        judgement="INCONCLUSIVE",
        coverage="BROKEN",
        about="nothing was found then, and the list is gone: a source that is away proves nothing",
        question="Is there a pilot named Sand?",
        match=_named("name", "Sand"),
        then=_pages(_boats("Ash", "Birch")),
        now=(NOTHING,),
    ),
    Scene(
        name="pennants",
        judgement="INVALID",
        coverage=None,
        about="the writer graded itself and counted wrong: nothing is walked for it",
        question="Is there a pennant with a star?",
        match=_named("name", "star", "contains"),
        then=_pages(_boats("Blue field", "Red field")),
        now=_pages(_boats("Blue field", "Red field")),
        forge=_grade_oneself,
    ),
)
"""Every judgement at least once."""
