"""What a post may do, given those before it: each rule accepts and refuses. Traps D3 and D6."""

import pytest

from refold.kernel.utc import later
from refold.trials.intake import read_content
from refold.trials.posts import Post, Trial
from refold.trials.relations import (
    KeyState,
    Standing,
    closing_time,
    key_faults,
    relation_faults,
)
from trials.examples import ALL, DISPOSITION, RUN, TRIAL, altered, content

NOW = "2031-05-09T07:30:00Z"
LATER = later(NOW, 3600)
DAY = 86_400
OWNER, AGENT, OTHER = "aa" * 32, "bb" * 32, "cc" * 32

KNOWN = {
    known.id: known
    for known in (
        Standing(1, "trial", OWNER, trial=1, closes=LATER),
        Standing(2, "trial", OTHER, trial=2, closes=LATER),
        Standing(3, "trial", OWNER, trial=3, closes=NOW),
        Standing(4, "message", AGENT),
        Standing(10, "run", AGENT, trial=1),
        Standing(11, "run", OTHER, trial=1),
        Standing(12, "run", AGENT, trial=2),
        Standing(13, "run", AGENT, trial=3),
        Standing(20, "disposition", OWNER),
        Standing(30, "review", AGENT),
    )
}


def post_of(text: str) -> Post:
    post = read_content(text).post
    assert post is not None
    return post


def told(text: str, key: str, reply_to: int | None, now: str = NOW) -> list[str]:
    """Give the codes of the rules that a content breaks."""
    faults = relation_faults(post_of(text), key, reply_to, KNOWN.get, now)
    return [each.code for each in faults]


@pytest.mark.parametrize("kind", ["trial", "review", "revoke"])
def test_some_posts_stand_at_the_top(kind: str) -> None:
    text = content(*ALL[kind])
    assert told(text, OWNER, None) == []
    assert told(text, OWNER, 1) == ["not_top_level"]
    assert told(text, OWNER, 4) == ["not_top_level"]
    assert told(text, OWNER, 99) == ["reply_unknown"]


@pytest.mark.parametrize(
    ("kind", "key", "right"),
    [("run", AGENT, 1), ("disposition", OWNER, 10), ("withdraw", OWNER, 1)],
)
def test_the_others_answer_the_right_message(kind: str, key: str, right: int) -> None:
    text = content(*ALL[kind])
    assert told(text, key, right) == []
    assert told(text, key, None) == ["needs_reply"]
    assert told(text, key, 99) == ["reply_unknown"]
    wanted = KNOWN[right].kind
    for other in (known.id for known in KNOWN.values() if known.kind != wanted):
        assert told(text, key, other) == ["reply_kind"]


def test_a_message_may_answer_any_that_is_there() -> None:
    assert [told("hi", AGENT, parent) for parent in (None, *KNOWN)] == [[]] * (len(KNOWN) + 1)
    assert told("hi", AGENT, 99) == ["reply_unknown"]


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (-1, "closes_past"),
        (0, "closes_past"),
        (1, ""),
        (90 * DAY, ""),
        (90 * DAY + 1, "closes_far"),
    ],
)
def test_a_trial_closes_after_now_and_within_90_days(seconds: int, code: str) -> None:
    text = altered(TRIAL, closes=later(NOW, seconds))
    assert told(text, OWNER, None) == [code] * bool(code)


def test_closing_too_far_names_the_latest() -> None:
    post = post_of(altered(TRIAL, closes="9999-12-31T23:59:59Z"))
    (fault,) = relation_faults(post, OWNER, None, KNOWN.get, NOW)
    assert later(NOW, 90 * DAY) in fault.detail


def test_a_trial_closes_after_30_days_by_itself() -> None:
    given, open_ = post_of(altered(TRIAL, closes=LATER)), post_of(content(*TRIAL))
    assert isinstance(given, Trial)
    assert isinstance(open_, Trial)
    assert closing_time(given, NOW) == LATER
    assert closing_time(open_, NOW) == "2031-06-08T07:30:00Z"


