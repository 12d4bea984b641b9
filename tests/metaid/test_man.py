"""The client: which routes there are, what is asked for how, and what is asked for again."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.mans import (
    BASE,
    HTML,
    NO_PIN,
    NO_ROUTE,
    PATH,
    ZERO_PIN,
    Answer,
    Indexer,
    Script,
    client,
    load,
    one,
    page,
    pin_id,
    row,
    transport_of,
    whole,
)
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError, UsageError
from refold.metaid.man.client import ManClient, Transport, check_path
from refold.metaid.man.rows import ListPage

ID = pin_id(1)
LIST = "/api/pin/path/list"


def always(answer: Answer) -> Script:
    return lambda _path, _query: answer


def ids(found: ListPage) -> list[str]:
    return [r.id for r in found.rows]


# --- lists -------------------------------------------------------------------------------------


def test_a_page_is_asked_for_by_path_and_size_and_cursor() -> None:
    man = client(Indexer([[row(1, 5)], [row(2, 4)]]))
    first = man.page(PATH)
    second = man.page(PATH, first.next_cursor, size=20)
    assert (ids(first), ids(second)) == ([pin_id(1)], [pin_id(2)])
    assert transport_of(man).queries == [
        {"path": PATH, "size": "100"},
        {"path": PATH, "size": "20", "cursor": first.next_cursor},
    ]
    assert transport_of(man).headers[0] == {
        "Accept": "application/json",
        "Cache-Control": "no-cache",
    }


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_a_cursor_comes_back_as_it_was_given(cursor: str) -> None:
    """Real ones hold ampersands, so they are percent-encoded, all of them (facts §3.4)."""
    man = client(always(page(None)))
    man.page(PATH, cursor)
    assert transport_of(man).queries[0]["cursor"] == cursor


@pytest.mark.parametrize("size", [0, -1, 101, 1000])
def test_a_size_that_indexers_change_is_refused(size: int) -> None:
    man = client(always(page(None)))
    with pytest.raises(UsageError) as caught:
        man.page(PATH, size=size)
    assert caught.value.code == "man-size"
    assert transport_of(man).requests == 0


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "@",
        "protocols/x",
        "/Protocols/x",
        "/protocols/x/",
        "/protocols/a:b",
        "host:/protocols/x",
        " /protocols/x",
        "/protocols/x\n",
        "/ ",
    ],
)
def test_a_path_under_which_nothing_is_listed_is_refused(path: str) -> None:
    """Such a list is empty, and successful: the worst of answers (pitfall 33)."""
    man = client(always(page(None)))
    with pytest.raises(InputError) as caught:
        man.page(path)
    assert caught.value.code == "path-invalid"
    assert transport_of(man).requests == 0


@pytest.mark.parametrize("path", [PATH, f"@{ID}", "/file", "/protocols/ä_b-c.d"])
def test_paths_that_are_listed(path: str) -> None:
    check_path(path)


def test_the_base_must_be_a_url() -> None:
    with pytest.raises(InputError) as caught:
        ManClient(transport_of(client(always(None))), "indexer.example.test")
    assert caught.value.code == "url-invalid"


def test_a_base_with_a_path_and_a_slash() -> None:
    transport: Transport = transport_of(client(always(page(None))))
    man = ManClient(transport, f"{BASE}/man/")
    man.page(PATH)
    assert transport_of(man).asked == [f"/man{LIST}"]


# --- routes and generations --------------------------------------------------------------------


def only(*routes: str, answer: Answer) -> Script:
    return lambda path, _query: answer if path.startswith(routes) else NO_ROUTE


def test_the_newer_generation_is_asked_first_and_remembered() -> None:
    man = client(Indexer([[row(1, 5)]]))
    generations = [man.generation]
    for _ in range(2):
        man.page(PATH)
        generations.append(man.generation)
    assert generations == [None, "v2", "v2"]
    assert transport_of(man).asked == [LIST, LIST]


def test_routes_without_api_in_front() -> None:
    man = client(only("/pin/", answer=page([row(1, 5)])))
    assert ids(man.page(PATH)) == [ID]
    man.page(PATH)
    assert man.generation == "v2"
    assert transport_of(man).asked == [LIST, "/pin/path/list", "/pin/path/list"]


def test_details_are_found_under_either_prefix() -> None:
    man = client(only("/pin/", answer=one(whole(row(1, 5)))))
    found = man.pin(ID)
    assert found is not None
    assert transport_of(man).asked == [f"/api/pin/{ID}", f"/pin/{ID}"]


def test_an_older_indexer_is_found_by_its_lists() -> None:
    man = client(only("/api/getAllPinByPath", answer=page([row(1, 5)])))
    assert man.page(PATH).next_cursor == "2"
    assert man.generation == "v1"
    assert man.page(PATH, "2").next_cursor == "3"
    assert transport_of(man).queries[-1] == {"path": PATH, "page": "2", "limit": "100"}


def test_a_detail_does_not_decide_the_generation() -> None:
    script = only("/api/pin/" + ID, "/api/getAllPinByPath", answer=one(whole(row(1, 5))))
    man = client(script)
    man.pin(ID)
    assert not man.generation
    transport_of(man).script = only("/api/getAllPinByPath", answer=page(None))
    man.page(PATH)
    assert man.generation == "v1"


def test_a_chosen_generation_is_not_left() -> None:
    for chosen, route in (("v1", "/api/getAllPinByPath"), ("v2", LIST)):
        man = client(only(route, answer=page(None)), generation=chosen)
        assert man.generation == chosen
        assert man.page(PATH).listed == 0
        other = client(only("/none", answer=None), generation=chosen)
        with pytest.raises(SourceError) as caught:
            other.page(PATH)
        assert caught.value.code == "man-no-route"
        assert all(("getAll" in path) == (chosen == "v1") for path in transport_of(other).asked)


def test_a_server_without_any_route() -> None:
    man = client(always(NO_ROUTE))
    with pytest.raises(SourceError) as caught:
        man.page(PATH)
    assert caught.value.code == "man-no-route"
    assert len(transport_of(man).asked) == 4


def test_a_prefix_that_a_deployment_took_away() -> None:
    """Pitfall 34: the routes move, the cursors stay good."""
    man = client(only("/api/pin/", answer=page([row(1, 5)], "next")))
    man.page(PATH)
    transport_of(man).script = only("/pin/", answer=page([row(2, 4)], "later"))
    assert ids(man.page(PATH, "next")) == [pin_id(2)]
    assert man.generation == "v2"
    assert "/api/getAllPinByPath" not in transport_of(man).asked


# --- the first generation ----------------------------------------------------------------------


class Old:
    """Lists as the first generation does: mempool rows in front of each page, and no more rows."""

    def __init__(self, mempool: int, confirmed: int) -> None:
        self.mempool = [row(-n, -1) for n in range(1, mempool + 1)]
        self.confirmed = [row(n, 10_000 - n) for n in range(confirmed)]

    def __call__(self, path: str, query: Mapping[str, str]) -> Answer:
        if path != "/api/getAllPinByPath":
            return NO_ROUTE
        number, limit = int(query["page"]), int(query["limit"])
        skip = (number - 1) * limit
        mempool = self.mempool[skip : skip + limit]
        confirmed = self.confirmed[skip : skip + limit - len(mempool)]
        return page([*mempool, *confirmed] or None, total=len(self.mempool) + len(self.confirmed))


@given(st.integers(0, 30), st.integers(0, 70), st.integers(1, 20))
def test_rows_that_mempool_rows_push_off_a_page_are_asked_for(
    mempool: int, confirmed: int, size: int
) -> None:
    man = client(Old(mempool, confirmed))
    cursor, got, hidden = "", set[str](), 0
    while True:
        found = man.page(PATH, cursor, size=size)
        got |= set(ids(found))
        hidden += found.hidden
        cursor = found.next_cursor
        if not found.listed:
            break
    everything = {pin_id(-n) for n in range(1, mempool + 1)} | {pin_id(n) for n in range(confirmed)}
    if mempool <= size // 2:
        assert hidden == 0
    assert (got == everything) or hidden


@pytest.mark.parametrize("cursor", ["-1", "x", "1&mvc", "²"])
def test_a_cursor_of_another_generation(cursor: str) -> None:
    man = client(Old(0, 5), generation="v1")
    with pytest.raises(UsageError) as caught:
        man.page(PATH, cursor)
    assert caught.value.code == "man-cursor"


def test_a_comma_would_ask_for_two_paths() -> None:
    with pytest.raises(InputError) as caught:
        client(Old(0, 5)).page("/protocols/a,/protocols/b")
    assert caught.value.code == "path-invalid"


# --- details, contents, heights ----------------------------------------------------------------


@pytest.mark.parametrize("answer", [ZERO_PIN, (404, NO_PIN), NO_PIN])
def test_an_unknown_pin_is_none(answer: Answer) -> None:
    man = client(always(answer))
    assert man.pin(ID) is None
    assert man.version(ID) is None
    assert transport_of(man).asked == [f"/api/pin/{ID}", f"/api/pin/ver/{ID}/0"]


@pytest.mark.parametrize(
    "name", ["", "x", "../admin", ID.upper(), ID[:-1], f"{ID}/../x", f"{ID}0" * 2]
)
def test_what_is_no_pin_id_is_not_asked_for(name: str) -> None:
    man = client(always(ZERO_PIN))
    for ask in (man.pin, man.version, man.content):
        with pytest.raises(InputError) as caught:
            ask(name)
        assert caught.value.code == "pin-id-invalid"
    assert transport_of(man).requests == 0


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ((200, b"bytes", {}), b"bytes"),
        ((200, b"", {}), b""),
        ((200, b"fail", {}), None),
        ((404, NO_PIN, {}), None),
        ((200, b"", {"x-man-content-status": "metadata-only"}), None),
    ],
)
def test_content(answer: Answer, content: bytes | None) -> None:
    assert client(always(answer)).content(ID) == content


def test_content_of_a_server_in_trouble() -> None:
    with pytest.raises(SourceError) as caught:
        client(always((500, HTML))).content(ID)
    assert caught.value.code == "man-status"


def test_heights_and_health() -> None:
    man = client(Indexer([]))
    assert man.heights() == {"mvc": 500, "btc": None}
    assert man.health() is None
    healthy = client(always({"status": "ok", "version": "1.2"}))
    health = healthy.health()
    assert health is not None
    assert (health.status, health.version) == ("ok", "1.2")
    assert client(always(load("debug_sync.json"))).heights()["mvc"] == 191702


@pytest.mark.parametrize(
    ("answer", "code"),
    [((200, HTML), "man-unreadable"), ((500, HTML), "man-status"), ([], "man-shape")],
)
def test_health_that_is_none(answer: Answer, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        client(always(answer)).health()
    assert caught.value.code == code


# --- asking again --------------------------------------------------------------------------------


class Turns:
    """Gives its answers in turn, and then the last."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def __call__(self, _path: str, _query: Mapping[str, str]) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    "bad",
    [
        (200, b""),
        (200, HTML),
        (500, HTML),
        NO_PIN,
        [],
        {"code": 404, "message": "service exception."},
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_for_again(bad: Answer) -> None:
    waits: list[float] = []
    man = client(Turns(bad, bad, page([row(1, 5)])), sleep=waits.append)
    assert ids(man.page(PATH)) == [ID]
    assert waits == [0.5, 1.0]
    failing = client(always(bad))
    with pytest.raises(TransientError):
        failing.page(PATH)
    assert transport_of(failing).requests == 4


def test_a_refusal_is_not_asked_for_again() -> None:
    man = client(always(load("error_response.json")))
    with pytest.raises(SourceError) as caught:
        man.page(PATH)
    assert (caught.value.code, transport_of(man).requests) == ("man-refused", 1)


def test_what_the_transport_gave_up_is_not_asked_for_again() -> None:
    man = client(always(TransientError("connection-lost", "gone")))
    with pytest.raises(TransientError):
        man.page(PATH)
    assert transport_of(man).requests == 1


def test_at_least_one_attempt() -> None:
    with pytest.raises(UsageError):
        client(always(page(None)), attempts=0).page(PATH)


def test_messages_show_no_query() -> None:
    man = client(always(NO_PIN))
    with pytest.raises(SourceError) as caught:
        man.page(PATH, "secret")
    assert caught.value.message.startswith(f"{BASE}{LIST}: ")
    assert "secret" not in str(caught.value)


def test_the_guarded_client_is_a_transport() -> None:
    from refold.kernel.fetch import GuardedClient  # noqa: PLC0415 -- for the type only

    with GuardedClient() as guarded:
        transport: Transport = guarded
        man: Any = ManClient(transport, BASE)
        assert man.transport is guarded
