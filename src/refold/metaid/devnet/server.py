"""The HTTP server: in a thread beside the caller, or in the caller's place."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from refold.kernel.errors import SourceError
from refold.metaid.devnet.app import application
from refold.metaid.devnet.faulty import TRANSPORT
from refold.metaid.devnet.node import Node

HOST = "127.0.0.1"
STOP_SECONDS = 2
"""How long a stopping server waits for answers under way."""


class _Protocol(HttpToolsProtocol):
    """Hands the transport on, so that the application can break the connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope = cast("dict[str, object]", self.scope)
        scope["extensions"] = {TRANSPORT: {"transport": self.transport}}


@contextmanager
def serving(node: Node, *, host: str = HOST, port: int = 0) -> Iterator[str]:
    """Serve a node in a thread while open; gives the base URL.

    Raises `SourceError` `port-taken`.
    """
    server = uvicorn.Server(_config(node, host))
    listener = _listener(host, port)
    thread = Thread(target=server.run, args=([listener],), name="refold devnet server", daemon=True)
    thread.start()
    try:
        yield _url(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def serve_forever(node: Node, *, host: str = HOST, port: int = 0) -> None:
    """Serve a node in this thread until a signal ends it. Raises `SourceError` `port-taken`."""
    server = uvicorn.Server(_config(node, host))
    listener = _listener(host, port)
    try:
        server.run([listener])
    finally:
        listener.close()


def _config(node: Node, host: str) -> uvicorn.Config:
    return uvicorn.Config(
        application(node, bound_host=host),
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",  # connections that are cut on purpose are no errors
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def _listener(host: str, port: int) -> socket.socket:
    """Bind a port at once, so that clients may come before the server has started."""
    try:
        listener = socket.create_server((host, port), backlog=128)
    except OSError as error:
        raise SourceError(
            "port-taken", f"nothing can be served at {host}:{port}: {error}", "give another port"
        ) from error
    listener.setblocking(False)
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"
