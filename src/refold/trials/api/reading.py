"""Routes that read: rooms, messages, threads, limits, moderation, the live feed. None writes."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.answers import Answer, Events
from refold.serving.call import Call
from refold.serving.operation import get
from refold.serving.reading import read_inline
from refold.trials.api.feed import Hub
from refold.trials.api.office import Office
from refold.trials.api.shown import (
    LimitShown,
    LimitsShown,
    MessagePage,
    MessageShown,
    ModeratedShown,
    ModerationPage,
    RateShown,
    RoomShown,
    RoomsShown,
    message_shown,
)
from refold.trials.leaf import accepted_text
from refold.trials.limits import network_of
from refold.trials.relations import KeyState
from refold.trials.store.keys import Keys
from refold.trials.store.model import Message
from refold.trials.store.moderating import Moderation
from refold.trials.store.reading import Messages
from refold.trials.tables import LIMITS

__all__ = [
    "MAX_PAGE",
    "AfterAsked",
    "MessagesAsked",
    "ReadingApi",
    "linked",
    "shown_messages",
]

MAX_PAGE = 200
"""Items of a page at most."""

MessageId = Annotated[
    str,
    Meta(
        pattern="^(?:[1-9][0-9]{0,17}|[0-9a-f]{64})$",
        description="The id of a message, or its digest.",
        examples=["1"],
    ),
]
Room = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,39}$", examples=["commons"])]


_P = TypeVar("_P")


class AfterAsked(msgspec.Struct, kw_only=True, frozen=True):
    """A page of things by id."""

    after: Annotated[int, Meta(ge=0, description="Begin behind this id, the oldest first.")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Items of a page at most.")] = 50


class MessagesAsked(AfterAsked, kw_only=True, frozen=True):
    """A page of messages."""

    before: Annotated[int, Meta(ge=1)] | None = None


class RoomAsked(MessagesAsked, kw_only=True, frozen=True):
    """A page of the messages of a room."""

    room: Room


class MessageAsked(msgspec.Struct, frozen=True):
    """One message."""

    id: MessageId


class ThreadAsked(MessagesAsked, kw_only=True, frozen=True):
    """A page of the thread that a message is in."""

    id: MessageId


class FeedAsked(msgspec.Struct, frozen=True):
    """What to listen to, and from which id on."""

    room: Room | None = None
    after: Annotated[int, Meta(ge=0)] | None = None


def shown_messages(connection: Connection, messages: Sequence[Message]) -> list[MessageShown]:
    """Give messages as they are shown, with what became of their keys and texts since."""
    about = Keys(connection).about([each.public_key for each in messages])
    without = [each.id for each in messages if each.content is None]
    removed = Moderation(connection).tombstoned(without) if without else {}
    unknown: tuple[str | None, KeyState] = (None, KeyState())
    shown = []
    for each in messages:
        name, state = about.get(each.public_key, unknown)
        shown.append(message_shown(each, name, state, removed.get(each.id)))
    return shown


class ReadingApi:
    """See the module."""

    def __init__(self, office: Office, hub: Hub) -> None:
        self._office = office
        self._hub = hub

    @get("/v1/public/rooms", summary="List the rooms")
    def rooms(self) -> RoomsShown:
        """Give the rooms of this node, each with the id of its newest message."""

        def ask(connection: Connection) -> RoomsShown:
            found = []
            for room in self._office.node.rooms:
                newest = Messages(connection).room(room, 0, 1, before=_BEHIND)
                latest = newest[0].id if newest else 0
                address = self._office.address(f"/v1/public/rooms/{room}/messages")
                found.append(RoomShown(room, latest, address))
            return RoomsShown(tuple(found))

        return read_inline(self._office.database, ask)

    @get(
        "/v1/public/rooms/{room}/messages",
        summary="List the messages of a room",
        codes=("room-unknown",),
        example={"room": "commons"},
    )
    def room_messages(self, asked: RoomAsked, call: Call) -> Answer[MessagePage]:
        """Give messages in the order of their ids; with `before` the newest below it first."""
        self._require_room(asked.room)
        return self._page(
            call, asked, lambda it, *place, **more: it.room(asked.room, *place, **more)
        )

    @get("/v1/public/messages", summary="List the messages of all rooms")
    def messages(self, asked: MessagesAsked, call: Call) -> Answer[MessagePage]:
        """Give messages in the order of their ids; with `before` the newest below it first."""
        return self._page(call, asked, lambda it, *place, **more: it.since(*place, **more))

    @get(
        "/v1/public/messages/{id}",
        summary="Give a message",
        codes=("message-unknown",),
        example={"id": "1"},
    )
    def message(self, asked: MessageAsked) -> MessageShown:
        """Give a message by its id or digest, with what became of its key and text since."""

        def ask(connection: Connection) -> MessageShown:
            return shown_messages(connection, [_found(connection, asked.id)])[0]

        return read_inline(self._office.database, ask)

    @get(
        "/v1/public/messages/{id}/thread",
        summary="Give a thread",
        codes=("message-unknown",),
        example={"id": "1"},
    )
    def thread(self, asked: ThreadAsked, call: Call) -> Answer[MessagePage]:
        """Give all messages of the thread that a message is in, from its top."""
        top = read_inline(self._office.database, _found, asked.id).thread
        return self._page(call, asked, lambda it, *place, **more: it.thread(top, *place, **more))

    @get("/v1/public/limits", summary="List the limits of posts")
    def limits(self) -> LimitsShown:
        """Give how often and how much may be posted here; the limit that was met names itself."""
        return LimitsShown(
            tuple(
                RateShown(rate.id, rate.count, rate.seconds, rate.who, rate.says, rate.reason)
                for rate in self._office.rates.rates.values()
            ),
            tuple(LimitShown(each.says, each.value, each.unit, each.reason) for each in LIMITS),
        )

    @get("/v1/public/moderation", summary="List what the operator did")
    def moderation(self, asked: AfterAsked, call: Call) -> Answer[ModerationPage]:
        """Give every block, and every text that was removed, with the reason."""
        rows = read_inline(
            self._office.database,
            lambda found: Moderation(found).page(asked.after, asked.limit + 1),
        )
        shown = rows[: asked.limit]
        cursor = shown[-1].id if len(rows) > len(shown) else None
        items = tuple(
            ModeratedShown(row.id, row.action, row.subject, row.reason, accepted_text(row.at))
            for row in shown
        )
        return linked(call, ModerationPage(items, cursor), cursor, "after")

    @get(
        "/v1/public/events",
        summary="Listen to new messages",
        codes=("room-unknown",),
        listed=False,
    )
    def events(self, asked: FeedAsked, call: Call) -> Events:
        """Tell each message as it comes (server-sent events).

        With `Last-Event-ID`, or `after`, those behind that id come first. The event `stored` says
        that all that was there has been told.
        """
        if asked.room is not None:
            self._require_room(asked.room)
        last = call.headers.get("last-event-id", "")
        after = int(last[:18]) if last.isascii() and last.isdigit() else asked.after
        network = network_of(call.client)
        self._hub.require_room(network)
        return Events(lambda: self._hub.listen(after, asked.room, network))

    def _require_room(self, room: str) -> None:
        """Return if the node has a room. Raises InputError `room-unknown`."""
        if room not in self._office.node.rooms:
            hint = "see /v1/public/rooms"
            raise InputError("room-unknown", "there is no such room", hint, "/room")

    def _page(
        self, call: Call, asked: MessagesAsked, read: Callable[..., list[Message]]
    ) -> Answer[MessagePage]:
        """Give a page of messages, and where the next one begins."""

        def ask(connection: Connection) -> MessagePage:
            place = Messages(connection)
            rows = read(place, asked.after, asked.limit + 1, before=asked.before)
            shown = rows[: asked.limit]
            cursor = shown[-1].id if len(rows) > len(shown) else None
            return MessagePage(tuple(shown_messages(connection, shown)), cursor)

        found = read_inline(self._office.database, ask)
        name = "after" if asked.before is None else "before"
        return linked(call, found, found.next_cursor, name)


_BEHIND = 2**63 - 1


def _found(connection: Connection, id_: str) -> Message:
    """Give the message of an id or digest. Raises InputError `message-unknown`."""
    place = Messages(connection)
    found = place.of_digests([id_]).get(id_) if len(id_) == 64 else place.get(int(id_))
    if found is None:
        raise InputError("message-unknown", f"there is no message {id_}", "list them", "/id")
    return found


def linked(call: Call, page: _P, cursor: int | str | None, name: str) -> Answer[_P]:
    """Give a page with a link to the next one, which begins at `cursor` by the member `name`."""
    if cursor is None:
        return Answer(page)
    address = call.site.address(call.here.again(**{name: cursor}))
    link = f'<{address}>; rel="next"'
    return Answer(page, headers=(("link", link),))
