"""The sync of the chain side: pins of any paths, from one or more indexers, kept in step.

`round` is one pass, `loop` goes on for ever. What is decided stands apart from what is read and
stored: `plan` (which walks), `compare` (rows against the store), `say` (whose word counts),
`anchors` (blocks that were replaced), `tally` (what became of pins). `walker`, `checks`, `gaps` and
`authors` ask and store. Knows no protocol.
"""

from refold.metaid.sync.loop import Done, Failed, Happening, Looked, Loop, Waits
from refold.metaid.sync.pace import Pace
from refold.metaid.sync.plan import Settings
from refold.metaid.sync.report import (
    AuthorTally,
    Disagreement,
    IndexerReport,
    PathReport,
    Progress,
    Report,
    Tally,
    Traffic,
)
from refold.metaid.sync.round import Sync
from refold.metaid.sync.sources import Polled, Source

__all__ = [
    "AuthorTally",
    "Disagreement",
    "Done",
    "Failed",
    "Happening",
    "IndexerReport",
    "Looked",
    "Loop",
    "Pace",
    "PathReport",
    "Polled",
    "Progress",
    "Report",
    "Settings",
    "Source",
    "Sync",
    "Tally",
    "Traffic",
    "Waits",
]
