"""Kept connections: used again, for their own origin only, and never more than there may be."""

from contextlib import ExitStack
from threading import Semaphore

from kernel.hostile import Peer, http, serving
from refold.kernel.addresses import LOOPBACK
from refold.kernel.fetch import MAX_CONNECTIONS, GuardedClient
from refold.kernel.policy import FetchPolicy

HOME = FetchPolicy(allowed_networks=LOOPBACK, retry_wait=0, max_seconds_idle=10)
MORE = 3


def test_connections_to_many_origins_are_bounded_and_the_oldest_is_closed() -> None:
    """One origin too many costs the connection that nobody used for the longest time."""
    closed = Semaphore(0)

    def script(peer: Peer) -> None:
        while peer.request():
            peer.send(http(str(peer.sock.getsockname()[1]).encode()))
        closed.release()

    with ExitStack() as stack:
        client = stack.enter_context(GuardedClient(HOME))
        servers = [stack.enter_context(serving(script)) for _ in range(MAX_CONNECTIONS + MORE)]
        for server in servers:
            assert client.get(f"{server.origin}/").body == str(server.port).encode()
        for _ in range(MORE):
            assert closed.acquire(timeout=10)
        assert not closed.acquire(blocking=False)
        kept = servers[-1]
        assert client.get(f"{kept.origin}/").body == str(kept.port).encode()
        assert kept.connections == 1
        first = servers[0]
        assert client.get(f"{first.origin}/").body == str(first.port).encode()
        assert first.connections == 2


def test_a_closed_client_may_be_used_again() -> None:
    def script(peer: Peer) -> None:
        while peer.request():
            peer.send(http(b"x"))

    with serving(script) as server:
        client = GuardedClient(HOME)
        for _ in range(2):
            assert client.get(f"{server.origin}/").body == b"x"
            client.close()
        assert server.connections == 2
