"""The network's replay vectors: a vector as fold input, and its expectations as checks.

How a vector is read stands in `vectors/agentpedia/README.md` of the network's publication: a
genesis made from the defaults, injected arbiters, checkpoints that fold anew, and the small
language of `expect` (dots walk into the common view; `.$absent`, `.$contains`, `.$contains.N`,
`.length`).
"""

import re
from collections.abc import Iterator
from typing import Annotated, cast

import msgspec

from refold.agentpedia.common import Json
from refold.agentpedia.event import CONSTITUTION, MAX_INTEGER, PREFIX, Event, position
from refold.agentpedia.fold import Fold
from refold.agentpedia.rules import ALGO_VERSIONS, Rules
from refold.agentpedia.state import Options
from refold.kernel.errors import InputError

GENESIS_PIN = "genesis"


class Result(msgspec.Struct, frozen=True):
    """How one vector went: `difference` is the first expectation not met, "" when all are."""

    id: str
    title: str
    difference: str

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return not self.difference


class _Pin(msgspec.Struct, frozen=True):
    pin: str
    path: str
    sender: str
    height: Annotated[int, msgspec.Meta(le=MAX_INTEGER)] | None
    payload: dict[str, object]
    arbiters: list[str] | None = None


class _Checkpoint(msgspec.Struct, frozen=True):
    pins: list[str] | None
    expect: Json


class Vector(msgspec.Struct, frozen=True, rename="camel"):
    """One vector as published."""

    id: str
    title: str
    events: list[_Pin]
    expect: Json = {}
    founders: list[str] | None = None
    param_overrides: dict[str, int] = {}
    checkpoints: list[_Checkpoint] = []
    editors_rep: dict[str, int] = {}
    cluster_aliases: dict[str, str] = {}
    frozen_arbiter_overrides: dict[str, list[str]] = {}


class _Defaults(msgspec.Struct, frozen=True, rename="camel"):
    blocks_per_hour: int
    blocks_per_day: int
    founders: list[str]
    arbiters: list[str]
    params: dict[str, int]


class VectorFile(msgspec.Struct, frozen=True):
    """A file of vectors: the pipeline that every engine must pass, and the supplementary ones."""

    defaults: _Defaults
    vectors: list[Vector]
    supplementary: list[Vector] = []


def read_vectors(data: bytes) -> VectorFile:
    """Read a file of vectors. Raises `InputError` (`vectors-unreadable`)."""
    try:
        return msgspec.json.decode(data, type=VectorFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            "vectors-unreadable",
            f"not a file of replay vectors: {error}",
            "give the published file",
        ) from error


def run_vector(vector: Vector, file: VectorFile, rules: Rules) -> Result:
    """Fold one vector, each checkpoint from scratch, and find the first expectation not met."""
    if not vector.checkpoints:
        found = _first_difference(_folded(vector, file, rules, None), vector.expect)
        return Result(vector.id, vector.title, found)
    for number, checkpoint in enumerate(vector.checkpoints, 1):
        found = _first_difference(_folded(vector, file, rules, checkpoint.pins), checkpoint.expect)
        if found:
            return Result(vector.id, vector.title, f"checkpoint {number}: {found}")
    return Result(vector.id, vector.title, "")


def _folded(vector: Vector, file: VectorFile, rules: Rules, pins: list[str] | None) -> Json:
    """Give the common view of a vector's events, or of those that a checkpoint names."""
    chosen = [p for p in vector.events if pins is None or p.pin in pins]
    events = [_genesis(vector, file.defaults), *_placed(chosen)]
    fold = Fold(rules, _options(vector, file.defaults))
    fold.apply_many(sorted(events, key=position))
    pending = [p.pin for p in chosen if p.height is None or p.height < 0]
    return fold.view(pending=pending).common()


def _placed(pins: list[_Pin]) -> Iterator[Event]:
    """Give confirmed pins their place: `txIndex` is the position within the height (spec §2)."""
    seen: dict[int, int] = {}
    for pin in pins:
        if pin.height is not None and pin.height >= 0:
            index = seen[pin.height] = seen.get(pin.height, 0) + 1
            yield Event(pin.pin, PREFIX + pin.path, pin.height, index, pin.sender, pin.payload)


def _genesis(vector: Vector, defaults: _Defaults) -> Event:
    founders = vector.founders or defaults.founders
    payload: Json = {
        "v": 1,
        "revision": 0,
        "prevConstitution": None,
        "proposalPin": None,
        "founders": founders,
        "params": defaults.params | vector.param_overrides,
        "algoVersions": ALGO_VERSIONS,
    }
    sender = founders[0] if founders else ""
    return Event(GENESIS_PIN, CONSTITUTION, 1, 0, sender, payload)


def _options(vector: Vector, defaults: _Defaults) -> Options:
    return Options(
        blocks_per_hour=defaults.blocks_per_hour,
        blocks_per_day=defaults.blocks_per_day,
        editors_rep=vector.editors_rep,
        cluster_aliases=vector.cluster_aliases,
        frozen_arbiter_overrides=vector.frozen_arbiter_overrides,
        arbiter_overrides={
            p.pin: p.arbiters or defaults.arbiters
            for p in vector.events
            if p.path == "ruling" and p.payload.get("action") == "proposal"
        },
    )


def _first_difference(view: Json, expect: Json) -> str:
    for path, wanted in expect.items():
        found = _unmet(view, path, wanted)
        if found:
            return found
    return ""


_CONTAINS = re.compile(r"(?P<array>.*)\.\$contains(?:\.(?P<place>\d{1,6}))?")


def _unmet(view: Json, path: str, wanted: object) -> str:
    """Check one expectation; "" when it is met, else a line that says what was found."""
    if path.endswith(".$absent"):
        value = _walk(view, path.removesuffix(".$absent"))
        return "" if value in (None, [], {}, "") else f"{path}: found {_text(value)}"
    contains = _CONTAINS.fullmatch(path)
    if contains:
        value = _walk(view, contains["array"])
        items = value if isinstance(value, list) else []
        place = contains["place"]
        if place is not None:
            met = wanted in items[int(place) : int(place) + 1]
        else:
            met = any(_matches(item, wanted) for item in items)
        if met:
            return ""
        return f"{path}: {_text(wanted)} is not in {_text(value)}"
    if path.endswith(".length"):
        value = _walk(view, path.removesuffix(".length"))
        size = len(value) if isinstance(value, (list, dict)) else None
        return "" if size == wanted else f"{path}: expected {wanted}, found {size}"
    value = _walk(view, path)
    return "" if value == wanted else f"{path}: expected {_text(wanted)}, found {_text(value)}"


def _walk(view: object, path: str) -> object:
    for step in path.split("."):
        if not isinstance(view, dict):
            return None
        view = cast("Json", view).get(step)
    return view


def _matches(item: object, wanted: object) -> bool:
    if isinstance(wanted, dict) and isinstance(item, dict):
        return all(item.get(name) == value for name, value in wanted.items())
    return item == wanted


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
