"""What a walk over HTTP_JSON has seen of one unit: rows, ids, matches, and what its pages said.

Source: coverage spec §5.2 (field-never-seen rule), §5.5 R-6.
"""

import msgspec

from refold.coverage.match import Criterion
from refold.coverage.signals import Signals, read_signals, total_at
from refold.coverage.unit import Found
from refold.coverage.walk.page import Json, Page, PageError
from refold.kernel.canon import digest

__all__ = ["ID_FIELDS", "PageFacts", "Sheet", "identity"]

ID_FIELDS = ("full_name", "pinId", "id", "name", "path", "key")
"""Members that name an item, the first that is there counts; a text that is the item comes before
all."""

_UNWHOLE = (
    *("incomplete_results", "partial", "timed_out", "errors"),
    *("_shards.failed", "_shards.successful"),
)
"""More-signals that say a page itself is not whole, so they count on any page, not on the last."""
_UNREADABLE = ("not_json", "json_ambiguous")


class PageFacts(msgspec.Struct, frozen=True):
    """What one page told: its rows and how many of their ids were new, signals, declared total."""

    rows: int
    new: int
    signals: Signals
    marked: str


class Sheet:
    """What was seen of one unit so far. `marked` is the path of a total that its record declares.

    `known` are ids that pages of other units of the same series gave already.
    """

    def __init__(self, array_path: str, criterion: Criterion, marked: str, max_rows: int) -> None:
        self.pages: list[PageFacts] = []
        self.ids: set[str] = set()
        self.rows = 0
        self.last_id = ""
        self.matches: dict[str, None] = {}
        self._array_path = array_path
        self._criterion = criterion
        self._scan = criterion.scan()
        self._marked = marked
        self._max_rows = max_rows
        self._named_by: set[str] = set()
        self._first: list[str] = []

    def take(self, page: Page) -> PageFacts:
        """Read all of a page. Raises PageError; what was read until then is counted.

        But for what matched where the whole turns out to be no JSON that all read alike: a large
        page is read item by item, and witnesses no more than a small one.
        """
        ids, matches, matching = self.ids, self.matches, self._scan.matches
        named_by, names = self._named_by, self._first if not self.pages else None
        before, known, limit, rows = self.rows, len(self.ids), self._max_rows, self.rows
        matched = len(matches)
        name = self.last_id
        try:
            for item in page.items():
                if rows == limit:
                    why = f"over {limit} rows in one unit"
                    raise PageError("budget_exhausted", why)  # noqa: TRY301 - as the others end it
                name, field = identity(item)
                rows += 1
                ids.add(name)
                named_by.add(field)
                if names is not None:
                    names.append(name)
                if matching(item):
                    matches.setdefault(name)
        except PageError as error:
            while error.reason in _UNREADABLE and len(matches) > matched:
                matches.popitem()
            raise
        finally:
            self.rows, self.last_id = rows, name
        facts = PageFacts(
            rows - before,
            len(ids) - known,
            read_signals(page.root, self._array_path),
            total_at(page.root, self._marked) if self._marked else "",
        )
        self.pages.append(facts)
        return facts

    def is_first_again(self, page: Page) -> bool:
        """Tell whether a page is the first one once more: ids in their order, and total."""
        count, same = 0, True
        for item in page.items():
            name, _ = identity(item)
            same = same and count < len(self._first) and self._first[count] == name
            count += 1
        total = read_signals(page.root, self._array_path).total
        return same and count == len(self._first) and total == self.pages[0].signals.total

    @property
    def distinct(self) -> int:
        """How many distinct ids there were."""
        return len(self.ids)

    @property
    def is_unaddressed(self) -> bool:
        """Whether there were items, and none had the fields that the criterion reads."""
        return self.rows > 0 and not self._scan.addressed

    @property
    def is_ids_only(self) -> bool:
        """Whether the criterion reads what named every item, and nothing else."""
        return len(self._named_by) == 1 and self._criterion.reads_only(*self._named_by)

    @property
    def is_incomplete(self) -> bool:
        """Whether some page said that it lacks rows of its own."""
        return any(
            f".{name}".endswith(tuple(f".{flag}" for flag in _UNWHOLE))
            for facts in self.pages
            for name in facts.signals.more
        )

    @property
    def totals(self) -> tuple[str, ...]:
        """The totals of the last page as endMarkers, the declared one among them."""
        if not self.pages:
            return ()
        last = self.pages[-1]
        extra = (last.marked,) if last.marked and last.marked not in last.signals.totals else ()
        return (*last.signals.totals, *extra)

    def found(self) -> tuple[Found, ...]:
        """Give the matches; an item of a list has no raw bytes, so no digest (F-27)."""
        return tuple(Found(name) for name in self.matches)

    def set_hash(self) -> str:
        """Give the SET_HASH of the ids, "" without a page."""
        return digest(sorted(self.ids)) if self.pages else ""


def identity(item: Json) -> tuple[str, str]:
    """Give the id of an item, and the path of the member that says it ("" for a bare text).

    Raises PageError `item_without_id`.
    """
    if type(item) is dict:
        for field in ID_FIELDS:
            value = item.get(field)
            if type(value) is str:
                if value:
                    return value, field
            elif type(value) is int:
                return str(value), field
    elif type(item) is str and item:
        return item, ""
    raise PageError("item_without_id", "an item has no id")
