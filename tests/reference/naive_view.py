"""The views of the naive fold."""

from reference.naive_rulings import approve_count
from reference.naive_state import (
    Json,
    World,
    deciding,
    disputed,
    editors,
    status,
    tenths,
    tier,
    valid_revs,
)

VERSION_MEMBERS = ("contentHash", "author", "parentRev", "entryKey", "equivalentOf")
STUB_BYTES = 512
GOOD_SCORE = 4


def number(in_tenths: int) -> int | float:
    """Shows tenths as a number: whole ones as an integer (S 2)."""
    return in_tenths // 10 if in_tenths % 10 == 0 else in_tenths / 10


def common_view(world: World, pending: list[str], tip: int) -> Json:
    """Gives the view that the public engines give (S 10)."""
    return {
        "entries": {key: entry_view(world, key, world.keys[key]) for key in sorted(world.keys)},
        "graveyard": [{"pin": g["pin"], "reason": g["reason"]} for g in world.graveyard],
        "pending": pending,
        "editors": {who: editor_view(world, who, tip) for who in editors(world)},
        "proposals": {p["pin"]: proposal_view(p) for p in world.proposals},
        "params": dict(world.params),
        "founders": list(world.founders),
    }


def entry_view(world: World, key: str, record: Json) -> Json:
    """Shows a record under one of its keys."""
    return {
        "head": record["head"],
        "status": record["status"],
        "history": list(record["history"]),
        "disputed": disputed(world, record),
        "contests": [dict(contest) for contest in record["contests"]],
        "redirect": plate(world, key, record),
        "frozenAt": record["frozenAt"],
        "baselineRev": record["baselineRev"],
        "versions": {
            name: {member: version[member] for member in VERSION_MEMBERS}
            for name, version in record["versions"].items()
        },
    }


def plate(world: World, key: str, record: Json) -> Json | None:
    """Gives the redirect plate of a key (S 5, redirect; F, transfer-slug)."""
    if key in world.plates:
        return dict(world.plates[key])
    redirect = record["redirect"]
    if redirect is None or (world.prd and record["head"] != redirect["pin"]):
        return None
    return {"to": redirect["to"]}


def editor_view(world: World, who: str, tip: int) -> Json:
    """Shows an editor."""
    return {
        "status": status(world, who),
        "tier": tier(world, who, tip) if world.genesis else None,
        "reputation": number(tenths(world, who)),
        "validRevs": valid_revs(world, who),
        "registeredAt": world.registered.get(who),
        "revoked": who in world.revoked,
        "banned": who in world.banned,
    }


def proposal_view(proposal: Json) -> Json:
    """Shows a proposal of a ruling."""
    return {
        "state": proposal["state"],
        "outcome": proposal["outcome"],
        "approveCount": approve_count(proposal),
        "arbiters": list(proposal["arbiters"]),
        "entryKey": proposal["entryKey"],
        "baselineRev": proposal["baselineRev"],
    }


# --- display (S 6) -----------------------------------------------------------------------------


def passed(world: World, record: Json, version: str) -> bool:
    """Tells whether a version passed review (S 6, displayMode)."""
    if version == record["passedHead"]:
        return True
    if version not in record["versions"]:
        return False
    good = any(by_t2(r) and is_good(r) for r in world.reviews if r["target"] == version)
    verdicts = [deciding(world, c) for c in world.challenges if c["target"] == version]
    against = [v for v in verdicts if v and v["outcome"] not in ("dismiss", "confirm-goodfaith")]
    return good and version not in disputed(world, record) and not against  # R 39


def by_t2(review: Json) -> bool:
    """Tells whether the reviewer was T2 then, and not of the author's cluster."""
    return bool(review["tier"] == "T2" and review["independent"])


def is_good(review: Json) -> bool:
    """Tells whether a score is one of the two best."""
    return review["score"] is not None and review["score"] >= GOOD_SCORE


def display(world: World, record: Json) -> tuple[str | None, list[str]]:
    """Gives displayHead and awaitingReview (S 6, displayMode)."""
    history, shown = record["history"], record["head"]
    if record["displayMode"] == "reviewed":
        shown = [name for name in history if passed(world, record, name)][-1]
    if record["status"] == "frozen":
        shown = record["baselineRev"]
    if record["displayMode"] != "reviewed":
        return shown, []
    later = history[history.index(shown) + 1 :]
    return shown, [name for name in later if name in record["versions"]]


# --- quality (S 9) -----------------------------------------------------------------------------


def quality(world: World, record: Json) -> str:
    """Gives protected, featured, normal or stub (S 9)."""
    if record["status"] == "protected":
        return "protected"
    if featured(world, record):
        return "featured"
    version = record["versions"].get(record["head"])
    size = text_size(version) if version else None
    return "stub" if size is not None and size < STUB_BYTES else "normal"


def text_size(version: Json) -> int | None:
    """Gives the bytes of the inline text, None without one."""
    return len(version["content"].encode()) if isinstance(version["content"], str) else None


def featured(world: World, record: Json) -> bool:
    """Tells whether the head is featured (S 9)."""
    head = record["head"]
    if head not in record["versions"] or head in disputed(world, record):
        return False
    latest: dict[str, Json] = {}
    for review in world.reviews:
        if review["target"] == head:
            latest[review["by"]] = review
    good = [review for review in latest.values() if by_t2(review) and is_good(review)]
    weight = sum(max(0, tenths(world, review["by"])) for review in good)
    enough = len(good) >= world.params["featuredMinReviews"]
    return enough and weight >= 10 * world.params["thetaFeatured"]


def composition(record: Json) -> dict[str, int]:
    """Counts the versions of each author (S 9)."""
    authors = [version["author"] for version in record["versions"].values()]
    return {author: authors.count(author) for author in sorted(set(authors))}
