"""Routes of the log: checkpoints, keys, proofs, tiles (C2SP tlog-tiles under /v1/public).

None of them is about texts: what the operator removed changes no answer here. `LOG_CODES` are what
they may answer with. Source: cold trials spec §3.
"""

from typing import Annotated

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.db import Database
from refold.kernel.errors import InputError, SourceError
from refold.serving.answers import FOREVER, Answer, Page
from refold.serving.asked import ListAsked
from refold.serving.call import Call
from refold.serving.codes import Code
from refold.serving.operation import get
from refold.serving.reading import read_inline
from refold.trials.checkpoint import LogKey
from refold.trials.leaf import accepted_text, hashed_leaf
from refold.trials.store.reading import Messages
from refold.trials.store.tree import KeyRow, SignedCheckpoint, Tree
from refold.trials.tiles import parse_tile_path

__all__ = ["LOG_CODES", "LogApi"]

NOTE_TYPE = "text/plain; charset=utf-8"
TILE_TYPE = "application/octet-stream"
MAX_ID = 2**53 - 1
"""An id that every JSON reader keeps exactly; a log has fewer messages."""

LOG_CODES: tuple[Code, ...] = (
    Code("tile-path", 400, "No path of a tile", "Write LEVEL/NUMBER as C2SP tlog-tiles has it."),
    Code("proof-range", 400, "Out of the log", "Ask for messages and sizes that the log has; the"
         " checkpoint says how many those are."),
    Code("message-unknown", 404, "No such message", "There is no message of this id."),
    Code("tile-unknown", 404, "No such tile", "The log has no tile of this width yet."),
    Code("log-busy", 503, "Too many posts", "More posts wait than can be written in some seconds."
         " Post again later.", told=False),
    Code("log-closed", 503, "Stopping", "The node is about to stop. Post again later.", told=False),
    Code("log-key", 503, "Key changed", "The log got another key, and the node was not started with"
         " it yet. Post again later.", told=False),
    Code("log-damaged", 503, "Log damaged", "The log does not fit its checkpoints; its operator"
         " has to see to it.", told=False),
)  # fmt: skip

Size = Annotated[int, Meta(ge=0, le=MAX_ID, description="How many messages the tree is over.")]
_Segment = Annotated[str, Meta(pattern="^[0-9x.p]{1,8}$", description="A part of the number.")]


class ProofAsked(msgspec.Struct, frozen=True):
    """The proof of one message; without a size that of the newest checkpoint."""

    id: Annotated[int, Meta(ge=1, le=MAX_ID, description="The id of a message.")]
    size: Size | None = None


class ConsistencyAsked(msgspec.Struct, frozen=True):
    """Two sizes of the log; the second is that of the newest checkpoint if it is left out."""

    first: Size
    second: Size | None = None


class TileAsked(msgspec.Struct, frozen=True):
    """A tile, or with `entries` for the level a bundle of leaves."""

    level: Annotated[str, Meta(pattern="^([0-9]{1,2}|entries)$", description="0 to 7, or entries.")]
    a: _Segment


class TileAsked2(TileAsked, frozen=True):
    """The same; the number goes on."""

    b: _Segment


class TileAsked3(TileAsked2, frozen=True):
    """The same; the number goes on."""

    c: _Segment


class TileAsked4(TileAsked3, frozen=True):
    """The same; the number goes on."""

    d: _Segment


class Inclusion(msgspec.Struct, frozen=True, rename="camel"):
    """That a message is in the log. Hashes are hex; `index` counts leaves from 0.

    `checkpoint` is the signed note over `size` and `root`, None for a size that has none.
    """

    id: int
    index: int
    size: int
    leaf_hash: str
    proof: tuple[str, ...]
    root: str
    checkpoint: str | None


class Consistency(msgspec.Struct, frozen=True, rename="camel"):
    """That the log of `first` messages is the beginning of that of `second`."""

    first: int
    first_root: str
    second: int
    second_root: str
    proof: tuple[str, ...]
    checkpoint: str | None


class KeptCheckpoint(msgspec.Struct, frozen=True, rename="camel"):
    """A signed checkpoint that is kept; `id` is its size."""

    id: int
    signed_at: str
    note: str


class ShownKey(msgspec.Struct, frozen=True, rename="camel"):
    """A key of the log: `verifier` is what tools for signed notes take.

    `statement` is the note, signed by the key before and by this one, that it took over by.
    """

    public_key: str
    verifier: str
    since: str
    since_size: int
    statement: str | None


class LogKeys(msgspec.Struct, frozen=True, rename="camel"):
    """The name of the log, which checkpoints begin with, and its keys, the present one last."""

    name: str
    keys: tuple[ShownKey, ...]


