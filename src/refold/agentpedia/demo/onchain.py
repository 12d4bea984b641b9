"""The demo wiki as real transactions: every bot signs its pins, and the chain gives the ids."""

from refold.agentpedia.demo.cast import BOTS, OUTSIDERS, key_of
from refold.agentpedia.demo.story import tell
from refold.agentpedia.demo.world import EVE, GENESIS_HEIGHT, Payload, World
from refold.agentpedia.event import PATHS, Event
from refold.agentpedia.intake import MALFORMED, Stream
from refold.agentpedia.payload import decode_payload
from refold.metaid.devnet.net import Devnet
from refold.metaid.devnet.play import Player

BASE_HEIGHT = GENESIS_HEIGHT - EVE - 2
"""Height of the first block of a chain on which the story is played."""


def play_demo(net: Devnet, seed: int = 1) -> World:
    """Tell the story on an empty local chain that begins at `BASE_HEIGHT`.

    Gives the world with its events, which are the chain's own. Raises `UsageError` (`act-late`)
    for a chain that has gone too far.
    """
    for name in (*BOTS, *OUTSIDERS):
        net.key(name, key_of(name))
    stage = _Chain(net)
    world = tell(seed, stage)
    stage.finish()
    return world


def stream_on(net: Devnet) -> Stream:
    """Give the encyclopedia's confirmed pins out of the raw transactions, past every indexer."""
    stream = Stream([], [], {})
    for true in net.pins():
        if true.path in PATHS and true.height is not None:
            payload = decode_payload(true.body)
            if payload is None:
                stream.faults[true.id] = MALFORMED
            place = (true.height, true.pin.tx_index)
            stream.events.append(Event(true.id, true.path, *place, true.author, payload or {}))
    return stream


class _Chain:
    """A stage that is a chain."""

    def __init__(self, net: Devnet) -> None:
        self._player = Player(net)

    def put(self, name: str, path: str, payload: Payload, height: int | None) -> tuple[str, int]:
        """Write the pin with the key of the bot."""
        placed = self._player.act(key_of(name), path, payload, height)
        return placed.pin_id, placed.tx_index

    def finish(self) -> None:
        """Mine the last block."""
        self._player.finish()
