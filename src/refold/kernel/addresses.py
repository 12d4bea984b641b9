"""Where a request may go: URLs in one strict reading, and addresses that no public server has.

The reading of a URL is narrower than a browser's, so that no two parsers can disagree about its
host: printable ASCII, a host that is a plain name or an address in its usual form, no user, no
spelling of an address that only some libraries know (`0x7f.1`, `127.1`, `2130706433`). What DNS
answers is judged by the same `forbidden_kind`. Source: coverage spec §5.5 R-2; the IANA registries
of special-purpose addresses. Nothing here opens a socket.
"""

import re
from collections.abc import Mapping, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import quote, urlencode, urljoin

import msgspec

from refold.kernel.errors import InputError

__all__ = [
    "LOOPBACK",
    "MAX_URL_LENGTH",
    "PRIVATE",
    "Address",
    "Network",
    "Url",
    "forbidden_kind",
    "join_url",
    "parse_address",
    "parse_url",
    "query_of",
    "quoted",
]

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Longest URL, in characters: what common servers take as a request line.
MAX_URL_LENGTH = 8_192
# Longest part of a URL in an error message, in characters: the reason after it must stay readable.
_MAX_SHOWN = 160

# Networks that a policy may allow by name.
LOOPBACK = ("127.0.0.0/8", "::1/128")
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")

# Printable ASCII but for quotes and angle brackets, which end a URL in text, and the backslash,
# which browsers read as a slash.
_CHARACTERS = re.compile(r"[!#-;=?-\[\]-~]+")
_URL = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE)
_ABSOLUTE = re.compile("[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
# Underscores are no letters of host names, but names of containers have them.
_LABEL = re.compile("[0-9a-z_](?:[0-9a-z_-]{0,61}[0-9a-z_])?")
# A last label like this makes some libraries read the whole name as an IPv4 address.
_NUMERIC = re.compile("[0-9]+|0x[0-9a-f]*")
_MAX_HOST_LENGTH = 253  # RFC 1035 §2.3.4, without the final dot
_PORTS = {"http": 80, "https": 443}

_GLOBAL_V6 = IPv6Network("2000::/3")
# IPv6 addresses of which the last 32 bits are the IPv4 address that packets go to.
_CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))
_LAST_32_BITS = 0xFFFF_FFFF

_FORBIDDEN: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared (carrier-grade NAT)"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud platform's"),  # looks public, answers inside Azure only
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol-assignment"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "IPv4-compatible"),
        ("::ffff:0:0/96", "IPv4-mapped"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "NAT64"),
        ("100::/64", "discard-only"),
        ("2001::/23", "protocol-assignment (Teredo, ORCHID, benchmarking)"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "unique-local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)


class Url(msgspec.Struct, frozen=True):
    """A URL to fetch. `host` is lower case, an IPv6 address without brackets in its short form.

    `target` is path and query as they were written, at least "/"; a fragment is never sent, so it
    is not kept. Made by `parse_url` only.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and, unless the scheme implies it, port: what a Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port; two URLs are of one origin if and only if these texts are."""
        return f"{self.scheme}://{self.authority}"

    @property
    def shown(self) -> str:
        """Origin and path for messages, shortened: queries may hold what is not for a log."""
        text = self.origin + self.target.partition("?")[0]
        return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"

    def __str__(self) -> str:
        return self.origin + self.target


def parse_url(text: str) -> Url:
    """Give the URL that `text` is; raises InputError `url-invalid`, which does not quote it.

    Only http and https. Not checked: whether its host may be dialled, nor the path's `%` escapes.
    """
    _check_characters(text)
    parts = _URL.fullmatch(text)
    if parts is None:
        raise _invalid("it is no http or https URL", "write it as https://host/path")
    scheme, authority, target = parts[1].lower(), parts[2], parts[3]
    if "@" in authority:
        raise _invalid("it names a user", "leave out what stands before the @")
    place = _AUTHORITY.fullmatch(authority)
    if place is None:
        raise _invalid("its host or port is malformed", "write it as https://host:port/path")
    port = _PORTS[scheme] if place[2] is None else int(place[2])
    if not 0 < port < 1 << 16:
        raise _invalid("its port is not between 1 and 65535", "correct the port")
    return Url(scheme, _host(place[1].lower()), port, target if target[:1] == "/" else f"/{target}")


def join_url(base: Url, reference: str) -> Url:
    """Give the URL that `reference` means in an answer from `base` (RFC 3986 §5.2).

    Raises InputError `url-invalid`. The result may be of another origin: compare before dialling.
    """
    _check_characters(reference)
    if _ABSOLUTE.match(reference):
        return parse_url(reference)
    if reference.startswith("//"):
        return parse_url(f"{base.scheme}:{reference}")
    # Joined to the whole base: urljoin("/../", ".evil") is ".evil", the end of another host.
    return parse_url(urljoin(str(base), reference))


def query_of(members: Mapping[str, str]) -> str:
    """Give the query `a=1&b=%26` that says `members`; all but unreserved letters are encoded."""
    return urlencode(members, quote_via=quote, safe="")


def quoted(text: str) -> str:
    """Give `text` as one step of a path: all but unreserved letters are encoded."""
    return quote(text, safe="")


def parse_address(text: str) -> Address | None:
    """Give the address that `text` is in its usual form, without zone; None if it is none."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def forbidden_kind(address: Address, allowed: Sequence[Network] = ()) -> str:
    """Give what kind of address makes `address` forbidden ("private", …), or "" if it is not.

    Forbidden is what IANA reserves, and all IPv6 outside of 2000::/3. Each network in `allowed` is
    an exception; a NAT64 or IPv4-mapped address in it is still judged by its IPv4 address.
    """
    if any(address in network for network in allowed):
        if any(address in carrier for carrier in _CARRIERS):
            return forbidden_kind(IPv4Address(int(address) & _LAST_32_BITS), allowed)
        return ""
    for network, kind in _FORBIDDEN:
        if address in network:
            return kind
    return "unassigned" if address.version == 6 and address not in _GLOBAL_V6 else ""


def _check_characters(text: str) -> None:
    if len(text) > MAX_URL_LENGTH:
        raise _invalid(f"it is longer than {MAX_URL_LENGTH} characters", "shorten it")
    if _CHARACTERS.fullmatch(text) is None:
        raise _invalid(
            "it is empty or has spaces, controls, quotes, backslashes or non-ASCII characters",
            "percent-encode them, and write host names in their xn-- form",
        )


def _host(text: str) -> str:
    """Give the host in its one form; `text` is lower case and of the characters of _AUTHORITY."""
    if text.startswith("["):
        address = parse_address(text[1:-1])
        if address is None or address.version != 6:
            raise _invalid("its host is no IPv6 address", "correct the address")
        return str(address)
    labels = text.split(".")
    if len(text) > _MAX_HOST_LENGTH or not all(map(_LABEL.fullmatch, labels)):
        raise _invalid("its host is no host name", "leave out empty labels and final dots")
    if _NUMERIC.fullmatch(labels[-1]) and parse_address(text) is None:
        raise _invalid("its host is an address in an unusual form", "write it as 192.0.2.7")
    return text


def _invalid(why: str, remedy: str) -> InputError:
    return InputError("url-invalid", f"the URL cannot be fetched: {why}", remedy)
