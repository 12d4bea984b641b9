"""What walks may take, and what they have taken: pages, rows, bytes, requests, seconds.

Every limit is checked before the next question, against what the replies so far have cost, so a
walk over stored answers ends where the one that stored them did. Source: coverage spec §5.5 R-3.
"""

import msgspec

from refold.coverage.walk.asking import Answer, Ask, Batch

__all__ = ["Budgets", "Purse", "Spent"]


class Budgets(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Upper limits of a page, a request, a unit and a record; bytes are of decoded bodies.

    `unit_rows` is ours: the id of a row takes some 150 bytes of memory as long as its unit is
    walked, so this is 300 MB. The others are R-3's.
    """

    unit_pages: int = 1_000
    unit_rows: int = 2_000_000
    page_bytes: int = 32 * 1024 * 1024
    unit_bytes: int = 256 * 1024 * 1024
    request_seconds: float = 30.0
    unit_seconds: float = 600.0
    record_seconds: float = 1_800.0
    record_requests: int = 20_000


class Spent(msgspec.Struct, rename="camel"):
    """What a walk has taken. `bytes` are of bodies, decoded; `received` as they came.

    `first_at` and `last_at` are the UTC times at which its first and last answer was whole, "" for
    none. `seconds` begin with the first question.
    """

    pages: int = 0
    rows: int = 0
    bytes: int = 0
    received: int = 0
    requests: int = 0
    seconds: float = 0.0
    first_at: str = ""
    last_at: str = ""

    @property
    def taken(self) -> int:
        """The bytes that count against a budget: decoded, or as they came where that is more.

        Answers that were given up for their size have come too.
        """
        return max(self.bytes, self.received)


class Purse:
    """The budgets of one record, and what its walks have taken of them. Walks take turns."""

    def __init__(self, budgets: Budgets | None = None) -> None:
        self.budgets = budgets or Budgets()
        self.spent = Spent()
        self._requests = 0
        self._seconds = 0.0
        self._record_began: float | None = None
        self._unit_began: float | None = None

    @property
    def row_limit(self) -> int:
        """How many rows a unit may have."""
        return self.budgets.unit_rows

    def begin_unit(self) -> Spent:
        """Begin the account of the next unit and give it; it goes on being written."""
        self.spent = Spent()
        self._unit_began = None
        return self.spent

    def exhausted(self) -> str:
        """Name the budget that leaves nothing for another question, "" if all leave something."""
        spent, budgets = self.spent, self.budgets
        limits = (
            ("unit_pages", spent.pages, budgets.unit_pages),
            ("unit_rows", spent.rows, budgets.unit_rows),
            ("unit_bytes", spent.taken, budgets.unit_bytes),
            ("unit_seconds", spent.seconds, budgets.unit_seconds),
            ("record_seconds", self._seconds, budgets.record_seconds),
            ("record_requests", self._requests, budgets.record_requests),
        )
        return next((name for name, taken, limit in limits if taken >= limit), "")

    def ask(self, url: str) -> Ask:
        """Give the question for a URL, limited to what is left of bytes and seconds."""
        spent, budgets = self.spent, self.budgets
        return Ask(
            url,
            min(budgets.page_bytes, budgets.unit_bytes - spent.taken),
            min(budgets.unit_seconds - spent.seconds, budgets.record_seconds - self._seconds),
        )

    def charge(self, batch: Batch) -> None:
        """Count what the replies to a batch of questions took."""
        spent = self.spent
        if self._unit_began is None:
            self._unit_began = batch.began
        if self._record_began is None:
            self._record_began = batch.began
        spent.requests += batch.requests
        spent.received += batch.received
        spent.bytes += sum(len(reply.body) for reply in batch.replies if isinstance(reply, Answer))
        spent.seconds = batch.ended - self._unit_began
        if batch.received:
            spent.first_at = spent.first_at or batch.at
            spent.last_at = batch.at
        self._requests += batch.requests
        self._seconds = batch.ended - self._record_began
