"""Targets: which URLs a trial may name, and which service each one is counted under.

The host is read as browsers do (UTS 46, non-transitional; labels by IDNA 2008), then everything is
looked at again in what came out: full-width digits make addresses too. What DNS answers is not
asked, the node fetches nothing; reporters look before they connect. Source: cold trials spec §1,
trial-v1; facts D4.
"""

import re
from typing import Final

import idna
import msgspec

from refold.kernel.addresses import Url, forbidden_kind, parse_address, parse_url, quoted
from refold.kernel.errors import InputError
from refold.trials.codes import Fault, fault
from refold.trials.sites import SITES, Site, site_of

__all__ = [
    "EXAMPLE_NAMES",
    "LOCAL_NAMES",
    "Target",
    "WrongUrlError",
    "read_target",
    "read_url",
    "split_repository",
]

LOCAL_NAMES: Final = (
    *("localhost", "local", "internal", "home.arpa", "test", "invalid", "example", "onion", "lan"),
    # Never delegated, and in use on local networks.
    *("localdomain", "intranet", "corp", "home", "private"),
)
"""Names that mean nothing, or something else to everyone, on the public internet; with all below
them."""
EXAMPLE_NAMES: Final = ("example.com", "example.net", "example.org")
"""Names of documentation: templates and previews use them."""

_URL = re.compile("([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_PLACE = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(:[0-9]{1,5})?")
# What parsers drop, end at or take for a slash; surrogates cannot be encoded.
_UNREAD = re.compile(
    "[\\x00-\\x20\\x7f-\\xa0\\\\\\u1680\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff"
    "\\ud800-\\udfff]"
)
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_LABEL = re.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMERIC = re.compile("[0-9]+|0[xX][0-9a-fA-F]*")
_NAME = re.compile("[A-Za-z0-9_][A-Za-z0-9._-]*")
# Longer hosts are no names, and mapping them costs time.
_MAX_HOST = 1_000
_MAX_NAME = 253  # RFC 1035 §2.3.4, without the final dot
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


class Target(msgspec.Struct, frozen=True):
    """A target that may be posted.

    `site` is the shared host that it is on, and `repository` the segments that name the repository
    there; both are empty elsewhere. `service` is what it is counted under: host, port if it is not
    the usual one, and repository.
    """

    url: Url
    site: Site | None
    repository: tuple[str, ...]

    @property
    def service(self) -> str:
        """The key of the service, in lower case where the host ignores case."""
        if self.site is None:
            return self.url.authority
        key = "/".join((self.site.host, *self.repository))
        return key.lower() if self.site.ignores_case else key


class WrongUrlError(Exception):
    """A URL cannot be used: the code, what is wrong, and what to do; "" for the code's words."""

    def __init__(self, code: str, detail: str = "", hint: str = "") -> None:
        super().__init__(code, detail, hint)
        self.code, self.detail, self.hint = code, detail, hint

    def fault(self, field: str, line: int | None) -> Fault:
        """Give the same as a fault of a field."""
        return fault(self.code, self.detail, self.hint, line=line, field=field)


def read_target(text: str, sites: tuple[Site, ...] = SITES, *, preview: bool = False) -> Target:
    """Give the target that `text` names; raises WrongUrlError."""
    url = read_url(text, preview=preview)
    site = site_of(url.host, sites)
    if site is None:
        return Target(url, None, ())
    repository, _ = split_repository(site, url)
    if not repository:
        raise WrongUrlError(
            "target_repository", f"On {site.host} the target names an owner and a repository."
        )
    return Target(url, site, repository)


def read_url(text: str, *, preview: bool = False) -> Url:
    """Give the URL of a public place that `text` names, its host in ASCII; raises WrongUrlError.

    Letters beyond ASCII in path and query are percent-encoded as UTF-8. With `preview` the names
    of examples pass.
    """
    if _UNREAD.search(text):
        raise WrongUrlError("url_form", "The URL has a space, a control or a backslash.")
    parts = _URL.fullmatch(text)
    if parts is None:
        raise WrongUrlError("url_form", "It is no URL: scheme, ://, host, path.")
    scheme, authority, rest = parts[1].lower(), parts[2], parts[3]
    if scheme not in {"https", "http"}:
        raise WrongUrlError("url_scheme")
    if "@" in authority:
        raise WrongUrlError("url_user")
    if "#" in rest:
        raise WrongUrlError("url_fragment")
    place = _PLACE.fullmatch(authority)
    if place is None:
        raise WrongUrlError("host_form", "The host or the port is malformed.")
    host = _host(place[1], preview=preview)
    rest = "".join(char if char.isascii() else quoted(char) for char in rest)
    try:
        return parse_url(f"{scheme}://{host}{place[2] or ''}{rest}")
    except InputError as error:
        raise WrongUrlError(
            "url_form", f"{error.message[:1].upper()}{error.message[1:]}."
        ) from None


