"""A part as a protocol would make one: a library of books, kept in a list."""

import time
from collections.abc import Generator, Iterable
from pathlib import Path
from threading import Event
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from refold.db import Database
from refold.kernel.errors import InputError, SourceError
from refold.kernel.settings import Settings
from refold.serving.answers import Answer, Lines, Page, View
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.limits import Limit
from refold.serving.operation import get, operations, page, post
from refold.serving.part import Gauge, Nav, Part, Task
from refold.serving.tools import Tool, fence

BOOKS = 25


class Book(msgspec.Struct, frozen=True, rename="camel"):
    """A book; `shelf` is where it stands."""

    id: str
    title: str
    shelf_height: int


BookId = Annotated[str, Meta(pattern=r"^(zh|en):[^\u0000]{1,60}$", examples=["en:book/3"])]


class BookAsked(msgspec.Struct, frozen=True):
    """One book."""

    id: BookId


class BooksAsked(ListAsked, kw_only=True, frozen=True, rename="camel"):
    """Books, perhaps of one language and from some height on."""

    language: Literal["zh", "en"] | None = None
    least_height: Annotated[int, Meta(ge=0, le=1_000)] = 0
    word: Annotated[tuple[str, ...], Meta(max_length=3)] = ()
    reverse: bool = False


class Draft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A book that somebody proposes."""

    title: Annotated[str, Meta(min_length=1, max_length=50)]
    height: Annotated[int, Meta(ge=0, le=100)]


def all_books(count: int = BOOKS) -> list[Book]:
    return [
        Book(f"{'en' if n % 2 else 'zh'}:book/{n}", f"书 <{n}> & more", n % 4) for n in range(count)
    ]


class Library:
    """Handlers over the list of books; `books` may be changed while they run."""

    def __init__(self) -> None:
        self.books = all_books()
        self.built = 0
        self.well = True
        self.closed = Event()
        self.entered = Event()
        self.release = Event()

    @get(
        "/v1/library/books",
        summary="List books",
        example={"limit": 3, "language": "en"},
        sample=Page((Book("en:book/1", "A book", 1),), None),
    )
    def listed(self, asked: BooksAsked, call: Call) -> Page[Book]:
        """Give books by height and id."""
        after = call.place(asked, tuple[int, str])
        found = sorted(
            (book.shelf_height, book.id, book)
            for book in self.books
            if book.id.startswith(asked.language or "")
            and book.shelf_height >= asked.least_height
            and all(word in book.title for word in asked.word)
        )
        rows = [row for row in found if after is None or (row[0], row[1]) > after]
        return call.page(
            asked,
            rows[: asked.limit + 1],
            keyset=lambda row: (row[0], row[1]),
            item=lambda row: row[2],
        )

    @get("/v1/library/books/{id}", summary="Give a book", codes=("book-unknown",))
    def book(self, asked: BookAsked) -> Book:
        """Give one book."""
        for book in self.books:
            if book.id == asked.id:
                return book
        raise InputError("book-unknown", "there is no such book", "list them", "/id")

    @get("/v1/library/books/{id}/title", summary="Give a title", codes=("book-unknown",))
    def title(self, asked: BookAsked) -> Answer[Book]:
        """Give one book under a version of its own."""
        return Answer(lambda: self._build(asked), version=f"v1 {asked.id}")

    def _build(self, asked: BookAsked) -> Book:
        self.built += 1
        return self.book(asked)

    @post("/v1/library/drafts", summary="Check a draft", status=201, max_body=2_000)
    async def draft(self, body: Draft) -> Book:
        """Check a draft, and keep nothing."""
        return Book("en:draft", body.title, body.height)

    @post("/v1/library/raw", summary="Count bytes", max_body=2_000)
    async def raw(self, body: bytes) -> Answer[bytes]:
        """Count the bytes of a body."""
        return Answer(b'{"bytes":%d}' % len(body))

    @get(
        "/v1/library/export",
        summary="Export all books",
        media_type="application/jsonl",
        listed=False,
    )
    def export(self) -> Lines:
        """Give a line for each book, without an end."""

        def chunks() -> Generator[bytes, None, None]:
            try:
                for number in range(10**9):
                    yield b"%0999d\n" % number
                    if number == BOOKS:
                        self.entered.set()
            finally:
                self.closed.set()

        return Lines(chunks, filename="books.jsonl")

    @get("/v1/library/lines", summary="Export some books", media_type="application/jsonl")
    def lines(self) -> Lines:
        """Give a line for each book."""
        books = self.books
        return Lines(lambda: (msgspec.json.encode(book) + b"\n" for book in books))

    @get("/v1/library/broken", summary="Break", listed=False)
    def broken(self) -> Book:
        """Fail as no handler should."""
        raise KeyError("a secret that no client may see")

    @get("/v1/library/broken-lines", summary="Break", listed=False)
    def broken_lines(self) -> Lines:
        """Fail in the middle."""

        def chunks() -> Generator[bytes, None, None]:
            yield b"one\n"
            raise KeyError("a secret that no client may see")

        return Lines(chunks)

    @get("/v1/library/away", summary="Lack a source", listed=False)
    def away(self) -> Book:
        """Fail as a database does."""
        raise SourceError("database-busy", "/srv/secret/path.db: busy", "wait")

    @get("/v1/library/who", summary="Say who asks", listed=False)
    def who(self, call: Call) -> Book:
        """Give the address of whoever asks."""
        return Book("en:who", call.client, 0)

    @get("/v1/library/slow", summary="Answer late", listed=False)
    async def slow(self, call: Call) -> Book:
        """Answer when the test lets it."""
        self.entered.set()
        await call.site.searches.run(self.release.wait)
        return self.books[0]

    @page("/library", summary="The library")
    def shown(self) -> View:
        """Show the books."""
        books = self.books[:3]
        return View("library/books.html", {"books": books}, Page(tuple(books), None))

    def check(self) -> None:
        if not self.well:
            raise SourceError("database-io", "/srv/secret/path.db: broken", "mend it")

    def gauges(self) -> Iterable[Gauge]:
        return (Gauge("refold_library_books", "Books that are there.", len(self.books)),)

    def find(self, arguments: BookAsked) -> str:
        return fence(self.book(arguments).title, f"title of {arguments.id}")


def until_stopped(stop: Event) -> None:
    """Run as a task does: until it is told to stop."""
    while not stop.wait(0.05):
        time.sleep(0)


def library_part(library: Library, *tasks: Task, folder: Path | None = None) -> Part:
    """Give the part of a library."""
    return Part(
        name="library",
        title="Library",
        summary="Books, for tests.",
        operations=operations(library),
        codes=(Code("book-unknown", 404, "No such book", "There is no book of this id."),),
        limits=(Limit("library.books", BOOKS, "books", "a test needs no more"),),
        tools=(Tool("find_book", "Give the title of a book.", BookAsked, library.find),),
        nav=(Nav("Library", "/library"),),
        tasks=tasks,
        checks={"shelves": library.check},
        gauges=library.gauges,
        folder=folder or Path(__file__).parent / "pages",
    )


def make_part(database: Database, settings: Settings, writing: Database | None = None) -> Part:
    """Give a part as `refold.web.app` asks for it."""
    del database, settings, writing
    return library_part(Library())
