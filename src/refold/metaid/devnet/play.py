"""Playing a story on the local chain: each act at its height, by its author, as a real transaction.

Pin ids come from the chain, so a story that cites its own pins has to learn them while it is told:

* a story that is told live asks `Player.act` for each pin and goes on with what it gives;
* a story that was written down before has ids that no chain would give. `play` tells it and puts
  the real ids in the place of the written ones, in payloads and paths alike.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import msgspec

from refold.kernel.errors import UsageError
from refold.metaid.devnet.net import Devnet, Operation
from refold.metaid.wallet import Key

Json = dict[str, object]
Rewrite = Callable[[Json, Mapping[str, str]], Json]

_WORD = re.compile(r"[0-9A-Za-z_-]+")


class Act(msgspec.Struct, frozen=True):
    """A pin of a story that was written down.

    `name` is the id that the story calls it by, "" for none. `author` names a throw-away key.
    `height` is None for a pin that stays in the mempool; heights never fall.
    """

    author: str
    path: str
    payload: bytes | Json
    height: int | None
    name: str = ""
    operation: Operation = "create"


class Placed(msgspec.Struct, frozen=True):
    """Where an act came to stand: its real id, height (None: in the mempool), place in the block.

    The height and place are final when the next block is mined.
    """

    pin_id: str
    height: int | None
    tx_index: int


class Player:
    """Acts on a chain whose mempool is empty; `finish` mines what is still to be mined."""

    def __init__(self, net: Devnet) -> None:
        self._net = net
        self._filling = False

    def act(
        self,
        author: Key,
        path: str,
        payload: bytes | Json,
        height: int | None,
        operation: Operation = "create",
    ) -> Placed:
        """Pin something in the block of a height, which is mined when a later one is asked for.

        None leaves it in the mempool for good. Raises `UsageError` `act-late` for the height of a
        block that is mined.
        """
        if height is None:
            self.finish()
            return Placed(self._net.pin(author, path, payload, operation), None, 0)
        missing = height - 1 - self._net.height
        if missing < 0:
            raise UsageError(
                "act-late",
                f"an act at height {height}, and the tip is at {self._net.height}",
                "play on a new chain, acts in the order of their heights",
            )
        if missing:
            self._mine(missing)
        pin_id = self._net.pin(author, path, payload, operation)
        self._filling = True
        return Placed(pin_id, height, self._net.count_waiting())

    def _mine(self, blocks: int) -> None:
        with self._net.batch():
            self._net.mine(blocks)
        self._filling = False

    def finish(self) -> None:
        """Mine the block that is being filled, if there is anything in it."""
        if self._filling:
            self._mine(1)


def play(
    net: Devnet,
    acts: Iterable[Act],
    *,
    same: Mapping[str, str] | None = None,
    rewrite: Rewrite | None = None,
    key_of: Callable[[str], Key] | None = None,
) -> dict[str, str]:
    """Play a story that was written down; give the real pin id of each name in it.

    `same` maps what else the chain calls otherwise: editors' ids, for example. `rewrite` puts the
    ids in force into a payload, by default `rewritten`; give one that makes hashes of texts anew
    when there are such. `key_of` gives the keys of authors, by default `net.key`.

    What a story draws from its own ids (an arbiter's seat, say) comes out otherwise with other ids:
    tell such a story live, with `Player`.
    """
    player, real = Player(net), dict(same or {})
    change = rewritten if rewrite is None else rewrite
    keys = net.key if key_of is None else key_of
    named: dict[str, str] = {}
    for act in acts:
        payload = act.payload if isinstance(act.payload, bytes) else change(act.payload, real)
        path = _text(act.path, real)
        placed = player.act(keys(act.author), path, payload, act.height, act.operation)
        if act.name:
            real[act.name] = named[act.name] = placed.pin_id
    player.finish()
    return named


def rewritten(payload: Json, real: Mapping[str, str]) -> Json:
    """Put real ids in the place of written ones in every text of a payload.

    A written id is replaced wherever it stands between characters that are not letters, digits,
    hyphens or underscores, so also inside `pin://<id>`. Names of members stay.
    """
    return {name: _value(value, real) for name, value in payload.items()}


def _value(value: object, real: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _text(value, real)
    if isinstance(value, list):
        return [_value(item, real) for item in value]
    if isinstance(value, dict):
        return {name: _value(item, real) for name, item in value.items()}
    return value


def _text(text: str, real: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: real.get(match[0], match[0]), text)
