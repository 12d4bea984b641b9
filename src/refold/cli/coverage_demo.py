"""`refold coverage demo`: receipts of every judgement, with sources that give them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import click

from refold.cli.coverage_walks import clock, moment_of, now_option
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import Exit, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.coverage import Report
    from refold.coverage.demo import Shown
    from refold.db import Database

HOST = "127.0.0.1"


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--serve", "stays", is_flag=True, help="Serve the sources until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Default: a free one.")
@now_option
@format_option
def demo(folder: Path | None, port: int, moment: str | None, form: str, *, stays: bool) -> int:
    """Make receipts that verify as each judgement, and verify them, against made-up sources.

    With FOLDER they are written there, a file each. Exit code 1 when one is not judged as meant.
    """
    from refold.coverage.demo import ORIGIN, demo_receipts

    now = clock(moment_of(moment))
    works = True
    with demo_served(port) as url:
        for shown in demo_receipts():
            report = demo_report(shown, url, now)
            works = works and is_as_meant(shown, report)
            _print(shown, report, form)
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{shown.scene.name}.json").write_bytes(shown.data)
        if stays:
            print_line(f"serving the sources; to walk them: --map-origin {ORIGIN}={url}")
            sys.stdout.flush()
            Event().wait()  # until Ctrl-C
    return Exit.DONE if works else Exit.NO


@contextmanager
def demo_served(port: int = 0) -> Iterator[str]:
    """Serve the sources of the demo on loopback while open; give the origin to ask them at.

    Raises SourceError `port-taken`.
    """
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    from refold.coverage.demo import ORIGIN, demo_sources
    from refold.coverage.demo.told import NOTHING

    pages = {url.removeprefix(ORIGIN): page for url, page in demo_sources().pages.items()}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = pages.get(self.path, NOTHING)
            self.send_response(page.status)
            for name, value in page.headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise SourceError(
            "port-taken", f"nothing can be served at {HOST}:{port}: {error}", "give another port"
        ) from error
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,), name="demo sources", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def demo_report(shown: Shown, url: str, now: str) -> Report:
    """Verify a receipt of the demo against its sources at an origin of `demo_served`."""
    from refold.coverage import Budgets, verify
    from refold.coverage.demo import ORIGIN
    from refold.coverage.transport.live import Live, policy_of
    from refold.kernel.fetch import GuardedClient

    origins = {ORIGIN: url}
    with GuardedClient(policy_of(Budgets(), origin_map=origins)) as client:
        return verify(shown.data, Live(client), now, origins=origins)


def load_demo(database: Database, url: str, now: str) -> bool:
    """Store the receipts of the demo, each with what verifying it gives; tell whether all is meant.

    The one that is invalid no store takes.
    """
    from refold.coverage.demo import demo_receipts
    from refold.coverage.jobs.keeping import keep
    from refold.coverage.store import Origin

    works = True
    for shown in demo_receipts():
        report = demo_report(shown, url, now)
        works = works and is_as_meant(shown, report)
        if report.judgement != "INVALID":
            keep(database, shown.data, report, Origin("posted"))
    return works


def is_as_meant(shown: Shown, report: Report) -> bool:
    """Tell whether a receipt of the demo is judged as its scene says."""
    scene = shown.scene
    return (report.judgement, report.coverage) == (scene.judgement, scene.coverage)


def _print(shown: Shown, report: Report, form: str) -> None:
    scene = shown.scene
    if form == "json":
        print_json({"name": scene.name, "about": scene.about, "report": report})
        return
    wrong = "" if is_as_meant(shown, report) else f"   MEANT {scene.judgement}"
    print_line(f"{report.judgement:12} {report.coverage or '-':7} {scene.name}{wrong}")
    print_line(f"    {scene.question}")
    print_line(f"    {scene.about}")
