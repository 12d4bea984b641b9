"""Relations under concurrency, over real HTTP: whatever the order, no rule is broken."""

from pathlib import Path
from random import Random
from typing import Any

from refold.trials.intake import read_content
from refold.trials.posts import Trial
from refold.trials.relations import Standing, closing_time, relation_faults
from refold.trials.signing import SignedMessage
from refold.trials.store.standings import standing
from refold.trials.tables import Kind
from trials.logged import signed
from trials.nodes import codes, running, text

KEYS = tuple(range(1, 41))


def test_the_same_post_fifty_times_at_once_is_one_row(tmp_path: Path) -> None:
    with running(tmp_path, counts={"posts.minute": 1}) as node:
        node.admit(1)
        answers = node.together([signed("hello, once")] * 50)
        assert sorted(each.status_code for each in answers) == [200] * 49 + [201]
        assert {each.json()["id"] for each in answers} == {1}
        assert len(node.json("messages")["items"]) == 1


def test_runs_in_the_second_a_trial_closes(tmp_path: Path) -> None:
    """A withdrawal races with runs: those before it are taken, those after it are not."""
    with running(tmp_path) as node:
        node.admit(*KEYS)
        trial = node.take(text("trial"), who=1)
        runs = [signed(text("run"), who=who, reply_to=trial) for who in KEYS[1:]]
        messages = [*runs[:20], signed("withdraw-v1", who=1, reply_to=trial), *runs[20:]]
        answers = node.together(messages)
        withdrawn = answers[20].json()["id"]
        for answer in answers[:20] + answers[21:]:
            if answer.status_code == 201:
                assert answer.json()["id"] < withdrawn
            else:
                assert codes(answer) == ["trial_closed"]
        kept = node.json("messages?limit=200")["items"]
        assert [
            each["id"] for each in kept if each["kind"] == "run" and each["id"] > withdrawn
        ] == []


def test_a_trial_closes_at_its_second(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2, 3)
        trial = node.take(text("trial", closes="2030-03-17T17:46:50Z"), who=1)
        node.time.pass_(9.9)
        node.take(text("run"), who=2, reply_to=trial)
        node.time.pass_(0.1)
        both = [signed(text("run"), who=3, reply_to=trial) for _ in range(2)]
        for answer in node.together(both):
            assert codes(answer) == ["trial_closed"]
        with node.database.read() as connection:
            found = standing(connection, trial)
        assert found is not None
        assert found.closes == "2030-03-17T17:46:50Z"
        assert codes(node.say("withdraw-v1", who=1, reply_to=trial)) == ["trial_closed"]
        run = 2
        node.take(text("disposition"), who=1, reply_to=run)


def test_a_trial_without_closes_is_open_for_thirty_days(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2)
        trial = node.take(text("trial"), who=1)
        node.time.pass_(30 * 86_400 - 1)
        node.take(text("run"), who=2, reply_to=trial)
        node.time.pass_(1)
        assert codes(node.say(text("run", requests="2"), who=2, reply_to=trial)) == ["trial_closed"]


def test_disposition_and_recheck_race(tmp_path: Path) -> None:
    """Both are right in any order, so both are taken; neither sees half of the other."""
    with running(tmp_path) as node:
        node.admit(1, 2)
        trial = node.take(text("trial"), who=1)
        for number in range(8):
            run = node.take(text("run", requests=str(number)), who=2, reply_to=trial)
            answers = node.together(
                [
                    signed(text("disposition", status="fixed", version="1"), who=1, reply_to=run),
                    signed(text("run", recheck_of=str(run)), who=2, reply_to=trial),
                    signed(text("run", recheck_of=str(run + 10_000)), who=2, reply_to=trial),
                ]
            )
            assert [each.status_code for each in answers] == [201, 201, 422]
            assert codes(answers[2]) == ["recheck_unknown"]
            ids = {each.json()["id"] for each in answers[:2]}
            assert min(ids) > run
            assert len(ids) == 2


def test_a_key_that_ends_itself_is_ended_for_what_comes_behind(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        node.take("first", who=1)
        messages = [signed(f"post {number}") for number in range(20)]
        answers = node.together([*messages[:10], signed("revoke-v1"), *messages[10:]])
        revoked = answers[10].json()["id"]
        for answer in answers[:10] + answers[11:]:
            if answer.status_code == 201:
                assert answer.json()["id"] < revoked
            else:
                assert codes(answer) == ["key_revoked"]


def test_ids_and_times_never_go_back(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1)
        node.take("one")
        node.time.unix -= 3_600
        node.take("two")
        first, second = node.json("messages")["items"]
        assert (first["id"], second["id"]) == (1, 2)
        assert first["acceptedAt"] == second["acceptedAt"]


def any_post(draw: Random, number: int, newest: int) -> SignedMessage:
    """Give some post by some key that answers some message, which may have come before."""
    kinds: tuple[Kind, ...] = ("trial", "run", "disposition", "withdraw", "revoke", "message")
    (kind,) = draw.choices(kinds, (4, 12, 6, 2, 0.3, 4))
    reply_to = None if kind in {"trial", "revoke"} else draw.randint(1, newest)
    content = text(kind, note=str(number)) if kind in {"disposition", "withdraw", "revoke"} else ""
    if kind == "trial":
        content = text("trial", contact=str(number))
    elif kind == "run":
        earlier = {"recheck_of": str(draw.randint(1, newest))} if draw.random() < 0.4 else {}
        content = text("run", requests=str(number), **earlier)
    return signed(content or f"chat {number}", who=draw.randint(1, 5), reply_to=reply_to)


def replay(kept: list[dict[str, Any]]) -> None:
    """See that each message of a log may stand where it does, by the pure rules alone."""
    there: dict[int, Standing] = {}
    ended: set[str] = set()
    for each in kept:
        post = read_content(each["untrusted"]["content"]).post
        assert post is not None
        key, now, reply_to = each["public_key"], each["acceptedAt"], each["reply_to"]
        assert key not in ended
        assert relation_faults(post, key, reply_to, there.get, now) == (), each
        closes = closing_time(post, now) if isinstance(post, Trial) else None
        trial = each["id"] if closes else reply_to if post.kind == "run" else None
        there[each["id"]] = Standing(each["id"], post.kind, key, trial, closes)
        if post.kind == "withdraw":
            there[reply_to] = Standing(reply_to, "trial", key, reply_to, now)
        elif post.kind == "revoke":
            ended.add(key)


def test_a_log_that_grew_under_many_hands_keeps_every_rule(tmp_path: Path) -> None:
    draw = Random(7)
    with running(tmp_path, counts={"refused.ten_minutes": 0}) as node:
        node.admit(*range(1, 6))
        node.take(text("trial"), who=1)
        taken = 1
        for round_ in range(8):
            messages = [any_post(draw, round_ * 20 + n, taken + 10) for n in range(20)]
            answers = node.together(messages)
            assert {each.status_code for each in answers} <= {201, 422}
            taken += sum(each.status_code == 201 for each in answers)
            node.time.pass_(draw.choice((0, 1, 86_400 * 7)))
        kept = node.json("messages?limit=200")["items"]
        assert len(kept) == taken
        assert {each["kind"] for each in kept} >= {"trial", "run"}
        replay(kept)
