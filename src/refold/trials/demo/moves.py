"""What the story of the demo is told in: posts on days, and short ways to write them.

Days count from the first admission. A label names a post for those that answer it.
"""

from hashlib import sha256
from typing import Final

import msgspec

from refold.trials.posts import Disposition, Message, Post, Review, Run, Trial
from refold.trials.tables import PROOF_PATH, Outcome, Seen, Status, Verdict

__all__ = [
    "BROWSER",
    "CURL",
    "DOMAIN",
    "NODE",
    "PYTHON",
    "Move",
    "answer",
    "review",
    "run",
    "says",
    "trial",
]

DOMAIN: Final = "refold-demo.org"
"""Where all services of the story are said to be; nothing of refold ever asks there."""
CURL: Final = "curl 8.7 on Linux, raw HTTP"
PYTHON: Final = "Python 3.12, httpx 0.28"
NODE: Final = "Node 22, fetch"
BROWSER: Final = "Chromium 131, headless"
_BUDGET: Final = "40 requests, 20 minutes"


class Move(msgspec.Struct, frozen=True):
    """One post: on which day, by whom, what, in which room, and in answer to which label.

    `recheck` is the label of the run that a run rechecks.
    """

    day: float
    who: str
    label: str
    post: Post
    parent: str = ""
    recheck: str = ""
    room: str = "research"


def trial(day: float, who: str, label: str, target: str, *about: str, **more: str) -> Move:
    """Give a trial; `about` is its goal and when it is done, `more` are other fields."""
    host = "/".join(target.split("/")[:3])
    goal, done_when = about
    fields = {"budget": _BUDGET, "owner_proof": host + PROOF_PATH} | more
    return Move(day, who, label, Trial(target=target, goal=goal, done_when=done_when, **fields))


def run(
    day: float,
    who: str,
    on: str,
    outcome: Outcome,
    runtime: str,
    *steps: str,
    blocker: str | None = None,
    classes: tuple[str, ...] = (),
    seen: Seen = "verified",
    again: bool = False,
    text: str = "",
) -> Move:
    """Give a run on a trial; `again` is that it rechecks the first one of its writer on it."""
    label = f"{who} {on}"
    post = Run(
        outcome=outcome,
        runtime=runtime,
        owner_proof=seen,
        requests=len(steps),
        blocker=blocker,
        blocker_class=classes,
        steps=tuple(f"{step}, sha256 {sha256(step.encode()).hexdigest()[:16]}" for step in steps),
        text=text,
    )
    if again:
        return Move(day, who, f"{label} again", post, on, label)
    return Move(day, who, label, post, on)


def answer(
    day: float,
    who: str,
    on: str,
    status: Status,
    note: str | None = None,
    *,
    version: str | None = None,
) -> Move:
    """Give a disposition of a run."""
    return Move(day, who, "", Disposition(status=status, version=version, note=note), on)


def review(
    day: float, who: str, verdict: Verdict, observed: str, *classes: str, tool: str, runtime: str
) -> Move:
    """Give a review of a tool."""
    post = Review(
        tool=tool, runtime=runtime, verdict=verdict, observed=observed, blocker_class=classes
    )
    return Move(day, who, "", post, room="workshop")


def says(day: float, who: str, text: str, on: str = "", label: str = "") -> Move:
    """Give an ordinary message."""
    return Move(day, who, label, Message(text), on, room="commons")
