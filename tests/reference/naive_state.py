"""What the naive fold remembers, and the questions it answers by scanning all of it.

Counters are not kept: the number of revs of an editor, his tier, his reputation, the rates of a
day are counted anew from the lists of what happened, each time they are asked for.

Clauses are those of the project's Agentpedia specification (`S` below) and of the page of engine
facts (`F` below). The number behind a question is that of READINGS.md (`R` below).
"""

from hashlib import sha256
from typing import Any

Json = dict[str, Any]

PREFIX = "/protocols/agentpedia/"
PATHS = ("rev", "challenge", "ruling", "review", "editor", "constitution", "param-proposal")

# S 6: the eleven outcomes, the five personal ones with their change of reputation in whole points.
PERSONAL = {
    "warn-editor": -1,
    "slash-stake-half": -2,
    "slash-stake-full": -5,
    "ban-editor": -5,
    "confirm-goodfaith": 1,
}
OUTCOMES = (
    "dismiss",
    "revert-to",
    "protect",
    "unprotect",
    "unfreeze",
    "transfer-slug",
    *PERSONAL,
)

# S 3: name, least, greatest (None: no bound) of each parameter; the last one may be left out.
PARAMS: dict[str, tuple[int, int | None]] = {
    "challengeWindowHours": (1, 720),
    "revertWarWindowHours": (1, 168),
    "revertWarThreshold": (2, 10),
    "arbiterPoolK": (7, 101),
    "arbiterDrawN": (3, 21),
    "rulingQuorum": (2, 21),
    "voteWindowHours": (1, 168),
    "stakeAmountSat": (1, None),
    "coldStartDays": (0, 90),
    "ratePerSlugDaily": (1, None),
    "rateGlobalDaily": (1, None),
    "thetaProtect": (0, None),
    "thetaFeatured": (0, None),
    "featuredMinReviews": (1, None),
    "inlineContentMaxBytes": (16384, 16384),
    "t0DurationHours": (0, 720),
    "t1MinValidRevs": (1, None),
    "t2MinDays": (1, None),
    "t2MinValidRevs": (1, None),
    "bootstrapWindowDays": (0, 365),
    "arbiterSuspensionDays": (0, None),
}
OPTIONAL_PARAM = "arbiterSuspensionDays"
DEFAULT_SUSPENSION_DAYS = 30

ALGORITHMS = {
    "adoption": "adoption-algo-v1",
    "reputation": "reputation-algo-v1",
    "arbiterDraw": "arbiter-draw-v1",
}

# The greatest integer that every JSON reader takes exactly (docs/agentpedia-view.md).
HIGHEST = 2**53 - 1

# S 8. Reputation is counted in half tenths, because a signal earned at T0 or T0+ is worth half.
POINT = 20
TENTH = 2
OVERTURN_DAYS = 7


