"""What the store takes and gives, besides pins."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec

from refold.metaid.author import Verdict
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin

NOWHERE = Place(None, 0)
"""The place of a pin that stands in no block."""

State = Literal["confirmed", "unconfirmed", "vanished", "mempool"]
"""How a pin stands. `confirmed`: in a block. `mempool`: seen there, and never in a block.
`unconfirmed`: was in a block and is in none as far as we know. `vanished`: the same, and the
indexer does not know it any more; it may come back.
"""

Outcome = Literal["new", "moved", "amended", "same", "conflict", "unread", "refused"]
"""What became of a copy of a pin. `new`: the first one. `moved`: the pin stands elsewhere now; a
copy out of a block took the place of a copy of the mempool, or the pin was mined again. `amended`:
what may change did, such as its status; or what was not said is said. `same`: nothing new.
`conflict`: it differs in what nobody can change; the first copy stays, and only the place is taken
over. `unread`: a move of a pin that was never read out of a block, so nothing was done. `refused`:
no store could keep it.
"""


class Position(NamedTuple):
    """The total order of confirmed pins (agentpedia spec §2); ids compare as text."""

    height: int
    tx_index: int
    pin: str


class Written(msgspec.Struct, frozen=True, gc=False):
    """What became of one copy; `before` is None for a pin that nobody had.

    `differs` names what a `conflict` is about, or for what it was `refused`.
    """

    id: str
    outcome: Outcome
    before: Place | None
    after: Place | None
    differs: tuple[str, ...] = ()


class Held(msgspec.Struct, frozen=True, gc=False):
    """A pin as it is held: SHA-256 (hex) and bytes of its body, who gave it first, how it stands.

    `author` is the verdict on its author, None as long as nobody looked.
    """

    pin: Pin
    sha256: str
    size: int
    source: str
    state: State
    author: Verdict | None = None

    @property
    def place(self) -> Place:
        """Where the pin stands."""
        return NOWHERE if self.pin.height is None else Place(self.pin.height, self.pin.tx_index)


class Moved(msgspec.Struct, frozen=True, gc=False):
    """One step of a pin's way through blocks, and on whose word."""

    before: Place
    after: Place
    source: str


class Conflict(msgspec.Struct, frozen=True):
    """A copy that was not taken: what it is, who gave it, whose copy stands, and what differs.

    Read from the store `copy` has no body; `sha256` is the hash that finds it.
    """

    copy: Pin
    sha256: str
    source: str
    kept_source: str
    differs: tuple[str, ...]


class Counts(msgspec.Struct, frozen=True):
    """How many pins stand how, by path where they are confirmed; bodies, their bytes, conflicts."""

    confirmed: dict[str, int]
    unconfirmed: int
    vanished: int
    mempool: int
    bodies: int
    body_bytes: int
    conflicts: int


class Cursor(msgspec.Struct, frozen=True):
    """How far a walk over one path of one indexer came.

    `cursor` is where it goes on, towards older pins; "" at the front. `height` is the height that
    everything was walked up to, None when nothing is sure. `is_complete`: it came to the end once.
    """

    indexer: str
    path: str
    cursor: str = ""
    height: int | None = None
    is_complete: bool = False


class Anchor(msgspec.Struct, frozen=True):
    """How a block is recognised: by its hash, or by `places_digest` where nobody gives a hash."""

    source: str
    height: int
    kind: Literal["block", "places"]
    hash: str


FactState = Literal["verified", "mismatch", "unavailable"]
"""What is known: that it is as claimed, that it is not, or neither yet. No fact is ever guessed."""


class ContentFact(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the text behind the `contentRef` of a pin (agentpedia spec §7).

    `expected` and `sha256` are hashes in hex: the claimed one, and that of the bytes that were had,
    `length` of them. `tries` counts them all; `next_try` is in Unix seconds, None for never.
    """

    pin: str
    uri: str
    expected: str
    state: FactState
    reason: str = ""
    detail: str = ""
    sha256: str | None = None
    length: int = 0
    source: str = ""
    tries: int = 1
    next_try: int | None = None


class StakeFact(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the stake that a register pin names (agentpedia spec §4).

    `amount` is what it claims and `found` what the transaction pays, in satoshi; the rest as in
    `ContentFact`.
    """

    pin: str
    txid: str
    amount: int
    state: FactState
    found: int | None = None
    reason: str = ""
    detail: str = ""
    source: str = ""
    tries: int = 1
    next_try: int | None = None


def places_digest(places: Iterable[tuple[int, str]]) -> str:
    """Give the hash (hex) that stands for a block of which only some pins are known.

    `places` are the index in the block and the id of each. It changes when one of them moves, comes
    or goes. SHA-256 over the sorted lines `index TAB id LF`.
    """
    lines = (f"{index}\t{pin}\n" for index, pin in sorted(places))
    return sha256("".join(lines).encode()).hexdigest()
