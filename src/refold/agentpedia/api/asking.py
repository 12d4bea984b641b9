"""How handlers ask: a few rows in the event loop, the rest in threads, exports as streams."""

from collections.abc import Callable, Generator, Iterator
from typing import Concatenate, NoReturn, ParamSpec, TypeVar

from sqlalchemy import Connection

from refold.agentpedia.queries.look import Hidings, Look
from refold.agentpedia.store import Page as Stored
from refold.db import Database
from refold.kernel.errors import UsageError
from refold.serving.answers import Answer, Lines, Page, etag_of_version, is_known
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.reading import read_in_thread, read_inline

__all__ = ["Asking", "paged"]

CHUNK_BYTES = 65_536
"""Bytes of a stream that are sent at once."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
Question = Callable[Concatenate[Look, _P], _T]


class Asking:
    """A database to be asked, and what is hidden in it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.hidings = Hidings()

    def inline(self, question: Question[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Give what a question gives, at once: for a few rows."""
        with_look = self._with_look(question)
        return read_inline(self.database, with_look, *args, **kwargs)

    async def in_thread(
        self, call: Call, question: Question[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Give what a question gives, from a thread: for whatever scans or compares."""
        with_look = self._with_look(question)
        return await read_in_thread(call.site.searches, self.database, with_look, *args, **kwargs)

    def of_view(
        self, call: Call, question: Question[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> Answer[_T]:
        """Give an answer that follows from the view, and from what is hidden, alone.

        A client that has it already costs one small question.
        """

        def ask(look: Look) -> Answer[_T]:
            version = look.standing.version
            has_it = call.headers.get("if-none-match", "")
            if is_known(has_it, etag_of_version(version, "")):
                return Answer(_unneeded, version=version)
            return Answer(question(look, *args, **kwargs), version=version)

        return self.inline(ask)

    def stream(self, lines: Callable[[Look], Iterator[bytes]], filename: str) -> Lines:
        """Give a stream of lines from one state of the database."""

        def chunks() -> Generator[bytes, None, None]:
            with self.database.read() as connection:
                held: list[bytes] = []
                size = 0
                for line in lines(Look(connection, self.hidings)):
                    held.append(line)
                    size += len(line)
                    if size >= CHUNK_BYTES:
                        yield b"".join(held)
                        held, size = [], 0
                yield b"".join(held)

        return Lines(chunks, filename=filename)

    def _with_look(self, question: Question[_P, _T]) -> Callable[Concatenate[Connection, _P], _T]:
        def ask(connection: Connection, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
            return question(Look(connection, self.hidings), *args, **kwargs)

        return ask


def _unneeded() -> NoReturn:
    """Stand for a value that nobody needs, as the client has it."""
    raise UsageError("answer-unneeded", "the client has this answer", "send 304")


def paged(call: Call, asked: ListAsked, found: Stored[_T]) -> Page[_T]:
    """Give a page of the store as a page of a list."""
    return call.page_to(asked, found.items, found.cursor)
