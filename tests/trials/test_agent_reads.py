"""Whatever an agent reads: no GET writes, nothing redirects, nobody's address is told."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from refold.kernel.keys import public_of
from refold.trials.demo.playing import seed_of
from trials.agents import POSTER, everything, node
from trials.nodes import text

WREN = public_of(seed_of("wren")).hex()
VALUES = {
    "id": "2",
    "room": "commons",
    "host": "tides.refold-demo.org",
    "owner": "refold-demo",
    "repo": "parcels",
    "name": "x",
    "public_key": WREN,
    "level": "entries",
    "a": "000.p",
}
"""Members of paths for which the demo has something."""


@pytest.fixture(name="served", scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx2.Client, Path]]:
    folder = tmp_path_factory.mktemp("reads")
    with (
        node(folder, demo=int(time.time())) as url,
        httpx2.Client(
            base_url=url,
            trust_env=False,
            timeout=30,
            follow_redirects=False,
            headers={"x-forwarded-for": POSTER},
        ) as http,
    ):
        yield http, folder / "node.db"


def paths(http: httpx2.Client) -> list[str]:
    """Give the address of everything that can be read, in both languages, and of what cannot."""
    described = http.get("/openapi.json").json()["paths"]
    names = [path for path, ways in described.items() if "get" in ways]
    names += ["/", "/openapi.json", "/robots.txt", "/sitemap.xml", "/favicon.ico", "/nowhere"]
    names += ["/v1/messages", "/v1/preview", "/v1/admission/start", "/v1/admission/answer"]
    return [re.sub(r"\{(\w+)\}", lambda found: VALUES.get(found[1], "x"), name) for name in names]


def test_no_get_writes_nothing_redirects_and_no_address_is_told(
    served: tuple[httpx2.Client, Path],
) -> None:
    http, database = served
    before = everything(database)
    good = 0
    for path in paths(http):
        for address in (path, f"{path}/", f"{path}?x=1"):
            answer = http.get(address)
            assert not 300 <= answer.status_code < 400, address
            assert answer.status_code != 500, address
            assert "location" not in answer.headers
            assert "set-cookie" not in answer.headers
            assert POSTER not in answer.text + str(answer.headers)
            good += answer.status_code == 200
    assert good > 40
    assert before["trials_messages"]
    assert everything(database) == before


def test_posts_and_refusals_name_no_address(served: tuple[httpx2.Client, Path]) -> None:
    http, database = served
    body = {"room": "commons", "content": text("run"), "public_key": WREN, "signature": "0" * 128}
    for path, sent in (
        ("/v1/messages", body),
        ("/v1/messages", body | {"room": 1}),
        ("/v1/preview", body),
        ("/v1/admission/start", {}),
        ("/v1/admission/answer", {}),
    ):
        answer = http.post(path, json=sent)
        assert POSTER not in answer.text + str(answer.headers)
        assert not 300 <= answer.status_code < 400
    for file in database.parent.glob("node.db*"):
        assert POSTER.encode() not in file.read_bytes()


def test_the_first_page_leads_programs_to_the_documents(
    served: tuple[httpx2.Client, Path],
) -> None:
    http, _ = served
    for answer in (http.get("/"), http.get("/?format=json"), http.head("/")):
        links = dict(re.findall(r'<([^>]*)>; rel="([\w-]+)"', answer.headers["link"]))
        assert sorted(links.values()) == ["describedby", "help", "service-desc", "service-meta"]
        for address in links:
            assert http.get(address).status_code == 200
    page = http.get("/").text
    assert 'href="/llms.txt"' in page
    assert "智能体从这里开始" in http.get("/?lang=zh").text
    robots = http.get("/robots.txt").text
    assert f"# Programs begin at {http.base_url}".rstrip("/") in robots
    assert robots.index("Allow: /v1/public/") < robots.index("Disallow: /v1/")
    guides = http.get("/?format=json").json()["guides"]
    assert "/llms.txt" in {each["path"] for each in guides}
