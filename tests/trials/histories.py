"""Random histories of a node: steps that hypothesis draws and shrinks, posted through the log.

A step is some small numbers; what they mean depends on what was posted before, so nearly every step
is a post that is taken. Steps that break a relation are refused, as at a node.
"""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from refold.db import Database
from refold.trials.checkpoint import Signer
from refold.trials.log.writer import Log
from refold.trials.posts import (
    Disposition,
    Message,
    Post,
    Review,
    Revoke,
    Run,
    Trial,
    Withdraw,
    render,
)
from refold.trials.store.indexes import Indexes
from refold.trials.store.keys import Keys
from refold.trials.store.moderating import Moderation
from refold.trials.store.standings import Standings
from refold.trials.tables import Outcome, Status
from trials.logged import NOON, SIGNER, key_of, posting

KEYS = 6
TARGETS = (
    *("https://shop.io/start", "https://shop.io:8443/", "https://github.com/Owner/Repo"),
    *("https://github.com/owner/repo/issues", "https://gitlab.com/a/b/c/-/tree/main"),
)
RUNTIMES = ("curl 8.7", "Curl/8", "claude code, Linux", "7zip", "Gemini CLI", "other")
CLASSES = ((), ("other",), ("client_refused",), ("docs_wrong", "other"), ("rate_limited",))
OUTCOMES: tuple[Outcome, ...] = ("completed", "blocked", "abandoned")
STATUSES: tuple[Status, ...] = ("confirmed", "fixed", "fixed", "disputed", "wontfix")
TOOLS = ("httpx", "HTTPX", "https://tool.io/cli")
KINDS = (
    *("run",) * 6,
    *("disposition",) * 5,
    *("trial",) * 2,
    *("chat",) * 2,
    *("review",) * 2,
    *("tombstone",) * 2,
    *("withdraw", "revoke", "block", "wait"),
)

Step = tuple[int, int, int, int]
STEP = st.tuples(
    st.integers(0, len(KINDS) - 1), st.integers(0, 7), st.integers(0, 30), st.integers(0, 59)
)


def proof_of(target: str) -> str:
    host, _, path = target.removeprefix("https://").partition("/")
    if host == "github.com":
        return f"https://github.com/{'/'.join(path.split('/')[:2])}/blob/HEAD/proof"
    if host == "gitlab.com":
        return "https://gitlab.com/a/b/c/-/raw/HEAD/proof"
    return f"https://{host}/.well-known/lockzone-trials"


@dataclass
class History:
    """A node's log under a clock that only steps move, and what was taken."""

    database: Database
    now: int = NOON
    taken: list[tuple[int, str]] = field(default_factory=list)
    refused: int = 0
    signer: Signer = SIGNER

    def __post_init__(self) -> None:
        standings = Standings()
        self.judge = standings.judge
        self.indexes = Indexes()
        self.log = Log(
            self.database,
            self.signer,
            (standings.fold, self.indexes.fold),
            clock=lambda: self.now,
        )
        with self.database.write() as connection:
            for who in range(KEYS + 2):
                young = NOON - (3_600 if who % 2 else 200_000)
                Keys(connection).admit(key_of(who), f"agent {who}", young)

    def of_kind(self, kind: str) -> list[int]:
        return [id_ for id_, each in self.taken if each == kind]

    def take(self, step: Step) -> None:
        kind, who, place, how = step
        getattr(self, f"_{KINDS[kind]}")(who, place, how)

    def post(self, post: Post, who: int, reply_to: int | None = None) -> int | None:
        """Append a post; give its id, None if it was refused or there before."""
        given = posting(render(post), who=who, reply_to=reply_to)
        outcome = self.log.append(given, self.judge).result()
        if outcome.message is None or outcome.is_duplicate:
            self.refused += 1
            return None
        self.taken.append((outcome.message.id, post.kind))
        return outcome.message.id

    def _trial(self, who: int, place: int, how: int) -> None:
        target = TARGETS[place % len(TARGETS)]
        self.post(
            Trial(
                target=target,
                goal=f"goal {how}",
                done_when="done",
                budget="1 request",
                owner_proof=proof_of(target),
                text=f"{place}",
            ),
            who % 2,
        )

    def _run(self, who: int, place: int, how: int) -> None:
        trials = self.of_kind("trial")
        outcome = OUTCOMES[how % 3]
        run = Run(
            outcome=outcome,
            runtime=RUNTIMES[(how + place) % len(RUNTIMES)],
            owner_proof="missing" if outcome == "abandoned" and how % 2 else "verified",
            blocker="403" if outcome == "blocked" or how % 5 < 4 else None,
            blocker_class=CLASSES[how % 5],
            text=f"{len(self.taken)}",
        )
        if run.blocker is None and run.blocker_class:
            return
        self.post(
            run, 1 + who % (KEYS - 1), trials[-1 - place % min(len(trials), 4)] if trials else None
        )

    def _disposition(self, who: int, place: int, how: int) -> None:
        runs = self.of_kind("run")
        status = STATUSES[how % 5]
        version = "v2" if status == "fixed" else None
        disposition = Disposition(status=status, version=version, text=f"{how // 5}")
        self.post(disposition, who % 2, runs[-1 - place % len(runs)] if runs else None)

    def _chat(self, who: int, place: int, how: int) -> None:
        ids = [id_ for id_, _ in self.taken]
        to = ids[-1 - place % len(ids)] if ids and how % 4 else None
        self.post(Message(text=f"chat {how}"), who % KEYS, to)

    def _review(self, who: int, place: int, how: int) -> None:
        review = Review(
            tool=TOOLS[place % 3],
            runtime=RUNTIMES[how % len(RUNTIMES)],
            verdict="partly",
            observed="it failed",
            blocker_class=CLASSES[how % 5],
            text=f"{how}",
        )
        self.post(review, who % KEYS)

    def _withdraw(self, who: int, place: int, how: int) -> None:
        trials = self.of_kind("trial")
        if how < 20 and trials:
            self.post(Withdraw(), who % 2, trials[-1 - place % len(trials)])

    def _revoke(self, who: int, place: int, how: int) -> None:
        if who > 5 and place + how > 70:
            self.post(Revoke(), who)

    def _tombstone(self, who: int, place: int, how: int) -> None:
        del how
        ids = (
            self.of_kind("run" if who < 3 else "disposition")
            if who < 6
            else [id_ for id_, _ in self.taken]
        )
        if ids:
            with self.database.write() as connection:
                Moderation(connection).tombstone(ids[-1 - place % len(ids)], "why", self.now)

    def _block(self, who: int, place: int, how: int) -> None:
        with self.database.write() as connection:
            moderation = Moderation(connection)
            if how % 3:
                moderation.unblock(key_of(who % KEYS), "why", self.now)
            elif place > 20:
                moderation.block(key_of(who % KEYS), "why", self.now)

    def _wait(self, who: int, place: int, how: int) -> None:
        self.now += (who + 1) * (place + 1) * (how + 1) * 7
