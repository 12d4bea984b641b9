"""Random streams of Agentpedia events, the same for the same seed.

A stream is a small world: few editors, few slugs, small parameters, a clock that jumps to where
something falls due. The naive fold runs along as a model of the state, so that most events are
meant to succeed; the rest are slips, strangers and broken payloads.
"""

import random
from collections.abc import Callable
from typing import Any

from reference import stream_registry, stream_writing
from reference.naive import apply
from reference.naive_rulings import close_due
from reference.naive_state import ALGORITHMS, OVERTURN_DAYS, PREFIX, Json, World, tier

MODES = ("mixed", "war", "court", "registry", "governance", "library", "transfer")

WRONG_VALUES: tuple[Any, ...] = (
    None,
    0,
    5,
    99,
    2**53,
    -1,
    1.5,
    2.0,
    True,
    False,
    "",
    "none",
    "constructor",
    "__proto__",
    [],
    ["x"],
    {},
    {"toString": 1},
)

Action = Callable[["Maker"], None]

# weight of each action in each mode; what is not named has the weight of "mixed"
WEIGHTS: dict[str, dict[str, int]] = {
    "mixed": {
        "create": 6,
        "edit": 14,
        "revert": 5,
        "war": 2,
        "redirect": 2,
        "review": 7,
        "challenge": 7,
        "propose": 7,
        "vote": 14,
        "pass": 3,
        "join": 3,
        "endorse": 2,
        "punish": 2,
        "amend": 2,
        "revise": 1,
        "vote_params": 3,
        "wait": 4,
        "jump": 2,
        "oddity": 1,
    },
    "war": {"war": 12, "revert": 10, "edit": 12, "create": 4, "join": 1, "amend": 0},
    "court": {"challenge": 14, "propose": 14, "vote": 24, "pass": 8, "punish": 6, "amend": 0},
    "registry": {"join": 14, "endorse": 12, "punish": 5, "review": 10, "war": 0, "amend": 1},
    "governance": {
        "amend": 10,
        "vote_params": 24,
        "revise": 9,
        "pass": 4,
        "war": 1,
        "join": 3,
        "punish": 4,
    },
    "library": {"review": 24, "edit": 18, "challenge": 9, "pass": 9, "jump": 4, "amend": 0},
    "transfer": {"transfer": 14, "pass": 8, "redirect": 6, "revert": 10, "war": 4, "amend": 0},
}


