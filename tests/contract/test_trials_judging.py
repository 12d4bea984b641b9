"""Posts that race are judged one after the other, by what stands in the log before each of them."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from refold.db import Database
from refold.trials.codes import Fault, fault
from refold.trials.leaf import accepted_text
from refold.trials.log.writer import Log
from refold.trials.posts import Trial
from refold.trials.relations import Standing, closing_time, relation_faults
from refold.trials.store import tables
from refold.trials.store.model import Appended, Judge, Posting
from refold.trials.store.reading import Messages
from trials.examples import DISPOSITION, RUN, TRIAL, altered, content
from trials.logged import (
    NOON,
    SIGNER,
    Clock,
    all_messages,
    anything,
    append,
    posting,
    problems_of,
    together,
)


def standing_of(connection: Connection, message: int) -> Standing | None:
    """Give a message as relations see it, straight from the log."""
    found = Messages(connection).get(message)
    if found is None:
        return None
    if found.kind == "trial":
        closes = accepted_text(found.accepted_at + 60)
        return Standing(found.id, "trial", found.public_key, found.id, closes)
    trial = found.reply_to if found.kind == "run" else None
    return Standing(found.id, found.kind, found.public_key, trial)


def judged(connection: Connection, of: Posting, now: int) -> Sequence[Fault]:
    """Judge by the relations of the format."""
    return relation_faults(
        of.post,
        of.message.public_key,
        of.message.reply_to,
        lambda message: standing_of(connection, message),
        accepted_text(now),
    )


def codes_of(outcomes: Sequence[Appended]) -> list[str]:
    return [each.problems[0].code if each.problems else "" for each in outcomes]


def test_runs_in_the_second_a_trial_closes(database: Database) -> None:
    clock = Clock()
    closing = altered(TRIAL, closes=accepted_text(NOON + 60))
    reading = posting(closing).post
    assert isinstance(reading, Trial)
    assert closing_time(reading, accepted_text(NOON)) == accepted_text(NOON + 60)
    with Log(database, SIGNER, clock=clock) as log:
        append(log, posting(closing))
        runs = [posting(content(*RUN), who=who, reply_to=1) for who in range(2, 22)]
        clock.now = NOON + 59.99
        before = [log.append(each, judged) for each in runs[:10]]
        assert codes_of([each.result() for each in before]) == [""] * 10
        clock.now = NOON + 60
        after = [log.append(each, judged) for each in runs[10:]]
        assert codes_of([each.result() for each in after]) == ["trial_closed"] * 10
        # A clock that goes back opens nothing again.
        append(log, posting("tick"))
        clock.now = NOON
        late = log.append(posting(content(*RUN), who=99, reply_to=1), judged)
        assert codes_of([late.result()]) == ["trial_closed"]


def test_what_is_posted_together_is_judged_one_after_the_other(database: Database) -> None:
    clock = Clock()
    # Whoever guesses the ids of the next second posts a trial, runs, an answer and a recheck all
    # at once: each is judged by what stands before it, in one transaction as in many.
    with Log(database, SIGNER, clock=clock) as log:
        with together(log):
            futures = [
                log.append(each, judged)
                for each in (
                    posting(content(*RUN), who=2, reply_to=2),
                    posting(content(*TRIAL), who=1),
                    posting(content(*RUN), who=1, reply_to=2),
                    posting(content(*DISPOSITION), who=1, reply_to=3),
                    posting(content(*RUN, "step: GET / -> 200"), who=2, reply_to=2),
                    posting(content(*DISPOSITION), who=2, reply_to=3),
                    posting(altered(RUN, recheck_of="4"), who=2, reply_to=2),
                    posting(content(*DISPOSITION), who=1, reply_to=3),
                    posting(altered(RUN, recheck_of="3"), who=2, reply_to=2),
                    posting(altered(RUN, recheck_of="3"), who=3, reply_to=2),
                )
            ]
        assert codes_of([each.result() for each in futures]) == [
            "reply_unknown",
            "",
            "own_trial",
            "reply_unknown",
            "",
            "not_publisher",
            "recheck_unknown",
            "",
            "",
            "recheck_key",
        ]
    kinds = [each.kind for each in all_messages(database)]
    assert kinds == ["message", "trial", "run", "disposition", "run"]
    assert problems_of(database) == []


def test_a_reply_to_nothing_is_refused_even_by_a_careless_judge(database: Database) -> None:
    with Log(database, SIGNER) as log:
        outcome = log.append(posting("re", reply_to=5), anything).result()
    assert codes_of([outcome]) == ["reply_unknown"]
    assert outcome.message is None


def test_a_rule_on_counts_holds_between_processes(database_url: str) -> None:
    def one_run(connection: Connection, of: Posting, now: int) -> Sequence[Fault]:
        del now
        row = tables.messages.c
        asked = select(func.count()).where(
            row.kind == "run", row.public_key == of.message.public_key
        )
        return (fault("own_trial"),) if connection.scalar(asked) else ()

    with Database.open(database_url) as one, Database.open(database_url) as other:
        with Log(one, SIGNER) as first, Log(other, SIGNER) as second:
            append(first, posting(content(*TRIAL)))
            judge: Judge = one_run
            futures = [
                log.append(posting(content(*RUN, f"model: {n}"), who=5, reply_to=1), judge)
                for n in range(15)
                for log in (first, second)
            ]
            taken = [future for future in futures if future.result().message]
            assert len({future.result().message for future in taken}) == 1
        assert [each.kind for each in all_messages(one)] == ["trial", "run"]
