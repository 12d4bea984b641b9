"""What the pages never do, seen in their sources and routes. Source: PRD AC-F3, AC-F5, spec §12."""

import re
from pathlib import Path

import pytest

import refold
from agentpedia.api.reading import WIKI, entry_path, reader_of
from agentpedia.api.served import Stored, demo
from refold.agentpedia.pages import make_part
from refold.db import Database
from refold.kernel.settings import resolve

SRC = Path(refold.__file__).parent
SOURCES = sorted(
    path
    for folder in (SRC / "serving", SRC / "web", SRC / "agentpedia")
    for kind in ("templates/**/*.html", "static/*")
    for path in folder.glob(kind)
)
KEEPING = re.compile(
    r"cookie(?!s, run no script)|localStorage|sessionStorage|indexedDB|caches\.|serviceWorker"
    r"|\b(?:navigator|document|window)\.\w|fetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource",
    re.IGNORECASE,
)
RUNNING = re.compile(
    r"<script|javascript:|<[^>%{]*\son\w+\s*=|<iframe|<object|<embed", re.IGNORECASE
)
STYLED = re.compile(r"<[^>%{]*\sstyle\s*=|<style|@import|url\(|\|\s*safe\b", re.IGNORECASE)
WRITING = re.compile(
    r"\smethod\s*=|formaction|<textarea|contenteditable"
    r"|<input(?![^>]*type=\"(?:search|hidden|radio|checkbox)\")",
    re.IGNORECASE,
)
every_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SRC)))


def test_there_are_sources_and_no_script_among_them() -> None:
    assert len(SOURCES) > 20
    assert {path.suffix for path in SOURCES} <= {".html", ".css", ".svg"}


@every_source
def test_nothing_runs_and_nothing_is_kept_by_the_reader(path: Path) -> None:
    """AC-F5: no storage, no cookies; and no script that could have any."""
    text = path.read_text(encoding="utf-8")
    assert KEEPING.findall(text) == []
    assert RUNNING.findall(text) == []
    assert STYLED.findall(text) == []


@every_source
def test_no_page_has_a_way_to_write(path: Path) -> None:
    """AC-F3: the only form asks for a search, and there is nothing to edit with."""
    assert WRITING.findall(path.read_text(encoding="utf-8")) == []


def test_no_route_of_the_encyclopedia_takes_anything_but_a_question(database: Database) -> None:
    """AC-F3: there is no write path behind the pages either."""
    part = make_part(database, resolve((), "", {}, {}))
    assert {operation.route.method for operation in part.operations} == {"GET"}
    assert {operation.body_type for operation in part.operations} == {None}


def test_lists_hold_no_texts_and_answers_set_no_cookie(demo_url: str, stored: Stored) -> None:
    """AC-F5: a text is loaded when its entry is opened, and nowhere before."""
    contents = [event.payload.get("content") for event in demo().events]
    texts = {text[:60] for text in contents if isinstance(text, str) and len(text) > 200}
    assert stored.tip
    assert len(texts) > 50
    with Database.open(demo_url, readonly=True) as opened, reader_of(opened) as reader:
        lists = ("", "/entries?limit=100", "/editors", "/proposals", "/graveyard", "/status")
        for path in [WIKI + name for name in lists] + [entry_path("en:tide", "backlinks")]:
            answer = reader.server.get(path)
            assert answer.status_code == 200
            assert not [text for text in texts if text in answer.text]
            assert "set-cookie" not in answer.headers
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; form")
            assert "script" not in policy
