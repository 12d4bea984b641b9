"""Whom to ask for a text or a stake, and how: metafiles, raw transactions, metafile indexers.

Every way to a file gives a reading with its origin, and says whether it proves what it says;
`refold.agentpedia.content` and `stakes` decide what the readings make.
"""

import threading
from collections.abc import Callable, Iterator
from hashlib import sha256

import msgspec

from refold.agentpedia.content import Finding, Reading, WantedText, judge
from refold.agentpedia.stakes import StakeFinding, WantedStake, judge_stake
from refold.kernel.addresses import parse_url
from refold.kernel.errors import RefoldError, one_line
from refold.metaid.chainfile import ChainFiles
from refold.metaid.fileserver import FileServer
from refold.metaid.man.client import ManClient, Transport
from refold.metaid.metafile import (
    MAX_CHUNKED_BYTES,
    ContentFact,
    EndError,
    Metafiles,
    Sink,
    parse_uri,
)
from refold.metaid.rawtx import RawTxs

MAX_PIECES = 1_024
"""Chunks of one file that are asked for: 40 times as many as uploaders make of 50 MiB. An index may
name 65,536, and each rev that points to it would cost us as many requests.
"""

_Resolve = Callable[[str, str, Sink], ContentFact]


class Sources(msgspec.Struct, frozen=True):
    """Whom to ask, in this order: indexers of pins, transactions, then metafile indexers.

    All of them ask through `transport`, whose counters a report gives.
    """

    transport: Transport
    mans: tuple[ManClient, ...] = ()
    servers: tuple[FileServer, ...] = ()
    txs: tuple[RawTxs, ...] = ()


class TextAnswer(msgspec.Struct, frozen=True):
    """What the sources say of a text, and its bytes when it is verified."""

    finding: Finding
    body: bytes | None = None


class StakeAnswer(msgspec.Struct, frozen=True):
    """What the sources say of a stake, and which of them said it last."""

    finding: StakeFinding
    source: str


def ask_text(sources: Sources, wanted: WantedText, stop: threading.Event) -> TextAnswer | None:
    """Ask one source after the other until the text is settled; None when it was stopped."""
    readings: list[Reading] = []
    for base, by_chain, resolve in _ways(sources):
        text = _Text(stop)
        fact = _resolved(resolve, wanted, text)
        if stop.is_set() and fact.state != "verified":
            return None
        readings.append(_reading(base, fact, by_chain=by_chain))
        finding = judge(readings)
        if finding.is_settled:
            return TextAnswer(finding, bytes(text.held) if fact.state == "verified" else None)
    return TextAnswer(judge(readings))


def ask_stake(
    sources: Sources, wanted: WantedStake, applicant: str, stop: threading.Event
) -> StakeAnswer | None:
    """Ask one source after the other until one gives the transaction; None when it was stopped."""
    answer = StakeAnswer(StakeFinding("unavailable", "no-source"), "")
    for txs in sources.txs:
        if stop.is_set():
            return None
        try:
            finding = judge_stake(wanted, applicant, txs.raw(wanted.txid))
        except RefoldError as error:
            finding = StakeFinding("unavailable", error.code, detail=one_line(error.message))
        answer = StakeAnswer(finding, _shown(txs.base))
        if finding.state != "unavailable":
            break
    return answer


class _Text:
    """Takes the bytes of a text, and no more of them when the run is stopped."""

    def __init__(self, stop: threading.Event) -> None:
        self.held = bytearray()
        self._stop = stop
        self._pieces = 0

    def __call__(self, piece: bytes) -> None:
        self._pieces += 1
        if self._stop.is_set():
            raise EndError("unavailable", "interrupted")
        if self._pieces > MAX_PIECES:
            raise EndError("unavailable", "too-many-pieces", f"over {MAX_PIECES}")
        self.held += piece


def _ways(sources: Sources) -> Iterator[tuple[str, bool, _Resolve]]:
    """Give the ways to a file in their order: whom it asks, whether it proves, how."""
    for man in sources.mans:
        yield man.base, False, Metafiles(man).resolve
    for txs in sources.txs:
        yield txs.base, True, ChainFiles(txs).resolve
    for server in sources.servers:
        yield server.base, False, _served_by(server)


def _served_by(server: FileServer) -> _Resolve:
    def resolve(uri: str, expected: str, sink: Sink) -> ContentFact:
        pin_id = parse_uri(uri)
        data = server.content(pin_id, max_bytes=MAX_CHUNKED_BYTES)
        if data is None:
            return ContentFact("unavailable", "pin-unknown", pin_id, expected)
        sink(data)
        actual = sha256(data).hexdigest()
        if actual != expected:
            return ContentFact("mismatch", "hash-differs", pin_id, expected, actual, len(data))
        return ContentFact("verified", "", pin_id, expected, actual, len(data))

    return resolve


def _resolved(resolve: _Resolve, wanted: WantedText, sink: Sink) -> ContentFact:
    try:
        return resolve(wanted.uri, wanted.expected, sink)
    except EndError as end:
        code, message = end.reason, end.detail
    except RefoldError as error:
        code, message = error.code, error.message
    return ContentFact("unavailable", code, wanted.uri, wanted.expected, detail=message)


def _reading(base: str, fact: ContentFact, *, by_chain: bool) -> Reading:
    return Reading(
        source=_shown(base),
        origin=parse_url(base).origin,
        by_chain=by_chain,
        state=fact.state,
        reason=fact.reason,
        detail=one_line(fact.detail),
        actual=fact.actual,
        size=fact.size,
    )


def _shown(base: str) -> str:
    return parse_url(base).shown.rstrip("/")
