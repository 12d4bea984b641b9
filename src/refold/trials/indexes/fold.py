"""The fold: from accepted messages, in order, to the rows of the indexes.

`add` takes one message, `remove` takes the text of one away; after any of them the rows are those
that adding all messages as they are now gives from scratch. Source: cold trials spec §§1, 4.
"""

import hashlib
from collections import Counter

import msgspec

from refold.kernel.utc import parse_utc
from refold.trials.indexes.counting import cells_of_review, cells_of_run, runtime_group
from refold.trials.indexes.rows import Cell, Entry, PostRow, ReviewRow, RunRow, State, TrialRow
from refold.trials.leaf import accepted_text
from refold.trials.posts import Disposition, FormatPost, Message, Post, Review, Run, Trial
from refold.trials.relations import closing_time
from refold.trials.sites import SITES, Site
from refold.trials.tables import FORMATS, known_fields
from refold.trials.targets import WrongUrlError, read_target

__all__ = ["Fold"]

_FIELDS = {form.kind: known_fields(form) for form in FORMATS.values()}
_replace = msgspec.structs.replace


class Fold:
    """Keeps the rows of `state`; `sites` are the shared hosts of the node."""

    def __init__(self, state: State, sites: tuple[Site, ...] = SITES) -> None:
        self._state = state
        self._sites = sites

    def add(self, entry: Entry, post: Post | None) -> None:
        """Take a message into account; `post` is None if its text was removed."""
        if entry.kind in {"message", "disposition"}:
            self._add_reply(entry, post)
        if entry.kind == "message" or isinstance(post, Message):
            return
        run = entry.reply_to if entry.kind == "disposition" else None
        said = None if post is None else _said(post)
        self._state.put(PostRow(entry.id, entry.kind, entry.public_key, run or 0, said))
        if entry.kind == "trial":
            self._add_trial(entry, post if isinstance(post, Trial) else None)
        elif entry.kind == "run":
            self._add_run(entry, post if isinstance(post, Run) else None)
        elif isinstance(post, Disposition):
            self._settle(entry.reply_to or 0)
        elif isinstance(post, Review):
            self._add_review(entry, post)
        elif entry.kind == "withdraw":
            self._withdraw(entry)

    def remove(self, entry: Entry) -> None:
        """Take the text of a message away that was added with one."""
        state = self._state
        if entry.reply_to is not None and entry.kind in {"message", "disposition"}:
            state.drop_reply(state.key_of(entry.reply_to), entry.id)
        row = state.post(entry.id)
        if row is None or row.said is None:
            return
        state.put(_replace(row, said=None))
        if entry.kind == "trial":
            self._remove_trial(entry.id)
        elif entry.kind == "run":
            self._remove_run(entry.id)
        elif entry.kind == "disposition":
            self._settle(row.run)
        elif entry.kind == "review":
            self._remove_review(entry.id)

    def _add_reply(self, entry: Entry, post: Post | None) -> None:
        """Keep that somebody answered another key."""
        if entry.reply_to is None or post is None:
            return
        answered = self._state.key_of(entry.reply_to)
        if answered not in {"", entry.public_key}:
            self._state.put_reply(answered, entry.id)

    def _add_trial(self, entry: Entry, post: Trial | None) -> None:
        service, closes = "", 0
        if post is not None:
            service = self._service(post.target)
            closing = closing_time(post, accepted_text(entry.accepted_at))
            closes = int(parse_utc(closing).timestamp())
        self._state.put(TrialRow(entry.id, entry.public_key, service, closes, proven=False))
        if service:
            self._state.shift_service(service, 1, 0)

    def _add_run(self, entry: Entry, post: Run | None) -> None:
        state = self._state
        trial = state.trial(entry.reply_to or 0)
        if trial is None:
            return
        is_cold = state.next_run(trial.id, entry.public_key, 0) is None
        owing = [] if is_cold else state.owing(trial.id, entry.public_key)
        row = RunRow(
            id=entry.id,
            trial=trial.id,
            public_key=entry.public_key,
            publisher=trial.public_key,
            accepted_at=entry.accepted_at,
            cold=is_cold,
            removed=post is None,
        )
        if post is not None:
            row = _replace(
                row,
                service=trial.service,
                runtime=runtime_group(post.runtime),
                outcome=post.outcome,
                proof=post.owner_proof,
                classes=",".join(sorted(post.blocker_class)),
            )
        state.put(row)
        state.count(cells_of_run(row), row.public_key, 1)
        if row.proof == "verified":
            self._prove(trial, proven=True)
        for before in owing:
            self._change(before, _replace(before, **_rechecked_by(row)))

    def _add_review(self, entry: Entry, post: Review) -> None:
        state = self._state
        tool = hashlib.sha256(post.tool.lower().encode()).hexdigest()
        before = state.last_review(entry.public_key, tool)
        row = ReviewRow(
            entry.id,
            entry.public_key,
            tool,
            entry.accepted_at,
            runtime_group(post.runtime),
            ",".join(sorted(post.blocker_class)),
        )
        if before is not None:
            state.count(cells_of_review(before), entry.public_key, -1)
        state.put(row)
        state.count(cells_of_review(row), entry.public_key, 1)

    def _withdraw(self, entry: Entry) -> None:
        trial = self._state.trial(entry.reply_to or 0)
        if trial is not None and trial.closes > entry.accepted_at:
            self._state.put(_replace(trial, closes=entry.accepted_at))

    def _settle(self, id_: int) -> None:
        """Let a run have the latest of its dispositions that stands."""
        state = self._state
        run = state.run(id_)
        if run is None:
            return
        latest = state.last_disposition(id_)
        new = _replace(run, disposition=0, status="", recheck=0, rechecked="")
        if latest is not None:
            status = msgspec.json.decode(latest.said or b"", type=_Status).status
            new = _replace(new, disposition=latest.id, status=status)
        if new.owes:
            completing = state.next_run(run.trial, run.public_key, new.disposition)
            if completing is not None:
                new = _replace(new, **_rechecked_by(completing))
        self._change(run, new)

    def _remove_trial(self, id_: int) -> None:
        trial = self._state.trial(id_)
        if trial is None:
            return
        self._state.put(_replace(trial, service="", closes=0))
        if trial.service:
            self._state.shift_service(trial.service, -1, -trial.proven)
            for run in self._state.runs_on(id_):
                self._change(run, _replace(run, service=""))

    def _remove_run(self, id_: int) -> None:
        state = self._state
        run = state.run(id_)
        if run is None:
            return
        bare = RunRow(
            id=run.id,
            trial=run.trial,
            public_key=run.public_key,
            publisher=run.publisher,
            accepted_at=run.accepted_at,
            cold=run.cold,
            removed=True,
            disposition=run.disposition,
            status=run.status,
            recheck=run.recheck,
            rechecked=run.rechecked,
        )
        self._change(run, bare)
        for each in state.rechecked_by(run):
            self._change(each, _replace(each, rechecked="removed"))
        trial = state.trial(run.trial)
        if trial is not None and run.proof == "verified":
            proven = any(each.proof == "verified" for each in state.runs_on(trial.id))
            self._prove(trial, proven=proven)

    def _remove_review(self, id_: int) -> None:
        state = self._state
        row = state.review(id_)
        if row is None:
            return
        state.drop_review(id_)
        left = state.last_review(row.public_key, row.tool)
        if left is None or left.id < id_:
            state.count(cells_of_review(row), row.public_key, -1)
            if left is not None:
                state.count(cells_of_review(left), row.public_key, 1)

    def _prove(self, trial: TrialRow, *, proven: bool) -> None:
        if trial.proven == proven:
            return
        self._state.put(_replace(trial, proven=proven))
        if trial.service:
            self._state.shift_service(trial.service, 0, 1 if proven else -1)

    def _change(self, old: RunRow, new: RunRow) -> None:
        """Put a run in place of what it was, and count what changed."""
        if new == old:
            return
        self._state.put(new)
        before, after = Counter(cells_of_run(old)), Counter(cells_of_run(new))
        for cells, by in ((_less(before, after), -1), (_less(after, before), 1)):
            if cells:
                self._state.count(cells, new.public_key, by)

    def _service(self, target: str) -> str:
        try:
            return read_target(target, self._sites, preview=True).service
        except WrongUrlError:
            return ""


class _Status(msgspec.Struct):
    status: str


def _rechecked_by(run: RunRow) -> dict[str, object]:
    return {"recheck": run.id, "rechecked": "removed" if run.removed else run.outcome}


def _less(one: Counter[Cell], other: Counter[Cell]) -> list[Cell]:
    return list((one - other).elements())


def _said(post: FormatPost) -> bytes:
    """Give what a post says, in the words of the format; what it leaves out is left out."""
    found: dict[str, object] = {}
    for field in _FIELDS[post.kind]:
        value = getattr(post, field.attribute)
        if value is not None and value != ():
            found[field.name] = value
    if post.text:
        found["text"] = post.text
    return msgspec.json.encode(found)
