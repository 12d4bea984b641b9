"""Files read out of raw transactions alone, so that what is said of them is proven.

    fact = ChainFiles(txs).resolve("metafile://…i0", content_hash, sink=file.write)

The id of a pin begins with the hash of its transaction, and the body of the pin stands in it: path,
type and bytes cannot be another's, whoever hands the transaction over. So a `mismatch` found here
holds for good. Whether the transaction is in a block is not shown. Source: facts: metaid §1.3,
§4.2.
"""

from collections.abc import Iterator

from refold.kernel.errors import InputError, RefoldError
from refold.metaid.chainpin import pin_of_tx
from refold.metaid.envelope import Envelope
from refold.metaid.fileindex import Chunk, Index, parse_index
from refold.metaid.metafile import (
    MAX_CHUNKED_BYTES,
    MAX_DIRECT_BYTES,
    ContentFact,
    EndError,
    Sink,
    is_index,
    joined,
    open_chunk,
    read_file,
)
from refold.metaid.rawtx import RawTxs
from refold.metaid.tx import parse_tx


class ChainFiles:
    """Resolves files through a source of raw transactions; threads may share it."""

    def __init__(self, txs: RawTxs) -> None:
        self._txs = txs

    def resolve(self, uri: str, expected: str, sink: Sink | None = None) -> ContentFact:
        """Read the file and compare, as `Metafiles.resolve` does.

        `unavailable` is what the source does not know or does not give, and what is no file.
        """
        return read_file(uri, expected, self._pieces, sink)

    def _pieces(self, pin_id: str, expected: str) -> Iterator[tuple[bytes, bool]]:
        envelope = self._envelope(pin_id, "pin-unknown")
        if not envelope.path.startswith("/file"):
            raise EndError("unavailable", "not-a-file", envelope.path)
        if not is_index(envelope.path, envelope.content_type):
            if len(envelope.payload) > MAX_DIRECT_BYTES:
                raise EndError("unavailable", "too-large", f"{len(envelope.payload)} bytes")
            yield envelope.payload, False
            return
        yield from joined(_index(envelope.payload, expected), self._chunk)

    def _chunk(self, chunk: Chunk) -> bytes:
        payload = self._envelope(chunk.pin_id, "chunk-unknown").payload
        # An uploader may pack more into a chunk than a pin would hold: only the file limits it.
        piece = open_chunk(payload, chunk, MAX_CHUNKED_BYTES)
        if piece is None:
            raise EndError("mismatch", "chunk-differs", chunk.pin_id)
        return piece

    def _envelope(self, pin_id: str, unknown: str) -> Envelope:
        """Give what the transaction of a pin says."""
        try:
            raw = self._txs.raw(pin_id.partition("i")[0])
            found = None if raw is None else pin_of_tx(parse_tx(raw))
        except RefoldError as error:
            raise EndError("unavailable", error.code, error.message) from error
        if found is None or pin_id not in {found.id, found.alias}:
            raise EndError("unavailable", unknown, pin_id)
        return found.envelope


def _index(body: bytes, expected: str) -> Index:
    try:
        index = parse_index(body)
    except InputError as error:
        raise EndError("mismatch", error.code, error.message) from error
    if index.sha256 != expected:
        raise EndError("mismatch", "hash-differs", f"the index says {index.sha256}")
    return index
