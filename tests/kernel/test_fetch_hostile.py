"""The guarded client with servers that mean harm, or are broken: an error in time, or the truth."""

import gzip
import itertools
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.hostile import Answers, Clock, Hostile, Names, Peer, chunked, http, serving
from refold.kernel.addresses import LOOPBACK
from refold.kernel.dial import TransientError
from refold.kernel.errors import RefoldError, SourceError
from refold.kernel.fetch import MAX_HEAD_BYTES, GuardedClient
from refold.kernel.policy import FetchPolicy

ONCE = FetchPolicy(
    allowed_networks=LOOPBACK, retries=0, retry_wait=0, max_bytes=100_000, max_seconds_idle=10
)
READ = 64 * 1024  # what is read at once, so by how much a limit on bytes may be passed


@pytest.fixture
def client() -> Iterator[GuardedClient]:
    with GuardedClient(ONCE) as client:
        yield client


def failure(client: GuardedClient, script: Callable[[Peer], None] | bytes) -> SourceError:
    """Give the error that a server's answer, or whatever it does, ends in."""
    if isinstance(script, bytes):
        script = Answers(script, close=True)
    with serving(script) as server, pytest.raises(SourceError) as failed:
        client.get(f"{server.origin}/x")
    return failed.value


def endless(start: bytes, more: bytes) -> Callable[[Peer], None]:
    """Give a server that sends `start` and then `more` for as long as it is listened to."""

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(start)
        while True:
            peer.send(more)

    return script


# Time.


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"]
)
def test_a_slow_drip_is_ended_by_the_time_of_the_attempt(start: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(start)
        for _ in range(4):  # never silent for long, but 40 s in all
            clock.now += 10
            peer.send(b"H")
        peer.wait_for_close()

    clock = Clock()
    with GuardedClient(ONCE, clock=clock) as client:
        assert failure(client, script).code == "too-slow"


def test_the_time_of_an_attempt_is_that_of_all_its_redirects() -> None:
    def script(peer: Peer) -> None:
        while peer.request():
            clock.now += 11
            peer.send(http(b"", "302 On", "Location: /y"))

    clock = Clock()
    with GuardedClient(ONCE, clock=clock) as client:
        assert failure(client, script).code == "too-slow"
        assert client.requests == 3


def test_the_time_of_a_call_is_that_of_all_its_attempts() -> None:
    def script(peer: Peer) -> None:
        while peer.request():
            clock.now += 25
            peer.send(http(b"", "503 No"))

    clock = Clock()
    policy = FetchPolicy(allowed_networks=LOOPBACK, retries=100, retry_wait=0)
    with GuardedClient(policy, clock=clock) as client:
        assert failure(client, script).code in {"source-unavailable", "too-slow"}
        assert client.requests == 8  # 8 of 25 s are more than 180 s


def test_no_time_no_request(client: GuardedClient) -> None:
    with pytest.raises(SourceError) as failed:
        client.get("http://127.0.0.1:1/", max_seconds=0)
    assert failed.value.code == "too-slow"
    assert client.requests == 0


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n", http(b"abc", length=9)])
def test_silence_is_ended_and_may_pass(start: bytes) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(start)
        peer.wait_for_close()

    policy = FetchPolicy(allowed_networks=LOOPBACK, retries=1, retry_wait=0, max_seconds_idle=0.05)
    with GuardedClient(policy) as client:
        error = failure(client, script)
        assert (error.code, client.requests) == ("source-silent", 2)
    assert isinstance(error, TransientError)


def test_silence_until_the_end_of_the_call_is_too_slow(client: GuardedClient) -> None:
    with serving(Peer.wait_for_close) as server, pytest.raises(SourceError) as failed:
        client.get(f"{server.origin}/", max_seconds=0.05)
    assert failed.value.code == "too-slow"
    assert not isinstance(failed.value, TransientError)


def test_a_request_that_is_not_taken_is_ended() -> None:
    def script(peer: Peer) -> None:
        del peer
        released.wait(10)

    released = threading.Event()
    policy = FetchPolicy(allowed_networks=LOOPBACK, max_seconds_idle=0.05)
    with serving(script) as server, GuardedClient(policy) as client:
        with pytest.raises(SourceError) as failed:
            client.post(f"{server.origin}/", bytes(32 << 20))
        released.set()
    assert failed.value.code == "source-silent"


def test_dns_that_does_not_answer_is_not_waited_for() -> None:
    def resolver(host: str, port: int) -> list[str]:
        released.wait(10)
        return [host, str(port)]

    released = threading.Event()
    policy = FetchPolicy(retries=0, max_seconds_connect=0.05)
    with (
        GuardedClient(policy, resolver=resolver) as client,
        pytest.raises(TransientError, match="DNS") as failed,
    ):
        client.get("https://good.example/")
    released.set()
    assert failed.value.code == "name-unresolved"


def test_a_tls_handshake_that_does_not_come_is_not_waited_for() -> None:
    policy = FetchPolicy(allowed_networks=LOOPBACK, retries=0, max_seconds_connect=0.05)
    with (
        serving(Peer.wait_for_close) as server,
        GuardedClient(policy) as client,
        pytest.raises(TransientError) as failed,
    ):
        client.get(f"https://127.0.0.1:{server.port}/")
    assert failed.value.code == "connect-failed"


def test_a_saturated_client_is_not_waited_for_without_end() -> None:
    def script(peer: Peer) -> None:
        peer.request()
        arrived.release()
        released.wait(10)
        peer.send(http(b"done", "200 OK", "Connection: close"))

    arrived, released = threading.Semaphore(0), threading.Event()
    with serving(script) as server, GuardedClient(ONCE) as client:
        url = f"{server.origin}/"
        threads = [threading.Thread(target=client.get, args=(url,)) for _ in range(10)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert arrived.acquire(timeout=10)
        with pytest.raises(SourceError, match="no connection became free") as failed:
            client.get(url, max_seconds=0.05)
        released.set()
        for thread in threads:
            thread.join(10)
    assert failed.value.code == "too-slow"


# Size.


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 8000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 400),
        (b"", b"HTTP/1.1 103 Early\r\nLink: <" + b"a" * 5000 + b">\r\n\r\n"),
        (b"", b"a" * 8000),
    ],
    ids=["headers", "one header", "100", "103", "no line"],
)
def test_a_head_without_end(client: GuardedClient, start: bytes, more: bytes) -> None:
    assert failure(client, endless(start, more)).code == "head-too-large"
    assert client.bytes_received <= MAX_HEAD_BYTES + READ


