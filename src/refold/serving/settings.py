"""Settings of the server: where it listens, how others reach it, what it runs."""

import re

from refold.kernel.errors import UsageError
from refold.kernel.settings import Setting, Value

__all__ = ["SETTINGS", "checked_origin"]

HOST = Setting("listen_host", "127.0.0.1", "address that the server listens at")
PORT = Setting("listen_port", 8000, "port that the server listens at")
ORIGIN = Setting(
    "public_origin",
    "",
    "scheme, host and port as others reach the server; empty takes where it listens",
)
PROXIES: Setting[tuple[str, ...]] = Setting(
    "trusted_proxies", (), "networks of proxies whose X-Forwarded-For is believed"
)
PARTS: Setting[tuple[str, ...]] = Setting("parts", (), "parts to run; empty runs all of them")
LOG_FORMAT = Setting("log_format", "json", "form of the log", choices=("json", "text"))
LOG_REQUESTS = Setting("log_requests", True, "write a line for each request")
SETTINGS: tuple[Setting[Value], ...] = (
    HOST,
    PORT,
    ORIGIN,
    PROXIES,
    PARTS,
    LOG_FORMAT,
    LOG_REQUESTS,
)

_ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 (they are looked for, not bound)


def checked_origin(origin: str, host: str, url: str) -> str:
    """Give the public origin: the one that is set, else `url`, where the server listens at `host`.

    Raises UsageError `server-origin` for what is none, and where nobody could know it.
    """
    if not origin and host in _EVERYWHERE:
        raise UsageError(
            "server-origin",
            f"listening at {host}, the server cannot know its own address",
            "set public_origin, as in https://wiki.example",
        )
    if origin and not _ORIGIN.fullmatch(origin):
        raise UsageError(
            "server-origin",
            f"public_origin: {origin!r} is no origin",
            "give scheme and host only, as in https://wiki.example",
        )
    return origin.lower() or url