class Refused(Exception):  # noqa: N818 - it is a ruling on a pin, not an error of the program
    """The pin goes to the graveyard with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class World:
    """Everything that happened, in lists."""

    def __init__(self, options: Json, profile: str) -> None:
        self.options = options
        self.prd = profile == "prd"
        self.blocks_per_hour: int = options.get("blocksPerHour", 6)
        self.blocks_per_day: int = options.get("blocksPerDay", 144)
        self.position = 0  # of the event in chain order
        self.genesis: Json | None = None  # {pin, height, issuer}
        self.params: dict[str, int] = {}  # the known ones only
        self.founders: list[str] = []
        self.constitutions: list[Json] = []  # {pin, revision, sender, height, proposalPin, params}
        self.named: list[str] = []  # S 3: ids that are shown among the editors
        self.registered: dict[str, int] = {}  # id -> height from which his age counts
        self.banned: list[str] = []
        self.revoked: list[str] = []
        self.suspensions: list[Json] = []  # {pin, editor, until}
        self.pool_suspensions: list[Json] = []  # {proposal, editor, until}
        self.cases: list[Json] = []  # editor challenges {pin, editor, by, height, position}
        self.responses: list[Json] = []  # accepted poc-responses {pin, case, editor, review}
        self.registers: list[Json] = []  # staked ones {pin, editor, height, position, txid}
        self.endorsements: list[Json] = []  # {pin, register, editor, by, height}
        self.records: list[Json] = []  # entries, each once
        self.keys: dict[str, Json] = {}  # entry key -> record; two keys may hold one record
        self.plates: dict[str, Json] = {}  # entry key -> plate left by transfer-slug
        self.displaced: list[Json] = []  # {key, by, record}
        self.applied: list[Json] = []  # applied revs {pin, type, editor, root, key, height, ...}
        self.reviews: list[Json] = []
        self.challenges: list[Json] = []
        self.proposals: list[Json] = []  # of rulings
        self.param_proposals: list[Json] = []
        self.reputation: list[Json] = []  # {editor, halves, why, height, of}
        self.graveyard: list[Json] = []
        self.not_authoritative: str | None = None  # pin of the first unknown algorithm


# --- ids, time ---------------------------------------------------------------------------------


def root_of(world: World, editor: str) -> str:
    """Gives the root id of a cluster, of a loop its smallest id (S 4, cluster aliases; R 32)."""
    aliases = world.options.get("clusterAliases") or {}
    walked = [editor]
    while walked[-1] in aliases:
        following = aliases[walked[-1]]
        if following in walked:
            return min(walked[walked.index(following) :])
        walked.append(following)
    return walked[-1]


def day_of(world: World, height: int) -> int:
    """Gives the day number of a height (S 2)."""
    assert world.genesis is not None
    return (height - int(world.genesis["height"])) // world.blocks_per_day


def in_bootstrap_window(world: World, height: int) -> bool:
    """Tells whether a height is inside the bootstrap window (S 4)."""
    assert world.genesis is not None
    days = world.params["bootstrapWindowDays"]
    return height < int(world.genesis["height"]) + days * world.blocks_per_day


# --- editors -----------------------------------------------------------------------------------


def valid_revs(world: World, editor: str) -> int:
    """Counts the applied revs of an editor, of any type (S 4)."""
    return sum(1 for rev in world.applied if rev["editor"] == editor)


def suspended_until(suspensions: list[Json], editor: str) -> int:
    """Gives where the last suspension of an editor ends, 0 without one (R 42)."""
    ends = [item["until"] for item in suspensions if item["editor"] == editor]
    return int(ends[-1]) if ends else 0


def tier(world: World, editor: str, height: int) -> str | None:
    """Gives the tier at a height, None for whoever is not a registered editor then (S 4)."""
    if editor not in world.registered or editor in world.banned or editor in world.revoked:
        return None
    if height < suspended_until(world.suspensions, editor):
        return None
    if editor in world.founders and in_bootstrap_window(world, height):
        return "T2"
    params = world.params
    age = height - world.registered[editor]
    revs = valid_revs(world, editor)
    if age >= params["t2MinDays"] * world.blocks_per_day and revs >= params["t2MinValidRevs"]:
        return "T2"
    if age < params["t0DurationHours"] * world.blocks_per_hour:
        return "T0"
    return "T1" if revs >= params["t1MinValidRevs"] else "T0+"


def status(world: World, editor: str) -> str:
    """Gives active, pending or none (F, editors in the view)."""
    if editor in world.registered:
        return "active"
    return "pending" if any(reg["editor"] == editor for reg in world.registers) else "none"


def halves(world: World, editor: str) -> int:
    """Sums the reputation of an editor in half tenths (S 8)."""
    return sum(item["halves"] for item in world.reputation if item["editor"] == editor)


def tenths(world: World, editor: str) -> int:
    """Gives the reputation in tenths; a single half waits for its second one (S 8; R 20)."""
    return halves(world, editor) // TENTH


def change_reputation(
    world: World, editor: str, amount: int, *, why: str, height: int, of: str
) -> None:
    """Adds half tenths to the reputation of an editor, with the reason and the pin it is for."""
    world.reputation.append(
        {"editor": editor, "halves": amount, "why": why, "height": height, "of": of}
    )


def editors(world: World) -> list[str]:
    """Lists every id that the view shows among the editors (F, editors in the view)."""
    ids = [*world.founders, *world.named]
    ids += [p["editor"] for p in world.proposals if p["state"] == "effective" and p["editor"]]
    return sorted(set(ids))


# --- arbiters ----------------------------------------------------------------------------------


def out_of_pool(world: World, editor: str, height: int) -> bool:
    """Tells whether an absence keeps the editor out of the pool at a height (S 1)."""
    return height < suspended_until(world.pool_suspensions, editor)


def pool(world: World, height: int) -> list[str]:
    """Gives the arbiter pool at a height, best first (S 1, arbiter pool)."""
    members = [who for who in sorted(world.registered) if tier(world, who, height) == "T2"]
    if not world.prd:
        return members
    members = [who for who in members if not out_of_pool(world, who, height)]
    members.sort(key=lambda who: (-tenths(world, who), who))
    return members[: max(0, world.params["arbiterPoolK"])]


def draw(world: World, seed: str, height: int) -> list[str]:
    """Draws the arbiters, in draw order (S 6, arbiter-draw-v1)."""

    def key(who: str) -> tuple[int, str]:
        return int.from_bytes(sha256((seed + who).encode()).digest()[:8], "big"), who

    return sorted(pool(world, height), key=key)[: max(0, world.params["arbiterDrawN"])]


# --- entries and versions ----------------------------------------------------------------------


def new_record(world: World) -> Json:
    """Makes an entry without a version."""
    record: Json = {
        "head": None,
        "status": "normal",
        "history": [],
        "versions": {},
        "contests": [],
        "marked": [],  # deployed: versions marked disputed
        "redirect": None,  # {to, pin}
        "frozenAt": None,
        "baselineRev": None,
        "writers": [],  # who may write while it is frozen
        "weights": [],  # reverts {height, tenths, root, fix}
        "displayMode": "lww",
        "passedHead": None,  # the head when `reviewed` was set
    }
    world.records.append(record)
    return record


def alias(world: World, name: str) -> str:
    """Gives the version that a revert or ruling pin stands for, else the name itself (S 5)."""
    if not world.prd:
        return name
    for record in world.records:
        for version in (name + "::eq", name + "::rev"):
            if version in record["versions"]:
                return version
    return name


def find_version(world: World, name: str) -> tuple[Json, str, str] | None:
    """Finds a version: its record, its id, and the key it is attributed to (S 4, E-5; F, transfer).

    Takes a version id, under `prd` also an alias of one.
    """
    name = alias(world, name)
    if world.prd:
        for record in world.records:
            if name in record["versions"]:
                return record, name, record["versions"][name]["entryKey"]
        return None
    holders = sorted(key for key, record in world.keys.items() if name in record["versions"])
    if not holders:
        return None
    written = world.keys[holders[0]]["versions"][name]["entryKey"]
    key = written if written in holders else holders[0]
    return world.keys[key], name, key


def end_freeze(world: World, record: Json) -> None:
    """Forgets weights, frozenAt and baselineRev when a freeze ends (F, fault 7)."""
    if world.prd:
        record.update(frozenAt=None, baselineRev=None, writers=[], weights=[])


# --- challenges --------------------------------------------------------------------------------


def deciding(world: World, challenge: Json) -> Json | None:
    """Gives the effective proposal that decided a challenge, if any; `prd` only (F, fault 9)."""
    if not world.prd:
        return None
    for proposal in world.proposals:
        if proposal["challengePin"] == challenge["pin"] and proposal["state"] == "effective":
            return proposal
    return None


def disputed(world: World, record: Json) -> list[str]:
    """Lists the disputed versions of a record (S 6, challenge), sorted."""
    if not world.prd:
        return sorted(record["marked"])
    open_ones = {c["target"] for c in world.challenges if deciding(world, c) is None}
    return sorted(version for version in record["versions"] if version in open_ones)