LONG = b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n"
EMPTY = gzip.compress(b"", mtime=0)  # 20 bytes that become none
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (LONG, b"a" * 8000),
        (CHUNKED + b"\r\n", b"1000\r\n" + b"a" * 4096 + b"\r\n"),
        (CHUNKED + b"\r\n", b"1;" + b"x" * 3000 + b"\r\na\r\n"),
        (CHUNKED + b"Content-Encoding: gzip\r\n\r\n", b"14\r\n" + EMPTY + b"\r\n"),
        (CHUNKED + b"\r\n1\r\na\r\n0\r\n", b"X-A: b\r\n" * 1000),
    ],
    ids=["length", "chunks", "chunk extensions", "empty gzip members", "trailers"],
)  # fmt: skip
def test_a_body_without_end(client: GuardedClient, start: bytes, more: bytes) -> None:
    assert failure(client, endless(start, more)).code in {"body-too-large", "head-too-large"}
    # What the framing may cost is 1 MiB and the size of the body.
    assert client.bytes_received <= 2 * 100_000 + (1 << 20) + MAX_HEAD_BYTES + READ


def test_a_body_that_says_it_is_too_long_is_not_read(client: GuardedClient) -> None:
    assert failure(client, endless(LONG, b"a" * 8000)).code == "body-too-large"
    assert client.bytes_received <= 2 * READ


@pytest.mark.parametrize("members", [1, 3])
def test_a_gzip_bomb_is_stopped_while_it_unpacks(client: GuardedClient, members: int) -> None:
    bomb = gzip.compress(bytes(40 << 20)) * members
    assert len(bomb) < 200_000
    error = failure(client, http(bomb, "200 OK", "Content-Encoding: gzip"))
    assert error.code == "body-too-large"


# Framing.


@pytest.mark.parametrize("cut", range(len(http(b"some text")) - 1))
def test_a_cut_answer_is_never_taken_for_the_whole(client: GuardedClient, cut: int) -> None:
    for whole in (http(b"some text"), chunked(b"some", b" text")):
        error = failure(client, whole[: cut + 1])
        assert error.code in {"connection-lost", "body-short"}
        assert isinstance(error, TransientError)


