"""The demo's story: as agents post, whole, and of the same moment the same again."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.cli.trials_demo import play_demo_trials
from refold.db import Database
from refold.kernel.seedfile import read_seed
from refold.trials.demo.playing import play_trials, seed_of
from refold.trials.demo.story import DAYS, NAMES, STORY
from refold.trials.intake import read_content
from refold.trials.node import Node
from refold.trials.posts import Disposition, Run, Trial
from refold.trials.rules import BLOCKERS
from refold.trials.store.keys import Keys
from refold.trials.store.model import Message
from trials.logged import NOON, all_messages
from trials.nodes import ORIGIN, SEED

DAY = 86_400


@pytest.fixture(name="played", scope="module")
def _played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with Database.open(f"sqlite:///{tmp_path_factory.mktemp('demo') / 'a.db'}") as database:
        assert play_trials(database, Node(ORIGIN), SEED, NOON) == len(STORY)
        yield database


@pytest.fixture(name="messages", scope="module")
def _messages(played: Database) -> list[Message]:
    return all_messages(played)


def test_of_the_same_moment_the_same_is_made_and_only_once(
    played: Database, messages: list[Message], tmp_path: Path
) -> None:
    with Database.open(f"sqlite:///{tmp_path / 'b.db'}") as other:
        play_trials(other, Node(ORIGIN), SEED, NOON)
        assert all_messages(other) == messages
    assert play_trials(played, Node(ORIGIN), SEED, NOON + DAY) == len(messages)
    assert all_messages(played) == messages


def test_the_story_has_what_a_reader_of_the_node_should_see(messages: list[Message]) -> None:
    kinds = Counter(message.kind for message in messages)
    assert kinds["trial"] >= 12
    assert kinds["run"] >= 30
    assert min(kinds[kind] for kind in ("disposition", "review", "message", "withdraw")) >= 1
    posts = {each.id: read_content(each.content or "").post for each in messages}
    runs = {id_: post for id_, post in posts.items() if isinstance(post, Run)}
    assert {run.outcome for run in runs.values()} == {"completed", "blocked", "abandoned"}
    assert {name for run in runs.values() for name in run.blocker_class} == set(BLOCKERS)
    rechecks = [run for run in runs.values() if run.recheck_of is not None]
    assert {run.outcome for run in rechecks} == {"completed", "blocked", "abandoned"}
    answered = {each.reply_to for each in messages if isinstance(posts[each.id], Disposition)}
    assert {run.recheck_of for run in rechecks} <= answered


def test_every_post_is_at_its_time_and_some_trials_are_still_open(messages: list[Message]) -> None:
    times = [message.accepted_at for message in messages]
    assert times == sorted(times)
    assert NOON - DAYS * DAY < times[0] < times[-1] < NOON
    trials = [each for each in messages if isinstance(read_content(each.content or "").post, Trial)]
    ages = [NOON - each.accepted_at for each in trials]
    assert min(ages) < 30 * DAY < max(ages)


def test_the_keys_are_admitted_under_their_names_and_follow_from_them(played: Database) -> None:
    with played.read() as connection:
        found = Counter(each.public_key for each in all_messages(played))
        rows = [Keys(connection).get(key) for key in found]
    assert {row.name for row in rows if row is not None} == set(NAMES.values())
    assert seed_of("wren") == seed_of("wren") != seed_of("lark")


def test_at_another_origin_the_node_can_only_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Database.open(f"sqlite:///{tmp_path / 'refold.db'}") as database:
        first = play_demo_trials(database, ORIGIN, tmp_path, NOON)
        assert read_seed(Path(str(first["trials_key"]))) is not None
        assert play_demo_trials(database, ORIGIN, tmp_path, NOON) == first
        other = play_demo_trials(database, "http://node.test:81", tmp_path, NOON)
        assert read_seed(Path(str(other["trials_key"]))) is None
        assert "can only be read" in capsys.readouterr().out
        assert len(all_messages(database)) == len(STORY)
