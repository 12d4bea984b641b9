"""`refold serve` and `refold mcp`: the parts over HTTP, and their tools on standard streams."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from refold.cli.options import database_option, genesis_option
from refold.cli.output import print_line
from refold.cli.settings import DATABASE, DATABASE_PASSWORD, current_settings
from refold.kernel.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.db import Database
    from refold.kernel.settings import Settings
    from refold.serving.logs import Log
    from refold.serving.part import Task

parts_option = click.option(
    "--parts", metavar="NAME,…", help="Parts to run, with commas between; default: all."
)


@click.command()
@click.option("--host", help="Address to listen at; default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen at; default: 8000.")
@click.option("--origin", metavar="URL", help="Scheme, host and port as others reach the server.")
@parts_option
@database_option
@click.option(
    "--sync",
    "indexers",
    multiple=True,
    metavar="URL",
    help="Also follow this MAN indexer, and keep the encyclopedia in step.",
)
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="A private network (CIDR) that --sync may lead to; 127.0.0.0/8 for this machine.",
)
@genesis_option
def serve(
    host: str | None,
    port: int | None,
    origin: str | None,
    parts: str | None,
    database: str | None,
    indexers: tuple[str, ...],
    networks: tuple[str, ...],
    genesis: str | None,
) -> None:
    """Serve the parts over HTTP until SIGTERM or Ctrl-C; a second one ends it at once.

    Answers that only read use connections that cannot write; the database is made if it is not
    there. Logs go to standard error.
    """
    from refold.serving.logs import make_log
    from refold.serving.server import listen, url_of
    from refold.serving.server import serve as serve_forever
    from refold.serving.settings import HOST, LOG_FORMAT, ORIGIN, PORT, checked_origin
    from refold.web.app import web_application

    flags = {
        "listen_host": host,
        "listen_port": port,
        "public_origin": origin,
        "parts": _names(parts),
        "database": database,
        "agentpedia_genesis": genesis,
    }
    settings = current_settings(**flags)
    log = make_log(form=settings[LOG_FORMAT])
    with ExitStack() as stack:
        tasks = _following(stack, settings, indexers, networks, log) if indexers else {}
        writing = stack.enter_context(_writing(settings))
        opened = stack.enter_context(_reading(settings))
        listener = stack.enter_context(listen(settings[HOST], settings[PORT]))
        url = url_of(listener)
        public = checked_origin(settings[ORIGIN], settings[HOST], url)
        settings = current_settings(**flags | {"public_origin": public})  # parts sign it
        app = web_application(
            opened, settings, origin=public, log=log, tasks=tasks, writing=writing
        )
        print_line(f"serving {public}" + (f" at {url}" if url != public else ""))
        sys.stdout.flush()
        log.info("started", url=url, origin=public, tools=len(app.tools))
        serve_forever(app, listener, log)


@click.command()
@parts_option
@database_option
def mcp(parts: str | None, database: str | None) -> None:
    """Give agents the tools of the parts on standard input and output (MCP)."""
    import anyio

    from refold.serving.logs import make_log
    from refold.serving.mcpserver import run_stdio
    from refold.serving.settings import LOG_FORMAT, ORIGIN
    from refold.web.app import web_application

    settings = current_settings(parts=_names(parts), database=database)
    log = make_log(form=settings[LOG_FORMAT])
    with _reading(settings) as opened:
        app = web_application(opened, settings, origin=settings[ORIGIN], log=log)
        anyio.run(run_stdio, app.tools, app.site.codes, log)


def _following(
    stack: ExitStack,
    settings: Settings,
    indexers: tuple[str, ...],
    networks: tuple[str, ...],
    log: Log,
) -> dict[str, list[Task]]:
    """Give the task that follows a chain, with a database of its own that is written."""
    from refold.agentpedia.indexer import Wiring, wired
    from refold.agentpedia.rules import PROFILES
    from refold.agentpedia.settings import GENESIS, RULES
    from refold.cli.follow import follow_task
    from refold.db import Database

    url, password = settings[DATABASE], settings[DATABASE_PASSWORD]
    opened = Database.open(url, password=password, durability="normal")
    stack.enter_context(opened)
    wiring = Wiring(
        indexers=indexers,
        networks=networks,
        genesis=settings[GENESIS],
        rules=PROFILES[settings[RULES]],
    )
    chain, follower = stack.enter_context(wired(opened, wiring))
    return {"agentpedia": [follow_task(chain, follower, log)]}


def _writing(settings: Settings) -> Database:
    """Open the database for what clients give, which nobody else has; it is made if need be."""
    from refold.db import Database

    return Database.open(settings[DATABASE], password=settings[DATABASE_PASSWORD])


def _names(parts: str | None) -> list[str] | None:
    return None if parts is None else [name.strip() for name in parts.split(",") if name.strip()]


@contextmanager
def _reading(settings: Settings) -> Iterator[Database]:
    """Open the database for reading; one that is missing, or of an older refold, is made first."""
    from refold.db import Database

    url, password = settings[DATABASE], settings[DATABASE_PASSWORD]
    try:
        opened = Database.open(url, password=password, readonly=True)
    except SourceError as error:
        if error.code not in {"database-missing", "database-older"}:
            raise
        Database.open(url, password=password).close()
        opened = Database.open(url, password=password, readonly=True)
    with opened:
        yield opened
