"""Routes of what was imported from other nodes: it is shown under its origin, apart from all else.

Source: cold trials spec §3 (a foreign message is kept and shown under origin and foreign id).
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.operation import get
from refold.serving.reading import read_inline
from refold.trials.api.log import MAX_ID
from refold.trials.api.office import Office
from refold.trials.api.reading import MAX_PAGE, AfterAsked, linked
from refold.trials.intake import read_content
from refold.trials.leaf import accepted_text
from refold.trials.store.foreign import Foreign, ForeignMessage, OriginRow
from refold.trials.tables import Kind

__all__ = ["FOREIGN_CODES", "ForeignApi", "ForeignShown", "OriginShown"]

FOREIGN_CODES: tuple[Code, ...] = (
    Code("origin-unknown", 404, "No such origin", "No archive of a node of this name was imported;"
         " /v1/public/foreign lists those that were."),
)  # fmt: skip

Origin = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=300,
        description="Host of a node, with its port if it has one.",
        examples=["node.example"],
    ),
]


class OriginsAsked(msgspec.Struct, kw_only=True, frozen=True):
    """A page of origins by name."""

    after: Annotated[str, Meta(max_length=300, description="Begin behind this one.")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Items of a page at most.")] = 50


class ForeignAsked(AfterAsked, kw_only=True, frozen=True):
    """A page of the messages of another node."""

    origin: Origin


class ForeignOneAsked(msgspec.Struct, kw_only=True, frozen=True):
    """One message of another node, by its id there."""

    origin: Origin
    id: Annotated[int, Meta(ge=1, le=MAX_ID)]


class OriginShown(msgspec.Struct, frozen=True, rename="camel"):
    """How much of another node's log is here: `size` messages of the `target` that its archive has.

    `verifier` is the key, from outside, that it was verified by; `checkpoint` the signed note.
    """

    id: str
    size: int
    target: int
    verifier: str
    checkpoint: str
    imported_at: str
    messages: str


class OriginPage(msgspec.Struct, frozen=True):
    """Nodes by name; `next_cursor` is the name to go on from."""

    items: tuple[OriginShown, ...]
    next_cursor: str | None


class ForeignWritten(msgspec.Struct, frozen=True):
    """What a poster wrote elsewhere, None once the text was removed, and where it stood."""

    content: str | None
    room: str


class ForeignShown(msgspec.Struct, frozen=True, rename={"accepted_at": "acceptedAt"}):
    """A message of another node. Ids are those of `origin`, and so is the time.

    `kind` is what it would be here, None if it would be refused; `problems` are the codes then, and
    relations are not among them. Leaf and signature can be verified from what stands here.
    """

    origin: str
    id: int
    kind: Kind | None
    problems: tuple[str, ...]
    reply_to: int | None
    accepted_at: str
    digest: str
    public_key: str
    signature: str
    removed: bool
    indexed: Literal[False]
    untrusted: ForeignWritten


class ForeignPage(msgspec.Struct, frozen=True):
    """Messages by their ids at the origin."""

    items: tuple[ForeignShown, ...]
    next_cursor: int | None


class ForeignApi:
    """See the module."""

    def __init__(self, office: Office) -> None:
        self._office = office

    @get("/v1/public/foreign", summary="List the nodes whose messages are kept")
    def origins(self, asked: OriginsAsked, call: Call) -> Answer[OriginPage]:
        """Give the nodes of which archives were imported, by name."""
        rows = read_inline(
            self._office.database,
            lambda found: Foreign(found).origins(asked.after, asked.limit + 1),
        )
        shown = rows[: asked.limit]
        cursor = shown[-1].origin if len(rows) > len(shown) else None
        page = OriginPage(tuple(map(self._origin, shown)), cursor)
        return linked(call, page, cursor, "after")

    @get(
        "/v1/public/foreign/{origin}/messages",
        summary="List the messages of another node",
        codes=("origin-unknown",),
    )
    def messages(self, asked: ForeignAsked, call: Call) -> Answer[ForeignPage]:
        """Give messages as they were posted at another node, by their ids there.

        They were verified when they were imported. None is indexed, counted or judged here.
        """

        def ask(connection: Connection) -> list[ForeignMessage]:
            place = Foreign(connection)
            _require(place.origin(asked.origin), asked.origin)
            return place.page(asked.origin, asked.after, asked.limit + 1)

        rows = read_inline(self._office.database, ask)
        shown = rows[: asked.limit]
        cursor = shown[-1].id if len(rows) > len(shown) else None
        page = ForeignPage(tuple(map(self._shown, shown)), cursor)
        return linked(call, page, cursor, "after")

    @get(
        "/v1/public/foreign/{origin}/messages/{id}",
        summary="Give a message of another node",
        codes=("origin-unknown", "message-unknown"),
    )
    def message(self, asked: ForeignOneAsked) -> ForeignShown:
        """Give one message by its id at another node."""

        def ask(connection: Connection) -> ForeignMessage | None:
            place = Foreign(connection)
            _require(place.origin(asked.origin), asked.origin)
            return place.get(asked.origin, asked.id)

        found = read_inline(self._office.database, ask)
        if found is None:
            raise InputError(
                "message-unknown", f"no message {asked.id} of that node is here", "", "/id"
            )
        return self._shown(found)

    def _origin(self, row: OriginRow) -> OriginShown:
        return OriginShown(
            row.origin,
            row.size,
            row.target,
            row.verifier,
            row.checkpoint,
            accepted_text(row.imported_at),
            self._office.address(f"/v1/public/foreign/{row.origin}/messages"),
        )

    def _shown(self, message: ForeignMessage) -> ForeignShown:
        kind: Kind | None = None
        problems: tuple[str, ...] = ()
        if message.content is not None:
            reading = read_content(message.content, None, self._office.node.sites)
            problems = tuple(each.code for each in reading.problems)
            kind = None if problems else reading.kind
        return ForeignShown(
            message.origin,
            message.id,
            kind,
            problems,
            message.reply_to,
            accepted_text(message.accepted_at),
            message.digest,
            message.public_key,
            message.signature,
            message.content is None,
            False,
            ForeignWritten(message.content, message.room),
        )


def _require(row: OriginRow | None, origin: str) -> None:
    """Raise InputError `origin-unknown` if nothing of a node is here."""
    if row is None:
        raise InputError(
            "origin-unknown", f"no archive of {origin[:100]!a} was imported", "list them", "/origin"
        )
