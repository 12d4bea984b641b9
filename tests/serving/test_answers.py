"""Answers: ETags, HEAD, headers of every kind of answer, streams, static files, pages."""

import re
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.serving.answers import etag_of, is_known
from refold.serving.language import LANGUAGES, language_of
from refold.serving.limits import STREAM_THREADS
from serving.library import Library
from serving.served import Served, problem_in, served

READS = (
    "/",
    "/library",
    "/health",
    "/ready",
    "/metrics",
    "/openapi.json",
    "/v1/limits",
    "/v1/errors",
    "/v1/errors/internal",
    "/v1/library/books",
    "/v1/library/books/en%3Abook%2F1",
    "/v1/library/lines",
    "/nothing",
    "/v1/library/books?limit=0",
    "/v1/library/broken",
)


@pytest.mark.parametrize("path", READS)
def test_every_answer_has_the_headers_that_keep_it_harmless(server: Served, path: str) -> None:
    for method in ("GET", "HEAD", "OPTIONS", "DELETE"):
        headers = server.http.request(method, path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "permissions-policy" in headers
        assert "set-cookie" not in headers
        assert "server" not in headers


@pytest.mark.parametrize("path", READS)
def test_head_is_get_without_its_body(server: Served, path: str) -> None:
    full, head = server.get(path), server.http.head(path)
    assert head.content == b""
    assert head.status_code == full.status_code
    skip = {"date", "transfer-encoding"}
    if path in {"/metrics", "/v1/library/broken"}:  # no two answers are the same
        skip.add("content-length")
    for name in set(full.headers) - skip:
        assert head.headers[name] == full.headers[name]


@pytest.mark.parametrize("path", READS)
def test_nothing_is_redirected_or_varied_by_a_slash(server: Served, path: str) -> None:
    for other in (f"{path.partition('?')[0]}/", f"/{path}"):
        answer = server.get(other)
        assert answer.status_code == 404 or path == "/"
        assert "location" not in answer.headers


def test_pages_of_other_origins_may_read_the_api_and_not_the_pages(server: Served) -> None:
    origin = {"origin": "https://other.example"}
    for path in ("/v1/library/books", "/v1/library/books?limit=0", "/v1/nothing"):
        headers = server.get(path, **origin).headers
        assert headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in headers
        assert "Link" in headers["access-control-expose-headers"]
    assert "access-control-allow-origin" not in server.get("/library", **origin).headers


def test_a_browser_that_asks_first_learns_the_methods(server: Served) -> None:
    for path, methods in (
        ("/v1/library/books", "GET, HEAD, OPTIONS"),
        ("/v1/library/drafts", "OPTIONS, POST"),
    ):
        answer = server.http.options(path, headers={"origin": "https://other.example"})
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-methods"] == methods
        assert answer.headers["allow"] == methods
    assert server.http.options("/v1/nothing").status_code == 404


@pytest.mark.parametrize(
    "path", ["/library", "/v1/library/books", "/v1/library/books/en%3Abook%2F1"]
)
def test_what_a_client_has_is_not_sent_again(server: Served, path: str) -> None:
    first = server.get(path)
    etag = first.headers["etag"]
    assert re.fullmatch(r'"[^"]+"', etag)
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = server.get(path, if_none_match=known)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag
        assert again.headers["cache-control"] == first.headers["cache-control"] == "no-cache"
    assert server.get(path, if_none_match='"other"').content == first.content


def test_a_version_that_a_client_has_is_not_even_built() -> None:
    with served() as server:
        path = "/v1/library/books/en%3Abook%2F1/title"
        etag = server.get(path).headers["etag"]
        built = server.library.built
        assert server.get(path, if_none_match=etag).status_code == 304
        assert server.library.built == built == 1
        other = server.get("/v1/library/books/en%3Abook%2F3/title").headers["etag"]
        assert other != etag


def test_a_page_has_an_etag_for_each_language(server: Served) -> None:
    pages = [server.get(f"/library?lang={language}") for language in LANGUAGES]
    assert len({page.headers["etag"] for page in pages}) == len(LANGUAGES)
    assert all("accept-language" in page.headers["vary"] for page in pages)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_etags_are_equal_for_equal_bytes_only(one: bytes, two: bytes) -> None:
    assert (etag_of(one) == etag_of(two)) == (one == two)
    assert is_known(f'"a", {etag_of(one)}', etag_of(two)) == (one == two)


def test_a_static_file_is_kept_for_ever_under_the_name_of_its_content(server: Served) -> None:
    (path,) = re.findall(r'href="(/static/refold\.[0-9a-f]{12}\.css)"', server.get("/library").text)
    answer = server.get(path)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert "url(" not in answer.text
    assert "@import" not in answer.text
    assert server.get("/static/refold.css").status_code == 404


def test_a_page_loads_nothing_from_elsewhere_and_runs_nothing(server: Served) -> None:
    for path in ("/library", "/nothing"):
        text = server.get(path, accept="text/html").text
        assert "<script" not in text
        assert "style=" not in text
        # What a page is called by others, and in other languages: nothing loads these.
        names = r'<link rel="(?:canonical|alternate)"[^>]*href="http://library\.test/[^"]*">'
        text = re.sub(names, "", text)
        for address in re.findall(r'(?:src|href)="([^"]*)"', text):
            assert address.startswith(("/", "#", "?"))
            assert not address.startswith("//")


def test_a_page_is_in_the_language_that_is_asked_for(server: Served) -> None:
    for path, accepted, language, words in (
        ("/library", "", "en", "3 books"),
        ("/library", "zh-TW,en;q=0.5", "zh", "3 本书"),
        ("/library?lang=en", "zh", "en", "3 books"),
        ("/library?lang=zh", "en", "zh", "3 本书"),
    ):
        answer = server.get(path, accept_language=accepted)
        assert answer.headers["content-language"] == language
        assert words in answer.text
    assert server.problem("/library?lang=fr", 400)["code"] == "query-value"


def test_what_strangers_wrote_is_escaped(server: Served) -> None:
    text = server.get("/library").text
    assert "书 &lt;0&gt; &amp; more" in text


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-Hant-HK", "zh"),
        ("fr, zh;q=0.1", "zh"),
        ("zh;q=0.4, en;q=0.5", "en"),
        ("zh;q=0", "en"),
        ("*", "en"),
        ("zh;q=nonsense", "en"),
        ("zh;q=2", "en"),
        ("zh;q=nan", "en"),
    ],
)
def test_a_language_is_negotiated(header: str, language: str) -> None:
    assert language_of("", header) == language


