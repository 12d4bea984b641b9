"""The guarded client with servers that mean well: answers, redirects, retries, TLS, threads."""

import random
import socket
import ssl
import types
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpcore2
import pytest
import tenacity.nap
from hypothesis import given
from hypothesis import strategies as st

from kernel.hostile import (
    PUBLIC,
    TLS,
    Answers,
    Clock,
    Dialled,
    Hostile,
    Names,
    Peer,
    chunked,
    http,
    serving,
)
from refold.kernel.addresses import LOOPBACK
from refold.kernel.answer import Head, asked_wait
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, RefoldError, SourceError, UsageError
from refold.kernel.fetch import Fetched, GuardedClient
from refold.kernel.headers import generated_at
from refold.kernel.policy import FetchPolicy

HOME = FetchPolicy(allowed_networks=LOOPBACK, retry_wait=0, max_seconds_idle=10)
NOW = datetime(2031, 5, 9, 7, 30, tzinfo=UTC)


@pytest.fixture
def client() -> Iterator[GuardedClient]:
    with GuardedClient(HOME) as client:
        yield client


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give the list of the waits before retries, which then take no time."""
    waited: list[float] = []
    monkeypatch.setattr(tenacity.nap, "time", types.SimpleNamespace(sleep=waited.append))
    return waited


# What is sent and what comes back.


def test_an_answer_is_given_whole_and_described(client: GuardedClient) -> None:
    answer = http(b"\x00body\xff", "200 Fine", "X-A: 1", "x-a: 2", "Content-Type: text/plain")
    with serving(Answers(answer)) as server:
        url = f"{server.origin}/path?q=%20&r"
        fetched = client.get(url)
    assert fetched == Fetched(
        200,
        (
            ("content-length", "6"),
            ("x-a", "1"),
            ("x-a", "2"),
            ("content-type", "text/plain"),
        ),
        b"\x00body\xff",
        url,
        (),
        "127.0.0.1",
        "",
        1,
        len(answer),
        fetched.seconds,
    )
    assert fetched.header("x-a") == "1, 2"
    assert fetched.header("x-b") is None
    assert fetched.seconds >= 0
    assert (client.requests, client.bytes_received) == (1, len(answer))


def test_nothing_is_sent_but_what_must_be() -> None:
    script = Answers(http(b"", "200 OK", "Set-Cookie: id=1; Path=/"))
    policy = FetchPolicy(allowed_networks=LOOPBACK, user_agent="refold/1.0 (+https://x.test)")
    with serving(script) as server, GuardedClient(policy) as client:
        client.get(f"{server.origin}")
        client.get(f"{server.origin}/a?b#c", headers={"Accept": "application/json"})
    common = [
        f"Host: 127.0.0.1:{server.port}",
        "User-Agent: refold/1.0 (+https://x.test)",
        "Accept-Encoding: identity",
    ]
    assert [request.decode().split("\r\n") for request in script.requests] == [
        ["GET / HTTP/1.1", *common, "", ""],
        ["GET /a?b HTTP/1.1", *common, "Accept: application/json", "", ""],
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Cookie", "a=b"),
        ("authorization", "Bearer x"),
        ("Host", "other.example"),
        ("Range", "bytes=0-1"),
        ("Accept-Encoding", "br"),
        ("Connection", "close"),
        ("Accept", ""),
        ("Accept", "a\r\nCookie: b"),
        ("Accept", " a"),
        ("If-None-Match", "é"),
        ("Accept\r\nX", "a"),
    ],
)
def test_other_headers_are_refused(client: GuardedClient, name: str, value: str) -> None:
    with pytest.raises(UsageError) as refused:
        client.get("https://good.example/", headers={name: value})
    assert refused.value.code == "fetch-header"
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "policy",
    [
        FetchPolicy(user_agent="a\nb"),
        FetchPolicy(user_agent=""),
        FetchPolicy(allowed_networks=("127.0.0.1/8",)),
        FetchPolicy(allowed_networks=("localhost",)),
        FetchPolicy(origin_map={"https://a.test/x": "http://127.0.0.1:1"}),
        FetchPolicy(origin_map={"https://a.test": "http://127.0.0.1:1/x"}),
        FetchPolicy(origin_map={"https://a.test": "http://localhost:1"}),
        FetchPolicy(origin_map={"a.test": "http://127.0.0.1:1"}),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(policy: FetchPolicy) -> None:
    with pytest.raises(UsageError) as refused:
        GuardedClient(policy)
    assert refused.value.code in {"fetch-policy", "fetch-header"}


@pytest.mark.parametrize("status", ["200 OK", "206 Part", "404 Not Found", "500 No", "301 Here"])
def test_a_status_is_told_and_not_judged(client: GuardedClient, status: str) -> None:
    with serving(Answers(http(b"text", status))) as server:
        fetched = client.get(f"{server.origin}/")
    assert (fetched.status, fetched.body, fetched.requests) == (int(status[:3]), b"text", 1)


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_answers_without_body(client: GuardedClient, status: str) -> None:
    script = Answers(f"HTTP/1.1 {status}\r\nETag: x\r\n\r\n".encode(), http(b"next"))
    with serving(script) as server:
        fetched = client.get(f"{server.origin}/", headers={"If-None-Match": '"x"'})
        assert (fetched.status, fetched.body) == (int(status[:3]), b"")
        assert client.get(f"{server.origin}/").body == b"next"
        assert server.connections == 1
    assert b'\r\nIf-None-Match: "x"\r\n' in script.requests[0]


def test_early_heads_are_passed_over(client: GuardedClient) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3
    with serving(Answers(early + http(b"late"))) as server:
        assert client.get(f"{server.origin}/").body == b"late"


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    "answer", [http(b"some text"), chunked(b"some", b" ", b"text"), chunked(b"some text")]
)
def test_how_an_answer_is_cut_into_packets_is_all_the_same(
    client: GuardedClient, answer: bytes, size: int
) -> None:
    def script(peer: Peer) -> None:
        while peer.request():
            for start in range(0, len(answer), size):
                peer.send(answer[start : start + size])

    with serving(script) as server:
        assert client.get(f"{server.origin}/").body == b"some text"


def test_a_large_body_at_its_limit(client: GuardedClient) -> None:
    body = random.Random(1).randbytes(3 << 20)
    with serving(Answers(http(body))) as server:
        assert client.get(f"{server.origin}/", max_bytes=len(body)).body == body
        with pytest.raises(SourceError) as refused:
            client.get(f"{server.origin}/", max_bytes=len(body) - 1)
    assert refused.value.code == "body-too-large"


def test_post_sends_once_and_gives_any_status(client: GuardedClient) -> None:
    moved = http(b"gone", "302 Found", "Location: /x")
    script = Answers(http(b"busy", "503 Busy", "Retry-After: 0"), moved, http(b"ok"))
    with serving(script) as server:
        url = f"{server.origin}/admin"
        fetched = [client.post(url, b'{"n":1}') for _ in range(3)]
    assert [answer.status for answer in fetched] == [503, 302, 200]
    assert [answer.body for answer in fetched] == [b"busy", b"gone", b"ok"]
    assert len(script.requests) == 3
    assert script.requests[0].startswith(b"POST /admin HTTP/1.1\r\n")
    assert b"\r\nContent-Type: application/json\r\nContent-Length: 7\r\n" in script.requests[0]
    assert script.requests[0].endswith(b'\r\n\r\n{"n":1}')


def test_a_lost_post_is_not_sent_again(client: GuardedClient) -> None:
    def script(peer: Peer) -> None:
        peer.request()

    with serving(script) as server:
        with pytest.raises(TransientError) as lost:
            client.post(f"{server.origin}/", b"{}")
        assert server.connections == 1
    assert lost.value.code == "connection-lost"


# Redirects.


def redirect(location: str, status: str = "302 Found") -> bytes:
    return http(b"moved", status, f"Location: {location}")


@pytest.mark.parametrize("status", ["301 A", "302 B", "303 C", "307 D", "308 E"])
def test_redirects_of_the_same_origin_are_followed(client: GuardedClient, status: str) -> None:
    script = Answers(b"")
    with serving(script) as server:
        script.answers = [
            redirect("/b?x#y", status),
            redirect("c", status),
            redirect(f"HTTP://127.0.0.1:{server.port}/d", status),
            http(b"end"),
        ]
        fetched = client.get(f"{server.origin}/a")
        origin = server.origin
    assert (fetched.body, fetched.url, fetched.requests) == (b"end", f"{origin}/d", 4)
    assert fetched.redirects == (f"{origin}/a", f"{origin}/b?x", f"{origin}/c")


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{p}/",
        "http://127.0.0.2:{p}/",
        "http://127.0.0.1/",
        "https://127.0.0.1:{p}/",
        "//127.0.0.1:1/",
        "//evil.example/",
        "https://login.example/?next=x",
        "mailto:a@b",
        "http://127.0.0.1:{p}@evil.example/",
        "/with space",
        "/é",
    ],
)
def test_redirects_elsewhere_are_not(client: GuardedClient, location: str) -> None:
    script = Answers(b"")
    with serving(script) as server:
        script.answers = [redirect(location.replace("{p}", str(server.port)))]
        with pytest.raises(SourceError) as refused:
            client.get(f"{server.origin}/a?token=SECRET")
        assert (server.connections, client.requests) == (1, 1)
    assert refused.value.code == "redirected-off-source"
    assert "SECRET" not in str(refused.value)
    assert "next=" not in str(refused.value)


@pytest.mark.parametrize("location", ["/a", "/b", "?", "#"])
def test_redirects_have_an_end(client: GuardedClient, location: str) -> None:
    with serving(Answers(redirect(location))) as server:
        with pytest.raises(SourceError, match="more than 3 times") as refused:
            client.get(f"{server.origin}/a")
        assert client.requests == 4
    assert refused.value.code == "redirected-off-source"


# Retries.


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_unavailable_source_is_tried_four_times(client: GuardedClient, status: int) -> None:
    busy = http(b"", f"{status} No")
    with serving(Answers(busy, busy, busy, http(b"there"))) as server:
        fetched = client.get(f"{server.origin}/")
        assert (fetched.body, fetched.requests) == (b"there", 4)
        assert fetched.bytes_received == 3 * len(busy) + len(http(b"there"))
    with serving(Answers(busy)) as server:
        with pytest.raises(TransientError, match=f"status {status}") as failed:
            client.get(f"{server.origin}/")
        assert failed.value.code == "source-unavailable"
    assert (client.requests, client.bytes_received) == (8, 7 * len(busy) + len(http(b"there")))


def test_each_try_has_all_its_redirects(client: GuardedClient) -> None:
    hops = [redirect("/1"), redirect("/2"), redirect("/3")]
    with serving(Answers(*hops, http(b"", "503 No"), *hops, http(b"end"))) as server:
        fetched = client.get(f"{server.origin}/")
    assert (fetched.body, len(fetched.redirects), fetched.requests) == (b"end", 3, 8)


def test_lost_connections_are_tried_again(client: GuardedClient) -> None:
    faults = [b"", b"HTTP/1.1 20", http(b"abc", length=5), chunked(b"abc", end=b"")]
    whole = http(b"whole", "200 OK", "Connection: close")
    answers = [*faults[:3], whole, *faults[3:], *faults[:2], whole, *faults]

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(answers.pop(0))

    with serving(script) as server:
        for _ in range(2):
            fetched = client.get(f"{server.origin}/")
            assert (fetched.body, fetched.requests) == (b"whole", 4)
        with pytest.raises(TransientError) as failed:
            client.get(f"{server.origin}/")
    assert failed.value.code == "body-short"
    assert answers == []


def test_a_refused_connection_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    dialled = Dialled()
    with (
        GuardedClient(HOME, connect=dialled) as client,
        pytest.raises(TransientError, match="no connection: Connection refused") as failed,
    ):
        client.get(f"http://127.0.0.1:{port}/")
    assert failed.value.code == "connect-failed"
    assert len(dialled.calls) == 4
    assert client.requests == 0


@pytest.mark.parametrize(
    ("errno", "tries"), [(socket.EAI_AGAIN, 4), (socket.EAI_NONAME, 1), (socket.EAI_FAIL, 1)]
)
def test_dns_that_fails_for_now_is_asked_again(errno: int, tries: int) -> None:
    def resolver(host: str, port: int) -> list[str]:
        asked.append((host, port))
        raise socket.gaierror(errno, "no")

    asked: list[tuple[str, int]] = []
    with (
        GuardedClient(HOME, resolver=resolver) as client,
        pytest.raises(SourceError) as failed,
    ):
        client.get("https://good.example:8443/")
    assert failed.value.code == "name-unresolved"
    assert asked == [("good.example", 8443)] * tries


def test_a_name_without_addresses() -> None:
    with (
        GuardedClient(HOME, resolver=Names([])) as client,
        pytest.raises(SourceError) as failed,
    ):
        client.get("https://good.example/")
    assert failed.value.code == "name-unresolved"


RETRY_AFTER = [
    (["Retry-After: 7"], 7),
    (["Retry-After: 0"], 0),
    (["Retry-After: 60"], 60),
    (["Retry-After: Fri, 09 May 2031 07:30:05 GMT"], 5),
    (["Retry-After: Friday, 09-May-31 07:30:05 GMT"], 5),
    (["Retry-After: Fri May  9 07:30:05 2031"], 5),
    (["Retry-After: Fri, 09 May 2031 07:00:00 GMT"], 0),
    # The server's clock is ten hours behind ours, and its dates are by its clock.
    (["Date: Thu, 08 May 2031 21:30:00 GMT", "Retry-After: Thu, 08 May 2031 21:30:09 GMT"], 9),
    (["Date: nonsense", "Retry-After: Fri, 09 May 2031 07:30:05 GMT"], 5),
]


@pytest.mark.parametrize(("headers", "seconds"), RETRY_AFTER)
def test_a_server_is_not_asked_before_it_wishes(
    headers: list[str], seconds: float, waits: list[float]
) -> None:
    script = Answers(http(b"", "429 Slow", *headers), http(b"ok"))
    with serving(script) as server, GuardedClient(HOME, now=lambda: NOW) as client:
        assert client.get(f"{server.origin}/").requests == 2
    assert waits == [seconds]


@pytest.mark.parametrize(
    "header",
    [
        "",
        "x",
        "-5",
        "1.5",
        "5 s",
        "Fri, 99 May 2031",
        "0x10",
        "٣",
        "1, 2",
        "Fri, 09 May 99999999999",
    ],
)
def test_a_wish_that_cannot_be_read_is_none(header: str, waits: list[float]) -> None:
    answer = http(b"", "503 No", "Retry-After: @").replace(b"@", header.encode())
    policy = FetchPolicy(allowed_networks=LOOPBACK, retry_wait=0.25)
    with serving(Answers(answer)) as server, GuardedClient(policy) as client:
        with pytest.raises(TransientError):
            client.get(f"{server.origin}/")
        assert client.requests == 4
    assert len(waits) == 3
    for wait, least in zip(waits, (0.25, 0.5, 1.0), strict=True):
        assert least <= wait <= least + 0.25


@given(
    st.text(max_size=40)
    | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,3} [A-Z][a-z]{2} [0-9]{1,6} [0-9:]{1,9}( [+-]?\w*)?")
)
def test_any_wish_is_seconds_or_none(header: str) -> None:
    head = Head(503, (("retry-after", header), ("date", header[::-1])), "127.0.0.1")
    wait = asked_wait(head, NOW)
    assert wait is None or wait >= 0


@pytest.mark.parametrize(
    "header", ["61", "9" * 400, "Fri, 09 May 2031 07:31:01 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"]
)
def test_a_server_that_wishes_too_much_is_not_asked_again(header: str, waits: list[float]) -> None:
    script = Answers(http(b"", "503 No", f"Retry-After: {header}"))
    with serving(script) as server, GuardedClient(HOME, now=lambda: NOW) as client:
        with pytest.raises(TransientError, match="asks to wait") as failed:
            client.get(f"{server.origin}/")
        assert client.requests == 1
    assert failed.value.retry_after is not None
    assert failed.value.retry_after > 60
    assert waits == []


@pytest.mark.parametrize(("seconds", "requests"), [(30.5, 4), (10.1, 2), (10.0, 1), (1.0, 1)])
def test_no_wait_is_begun_that_would_outlast_the_call(
    seconds: float, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(wait: float) -> None:
        clock.now += wait

    clock = Clock()
    monkeypatch.setattr(tenacity.nap, "time", types.SimpleNamespace(sleep=sleep))
    script = Answers(http(b"", "503 No", "Retry-After: 10"))
    with serving(script) as server, GuardedClient(HOME, clock=clock) as client:
        with pytest.raises(TransientError):
            client.get(f"{server.origin}/", max_seconds=seconds)
        assert client.requests == requests


def test_input_errors_and_other_failures_are_not_tried_again(client: GuardedClient) -> None:
    for answer in (b"SSH-2.0-x\r\n\r\n", http(b"x", "200 OK", "Content-Encoding: br")):
        with serving(Answers(answer)) as server:
            with pytest.raises(SourceError):
                client.get(f"{server.origin}/")
            assert server.connections == 1


# Origins that are asked elsewhere.


def test_a_mapped_origin_is_asked_elsewhere_under_its_own_name() -> None:
    script = Answers(
        redirect("https://api.example.test/second"), redirect("/third?x"), http(b"mapped")
    )
    with serving(script) as server:
        policy = FetchPolicy(origin_map={"https://API.example.test:443/": server.origin})
        with GuardedClient(policy, resolver=Names()) as client:
            fetched = client.get("https://api.example.test/first")
        assert fetched.mapped_to == server.origin
    assert fetched.url == "https://api.example.test/third?x"
    assert fetched.redirects == (
        "https://api.example.test/first",
        "https://api.example.test/second",
    )
    assert fetched.address == "127.0.0.1"
    assert all(b"\r\nHost: api.example.test\r\n" in request for request in script.requests)


def test_a_mapped_origin_is_no_source_for_others() -> None:
    with serving(Answers(redirect("https://other.example.test/"))) as server:
        origins = dict.fromkeys(
            ["https://api.example.test", "https://other.example.test"], server.origin
        )
        with (
            GuardedClient(FetchPolicy(origin_map=origins)) as client,
            pytest.raises(SourceError) as refused,
        ):
            client.get("https://api.example.test/")
    assert refused.value.code == "redirected-off-source"


@pytest.mark.parametrize(
    ("headers", "made"),
    [
        ({"date": "Fri, 09 May 2031 07:30:00 GMT"}, 0),
        ({"date": "Fri, 09 May 2031 07:30:00 GMT", "age": "90"}, -90),
        ({"date": "Fri, 09 May 2031 07:30:00 GMT", "age": "-90"}, 0),
        ({"date": "Fri, 09 May 2031 07:30:00 GMT", "age": "soon"}, 0),
        ({"date": "Fri, 09 May 2031 07:30:00 GMT", "age": "9" * 400}, 0),
        ({"date": "yesterday", "age": "90"}, None),
        ({"age": "90"}, None),
    ],
)
def test_when_an_answer_was_made(headers: dict[str, str], made: int | None) -> None:
    expected = None if made is None else NOW.timestamp() + made
    assert generated_at(tuple(headers.items())) == expected


# TLS.


def server_tls(names: list[str | None]) -> ssl.SSLContext:
    """Give a server's side of TLS that notes for which name it is asked."""

    def note(sock: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        del sock, context
        names.append(name)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem")
    context.sni_callback = note
    return context


TRUSTING = ssl.create_default_context(cafile=str(TLS / "authority.pem"))


def test_tls_is_for_the_name_and_the_connection_to_the_address() -> None:
    asked: list[str | None] = []
    script = Answers(http(b"secret"))
    with serving(script, server_tls(asked)) as server:
        names = Names(["8.8.8.8"])
        dialled = Dialled(server.port)
        with GuardedClient(HOME, resolver=names, connect=dialled, ssl_context=TRUSTING) as client:
            for _ in range(3):
                assert client.get("https://Good.Example/").body == b"secret"
        assert server.connections == 1
    assert dialled.calls == [("8.8.8.8", 443)]
    assert asked == ["good.example"]
    assert b"\r\nHost: good.example\r\n" in script.requests[0]


@pytest.mark.parametrize(
    ("host", "tls"),
    [
        ("bad.example", TRUSTING),
        ("8.8.8.8", TRUSTING),
        ("good.example", None),
        ("www.good.example", TRUSTING),
    ],
)
def test_a_certificate_for_another_or_by_nobody_is_refused(
    host: str, tls: ssl.SSLContext | None
) -> None:
    script = Answers(http(b"secret"))
    with serving(script, server_tls([])) as server:
        dialled = Dialled(server.port)
        with (
            GuardedClient(
                HOME, resolver=Names([PUBLIC]), connect=dialled, ssl_context=tls
            ) as client,
            pytest.raises(SourceError, match="TLS failed") as refused,
        ):
            client.get(f"https://{host}/")
    assert refused.value.code == "tls-failed"
    assert len(dialled.calls) == 1
    assert script.requests == []


def test_bytes_behind_the_end_are_seen_inside_tls_too() -> None:
    script = Answers(http(b"short") + b"}", http(b"true"))
    with serving(script, server_tls([])) as server:
        names, dialled = Names([PUBLIC]), Dialled(server.port)
        with GuardedClient(HOME, resolver=names, connect=dialled, ssl_context=TRUSTING) as client:
            for _ in range(2):
                assert client.get("https://good.example/").body == b"true"
            assert client.requests == 3


def test_a_server_without_tls_is_refused() -> None:
    def script(peer: Peer) -> None:
        peer.send(http(b"plain"))
        peer.wait_for_close()

    with serving(script) as server:
        dialled = Dialled(server.port)
        with (
            GuardedClient(HOME, resolver=Names([PUBLIC]), connect=dialled) as client,
            pytest.raises(SourceError) as refused,
        ):
            client.get("https://good.example/")
    assert refused.value.code == "tls-failed"


def test_a_mapped_origin_with_tls_is_checked_for_its_own_name() -> None:
    with serving(Answers(http(b"mapped")), server_tls([])) as server:
        target = f"https://127.0.0.1:{server.port}"
        origins = {"https://good.example": target, "https://bad.example": target}
        policy = FetchPolicy(origin_map=origins)
        with GuardedClient(policy, ssl_context=TRUSTING) as client:
            assert client.get("https://good.example/").body == b"mapped"
            with pytest.raises(SourceError) as refused:
                client.get("https://bad.example/")
    assert refused.value.code == "tls-failed"


# Sharing, messages, misuse.


def test_threads_share_a_client_and_mix_nothing(client: GuardedClient) -> None:
    def script(peer: Peer) -> None:
        while request := peer.request():
            path = request.split(b" ")[1]
            peer.send(chunked(path, path[::-1]))

    def fetch(number: int) -> bool:
        path = f"/{number}/{'x' * (number % 97)}".encode()
        return client.get(server.origin + path.decode()).body == path + path[::-1]

    with serving(script) as server, ThreadPoolExecutor(16) as pool:
        assert all(pool.map(fetch, range(400)))
        assert server.connections <= 10
    assert client.requests == 400


SECRET = "token=SECRET"  # noqa: S105 -- that it is kept out is what is tested


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\n\x1b[31m",
        f"SSH-2.0-{SECRET}\r\n\r\n".encode(),
        f"HTTP/1.1 200 OK\r\n{SECRET}\r\n\r\n".encode(),
        http(b"", "503 No\x1b[31m"),
        http(b"abc", length=9),
        http(b"", "302 x", f"Location: https://x.test/?{SECRET}"),
        http(b"", "302 x", f"Location: http://u:{SECRET}@x.test/"),
        http(b"x", "200 OK", f"Content-Encoding: {SECRET}"),
        http(b"x", "200 OK", "Content-Encoding: gzip"),
        chunked(b"x" * 100, end=b"zz\n"),
    ],
)
def test_messages_are_one_line_without_queries(client: GuardedClient, answer: bytes) -> None:
    with serving(Answers(answer, close=True)) as server:
        url = f"{server.origin}/p/a/t/h?{SECRET}"
        with pytest.raises(RefoldError) as failed:
            client.get(url, max_bytes=50)
    assert str(failed.value).isprintable()
    assert "SECRET" not in str(failed.value)
    assert f"{server.origin}/p/a/t/h" in str(failed.value)


