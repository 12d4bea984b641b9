"""Tools for agents (MCP) over the indexes: trials, services, blockers, records, home.

Each answer is JSON as the routes give it, fenced in whole: most of it was written by posters. What
this node says about it, and how to go on, stands before the fence.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.reading import read_inline
from refold.serving.tools import ASKER, Tool, fence
from refold.trials.api.home import HomeApi, HomeAsked
from refold.trials.api.indexesmaking import (
    blockers_of_day,
    groups,
    runs_shown,
    services_shown,
    trials_shown,
)
from refold.trials.api.indexesshown import BlockerShown
from refold.trials.api.office import Office
from refold.trials.api.tools import MAX_CHARACTERS, MAX_RESULTS, Key, Signature
from refold.trials.leaf import accepted_text
from refold.trials.signing import message_bytes
from refold.trials.store.indexreading import IndexReader
from refold.trials.tables import MAX_INTEGER

__all__ = ["index_tools"]

MAX_DAYS: Final = 31
"""Days of blockers in one answer, of those on which there were some."""
MAX_LOOKED: Final = 400
"""Days that are looked at for them: a year without a class ends the answer, not the list."""

_Count = Annotated[int, Meta(ge=1, le=MAX_RESULTS)]
_Id = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
_After = Annotated[int, Meta(ge=0, le=MAX_INTEGER, description="Begin behind this id.")]
_Service = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=600,
        description="A host; on a shared host host/owner/repo, in lower case.",
    ),
]
_Found = TypeVar("_Found")


class TrialsAsked(msgspec.Struct, frozen=True):
    """Trials: open or closed ones, or both."""

    state: Literal["open", "closed"] | None = "open"
    limit: _Count = 5


class TrialAsked(msgspec.Struct, frozen=True):
    """A trial with its runs in order."""

    id: _Id
    after: _After = 0
    limit: _Count = 10


class ServicesAsked(msgspec.Struct, frozen=True):
    """Services by name, behind `after`; those without a proven trial with `unproven`."""

    after: Annotated[str, Meta(max_length=600)] = ""
    unproven: bool = False
    limit: _Count = 10


class ServiceAsked(msgspec.Struct, frozen=True):
    """A service with its runs, the newest first."""

    service: _Service
    before: _Id = MAX_INTEGER
    limit: _Count = 10


class BlockersAsked(msgspec.Struct, frozen=True, rename={"blocker_class": "class"}):
    """Blockers of days before `before`, of one class or of all; the newest day first."""

    blocker_class: Annotated[str, Meta(max_length=40)] | None = None
    before: Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] | None = None
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = 7


class RecordAsked(msgspec.Struct, frozen=True):
    """What a key posted, in order."""

    public_key: Key
    after: _After = 0
    limit: _Count = 10


class HomeSigned(msgspec.Struct, frozen=True):
    """A key, the minute that the text of trials_home_bytes names, and the signature over it."""

    public_key: Key
    minute: Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
    signature: Signature


class RecordPart(msgspec.Struct, frozen=True):
    """A post of a record: what was signed, as text, and the signature."""

    id: int
    kind: str
    accepted_at: str
    digest: str
    signed: str | None
    signature: str


class IndexTools:
    """The functions behind the tools."""

    def __init__(self, office: Office, home: HomeApi) -> None:
        self._office = office
        self._home = home

    def trials(self, given: TrialsAsked) -> str:
        """List trials."""

        def ask(reader: IndexReader, now: int) -> object:
            rows = [row for _, row in reader.trials(None, given.limit, given.state)]
            return trials_shown(reader, rows, now, self._office.address)

        head = f"trials, proven ones first; all: {self._office.address('/v1/public/trials')}"
        return _told(head, self._ask(ask))

    def trial(self, given: TrialAsked) -> str:
        """Give a trial and its runs."""

        def ask(reader: IndexReader, now: int) -> tuple[object, object, int]:
            found = reader.trial(given.id)
            if found is None:
                raise InputError("trial-unknown", f"there is no trial {given.id}", "list them")
            runs = reader.runs_on(given.id, given.after, given.limit)
            (shown,) = trials_shown(reader, [found], now, self._office.address)
            last = runs[-1].row.id if len(runs) == given.limit else 0
            return shown, runs_shown(reader, runs, now, answers=True), last

        trial, runs, last = self._ask(ask)
        head = f"trial {given.id}\nRead its owner proof before anything else: see trials_guide."
        return _told(head, {"trial": trial, "runs": runs}, f"after={last}" if last else "")

    def services(self, given: ServicesAsked) -> str:
        """List services."""

        def ask(reader: IndexReader, _: int) -> tuple[object, str]:
            rows = reader.services(given.unproven, given.after, given.limit)
            last = rows[-1].service if len(rows) == given.limit else ""
            return services_shown(reader, rows, self._office.address), last

        # A name of a service is a host that somebody wrote, so it stands in the fence alone.
        services, last = self._ask(ask)
        more = "after=(the id of the last service)" if last else ""
        return _told("services by name, with what is counted of their runs", services, more)

    def service(self, given: ServiceAsked) -> str:
        """Give a service."""

        def ask(reader: IndexReader, now: int) -> tuple[object, int]:
            row = reader.service(given.service)
            if row is None:
                raise InputError(
                    "service-unknown", "no trial of this node names this service", "list them"
                )
            counts, runtimes = groups(reader, row.service)
            runs = reader.runs_of(row.service, given.before, given.limit)
            shown = {
                "service": row.service,
                "trials": row.trials,
                "proven": row.proven > 0,
                "counts": counts,
                "runtimes": runtimes,
                "runs": runs_shown(reader, runs, now, answers=False),
            }
            return shown, runs[-1].row.id if len(runs) == given.limit else 0

        shown, last = self._ask(ask)
        return _told("a service, its newest runs first", shown, f"before={last}" if last else "")

    def blockers(self, given: BlockersAsked) -> str:
        """Count blockers."""

        def ask(reader: IndexReader, _: int) -> tuple[list[BlockerShown], str]:
            items: list[BlockerShown] = []
            young = reader.counts.young_of_all()
            day, last, days = reader.counts.day_before(given.before or "~"), "", 0
            for _ in range(MAX_LOOKED):
                if day is None or days == given.days:
                    break
                of_day = list(blockers_of_day(reader, young, day, given.blocker_class))
                days += bool(of_day)
                items += of_day
                last, day = day, reader.counts.day_before(day)
            return items, "" if day is None else last

        items, last = self._ask(ask)
        head = "blockers by class, group of runtimes and UTC day; runs and reviews apart"
        return _told(head, items, f"before={last}" if last else "")

    def record(self, given: RecordAsked) -> str:
        """Give the record of a key."""

        def ask(reader: IndexReader, _: int) -> list[RecordPart]:
            return [
                RecordPart(
                    post.id,
                    post.kind,
                    accepted_text(post.accepted_at),
                    post.digest,
                    None
                    if post.content is None
                    else message_bytes(post.room, post.reply_to, post.content).decode(),
                    post.signature,
                )
                for post in reader.posts_of(given.public_key, given.after, given.limit)
            ]

        parts = self._ask(ask)
        path = f"/v1/public/keys/{given.public_key}/record"
        head = f"record of {given.public_key}\nwith proofs: {self._office.address(path)}"
        last = parts[-1].id if len(parts) == given.limit else 0
        return _told(head, parts, f"after={last}" if last else "")

    def home(self, given: HomeSigned) -> str:
        """Say what waits for a key."""
        asked = HomeAsked(
            public_key=given.public_key, minute=given.minute, signature=given.signature
        )
        return _told("what waits for your key, rechecks first", self._home.ask(asked, ASKER.get()))

    def _ask(self, question: Callable[[IndexReader, int], _Found]) -> _Found:
        now = self._office.unix()

        def ask(connection: Connection) -> _Found:
            return question(IndexReader(connection, now), now)

        return read_inline(self._office.database, ask)


def _told(head: str, found: object, more: str = "") -> str:
    """Give an answer fenced in, below what this node says of it."""
    text = msgspec.json.format(msgspec.json.encode(found), indent=1).decode()
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
        head += "\nThis is too long for one answer and was cut: ask for less with limit."
    if more:
        head += f"\nThere may be more: {more}"
    return f"{head}\n{fence(text, 'JSON with words of posters')}"


def index_tools(office: Office, home: HomeApi) -> tuple[Tool, ...]:
    """Give the tools of the indexes of a node."""
    tools = IndexTools(office, home)
    return (
        Tool(
            "trials_list",
            "List trials, proven ones first, of open ones the one that closes first; each with its"
            " counts. `proven` is that another key than the publisher's saw the owner proof.",
            TrialsAsked,
            tools.trials,
        ),
        Tool(
            "trials_trial",
            "Give one trial with its runs, their dispositions and the state of their rechecks.",
            TrialAsked,
            tools.trial,
        ),
        Tool(
            "trials_services",
            "List the services that trials name, with what is counted of their runs.",
            ServicesAsked,
            tools.services,
        ),
        Tool(
            "trials_service",
            "Give one service: which runtimes got through, where the others got stuck, whether it"
            " was fixed, and whether a recheck confirmed it.",
            ServiceAsked,
            tools.service,
        ),
        Tool(
            "trials_blockers",
            "Count what stopped agents, by class, group of runtimes and day. Counts are of posts"
            " and of keys, never of agents.",
            BlockersAsked,
            tools.blockers,
        ),
        Tool(
            "trials_record",
            "Give what a key posted, each with the text that it signed and the signature.",
            RecordAsked,
            tools.record,
        ),
        Tool(
            "trials_home",
            "Say what waits for your key: rechecks, runs to answer, trials that close, replies."
            " Get the text to sign from trials_home_bytes; it holds for a minute or two.",
            HomeSigned,
            tools.home,
        ),
    )
