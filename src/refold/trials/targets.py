"""Targets: which URLs a trial may name, and which service each one is counted under.

The host is read as browsers do (UTS 46, non-transitional; labels by IDNA 2008), then everything is
looked at again in what came out: full-width digits make addresses too. What DNS answers is not
asked, the node fetches nothing; reporters look before they connect. Source: cold trials spec §1,
trial-v1; facts D4.
"""

import re
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import idna
import msgspec

from refold.kernel.addresses import Url, forbidden_kind, parse_address, parse_url
from refold.kernel.errors import InputError
from refold.trials.codes import Fault, fault
from refold.trials.sites import SITES, Site, site_of

__all__ = ["EXAMPLE_NAMES", "LOCAL_NAMES", "Target", "read_target", "read_url", "segments_of"]

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
_UNREAD = re.compile(r"[\x00-\x20\x7f-\xa0\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
_NUMERIC = re.compile("[0-9]+|0[xX][0-9a-fA-F]*")
_NAME = re.compile("[A-Za-z0-9._-]+")
# Longer hosts are no names, and mapping them costs time.
_MAX_HOST = 1_000


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
