"""`refold metaid walk`: every pin that an indexer lists under some paths, as JSON lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from refold.kernel.errors import Exit, one_line

if TYPE_CHECKING:
    from refold.metaid.man.client import ManClient
    from refold.metaid.man.report import WalkReport


@click.command()
@click.argument("url")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="A private network (CIDR) that the URL may lead to; 127.0.0.0/8 for this machine.",
)
def walk(url: str, paths: tuple[str, ...], networks: tuple[str, ...]) -> int:
    """Walk the lists of the indexer at URL to their ends; print each pin whole, a line each.

    How each walk went goes to standard error. Exit code 4 when one is not complete: what could not
    be got is named.
    """
    from refold.kernel.fetch import GuardedClient
    from refold.kernel.policy import FetchPolicy
    from refold.metaid.man.client import ManClient

    complete = True
    with GuardedClient(FetchPolicy(allowed_networks=networks)) as transport:
        man = ManClient(transport, url)
        for path in paths:
            lines, report = walk_path(man, path)
            sys.stdout.buffer.writelines(lines)
            _say(report)
            complete = complete and report.is_complete
    return Exit.DONE if complete else Exit.SOURCE


def walk_path(man: ManClient, path: str) -> tuple[list[bytes], WalkReport]:
    """Walk one path; give each pin once as a line, the last copy seen, and the report."""
    from refold.metaid.man.walk import Walk
    from refold.metaid.pinline import pin_line

    walked = Walk(man, path)
    pins = {pin.id: pin for page in walked for pin in page.pins}
    return [pin_line(pin) for pin in pins.values()], walked.report()


def _say(report: WalkReport) -> None:
    """Say how a walk went, and name what it did not get."""
    got = f"{report.confirmed:,} confirmed, {report.mempool:,} in the mempool"
    cost = f"{report.pages:,} pages, {report.requests:,} requests, {report.bytes:,} bytes"
    lines = [f"{report.path}: {got}; {cost}; end: {report.end.reason}"]
    lines += [f"  missing {one.id}: {one.code}, {one.message}" for one in report.missing]
    lines += [f"  seen {one.count:,} times: {one.kind}" for one in report.anomalies]
    for line in lines:
        sys.stderr.buffer.write(one_line(line).encode(errors="backslashreplace") + b"\n")
