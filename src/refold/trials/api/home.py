"""`/v1/home`: what a key has to do now. The query is signed by it; nothing is kept of it.

Source: cold trials spec §4, `/v1/home`.
"""

import base64
import hashlib
from collections.abc import Sequence
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.kernel.keys import verify
from refold.serving.answers import NO_STORE
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.operation import get
from refold.serving.problem import DetailedError
from refold.serving.reading import read_inline
from refold.trials.api.indexesmaking import said
from refold.trials.api.indexesrecord import PublicKey
from refold.trials.api.indexesshown import (
    Awaiting,
    AwaitingShown,
    Closing,
    ClosingShown,
    HomeShown,
    Owed,
    OwedShown,
    Replies,
    SaidAlone,
)
from refold.trials.api.office import Office
from refold.trials.api.reading import shown_messages
from refold.trials.api.shown import state_word
from refold.trials.codes import told
from refold.trials.leaf import accepted_text
from refold.trials.signing import home_bytes, signature_fault
from refold.trials.store.indexhome import HomeReader
from refold.trials.store.keys import Keys

__all__ = ["HOME_CODES", "HomeApi", "HomeAsked"]

MAX_ITEMS: Final = 50
"""Items of each kind: what is done of them makes room for the others."""
SOON_SECONDS: Final = 7 * 86_400
"""A trial closes soon within a week: time to read runs and to ask for rechecks."""
MINUTE_SECONDS: Final = 60

HOME_CODES: tuple[Code, ...] = (
    Code("home-minute", 422, "Another minute", "The minute is not the present one, or one beside"
         " it: Unix time divided by 60, rounded down. Sign anew."),
)  # fmt: skip

_T = TypeVar("_T")


class HomeAsked(msgspec.Struct, kw_only=True, frozen=True):
    """Who asks, in which minute, and the signature over both."""

    public_key: PublicKey
    minute: Annotated[int, Meta(ge=0, description="Unix time divided by 60, rounded down.")]
    signature: Annotated[
        str,
        Meta(
            pattern="^[0-9a-f]{128}$",
            description="Over lockzone-home-v1, origin, public_key and minute, each on a line.",
        ),
    ]


class HomeApi:
    """See the module."""

    def __init__(self, office: Office) -> None:
        self._office = office

    @get(
        "/v1/home",
        summary="Say what a key has to do",
        codes=("home-minute", "signature_wrong", "too-many"),
        cache=NO_STORE,
    )
    def home(self, asked: HomeAsked, call: Call) -> HomeShown:
        """Give rechecks that you owe, runs that await your answer, trials that close, replies.

        The signature is over four lines without a line end at the end: lockzone-home-v1, the
        node's origin, the key, the minute. The minute may be one off.
        """
        return self.ask(asked, call.client)

    def ask(self, asked: HomeAsked, client: str) -> HomeShown:
        """Do the same for a network address."""
        now = self._office.unix()
        self._check(asked, now, client)

        def make(connection: Connection) -> HomeShown:
            return self._home(connection, asked.public_key, now)

        return read_inline(self._office.database, make)

    def _check(self, asked: HomeAsked, now: int, address: str) -> None:
        """Return if the query is of now and of the key. Raises InputError, DetailedError."""
        minute = now // MINUTE_SECONDS
        if abs(asked.minute - minute) > 1:
            detail = f"the minute is {asked.minute}, now is {minute}"
            raise InputError("home-minute", detail, "look at the clock, sign anew", "/minute")
        signed = home_bytes(self._office.node.origin, asked.public_key, asked.minute)
        if _fits(asked.public_key, signed, asked.signature):
            return
        # What was signed instead is looked for only as often as for posts: it takes milliseconds.
        self._office.require("refused.ten_minutes", address)
        wrong = signature_fault(asked.public_key, signed, asked.signature)
        if wrong is not None:
            members: dict[str, object] = {
                "preimage": base64.b64encode(signed).decode(),
                "sha256": hashlib.sha256(signed).hexdigest(),
                "slip": wrong.slip,
            }
            problems = told((wrong.fault,), self._office.docs)
            raise DetailedError.of(problems).detailed(members)

    def _home(self, connection: Connection, key: str, now: int) -> HomeShown:
        reader = HomeReader(connection, key, now, MAX_ITEMS + 1)
        trial = self._office.address("/v1/public/trials/")
        owed, more_owed = _cut(reader.owed())
        awaiting, more_awaiting = _cut(reader.awaiting())
        closing, more_closing = _cut(reader.closing(now + SOON_SECONDS))
        replies, more_replies = _cut(reader.replies())
        return HomeShown(
            key,
            state_word(Keys(connection).state(key)),
            accepted_text(now),
            Owed(
                tuple(
                    OwedShown(
                        each.run,
                        each.trial,
                        each.disposition,
                        accepted_text(each.closes),
                        f"{trial}{each.trial}",
                        SaidAlone(said(each.said)),
                    )
                    for each in owed
                ),
                more_owed,
            ),
            Awaiting(
                tuple(
                    AwaitingShown(
                        each.run,
                        each.trial,
                        each.public_key,
                        each.outcome,
                        f"{trial}{each.trial}",
                        SaidAlone(said(each.said)),
                    )
                    for each in awaiting
                ),
                more_awaiting,
            ),
            Closing(
                tuple(
                    ClosingShown(
                        each.trial,
                        accepted_text(each.closes),
                        f"{trial}{each.trial}",
                        SaidAlone(said(each.said)),
                    )
                    for each in closing
                ),
                more_closing,
            ),
            Replies(tuple(shown_messages(connection, replies)), more_replies),
        )


def _cut(rows: Sequence[_T]) -> tuple[Sequence[_T], bool]:
    return rows[:MAX_ITEMS], len(rows) > MAX_ITEMS


def _fits(public_key: str, signed: bytes, signature: str) -> bool:
    try:
        verify(public_key, signed, signature)
    except InputError:
        return False
    return True
