"""Sources behind the command line: a script on loopback, and the options that lead to it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cases.scripts import Case
from cases.servers import BASE, scripted
from cases.walking import http
from cli.terminal import Answer, refold

Route = Mapping[str, Any]

NOW = ("--now", "2030-01-03T00:00:00Z")
LINK = {"Link": '</items?page=2>; rel="next"'}
LAST = {"get": "/items", "query": {"page": "2"}, "json": {"items": "range(3,3)"}}
LIST = [LAST, {"get": "/items", "headers": LINK, "json": {"items": "range(1,2)"}}]
URL = "https://api.example.test/items"
FLAGS = ("--url", URL, "--array-path", "items")
NEEDLE = ("--match", "name", "eq", "needle")
PLAN = f"""
question = "Is there a needle?"
[criterion]
match = {{ field = "name", op = "eq", value = "needle" }}
[[units]]
id = "list"
kind = "HTTP_JSON"
url = "{URL}"
arrayPath = "items"
"""


@contextmanager
def served(routes: Sequence[Route]) -> Iterator[list[str]]:
    """Serve a script; give the options that ask it in place of the public origin, at once."""
    with scripted({"routes": routes}) as (server, _):
        yield leading_to(server.origin)


def leading_to(origin: str, public: str = BASE) -> list[str]:
    return ["--map-origin", f"{public}={origin}", "--retry-wait", "0"]


def build(path: Path, plan: str, *options: str) -> tuple[Answer, Any]:
    """Build a plan; give what the command said, and the receipt that it wrote."""
    (path / "plan.toml").write_text(plan)
    out = path / "receipt.json"
    out.unlink(missing_ok=True)
    answer = refold("coverage", "build", str(path / "plan.toml"), "--out", str(out), *options)
    return answer, json.loads(out.read_bytes()) if out.exists() else None


def verify(record: object, *options: str) -> Answer:
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    return refold("coverage", "verify", "-", *options, stdin=data)


def units_of(case: Case) -> list[dict[str, Any]]:
    recipes = [case.pins] if case.pins else [http(url, case.array) for url in case.urls]
    return [{"id": f"unit {number}", **recipe} for number, recipe in enumerate(recipes)]
