"""A copy of the full view that is kept up by what a live digest tells, for tests."""

from copy import deepcopy

from refold.agentpedia.changes import History, Step, Value
from refold.agentpedia.common import Json
from refold.agentpedia.digest import Line


class Copy:
    """Keeps what it is told, and nothing else; counts what it was told since `told` was cleared."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], Value] = {}
        self.histories: dict[int, list[Step]] = {}
        self.told = 0

    def forget(self) -> None:
        self.values.clear()
        self.histories.clear()

    def drop(self, section: str, key: str) -> None:
        del self.values[section, key]
        self.told += 1

    def put(self, value: Value) -> None:
        # What is told is part of a living state, good for the moment only.
        self.values[value.section, value.key] = deepcopy(value)
        self.told += 1

    def history(self, history: History) -> None:
        known = self.histories.get(history.record, [])
        assert history.kept <= len(known)
        self.histories[history.record] = known[: history.kept] + history.steps
        if not self.histories[history.record]:
            del self.histories[history.record]
        self.told += 1 + len(history.steps)

    def full(self) -> dict[str, Json]:
        """Give what `full_view` gives."""
        view: dict[str, Json] = {}
        for section, key in self.values:
            view.setdefault(section, {})[key] = self.values[section, key].value
        return view

    def lines(self) -> list[Line]:
        return [Line(v.section, v.key, v.sha256, v.record) for v in self.values.values()]
