"""The pages of one HTTP_JSON unit: asked for, read, and what is wrong with them noted.

Source: coverage spec §5.5 R-2, R-3, R-6.
"""

from collections.abc import Callable, Sequence

from refold.coverage.match import Criterion
from refold.coverage.record import HttpJson
from refold.coverage.walk.asking import Answer, Steps
from refold.coverage.walk.budget import Purse
from refold.coverage.walk.links import NO_LINKS, Links, read_links
from refold.coverage.walk.page import Page, PageError
from refold.coverage.walk.replies import is_broken, refusal
from refold.coverage.walk.sheet import Sheet
from refold.coverage.walk.walked import Listed, PageProof, proof_of
from refold.kernel.addresses import Url, parse_url
from refold.kernel.errors import InputError, one_line
from refold.kernel.headers import generated_at

__all__ = ["MAX_DRIFT_SECONDS", "HttpPages"]

MAX_DRIFT_SECONDS = 60
"""By which the ages of the pages of a walk may differ: R-6.

A page's age is when its answer was whole less when it was made (Date − Age), both as they were told
apart from their zero: one clock is ours and the other the source's. So a walk may last longer than
this, and a page that a cache held back is seen."""


class HttpPages:
    """What is known of the pages of one unit.

    `sheet` holds their rows, `reasons` why the unit is less than FULL and in what words, `links`
    those of the last page and `answered` its URL, `ages` how old its pages were when they came
    (seconds from a zero that all pages share), `proofs` every answer that was read. `start` is None
    when the URL cannot be fetched at all.
    """

    def __init__(self, source: Listed, criterion: Criterion, purse: Purse) -> None:
        replay = source.replay
        if not isinstance(replay, HttpJson):
            raise TypeError(f"{replay} is no list of pages")
        self.source = source
        self.url = replay.url
        self.reasons: dict[str, str] = {}
        self.warnings: dict[str, None] = {}
        self.proofs: list[PageProof] = []
        self.links: Links = NO_LINKS
        self.answered = replay.url
        self.ages: list[float] = []
        self.spent = purse.begin_unit()
        self.sheet = Sheet(replay.array_path, criterion, source.total_path, purse.row_limit)
        self._array_path = replay.array_path
        self._purse = purse
        self.start = self._start()

    @property
    def is_broken(self) -> bool:
        """Whether something was noted that no reading on mends."""
        return any(map(is_broken, self.reasons))

    def note(self, reason: str, why: str) -> None:
        """Note why the unit is less than FULL; the first words for a reason stay."""
        self.reasons.setdefault(reason, one_line(why))

    def read(self, url: Url) -> Steps[Url | None]:
        """Ask for a page and read it; returns the URL that answered, None when it is no page."""
        reply = yield from self._ask(url, self.note)
        if reply is None:
            return None
        try:
            page = Page(reply.body, self._array_path)
            facts = self.sheet.take(page)
        except PageError as error:
            self.note(error.reason, f"{url.shown}: {error.why}")
            return None
        self.spent.pages += 1
        self.spent.rows += facts.rows
        self._prove(reply, facts.rows, "page")
        self.links, self.answered = read_links(reply.header("link")), reply.url
        if page.bom:
            self.warnings[f"{url.shown}: a byte order mark was stripped"] = None
        return parse_url(reply.url)

    def read_again(self, url: Url) -> Steps[None]:
        """Ask for the first page once more, and note when it is another one now."""
        reply = yield from self._ask(url, self._note_again)
        if reply is None:
            return
        try:
            same = self.sheet.is_first_again(Page(reply.body, self._array_path))
        except PageError:
            same = False
        self._prove(reply, self.sheet.pages[0].rows, "again")
        if not same:
            self.note("moved_during_traversal", f"{url.shown}: another page than before")
        self.note_ages(self.ages)

    def note_ages(self, ages: Sequence[float]) -> None:
        """Note pages of which some were kept back too long to show one state of the source."""
        apart = max(ages) - min(ages) if ages else 0.0
        if apart > MAX_DRIFT_SECONDS:
            self.note("moved_during_traversal", f"a page is {apart:.0f} s older than another")

    def _start(self) -> Url | None:
        try:
            return parse_url(self.url)
        except InputError as error:
            self.note("address_refused", error.message)
            return None

    def _note_again(self, reason: str, why: str) -> None:
        """Note why a page that was there before is none now: the recipe did work."""
        self.note("moved_during_traversal" if is_broken(reason) else reason, why)

    def _ask(self, url: Url, note: Callable[[str, str], None]) -> Steps[Answer | None]:
        """Ask for a page; returns the answer if it may be one of JSON, else notes why not."""
        over = self._purse.exhausted()
        if over:
            note("budget_exhausted", f"{url.shown}: the limit {over} is reached")
            return None
        batch = yield (self._purse.ask(str(url)),)
        self._purse.charge(batch)
        reply = batch.replies[0]
        self._at = batch.at
        reason = refusal(reply)
        if not isinstance(reply, Answer):
            note(reason, reply.message)
            return None
        if reason:
            kind = reply.header("content-type") or "none"
            note(reason, f"{url.shown}: status {reply.status}, content type {kind}")
            return None
        try:
            came_from = parse_url(reply.url).origin
        except InputError:
            came_from = ""
        if came_from != url.origin:
            note("redirected_off_source", f"{url.shown}: another origin answered")
            return None
        made = generated_at(reply.headers)
        self.ages += [] if made is None else [batch.ended - made]
        return reply

    def _prove(self, reply: Answer, rows: int, role: str) -> None:
        self.proofs.append(proof_of(reply, rows, self._at, role))
