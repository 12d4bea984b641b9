"""Answers of the indexes, made once for as long as nothing changed: one look tells whether it did.

An answer is a function of the log, of what became of keys and texts, and of the second it is given
in. So it is kept with the newest message, the number of changes and the second, and is made anew
when one of them is another. A node that is asked the same thousands of times a second reads it
once; one that is asked something new each time reads three to ten rows more slowly.
"""

from collections.abc import Callable
from typing import TypeVar, cast

from sqlalchemy import Connection, select

from refold.serving.answers import JSON_TYPE, REVALIDATE, Answer, json_bytes
from refold.serving.call import Call
from refold.serving.reading import read_inline
from refold.trials.api.office import Office
from refold.trials.store import keytables
from refold.trials.store.tables import messages

__all__ = ["MAX_BYTES", "Fresh"]

MAX_BYTES = 16 * 1024 * 1024
"""Answers that are kept, in bytes: hundreds of the longest, thousands of the usual ones."""

_T = TypeVar("_T")
_State = tuple[int, int, int]
_NEWEST = select(messages.c.id).order_by(messages.c.id.desc()).limit(1).scalar_subquery()
_CHANGES = select(keytables.changes.c.changes).scalar_subquery()
_VERSION = select(_NEWEST, _CHANGES)


class Fresh:
    """For one event loop."""

    def __init__(self, office: Office, most: int = MAX_BYTES) -> None:
        self._office = office
        self._most = most
        self._state: _State = (0, 0, 0)
        self._kept: dict[tuple[str, bytes], tuple[bytes, str]] = {}
        self._bytes = 0

    def give(
        self,
        call: Call,
        make: Callable[[Connection, int], tuple[_T, str]],
        media_type: str = JSON_TYPE,
        cache: str = REVALIDATE,
    ) -> Answer[_T]:
        """Give what `make` gives for a connection and the time in Unix seconds: a value or bytes.

        With it comes the address of the next page, "" for none.
        """
        body, following = read_inline(self._office.database, self._ask, call, make)
        headers = (("link", f'<{following}>; rel="next"'),) if following else ()
        answer = Answer(body, media_type=media_type, cache=cache, headers=headers)
        return cast("Answer[_T]", answer)

    def _ask(
        self,
        connection: Connection,
        call: Call,
        make: Callable[[Connection, int], tuple[_T, str]],
    ) -> tuple[bytes, str]:
        newest, changes = connection.execute(_VERSION).one()
        now = self._office.unix()
        state = (newest or 0, changes or 0, now)
        if state != self._state or self._bytes > self._most:
            self._state, self._bytes = state, 0
            self._kept.clear()
        asked = (call.path, call.query)
        kept = self._kept.get(asked)
        if kept is None:
            value, following = make(connection, now)
            body = value if isinstance(value, bytes) else json_bytes(value)
            kept = self._kept[asked] = (body, following)
            self._bytes += len(body)
        return kept