# The seed: a closed trial takes no reports, rechecks of a fix among them (D6, 60).
def test_a_run_comes_while_the_trial_is_open() -> None:
    text = content(*RUN)
    assert told(text, AGENT, 1, later(LATER, -1)) == []
    assert told(text, AGENT, 1, LATER) == ["trial_closed"]
    assert told(text, AGENT, 3) == ["trial_closed"]
    assert told(altered(RUN, recheck_of="13"), AGENT, 3) == ["trial_closed"]
    (fault,) = relation_faults(post_of(text), AGENT, 3, KNOWN.get, NOW)
    assert NOW in fault.detail


# The seed refuses it (D6, 59 leaves it open).
def test_the_publisher_does_not_run_the_trial() -> None:
    assert told(content(*RUN), OWNER, 1) == ["own_trial"]
    assert told(content(*RUN), OWNER, 2) == []


def test_a_second_run_is_accepted() -> None:
    assert told(content(*RUN), AGENT, 1) == []


def test_a_run_does_not_begin_in_the_future() -> None:
    assert told(altered(RUN, started=NOW), AGENT, 1) == []
    assert told(altered(RUN, started=later(NOW, 1)), AGENT, 1) == ["started_future"]


# The spec: any earlier run by the key on the trial, a recheck too (D6, 63).
@pytest.mark.parametrize(
    ("earlier", "found"),
    [
        (10, []),
        (11, ["recheck_key"]),
        (12, ["recheck_trial"]),
        (99, ["recheck_unknown"]),
        (4, ["recheck_unknown"]),
        (1, ["recheck_unknown"]),
    ],
)
def test_a_run_rechecks_an_earlier_one_of_its_own(earlier: int, found: list[str]) -> None:
    assert told(altered(RUN, recheck_of=str(earlier)), AGENT, 1) == found


def test_all_that_is_broken_is_told_at_once() -> None:
    text = altered(RUN, recheck_of="12", started=LATER)
    assert told(text, OWNER, 3) == [
        *("started_future", "trial_closed", "own_trial", "recheck_key", "recheck_trial")
    ]


def test_only_the_publisher_answers_a_run() -> None:
    assert told(content(*DISPOSITION), OWNER, 10) == []
    assert told(content(*DISPOSITION), AGENT, 10) == ["not_publisher"]
    assert told(content(*DISPOSITION), OWNER, 12) == ["not_publisher"]


# Nothing in the seed forbids fixed for a run that completed (D6, 68).
def test_a_disposition_may_come_after_closing_and_again() -> None:
    for status in ("confirmed", "fixed", "disputed", "wontfix"):
        assert told(altered(DISPOSITION, status=status, version="2"), OWNER, 13) == []


def test_only_the_publisher_withdraws_and_only_once() -> None:
    text = content(*ALL["withdraw"])
    assert told(text, OWNER, 1) == []
    assert told(text, AGENT, 1) == ["not_publisher"]
    assert told(text, OWNER, 3) == ["trial_closed"]


def test_without_its_trial_nothing_can_be_judged_so_nothing_passes() -> None:
    alone = {10: Standing(10, "run", AGENT, trial=1), 1: Standing(1, "trial", OWNER)}
    for text, parent in ((DISPOSITION, 10), (RUN, 1), (("withdraw-v1",), 1)):
        known = {parent: alone[parent]}
        faults = relation_faults(post_of(content(*text)), OWNER, parent, known.get, NOW)
        assert [each.code for each in faults] == ["reply_unknown"]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (KeyState(admitted=True), ""),
        (KeyState(), "key_unknown"),
        (KeyState(admitted=True, revoked=True), "key_revoked"),
        (KeyState(admitted=True, blocked=True), "key_blocked"),
        (KeyState(admitted=True, revoked=True, blocked=True), "key_blocked"),
    ],
)
def test_which_keys_may_post(state: KeyState, code: str) -> None:
    assert [each.code for each in key_faults(state)] == [code] * bool(code)
