"""What can go wrong on the way, by lot or for the next requests (facts: metaid §3.3, §6)."""

from collections import Counter
from hashlib import sha256
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from refold.kernel.errors import UsageError

Kind = Literal["drop", "error_500", "error_502", "truncate", "wrong_json", "empty"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""Faults of which a request has one at most, the first of this order. A delay may come on top."""

Rate = Annotated[int, Meta(ge=0, le=10**9)] | Annotated[float, Meta(ge=0, le=1)]
"""A float is the chance of each request (1.0: all of them), an int how many next requests."""


class Faults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often what goes wrong.

    `drop`: the connection is closed without an answer. `delay`: the answer takes `delay_seconds`
    more. `error_500`, `error_502`: an HTML page of a server, of a proxy. `truncate`: less of the
    body comes than Content-Length says. `wrong_json`: JSON that is cut, or of another shape.
    `empty`: 200 with no body. `only` restricts all of it to paths that begin so; `seed` casts
    other lots. The admin's routes never fail.
    """

    drop: Rate = 0
    delay: Rate = 0
    error_500: Rate = 0
    error_502: Rate = 0
    truncate: Rate = 0
    wrong_json: Rate = 0
    empty: Rate = 0
    delay_seconds: Annotated[float, Meta(ge=0, le=600)] = 0.1
    only: str = ""
    seed: str = ""


def faults_of(changes: dict[str, object]) -> Faults:
    """Give faults by name; all others are 0. Raises `UsageError`: `fault-name`, `fault-value`."""
    known = Faults.__struct_fields__
    for name in changes:
        if name not in known:
            raise UsageError(
                "fault-name", f"no fault is called {name}", f"one of {', '.join(known)}"
            )
    try:
        return msgspec.convert(changes, Faults)
    except msgspec.ValidationError as error:
        hint = "a chance from 0.0 to 1.0, or how many next requests as an integer"
        raise UsageError("fault-value", str(error), hint) from error


class Lot(msgspec.Struct, frozen=True):
    """What goes wrong with one request: a fault or None, seconds to wait, and a number 0 to 255."""

    kind: Kind | None
    delay: float
    number: int


class FaultPlan:
    """Casts the lots. The same requests in the same order fail in the same way.

    With chances alone the order does not matter: the lot hangs on what is asked for the how-manyth
    time.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._left = {name: rate for name, rate in _rates(faults).items() if isinstance(rate, int)}
        self._asked: Counter[str] = Counter()

    def cast(self, target: str) -> Lot:
        """Give the lot of a request for `target`, its path and query."""
        if not target.startswith(self.faults.only):
            return Lot(None, 0.0, 0)
        self._asked[target] += 1
        words = f"{self.faults.seed}\n{target}\n{self._asked[target]}"
        kind = next((kind for kind in KINDS if self._hits(kind, words)), None)
        delay = self.faults.delay_seconds if self._hits("delay", words) else 0.0
        return Lot(kind, delay, _draw("number", words)[0])

    def _hits(self, name: str, words: str) -> bool:
        rate = _rates(self.faults)[name]
        if isinstance(rate, float):
            return int.from_bytes(_draw(name, words)[:6], "big") < rate * 2**48
        if self._left[name] == 0:
            return False
        self._left[name] -= 1
        return True


def _rates(faults: Faults) -> dict[str, int | float]:
    return {name: getattr(faults, name) for name in (*KINDS, "delay")}


def _draw(name: str, words: str) -> bytes:
    return sha256(f"{name}\n{words}".encode()).digest()
