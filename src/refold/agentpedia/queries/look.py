"""One look at the stored view: all that is asked of one state of the database, and what is hidden.

What the operator hides is kept in memory and read again when it changed, which each look sees by
one number.
"""

from functools import cached_property

import msgspec
from sqlalchemy import Connection, bindparam, literal, select

from refold.agentpedia.queries.model import Withheld, utc_of
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.store import Reading
from refold.agentpedia.store.hidden import Hidden, HiddenRow, SqlHidden, changes
from refold.agentpedia.store.tables import folded
from refold.agentpedia.store.values import SqlValues
from refold.metaid.store import Store, open_store

__all__ = ["Hidings", "Look", "Standing", "withheld_of"]

STANDING = (
    folded.c.rules,
    folded.c.height,
    folded.c.digest,
    select(changes.c.changes).where(changes.c.id == 1).scalar_subquery(),
)
"""What says how the view stands; `standing_at` reads it."""

_STANDING = Question(
    # The row that is always there, so that hidings are known before anything was folded.
    lambda _: select(*STANDING).select_from(
        select(literal(1).label("one")).subquery().outerjoin(folded, folded.c.id == bindparam("id"))
    )
)


class Standing(msgspec.Struct, frozen=True, gc=False):
    """How the view stands: of which rules, at which tip, with which digest.

    `tip` is one above the last height that was folded, None when nothing was. `hidden` counts
    changes of what the operator hides.
    """

    rules: str
    tip: int | None
    digest: str
    hidden: int

    @property
    def version(self) -> str:
        """A name for all that the view says, and for what of it is withheld."""
        return f"{self.tip}:{self.digest}:{self.hidden}"


def standing_at(
    rules: str | None, tip: int | None, digest: str | None, hidden: int | None
) -> Standing:
    """Read a row of `STANDING`."""
    return Standing(rules or "", tip, digest or "", hidden or 0)


class Hidings:
    """What is hidden, in the memory of this process. Threads may share it."""

    def __init__(self) -> None:
        self._known: tuple[int, Hidden] = (0, Hidden())

    def at(self, connection: Connection, changes: int) -> Hidden:
        """Give what is hidden after so many changes."""
        known = self._known
        if known[0] != changes:
            known = self._known = (changes, SqlHidden(connection).all())
        return known[1]


class Look:
    """See the module; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection, hidings: Hidings) -> None:
        self.connection = connection
        self._hidings = hidings

    @cached_property
    def standing(self) -> Standing:
        """How the view stands."""
        row = _STANDING.first(self.connection, id=1)
        return standing_at(*(row or (None, None, None, 0)))

    @cached_property
    def hidden(self) -> Hidden:
        """What the operator hides."""
        return self._hidings.at(self.connection, self.standing.hidden)

    @cached_property
    def reading(self) -> Reading:
        """Lists of the view."""
        return Reading(self.connection)

    @cached_property
    def values(self) -> SqlValues:
        """Single values of the view."""
        return SqlValues(self.connection)

    @cached_property
    def store(self) -> Store:
        """Pins, bodies and facts."""
        return open_store(self.connection)


def withheld_of(row: HiddenRow | None) -> Withheld | None:
    """Give what an answer says of a text that is hidden; None for one that is not."""
    return None if row is None else Withheld(row.kind, row.name, row.reason, utc_of(row.since))
