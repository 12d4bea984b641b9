"""What the indexes have to say, counted plainly from the messages: slow, and by the definitions."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from refold.trials.indexes.counting import runtime_group
from refold.trials.intake import read_content
from refold.trials.leaf import accepted_text
from refold.trials.store import keytables
from refold.trials.store.model import Message
from refold.trials.store.reading import Messages

DAY = 86_400
ENDS = {"completed": "passed", "blocked": "still_blocked", "abandoned": "abandoned"}

Pair = tuple[int, int, int, int]
"""Posts and keys, then those of young keys."""


@dataclass
class Counting:
    """Posts by whatever they are counted under."""

    young: set[str]
    posts: dict[Any, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: str, *places: Any) -> None:
        for place in places:
            self.posts[place].append(key)

    def of(self, place: Any) -> Pair:
        keys = self.posts.get(place, [])
        old = [key for key in keys if key not in self.young]
        new = [key for key in keys if key in self.young]
        return len(old), len(set(old)), len(new), len(set(new))


class Plain:
    """The log as a list, and everything that follows from it at a moment."""

    def __init__(self, connection: Connection, now: int) -> None:
        self.now = now
        self.messages = {each.id: each for each in Messages(connection).since(0, 1_000_000)}
        self.posts = {
            each.id: None
            if each.content is None
            else read_content(each.content, None, preview=True).post
            for each in self.messages.values()
        }
        rows = connection.execute(select(keytables.keys.c.public_key, keytables.keys.c.admitted_at))
        young = {key for key, admitted in rows if admitted > now - DAY}
        self.counted = Counting(young)
        closings = select(keytables.closings.c.trial, keytables.closings.c.closes)
        self.closes = {row.trial: row.closes for row in connection.execute(closings)}
        self._count()

    def of_kind(self, kind: str) -> list[Message]:
        return [each for each in self.messages.values() if each.kind == kind]

    def said(self, message: Message) -> Any:
        return self.posts[message.id]

    def service(self, trial: int) -> str:
        content = self.messages[trial].content
        target = None if content is None else read_content(content, None, preview=True).target
        return target.service if target else ""

    def runs(self, trial: int, key: str | None = None) -> list[Message]:
        return [
            each
            for each in self.of_kind("run")
            if each.reply_to == trial and key in {None, each.public_key}
        ]

    def is_cold(self, run: Message) -> bool:
        return self.runs(run.reply_to or 0, run.public_key)[0].id == run.id

    def is_proven(self, trial: int) -> bool:
        said = (self.said(run) for run in self.runs(trial))
        return any(post is not None and post.owner_proof == "verified" for post in said)

    def disposition(self, run: Message) -> Message | None:
        found = [
            each
            for each in self.of_kind("disposition")
            if each.reply_to == run.id and each.content is not None
        ]
        return found[-1] if found else None

    def recheck(self, run: Message) -> tuple[str, int | None] | None:
        """Give the state, and the run that completed it."""
        answer = self.disposition(run)
        if answer is None or self.said(answer).status != "fixed":
            return None
        trial = run.reply_to or 0
        after = [each for each in self.runs(trial, run.public_key) if each.id > answer.id]
        if not after:
            is_open = self.closes[trial] > self.now and self.messages[trial].content is not None
            return ("owed" if is_open else "lapsed"), None
        post = self.said(after[0])
        return ("removed" if post is None else ENDS[post.outcome]), after[0].id

    def latest_reviews(self) -> list[Message]:
        latest = {}
        for each in self.of_kind("review"):
            if each.content is not None:
                latest[each.public_key, self.said(each).tool.lower()] = each
        return list(latest.values())

    def _count(self) -> None:
        for run in self.of_kind("run"):
            post = self.said(run)
            if post is None:
                continue
            trial = run.reply_to or 0
            how = post.outcome if self.is_cold(run) else "later"
            words = ["runs", how]
            recheck = self.recheck(run)
            if recheck is not None:
                words.append("fixed")
                if recheck[0] == "passed":
                    words.append("confirmed")
            runtime = runtime_group(post.runtime)
            self.counted.add(
                run.public_key, *((trial, word) for word in ("runs", how, post.owner_proof))
            )
            service = self.service(trial)
            if service:
                self.counted.add(run.public_key, *((service, word) for word in words))
                self.counted.add(run.public_key, *((service, word, runtime) for word in words))
            self._blockers(run, post, "runs" if self.is_cold(run) else "later")
        for review in self.latest_reviews():
            self._blockers(review, self.said(review), "reviews")

    def _blockers(self, message: Message, post: Any, what: str) -> None:
        day = accepted_text(message.accepted_at)[:10]
        for each in post.blocker_class:
            place = (day, each, runtime_group(post.runtime), what)
            self.counted.add(message.public_key, place)
