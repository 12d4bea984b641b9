"""Limits of the server: what it takes at most, with reason and unit. Published at /v1/limits."""

import msgspec

__all__ = ["SERVING_LIMITS", "Limit"]


class Limit(msgspec.Struct, frozen=True, rename="camel"):
    """One limit, for people and programs; `id` is stable."""

    id: str
    value: int | float
    unit: str
    reason: str


MAX_HEAD_BYTES = 32 * 1024
"""Address and headers of a request: browsers send some 2 KB, proxies add as much."""
MAX_BODY_BYTES = 2 * 1024 * 1024
"""Body of a request, unless its route says otherwise."""
MAX_QUERY_MEMBERS = 64
"""Members of a query: no route has as many, and lists are short."""
MAX_BODY_DEPTH = 64
"""Nesting of a JSON body: as deep as documents of the protocols are read (decision 0002)."""
REQUEST_SECONDS = 20.0
"""From the first byte of a request to its last: slower ones hold a connection for nothing."""
IDLE_SECONDS = 15
"""A connection on which nothing is asked is kept for so long."""
MAX_CONNECTIONS = 2_000
"""Open at once: a process may open more files than this on every usual system, half of which are
left to the database."""
MAX_RUNNING = 256
"""Requests under way at once: as many as are answered in less than a second."""
POINT_SECONDS = 0.5
"""A reading of a few rows, done in the event loop: all others wait for it."""
SEARCH_SECONDS = 5.0
"""A search, done in a thread."""
STREAM_SECONDS = 900
"""A whole export: a stranger who reads slowly may hold an old state of the database this long."""
READ_THREADS = 4
"""Searches at once: more of them only wait for each other's processor."""
STREAM_THREADS = 4
"""Exports at once."""
MAX_LISTENERS = 100
"""Live feeds at once: each is a request under way, of which the rest are left to others."""
HEARTBEAT_SECONDS = 15.0
"""A live feed on which nothing happens says so: proxies cut what is silent for a minute."""
SLOW_SECONDS = 10.0
"""A listener that takes nothing for so long is cut."""
LISTEN_SECONDS = 3_600
"""A live feed; who listens longer comes back with the last id."""
STOP_SECONDS = 10
"""How long a stopping server waits for answers under way."""

SERVING_LIMITS: tuple[Limit, ...] = (
    Limit("request.head", MAX_HEAD_BYTES, "bytes", "address and headers of a request"),
    Limit("request.body", MAX_BODY_BYTES, "bytes", "body, unless a route says otherwise"),
    Limit("request.body.depth", MAX_BODY_DEPTH, "levels", "nesting of a JSON body"),
    Limit("request.query.members", MAX_QUERY_MEMBERS, "members", "members of a query"),
    Limit("request.seconds", REQUEST_SECONDS, "seconds", "from first to last byte of a request"),
    Limit("connection.idle", IDLE_SECONDS, "seconds", "a connection on which nothing is asked"),
    Limit("connections", MAX_CONNECTIONS, "connections", "open at once"),
    Limit("requests.running", MAX_RUNNING, "requests", "under way at once"),
    Limit("reading.point", POINT_SECONDS, "seconds", "a reading of a few rows"),
    Limit("reading.search", SEARCH_SECONDS, "seconds", "a search"),
    Limit("searches.running", READ_THREADS, "requests", "searches at once"),
    Limit("stream.seconds", STREAM_SECONDS, "seconds", "a whole export"),
    Limit("streams.running", STREAM_THREADS, "requests", "exports at once"),
    Limit("listeners", MAX_LISTENERS, "requests", "live feeds at once"),
    Limit("listener.seconds", LISTEN_SECONDS, "seconds", "a live feed, until its end"),
    Limit("listener.slow", SLOW_SECONDS, "seconds", "for which a listener may take nothing"),
)
