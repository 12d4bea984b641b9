"""Relations: what a post may do, given what was posted before and the moment now.

Rules, each with its code: trials, reviews and revocations stand at the top, the others answer a
message of the right kind (not_top_level, needs_reply, reply_unknown, reply_kind); a trial closes
after now and within 90 days (closes_past, closes_far); a run comes while the trial is open
(trial_closed), not from its publisher (own_trial), not from the future (started_future), and
rechecks only an earlier run of its own key on its own trial (recheck_unknown, recheck_key,
recheck_trial); only the publisher answers runs and withdraws (not_publisher). A disposition may
come after the trial closed. Whether an answer is still right when it is written down is for the
store: it asks in the same transaction. Source: cold trials spec §1.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from refold.kernel.utc import later
from refold.trials.codes import Fault, fault
from refold.trials.posts import Message, Post, Run, Trial
from refold.trials.tables import DEFAULT_DAYS, FORMATS, MAX_DAYS, Kind

__all__ = ["KeyState", "Lookup", "Standing", "closing_time", "key_faults", "relation_faults"]

DAY_SECONDS: Final = 86_400
_PARENTS: Final[dict[Kind, Kind | None]] = {form.kind: form.parent for form in FORMATS.values()}


class Standing(msgspec.Struct, frozen=True):
    """An accepted message, as far as later ones depend on it.

    `trial` is the trial that a run answers, itself for a trial, None for the others. `closes` is
    when a trial takes no more runs: its own time, or when it was withdrawn or removed, if earlier.
    """

    id: int
    kind: Kind
    key: str
    trial: int | None = None
    closes: str | None = None


class KeyState(msgspec.Struct, frozen=True):
    """What the node knows of a key."""

    admitted: bool = False
    revoked: bool = False
    blocked: bool = False


Lookup = Callable[[int], Standing | None]
"""Gives the accepted message with an id, None if there is none."""


def key_faults(state: KeyState) -> tuple[Fault, ...]:
    """Give why a key may not post; none if it may."""
    if state.blocked:
        return (fault("key_blocked", field="public_key"),)
    if state.revoked:
        return (fault("key_revoked", field="public_key"),)
    return () if state.admitted else (fault("key_unknown", field="public_key"),)


def closing_time(post: Trial, accepted: str) -> str:
    """Give when a trial accepted at this time closes by itself; raises InputError `time-range`."""
    return post.closes or later(accepted, DEFAULT_DAYS * DAY_SECONDS)


def relation_faults(
    post: Post, key: str, reply_to: int | None, lookup: Lookup, now: str
) -> tuple[Fault, ...]:
    """Give every rule that `post` by `key` breaks now; none if it may be accepted."""
    return tuple(_faults(post, key, reply_to, lookup, now))


def _faults(
    post: Post, key: str, reply_to: int | None, lookup: Lookup, now: str
) -> Iterator[Fault]:
    if isinstance(post, Trial) and post.closes is not None:
        yield from _closing(post.closes, now)
    if isinstance(post, Run) and post.started is not None and post.started > now:
        yield fault("started_future", f"started is {post.started}, now is {now}.", field="started")
    parent = lookup(reply_to) if reply_to is not None else None
    wrong = _misplaced(post, reply_to, parent)
    if wrong is not None:
        yield wrong
    trial = lookup(parent.trial) if wrong is None and parent and parent.trial else None
    if wrong is None and trial is None and _PARENTS.get(post.kind):
        yield fault("reply_unknown", "The trial of the message is not here.", field="reply_to")
    if isinstance(post, Run):
        if trial is not None:
            yield from _open(trial, now)
            if trial.key == key:
                yield fault("own_trial")
        if post.recheck_of is not None:
            yield from _recheck(lookup(post.recheck_of), key, trial)
    elif trial is not None and post.kind in {"disposition", "withdraw"}:
        if trial.key != key:
            yield fault("not_publisher")
        if post.kind == "withdraw":
            yield from _open(trial, now)


def _closing(closes: str, now: str) -> Iterator[Fault]:
    latest = later(now, MAX_DAYS * DAY_SECONDS)
    if closes <= now:
        yield fault("closes_past", f"closes is {closes}, now is {now}.", field="closes")
    elif closes > latest:
        detail = f"closes is {closes}; the latest that can be posted now is {latest}."
        yield fault("closes_far", detail, field="closes")


def _misplaced(post: Post, reply_to: int | None, parent: Standing | None) -> Fault | None:
    """Give why a post may not stand where it does."""
    if reply_to is not None and parent is None:
        return fault("reply_unknown", f"There is no message {reply_to}.", field="reply_to")
    if isinstance(post, Message):
        return None
    wanted = _PARENTS[post.kind]
    if wanted is None:
        return None if reply_to is None else fault("not_top_level", field="reply_to")
    if parent is None:
        return fault("needs_reply", f"A {post.kind} answers a {wanted}.", field="reply_to")
    if parent.kind != wanted:
        detail = f"A {post.kind} answers a {wanted}; message {parent.id} is a {parent.kind}."
        return fault("reply_kind", detail, field="reply_to")
    return None


def _open(trial: Standing, now: str) -> Iterator[Fault]:
    if trial.closes is not None and trial.closes <= now:
        yield fault("trial_closed", f"Trial {trial.id} closed at {trial.closes}.", field="reply_to")


def _recheck(earlier: Standing | None, key: str, trial: Standing | None) -> Iterator[Fault]:
    """Give why a run may not recheck the message `earlier`; its trial is None if it has none."""
    if earlier is None or earlier.kind != "run":
        yield fault("recheck_unknown", field="recheck-of")
        return
    if earlier.key != key:
        yield fault("recheck_key", field="recheck-of")
    if trial is not None and earlier.trial != trial.id:
        yield fault("recheck_trial", field="recheck-of")
