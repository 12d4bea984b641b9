"""Authors of confirmed pins held against the signatures of their raw transactions."""

from collections import Counter, OrderedDict
from collections.abc import Callable

from refold.db import Database
from refold.kernel.errors import InputError, RefoldError
from refold.metaid.author import Verdict, check_author
from refold.metaid.rawtx import RawTxs
from refold.metaid.store import Position, open_store
from refold.metaid.sync.report import AuthorTally
from refold.metaid.tx import Outpoint, Output, parse_tx

BATCH = 50
"""Verdicts that are stored at a time."""
MAX_KEPT = 512
"""Transactions that are kept while others may spend from them: pins of an author often follow one
another."""


class Authors:
    """Verifies authors, from round to round: those that could not be checked are tried last."""

    def __init__(self, database: Database, txs: RawTxs) -> None:
        self.txs = txs
        self._database = database
        self._after: Position | None = None
        self._kept: OrderedDict[str, bytes | None] = OrderedDict()

    def verify(self, limit: int, on_batch: Callable[[int], object]) -> AuthorTally:
        """Check at most so many pins; store the verdicts, and say how many there were of each.

        A pin of which the source knows no transaction, or does not answer, has no verdict yet.
        """
        found: Counter[str] = Counter()
        checked, is_wrapped = 0, self._after is None
        while checked < limit:
            with self._database.read() as connection:
                pins = open_store(connection).pins
                batch = pins.without_author(min(BATCH, limit - checked), self._after)
                claims = pins.standing([position.pin for position in batch])
            if not batch:
                if is_wrapped:
                    break
                self._after, is_wrapped = None, True
                continue
            verdicts = {}
            for position in batch:
                verdict = self._verdict(position.pin, claims[position.pin].sender)
                found[verdict or "unchecked"] += 1
                if verdict is not None:
                    verdicts[position.pin] = verdict
            with self._database.write() as connection:
                open_store(connection).pins.put_authors(verdicts)
            checked += len(batch)
            self._after = batch[-1]
            on_batch(checked)
        return AuthorTally(
            proven=found["proven"],
            co_signed=found["co-signed"],
            signed_key=found["signed-key"],
            unproven=found["unproven"],
            unchecked=found["unchecked"],
            left=checked >= limit,
        )

    def _verdict(self, pin_id: str, claimed: str) -> Verdict | None:
        try:
            raw = self._raw(pin_id.partition("i")[0])
            if raw is None:
                return None
            return check_author(raw, claimed, self._spent, pin_id=pin_id).verdict
        except InputError:
            return "unproven"  # no id of a key, or no pin in the transaction: nothing proves it
        except RefoldError:
            return None

    def _spent(self, outpoint: Outpoint) -> Output | None:
        raw = self._raw(outpoint.txid)
        outputs = parse_tx(raw).outputs if raw is not None else ()
        return outputs[outpoint.index] if outpoint.index < len(outputs) else None

    def _raw(self, txid: str) -> bytes | None:
        if txid not in self._kept:
            raw = self.txs.raw(txid)
            if raw is None:
                return None
            self._kept[txid] = raw
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return self._kept[txid]
