"""What the commands that walk share: their options, the transport, and progress on a terminal."""

from __future__ import annotations

import functools
import math
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from refold.kernel.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from refold.coverage.walk.asking import Transport
    from refold.coverage.walk.budget import Budgets
    from refold.coverage.walk.drive import Progress

_BUDGETS: tuple[tuple[str, int | float, str], ...] = (
    ("unit-pages", 1_000, "Pages of a unit."),
    ("unit-rows", 2_000_000, "Rows of a unit."),
    ("page-bytes", 33_554_432, "Bytes of a page, decoded."),
    ("unit-bytes", 268_435_456, "Bytes of a unit, decoded."),
    ("request-seconds", 30.0, "Seconds of a request."),
    ("unit-seconds", 600.0, "Seconds of a unit."),
    ("record-seconds", 1_800.0, "Seconds of all units together."),
    ("record-requests", 20_000, "Requests of all units together."),
)
"""Those of `refold.coverage.Budgets`, which is not imported for a help text; a test compares."""
_MOST = 1 << 30
"""Of any number: a page of more bytes would be read into memory."""


class Seconds(click.FloatRange):
    """A number of seconds up to a day, and no infinity."""

    name = "seconds"

    def __init__(self, *, above_zero: bool = False) -> None:
        super().__init__(min=0, max=86_400, min_open=above_zero)

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Give the number; refuses what is none, NaN included."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return number


class WalkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of a walk say. `moment` is that of --now, "" for the clock's."""

    origins: dict[str, str]
    networks: tuple[str, ...]
    record: str | None
    stored: str | None
    retry_wait: float
    budgets: dict[str, int | float]
    moment: str


now_option = click.option(
    "--now", "moment", metavar="TIME", help="The moment to judge at (2031-05-09T07:30:00Z)."
)

# Not that of `refold.cli.options`, which imports what most commands here do without.
store_option = click.option(
    "--database", metavar="URL", help="Where receipts are kept; default: the setting."
)


def walk_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of walks; it takes them as `walking`, a `WalkOptions`."""

    @functools.wraps(command)
    def gathered(**options: Any) -> Any:  # noqa: ANN401 - whatever the command takes and gives
        moment = moment_of(options.pop("moment"))
        fields = [name.replace("-", "_") for name, *_ in _BUDGETS]
        budgets = {name: options.pop(f"budget_{name}") for name in fields}
        networks = list(options.pop("networks"))
        if options.pop("allow_private"):
            from refold.kernel.addresses import LOOPBACK, PRIVATE

            networks += [*LOOPBACK, *PRIVATE]
        walking = WalkOptions(
            origins=dict(map(_pair, options.pop("origins"))),
            networks=tuple(networks),
            record=options.pop("record"),
            stored=options.pop("stored"),
            retry_wait=options.pop("retry_wait"),
            budgets=budgets,
            moment=moment,
        )
        if walking.record and walking.stored:
            raise UsageError("record-and-from", "--record and --from together", "give one of them")
        return command(walking=walking, **options)

    for name, default, text in reversed(_BUDGETS):
        number = Seconds(above_zero=True) if type(default) is float else _count()
        gathered = click.option(
            f"--budget-{name}", type=number, default=default, show_default=True, help=text
        )(gathered)
    for option in reversed(
        (
            now_option,
            click.option(
                "--map-origin",
                "origins",
                multiple=True,
                metavar="ORIGIN=ORIGIN",
                help="Ask the second origin in place of the first, as https://a.test="
                "http://127.0.0.1:8480; the record keeps the first.",
            ),
            click.option(
                "--allow",
                "networks",
                multiple=True,
                metavar="NETWORK",
                help="A private network (CIDR) that sources may be in.",
            ),
            click.option(
                "--allow-private", is_flag=True, help="Allow loopback and all private networks."
            ),
            click.option(
                "--record",
                type=click.Path(file_okay=False),
                metavar="DIR",
                help="Keep every answer in DIR.",
            ),
            click.option(
                "--from",
                "stored",
                type=click.Path(file_okay=False),
                metavar="DIR",
                help="Take the answers kept in DIR, ask nobody.",
            ),
            click.option(
                "--retry-wait",
                type=Seconds(),
                default=0.5,
                show_default=True,
                help="Before the first of three retries; then twice as long each time.",
            ),
        )
    ):
        gathered = option(gathered)
    return gathered


def moment_of(text: str | None) -> str:
    """Give the moment of --now, checked; "" for none. Raises UsageError."""
    from refold.kernel.utc import parse_utc

    if text is None:
        return ""
    try:
        parse_utc(text)
    except InputError as error:
        raise UsageError(error.code, f"--now: {error.message}", error.hint) from error
    return text


def clock(moment: str) -> str:
    """Give the moment of --now, else the clock's."""
    from refold.kernel import utc

    return moment or utc.format_utc(utc.now())


def budgets_of(walking: WalkOptions) -> Budgets:
    """Give the budgets that the options say."""
    from refold.coverage.walk.budget import Budgets

    return Budgets(**walking.budgets)  # type: ignore[arg-type]  # each option has its field's type


@contextmanager
def transport_of(walking: WalkOptions) -> Iterator[Transport]:
    """Give what answers: the network, the network while its answers are kept, or a folder."""
    import logging

    from refold.coverage.transport.live import Live, policy_of
    from refold.coverage.transport.recording import Recorded, Recorder
    from refold.kernel import utc
    from refold.kernel.fetch import GuardedClient

    if walking.stored is not None:
        yield Recorded(Path(walking.stored))
        return
    # Retries are in the report; nobody wants a line for each.
    logging.getLogger("stamina").addHandler(logging.NullHandler())
    policy = policy_of(
        budgets_of(walking), origin_map=walking.origins, allowed_networks=walking.networks
    )
    policy = msgspec.structs.replace(policy, retry_wait=walking.retry_wait)
    with GuardedClient(policy) as client:
        moment = walking.moment
        live = Live(client, now=lambda: utc.parse_utc(moment)) if moment else Live(client)
        yield live if walking.record is None else Recorder(live, Path(walking.record))


@contextmanager
def status_line() -> Iterator[Callable[[str], object]]:
    """Give what shows a text on a terminal, in place of the one before; elsewhere nothing is."""
    if not sys.stderr.isatty():
        yield lambda _text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("asking …") as status:
        yield lambda text: status.update(Text(text))


@contextmanager
def walk_progress() -> Iterator[Progress]:
    """Give what tells on a terminal how far a walk is; elsewhere it tells nothing."""
    from refold.kernel.errors import one_line

    with status_line() as say:
        yield lambda unit, spent: say(
            f"{one_line(unit)}: {spent.pages:,} pages, {spent.rows:,} rows, {spent.requests:,} "
            f"requests, {spent.received / 1e6:,.1f} MB, {spent.seconds:,.0f} s"
        )


def _count() -> click.IntRange:
    return click.IntRange(min=1, max=_MOST)


def _pair(text: str) -> tuple[str, str]:
    public, sign, asked = text.partition("=")
    if not (public and sign and asked):
        raise UsageError(
            "map-origin", f"{text} maps nothing", "write https://a.test=http://127.0.0.1:8480"
        )
    return public.rstrip("/"), asked.rstrip("/")
