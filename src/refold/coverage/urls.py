"""URLs in records: what F-14, F-16a and F-43 allow, and the query parameters that R-5 looks at.

`refold.kernel.addresses.parse_url` reads them; it takes only what no two parsers read differently.
"""

import re
from encodings import idna

from refold.coverage.record import MAX_LOCATOR, MAX_URL
from refold.kernel.addresses import parse_url
from refold.kernel.errors import InputError

__all__ = ["Parameter", "is_origin", "normal_locator", "parameters_of", "secrets_in", "url_fault"]

Parameter = tuple[str, str]

_SECRETS = frozenset(
    {
        *("token", "access_token", "api_key", "apikey", "key", "sig", "signature", "auth"),
        *("password", "expires"),
    }
)
"""Names of credentials (C-18), in lower case; the se, sp and sv of Azure come with sig."""
_SECRET_PREFIXES = ("x-amz-", "x-goog-")

_ENCODED = re.compile("%([0-9A-Fa-f]{2})")
_LABEL = re.compile("local:[a-z0-9][a-z0-9._-]{0,63}")
_ORIGIN = re.compile("https://[^/?#@]+")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")  # those of IDNA (RFC 3490 §3.1)
_REMOTE = re.compile("https://([^/?#@:]+)(?::443)?/?", re.IGNORECASE)


def url_fault(url: str) -> str:
    """Say in a few words why `url` is no replay.url (F-14), "" if it is one; secrets are apart."""
    if "#" in url:
        return "it has a fragment"
    if not url.startswith("https://"):
        return "it does not start with https://"
    if len(url) > MAX_URL:
        return ""  # E_LENGTH says so
    try:
        parse_url(url)
    except InputError as error:
        return error.message
    return ""


def is_origin(url: str) -> bool:
    """Tell whether `url` is a bare https origin: a host, perhaps a port, nothing else (F-16a)."""
    return _ORIGIN.fullmatch(url) is not None and not url_fault(url)


def parameters_of(url: str) -> tuple[Parameter, ...]:
    """Give the query parameters of a URL: names in lower case, both decoded, in their order.

    `&` and `;` both divide, as servers differ on them.
    """
    _, _, query = url.partition("#")[0].partition("?")
    pairs = (part.partition("=") for part in re.split("[&;]", query) if part)
    return tuple((_decoded(name).lower(), _decoded(value)) for name, _, value in pairs)


def secrets_in(url: str) -> tuple[str, ...]:
    """Give the names of parameters that look like a credential or a signature (C-18)."""
    names = (name for name, _ in parameters_of(url))
    return tuple(name for name in names if name in _SECRETS or name.startswith(_SECRET_PREFIXES))


def normal_locator(locator: str) -> str:
    """Give a locator in the form that is compared (Y-6), "" for one that F-43 does not allow.

    Host in lower case and IDNA; default port, trailing slash and trailing dot removed.
    """
    if len(locator) > MAX_LOCATOR:
        return ""
    if locator.startswith("local:"):
        return locator if _LABEL.fullmatch(locator) else ""
    match = _REMOTE.fullmatch(locator)
    if match is None:
        return ""
    try:
        labels = [idna.ToASCII(label) for label in _DOTS.split(match[1].lower().removesuffix("."))]
        host = b".".join(labels).decode().lower()
        return f"https://{parse_url(f'https://{host}').host}"
    except (InputError, UnicodeError):
        return ""


def _decoded(text: str) -> str:
    if "%" not in text and "+" not in text:
        return text
    raw = _ENCODED.sub(lambda hexed: chr(int(hexed[1], 16)), text.replace("+", " "))
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")
