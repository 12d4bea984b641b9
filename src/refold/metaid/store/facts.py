"""Content and stake facts in the tables of a database: `interface.Facts`."""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import msgspec
from sqlalchemy import Connection, Table, select

from refold.db import one_of, put
from refold.metaid.store.model import ContentFact, FactState, StakeFact
from refold.metaid.store.readers import note_pins
from refold.metaid.store.reading import batches
from refold.metaid.store.tables import content_facts, stake_facts

Fact = TypeVar("Fact", ContentFact, StakeFact)

_REFUSING: frozenset[FactState] = frozenset({"mismatch"})
"""Of a text: a rev stands as well without one, so only this changes what a fold makes of it."""
_DECIDING: frozenset[FactState] = frozenset({"verified", "mismatch"})
"""Of a stake: a register waits as long as nothing is known."""
_WORTH = {"unavailable": 0, "mismatch": 1, "verified": 2}


class SqlFacts:
    """See `interface.Facts`; as long-lived as the transaction of `connection`."""

    def __init__(self, connection: Connection) -> None:
        self._contents = _Facts(connection, content_facts, ContentFact, _REFUSING)
        self._stakes = _Facts(connection, stake_facts, StakeFact, _DECIDING)

    def put_content(self, facts: Iterable[ContentFact]) -> list[str]:
        """Note facts about texts."""
        return self._contents.put(facts)

    def content(self, pin_id: str) -> ContentFact | None:
        """Give what is known of the text of a pin."""
        return self._contents.get(pin_id)

    def content_states(self) -> dict[str, FactState]:
        """Give the state of every pin of which there is a fact."""
        return self._contents.states()

    def due_content(self, now: int, limit: int) -> list[ContentFact]:
        """Give the facts to be tried again."""
        return self._contents.due(now, limit)

    def put_stakes(self, facts: Iterable[StakeFact]) -> list[str]:
        """Note facts about stakes."""
        return self._stakes.put(facts)

    def stake(self, pin_id: str) -> StakeFact | None:
        """Give what is known of the stake of a pin."""
        return self._stakes.get(pin_id)

    def stake_states(self) -> dict[str, FactState]:
        """Give the state of every pin of which there is a fact."""
        return self._stakes.states()

    def due_stakes(self, now: int, limit: int) -> list[StakeFact]:
        """Give the facts to be tried again."""
        return self._stakes.due(now, limit)


class _Facts(Generic[Fact]):
    """Facts of one kind: `kind` has a member for each column of `table`."""

    def __init__(
        self, connection: Connection, table: Table, kind: type[Fact], counting: frozenset[FactState]
    ) -> None:
        self._connection = connection
        self._counting = counting
        self._table = table
        self._kind: Callable[..., Fact] = kind
        self._members = [table.c[name] for name in kind.__struct_fields__]

    def put(self, facts: Iterable[Fact]) -> list[str]:
        changed: list[str] = []
        before_of: dict[str, FactState] = {}
        after_of: dict[str, FactState] = {}
        for batch in batches(facts):
            before = self._held([fact.pin for fact in batch])
            better: dict[str, Fact] = {}
            for fact in batch:
                known = better.get(fact.pin) or before.get(fact.pin)
                if known is None or _WORTH[fact.state] >= _WORTH[known.state]:
                    better[fact.pin] = fact
            put(self._connection, self._table, [_values(fact) for fact in better.values()])
            for pin_id, fact in better.items():
                if pin_id not in before or before[pin_id].state != fact.state:
                    changed.append(pin_id)
                    after_of[pin_id] = fact.state
                    if pin_id in before:
                        before_of.setdefault(pin_id, before[pin_id].state)
        read_anew = [
            pin_id
            for pin_id in changed
            if self._weighs(before_of.get(pin_id)) != self._weighs(after_of[pin_id])
        ]
        for pin_ids in batches(read_anew):
            note_pins(self._connection, pin_ids)
        return changed

    def _weighs(self, state: FactState | None) -> FactState | None:
        """Give a state if a fold reads it as another than that nothing is known."""
        return state if state in self._counting else None

    def get(self, pin_id: str) -> Fact | None:
        return self._held([pin_id]).get(pin_id)

    def states(self) -> dict[str, FactState]:
        asked = select(self._table.c.pin, self._table.c.state)
        return dict(self._connection.execute(asked).all())

    def due(self, now: int, limit: int) -> list[Fact]:
        when = self._table.c.next_try
        asked = select(*self._members).where(when <= now).order_by(when, self._table.c.pin)
        rows = self._connection.execute(asked.limit(limit)).mappings()
        return [self._kind(**row) for row in rows]

    def _held(self, pin_ids: list[str]) -> dict[str, Fact]:
        asked = select(*self._members).where(one_of(self._connection, self._table.c.pin, pin_ids))
        rows = self._connection.execute(asked).mappings()
        return {row["pin"]: self._kind(**row) for row in rows}


def _values(fact: ContentFact | StakeFact) -> dict[str, object]:
    return msgspec.structs.asdict(fact)
