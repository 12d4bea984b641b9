"""The indexer: from the pins that are stored to the view that is stored, and kept in step.

    with indexing(database) as indexer:
        indexer.catch_up(until=report.height)

The pins may be ahead of the view, the view never of the pins. What the view has not seen yet, the
store of the pins says (`Marks.changed_from`); everything that follows from one change is one
transaction. So it may be killed at any moment: opened again it goes on from what is there.
"""

from refold.agentpedia.indexer.checking import Checked, Difference, check_view
from refold.agentpedia.indexer.following import Follower, Turn
from refold.agentpedia.indexer.indexer import CaughtUp, Indexer, Step, indexing
from refold.agentpedia.indexer.wiring import Wiring, wired

__all__ = [
    "CaughtUp",
    "Checked",
    "Difference",
    "Follower",
    "Indexer",
    "Step",
    "Turn",
    "Wiring",
    "check_view",
    "indexing",
    "wired",
]
