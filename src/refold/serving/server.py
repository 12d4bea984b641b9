"""The HTTP server: uvicorn in this process, and an orderly end.

The first SIGTERM or SIGINT lets answers under way finish, for some seconds; the second one ends the
process at once.
"""

import gc
import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType

import uvicorn

from refold.kernel.errors import Exit, SourceError
from refold.serving.application import Application
from refold.serving.connection import Connection
from refold.serving.limits import IDLE_SECONDS, STOP_SECONDS
from refold.serving.logs import Log, forward_logging

__all__ = ["listen", "serve", "serving", "url_of"]

_BACKLOG = 1_024


class _Server(uvicorn.Server):
    """Tells streams and tasks at once that the end has come."""

    def __init__(self, app: Application, log: Log) -> None:
        super().__init__(_config(app))
        self._app = app
        self._log = log

    def stop(self) -> None:
        """Let answers under way finish, and end."""
        self._app.site.stop.set()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at the first signal; at the second one end without looking back."""
        del frame
        if self.should_exit:
            os._exit(Exit.INTERRUPTED)
        self.stop()  # before it is said: whoever reads that may send the second one
        self._log.info("stopping", signal=signal.Signals(sig).name)


def _config(app: Application) -> uvicorn.Config:
    return uvicorn.Config(
        app.asgi,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # that strangers send no HTTP is nothing to be told
        access_log=False,
        server_header=False,
        proxy_headers=False,  # our own reading names the networks that it trusts
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def listen(host: str, port: int) -> socket.socket:
    """Bind a port, 0 for any that is free. Raises SourceError `port-taken`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = found[0]
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        raise SourceError(
            "port-taken", f"nothing can be served at {host}:{port}: {error}", "give another port"
        ) from error
    listener.setblocking(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Give the URL that a listener answers at."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Application, listener: socket.socket, log: Log) -> None:
    """Serve in this thread, which is the main one, until a signal."""
    # All that is there now stays: to look through it for garbage again and again costs a page
    # whose Markdown is read a fifth of its time.
    gc.freeze()
    with _logged(log):
        _Server(app, log).run([listener])
    log.info("stopped")


@contextmanager
def serving(app: Application, listener: socket.socket, log: Log) -> Iterator[str]:
    """Serve in a thread while open; gives the URL. For tests and for whoever embeds the server."""
    server = _Server(app, log)
    thread = Thread(target=server.run, args=([listener],), name="refold server", daemon=True)
    thread.start()
    try:
        yield url_of(listener)
    finally:
        server.stop()
        thread.join()
        listener.close()


@contextmanager
def _logged(log: Log) -> Iterator[None]:
    """Take what libraries log, while open."""
    handler = forward_logging(log)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
