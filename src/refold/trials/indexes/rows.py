"""Rows of the indexes, and where a fold keeps them."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from refold.trials.tables import Kind, Outcome, Seen, Status

__all__ = ["Cell", "Entry", "PostRow", "ReviewRow", "RunRow", "ServiceRow", "State", "TrialRow"]

Word = Literal["", "removed"]


class Entry(msgspec.Struct, frozen=True):
    """An accepted message without its text; `accepted_at` in Unix seconds."""

    id: int
    kind: Kind
    public_key: str
    reply_to: int | None
    accepted_at: int


class PostRow(msgspec.Struct, frozen=True):
    """A format post. `run` is the run that a disposition answers, 0 for the others.

    `said` is what it says, as JSON, None once the text was removed.
    """

    id: int
    kind: Kind
    public_key: str
    run: int
    said: bytes | None


class TrialRow(msgspec.Struct, frozen=True):
    """A trial. `closes` is Unix seconds; of one whose text was removed it is 0, `service` empty.

    `proven` is whether a key other than the publisher's reported the owner proof as verified.
    """

    id: int
    public_key: str
    service: str
    closes: int
    proven: bool


class RunRow(msgspec.Struct, frozen=True):
    """A run. `cold` is the first of its key on its trial. One that was removed has no words.

    `classes` are divided by commas. `disposition` and `status` are the publisher's latest answer, 0
    and "" without one; `recheck` is the run that completed the recheck, 0 if none did, and
    `rechecked` how that one ended, or `removed`.
    """

    id: int
    trial: int
    public_key: str
    publisher: str
    accepted_at: int
    cold: bool
    removed: bool = False
    service: str = ""
    runtime: str = ""
    outcome: Outcome | Literal[""] = ""
    proof: Seen | Literal[""] = ""
    classes: str = ""
    disposition: int = 0
    status: Status | Literal[""] = ""
    recheck: int = 0
    rechecked: Outcome | Word = ""

    @property
    def owes(self) -> bool:
        """Whether its key has still to recheck it; when the trial has closed, that has lapsed."""
        return self.status == "fixed" and not self.recheck


class ReviewRow(msgspec.Struct, frozen=True):
    """A review that stands. `tool` is a hash of its name; the latest of key and tool counts."""

    id: int
    public_key: str
    tool: str
    accepted_at: int
    runtime: str
    classes: str


class ServiceRow(msgspec.Struct, frozen=True):
    """A service: how many trials it has, and how many of them are proven."""

    service: str
    trials: int
    proven: int


class Cell(msgspec.Struct, frozen=True):
    """A place where posts and distinct keys are counted: `what` in a `scope`, of a runtime or all.

    `ranks` is that its count says which runtimes of the scope are named.
    """

    scope: str
    what: str
    runtime: str = ""
    ranks: bool = False

    @property
    def id(self) -> str:
        """The cell in one text; no part of it has a TAB."""
        return f"{self.scope}\t{self.what}\t{self.runtime}"


Row = PostRow | TrialRow | RunRow | ReviewRow


class State(Protocol):
    """Where rows are kept."""

    def key_of(self, message: int) -> str:
        """Give the key of any accepted message, "" if there is none."""

    def post(self, id_: int) -> PostRow | None:
        """Give a format post."""

    def trial(self, id_: int) -> TrialRow | None:
        """Give a trial."""

    def run(self, id_: int) -> RunRow | None:
        """Give a run."""

    def next_run(self, trial: int, public_key: str, after: int) -> RunRow | None:
        """Give the first run of a key on a trial whose id is larger than one."""

    def owing(self, trial: int, public_key: str) -> list[RunRow]:
        """Give the runs of a key on a trial whose recheck is owed."""

    def rechecked_by(self, run: RunRow) -> list[RunRow]:
        """Give the runs whose recheck a run completed."""

    def runs_on(self, trial: int) -> list[RunRow]:
        """Give all runs on a trial."""

    def last_disposition(self, run: int) -> PostRow | None:
        """Give the latest disposition of a run that stands."""

    def last_review(self, public_key: str, tool: str) -> ReviewRow | None:
        """Give the latest review of a tool by a key that stands."""

    def review(self, id_: int) -> ReviewRow | None:
        """Give a review that stands."""

    def put(self, row: Row) -> None:
        """Keep a row, in place of the one that has its id."""

    def drop_review(self, id_: int) -> None:
        """Forget a review."""

    def shift_service(self, service: str, trials: int, proven: int) -> None:
        """Add to the numbers of a service; one without trials is none."""

    def put_reply(self, public_key: str, message: int) -> None:
        """Keep that a message answers one of a key."""

    def drop_reply(self, public_key: str, message: int) -> None:
        """Forget that."""

    def count(self, cells: Sequence[Cell], public_key: str, by: int) -> None:
        """Count a post of a key in some cells, once more (1) or no more (-1)."""
