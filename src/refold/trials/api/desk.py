"""Where posts are taken: everything is looked at, counted against the limits, and appended.

A post that is in the log already, or under way, is recognised before limits and relations are
looked at. In the usual case, a new post with nothing wrong, only the log asks the database, in the
transaction that appends. Source: cold trials spec §2.
"""

import asyncio
import base64
import hashlib
from typing import NoReturn

from sqlalchemy import Connection

from refold.kernel.errors import SourceError, UsageError
from refold.serving.problem import DetailedError
from refold.serving.reading import read_inline
from refold.trials.api.office import Office, too_many
from refold.trials.codes import Fault, fault, told
from refold.trials.leaf import accepted_text
from refold.trials.posting import Looked, is_signed, look_at, wrong_signature
from refold.trials.relations import KeyState, key_faults, relation_faults
from refold.trials.signing import SignedMessage
from refold.trials.store.keys import Keys
from refold.trials.store.model import Appended, Message, Posting
from refold.trials.store.reading import Messages
from refold.trials.store.standings import standing

__all__ = ["Desk", "Taken"]

MAX_KNOWN = 50_000
"""Admitted keys that are remembered: some 6 MB."""
_OF_KEYS = ("posts.minute", "posts.day")
_REFUSED = "refused.ten_minutes"
_KEY_FORM = frozenset({"key_form", "key_unsafe"})

Taken = tuple[Message, bool, Looked]
"""A message of the log, whether it was there before, and what was found in it."""


class Desk:
    """Takes posts. For one event loop."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._under_way: dict[str, asyncio.Future[Appended | None]] = {}
        self._known: set[str] = set()

    async def post(self, message: SignedMessage, address: str) -> Taken:
        """Take a post from a network address.

        Raises DetailedError with all problems, or `too-many`; SourceError `trials-closed`,
        `log-busy`, and those of the database.
        """
        writing = self._office.open()
        self._bar(message, address)
        looked = look_at(message, self._office.node)
        if looked.form or looked.post is None:
            return self._duplicate(message, looked) or self._refuse(message, looked, address)
        digest = message.digest
        earlier = self._under_way.get(digest)
        if earlier is not None:
            appended = await asyncio.shield(earlier)
            if appended is not None and appended.message is not None:
                return appended.message, True, looked
        if not self._is_known(message.public_key) or not is_signed(message):
            return self._duplicate(message, looked) or self._refuse(message, looked, address)
        excess = self._office.take(*_OF_KEYS, who=message.public_key)
        if excess is not None:
            found = self._duplicate(message, looked)
            if found is None:
                raise too_many(excess)
            return found
        posting = Posting(message, looked.post, digest)
        place = self._under_way[digest] = asyncio.get_running_loop().create_future()
        appended = None
        try:
            appended = await writing.log.appended(posting, writing.standings.judge)
        except UsageError as error:  # the log is closed, or another key took over
            raise SourceError("trials-closed", error.message, error.hint) from error
        finally:
            self._under_way.pop(digest, None)
            place.set_result(appended)
            if appended is None or appended.is_duplicate or appended.message is None:
                self._office.give_back(*_OF_KEYS, who=message.public_key)
        if appended.message is None:
            self._known.discard(message.public_key)
            self._office.require(_REFUSED, address)
            raise self._refusal(appended.problems)
        return appended.message, appended.is_duplicate, looked

    def preview(self, message: SignedMessage) -> Looked:
        """Say what would become of a post now; nothing is kept.

        Raises DetailedError with all problems, and with the bytes to sign.
        """
        looked = look_at(message, self._office.node, preview=True)
        faults = looked.faults + read_inline(self._office.database, self._judged, message, looked)
        members = _to_sign(message)
        wrong = None
        if message.signature and not looked.form and not is_signed(message):
            wrong = wrong_signature(message)
        if wrong is not None:
            faults += (wrong.fault,)
            members["slip"] = wrong.slip
        if faults:
            raise self._refusal(faults, members)
        return looked

    def _bar(self, message: SignedMessage, address: str) -> None:
        """Look no further at what a network sends that had too much refused, but for signed posts.

        A content may take 20 ms to be looked at, so strangers may not have that done for ever.
        """
        excess = self._office.reached(_REFUSED, address)
        if excess is None:
            return
        key = message.public_key
        if not (is_signed(message) and (key in self._known or self._state(key).admitted)):
            raise too_many(excess)

    def _judged(
        self, connection: Connection, message: SignedMessage, looked: Looked
    ) -> tuple[Fault, ...]:
        """Give what the log would refuse a post for now, if it is whole."""
        faults: tuple[Fault, ...] = ()
        if not any(each.code in _KEY_FORM for each in looked.form):
            faults += key_faults(Keys(connection).state(message.public_key))
        if looked.form or looked.post is None:
            return faults
        return faults + relation_faults(
            looked.post,
            message.public_key,
            message.reply_to,
            lambda id_: standing(connection, id_),
            accepted_text(self._office.unix()),
        )

    def _is_known(self, public_key: str) -> bool:
        """Tell whether a key may post, as far as is known here: the log has the last word."""
        if public_key in self._known:
            return True
        if key_faults(self._state(public_key)):
            return False
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known.add(public_key)
        return True

    def _state(self, public_key: str) -> KeyState:
        return read_inline(self._office.database, lambda found: Keys(found).state(public_key))

    def _duplicate(self, message: SignedMessage, looked: Looked) -> Taken | None:
        """Give the message of the log that a post repeats, if it does."""
        if looked.form:
            return None
        digest = message.digest
        found = read_inline(self._office.database, lambda it: Messages(it).of_digests([digest]))
        return (found[digest], True, looked) if digest in found else None

    def _refuse(self, message: SignedMessage, looked: Looked, address: str) -> NoReturn:
        """Say all that is wrong with a post, as long as its network does not ask too often.

        What was signed instead is looked for only then: it takes milliseconds.
        """
        self._office.require(_REFUSED, address)
        faults = looked.faults
        members: dict[str, object] = {}
        if not any(each.code in _KEY_FORM for each in looked.form):
            faults += key_faults(self._state(message.public_key))
        if not looked.form and not is_signed(message):
            wrong = wrong_signature(message)
            if wrong is not None:
                faults += (wrong.fault,)
                members = _to_sign(message) | {"slip": wrong.slip}
        if not faults:  # the key was admitted meanwhile
            faults = (fault("key_unknown", hint="Post again.", field="public_key"),)
        raise self._refusal(faults, members)

    def _refusal(
        self, faults: tuple[Fault, ...], members: dict[str, object] | None = None
    ) -> DetailedError:
        return DetailedError.of(told(faults, self._office.docs)).detailed(members or {})


def _to_sign(message: SignedMessage) -> dict[str, object]:
    """Give the members that say what is to be signed."""
    signed = message.preimage
    return {
        "preimage": base64.b64encode(signed).decode(),
        "sha256": hashlib.sha256(signed).hexdigest(),
    }
