"""What a walk asks for and what it is told: the border between its steps and a transport.

    steps = http_json(…)                     # a generator
    asks = next(steps)                       # a batch of questions
    asks = steps.send(transport.ask(asks))   # … until StopIteration carries the outcome

Source: coverage spec §5.5 R-1 to R-3.
"""

from collections.abc import Generator, Sequence
from typing import Literal, Protocol, TypeVar

import msgspec

from refold.kernel.headers import Headers, header_of

__all__ = ["Answer", "Ask", "Basis", "Batch", "Failure", "Steps", "Transport"]

T = TypeVar("T")
Basis = Literal["LIVE", "RECORDED"]
"""Whether answers came from the sources now, or from a folder that somebody kept: R-10."""


class Ask(msgspec.Struct, frozen=True):
    """A GET of a URL: how many bytes of a decoded body are taken, and how many seconds."""

    url: str
    max_bytes: int
    max_seconds: float


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """An answer, whole, of any status but those that are followed or tried again.

    `url` is what answered in the end, `redirects` what redirected before it, `mapped_to` the origin
    that was asked in its place, if any. Header names are lower case.
    """

    url: str
    status: int
    headers: Headers
    body: bytes
    redirects: tuple[str, ...] = ()
    mapped_to: str = ""

    def header(self, name: str) -> str | None:
        """Give the value of header `name` (lower case), lines joined with ", "; None if absent."""
        return header_of(self.headers, name)


class Failure(msgspec.Struct, frozen=True, rename="camel"):
    """No answer, after all retries: the code and message of the transport's error."""

    url: str
    code: str
    message: str


class Batch(msgspec.Struct, frozen=True, rename="camel"):
    """The replies to a batch of questions, in their order, and what they cost all together.

    `requests` counts retries and redirects, `received` the bytes as they came. `began` and `ended`
    are seconds of a clock that never goes back; `at` is the UTC time of the last byte.
    """

    replies: tuple[Answer | Failure, ...]
    requests: int
    received: int
    began: float
    ended: float
    at: str


Steps = Generator[Sequence[Ask], Batch, T]
"""A walk: gives batches of questions, takes their replies, returns its outcome."""


class Transport(Protocol):
    """What answers: a network, or a folder of stored answers."""

    @property
    def basis(self) -> Basis:
        """Where the answers come from."""

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give the replies to `asks`, in their order; a failure is a reply too."""
