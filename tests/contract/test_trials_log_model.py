"""The log against a model of it: whatever is posted in whatever groups, it holds the same."""

import shutil
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from refold.db import Database
from refold.trials.codes import Fault, fault
from refold.trials.log.verifying import verify_log
from refold.trials.log.writer import Log
from refold.trials.posts import Post
from refold.trials.store.model import Appended, Message, Posting
from trials.logged import NOON, SIGNER, all_messages, posting

REFUSED, BROKEN, UNFOLDED = "refused", "broken", "unfolded"
texts = st.sampled_from(["a", "b", "c", "d", REFUSED, BROKEN, UNFOLDED])
Said = tuple[str, int | None]
"""A text, and what it replies to; one text twice to the same message is a duplicate."""

posts = st.tuples(texts, st.one_of(st.none(), st.integers(1, 12)))
groups = st.lists(st.lists(posts, max_size=8), max_size=6)


def judge(connection: Connection, of: Posting, now: int) -> tuple[Fault, ...]:
    del connection, now
    if of.message.content == BROKEN:
        raise LookupError(of.message.content)
    return (fault("key_unknown"),) if of.message.content == REFUSED else ()


def fold(connection: Connection, message: Message, post: Post) -> None:
    del connection, post
    if message.content == UNFOLDED:
        raise KeyError(message.id)


class Model:
    """What the log should hold and say."""

    def __init__(self) -> None:
        self.held: list[Said] = []

    def take(self, post: Said) -> tuple[str, int]:
        """Give what becomes of a post, and its id."""
        text, reply_to = post
        if post in self.held:
            return "duplicate", self.held.index(post) + 1
        if text == BROKEN:
            return "LookupError", 0
        if text == REFUSED or (reply_to is not None and reply_to > len(self.held)):
            return "refused", 0
        if text == UNFOLDED:
            return "KeyError", 0
        self.held.append(post)
        return "appended", len(self.held)


def became(future: Future[Appended]) -> tuple[str, int]:
    """Give what became of a posting."""
    error = future.exception()
    if error is not None:
        return type(error).__name__, 0
    appended = future.result()
    if appended.message is None:
        return "refused", 0
    return ("duplicate" if appended.is_duplicate else "appended"), appended.message.id


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of SQLite with our tables, to be copied."""
    path = tmp_path_factory.mktemp("model") / "empty.db"
    Database.open(f"sqlite:///{path}", durability="normal").close()
    return path


@settings(max_examples=40, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(groups)
def test_the_log_is_its_model(empty: Path, given_groups: list[list[Said]]) -> None:
    model = Model()
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{shutil.copy(empty, Path(folder, 'log.db'))}"
        with Database.open(url, durability="normal") as database:
            for group in given_groups:
                # What is queued when a log is closed is appended in as few transactions as may be.
                with Log(database, SIGNER, [fold], clock=lambda: NOON) as log:
                    futures = [
                        log.append(posting(text, reply_to=reply_to), judge)
                        for text, reply_to in group
                    ]
                expected = [model.take(post) for post in group]
                assert [became(future) for future in futures] == expected
            held = all_messages(database)
            assert [(each.content, each.reply_to) for each in held] == model.held
            tops = {each.id: each.thread for each in held}
            for each in held:
                assert each.thread == (tops[each.reply_to] if each.reply_to else each.id)
            with database.read() as connection:
                report = verify_log(connection)
            assert (report.size, report.problems) == (len(model.held), ())
