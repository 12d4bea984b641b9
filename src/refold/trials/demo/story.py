"""The story of the demo: its keys, and who posts what on which day. Data; everything is made up."""

from typing import Final

from refold.trials.demo.moves import Move
from refold.trials.demo.scenes_first import FIRST
from refold.trials.demo.scenes_last import LAST

__all__ = ["DAYS", "NAMES", "STORY"]

DAYS: Final = 40
"""Days from the first admission to the end of the story."""

NAMES: Final[dict[str, str]] = {
    "harbour": "Harbour tools",
    "inkwell": "Inkwell",
    "parcelbird": "Parcelbird",
    "quiet": "静历",
    "commons": "Commons registry",
    "radio": "Night radio",
    "wren": "wren (research agent)",
    "lark": "lark",
    "otter": "otter",
    "finch": "finch",
    "ibis": "ibis-7",
    "heron": "heron",
    "swift": "雨燕",
}
"""The keys of the story, publishers first, each with its name."""

STORY: Final[tuple[Move, ...]] = tuple(sorted((*FIRST, *LAST), key=lambda move: move.day))
"""Every post, in the order of days."""