def test_what_is_logged_has_no_queries(
    client: GuardedClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with serving(Answers(http(b"", "503 No"), http(b"ok"))) as server:
        client.get(f"{server.origin}/?{SECRET}", headers={"Accept": "text/plain"})
    assert any(record.name == "stamina" for record in caplog.records)
    assert all("SECRET" not in str(vars(record)) for record in caplog.records)


def test_input_errors_do_not_quote_the_url(client: GuardedClient) -> None:
    for url in (f"https://u:{SECRET}@good.example/", f"https://bad host/?{SECRET}", f"x?{SECRET}"):
        with pytest.raises(InputError) as refused:
            client.get(url)
        assert "SECRET" not in str(refused.value)


def test_nothing_is_dialled_without_an_allowance(client: GuardedClient) -> None:
    request = httpcore2.Request("GET", "http://8.8.8.8/")
    with (
        client._connections.lend(request.url.origin, 1.0) as connection,
        pytest.raises(UsageError) as refused,
    ):
        connection.handle_request(request)
    assert refused.value.code == "fetch-unguarded"


def test_a_closed_client_has_closed_its_connections() -> None:
    ended: list[bool] = []

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(http(b"x"))
        peer.wait_for_close()
        ended.append(True)

    server = Hostile(script)
    with GuardedClient(HOME) as client:
        client.get(f"{server.origin}/")
        assert ended == []
    for thread in server._threads[1:]:
        thread.join(10)
    assert ended == [True]
    server.close()