@given(st.text(max_size=60))
def test_any_header_gives_a_language(header: str) -> None:
    assert language_of("", header) in LANGUAGES


def test_a_stream_gives_its_lines(server: Served) -> None:
    answer = server.get("/v1/library/lines")
    assert answer.headers["content-type"] == "application/jsonl"
    assert len(answer.text.splitlines()) == len(server.library.books)


def test_a_stream_that_breaks_is_cut_so_that_nobody_takes_it_for_the_whole(server: Served) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        server.get("/v1/library/broken-lines")
    assert any(line["event"] == "answer-cut" for line in server.log_lines())


def test_a_stream_ends_when_its_client_leaves() -> None:
    with served() as server:
        with server.http.stream("GET", "/v1/library/export") as answer:
            next(answer.iter_bytes())
        assert server.library.closed.wait(20)


def test_too_many_streams_at_once_are_refused() -> None:
    with served() as server, ThreadPoolExecutor(STREAM_THREADS) as pool:
        streams = [server.http.stream("GET", "/v1/library/export") for _ in range(STREAM_THREADS)]
        answers = list(pool.map(lambda stream: stream.__enter__(), streams))
        assert [answer.status_code for answer in answers] == [200] * STREAM_THREADS
        refused = problem_in(server.get("/v1/library/export"), 503)
        assert refused["code"] == "busy"
        assert server.get("/health").status_code == 200
        for stream in streams:
            stream.__exit__(None, None, None)


def test_an_encoded_slash_is_part_of_a_member(server: Served) -> None:
    assert server.get("/v1/library/books/en%3Abook%2F1").json()["id"] == "en:book/1"


def test_a_created_thing_has_its_status(server: Served) -> None:
    answer = server.http.post("/v1/library/drafts", json={"title": "a", "height": 1})
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


def test_two_servers_in_one_process_share_nothing() -> None:
    one, two = Library(), Library()
    two.books = []
    with served(one) as first, served(two) as second:
        assert first.walk("/v1/library/books")[0]
        assert second.walk("/v1/library/books")[0] == []
        assert 'route="/v1/library/books"' not in first.get("/health").text
        counted = second.get("/metrics").text
        assert 'refold_http_requests_total{method="GET",route="/v1/library/books"' in counted
