"""A client of the metafile indexer: files by pin, as it merged them (facts: metaid §4).

Status 200 is its answer to everything, a missing file included, so what counts is the envelope's
code, 0. Bytes that it serves were merged without a check: compare their hash
(`refold.metaid.metafile`). Errors are the transport's, and `SourceError`: `file-unreadable`,
`file-shape`, `file-status`, `file-error`; TransientError where asking again may help.
"""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeVar

import msgspec

from refold.kernel.addresses import parse_url
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError, UsageError, one_line
from refold.kernel.fetch import Fetched
from refold.metaid.man.client import ATTEMPTS, RETRY_SECONDS, Transport
from refold.metaid.man.rows import PIN_ID

T = TypeVar("T")

SUCCESS = 0
NOT_FOUND = 40400
PARAMETER = 40000
"""Codes of the envelope."""

_OK = 200
_JSON: Mapping[str, str] = MappingProxyType({"Accept": "application/json"})
_ANY: Mapping[str, str] = MappingProxyType({"Accept": "*/*"})


class FileInfo(msgspec.Struct, frozen=True):
    """What the indexer says of a file; `file_hash` is the SHA-256 of what it serves."""

    pin_id: str
    path: str = ""
    content_type: str = ""
    file_name: str = ""
    file_size: int = 0
    file_hash: str = ""
    chain_name: str = ""
    block_height: int = 0


class FileStatus(msgspec.Struct, frozen=True, rename="camel"):
    """How far the indexer is with a file: `pending` while chunks are missing."""

    status: Literal["merged", "pending", "not_found"]
    chain_name: str = ""
    block_height: int = 0
    file_size: int = 0
    file_name: str = ""


class _Envelope(msgspec.Struct):
    code: int
    message: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


_UNREADABLE = (msgspec.MsgspecError, RecursionError)
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_info = msgspec.json.Decoder(FileInfo).decode
_decode_status = msgspec.json.Decoder(FileStatus).decode


class FileServer:
    """A client of one metafile indexer; `base` is the URL before `/api/v1`."""

    def __init__(
        self,
        transport: Transport,
        base: str,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.base = base.rstrip("/")
        self._transport = transport
        self._shown = parse_url(self.base).shown.rstrip("/")
        self._attempts = attempts
        self._sleep = sleep

    def info(self, pin_id: str) -> FileInfo | None:
        """Give what is known of a file; None when the indexer has none of that pin."""
        return self._ask(
            f"/api/v1/files/{_checked(pin_id)}",
            lambda where, answer: _read(where, answer, _decode_info),
        )

    def status(self, pin_id: str) -> FileStatus | None:
        """Give how far the indexer is with a file."""
        return self._ask(
            f"/api/v1/files/status/{_checked(pin_id)}",
            lambda where, answer: _read(where, answer, _decode_status),
        )

    def content(self, pin_id: str, *, max_bytes: int) -> bytes | None:
        """Give the bytes of a file as they are served; None when there is none of that pin."""
        return self._ask(f"/api/v1/files/content/{_checked(pin_id)}", _content, max_bytes)

    def _ask(
        self, route: str, read: Callable[[str, Fetched], T], max_bytes: int | None = None
    ) -> T:
        headers = _JSON if max_bytes is None else _ANY
        for attempt in range(self._attempts):
            if attempt:
                self._sleep(RETRY_SECONDS * 2 ** (attempt - 1))
            answer = self._transport.get(self.base + route, headers=headers, max_bytes=max_bytes)
            try:
                return read(self._shown + route, answer)
            except TransientError:
                if attempt == self._attempts - 1:
                    raise
        raise UsageError("man-attempts", f"{self._attempts} attempts", "allow at least one")


def _content(where: str, answer: Fetched) -> bytes | None:
    """Tell the bytes of a file from an envelope that says there is none: a file has a name."""
    if answer.status == _OK and answer.header("content-disposition") is not None:
        return answer.body
    _read(where, answer, lambda _data: None)
    return None


def _read(where: str, answer: Fetched, decode: Callable[[msgspec.Raw], T]) -> T | None:
    """Read an envelope; None for a file that is not there."""
    try:
        envelope = _decode_envelope(answer.body)
    except _UNREADABLE as error:
        if answer.status != _OK:
            what = TransientError if answer.status >= 500 else SourceError
            raise what("file-status", f"{where}: status {answer.status}") from error
        raise TransientError("file-unreadable", f"{where}: no envelope") from error
    if envelope.code == NOT_FOUND:
        return None
    if envelope.code != SUCCESS or answer.status != _OK:
        kind = SourceError if envelope.code == PARAMETER else TransientError
        said = f"status {answer.status}, code {envelope.code}, {one_line(envelope.message)}"
        raise kind("file-error", f"{where}: {said}")
    try:
        return decode(envelope.data)
    except _UNREADABLE as error:
        raise TransientError("file-shape", f"{where}: {one_line(str(error))}") from error


def _checked(pin_id: str) -> str:
    if PIN_ID.fullmatch(pin_id) is None:
        raise InputError("pin-id-invalid", f"{pin_id} is no pin id", "give <64 hex>i<number>")
    return pin_id
