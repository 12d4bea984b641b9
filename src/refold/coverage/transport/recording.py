"""Answers kept in a folder, and a folder as a transport: `--record DIR` and `--from DIR`.

    DIR/answers.jsonl    a line a batch of questions: urls, replies without bodies, cost, times
    DIR/bodies/<sha256>  each body once, under its hash

Bodies are written before the line that names them, so a folder whose writer was killed holds whole
batches. A folder may come from anybody: sizes are limited, and a body that is not the one of its
name is refused. Source: coverage spec §6, `--record`, `--from`; R-10.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from refold.coverage.walk.asking import Answer, Ask, Basis, Batch, Failure, Transport
from refold.kernel.canon import sha256_hex
from refold.kernel.errors import InputError, UsageError
from refold.kernel.headers import Headers

__all__ = ["MAX_BATCHES", "MAX_LINE_BYTES", "Recorded", "Recorder"]

MAX_LINE_BYTES = 4 * 1024 * 1024
"""Of a line: a batch of some answers with heads of 256 KiB."""
MAX_BATCHES = 50_000
"""In a folder: two passes over a record with all its requests."""

_INDEX = "answers.jsonl"
_BODIES = "bodies"
_HASH = re.compile("[0-9a-f]{64}")


class _Reply(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An answer whose body is elsewhere (`status` is not 0), or a failure."""

    url: str
    status: int = 0
    headers: Headers = ()
    body: str = ""
    redirects: tuple[str, ...] = ()
    mapped_to: str = ""
    code: str = ""
    message: str = ""


class _Line(msgspec.Struct, frozen=True, rename="camel"):
    urls: tuple[str, ...]
    replies: tuple[_Reply, ...]
    requests: int
    received: int
    began: float
    ended: float
    at: str


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


class Recorder:
    """Asks `transport` and keeps what it answers in `folder`, which is made where missing.

    Raises UsageError `record-exists` if the folder holds answers already: two walks in one folder
    could not be told apart.
    """

    def __init__(self, transport: Transport, folder: Path) -> None:
        self._transport = transport
        self._bodies = folder / _BODIES
        self._index = folder / _INDEX
        self._bodies.mkdir(parents=True, exist_ok=True)
        try:
            self._index.touch(exist_ok=False)
        except FileExistsError as error:
            raise UsageError(
                "record-exists", f"{folder} holds answers already", "name a new folder"
            ) from error

    @property
    def basis(self) -> Basis:
        """Give what the transport's is."""
        return self._transport.basis

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give the replies to `asks`, when they are kept."""
        batch = self._transport.ask(asks)
        line = _Line(
            tuple(ask.url for ask in asks),
            tuple(map(self._kept, batch.replies)),
            batch.requests,
            batch.received,
            batch.began,
            batch.ended,
            batch.at,
        )
        with self._index.open("ab") as index:
            index.write(_encode(line) + b"\n")
        return batch

    def _kept(self, reply: Answer | Failure) -> _Reply:
        if isinstance(reply, Failure):
            return _Reply(reply.url, code=reply.code, message=reply.message)
        name = sha256_hex(reply.body)
        path = self._bodies / name
        if not path.exists():
            path.write_bytes(reply.body)
        return _Reply(
            reply.url, reply.status, reply.headers, name, reply.redirects, reply.mapped_to
        )


class Recorded:
    """Answers from `folder`: to the same batch of URLs, asked again, the next one that was kept.

    What was not kept is a Failure `not-recorded`. Raises InputError: `record-missing`,
    `record-damaged`.
    """

    basis: Basis = "RECORDED"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[tuple[str, ...], deque[_Line]] = defaultdict(deque)
        self._last = _Line((), (), 0, 0, 0.0, 0.0, "")
        for line in self._read():
            self._lines[line.urls].append(line)

    def ask(self, asks: Sequence[Ask]) -> Batch:
        """Give the replies to `asks`, as they were kept."""
        kept = self._lines.get(tuple(ask.url for ask in asks))
        if not kept:
            last = self._last
            replies = tuple(Failure(ask.url, "not-recorded", "no answer was kept") for ask in asks)
            return Batch(replies, 0, 0, last.ended, last.ended, last.at)
        line = self._last = kept.popleft()
        return Batch(
            tuple(map(self._reply, asks, line.replies)),
            line.requests,
            line.received,
            line.began,
            line.ended,
            line.at,
        )

    def _read(self) -> Iterator[_Line]:
        try:
            with (self._folder / _INDEX).open("rb") as index:
                for number in range(MAX_BATCHES + 1):
                    text = index.readline(MAX_LINE_BYTES + 1)
                    if not text:
                        return
                    if number == MAX_BATCHES:
                        raise self._damaged(f"more than {MAX_BATCHES} lines")
                    if not text.endswith(b"\n"):
                        raise self._damaged(f"line {number + 1} is cut off or too long")
                    yield self._line(text, number + 1)
        except OSError as error:
            raise InputError(
                "record-missing", f"{self._folder} holds no answers", "name a folder of --record"
            ) from error

    def _line(self, text: bytes, number: int) -> _Line:
        try:
            line = _decode(text)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise self._damaged(f"line {number} is none of ours") from error
        if len(line.urls) != len(line.replies):
            raise self._damaged(f"line {number} has not one reply for each question")
        return line

    def _reply(self, ask: Ask, kept: _Reply) -> Answer | Failure:
        if not kept.status:
            return Failure(kept.url, kept.code, kept.message)
        if _HASH.fullmatch(kept.body) is None:
            raise self._damaged("an answer names no body")
        path = self._folder / _BODIES / kept.body
        try:
            with path.open("rb") as file:
                body = file.read(ask.max_bytes + 1)
        except OSError as error:
            raise self._damaged(f"the body {kept.body} is missing") from error
        if len(body) > ask.max_bytes:
            return Failure(kept.url, "body-too-large", f"the body is over {ask.max_bytes} bytes")
        if sha256_hex(body) != kept.body:
            raise self._damaged(f"the body {kept.body} is another one")
        return Answer(kept.url, kept.status, kept.headers, body, kept.redirects, kept.mapped_to)

    def _damaged(self, what: str) -> InputError:
        return InputError("record-damaged", f"{self._folder}: {what}", "record the walk again")
