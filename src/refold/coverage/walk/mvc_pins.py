"""Walks over MVC_PINS: the pins at one path of a MAN indexer, by cursor to the end of the list.

A walk goes on as long as there is a cursor, after short and empty pages too; totals are not looked
at. It reads answers itself and strictly rather than through `refold.metaid.man`, whose client tries
unreadable answers again, takes the last of two members of one name and asks other generations: a
receipt must show what its one recipe gives. Source: coverage spec §5.5 R-5, R-7.
"""

from collections.abc import Mapping, Sequence

import msgspec

from refold.coverage.ends import MvcEvidence, mvc_ends, mvc_reasons
from refold.coverage.match import Criterion
from refold.coverage.record import MvcPins, Termination
from refold.coverage.strictjson import strip_bom
from refold.coverage.unit import Found, Traversal, is_lasting
from refold.coverage.walk.asking import Answer, Failure, Steps
from refold.coverage.walk.budget import Purse
from refold.coverage.walk.page import Json, PageError
from refold.coverage.walk.pin_rows import (
    Detail,
    Filter,
    PinPage,
    block_time,
    identities,
    read_detail,
    read_list,
    status_of,
)
from refold.coverage.walk.replies import refusal
from refold.coverage.walk.walked import Listed, PageProof, Walked, proof_of
from refold.kernel.addresses import query_of, quoted
from refold.kernel.canon import digest
from refold.kernel.errors import one_line

__all__ = ["DETAILS_AT_ONCE", "mvc_pins"]

DETAILS_AT_ONCE = 4
"""Details in a batch. Each may have this part of a page's bytes, and alone all of them."""

_NOT_FOUND = 404
_NO_CURSOR = "nextCursor="


def mvc_pins(source: Listed, criterion: Criterion, purse: Purse) -> Steps[Walked]:
    """Walk the list of one unit to its end; returns what was seen."""
    walk = _PinWalk(source, criterion, purse)
    cursor = ""
    asked = set[str]()
    ended: PinPage | None = None
    while ended is None:
        asked.add(cursor)
        page = yield from walk.page(cursor)
        if page is None or not (yield from walk.take(page)):
            break
        cursor = page.next_cursor
        if not cursor:
            ended = page
        elif cursor in asked:
            walk.note("page_loop", "the cursor of the next page is one that was asked for before")
            break
    return walk.walked(ended)


