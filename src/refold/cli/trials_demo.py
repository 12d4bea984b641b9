"""Cold trials in `refold demo`: a dozen trials, played onto the node before it is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.cli.output import print_line
from refold.cli.settings import current_settings
from refold.kernel.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from refold.db import Database

KEY_FILE = "trials.key"
TO_TRY = (
    "/llms.txt",
    "/skill.md",
    "/zh/cold-trials.md",
    "/v1/public/trials",
    "/v1/public/services/tides.refold-demo.org",
    "/v1/public/blockers",
)
"""Addresses that show what there is."""


def play_demo_trials(database: Database, origin: str, folder: Path, now: int) -> dict[str, object]:
    """Play the story onto the node at `origin`, unless it is there; give the settings to serve it.

    The node's key is kept in the folder. A log belongs to one origin: at another one, as another
    port is, what was played can be read, and posts are refused.
    """
    from refold.kernel.seedfile import new_seed, read_seed
    from refold.trials.demo.playing import play_trials
    from refold.trials.node import node_of
    from refold.trials.settings import KEY

    file = folder / KEY_FILE
    flags: dict[str, object] = {"public_origin": origin, KEY.name: str(file)}
    node = node_of(current_settings(**flags), origin)
    try:
        play_trials(database, node, read_seed(file) or new_seed(file), now)
    except UsageError as error:
        if error.code != "log-name":
            raise
        print_line(f"cold trials can only be read here: {error.message}")
        flags[KEY.name] = str(folder / "no.key")
    return flags
