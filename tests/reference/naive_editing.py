"""The naive rules of writing: revs, the edit war they may cause, reviews, challenges."""

from typing import Any

from reference.naive_state import (
    HIGHEST,
    OVERTURN_DAYS,
    TENTH,
    Json,
    Refused,
    World,
    alias,
    change_reputation,
    day_of,
    draw,
    find_version,
    new_record,
    root_of,
    tenths,
    tier,
)

LOW_TIERS = ("T0", "T0+")


# --- fields (S 3: a field that a rule needs and that has the wrong type is schema-invalid) --------


def text(payload: Json, name: str) -> str:
    """Gives a string member."""
    value = payload.get(name)
    if not isinstance(value, str):
        raise Refused("schema-invalid")
    return value


def text_or_null(payload: Json, name: str) -> str | None:
    """Gives a string member, None when it is null or absent."""
    return None if payload.get(name) is None else text(payload, name)


def boolean(payload: Json, name: str) -> bool:
    """Gives a boolean member."""
    value = payload.get(name)
    if not isinstance(value, bool):
        raise Refused("schema-invalid")
    return value


def is_integer(value: Any) -> bool:
    """Tells an integer from all else: not booleans (S 2), nor what JSON can't carry (R 53)."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= HIGHEST


def object_or_empty(payload: Json, name: str) -> Json:
    """Gives an object member, an empty one when it is null or absent."""
    value = payload.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refused("schema-invalid")
    return value


# --- gates of a rev ----------------------------------------------------------------------------


def refuse_stranger(world: World, who: str, height: int) -> str:
    """Gives the tier of a registered editor, refuses anybody else (S 4)."""
    found = tier(world, who, height)
    if found is None:
        raise Refused("unregistered")
    return found


def refuse_t0(world: World, found: str | None) -> None:
    """Keeps T0 to reading and reviewing (S 1, T0)."""
    if world.prd and found == "T0":
        raise Refused("t0-review-only")


def rev_key(payload: Json) -> str:
    """Gives the entry key that a rev is written under."""
    return f"{text(payload, 'lang')}:{text(payload, 'slug')}"


def gate(world: World, event: Json) -> tuple[str, str]:
    """Runs the gates of a rev in the order of S 5; gives its key and the tier of its author."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    found = refuse_stranger(world, who, height)
    if found == "T0":
        raise Refused("t0-no-rev")
    key = rev_key(payload)
    record = world.keys.get(key)
    if record and record["status"] == "frozen" and who not in record["writers"]:
        raise Refused("frozen-unauthorized")
    enough = tenths(world, who) >= 10 * world.params["thetaProtect"]
    if record and record["status"] == "protected" and not (found == "T2" and enough):
        raise Refused("protected-unauthorized")
    refuse_rate(world, who, key, height)
    facts = world.options.get("contentFacts") or {}
    if world.prd and facts.get(event["pin"]) == "mismatch":  # S 7
        raise Refused("content-hash-mismatch")
    return key, found


def refuse_rate(world: World, who: str, key: str, height: int) -> None:
    """Counts the applied revs of this cluster and day (S 5, rate-global and rate-slug)."""
    today = [
        rev
        for rev in world.applied
        if rev["root"] == root_of(world, who)
        and day_of(world, rev["height"]) == day_of(world, height)
    ]
    if len(today) >= world.params["rateGlobalDaily"]:
        raise Refused("rate-global")
    if len([rev for rev in today if rev["key"] == key]) >= world.params["ratePerSlugDaily"]:
        raise Refused("rate-slug")


# --- the four types ----------------------------------------------------------------------------


def rev(world: World, event: Json) -> None:
    """Applies a rev (S 5)."""
    key, found = gate(world, event)
    types = {"create": create, "edit": edit, "revert": revert, "redirect": redirect}
    kind = event["payload"].get("type")
    if not isinstance(kind, str) or kind not in types:
        raise Refused("rev-type-unknown")
    types[kind](world, event, key, found)


