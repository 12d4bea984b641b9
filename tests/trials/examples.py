"""Contents that are right in all, as lines, and how to spoil them."""

from refold.trials.intake import Reading, read_content

ORIGIN = "https://node.example"
KEY = "ab" * 32
PROOF = "https://shop.io/.well-known/lockzone-trials"

TRIAL = (
    "trial-v1",
    "target: https://shop.io/start",
    "goal: buy a book",
    "done-when: an order number comes back",
    "budget: 40 requests, 20 minutes",
    f"owner-proof: {PROOF}",
)
RUN = ("run-v1", "outcome: completed", "runtime: curl 8.7 on Linux", "owner-proof: verified")
DISPOSITION = ("disposition-v1", "status: confirmed")
REVIEW = ("review-v1", "tool: httpx", "runtime: CPython 3.11", "verdict: works")
ALL = {
    "trial": TRIAL,
    "run": RUN,
    "disposition": DISPOSITION,
    "review": REVIEW,
    "withdraw": ("withdraw-v1",),
    "revoke": ("revoke-v1",),
}


def content(*lines: str) -> str:
    return "\n".join(lines)


def altered(lines: tuple[str, ...], **fields: str) -> str:
    """Give a content in which fields (`_` for `-`) have other values, or come in addition."""
    kept = [line for line in lines if line.partition(":")[0].replace("-", "_") not in fields]
    return content(*kept, *(f"{k.replace('_', '-')}: {v}".strip() for k, v in fields.items()))


def codes(given: Reading | str | bytes) -> list[str]:
    """Give the codes of all problems, in order."""
    reading = given if isinstance(given, Reading) else read_content(given)
    return [each.code for each in reading.problems]


def warned(given: str) -> list[str]:
    return [each.code for each in read_content(given).warnings]
