"""Raw transactions from an explorer: what settles who wrote a pin, and what it said first.

    RawTxs(transport, "https://api.microvisionchain.com/open-api-mvc").raw(txid)

An explorer cannot lie about a transaction: its id is the hash of what it says (facts: metaid §1.3,
§1.4). Whether it is in a block is not shown.
"""

import re

import msgspec

from refold.kernel.addresses import parse_url
from refold.kernel.dial import TransientError
from refold.kernel.errors import InputError, SourceError
from refold.metaid.man.client import Transport
from refold.metaid.tx import parse_tx, plain_txid_of, txid_of

_TXID = re.compile("[0-9a-f]{64}")
_HEX = re.compile(rb'\s*"?((?:[0-9a-fA-F]{2})+)"?\s*')
_OK = 200
_NOT_FOUND = 404


class _Answer(msgspec.Struct):
    hex: str


_decode = msgspec.json.Decoder(_Answer).decode


class RawTxs:
    """A source of raw transactions; `base` is the URL before `/tx/<txid>/raw`."""

    def __init__(self, transport: Transport, base: str) -> None:
        self.transport = transport
        self.base = base.rstrip("/")
        self._shown = parse_url(self.base).shown.rstrip("/")

    def raw(self, txid: str) -> bytes | None:
        """Give the bytes of a transaction by an id of either kind, None where it is not known.

        The explorer answers JSON with a member `hex`, or the hex alone. Raises `InputError`:
        `txid-invalid`; `SourceError`: `tx-unreadable`, `tx-is-another`, and the transport's.
        """
        if _TXID.fullmatch(txid) is None:
            raise InputError("txid-invalid", f"{txid} is no transaction id", "give 64 hex digits")
        shown = f"{self._shown}/tx/{txid}/raw"
        answer = self.transport.get(f"{self.base}/tx/{txid}/raw")
        if answer.status == _NOT_FOUND:
            return None
        raw = _bytes_of(answer.body) if answer.status == _OK else None
        if raw is None:
            raise TransientError(
                "tx-unreadable",
                f"{shown}: status {answer.status}, and no transaction in hex",
                "try again later",
            )
        try:
            tx = parse_tx(raw)
        except InputError as error:
            raise SourceError("tx-unreadable", f"{shown}: {error.message}") from error
        if txid not in {txid_of(tx), plain_txid_of(tx)}:
            raise SourceError(
                "tx-is-another", f"{shown}: answers transaction {txid_of(tx)}", "ask another source"
            )
        return raw


def _bytes_of(body: bytes) -> bytes | None:
    found = _HEX.fullmatch(body)
    if found:
        return bytes.fromhex(found[1].decode())
    try:
        return bytes.fromhex(_decode(body).hex)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