def segments_of(url: Url) -> tuple[str, ...]:
    """Give the segments of the path of `url`, decoded once, `.` and `..` resolved.

    Raises WrongUrlError where servers differ: empty segments but a last one, escapes that are
    broken, are no UTF-8, or hide a slash, a backslash, a control or another escape.
    """
    *firsts, last = url.target.partition("?")[0].split("/")[1:]
    if "" in firsts:
        raise WrongUrlError("url_form", "The path has two slashes in a row.")
    resolved: list[str] = []
    for raw in (*firsts, last):
        segment = _decoded(raw)
        if segment == "..":
            del resolved[-1:]
        elif segment not in {"", "."}:
            resolved.append(segment)
    return tuple(resolved)


def split_repository(site: Site, url: Url) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the segments that name a repository of `site`, and those after them.

    The first are empty if `url` names no repository. Raises WrongUrlError as `segments_of`.
    """
    segments = segments_of(url)
    if site.nested:
        size = segments.index("-") if "-" in segments else len(segments)
    else:
        size = 2 + (segments[:1] in {(prefix,) for prefix in site.prefixes})
    repository = segments[:size]
    if len(repository) < max(2, 0 if site.nested else size):
        return (), segments
    if not all(map(_NAME.fullmatch, repository)):
        return (), segments
    *owner, name = repository
    return (*owner, name.removesuffix(".git") or name), segments[size:]


def _decoded(segment: str) -> str:
    """Give a segment with its escapes decoded, once."""
    if "%" not in segment:
        return segment
    raw = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), segment)
    try:
        text = raw.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise WrongUrlError("url_form", "The path has an escape that is no UTF-8.") from None
    if "%" in text or "/" in text or _CONTROL.search(text):
        raise WrongUrlError("url_form", "The path hides a slash, a control or an escape.")
    return text


def _host(text: str, *, preview: bool) -> str:
    """Give the host in its one ASCII form; raises WrongUrlError if it is not public."""
    if text.startswith("["):
        return _ipv6(text)
    if len(text) > _MAX_HOST or "%" in text:
        raise WrongUrlError("host_form")
    try:
        mapped = text.lower() if text.isascii() else idna.uts46_remap(text, std3_rules=True)
    except idna.IDNAError:
        raise WrongUrlError("host_unicode") from None
    name = mapped.removesuffix(".")
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]):
        return _ipv4(name)
    host = ".".join(map(_label, labels))
    if len(host) > _MAX_NAME:
        raise WrongUrlError("host_form", f"The host is longer than {_MAX_NAME} characters.")
    if len(labels) == 1:
        raise WrongUrlError("host_local", "The host is a single word, which only local names are.")
    for local in LOCAL_NAMES:
        if f".{host}".endswith(f".{local}"):
            raise WrongUrlError("host_local", f"Names under {local} are not public.")
    if not preview and any(f".{host}".endswith(f".{name}") for name in EXAMPLE_NAMES):
        raise WrongUrlError("host_example")
    return host


def _label(label: str) -> str:
    if label.isascii() and not label.startswith("xn--"):
        if _LABEL.fullmatch(label) is None:
            raise WrongUrlError("host_form")
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise WrongUrlError("host_unicode") from None


def _ipv4(text: str) -> str:
    """Give an IPv4 address; `text` ends in what some libraries take for a number."""
    address = parse_address(text)
    if address is None:
        raise WrongUrlError("host_spelling")
    if kind := forbidden_kind(address):
        raise WrongUrlError("host_private", f"The host is an address of kind: {kind}.")
    return text


def _ipv6(text: str) -> str:
    address = parse_address(text[1:-1])  # which refuses zones
    if address is None or address.version != 6:
        raise WrongUrlError("host_form", "The host is no IPv6 address, or names a zone.")
    if kind := forbidden_kind(address):
        raise WrongUrlError("host_private", f"The host is an address of kind: {kind}.")
    if text.lower() != f"[{address}]":
        raise WrongUrlError("host_spelling", hint=f"Write [{address}].")
    return text.lower()
