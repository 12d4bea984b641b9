"""The indexes of trials on both databases: kept with the log, they are what the log says."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from refold.db import Database
from trials.histories import STEP, History, Step

STEPS = 250


@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(STEP, min_size=STEPS, max_size=STEPS))
def test_after_any_history_the_indexes_are_those_of_the_log(
    database: Database, steps: list[Step]
) -> None:
    wipe(database)
    history = History(database)
    try:
        for step in steps:
            history.take(step)
    finally:
        history.log.close()
    with database.read() as connection:
        assert history.indexes.check(connection) == []
