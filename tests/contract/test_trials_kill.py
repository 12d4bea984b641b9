"""A node that is killed while posts come in: what it answered is there, and nothing is half."""

import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest

from refold.db import Database
from refold.kernel.merkle import verify_consistency
from refold.trials.checkpoint import Signer, log_name, read_checkpoint
from refold.trials.log.verifying import verify_log
from refold.trials.store.reading import Messages
from refold.trials.store.tree import Tree
from trials.logged import signed
from trials.process import ORIGIN, SEED, admit, get, node_process, post_all, request_of

KEYS = 20
CONNECTIONS = 100
LOG_KEY = Signer(log_name(ORIGIN), SEED).key


@pytest.mark.parametrize(
    ("fixture", "count", "deaths"),
    [("sqlite_url", 10_000, (400, 2_600)), ("postgres_url", 4_000, (700,))],
    ids=["sqlite", "postgresql"],
)
def test_kill(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str, count: int, deaths: tuple[int]
) -> None:
    url: str = request.getfixturevalue(fixture)
    admit(url, *range(KEYS))
    messages = [signed(f"post {n}", who=n % KEYS) for n in range(count)]
    requests = {n: request_of(message) for n, message in enumerate(messages)}
    answered: dict[int, int] = {}
    notes: list[str] = []
    for death in deaths:
        left = {n: each for n, each in requests.items() if n not in answered}
        with node_process(url, tmp_path) as (port, process):
            notes.append(get(port, "/v1/public/checkpoint").decode())
            answers = post_all(
                port, left, connections=CONNECTIONS, seen=partial(kill_at, death, process)
            )
            assert process.wait() == -signal.SIGKILL
        taken = answers.posted()
        assert death <= len(taken) < len(left)
        for n, posted in taken.items():
            assert posted.digest == messages[n].digest
            answered[n] = posted.id
        look_at(url, {messages[n].digest: id_ for n, id_ in answered.items()}, notes)
    # Whoever got no answer posts again, and so does whoever lost it.
    again = {n: requests[n] for n in [*range(500), *sorted(answered)[-200:]]}
    with node_process(url, tmp_path) as (port, _):
        taken = post_all(port, again, connections=CONNECTIONS).posted()
        notes.append(get(port, "/v1/public/checkpoint").decode())
    assert len(taken) == len(again)
    for n, posted in taken.items():
        assert answered.setdefault(n, posted.id) == posted.id
    look_at(url, {messages[n].digest: id_ for n, id_ in answered.items()}, notes)


def kill_at(count: int, process: subprocess.Popen[bytes], answered: int) -> None:
    """Kill a process once so many answers came."""
    if answered == count:
        process.kill()


def look_at(url: str, answered: dict[str, int], notes: list[str]) -> None:
    """Check the log: what was answered is there, all of it is whole and says what was signed."""
    with Database.open(url, readonly=True) as database, database.read() as connection:
        report = verify_log(connection, signatures=False)
        assert (report.problems, report.removed) == ((), 0)
        stored = Messages(connection).since(0, 1_000_000)
        assert [each.id for each in stored] == list(range(1, report.size + 1))
        assert all(each.content for each in stored)
        by_digest = {each.digest: each.id for each in stored}
        assert {digest: by_digest.get(digest) for digest in answered} == answered
        tree = Tree(connection)
        kept = [each.note for each in reversed(tree.checkpoints(10))]
        said = [read_checkpoint(note, [LOG_KEY]) for note in (*notes, *kept)]
        assert said[-1].size == report.size
        for before in said:
            proof = tree.consistency(before.size, report.size)
            root = bytes.fromhex(report.root)
            assert verify_consistency(before.size, before.root, report.size, root, proof)