class LogApi:
    """Reads a database that `refold.trials.log.writer.Log` has opened at least once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @get("/v1/public/checkpoint", summary="Give the newest checkpoint", media_type=NOTE_TYPE)
    def checkpoint(self) -> Answer[bytes]:
        """Give a signed note (C2SP tlog-checkpoint): name, size and root of the log."""
        note = read_inline(self._database, _newest).note
        return Answer(note.encode(), media_type=NOTE_TYPE)

    @get("/v1/public/checkpoints", summary="List kept checkpoints")
    def checkpoints(self, asked: ListAsked, call: Call) -> Page[KeptCheckpoint]:
        """Give the newest checkpoint, the one before, and the last of each UTC day before."""
        place = call.place(asked, tuple[int])
        below = None if place is None else place[0]
        rows = read_inline(
            self._database, lambda connection: Tree(connection).checkpoints(asked.limit + 1, below)
        )
        return call.page(asked, rows, keyset=lambda row: (row.size,), item=_kept)

    @get("/v1/public/log/keys", summary="List the keys of the log")
    def keys(self) -> LogKeys:
        """Give every key that signed checkpoints, and how each took over."""
        rows = read_inline(self._database, lambda connection: Tree(connection).keys())
        if not rows:
            raise _no_log()
        return LogKeys(rows[-1].name, tuple(map(_shown, rows)))

    @get(
        "/v1/public/messages/{id}/proof",
        summary="Prove that a message is in the log",
        codes=("message-unknown", "proof-range"),
    )
    def inclusion(self, asked: ProofAsked) -> Inclusion:
        """Give the path from a message's leaf to the root (RFC 6962)."""
        with self._database.read() as connection:
            tree, newest = Tree(connection), _newest(connection)
            message = Messages(connection).get(asked.id)
            if message is None:
                raise InputError("message-unknown", f"there is no message {asked.id}")
            size = newest.size if asked.size is None else asked.size
            proof = tree.inclusion(message.id, size)
            leaf = (message.id, message.accepted_at, message.digest, message.signature)
            return Inclusion(
                id=message.id,
                index=message.id - 1,
                size=size,
                leaf_hash=hashed_leaf(*leaf).hex(),
                proof=_hex(proof),
                root=tree.root(size).hex(),
                checkpoint=newest.note if size == newest.size else None,
            )

    @get(
        "/v1/public/log/consistency",
        summary="Prove that the log only grew",
        codes=("proof-range",),
        example={"first": 0},
    )
    def consistency(self, asked: ConsistencyAsked) -> Consistency:
        """Give the proof that a smaller tree is the beginning of a larger one (RFC 6962)."""
        with self._database.read() as connection:
            tree, newest = Tree(connection), _newest(connection)
            second = newest.size if asked.second is None else asked.second
            return Consistency(
                first=asked.first,
                first_root=tree.root(asked.first).hex() if asked.first <= second else "",
                second=second,
                second_root=tree.root(second).hex(),
                proof=_hex(tree.consistency(asked.first, second)),
                checkpoint=newest.note if second == newest.size else None,
            )

    @get(
        "/v1/public/tile/{level}/{a}",
        summary="Give a tile of the tree",
        codes=("tile-path", "tile-unknown"),
        media_type=TILE_TYPE,
    )
    def tile(self, asked: TileAsked) -> Answer[bytes]:
        """Give hashes of the tree, or a bundle of leaves (C2SP tlog-tiles)."""
        return self._tile(asked.level, asked.a)

    @get(
        "/v1/public/tile/{level}/{a}/{b}",
        summary="Give a tile of the tree",
        codes=("tile-path", "tile-unknown"),
        media_type=TILE_TYPE,
    )
    def tile_2(self, asked: TileAsked2) -> Answer[bytes]:
        """Give one whose path has two parts after the level, such as 000.p/7."""
        return self._tile(asked.level, asked.a, asked.b)

    @get(
        "/v1/public/tile/{level}/{a}/{b}/{c}",
        summary="Give a tile of the tree",
        codes=("tile-path", "tile-unknown"),
        media_type=TILE_TYPE,
    )
    def tile_3(self, asked: TileAsked3) -> Answer[bytes]:
        """Give one whose path has three parts after the level."""
        return self._tile(asked.level, asked.a, asked.b, asked.c)

    @get(
        "/v1/public/tile/{level}/{a}/{b}/{c}/{d}",
        summary="Give a tile of the tree",
        codes=("tile-path", "tile-unknown"),
        media_type=TILE_TYPE,
    )
    def tile_4(self, asked: TileAsked4) -> Answer[bytes]:
        """Give one whose path has four parts after the level; the log will not outgrow those."""
        return self._tile(asked.level, asked.a, asked.b, asked.c, asked.d)

    def _tile(self, *segments: str) -> Answer[bytes]:
        path = parse_tile_path("/".join(segments))
        found = read_inline(self._database, lambda connection: Tree(connection).tile(path))
        return Answer(found, media_type=TILE_TYPE, cache=FOREVER)


def _newest(connection: Connection) -> SignedCheckpoint:
    newest = Tree(connection).checkpoint()
    if newest is None:
        raise _no_log()
    return newest


def _kept(row: SignedCheckpoint) -> KeptCheckpoint:
    return KeptCheckpoint(row.size, accepted_text(row.signed_at), row.note)


def _shown(row: KeyRow) -> ShownKey:
    return ShownKey(
        public_key=row.public_key,
        verifier=LogKey(row.name, bytes.fromhex(row.public_key)).verifier,
        since=accepted_text(row.since),
        since_size=row.since_size,
        statement=row.statement,
    )


def _hex(hashes: tuple[bytes, ...]) -> tuple[str, ...]:
    return tuple(each.hex() for each in hashes)


def _no_log() -> SourceError:
    return SourceError("log-damaged", "the database has no log", "start the node once")
