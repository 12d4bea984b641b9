"""What the guarded client may do: its policy, and what the policy and a caller may say at all.

Source: coverage spec §5.5 R-2 to R-4.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from ipaddress import ip_network
from types import MappingProxyType

import msgspec

from refold.kernel.addresses import Network, Url, parse_address, parse_url
from refold.kernel.errors import InputError, UsageError

__all__ = [
    "HEADERS",
    "NO_HEADERS",
    "OWN_HEADERS",
    "FetchPolicy",
    "check_header",
    "check_scheme",
    "mapped_origins",
    "networks",
]

# The headers that a caller may give. Others are ours (Host, Accept-Encoding, …), are secrets
# (Cookie, Authorization), or ask for a part that could pass for the whole (Range).
HEADERS = frozenset(
    {"accept", "accept-language", "cache-control", "if-modified-since", "if-none-match"}
)

# Those that are ours and have a value that a caller names.
OWN_HEADERS = frozenset({"content-type", "user-agent"})
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_VALUE = re.compile("[!-~](?:[ -~]*[!-~])?")


class FetchPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may do, and how much of it: seconds and bytes are upper limits.

    `allowed_networks` (LOOPBACK, PRIVATE, any in CIDR form) are exceptions from what is forbidden;
    they hold for every URL, so a client for URLs of strangers has none. `http_hosts` may be asked
    without TLS, besides loopback. With `origin_map` an origin is asked under its own name but at
    another origin, of a literal address, which needs no other permission:
    `{"https://api.example.test": "http://127.0.0.1:8000"}`.
    """

    allowed_networks: tuple[str, ...] = ()
    http_hosts: tuple[str, ...] = ()
    origin_map: Mapping[str, str] = MappingProxyType({})
    user_agent: str = "refold"
    # Of a body, decoded: R-3 reads 32 MiB a page.
    max_bytes: int = 32 * 1024 * 1024
    # Of a call with its retries: all attempts, and one wait of the length a server may ask for.
    max_seconds_total: float = 180.0
    # Of an attempt with its redirects: R-3 gives a request 30 s.
    max_seconds_attempt: float = 30.0
    # Of DNS, of a TCP handshake, of a TLS handshake: each takes under a second when it works.
    max_seconds_connect: float = 10.0
    # Without a byte: slow public indexers begin to answer after 10 s.
    max_seconds_idle: float = 15.0
    # Of an attempt, all within the origin: R-2.
    max_redirects: int = 3
    # After the first attempt: R-4.
    retries: int = 3
    # Seconds before the first retry; then twice as many each time, plus up to as many at random.
    retry_wait: float = 0.5
    # Seconds that a server may ask for: R-4. One that asks for more is not asked again.
    max_retry_after: float = 60.0


def check_scheme(url: Url, http_hosts: Sequence[str]) -> None:
    """Refuse plain http but to `http_hosts` and loopback: raises InputError `scheme-forbidden`.

    That "localhost" is loopback is checked when its address is judged.
    """
    if url.scheme == "https" or url.host == "localhost" or url.host in http_hosts:
        return
    address = parse_address(url.host)
    if address is None or not address.is_loopback:
        raise InputError(
            "scheme-forbidden",
            f"{url.shown}: plain http is only for loopback",
            "use https, or allow plain http to this host",
        )


def check_header(name: str, value: str, names: Container[str] = HEADERS) -> None:
    """Refuse a header that is none of `names`, or whose value is empty or not printable ASCII.

    Raises UsageError `fetch-header`.
    """
    if name.lower() not in names:
        raise UsageError("fetch-header", f"header {name} may not be given", "leave it out")
    if _VALUE.fullmatch(value) is None:
        raise UsageError(
            "fetch-header", f"the value of header {name} is not printable ASCII", "correct it"
        )


def networks(texts: Sequence[str]) -> list[Network]:
    """Give the networks that `texts` name; raises UsageError `fetch-policy`."""
    try:
        return [ip_network(text) for text in texts]
    except ValueError as error:
        raise UsageError("fetch-policy", str(error), "write a network as 10.0.0.0/8") from error


def mapped_origins(origin_map: Mapping[str, str]) -> Iterator[tuple[Url, Url]]:
    """Give the pairs of `origin_map`, read; raises UsageError `fetch-policy`."""
    for pair in origin_map.items():
        try:
            public, mapped = map(parse_url, pair)
        except InputError as error:
            raise UsageError("fetch-policy", error.message, "map origins to origins") from error
        if public.target != "/" or mapped.target != "/" or parse_address(mapped.host) is None:
            raise UsageError(
                "fetch-policy",
                f"{public.shown} is mapped to {mapped.shown}",
                "map an origin without path to one of a literal address",
            )
        yield public, mapped
