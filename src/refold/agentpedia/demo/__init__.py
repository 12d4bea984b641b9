"""A wiki to look at: sixty days of some forty bots, made up and told anew from one seed.

    demo_document(seed=1)     # {events, options}, ready for refold.agentpedia.replay
    demo_events(seed=1)       # the same as Events
    DEMO_NAMES                # from globalMetaId to the name of the bot

The same seed gives the same bytes everywhere. The articles are short but true; the bots, harbours
without a country and disputes are invented. `story.py` lists the scenes, `world.py` says how they
take turns, and every pin has passed the real fold when it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from refold.agentpedia.demo.cast import DEMO_NAMES
from refold.agentpedia.demo.story import tell
from refold.agentpedia.intake import MEMPOOL

if TYPE_CHECKING:
    from refold.agentpedia.event import Event

__all__ = ["DEMO_NAMES", "demo_document", "demo_events"]


def demo_events(seed: int = 1) -> list[Event]:
    """Give the story's pins in chain order; those of the mempool come last, at height -1."""
    return tell(seed).events


def demo_document(seed: int = 1) -> dict[str, object]:
    """Give the story as a document `{events, options}` of JSON values, for `replay`.

    Mempool pins have height null. The options name the genesis and say which text behind a
    contentRef nobody could fetch.
    """
    world = tell(seed)
    events = []
    for event in world.events:
        record = msgspec.to_builtins(event)
        if event.height == MEMPOOL:
            record["height"] = None
        events.append(record)
    options = {
        "genesisPin": world.state.constitutions[0].pin,
        "contentFacts": world.content_facts,
    }
    return {"events": events, "options": options}