class Maker:
    """Makes one stream, event by event, beside a model of the state."""

    def __init__(self, seed: int, mode: str) -> None:
        self.rng = random.Random(f"{mode}:{seed}")
        self.mode = mode
        self.events: list[Json] = []
        self.height = self.rng.choice([1, 10, 500])
        self.tx_index = 0
        self.slips = self.rng.choice([0.0, 0.05, 0.15])  # share of events with a slip
        self.broken = self.rng.choice([0.0, 0.0, 0.03, 0.1])  # share of broken payloads
        self.options = self.make_options()
        self.world = World(self.options, self.rng.choice(["prd", "prd", "deployed"]))
        self.founders = [f"E{i}" for i in range(1, self.rng.randint(4, 8))]
        self.strangers = ["X1", "X2", "X3", "X4"]
        self.slugs = self.rng.sample(["a", "b", "c", "d"], self.rng.randint(2, 4))
        if self.rng.random() < 0.3:
            self.options["clusterAliases"] = self.make_aliases()
        if self.rng.random() < 0.5:
            half = self.rng.sample(self.founders, len(self.founders) // 2)
            half += ["X4"] if self.rng.random() < 0.1 else []
            self.options["editorsRep"] = {who: self.rng.randint(1, 4) for who in half}

    def make_options(self) -> Json:
        """Chooses the clock and what is injected."""
        per_hour, per_day = self.rng.choice([(6, 144), (1, 24), (1, 4)])
        options: Json = {
            "blocksPerHour": per_hour,
            "blocksPerDay": per_day,
            "arbiterOverrides": {},
            "frozenArbiterOverrides": {},
            "contentFacts": {},
        }
        if self.rng.random() < 0.1:
            options["frozenArbiterOverrides"]["en:a"] = ["E1", "E2"]
        if self.rng.random() < 0.4:
            options["stakeFacts"] = {}
        return options

    def make_aliases(self) -> dict[str, str]:
        """Chooses who stands for whom: a pair, a chain, a loop, or a way into a loop."""
        a, b, c = self.rng.sample([*self.founders, "X1"], 3)
        shapes = ({a: b}, {a: b}, {a: b, b: c}, {a: b, b: a}, {a: b, b: c, c: b}, {a: a})
        return self.rng.choice(shapes)

    def make_params(self) -> Json:
        """Chooses small parameters."""
        pick = self.rng.choice
        params = {
            "challengeWindowHours": pick([4, 48]),
            "revertWarWindowHours": pick([2, 6, 24]),
            "revertWarThreshold": pick([2, 2, 3]),
            "arbiterPoolK": pick([2, 3, 4, 6]),
            "arbiterDrawN": pick([2, 3, 4]),
            "rulingQuorum": pick([1, 2, 2, 3]),
            "voteWindowHours": pick([4, 12, 48]),
            "stakeAmountSat": 100,
            "coldStartDays": 14,
            "ratePerSlugDaily": pick([4, 8, 999, 999]),
            "rateGlobalDaily": pick([5, 12, 999, 999]),
            "thetaProtect": pick([0, 0, 1, 3]),
            "thetaFeatured": pick([0, 1, 4]),
            "featuredMinReviews": pick([1, 1, 2]),
            "inlineContentMaxBytes": 16384,
            "t0DurationHours": pick([0, 2, 24, 100]),
            "t1MinValidRevs": pick([1, 2, 4]),
            "t2MinDays": pick([1, 2, 3]),
            "t2MinValidRevs": pick([1, 3, 6]),
            "bootstrapWindowDays": pick([0, 1, 4, 30, 30, 30]),
            "arbiterSuspensionDays": pick([0, 1, 2, 30]),
        }
        if self.rng.random() < 0.1:
            del params["arbiterSuspensionDays"]
        if self.rng.random() < 0.05:
            params["unknownParam"] = 7
        return params

    # --- small choices ---------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        """Gives true in this share of the cases."""
        return self.rng.random() < share

    def slip(self) -> bool:
        """Gives true where this stream wants something to go wrong."""
        return self.chance(self.slips)

    def anybody(self) -> str:
        """Picks any id."""
        return self.rng.choice([*self.founders, *self.strangers])

    def tiers(self, *wanted: str) -> list[str]:
        """Lists the ids of some tiers now."""
        everybody = [*self.founders, *self.strangers]
        return [who for who in everybody if tier(self.world, who, self.height) in wanted]

    def member(self, *wanted: str) -> str:
        """Picks an editor of some tiers (default: of those who may edit), or anybody."""
        found = self.tiers(*(wanted or ("T0+", "T1", "T2")))
        return self.anybody() if not found or self.slip() else self.rng.choice(found)

    def key(self) -> str:
        """Picks an entry key."""
        if self.world.keys and not self.chance(0.1):
            return self.rng.choice(sorted(self.world.keys))
        return "en:" + self.rng.choice(self.slugs)

    def versions(self) -> list[str]:
        """Lists the versions of all records."""
        return [name for record in self.world.records for name in record["versions"]]

    def short(self, name: str | None) -> str | None:
        """Names a version now and then by the pin it has on the chain (F, fault 5)."""
        if name is not None and "::" in name and self.chance(0.3):
            return name.partition("::")[0]
        return name

    # --- events ----------------------------------------------------------------------------

    def emit(self, kind: str, sender: str, payload: Json) -> str:
        """Appends an event, perhaps with a broken payload, and tells the model; gives its pin."""
        if self.world.genesis is not None and self.chance(self.broken):
            payload = self.break_payload(payload)
        if not self.chance(0.02):
            self.tx_index += 1
        pin = f"{self.rng.choice('0123456789abcdef')}{len(self.events):03d}"
        self.append(pin, PREFIX + kind, sender, {"v": 1, **payload})
        return pin

    def append(self, pin: str, path: str, sender: str, payload: Any) -> None:
        """Appends an event as it is."""
        event = {
            "pin": pin,
            "path": path,
            "height": self.height,
            "txIndex": self.tx_index,
            "sender": sender,
            "payload": payload,
        }
        self.events.append(event)
        self.world.position += 1
        close_due(self.world, self.height)
        apply(self.world, event)

    def next_pin(self) -> str:
        """Gives a pin to be; the caller must append it himself."""
        self.tx_index += 1
        return f"{self.rng.choice('0123456789abcdef')}{len(self.events):03d}"

    def break_payload(self, payload: Json) -> Json:
        """Takes a member away or gives it a wrong value, at the top or one step down."""
        payload = dict(payload)
        name = self.rng.choice(sorted(payload))
        inner = payload[name]
        if isinstance(inner, dict) and inner and self.chance(0.7):
            payload[name] = self.break_payload(inner)
        elif self.chance(0.3):
            del payload[name]
        else:
            payload[name] = self.rng.choice(WRONG_VALUES)
        return payload

    def tick(self, blocks: int = 0) -> None:
        """Moves the clock; at a new height the positions start again."""
        if blocks > 0:
            self.height += blocks
            self.tx_index = 0
            close_due(self.world, self.height)

    def step(self) -> None:
        """Moves the clock by nothing or a little."""
        self.tick(self.rng.choice([0, 0, 0, 1, 1, 2, 4]))

    def model_params(self) -> dict[str, int]:
        """Gives the parameters in force."""
        return self.world.params


# --- the first pins, the clock, oddities -------------------------------------------------------


def begin(maker: Maker) -> None:
    """Makes the genesis, at times with something before it."""
    payload = {
        "revision": 0,
        "prevConstitution": None,
        "proposalPin": None,
        "founders": maker.founders,
        "params": maker.make_params(),
        "algoVersions": dict(ALGORITHMS),
    }
    if maker.chance(0.2):
        maker.emit("editor", "X1", {"action": "endorse", "editor": "X9", "registerPin": "none"})
        maker.emit("constitution", "X2", {**payload, "revision": 1})
        strange = {**ALGORITHMS, "adoption": "adoption-algo-v2"}
        maker.emit("constitution", "X2", {**payload, "algoVersions": strange})
        maker.emit("constitution", "X2", maker.break_payload({"founders": [], "params": {}}))
    if maker.chance(0.05):
        pin = maker.next_pin()
        maker.options["genesisPin"] = f"g{pin}"
        maker.emit("constitution", "X3", {**payload, "founders": ["X3", "X4"]})
        maker.append(f"g{pin}", PREFIX + "constitution", "E1", {"v": 1, **payload})
    else:
        maker.emit("constitution", "E1", payload)


def wait(maker: Maker) -> None:
    """Lets some blocks pass."""
    maker.tick(maker.rng.choice([5, 10, maker.world.blocks_per_hour * 3]))


def jump(maker: Maker) -> None:
    """Goes to where something falls due, or to the block beside it."""
    world, day = maker.world, maker.world.blocks_per_day
    aims = [p["expiry"] for p in [*world.proposals, *world.param_proposals] if p["state"] == "open"]
    aims += [
        rev["height"] + OVERTURN_DAYS * day for rev in world.applied[-5:] if not rev["settled"]
    ]
    aims += [maker.height + day, maker.height + 3 * day]
    maker.tick(maker.rng.choice(aims) + maker.rng.choice([-1, 0, 0, 1]) - maker.height)


def oddity(maker: Maker) -> None:
    """Makes something that no well-behaved writer makes."""
    rng = maker.rng
    kind = rng.randrange(8)
    if kind == 0:
        maker.append(maker.next_pin(), PREFIX + "rumour", maker.anybody(), {"v": 1})
    elif kind == 1:
        junk: Any = rng.choice([[], "text", None, {"v": 1, "slug": "a\0b"}, {"v": ["\ud800"]}])
        path = PREFIX + rng.choice(["rev", "editor", "review"])
        maker.append(maker.next_pin(), path, maker.anybody(), junk)
    elif kind == 2:
        maker.events.append(dict(rng.choice(maker.events)))  # the indexer lists it twice
    elif kind == 3:
        floating = {**rng.choice(maker.events), "height": rng.choice([None, -1])}
        maker.events.append(floating)
        maker.events.append({**floating, "pin": f"m{len(maker.events):03d}"})
    elif kind == 4:
        again = {"revision": 0, "founders": ["X1", "X2"], "params": maker.make_params()}
        maker.emit("constitution", "X1", {**again, "algoVersions": dict(ALGORITHMS)})
    elif kind == 5:
        strange = {**ALGORITHMS, "arbiterDraw": "arbiter-draw-v9"}
        maker.emit("constitution", "E1", {"revision": 1, "params": {}, "algoVersions": strange})
    elif kind == 6:
        path = rng.choice(["ruling", "editor", "param-proposal", "rev"])
        word = rng.choice(["constructor", "delete", None, 7])
        payload = {"action": word, "kind": word, "type": word, "lang": "en", "slug": "a"}
        maker.emit(path, maker.member(), {**payload, "editor": "X1"})
    else:
        maker.tick(rng.choice([1, 3]) * maker.world.blocks_per_day)


ACTIONS: dict[str, Action] = {
    "wait": wait,
    "jump": jump,
    "oddity": oddity,
    **stream_writing.ACTIONS,
    **stream_registry.ACTIONS,
}


def stream(seed: int, mode: str) -> tuple[list[Json], Json]:
    """Makes the stream of a seed and a mode; gives its events and the options of the fold."""
    maker = Maker(seed, mode)
    begin(maker)
    weights = {**WEIGHTS["mixed"], **WEIGHTS[mode]}
    names = [name for name, weight in weights.items() if weight]
    shares = [weights[name] for name in names]
    length = maker.rng.randint(60, 160)
    while len(maker.events) < length:
        ACTIONS[maker.rng.choices(names, shares)[0]](maker)
        maker.step()
    return maker.events, maker.options
