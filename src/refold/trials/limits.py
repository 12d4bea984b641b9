"""Limits on how often something may be done, per key and per network. Pure: the time is handed in.

Each limit is a bucket: so many at once, filled up again evenly over its period. What is refused
takes nothing out, so trying meanwhile makes nobody wait longer. A key's own limits count only what
it signed; before a signature fits, the network that asks is what counts. Source: cold trials
spec §2.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, Literal

import msgspec

__all__ = ["MAX_BITS", "MAX_TRACKED", "RATES", "Excess", "Rate", "Rates", "network_of"]

MAX_TRACKED: Final = 100_000
"""Keys and networks that one limit keeps in mind; beyond it those that wait longest are let off."""
MAX_BITS: Final = 32
"""Zero bits of the proof of work at most: some 4 * 10⁹ hashes, an hour of one processor."""
IPV6_PREFIX: Final = 64
"""Bits of an IPv6 address that name a network: the usual size of what one customer is given."""

Who = Literal["key", "network"]


class Rate(msgspec.Struct, frozen=True):
    """One limit: `count` in `seconds`, for each key or network. A count of 0 is no limit.

    `setting` is the name of the setting that changes the count.
    """

    id: str
    who: Who
    count: int
    seconds: int
    says: str
    reason: str

    @property
    def setting(self) -> str:
        """The name of its setting."""
        return f"trials_limit_{self.id.replace('.', '_')}"

    @property
    def shown(self) -> str:
        """The limit in words, as in "30 in 60 seconds for a key"."""
        return f"{self.count} in {self.seconds:,} seconds for a {self.who}"


RATES: Final[tuple[Rate, ...]] = (
    Rate("posts.minute", "key", 30, 60, "posts accepted", "a person reads no more of one key"),
    Rate("posts.day", "key", 1_000, 86_400, "posts accepted", "a busy publisher needs a tenth"),
    Rate(
        *("refused.ten_minutes", "network", 120, 600, "posts refused"),
        "each costs a search for what was signed wrongly; many agents may share an address",
    ),
    Rate(
        *("previews.minute", "network", 60, 60, "previews"),
        "as many as posts, for several agents behind one address",
    ),
    Rate(
        *("challenges.ten_minutes", "network", 60, 600, "challenges started"),
        "an agent needs one for good",
    ),
    Rate(
        *("answers.ten_minutes", "network", 60, 600, "challenges answered"),
        "each wrong answer burns a challenge, and is kept until that expires",
    ),
)
"""Every limit with its default. Those of keys are looked at in this order."""


class Excess(msgspec.Struct, frozen=True):
    """A limit that was reached, and the whole seconds (from 1) after which one more is free."""

    rate: Rate
    seconds: int


class Rates:
    """All limits, and what was used of them. For one thread.

    `counts` are other counts than the defaults, by id.
    """

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        given = counts or {}
        self.rates = {
            rate.id: msgspec.structs.replace(rate, count=given.get(rate.id, rate.count))
            for rate in RATES
        }
        # The time at which a bucket is full again; absent when it is.
        self._full: dict[str, dict[str, float]] = {name: {} for name in self.rates}

    def take(self, ids: Iterable[str], who: str, now: float) -> Excess | None:
        """Take one of each limit for a key or network, at a time in seconds of any steady clock.

        Gives None, or the limit that makes wait longest; then nothing was taken of any.
        """
        wanted = [self.rates[name] for name in ids if self.rates[name].count]
        excesses = [found for rate in wanted if (found := self._excess(rate, who, now)) is not None]
        if excesses:
            return max(excesses, key=lambda found: found.seconds)
        for rate in wanted:
            full = self._full[rate.id]
            if len(full) >= MAX_TRACKED and who not in full:
                self._forget(full, now)
            # Taken out and put back at the end, so that the first are those not seen for longest.
            full[who] = max(full.pop(who, now), now) + rate.seconds / rate.count
        return None

    def excess(self, id_: str, who: str, now: float) -> Excess | None:
        """Give the limit if one more would be refused; takes nothing."""
        return self._excess(self.rates[id_], who, now)

    def give_back(self, ids: Iterable[str], who: str) -> None:
        """Put back what was taken for something that did not happen."""
        for rate in (self.rates[name] for name in ids if self.rates[name].count):
            if who in self._full[rate.id]:
                self._full[rate.id][who] -= rate.seconds / rate.count

    def _excess(self, rate: Rate, who: str, now: float) -> Excess | None:
        full = self._full[rate.id].get(who)
        if full is None or not rate.count:
            return None
        # One more has room if the bucket would not take longer than its period to fill.
        wait = full + rate.seconds / rate.count - rate.seconds - now
        return Excess(rate, max(1, math.ceil(wait))) if wait > rate.seconds * 1e-9 else None

    @staticmethod
    def _forget(full: dict[str, float], now: float) -> None:
        """Make room: for what is full again, else for a tenth, the longest unseen."""
        for who in [who for who, until in full.items() if until <= now]:
            del full[who]
        if len(full) >= MAX_TRACKED:
            for who in list(full)[: MAX_TRACKED // 10]:
                del full[who]


@lru_cache(maxsize=4_096)  # each post asks twice, and many come from the same
def network_of(address: str) -> str:
    """Give the network that an address stands for: itself for IPv4, its /64 for IPv6.

    An IPv4 address written as IPv6 is that IPv4 address; what is no address stands for itself.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        kept = int(found) >> (128 - IPV6_PREFIX) << (128 - IPV6_PREFIX)
        return f"{IPv6Address(kept)}/{IPV6_PREFIX}"
    return str(found)
