"""Counts what the random streams reach: `python tests/reference/reached.py [N]`.

Folds the streams of N seeds under both profiles with the naive fold and prints how often each
reason, outcome, tier and state came up; what never came up stands last.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from reference.naive import replay
from reference.naive_registry import stake_state
from reference.naive_state import OUTCOMES, World, editors, halves, status, tier
from reference.naive_view import display, quality
from reference.streams import MODES, stream

REASONS = (
    "unknown-path",
    "malformed-json",
    "schema-invalid",
    "no-genesis",
    "duplicate-genesis",
    "algo-unknown",
    "unregistered",
    "t0-no-rev",
    "frozen-unauthorized",
    "protected-unauthorized",
    "rate-global",
    "rate-slug",
    "duplicate-create",
    "edit-without-entry",
    "revert-without-entry",
    "revert-entry-mismatch",
    "revert-target-unresolvable",
    "revert-hash-mismatch",
    "redirect-without-entry",
    "redirect-target-missing",
    "rev-type-unknown",
    "review-target-unresolvable",
    "self-review",
    "challenge-target-unresolvable",
    "self-challenge",
    "ruling-challenge-missing",
    "ruling-seed-mismatch",
    "baseline-rev-mismatch",
    "baseline-rev-not-null",
    "ruling-params-missing",
    "vote-on-closed-proposal",
    "duplicate-vote",
    "ruling-action-unknown",
    "poc-challenge-mismatch",
    "poc-window-exceeded",
    "poc-response-missing",
    "register-invalid",
    "stake-insufficient",
    "endorser-not-t2",
    "endorse-no-register",
    "self-endorse",
    "duplicate-endorse",
    "suspend-unauthorized",
    "revoke-unauthorized",
    "editor-action-unknown",
    "param-vote-on-closed",
    "param-proposal-kind-unknown",
    "constitution-without-effective-proposal",
)
PRD_REASONS = (
    "t0-review-only",
    "proposal-open",
    "challenge-decided",
    "display-mode-not-allowed",
    "poc-review-too-early",
    "stake-mismatch",
    "stake-reused",
    "redirect-self",
    "transfer-source-missing",
    "transfer-self",
    "transfer-cross-lang",
    "constitution-mismatch",
    "constitution-not-issuer",
    "param-proposal-used",
    "param-target-stale",
    "param-changes-invalid",
    "constitution-params-mismatch",
    "param-vote-outsider",
    "duplicate-param-vote",
    "content-hash-mismatch",
)
REPUTATION = ("stood", "overturned", "reviews", "absence")
STATES = ("open", "effective", "voided")
Counts = dict[str, Counter[str]]  # profile -> how often each name came up


def expected(profile: str) -> list[str]:
    """Lists all that the streams have to reach under a profile."""
    names = [f"reason {code}" for code in REASONS]
    names += [f"ruling {name} {state}" for name in OUTCOMES for state in STATES]
    names += [f"params {state}" for state in STATES]
    names += [f"tier {name}" for name in ("T0", "T0+", "T1", "T2", None)]
    names += [f"editor {name}" for name in ("active", "pending", "none", "banned", "revoked")]
    names += [f"entry {name}" for name in ("normal", "frozen", "protected")]
    names += ["plate of a redirect", "plate of a transfer", "contest", "pending pin", "revision"]
    names += ["suspended again", "score out of range", "not authoritative"]
    if profile == "prd":
        names += [f"reason {code}" for code in PRD_REASONS]
        names += [f"reputation {why}" for why in (*REPUTATION, "half tenth")]
        names += [f"quality {name}" for name in ("protected", "featured", "normal", "stub")]
        names += ["reviewed", "awaiting review", "displaced", "without effect other-freeze"]
        names += ["out of the pool", "register on an earlier answer", "half tenth waits"]
        names += ["endorsed and waiting"]
    else:
        names += ["review without a score", "K changed", "without effect transfer-self"]
    return names


def reached(world: World, pending: list[str], tip: int) -> Counter[str]:
    """Counts what one world has reached."""
    found: Counter[str] = Counter(f"reason {line['reason']}" for line in world.graveyard)
    found.update(f"ruling {p['outcome']} {p['state']}" for p in world.proposals)
    found.update(f"params {p['state']}" for p in world.param_proposals)
    found.update(f"without effect {p['withoutEffect']}" for p in world.proposals)
    found.update(f"reputation {item['why']}" for item in world.reputation)
    found["reputation half tenth"] += sum(item["halves"] % 2 for item in world.reputation)
    for who in editors(world):
        found[f"editor {status(world, who)}"] += 1
        found[f"tier {tier(world, who, tip) if world.genesis else None}"] += 1
    for record in world.records:
        found[f"entry {record['status']}"] += 1
        found[f"quality {quality(world, record)}"] += 1
        found["reviewed"] += record["displayMode"] == "reviewed"
        found["awaiting review"] += bool(display(world, record)[1])
        found["plate of a redirect"] += record["redirect"] is not None
        found["contest"] += len(record["contests"])
    found["editor banned"] += len(world.banned)
    found["editor revoked"] += len(world.revoked)
    found["plate of a transfer"] += len(world.plates)
    found["displaced"] += len(world.displaced)
    found["pending pin"] += len(pending)
    found["revision"] += len(world.constitutions[1:])
    found["out of the pool"] += len(world.pool_suspensions)
    found["not authoritative"] += world.not_authoritative is not None
    found["K changed"] += len({c["params"]["arbiterPoolK"] for c in world.constitutions}) > 1
    found.update(reached_by_editors(world))
    return found


def reached_by_editors(world: World) -> Counter[str]:
    """Counts what their editors have reached."""
    found: Counter[str] = Counter()
    found["suspended again"] = len(world.suspensions) - len(
        {item["editor"] for item in world.suspensions}
    )
    scores = [review["score"] for review in world.reviews]
    found["review without a score"] = scores.count(None)
    found["score out of range"] = sum(score not in {None, 1, 2, 3, 4, 5} for score in scores)
    for item in world.registers:
        answers = [a["review"] for a in world.responses if a["editor"] == item["editor"]]
        found["register on an earlier answer"] += item["review"] in answers[:-1]
    found["endorsed and waiting"] = sum(
        stake_state(world, item["pin"]) == "unavailable"
        and sum(e["register"] == item["pin"] for e in world.endorsements) >= 4
        for item in world.registers
    )
    found["half tenth waits"] = sum(halves(world, who) % 2 for who in editors(world))
    return found


def count(seeds: Iterable[int]) -> Counts:
    """Folds the streams of some seeds under both profiles and counts what they reach."""
    counts: Counts = {"deployed": Counter(), "prd": Counter()}
    for seed in seeds:
        events, options = stream(seed, MODES[seed % len(MODES)])
        for profile, counter in counts.items():
            counter.update(reached(*replay(events, options, profile)))
    return counts


def table(counts: Counts) -> str:
    """Writes counts, one name a line."""
    names = sorted({name for counter in counts.values() for name in counter})
    lines = [f"{'':50}" + "".join(f"{profile:>9}" for profile in counts)]
    lines += [f"{name:50}" + "".join(f"{c[name]:9}" for c in counts.values()) for name in names]
    return "\n".join(lines)


def main(seeds: int) -> None:
    """Folds and prints."""
    begun = time.perf_counter()
    counts = count(range(seeds))
    print(table(counts))
    for profile, counter in counts.items():
        never = [name for name in expected(profile) if not counter[name]]
        print(f"never under {profile}: {', '.join(never) or 'nothing'}")
    print(f"{seeds} streams, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 700)
