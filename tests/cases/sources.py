"""Sources without a network: a transport that answers as a function says, and answers to give."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refold.coverage.match import Criterion, compile_criterion
from refold.coverage.record import HttpJson
from refold.coverage.walk.asking import Answer, Ask, Basis, Batch, Failure
from refold.coverage.walk.walked import Listed

ORIGIN = "https://api.example.test"
NEEDLE = {"match": {"field": "name", "op": "eq", "value": "needle"}}


def needle() -> Criterion:
    return compile_criterion(NEEDLE)


def source(url: str = "/items", array: str = "items", name: str = "u", total: str = "") -> Listed:
    return Listed(name, HttpJson(ORIGIN + url, array), total)


def items(*numbers: int) -> list[dict[str, Any]]:
    return [{"id": number, "name": f"item-{number}"} for number in numbers]


def answer(
    url: str, body: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """Give an answer with JSON, or with bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json"} | {
        name.lower(): value for name, value in (headers or {}).items()
    }
    return Answer(url, status, tuple(named.items()), data)


def to(target: str, relation: str = "next") -> dict[str, str]:
    return {"Link": f'<{target}>; rel="{relation}"'}


class Scripted:
    """A transport that asks a function for each reply; its clock moves by `seconds` a batch."""

    basis: Basis = "LIVE"

    def __init__(self, reply: Callable[[Ask], Answer | Failure], seconds: float = 0.0) -> None:
        self.asks: list[Ask] = []
        self.now = 0.0
        self._reply = reply
        self._seconds = seconds

    @property
    def urls(self) -> list[str]:
        return [ask.url.removeprefix(ORIGIN) for ask in self.asks]

    def ask(self, asks: Sequence[Ask]) -> Batch:
        began = self.now
        self.now += self._seconds
        self.asks += asks
        replies = tuple(map(self._reply, asks))
        received = sum(len(reply.body) for reply in replies if isinstance(reply, Answer))
        at = f"2030-01-01T00:00:{len(self.asks) % 60:02}Z"
        return Batch(replies, len(asks), received, began, self.now, at)


def pages(by_target: Mapping[str, tuple[Any, dict[str, str]]], **options: Any) -> Scripted:
    """Give a transport that has a body and headers for each target."""

    def reply(ask: Ask) -> Answer | Failure:
        body, headers = by_target[ask.url.removeprefix(ORIGIN)]
        return answer(ask.url, body, headers=headers)

    return Scripted(reply, **options)