class _PinWalk:
    """What was seen of one unit so far."""

    def __init__(self, source: Listed, criterion: Criterion, purse: Purse) -> None:
        replay = source.replay
        if not isinstance(replay, MvcPins):
            raise TypeError(f"{replay} is no list of pins")
        self._source = source
        self._replay = replay
        self._criterion = criterion
        self._scan = criterion.scan()
        self._filter = Filter(replay.filter)
        self._reads_doc = self._filter.reads_doc or any(
            path == "doc" or path.startswith("doc.") for path in criterion.paths
        )
        self._purse = purse
        self._spent = purse.begin_unit()
        self._prefix = "/api"
        self._at = ""
        self._reasons: dict[str, str] = {}
        self._proofs: list[PageProof] = []
        self._warnings: dict[str, None] = {}
        self._ids: set[str] = set()
        self._last_id = ""
        self._statuses: dict[str, int] = {}
        self._matches: dict[str, Found] = {}
        self._detailed: set[str] = set()

    def note(self, reason: str, why: str) -> None:
        """Note why the unit is less than FULL; the first words for a reason stay."""
        self._reasons.setdefault(reason, one_line(why))

    def page(self, cursor: str) -> Steps[PinPage | None]:
        """Ask for a page of the list; returns None when it is none, with the reason noted."""
        query = {"path": self._replay.path, "size": str(self._replay.page_size)}
        query |= {"cursor": cursor} if cursor else {}
        reply = yield from self._ask_list(query)
        if reply is None:
            return None
        reason = refusal(reply)
        if not isinstance(reply, Answer):
            self.note(reason, reply.message)
            return None
        if reason:
            self.note(reason, f"the list: status {reply.status}")
            return None
        try:
            page = read_list(reply.body)
        except PageError as error:
            self.note(error.reason, f"the list: {error.why}")
            return None
        self._prove(reply, len(page.rows), "page")
        if strip_bom(reply.body)[1]:
            self._warnings["the list: a byte order mark was stripped"] = None
        if len(page.rows) > self._replay.page_size:
            self.note("page_size_violation", f"{len(page.rows)} rows in one page")
            return None
        return page

    def take(self, page: PinPage) -> Steps[bool]:
        """Take the rows of a page, and the details that they need; returns whether to go on."""
        candidates: list[tuple[str, dict[str, Json]]] = []
        try:
            for row in page.rows:
                candidates += self._candidates(row)
        except PageError as error:
            self.note(error.reason, f"the list: {error.why}")
            return False
        self._spent.pages += 1
        if self._replay.fetch == "LIST_ONLY":
            return True
        pending = [pair for pair in candidates if pair[0] not in self._detailed]
        for at in range(0, len(pending), DETAILS_AT_ONCE):
            if not (yield from self._details(pending[at : at + DETAILS_AT_ONCE])):
                return False
        return True

    def walked(self, ended: PinPage | None) -> Walked:
        """Give what was seen; `ended` is the last page when the list was read to its end."""
        spent, rows = self._spent, self._spent.rows
        ends: tuple[Termination, ...] = ()
        if ended is not None:
            evidence = MvcEvidence(
                pages=spent.pages, last_rows=len(ended.rows), next_cursor=ended.next_cursor
            )
            ends = mvc_ends(evidence)
            for reason in mvc_reasons(evidence):
                self.note(reason, f"{rows} rows")
        if rows and not self._scan.addressed:
            self.note("criterion_field_never_seen", f"in none of {rows} rows")
        if rows and self._filter.unseen:
            self.note("criterion_field_never_seen", f"filter {', '.join(self._filter.unseen)}")
        keys = (*self._criterion.paths, *self._filter.keys)
        traversal = Traversal(
            unit=self._source.id,
            pages=spent.pages,
            rows=rows,
            ends=ends,
            reasons=tuple(self._reasons),
            matches=tuple(self._matches.values()),
            set_hash=digest(sorted(self._ids)) if spent.pages else "",
            distinct=len(self._ids),
            last_id=self._last_id,
            cursor=_NO_CURSOR if ends else "",
            ids_only=rows > 0 and set(keys) == {"chain.id"},
            lasting=all(map(is_lasting, keys)),
            status_counts=self._statuses,
            bytes=spent.bytes,
            requests=spent.requests,
            first_at=spent.first_at,
            last_at=spent.last_at,
            warnings=tuple(self._warnings),
        )
        return Walked(traversal, self._reasons, tuple(self._proofs))

    def _candidates(self, row: dict[str, Json]) -> list[tuple[str, dict[str, Json]]]:
        """Count a row; give the identities of it whose details are needed, each with its item.

        What needs no body is decided here.
        """
        self._spent.rows += 1
        self._last_id = row["id"]
        status = status_of(row)
        self._statuses[status] = self._statuses.get(status, 0) + 1
        candidates = []
        for name in dict.fromkeys(identities(row, self._replay)):
            self._ids.add(name)
            item = {"chain": row if name == row["id"] else {**row, "id": name}}
            if not self._reads_doc and not self._scan.matches(item):
                self._filter.passes(item, doc=False)
                continue
            if not self._filter.passes(item, doc=False):
                continue
            if self._reads_doc:
                candidates.append((name, item))
                continue
            own = block_time(row) if name == row["id"] else None
            self._match(name, None, own)
            candidates.append((name, item))
        return candidates

    def _match(self, name: str, digest_: str | None, when: int | None) -> None:
        """Note a match; a later sight of it may know its block, or its bytes."""
        known = self._matches.get(name, Found(name))
        self._matches[name] = Found(
            name,
            known.digest if digest_ is None else digest_,
            known.block_time if when is None else when,
        )

    def _details(self, pairs: Sequence[tuple[str, dict[str, Json]]]) -> Steps[bool]:
        """Take the details of some identities; returns whether there is budget for more."""
        items = dict(reversed(pairs))
        names = list(dict.fromkeys(name for name, _ in pairs))
        replies = yield from self._ask_details(names, DETAILS_AT_ONCE)
        if replies is None:
            return False
        for name, reply in zip(names, replies, strict=True):
            whole: Answer | Failure = reply
            if isinstance(reply, Failure) and reply.code == "body-too-large":
                alone = yield from self._ask_details([name], 1)
                if alone is None:
                    return False
                whole = alone[0]
            detail = self._detail(name, whole)
            if detail is not None:
                self._take_detail(name, items[name], detail)
        return True

    def _detail(self, name: str, reply: Answer | Failure) -> Detail | None:
        """Read a detail; None when it is none, with the reason noted."""
        reason = refusal(reply)
        if not isinstance(reply, Answer):
            self.note(reason, reply.message)
            return None
        if reason:
            unreachable = reason == "source_unreachable"
            self.note(
                reason if unreachable else "detail_mismatch", f"{name}: status {reply.status}"
            )
            return None
        try:
            detail = read_detail(reply.body, name)
        except PageError as error:
            self.note(error.reason, f"{name}: {error.why}")
            return None
        self._prove(reply, 0, "detail")
        return detail

    def _take_detail(self, name: str, item: Mapping[str, Json], detail: Detail) -> None:
        self._detailed.add(name)
        if not self._reads_doc:
            self._match(name, detail.digest, detail.block_time)
            return
        if detail.is_json:
            item = {**item, "doc": detail.doc}
        else:
            self.note("doc_unparsable", f"{name}: the body is no JSON")
        matches = self._scan.matches(item)
        if self._filter.passes(item, doc=True) and matches:
            self._match(name, detail.digest, detail.block_time)

    def _ask_list(self, query: Mapping[str, str]) -> Steps[Answer | Failure | None]:
        """Ask for a page; where there is no /api, once and then always without it."""
        while self._has_budget():
            url = f"{self._replay.endpoint}{self._prefix}/pin/path/list?{query_of(query)}"
            batch = yield (self._purse.ask(url),)
            self._purse.charge(batch)
            self._at = batch.at
            reply = batch.replies[0]
            missing = isinstance(reply, Answer) and reply.status == _NOT_FOUND
            if not missing or not self._prefix or self._spent.pages:
                return reply
            self._prefix = ""
        return None

    def _ask_details(
        self, names: Sequence[str], parts: int
    ) -> Steps[tuple[Answer | Failure, ...] | None]:
        """Ask for details, each with its part of a page's bytes; None without budget."""
        if not self._has_budget():
            return None
        asks = []
        for name in names:
            ask = self._purse.ask(f"{self._replay.endpoint}{self._prefix}/pin/{quoted(name)}")
            asks.append(msgspec.structs.replace(ask, max_bytes=ask.max_bytes // parts))
        batch = yield asks
        self._purse.charge(batch)
        self._at = batch.at
        return batch.replies

    def _has_budget(self) -> bool:
        over = self._purse.exhausted()
        if over:
            self.note("budget_exhausted", f"the limit {over} is reached")
        return not over

    def _prove(self, reply: Answer, rows: int, role: str) -> None:
        self._proofs.append(proof_of(reply, rows, self._at, role))