def test_a_reset_connection(client: GuardedClient) -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(http(b"abc", length=9))
        peer.reset()

    assert failure(client, script).code in {"connection-lost", "body-short"}


def test_a_post_that_is_answered_early_has_that_answer_or_is_lost(client: GuardedClient) -> None:
    def script(peer: Peer) -> None:
        peer.sock.recv(1000)
        peer.send(http(b"too much", "413 Too Large"))
        peer.sock.close()  # with bytes unread, so it is a reset

    with serving(script) as server:
        try:
            fetched = client.post(f"{server.origin}/", bytes(32 << 20))
        except TransientError as error:
            outcome = error.code
        else:
            outcome = f"{fetched.status} {fetched.body.decode()}"
    assert outcome in {"connection-lost", "413 too much"}


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"\r\nuntil the end",
        b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
        OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        OK + b"Content-Length: 3, 4\r\n\r\nabcd",
        OK + b"Content-Length: -3\r\n\r\nabc",
        OK + b"Content-Length: +3\r\n\r\nabc",
        OK + b"Content-Length: 0x3\r\n\r\nabc",
        OK + b"Content-Length: 3 3\r\n\r\nabc",
        OK + b"Content-Length: \xd9\xa3\r\n\r\nabc",
        OK + b"Content-Length: \r\n\r\nabc",
        OK + b"Content-Length : 3\r\n\r\nabc",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 30 + b"\r\nabc",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc",
        b"HTTP/2 200\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 20 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"ICY 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"{}\r\n\r\n",
        b"\r\n\r\n" + http(b"abc"),
        OK + b"no colon\r\nContent-Length: 3\r\n\r\nabc",
        OK + b": no name\r\nContent-Length: 3\r\n\r\nabc",
        OK + b"X: a\x00b\r\nContent-Length: 3\r\n\r\nabc",
        OK + b" folded: first\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
def test_an_answer_that_is_not_http_or_not_of_one_length(
    client: GuardedClient, answer: bytes
) -> None:
    error = failure(client, answer)
    assert error.code == "framing-invalid"
    assert not isinstance(error, TransientError)


@pytest.mark.parametrize("more", [b"}", b"\r\n", http(b"forged"), b"HTTP/1.1 200 OK\r\nX"])
@pytest.mark.parametrize("whole", [http(b"short"), chunked(b"sh", b"ort"), http(b"", "204 No")])
def test_bytes_behind_the_end_are_an_error_that_may_pass(whole: bytes, more: bytes) -> None:
    policy = FetchPolicy(allowed_networks=LOOPBACK, retries=1, retry_wait=0)
    with GuardedClient(policy) as client:
        error = failure(client, Answers(whole + more))
        assert (error.code, client.requests) == ("framing-invalid", 2)
        assert isinstance(error, TransientError)
        with serving(Answers(whole + more, http(b"true"))) as server:
            assert client.get(f"{server.origin}/1").body == b"true"
            assert client.get(f"{server.origin}/2").body == b"true"


def test_bytes_that_come_later_do_not_become_the_next_answer() -> None:
    def script(peer: Peer) -> None:
        peer.request()
        if sent.is_set():
            peer.send(http(b"true"))
            return
        peer.send(http(b"short"))
        read.wait(10)
        peer.send(http(b"forged"))
        sent.set()
        peer.wait_for_close()

    read, sent = threading.Event(), threading.Event()
    with serving(script) as server, GuardedClient(ONCE) as client:
        assert client.get(f"{server.origin}/1").body == b"short"
        read.set()
        assert sent.wait(10)
        assert client.get(f"{server.origin}/2").body == b"true"


def test_a_kept_connection_that_the_server_has_closed_is_no_failure() -> None:
    with serving(Answers(http(b"x"), close=True)) as server, GuardedClient(ONCE) as client:
        for _ in range(5):
            assert client.get(f"{server.origin}/").body == b"x"
            for thread in server._threads[1:]:
                thread.join(10)


def test_a_kept_connection_that_closes_meanwhile_is_replaced_without_a_wait() -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(http(b"x"))
        peer.request()  # and no answer

    # A wait of its own would be a minute, and outlast the call.
    policy = FetchPolicy(allowed_networks=LOOPBACK, retry_wait=60, max_seconds_total=30)
    with serving(script) as server, GuardedClient(policy) as client:
        assert [client.get(f"{server.origin}/").requests for _ in range(4)] == [1, 2, 2, 2]


