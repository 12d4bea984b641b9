"""Live feeds, form-encoded bodies and problems with members of their own, of a small part."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from io import BytesIO
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from refold.kernel.errors import Problem, SourceError
from refold.serving import events
from refold.serving.answers import Answer, Events
from refold.serving.application import application
from refold.serving.codes import Code
from refold.serving.events import EventStream, event
from refold.serving.logs import make_log
from refold.serving.operation import get, operations, post
from refold.serving.part import Part
from refold.serving.problem import DetailedError
from serving.served import PROBLEM, Served, served


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """A body that may be JSON or a form."""

    word: Annotated[str, Meta(max_length=20)]
    number: int | None = None


class Word(Struct, frozen=True):
    """What came."""

    word: str
    number: int | None


class Feeds:
    """Handlers; `closed` says that a feed came to its end, whatever the reason."""

    def __init__(self) -> None:
        self.closed = 0

    @get("/v1/feeds/three", summary="Tell three things")
    def three(self) -> Events:
        """End by itself."""

        async def chunks() -> AsyncGenerator[bytes, None]:
            for number in range(3):
                yield event(b'{"n":%d}' % number, id_=str(number), name="count")

        return Events(chunks)

    @get("/v1/feeds/large", summary="Tell more than anybody takes", listed=False)
    def large(self) -> Events:
        """Go on for ever."""

        async def chunks() -> AsyncGenerator[bytes, None]:
            try:
                while True:
                    yield event(b"x" * 100_000)
            finally:
                self.closed += 1

        return Events(chunks)

    @get("/v1/feeds/broken", summary="Break", listed=False)
    def broken(self) -> Events:
        """Fail in the middle."""

        async def chunks() -> AsyncGenerator[bytes, None]:
            yield event(b"1")
            raise KeyError("a secret that no client may see")

        return Events(chunks)

    @post("/v1/feeds/words", summary="Take a word", form=True, also=(201,), max_body=2_000)
    async def words(self, body: Body) -> Answer[Word]:
        """Give it back; 201 for one with a number."""
        return Answer(Word(body.word, body.number), status=200 if body.number is None else 201)

    @post("/v1/feeds/refused", summary="Refuse", codes=("word-wrong",))
    async def refused(self) -> Word:
        """Refuse, with members and headers."""
        problems = [
            Problem("word-wrong", "no", "yes", "/word", 3, "runtime", "http://library.test/docs"),
            Problem("other", "also no"),
        ]
        raise DetailedError.of(problems).detailed({"preimage": "YQ=="}, (("retry-after", "7"),))


@pytest.fixture
def feeds() -> Feeds:
    return Feeds()


@pytest.fixture
def server(feeds: Feeds) -> Iterator[Served]:
    codes = (Code("word-wrong", 422, "Wrong word", "The word is wrong."),)
    part = Part("feeds", "Feeds", "For tests.", operations=operations(feeds), codes=codes)
    with served(parts=[part]) as found:
        yield found


def test_a_feed_is_told_to_its_end(server: Served) -> None:
    answer = server.get("/v1/feeds/three")
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text == "".join(f'event: count\nid: {n}\ndata: {{"n":{n}}}\n\n' for n in range(3))


def test_head_opens_no_feed(server: Served, feeds: Feeds) -> None:
    answer = server.http.head("/v1/feeds/large")
    assert (answer.status_code, answer.content) == (200, b"")
    assert server.app.site.listeners.count == feeds.closed == 0


def until(happened: Callable[[], bool], server: Served) -> None:
    """Wait, with the server at work, until something happened."""
    while not happened():
        server.get("/health")


def test_who_takes_nothing_is_cut(
    server: Served, feeds: Feeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SLOW_SECONDS", 0.05)
    with server.http.stream("GET", "/v1/feeds/large"):
        until(lambda: feeds.closed == 1, server)
    assert server.app.site.listeners.count == 0


def test_a_feed_has_an_end_in_time(
    server: Served, feeds: Feeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LISTEN_SECONDS", 0)
    assert server.get("/v1/feeds/large").content == b""
    assert feeds.closed == 0, "it was never begun"


def test_a_feed_that_breaks_is_cut_and_tells_nothing(server: Served) -> None:
    with (
        pytest.raises(Exception, match=r"(?i)incomplete|peer closed|reset|disconnected"),
        server.http.stream("GET", "/v1/feeds/broken") as answer,
    ):
        answer.read()
    until(lambda: any(line["event"] == "answer-cut" for line in server.log_lines()), server)
    assert server.app.site.listeners.count == 0
    assert "secret" not in str(server.log_lines())


FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("sent", "status", "given"),
    [
        (b"word=a+b%26%C3%A9", 200, {"word": "a b&é", "number": None}),
        (b"word=&number=", 200, {"word": "", "number": None}),
        (b"number=7&word=a=b", 201, {"word": "a=b", "number": 7}),
        (b"&word=a&&", 200, {"word": "a", "number": None}),
    ],
)
def test_a_form_is_taken(server: Served, sent: bytes, status: int, given: Any) -> None:
    answer = server.http.post("/v1/feeds/words", content=sent, headers=FORM)
    assert (answer.status_code, answer.json()) == (status, given)


@pytest.mark.parametrize(
    "sent",
    [b"", b"number=1", b"word=a&word=b", b"word=a&x=y", b"word=%f", b"word=" + b"a" * 21],
)
def test_a_wrong_form_is_refused(server: Served, sent: bytes) -> None:
    answer = server.http.post("/v1/feeds/words", content=sent, headers=FORM)
    assert (answer.status_code, answer.json()["code"]) == (400, "body-form")


def test_json_is_taken_as_before_and_forms_only_where_a_route_says_so(server: Served) -> None:
    assert server.http.post("/v1/feeds/words", json={"word": "a", "number": 1}).status_code == 201
    both = server.get("/openapi.json").json()["paths"]["/v1/feeds/words"]["post"]
    assert list(both["requestBody"]["content"]) == ["application/json", FORM["content-type"]]
    assert {"200", "201"} <= set(both["responses"])
    with served() as library:
        answer = library.http.post("/v1/library/drafts", content=b"title=a", headers=FORM)
        assert answer.status_code == 415


def test_a_problem_may_have_members_and_headers_of_its_own(server: Served) -> None:
    answer = server.http.post("/v1/feeds/refused")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == PROBLEM
    assert answer.headers["retry-after"] == "7"
    problem = answer.json()
    assert problem["preimage"] == "YQ=="
    assert problem["errors"] == [
        {
            "code": "word-wrong",
            "detail": "no",
            "hint": "yes",
            "pointer": "/word",
            "line": 3,
            "field": "runtime",
            "docs": "http://library.test/docs",
        },
        {"code": "other", "detail": "also no"},
    ]


def test_listeners_that_come_at_once_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is counted before anything is waited for."""
    monkeypatch.setattr(events, "MAX_LISTENERS", 2)
    site = application([], log=make_log(BytesIO())).site

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield event(b"1")

    async def listen() -> list[str]:
        begun = asyncio.Event()

        async def send(message: Any) -> None:
            del message
            await begun.wait()

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def one() -> str:
            scope: Any = {"state": {}}
            try:
                await EventStream(Events(chunks), site)(scope, receive, send)
            except SourceError as error:
                return error.code
            return "told"

        coming = [asyncio.create_task(one()) for _ in range(5)]
        await asyncio.sleep(0)
        begun.set()
        return await asyncio.gather(*coming)

    assert asyncio.run(listen()) == ["told"] * 2 + ["busy"] * 3
    assert site.listeners.count == 0