def count(world: World, event: Json, key: str, found: str) -> None:
    """Notes an applied rev. Rates, validRevs and credits are counted from this list."""
    world.applied.append(
        {
            "pin": event["pin"],
            "type": event["payload"]["type"],
            "editor": event["sender"],
            "root": root_of(world, event["sender"]),
            "key": key,
            "height": event["height"],
            "position": world.position,
            "low": found in LOW_TIERS,
            "settled": None,  # height of its credit
            "overturned": None,  # pin of what took it away
        }
    )


def add_version(world: World, record: Json, name: str, version: Json) -> None:
    """Puts a version at the end of the history and makes it the head."""
    version["position"] = world.position
    record["versions"][name] = version
    record["history"].append(name)
    record["head"] = name


def written_version(event: Json, key: str, parent: str | None) -> Json:
    """Makes the version of a create or an edit."""
    payload = event["payload"]
    return {
        "contentHash": text(payload, "contentHash"),
        "author": event["sender"],
        "parentRev": parent,
        "entryKey": key,
        "equivalentOf": None,
        "title": payload.get("title"),
        "content": payload.get("content"),
        "contentRef": payload.get("contentRef"),
        "height": event["height"],
    }


def create(world: World, event: Json, key: str, found: str) -> None:
    """Opens an entry; a second create on a key with a head is an orphan (S 5, create)."""
    if key in world.keys:
        raise Refused("duplicate-create")
    version = written_version(event, key, None)
    world.keys[key] = new_record(world)
    add_version(world, world.keys[key], event["pin"], version)
    count(world, event, key, found)


def edit(world: World, event: Json, key: str, found: str) -> None:
    """Moves the head; a stale `basedOn` is a contest (S 5, edit)."""
    record = world.keys.get(key)
    if record is None:
        raise Refused("edit-without-entry")
    parent = text_or_null(event["payload"], "parentRev")
    based_on = text_or_null(event["payload"], "basedOn")
    version = written_version(event, key, parent if parent is None else alias(world, parent))
    declared = based_on if based_on is None else alias(world, based_on)
    if declared is not None and declared != record["head"]:
        record["contests"].append(
            {"pin": event["pin"], "expected": record["head"], "declared": declared}
        )
    add_version(world, record, event["pin"], version)
    count(world, event, key, found)


def redirect(world: World, event: Json, key: str, found: str) -> None:
    """Makes the pin the head, which is no version, and puts up a plate (S 5, redirect)."""
    record = world.keys.get(key)
    if record is None:
        raise Refused("redirect-without-entry")
    slug = text(event["payload"], "redirectTo")
    target = world.keys.get(f"{event['payload']['lang']}:{slug}")
    if world.prd and target is record:  # F, fault 19; R 12
        raise Refused("redirect-self")
    if target is None:
        raise Refused("redirect-target-missing")
    record["redirect"] = {"to": slug, "pin": event["pin"]}
    record["history"].append(event["pin"])
    record["head"] = event["pin"]
    count(world, event, key, found)