# Encodings.


def encoded(body: bytes, encoding: str = "gzip") -> bytes:
    return http(body, "200 OK", f"Content-Encoding: {encoding}")


TEXT = bytes(range(256)) * 40
PACKED = gzip.compress(TEXT, mtime=0)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
@pytest.mark.parametrize("members", [1, 2, 5])
def test_gzip_that_nobody_asked_for_is_unpacked(
    client: GuardedClient, encoding: str, members: int
) -> None:
    with serving(Answers(encoded(PACKED * members, encoding))) as server:
        assert client.get(f"{server.origin}/").body == TEXT * members


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"plain",
        PACKED[:-1],
        PACKED[:-8],
        PACKED[: len(PACKED) // 2],
        PACKED[:5],
        PACKED[:-8] + bytes(8),
        PACKED + b"x",
        PACKED + bytes(8),
        PACKED + PACKED[:-1],
        PACKED[10:],
    ],
)
def test_damaged_gzip_is_refused(client: GuardedClient, body: bytes) -> None:
    assert failure(client, encoded(body)).code == "encoding-invalid"


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "identity, gzip", "x"])
def test_other_encodings_are_refused(client: GuardedClient, encoding: str) -> None:
    assert failure(client, encoded(b"x", encoding)).code == "encoding-refused"


# Anything at all.


class OneAnswer:
    """A server whose one answer is set by the test."""

    def __init__(self) -> None:
        self.answer = b""

    def __call__(self, peer: Peer) -> None:
        peer.request()
        peer.send(self.answer)


@pytest.fixture(scope="module")
def anything() -> Iterator[tuple[OneAnswer, Hostile, GuardedClient]]:
    script = OneAnswer()
    with serving(script) as server, GuardedClient(ONCE, resolver=Names([])) as client:
        yield script, server, client


LINES = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK", b"HTTP/1.1 100 Go", b"HTTP/1.1 302 On", b"HTTP/1.0 200"),
        *(b"Content-Length: 3", b"Content-Length: 0", b"Transfer-Encoding: chunked"),
        *(b"Content-Encoding: gzip", b"Location: /y", b"Location: //", b"HTTP/1.1 503 No"),
        *(b"", b"", b"abc", b"3", b"0", b"a: b"),
    ]
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.lists(LINES | st.binary(max_size=5)).map(b"\r\n".join))
def test_whatever_comes_is_an_answer_or_an_error_of_ours(
    anything: tuple[OneAnswer, Hostile, GuardedClient], answer: bytes
) -> None:
    script, server, client = anything
    script.answer = answer
    try:
        fetched = client.get(f"{server.origin}/x")
    except RefoldError as error:
        assert error.code  # noqa: PT017 -- that no other error comes is what is tested
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert fetched.body in answer or b"chunked" in answer
        assert fetched.bytes_received <= len(answer)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(PACKED) - 1), st.integers(0, 255))
def test_gzip_changed_in_one_byte_is_the_same_or_an_error(
    anything: tuple[OneAnswer, Hostile, GuardedClient], place: int, byte: int
) -> None:
    script, server, client = anything
    changed = PACKED[:place] + bytes([byte]) + PACKED[place + 1 :]
    script.answer = http(changed, "200 OK", "Connection: close", "Content-Encoding: gzip")
    try:
        body = client.get(f"{server.origin}/x").body
    except SourceError as error:
        outcome: bytes | str = error.code
    else:
        outcome = body
    assert outcome in (TEXT, "encoding-invalid")


def test_each_of_many_lies_in_a_row_is_told(client: GuardedClient) -> None:
    last = ("200 OK", "Connection: close")
    damaged = http(b"x", *last, "Content-Encoding: gzip")
    lies = itertools.cycle(
        [http(b"abc", length=9), damaged, b"", OK + b"\r\n", http(b"true", *last)]
    )
    codes = []

    def script(peer: Peer) -> None:
        peer.request()
        peer.send(next(lies))

    with serving(script) as server:
        for _ in range(20):
            try:
                assert client.get(f"{server.origin}/").body == b"true"
                codes.append("")
            except SourceError as error:
                codes.append(error.code)
    expected = ["body-short", "encoding-invalid", "connection-lost", "framing-invalid", ""]
    assert codes == expected * 4
