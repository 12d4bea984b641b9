"""The server itself: health, figures, limits, an orderly end, and connections that misbehave."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import httpx2
import pytest

from cli.terminal import environment, refold
from refold.kernel.errors import SourceError, UsageError
from refold.serving import connection
from refold.serving.limits import MAX_HEAD_BYTES, SERVING_LIMITS
from refold.serving.markdown import MARKDOWN_LIMITS
from refold.serving.part import Part, Task
from refold.serving.server import listen
from refold.serving.settings import checked_origin
from serving.library import Library, library_part, until_stopped
from serving.served import Served, served

SECONDS = 60


def test_health_says_that_the_process_answers(server: Served) -> None:
    assert server.get("/health").json()["parts"] == ["library"]


def test_health_figures_and_limits_need_no_part() -> None:
    with served(parts=()) as server:
        for path in ("/health", "/ready", "/metrics", "/v1/limits", "/v1/errors", "/openapi.json"):
            assert server.get(path).status_code == 200


def test_a_part_that_is_not_well_makes_the_server_not_ready() -> None:
    library = Library()
    library.well = False
    with served(library) as server:
        answer = server.get("/ready")
        assert answer.status_code == 503
        found = [(error["code"], error["detail"]) for error in answer.json()["errors"]]
        assert found[1:] == [("database-io", "library.shelves is not ready")]
        assert "secret" not in answer.text
        assert server.get("/health").status_code == 200
    with served() as server:
        assert server.get("/ready").json() == {"ready": True, "checks": ["library.shelves"]}


def test_a_task_that_fails_is_logged_and_the_server_is_not_ready() -> None:
    failed = threading.Event()

    def fail(_: threading.Event) -> None:
        failed.set()
        raise KeyError("a secret")

    library = Library()
    part = library_part(library, Task("follow", fail))
    with served(library, parts=[part]) as server:
        assert failed.wait(SECONDS)
        assert server.get("/health").status_code == 200
        line = next(line for line in server.log_lines() if line["event"] == "task-failed")
        assert (line["task"], line["error"]) == ("library.follow", "KeyError")
        assert server.problem("/ready", 503)["errors"][1]["detail"] == "tasks is not ready"


def test_tasks_are_told_to_stop_and_waited_for() -> None:
    ended = threading.Event()

    def run(stop: threading.Event) -> None:
        until_stopped(stop)
        ended.set()

    library = Library()
    with served(library, parts=[library_part(library, Task("follow", run))]) as server:
        assert server.get("/ready").status_code == 200
        assert not ended.is_set()
    assert ended.is_set()


def test_requests_are_counted_by_route_and_not_by_path(server: Served) -> None:
    server.get("/v1/library/books/en%3Aone")
    server.get("/secret-path")
    text = server.get("/metrics").text
    label = 'method="GET",route="/v1/library/books/{id}",status="404"'
    assert f"refold_http_requests_total{{{label}}}" in text
    assert 'route="unmatched",status="404"' in text
    assert "secret-path" not in text
    assert "refold_library_books 25.0" in text


def test_a_part_whose_figures_break_does_not_hide_the_others() -> None:
    library = Library()
    broken = Part("broken", "", "", gauges=lambda: 1 // 0)  # type: ignore[arg-type,return-value]
    with served(library, parts=[broken, library_part(library)]) as server:
        assert "refold_library_books 25.0" in server.get("/metrics").text


def test_limits_of_server_and_parts_are_published(server: Served) -> None:
    items, _ = server.walk("/v1/limits?limit=5")
    found = {item["id"]: item["value"] for item in items}
    own = SERVING_LIMITS + MARKDOWN_LIMITS
    assert found == {limit.id: limit.value for limit in own} | {"library.books": 25}
    assert all(item["unit"] and item["reason"] for item in items)


def test_a_request_is_one_line_without_query_or_address(server: Served) -> None:
    server.get("/v1/library/books?word=private", user_agent="private", cookie="private")
    line = server.log_lines()[-1]
    assert set(line) == {"event", "level", "timestamp", "method", "route", "status", "ms", "bytes"}
    assert (line["method"], line["route"], line["status"]) == ("GET", "/v1/library/books", 200)
    assert "private" not in json.dumps(server.log_lines())


def test_lines_of_requests_can_be_left_out() -> None:
    with served(log_requests=False) as server:
        server.get("/health")
        assert server.log_lines() == []


@contextmanager
def raw(server: Served) -> Iterator[socket.socket]:
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as sock:
        yield sock


def answer_on(sock: socket.socket) -> tuple[int, dict[str, Any]]:
    """Read to the end; give status and problem."""
    data = b""
    while piece := sock.recv(65_536):
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def test_what_is_no_http_is_a_problem(server: Served) -> None:
    with raw(server) as sock:
        sock.sendall(b"\x16\x03\x01\x02\x00 hello\r\n\r\n")
        status, problem = answer_on(sock)
    assert (status, problem["code"]) == (400, "request-malformed")


@pytest.mark.parametrize("pieces", [1, 50])
def test_a_head_that_is_too_large_is_refused(server: Served, pieces: int) -> None:
    value = b"x" * (2 * MAX_HEAD_BYTES // pieces)
    with raw(server) as sock:
        sock.sendall(b"GET /health HTTP/1.1\r\nhost: a\r\n")
        sock.sendall(b"".join(b"x-a: " + value + b"\r\n" for _ in range(pieces)) + b"\r\n")
        status, problem = answer_on(sock)
    assert (status, problem["code"]) == (431, "head-large")


def test_a_head_without_an_end_is_refused(server: Served) -> None:
    with raw(server) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nx: ")
        with suppress(ConnectionError):
            for _ in range(1_000):  # the server reads no more long before
                sock.sendall(b"x" * 4_096)
        with suppress(ConnectionError):
            assert b"431" in sock.recv(65_536)
    assert server.get("/health").status_code == 200


def test_a_path_that_is_too_long_is_refused(server: Served) -> None:
    with raw(server) as sock:
        sock.sendall(b"GET /" + b"x" * (MAX_HEAD_BYTES + 1) + b" HTTP/1.1\r\nhost: a\r\n\r\n")
        status, problem = answer_on(sock)
    assert (status, problem["code"]) == (431, "head-large")


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /health HTTP/1.1\r\nhost: a\r\n",
        b"POST /v1/library/raw HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n12",
    ],
)
def test_a_request_that_does_not_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)
    with served() as server:
        with raw(server) as sock:
            sock.sendall(sent)
            status, problem = answer_on(sock)
        assert (status, problem["code"]) == (408, "request-slow")
        assert server.get("/health").status_code == 200


def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.3)
    with served() as server, raw(server) as sock:
        assert sock.recv(10) == b""


def test_a_slow_answer_is_no_slow_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.2)
    with served() as server:
        threading.Timer(0.8, server.library.release.set).start()
        assert server.get("/v1/library/slow").status_code == 200


def test_connections_have_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_CONNECTIONS", 3)
    with served() as server:
        with raw(server), raw(server), raw(server), raw(server) as last:
            assert last.recv(10) == b""
        assert server.get("/health").status_code == 200


def test_requests_on_one_connection_are_answered_in_order(server: Served) -> None:
    with raw(server) as sock:
        one = b"GET /v1/errors/internal HTTP/1.1\r\nhost: a\r\n\r\n"
        last = b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        sock.sendall(one * 3 + last)
        data = b""
        while piece := sock.recv(65_536):
            data += piece
    assert data.count(b"HTTP/1.1 200") == 4
    assert data.rindex(b'"alive"') > data.rindex(b'"internal"')


def test_a_stream_is_cut_when_the_server_stops() -> None:
    with served() as server:
        stream = server.http.stream("GET", "/v1/library/export")
        body = stream.__enter__().iter_bytes()
        next(body)
    assert server.library.closed.is_set()
    with pytest.raises(httpx2.HTTPError):
        for _ in body:
            pass


class Process:
    """`refold serve` in a process of its own."""

    def __init__(self, folder: Path, *arguments: str, code: str = "") -> None:
        command = ["-m", "refold"] if not code else ["-c", code]
        self.child = subprocess.Popen(
            [sys.executable, *command, *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.child.stdout is not None
        self.line = self.child.stdout.readline()

    @property
    def url(self) -> str:
        return self.line.split()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()

    def signal(self, number: int, *, wait: bool = True) -> None:
        """Send a signal, and wait until the server says that it stops."""
        self.child.send_signal(number)
        assert self.child.stderr is not None
        while wait and "stopping" not in self.child.stderr.readline():
            assert self.child.poll() is None

    def end(self) -> tuple[int, str]:
        """Wait for the end; give the exit code and the log."""
        _, errors = self.child.communicate(timeout=SECONDS)
        return self.child.returncode, errors


SERVE = "import sys; from refold.cli.main import run; sys.exit(run(sys.argv[1:]))"
SLOW = """
import sys
sys.path.insert(0, sys.argv[1])
from refold.serving.application import application
from refold.serving.logs import make_log
from refold.serving.server import listen, serve, url_of
from serving.library import Library, library_part
library, log = Library(), make_log()
listener = listen("127.0.0.1", 0)
print("serving", url_of(listener), flush=True)
app = application([library_part(library)], log=log, log_requests=False)  # nobody reads the log
serve(app, listener, log)
"""


def started(process: Process) -> httpx2.Client:
    return httpx2.Client(base_url=process.url, trust_env=False, timeout=SECONDS)


def test_serve_serves_and_stops_at_a_signal(tmp_path: Path) -> None:
    with Process(tmp_path, "serve", "--port", "0", code=SERVE) as process:
        with started(process) as http:
            assert http.get("/ready").json() == {"ready": True, "checks": ["database", "tasks"]}
            assert "refold" in http.get("/", headers={"accept": "text/html"}).text
            assert http.get("/v1/limits").json()["items"]
        process.child.send_signal(signal.SIGTERM)
        code, log = process.end()
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert (code, events[0], events[-1]) == (0, "started", "stopped")
    assert "stopping" in events
    assert (tmp_path / "refold.db").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_answer_under_way_is_finished(tmp_path: Path, number: int) -> None:
    with Process(tmp_path, str(Path(__file__).parents[1]), code=SLOW) as process:
        with (
            started(process) as http,
            http.stream("POST", "/v1/library/raw", content=halves(process, number)) as answer,
        ):
            assert answer.read() == b'{"bytes":4}'
        assert process.end()[0] == 0


def halves(process: Process, number: int) -> Iterator[bytes]:
    """Give half a body, the signal, and the other half."""
    yield b"12"
    with started(process) as http:
        http.get("/health")  # by now the first half has arrived
    process.signal(number)
    yield b"34"


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with Process(tmp_path, str(Path(__file__).parents[1]), code=SLOW) as process:
        ended: list[Exception] = []

        def ask() -> None:
            try:
                with started(process) as http:
                    http.get("/v1/library/slow")
            except httpx2.HTTPError as error:
                ended.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        with started(process) as http:
            while not running(http) > 1:
                pass
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGTERM, wait=False)
        assert process.end()[0] == 130
        asking.join()
        assert ended


def running(http: httpx2.Client) -> float:
    """Give how many requests are under way, this one included."""
    (line,) = re.findall(r"(?m)^refold_http_running (.*)$", http.get("/metrics").text)
    return float(line)


def test_forwarded_addresses_count_from_our_proxies_only() -> None:
    lines = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "198.51.100.1")]
    for proxies, client in (((), "127.0.0.1"), (("127.0.0.0/8",), "198.51.100.1")):
        with served(proxies=proxies) as server:
            answer = server.http.get("/v1/library/who", headers=lines)
            assert answer.json()["title"] == client


def test_a_port_that_is_taken_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SourceError, match=str(port)):
            listen("127.0.0.1", port)
        done = refold("serve", "--port", str(port))
    assert (done.code, done.out) == (4, "")
    assert "port-taken" in done.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--parts", "nonsense"), "server-parts"),
        (("--origin", "nonsense"), "server-origin"),
        (("--host", "0.0.0.0"), "server-origin"),  # noqa: S104 (it is refused)
        (("--database", "nonsense"), "database-url"),
    ],
)
def test_wrong_settings_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = refold("serve", "--port", "0", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"refold: {code}: ")
    assert len(done.err.splitlines()) == 1


def test_the_origin_is_the_one_that_is_set_or_where_the_server_listens() -> None:
    url = "http://127.0.0.1:1"
    assert checked_origin("", "127.0.0.1", url) == url
    assert checked_origin("https://Wiki.Example:8443", "::", url) == "https://wiki.example:8443"
    for wrong in ("https://a.test/", "ftp://a.test", "a.test", "https://a b", "https://u@a.test"):
        with pytest.raises(UsageError, match="public_origin"):
            checked_origin(wrong, "127.0.0.1", url)