def revert(world: World, event: Json, key: str, found: str) -> None:
    """Makes an equivalent version of an older one, and counts the edit war (S 5, revert)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    record = world.keys.get(key)
    if record is None:
        raise Refused("revert-without-entry")
    place = find_version(world, text(payload, "revertTo"))
    if place is None:
        raise Refused("revert-target-unresolvable")
    target = place[0]["versions"][place[1]]
    # S 1, transfer-slug: under `prd` any version of the same record may be reverted to.
    if place[0] is not record or (not world.prd and target["entryKey"] != key):
        raise Refused("revert-entry-mismatch")
    if text(payload, "contentHash") != target["contentHash"]:
        raise Refused("revert-hash-mismatch")
    fix = object_or_empty(payload, "claim").get("changeType") == "vandalism-fix"
    before = record["head"]
    overturn(world, record, place[1], by=who, height=height, event_pin=event["pin"])
    add_version(
        world,
        record,
        event["pin"] + "::eq",
        {
            **target,
            "author": who,
            "parentRev": before,
            "entryKey": key,
            "equivalentOf": event["pin"],
            "height": height,
        },
    )
    count(world, event, key, found)
    edit_war(world, event, key, record, before=before, fix=fix)


def edit_war(
    world: World, event: Json, key: str, record: Json, *, before: str | None, fix: bool
) -> None:
    """Weighs a revert and freezes the entry at the threshold (S 5, edit-war accounting)."""
    height, root = event["height"], root_of(world, event["sender"])
    oldest = height - world.params["revertWarWindowHours"] * world.blocks_per_hour

    def inside() -> list[Json]:
        return [item for item in record["weights"] if item["height"] > oldest]

    # F, fault 8: `deployed` reads the list as the previous revert left it.
    earlier = inside() if world.prd else record["weights"]
    repeated = any(item["fix"] and item["root"] == root for item in earlier)
    weight = 5 if fix and not repeated else 10
    record["weights"].append({"height": height, "tenths": weight, "root": root, "fix": fix})
    record["weights"] = inside()
    total = sum(item["tenths"] for item in record["weights"])
    if record["status"] != "normal" or total < 10 * world.params["revertWarThreshold"]:
        return
    overrides = world.options.get("frozenArbiterOverrides") or {}
    writers = overrides[key] if key in overrides else draw(world, event["pin"], height)
    record.update(status="frozen", frozenAt=event["pin"], baselineRev=before, writers=list(writers))


def overturn(
    world: World, record: Json, target: str, *, by: str, height: int, event_pin: str
) -> None:
    """Takes away every later create or edit of others (S 8, overturned)."""
    if not world.prd:
        return
    later = record["history"][record["history"].index(target) + 1 :]
    for item in world.applied:
        if item["pin"] not in later or item["type"] not in ("create", "edit"):
            continue
        if item["editor"] == by or item["overturned"] is not None:
            continue
        item["overturned"] = event_pin
        if height < item["height"] + OVERTURN_DAYS * world.blocks_per_day:
            cost = TENTH if item["low"] else 2 * TENTH  # R 21
            change_reputation(
                world, item["editor"], -cost, why="overturned", height=height, of=item["pin"]
            )


# --- reviews and challenges --------------------------------------------------------------------


def review(world: World, event: Json) -> None:
    """Records a review; there is no membership gate (F, reviews)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    place = find_version(world, text(payload, "targetRev"))
    if place is None:
        raise Refused("review-target-unresolvable")
    record, target, _ = place
    author = record["versions"][target]["author"]
    if author == who:
        raise Refused("self-review")
    score = payload.get("score")
    if not is_integer(score):  # R 13: the schema being off, the range is not asked for
        if world.prd:
            raise Refused("schema-invalid")
        score = None
    found = tier(world, who, height)
    same = [r for r in world.reviews if r["by"] == who and r["target"] == target]
    independent = root_of(world, author) != root_of(world, who)
    counts = independent and found is not None and not any(r["counts"] for r in same)
    world.reviews.append(
        {
            "pin": event["pin"],
            "by": who,
            "target": target,
            "score": score,
            "height": height,
            "position": world.position,
            "tier": found,
            "independent": independent,
            "counts": counts,
        }
    )
    # S 8: every second one that counts is worth one tenth, half of it at T0 and T0+ (R 22).
    number = len([r for r in world.reviews if r["by"] == who and r["counts"]])
    if world.prd and counts and number % 2 == 0:
        credit = TENTH // 2 if found in LOW_TIERS else TENTH
        change_reputation(world, who, credit, why="reviews", height=height, of=event["pin"])


def challenge(world: World, event: Json) -> None:
    """Marks a version disputed (S 6, challenge; the order of the checks is given there)."""
    payload, who, height = event["payload"], event["sender"], event["height"]
    place = find_version(world, text(payload, "targetRev"))
    if place is None:
        raise Refused("challenge-target-unresolvable")
    refuse_t0(world, refuse_stranger(world, who, height))
    record, target, _ = place
    if record["versions"][target]["author"] == who:
        raise Refused("self-challenge")
    world.challenges.append(
        {
            "pin": event["pin"],
            "target": target,
            "by": who,
            "height": height,
            "position": world.position,
        }
    )
    if target not in record["marked"]:
        record["marked"].append(target)
