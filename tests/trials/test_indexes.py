"""The rules of counting by themselves: groups of runtimes, cells, states of rechecks."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.trials.indexes.counting import (
    MAX_GROUP,
    OTHER,
    cells_of_run,
    recheck_state,
    runtime_group,
)
from refold.trials.indexes.fold import Fold
from refold.trials.indexes.memory import MemoryState
from refold.trials.indexes.rows import Entry, RunRow
from refold.trials.intake import read_content
from trials.examples import RUN, TRIAL, altered, content
from trials.logged import NOON

RUN_ROW = RunRow(
    id=2,
    trial=1,
    public_key="b",
    publisher="a",
    accepted_at=NOON,
    cold=True,
    service="shop.io",
    runtime="curl",
    outcome="blocked",
    proof="verified",
    classes="docs_wrong,other",
)


@pytest.mark.parametrize(
    ("runtime", "group"),
    [
        ("curl 8.7 on Linux, raw HTTP", "curl"),
        ("Curl/8", "curl"),
        ("Claude  Code, macOS", "claude code"),
        ("Gemini CLI", "gemini cli"),
        ("7zip", OTHER),
        (" , ", OTHER),
        ("ÄGENT", "ägent"),
        ("x" * 100, "x" * MAX_GROUP),
    ],
)
def test_a_runtime_has_a_group(runtime: str, group: str) -> None:
    assert runtime_group(runtime) == group


@given(st.text())
def test_a_group_is_short_and_the_group_of_itself(runtime: str) -> None:
    group = runtime_group(runtime)
    assert 0 < len(group) <= MAX_GROUP
    assert "\t" not in group
    assert not set(group) & set("0123456789,/")


def test_a_run_counts_by_its_outcome_once_and_later_as_later() -> None:
    cold = {cell.id for cell in cells_of_run(RUN_ROW)}
    assert "trial\t1\tblocked\t" in cold
    assert "service\tshop.io\tblocked\tcurl" in cold
    assert "blocker\t2030-03-17\tother\trun\tcurl" in cold
    assert "blocker\t2030-03-17\tdocs_wrong\trun\t" in cold
    later = {cell.id for cell in cells_of_run(_with(cold=False))}
    assert "trial\t1\tlater\t" in later
    assert not [cell for cell in later if "blocked" in cell]
    assert "blocker\t2030-03-17\tother\tlater\tcurl" in later
    assert cells_of_run(_with(removed=True)) == []


@pytest.mark.parametrize(
    ("row", "is_open", "state"),
    [
        ({"status": ""}, True, None),
        ({"status": "wontfix"}, True, None),
        ({"status": "fixed"}, True, "owed"),
        ({"status": "fixed"}, False, "lapsed"),
        ({"status": "fixed", "recheck": 9, "rechecked": "completed"}, False, "passed"),
        ({"status": "fixed", "recheck": 9, "rechecked": "blocked"}, True, "still_blocked"),
        ({"status": "fixed", "recheck": 9, "rechecked": "abandoned"}, True, "abandoned"),
        ({"status": "fixed", "recheck": 9, "rechecked": "removed"}, True, "removed"),
    ],
)
def test_a_recheck_has_a_state(row: dict[str, object], is_open: bool, state: str | None) -> None:
    assert recheck_state(_with(**row), is_open=is_open) == state


def test_posts_on_what_is_no_trial_harm_nothing() -> None:
    """No node accepts them; a fold over a damaged log still ends."""
    state = MemoryState()
    fold = Fold(state)
    run = read_content(content(*RUN)).post
    fold.add(Entry(1, "run", "b", 99, NOON), run)
    fold.add(Entry(2, "run", "b", None, NOON), run)
    fold.add(Entry(3, "trial", "a", None, NOON), read_content(content(*TRIAL)).post)
    fold.add(Entry(4, "disposition", "a", 99, NOON), None)
    fold.remove(Entry(77, "message", "a", 99, NOON))
    fold.remove(Entry(1, "run", "b", 99, NOON))
    assert (state.runs, list(state.services)) == ({}, ["shop.io"])


def test_what_a_post_says_is_kept_by_the_fields_of_the_format() -> None:
    state = MemoryState()
    post = read_content(altered(RUN, blocker="403", blocker_class="other", step="GET /")).post
    Fold(state).add(Entry(1, "run", "b", 9, NOON), post)
    assert state.posts[1].said == (
        b'{"outcome":"completed","runtime":"curl 8.7 on Linux","owner-proof":"verified",'
        b'"blocker":"403","blocker-class":["other"],"step":["GET /"]}'
    )


def _with(**values: object) -> RunRow:
    return msgspec.structs.replace(RUN_ROW, **values)
