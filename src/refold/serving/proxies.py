"""Who asks, where proxies stand in between: forwarded headers count from named networks only."""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from refold.kernel.errors import UsageError

__all__ = ["Proxies"]

_MAX_HOPS = 20
"""Addresses of X-Forwarded-For that are looked at, from the right."""


class Proxies:
    """The networks whose word is taken.

    `networks` are in CIDR. Raises UsageError `server-proxies` for what is none.
    """

    def __init__(self, networks: Iterable[str]) -> None:
        found = []
        for text in networks:
            try:
                found.append(ip_network(text))
            except ValueError as error:
                raise UsageError(
                    "server-proxies",
                    f"trusted_proxies: {text!r} is no network ({error})",
                    "give addresses or networks, as in 127.0.0.1, 10.0.0.0/8",
                ) from error
        self._networks: Sequence[IPv4Network | IPv6Network] = found

    def trusts(self, address: str) -> bool:
        """Tell whether this address is one of our proxies."""
        if not self._networks:
            return False
        try:
            ip = ip_address(address)
        except ValueError:
            return False
        return any(ip in network for network in self._networks)

    def client(self, peer: str, forwarded_for: str) -> str:
        """Give the address of whoever asks.

        `peer` is the other end of the connection. From the right of X-Forwarded-For the first
        address that is no proxy of ours is taken: what stands left of it is the client's own word.
        Where an address cannot be read, the last one that could be is given.
        """
        client = peer
        hops = [hop.strip() for hop in forwarded_for.split(",")[-_MAX_HOPS:]]
        while self.trusts(client) and hops:
            try:
                client = str(ip_address(hops.pop()))
            except ValueError:
                break
        return client
