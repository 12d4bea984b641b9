"""What all answers of one server share: its origin, codes, texts, and whether it is stopping."""

from dataclasses import dataclass, field
from threading import Event

from refold.serving.codes import Codes
from refold.serving.limits import READ_THREADS, STREAM_THREADS
from refold.serving.pages import Pages
from refold.serving.proxies import Proxies
from refold.serving.reading import Threads

__all__ = ["Site"]


@dataclass(slots=True)
class Listeners:
    """How many listen to live feeds now."""

    count: int = 0


@dataclass(frozen=True, slots=True)
class Site:
    """One server.

    `origin` is scheme, host and port as others reach it, without a slash at the end; where it is
    empty, addresses in answers are paths. `stop` is set when the server is told to end.
    """

    codes: Codes
    pages: Pages
    origin: str = ""
    proxies: Proxies = field(default_factory=lambda: Proxies(()))
    stop: Event = field(default_factory=Event)
    searches: Threads = field(default_factory=lambda: Threads(READ_THREADS))
    streams: Threads = field(default_factory=lambda: Threads(STREAM_THREADS))
    listeners: Listeners = field(default_factory=Listeners)

    def address(self, path: str) -> str:
        """Give the whole address of a path of ours, which may have a query."""
        return self.origin + path
