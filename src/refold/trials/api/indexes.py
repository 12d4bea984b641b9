"""Routes of the indexes: trials, services, blockers. None writes; each is made of a few rows.

Source: cold trials spec §4.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import astuple
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.answers import Answer
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.operation import get
from refold.trials.api.indexesfresh import Fresh
from refold.trials.api.indexesmaking import (
    badge_path,
    blockers_of_day,
    groups,
    runs_shown,
    service_path,
    service_trial,
    services_shown,
    trials_shown,
)
from refold.trials.api.indexesshown import (
    BlockerShown,
    BlockersShown,
    ServiceOne,
    ServicesShown,
    TrialOne,
    TrialsShown,
)
from refold.trials.api.log import MAX_ID
from refold.trials.api.office import Office
from refold.trials.indexes.counting import DAY_SECONDS, day_of
from refold.trials.indexes.rows import ServiceRow
from refold.trials.indexes.tallies import Young
from refold.trials.rules import BLOCKERS, NOT_PROVEN, PUBLISHER_RULES, REPORTER_RULES
from refold.trials.store.indexreading import IndexReader, TrialPlace
from refold.trials.tables import FORMATS
from refold.trials.templates import template

__all__ = ["DEFAULT_PAGE", "INDEX_CODES", "MAX_PAGE", "Id", "IndexesApi", "next_by_id"]

MAX_PAGE = 200
"""Items of a page at most."""
DEFAULT_PAGE = 50
NEWEST_TRIALS = 20
"""Trials that an answer about a service names; the list of trials has all."""
MAX_DAYS = 400
"""Days that one page of blockers looks at: a year without the class ends the page, not the list."""

INDEX_CODES: tuple[Code, ...] = (
    Code("trial-unknown", 404, "No such trial", "There is no trial of this id."),
    Code("service-unknown", 404, "No such service", "No trial of this node names it. On a shared"
         " host a service is host/owner/repo, in lower case."),
)  # fmt: skip

Id = Annotated[int, Meta(ge=1, le=MAX_ID)]
Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples=["2026-12-01"])]
Segment = Annotated[str, Meta(min_length=1, max_length=600, examples=["shop.io"])]
Class = Annotated[
    str, Meta(pattern=f"^({'|'.join(BLOCKERS)})$", description="A class of blockers.")
]


class IndexAsked(ListAsked, kw_only=True, frozen=True):
    """A page of an index."""

    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Items of a page at most.")] = (
        DEFAULT_PAGE
    )


class TrialsAsked(IndexAsked, kw_only=True, frozen=True):
    """A page of trials: all, or those that are open or closed."""

    state: Literal["open", "closed"] | None = None


class BlockersAsked(IndexAsked, kw_only=True, frozen=True, rename={"blocker_class": "class"}):
    """A page of blockers: of one class, of days from `since` to `until`, or all."""

    blocker_class: Class | None = None
    since: Day | None = None
    until: Day | None = None


class TrialAsked(msgspec.Struct, kw_only=True, frozen=True):
    """One trial, and a page of its runs."""

    id: Id
    after: Annotated[int, Meta(ge=0, description="Begin behind the run of this id.")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE


class HostAsked(msgspec.Struct, kw_only=True, frozen=True):
    """A service, and a page of its runs, the newest first."""

    host: Annotated[str, Meta(max_length=600, examples=["shop.io"])]
    before: Annotated[int, Meta(ge=1, le=MAX_ID, description="Go on below this id.")] = MAX_ID
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = DEFAULT_PAGE

    @property
    def service(self) -> str:
        """The service that is meant."""
        return self.host


class HostAsked3(HostAsked, kw_only=True, frozen=True):
    """The same on a shared host."""

    owner: Segment
    repo: Segment

    @property
    def service(self) -> str:
        """The service that is meant."""
        return f"{self.host}/{self.owner}/{self.repo}"


class HostAsked4(HostAsked3, kw_only=True, frozen=True):
    """The same where a repository has a prefix or a group."""

    name: Segment

    @property
    def service(self) -> str:
        """The service that is meant."""
        return f"{self.host}/{self.owner}/{self.repo}/{self.name}"


class IndexesApi:
    """See the module."""

    def __init__(self, office: Office, fresh: Fresh) -> None:
        self._office = office
        self._fresh = fresh
        self._templates = {
            marker: template(form, office.node.origin) for marker, form in FORMATS.items()
        }

    @get("/v1/public/trials", summary="List the trials")
    def trials(self, asked: TrialsAsked, call: Call) -> Answer[TrialsShown]:
        """Give trials, open ones first, with the templates of posts and the rules.

        Those that no other key reported as proven come last. Of open ones, the one that closes
        first comes first.
        """
        place = call.place(asked, TrialPlace)

        def make(connection: Connection, now: int) -> tuple[TrialsShown, str]:
            reader = IndexReader(connection, now)
            rows = reader.trials(place, asked.limit + 1, asked.state)
            shown = rows[: asked.limit]
            at = astuple(shown[-1][0]) if len(rows) > len(shown) else None
            cursor = _cursor(call, asked, at)
            items = trials_shown(reader, [row for _, row in shown], now, self._office.address)
            answer = TrialsShown(
                items,
                cursor,
                self._templates,
                {"reporter": REPORTER_RULES, "publisher": PUBLISHER_RULES},
                BLOCKERS,
                NOT_PROVEN,
            )
            return answer, _next(call, cursor)

        return self._fresh.give(call, make)

    @get(
        "/v1/public/trials/{id}",
        summary="Give a trial",
        codes=("trial-unknown",),
        example={"id": 1},
    )
    def trial(self, asked: TrialAsked, call: Call) -> Answer[TrialOne]:
        """Give a trial and its runs in order, each with dispositions and the state of its recheck.

        Of a run with more than ten dispositions the latest ten are given; the thread has all.
        """

        def make(connection: Connection, now: int) -> tuple[TrialOne, str]:
            reader = IndexReader(connection, now)
            found = reader.trial(asked.id)
            if found is None:
                raise InputError("trial-unknown", f"there is no trial {asked.id}", "", "/id")
            runs = reader.runs_on(asked.id, asked.after, asked.limit + 1)
            shown = runs[: asked.limit]
            cursor = shown[-1].row.id if len(runs) > len(shown) else None
            answer = TrialOne(
                trials_shown(reader, [found], now, self._office.address)[0],
                runs_shown(reader, shown, now, answers=True),
                cursor,
            )
            return answer, next_by_id(call, "after", cursor)

        return self._fresh.give(call, make)

    @get("/v1/public/services", summary="List the services")
    def services(self, asked: IndexAsked, call: Call) -> Answer[ServicesShown]:
        """Give the services that trials name, by name; those without a proven trial last."""
        place = call.place(asked, tuple[bool, str]) or (False, "")

        def make(connection: Connection, now: int) -> tuple[ServicesShown, str]:
            reader = IndexReader(connection, now)
            rows: list[ServiceRow] = []
            for unproven in (False, True):
                if unproven >= place[0] and len(rows) <= asked.limit:
                    after = place[1] if unproven == place[0] else ""
                    rows += reader.services(unproven, after, asked.limit + 1 - len(rows))
            shown = rows[: asked.limit]
            last = shown[-1] if len(rows) > len(shown) else None
            at = None if last is None else (last.proven == 0, last.service)
            cursor = _cursor(call, asked, at)
            items = services_shown(reader, shown, self._office.address)
            return ServicesShown(items, cursor), _next(call, cursor)

        return self._fresh.give(call, make)

    @get(
        "/v1/public/services/{host}",
        summary="Give a service",
        codes=("service-unknown",),
        example={"host": "shop.io"},
    )
    def service(self, asked: HostAsked, call: Call) -> Answer[ServiceOne]:
        """Give what came of the trials of a service, by runtime and by time.

        Which runtimes completed, where the others got stuck, what was answered, and whether the
        recheck confirmed a fix. A service on a shared host is host/owner/repo.
        """
        return self._service(asked, call)

    @get(
        "/v1/public/services/{host}/{owner}/{repo}",
        summary="Give a service on a shared host",
        codes=("service-unknown",),
    )
    def service_3(self, asked: HostAsked3, call: Call) -> Answer[ServiceOne]:
        """Give the same for a repository."""
        return self._service(asked, call)

    @get(
        "/v1/public/services/{host}/{owner}/{repo}/{name}",
        summary="Give a service on a shared host",
        codes=("service-unknown",),
    )
    def service_4(self, asked: HostAsked4, call: Call) -> Answer[ServiceOne]:
        """Give the same for a repository with a prefix or a group; longer ones with %2F."""
        return self._service(asked, call)

    @get("/v1/public/blockers", summary="Count the blockers")
    def blockers(self, asked: BlockersAsked, call: Call) -> Answer[BlockersShown]:
        """Count blockers by class, group of runtimes and UTC day, the newest day first.

        Runs and tool reviews are counted apart; beside every number of posts stands that of
        distinct keys. A post with two classes counts in both. Of a day, the 50 groups with the
        most posts are named, and all others are one.
        """
        place = call.place(asked, tuple[str, str])

        def make(connection: Connection, now: int) -> tuple[BlockersShown, str]:
            items, at = _blockers(IndexReader(connection, now), asked, place, now)
            cursor = _cursor(call, asked, at)
            return BlockersShown(tuple(items), cursor), _next(call, cursor)

        return self._fresh.give(call, make)

    def _service(self, asked: HostAsked, call: Call) -> Answer[ServiceOne]:
        def make(connection: Connection, now: int) -> tuple[ServiceOne, str]:
            reader = IndexReader(connection, now)
            row = reader.service(asked.service)
            if row is None:
                detail = f"no trial names the service {asked.service[:100]!a}"
                raise InputError("service-unknown", detail, "list the services", "/host")
            counts, runtimes = groups(reader, row.service)
            runs = reader.runs_of(row.service, asked.before, asked.limit + 1)
            shown = runs[: asked.limit]
            cursor = shown[-1].row.id if len(runs) > len(shown) else None
            address = self._office.address
            badge, page = (
                address(badge_path(row.service, "svg")),
                address(service_path(row.service)),
            )
            answer = ServiceOne(
                row.service,
                row.trials,
                row.proven > 0,
                f"[![cold trials]({badge})]({page})" if row.proven else None,
                counts,
                runtimes,
                tuple(
                    service_trial(each, now, address)
                    for each in reader.trials_of(row.service, NEWEST_TRIALS)
                ),
                runs_shown(reader, shown, now, answers=False),
                cursor,
            )
            return answer, next_by_id(call, "before", cursor)

        return self._fresh.give(call, make)


def _blockers(
    reader: IndexReader, asked: BlockersAsked, place: tuple[str, str] | None, now: int
) -> tuple[list[BlockerShown], tuple[str, str] | None]:
    """Give a page of blockers, and behind which item of which day the next one begins."""
    begin = place[0] if place else asked.until
    day = reader.counts.day_before(f"{begin}~" if begin else "~")
    young: Young | None = None
    items: list[BlockerShown] = []
    for _ in range(MAX_DAYS):
        if day is None or day < (asked.since or ""):
            return items, None
        if young is None and day >= day_of(now - DAY_SECONDS):
            young = reader.counts.young_of_all()
        of_day = list(blockers_of_day(reader, young or Young(), day, asked.blocker_class))
        if place is not None and day == place[0]:
            # An item that is gone meanwhile: the day is given again, and none of it is missed.
            at = next((n for n, each in enumerate(of_day, 1) if each.id == place[1]), 0)
            of_day = of_day[at:]
        items += of_day
        if len(items) > asked.limit:
            last = items[asked.limit - 1]
            return items[: asked.limit], (last.day, last.id)
        day = reader.counts.day_before(day)
    return items, None if day is None else (day, "")


def _cursor(call: Call, asked: ListAsked, at: Sequence[object] | None) -> str | None:
    return call.page_to(asked, (), at).next_cursor


def _next(call: Call, cursor: str | None) -> str:
    return "" if cursor is None else call.next_address(cursor)


def next_by_id(call: Call, name: str, cursor: int | None) -> str:
    """Give the address of the page from an id on, by the member `name`; "" for none."""
    return "" if cursor is None else call.site.address(call.here.again(**{name: cursor}))
