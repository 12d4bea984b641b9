"""`refold agentpedia sync` and `check`: the pins of a chain, stored, folded and kept in step."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.options import (
    database_option,
    genesis_of,
    genesis_option,
    open_database,
    profile_of,
    rules_option,
)
from refold.cli.output import format_option, print_json, print_line, progress_bar
from refold.cli.syncing import MAX_SHOWN, Bar, Said, print_passed, print_turn
from refold.kernel.errors import Exit, Problem, SourceError, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.agentpedia.indexer import Checked, Follower
    from refold.metaid.sync import Happening, Report


@click.command()
@click.option(
    "--indexer",
    "indexers",
    multiple=True,
    required=True,
    metavar="URL",
    help="A MAN indexer; with several, the first one's word counts, and disagreements are named.",
)
@genesis_option
@rules_option
@database_option
@click.option("--follow", is_flag=True, help="Go on until Ctrl-C.")
@click.option("--full", is_flag=True, help="Walk whole lists, though they were walked before.")
@click.option(
    "--transactions",
    metavar="URL",
    help="A source of raw transactions (URL/tx/<txid>/raw): proofs of first bodies and stakes.",
)
@click.option(
    "--verify-authors", is_flag=True, help="Check authors against --transactions; mark the others."
)
@click.option(
    "--files", "servers", multiple=True, metavar="URL", help="A metafile indexer, for long texts."
)
@click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="A private network (CIDR) that URLs may lead to; 127.0.0.0/8 for this machine.",
)
@click.option(
    "--daily-lists",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --follow: requests for lists in any 24 hours.",
)
@click.option("--measure", is_flag=True, help="Print the figures of AC-E3 and assertion D-1.")
@format_option
def sync(
    indexers: tuple[str, ...],
    genesis: str | None,
    rules: str | None,
    database: str | None,
    follow: bool,
    full: bool,
    transactions: str | None,
    verify_authors: bool,
    servers: tuple[str, ...],
    networks: tuple[str, ...],
    daily_lists: int | None,
    measure: bool,
    form: str,
) -> int:
    """Read the seven lists of indexers into the database, and fold what they hold.

    The first time whole lists are walked, then what is new; killed at any moment, the next call
    goes on. Exit code 4 when an indexer could not be read to the end: what was read stays.
    """
    from refold.agentpedia.indexer import Wiring, wired
    from refold.metaid.sync import Loop, Pace

    pin = genesis_of(genesis)
    wiring = Wiring(
        indexers=indexers,
        files=servers,
        transactions=transactions or "",
        verify_authors=verify_authors,
        networks=networks,
        genesis=pin or "",
        rules=profile_of(rules),
    )
    with ExitStack() as stack:
        opened = stack.enter_context(open_database(database))
        bar = stack.enter_context(Bar.drawn())
        chain, follower = stack.enter_context(wired(opened, wiring, bar.sync))
        stop = stack.enter_context(stopping())
        said = Said(form=form, measure=measure, genesis=pin)
        if not follow:
            started = time.monotonic()
            report = chain.round(int(time.time()), full=full, stop=stop)
            _require_an_answer(report)
            turn = follower.follow(report, int(time.time()), progress=bar.fold, stop=stop)
            bar.clear()
            print_turn(turn, time.monotonic() - started, said)
            if stop.is_set():
                return Exit.INTERRUPTED
            return Exit.DONE if report.is_covered else Exit.SOURCE
        telling = _Telling(follower, bar, said, stop)
        Loop(chain, tell=telling, stop=stop, pace=Pace(lists_a_day=daily_lists)).run()
    return Exit.DONE


class _Telling:
    """Folds after each round of a loop, and says how things stand."""

    def __init__(self, follower: Follower, bar: Bar, said: Said, stop: Event) -> None:
        self._follower = follower
        self._bar = bar
        self._said = said
        self._stop = stop
        self._started = time.monotonic()

    def __call__(self, happening: Happening) -> None:
        from refold.metaid.sync import Done, Failed, Looked

        if isinstance(happening, Looked):
            self._started = time.monotonic()
            for name, polled in happening.polled.items():
                if polled.error is not None:
                    _warn(f"{name}: {polled.error.code}: {polled.error.message}")
            try:
                print_passed(self._follower.look(happening), self._said)
            except SourceError as error:
                _warn(f"{error.code}: {error.message}; it is tried again")
        elif isinstance(happening, Failed):
            _warn(f"{happening.code}: {happening.message}; it is tried again")
        elif isinstance(happening, Done):
            try:
                turn = self._follower.follow(
                    happening.report, int(time.time()), progress=self._bar.fold, stop=self._stop
                )
            except SourceError as error:
                _warn(f"{error.code}: {error.message}; it is tried again")
                return
            self._bar.clear()
            print_turn(turn, time.monotonic() - self._started, self._said)
            sys.stdout.flush()


def _require_an_answer(report: Report) -> None:
    """Raise what the indexers' errors were, if none of them answered."""
    if not any(one.is_answering for one in report.indexers):
        hint = "check the URL, or try again later"
        raise SourceError.of([Problem(one.code, one.message, hint) for one in report.indexers])


@contextmanager
def stopping() -> Iterator[Event]:
    """Give an event that the first SIGTERM or Ctrl-C sets; the second one ends the process."""
    stop = Event()

    def ask(number: int, frame: object) -> None:
        del number, frame
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {one: signal.signal(one, ask) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _warn(text: str) -> None:
    sys.stderr.buffer.write(f"refold: {one_line(text)}\n".encode(errors="backslashreplace"))


@click.command()
@database_option
@genesis_option
@rules_option
@format_option
def check(database: str | None, genesis: str | None, rules: str | None, form: str) -> int:
    """Fold the stored pins from scratch, and hold the stored view and its digests against that.

    Exit code 1 when anything differs: it is named.
    """
    from refold.agentpedia.indexer import check_view
    from refold.agentpedia.state import Options

    started = time.monotonic()
    options = Options(genesis_pin=genesis_of(genesis))
    with open_database(database, readonly=True) as opened, progress_bar("folding") as step:
        checked = check_view(opened, profile_of(rules), options, step)
    if checked is None:
        raise UsageError("view-empty", "no view is stored", "run refold agentpedia sync first")
    if form == "json":
        print_json(msgspec.to_builtins(checked) | {"isRight": checked.is_right})
    else:
        _print_checked(checked, time.monotonic() - started)
    return Exit.DONE if checked.is_right else Exit.NO


def _print_checked(checked: Checked, seconds: float) -> None:
    verdict = "the stored view is that of the stored pins" if checked.is_right else "DIFFERS"
    print_line(f"{verdict}: height {checked.height - 1:,}, {checked.events:,} events")
    print_line(f"  stored {checked.stored}")
    print_line(f"  folded {checked.folded}")
    if not checked.is_same_kind:
        print_line("  it was made with another --rules or --genesis, or by another release")
    for one in checked.differences[:MAX_SHOWN]:
        what = "is damaged" if one.is_damaged else f"stored {one.stored}, folded {one.folded}"
        print_line(f"  {one.section} {one_line(one.key)}: {what}")
    more = checked.difference_count - len(checked.differences[:MAX_SHOWN])
    if more:
        print_line(f"  and {more:,} more: --format json names them")
    if checked.heights:
        print_line(
            f"  digests differ at {len(checked.heights):,} heights from {checked.heights[0]:,}"
        )
    if not checked.is_same_position:
        print_line("  it says that it ends at another pin than the stored pins do")
    if checked.is_behind:
        print_line("  pins changed since: refold agentpedia sync folds them")
    print_line(f"  in {seconds:.1f} s")
