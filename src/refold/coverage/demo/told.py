"""A transport that answers from pages at hand: no network, no clock."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from refold.coverage.walk.asking import Answer, Ask, Basis, Batch

__all__ = ["Told", "ToldPage"]

_TYPE: Final = ("content-type", "application/json")


class ToldPage(msgspec.Struct, frozen=True):
    """One answer: the JSON value of its body, where its next page is ("" nowhere), its status."""

    value: object
    following: str = ""
    status: int = 200

    @property
    def body(self) -> bytes:
        """The bytes of its body."""
        return msgspec.json.encode(self.value)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Its headers, names in lower case."""
        if not self.following:
            return (_TYPE,)
        return (_TYPE, ("link", f'<{self.following}>; rel="next"'))


NOTHING: Final = ToldPage({"error": "nothing is here"}, status=404)


class Told:
    """Answers a URL with its page, and any other with 404, all at one moment."""

    basis: Basis = "RECORDED"

    def __init__(self, pages: Mapping[str, ToldPage], at: str) -> None:
        self.pages = pages
        self._at = at

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give the pages that are asked for."""
        found = [(ask.url, self.pages.get(ask.url, NOTHING)) for ask in asks]
        replies = tuple(Answer(url, page.status, page.headers, page.body) for url, page in found)
        received = sum(len(reply.body) for reply in replies)
        return Batch(replies, len(replies), received, 0.0, 0.0, self._at)
