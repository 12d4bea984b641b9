# ruff: noqa: T201 - a script that prints
"""Counts what the random streams reach: `python tests/reference/reached.py [N]`.

Folds the streams of N seeds under both profiles with the naive fold and prints how often each
reason, outcome, tier and state came up; what never came up stands last.
"""

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from reference.naive import replay
from reference.naive_state import OUTCOMES, World, editors, status, tier
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


def expected(profile: str) -> list[str]:
    """Lists all that the streams have to reach under a profile."""
    names = [f"reason {code}" for code in REASONS]
    names += [f"ruling {name} {state}" for name in OUTCOMES for state in ("effective", "voided")]
    names += [f"tier {name}" for name in ("T0", "T0+", "T1", "T2", None)]
    names += [f"editor {name}" for name in ("active", "pending", "none", "banned", "revoked")]
    names += [f"entry {name}" for name in ("normal", "frozen", "protected")]
    names += ["plate of a redirect", "plate of a transfer", "contest", "pending pin", "revision"]
    if profile == "prd":
        names += [f"reason {code}" for code in PRD_REASONS]
        names += [f"reputation {why}" for why in (*REPUTATION, "half tenth")]
        names += [f"quality {name}" for name in ("protected", "featured", "normal", "stub")]
        names += ["reviewed", "awaiting review", "displaced", "without effect other-freeze"]
        names += ["out of the pool"]
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
    return found


def main(seeds: int) -> None:
    """Folds and prints."""
    begun = time.perf_counter()
    counts: dict[str, Counter[str]] = {"deployed": Counter(), "prd": Counter()}
    events = 0
    for seed in range(seeds):
        made, options = stream(seed, MODES[seed % len(MODES)])
        events += len(made)
        for profile, counter in counts.items():
            counter.update(reached(*replay(made, options, profile)))
    for name in sorted(set(counts["deployed"]) | set(counts["prd"])):
        print(f"{name:50} {counts['deployed'][name]:8} {counts['prd'][name]:8}")
    for profile, counter in counts.items():
        never = [name for name in expected(profile) if not counter[name]]
        print(f"never under {profile}: {', '.join(never) or 'nothing'}")
    print(f"{seeds} streams, {events} events, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 700)
