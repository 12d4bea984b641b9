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

Outcome = Literal["new", "moved", "amended", "same", "elsewhere", "conflict", "unread", "refused"]
"""What became of a copy of a pin. `new`: the first one. `moved`: the pin stands elsewhere now; a
copy out of a block took the place of a copy of the mempool, or the pin was mined again. `amended`:
what may change did, such as its status; or what was not said is said. `same`: nothing new.
`elsewhere`: the place that it says counts less than the one that is held (`Rivals`). `conflict`: it
differs in what nobody can change; the first copy stays, and only the place is taken over, if it
counts. `unread`: a move of a pin that was never read out of a block, so nothing was done.
`refused`: no store could keep it.
"""


class Rivals(msgspec.Struct, frozen=True):
    """Whose words on places count beside those of the one who speaks: more, and less.

    Who is in neither has no say: his word stood until somebody else said something.
    """

    above: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()


NO_RIVALS = Rivals()
"""Nobody else has a say: the later word on a place counts, whoever says it."""


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

    `author` is the verdict on its author, None as long as nobody looked. `placed_by` is on whose
    word it stands where it stands.
    """

    pin: Pin
    sha256: str
    size: int
    source: str
    state: State
    author: Verdict | None = None
    placed_by: str = ""

    @property
    def place(self) -> Place:
        """Where the pin stands."""
        return NOWHERE if self.pin.height is None else Place(self.pin.height, self.pin.tx_index)


class Standing(NamedTuple):
    """What a row of a list is compared with: where a pin stands and by whose word, and its copy.

    `source` gave the copy, which has a body of `size` bytes with the hash `sha256` (hex).
    """

    place: Place
    state: State
    placed_by: str
    source: str
    path: str
    sender: str
    size: int
    sha256: str


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
    """How far the walks over one path of one indexer came.

    `height` is the height that everything was walked up to, None when nothing is sure.
    `is_complete`: a walk came to the end once. A walk that is not at its end goes on at `cursor`,
    towards older pins, down to the height `floor` (None: to the end); it began at the front when
    the indexer was at the height `began`. Without one `cursor` is "". `full_at` is when a walk came
    to the end last, in Unix seconds.
    """

    indexer: str
    path: str
    cursor: str = ""
    height: int | None = None
    is_complete: bool = False
    began: int | None = None
    floor: int | None = None
    full_at: int | None = None


class Gap(msgspec.Struct, frozen=True):
    """A pin that an indexer lists, and that could not be read: where it stood and why.

    `tries` counts how often; `first` and `last` are when, in Unix seconds.
    """

    indexer: str
    pin: str
    path: str
    height: int | None
    code: str
    message: str
    tries: int
    first: int
    last: int


class Indexed(msgspec.Struct, frozen=True):
    """What is known of an indexer.

    `height` is the one that it had come to when it answered last, at `answered`; `current` when it
    was last not far behind the others; both in Unix seconds. `pins` is its own count of pins.
    """

    indexer: str
    height: int | None = None
    answered: int | None = None
    current: int | None = None
    pins: int | None = None


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
