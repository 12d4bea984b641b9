"""`refold devnet`: a local chain with an indexer that misbehaves as the real ones do."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import Exit, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refold.metaid.devnet.net import Devnet

PORT = 8480

url_option = click.option(
    "--url",
    default=f"http://127.0.0.1:{PORT}",
    show_default=True,
    help="Where the local chain is served.",
)


@click.group("devnet")
def group() -> None:
    """Run a local chain and indexer, and give it orders. Its keys are worth nothing."""


@group.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, show_default=True)
@click.option("--profile", help="Quirks of the indexer: clean, man-v2, man-p2p or v1.")
@click.option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Mine a block every so often.",
)
def serve(file: str | None, port: int, profile: str | None, every: float | None) -> None:
    """Serve the chain in FILE (in memory without one) on 127.0.0.1 until Ctrl-C."""
    from refold.metaid.devnet.clock import Ticker, WallClock
    from refold.metaid.devnet.net import Devnet

    with Devnet(file, clock=WallClock()) as net, net.serve(port=port) as url:
        if profile is not None:
            net.quirks(profile)  # type: ignore[arg-type]  # the library refuses other names
        print_line(f"height {net.height:,}, serving {url} (orders: refold devnet --help)")
        sys.stdout.flush()
        with nullcontext() if every is None else Ticker(net, every):
            Event().wait()  # until Ctrl-C


@group.command()
@click.argument("file", type=click.Path(dir_okay=False))
def demo(file: str) -> int:
    """Play the demo wiki onto the chain in FILE, walk it with the client, fold what came back.

    The story is told once; with a FILE that holds it already only the walk and the fold are done.
    At the end the view is held against one folded from the raw transactions. Exit code 1 when they
    differ.
    """
    from refold.agentpedia.demo.onchain import BASE_HEIGHT, play_demo, stream_on
    from refold.agentpedia.event import PATHS
    from refold.agentpedia.intake import check_payloads
    from refold.agentpedia.replay import fold_stream, replay
    from refold.cli.tables import print_summary

    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with _opened(file, BASE_HEIGHT) as net:
        if not net.pins():
            started = time.monotonic()
            print_line("playing sixty days of the demo wiki as signed transactions …")
            play_demo(net)
            print_line(f"{len(net.pins()):,} pins in {time.monotonic() - started:.0f} s")
        with net.serve() as url:
            lines = _walk(url, PATHS)
        truth = stream_on(net)
    view = replay(b"".join(lines))
    print_summary(view.summary())
    check_payloads(truth)
    expected = fold_stream(truth).view(view.tip).digest()
    same = expected == view.digest()
    print_line(f"folded from the raw transactions: {'the same digest' if same else expected}")
    return Exit.DONE if same else Exit.NO


def _opened(file: str | None, base_height: int | None = None) -> Devnet:
    from refold.metaid.devnet.net import Devnet

    return Devnet(file, base_height=base_height)


def _walk(url: str, paths: Sequence[str]) -> list[bytes]:
    """Walk paths of a served chain; give the pins as lines, and say how it went."""
    from refold.cli.walk import walk_path
    from refold.kernel.addresses import LOOPBACK
    from refold.kernel.fetch import GuardedClient
    from refold.kernel.policy import FetchPolicy
    from refold.metaid.man.client import ManClient

    lines: list[bytes] = []
    with GuardedClient(FetchPolicy(allowed_networks=LOOPBACK)) as transport:
        man = ManClient(transport, url)
        for path in paths:
            found, report = walk_path(man, path)
            lines += found
            cost = f"{report.pages} pages, {report.requests} requests, {report.bytes:,} bytes"
            print_line(f"{report.pins:6,} pins of {path}: {cost}, {report.end.reason}")
    return lines


@group.command()
@url_option
@format_option
def status(url: str, form: str) -> None:
    """Say where chain and indexer stand."""
    from refold.metaid.devnet.remote import Remote

    with Remote(url) as remote:
        _print(remote.status(), form)


@group.command()
@click.argument("count", type=click.IntRange(min=1), default=1)
@click.option("--order", help="Order of the transactions in a block; see the library for names.")
@url_option
@format_option
def mine(count: int, order: str | None, url: str, form: str) -> None:
    """Mine COUNT blocks out of the mempool."""
    _order(url, form, "mine", count=count, order=order)


@group.command()
@click.option("--depth", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--order", help="Put the same transactions into another order.")
@click.option("--drop", multiple=True, metavar="PIN", help="Leave this pin out of the new branch.")
@url_option
@format_option
def reorg(depth: int, order: str | None, drop: tuple[str, ...], url: str, form: str) -> None:
    """Replace the last blocks by a longer branch."""
    _order(url, form, "reorg", depth=depth, order=order, drop=list(drop) or None)


@group.command()
@click.argument("changes", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--profile", help="Begin with the quirks of clean, man-v2, man-p2p or v1.")
@url_option
@format_option
def quirks(changes: tuple[str, ...], profile: str | None, url: str, form: str) -> None:
    """Change quirks of the indexer; without any, list all switches with what each stages."""
    from refold.metaid.devnet.remote import Remote

    if changes or profile is not None:
        _order(url, form, "quirks", profile=profile, **_named(changes))
        return
    with Remote(url) as remote:
        _print(remote.switches(), form)


@group.command()
@click.argument("rates", nargs=-1, metavar="[NAME=RATE]...")
@url_option
@format_option
def faults(rates: tuple[str, ...], url: str, form: str) -> None:
    """Set what goes wrong with requests: a chance (0.1) or so many next ones (3); none: nothing."""
    _order(url, form, "faults", **_named(rates))


@group.command()
@click.argument("name")
@click.option("--satoshi", type=click.IntRange(min=0), default=0, help="Let the faucet pay to it.")
@url_option
@format_option
def key(name: str, satoshi: int, url: str, form: str) -> None:
    """Give the throw-away key of NAME: address and globalMetaId."""
    _order(url, form, "key", key=name, satoshi=satoshi)


@group.command()
@click.argument("name")
@click.argument("path")
@click.argument("payload")
@url_option
@format_option
def pin(name: str, path: str, payload: str, url: str, form: str) -> None:
    """Pin the JSON value PAYLOAD under PATH with the key of NAME."""
    try:
        value = msgspec.json.decode(payload)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError("payload-json", f"the payload is no JSON: {error}", "quote it") from error
    _order(url, form, "pin", key=name, path=path, payload=value)


def _named(pairs: Sequence[str]) -> dict[str, object]:
    """Read NAME=VALUE pairs; values are JSON where they can be, else text."""
    named: dict[str, object] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError("pair-form", f"{pair} is no NAME=VALUE", "write the name, =, a value")
        try:
            named[name] = msgspec.json.decode(text)
        except msgspec.MsgspecError:
            named[name] = text
    return named


def _order(url: str, form: str, verb: str, **members: object) -> None:
    from refold.metaid.devnet.remote import Remote

    with Remote(url) as remote:
        body = {name: value for name, value in members.items() if value is not None}
        _print(remote.order(verb, body), form)


def _print(answer: dict[str, object], form: str) -> None:
    if form == "json":
        print_json(answer)
        return
    for name, value in answer.items():
        if isinstance(value, list):
            for item in value:
                print_line(f"{name}: {one_line(msgspec.json.encode(item).decode())}")
        else:
            shown = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            print_line(f"{name}: {one_line(shown)}")
