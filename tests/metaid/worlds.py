"""A small chain with everything on it that makes lists hard to read, and a client that reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from refold.kernel.addresses import LOOPBACK
from refold.kernel.fetch import GuardedClient
from refold.kernel.policy import FetchPolicy
from refold.metaid.devnet.net import Devnet
from refold.metaid.man.bodies import Bodies
from refold.metaid.man.client import ManClient
from refold.metaid.man.overlap import Place
from refold.metaid.man.report import WalkReport
from refold.metaid.man.walk import Walk
from refold.metaid.pin import Pin
from refold.metaid.rawtx import RawTxs

PATH = "/protocols/agentpedia/rev"
OTHER = "/protocols/simplenote"
BODIES = (
    b'{"n":1}',
    ("灯塔" * 1_000).encode(),  # 6,000 bytes: cut at 4,096, inside a letter
    b"\xff\x00 no text",
    b"x" * 4_096 + "灯".encode(),
    b"",
    ('{"text":"\ufffd' + "y" * 200 + '"}').encode(),
)

Truth = dict[str, tuple[int | None, int, bytes]]
"""What stands where: height, place in the block, first body."""


class World:
    """The chain `net`, served at `url`, and a guarded client for it."""

    def __init__(self, net: Devnet, url: str, transport: GuardedClient) -> None:
        self.net = net
        self.url = url
        self.transport = transport
        self.ids: list[str] = []
        self.keys = [net.key(name) for name in ("alice", "bob", "carol")]

    def man(self, **options: Any) -> ManClient:
        return ManClient(self.transport, self.url, sleep=lambda _seconds: None, **options)

    def txs(self) -> RawTxs:
        return RawTxs(self.transport, f"{self.url}/open-api-mvc")

    def write(self, count: int, start: int = 0) -> list[str]:
        """Pin a number of revisions into the mempool."""
        with self.net.batch():
            return [
                self.net.pin(self.keys[n % 3], PATH, BODIES[n % len(BODIES)] + b" " * (n % 7))
                for n in range(start, start + count)
            ]

    def walk(
        self, *, size: int = 7, txs: bool = False, **options: Any
    ) -> tuple[dict[str, Pin], WalkReport]:
        man = self.man()
        bodies = Bodies(man, self.txs() if txs else None)
        going = Walk(man, PATH, size=size, bodies=bodies, **options)
        pins = {pin.id: pin for page in going for pin in page.pins}
        return pins, going.report()

    def truth(self) -> Truth:
        return {
            pin.id: (pin.height, pin.pin.tx_index, pin.body)
            for pin in (*self.net.pins(PATH), *self.net.waiting(PATH))
        }


def settled(truth: Truth) -> Truth:
    """Give what stands in blocks."""
    return {name: entry for name, entry in truth.items() if entry[0] is not None}


def seen(pins: dict[str, Pin]) -> Truth:
    return {
        pin.id: (pin.height, 0 if pin.height is None else pin.tx_index, pin.body)
        for pin in pins.values()
    }


def place(pin: Pin) -> Place:
    return Place(pin.height, 0 if pin.height is None else pin.tx_index)


@contextmanager
def world(*, base_height: int = 1_000, **policy: Any) -> Iterator[World]:
    """Give an empty chain that is served, and a client without waits."""
    options = {"allowed_networks": LOOPBACK, "retry_wait": 0.0} | policy
    with (
        Devnet(base_height=base_height) as net,
        net.serve() as url,
        GuardedClient(msgspec.convert(options, FetchPolicy)) as transport,
    ):
        yield World(net, url, transport)


def populate(here: World, blocks: int = 8) -> list[str]:
    """Write revisions over some blocks, change some of them, and leave some in the mempool."""
    net, (alice, bob, carol) = here.net, here.keys
    ids: list[str] = []
    for block in range(blocks):
        ids += here.write(6 + block % 5, start=len(ids))
        with net.batch():
            net.pin(carol, OTHER, b"of another path")
            if block == 4:
                net.pin(bob, f"@{ids[0]}", b"bob says so", "modify")
                net.pin(alice, f"@{ids[0]}", b"alice says so", "modify")
                net.pin(bob, f"@{ids[1]}", b"", "revoke")
                net.pin(carol, f"@{ids[2]}", b"short", "modify")
                net.pin(carol, f"@{ids[2]}", b"", "revoke")
                net.pin(carol, f"@{ids[3]}", ("z" * 9_000).encode(), "modify")
        net.mine(order="shuffled" if block % 2 else "arrival")
    here.write(5, start=len(ids))
    return ids
