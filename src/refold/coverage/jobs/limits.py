"""What verifications of a server may take, and how often they may ask anybody: with the reasons."""

from typing import Final

from refold.coverage.walk.budget import Budgets

__all__ = ["BUDGETS"]

BUDGETS: Final = Budgets(
    unit_rows=500_000,
    page_bytes=16 * 1024 * 1024,
    unit_bytes=128 * 1024 * 1024,
    record_requests=3_000,
)
"""Of one verification. Rows and bytes are fewer than on a command line, since several run in one
process and a stranger chose the source; half an hour at the pace of one host makes 3,600 requests.
"""

WORKERS: Final = 2
"""Verifications at a time: mostly they wait for sources and for the pace."""
HOST_SECONDS: Final = 0.5
"""From one request to the next at one host, on average, whatever the number of jobs: public APIs
that publish a limit allow more, and a person who clicks is no slower."""
HOST_BURST: Final = 8
"""Requests at a host that go out at once after a rest, so that short lists are answered quickly."""
ALL_SECONDS: Final = 0.05
"""From one request to the next, wherever they go: many names may stand for one machine."""
ALL_BURST: Final = 40
MAX_NAMES: Final = 10_000
"""Hosts whose pace is remembered; those that rested are forgotten first."""

MAX_ATTEMPTS: Final = 3
"""How often a job begins: its process may be stopped, but a job that kills it is given up."""
PROGRESS_SECONDS: Final = 1.0
"""Between two writings of how far a job is, which is also when it hears that it is cancelled."""
POLL_SECONDS: Final = 1.0
"""Between two looks for work of other processes; this one's own is told at once."""
CHECK_EACH: Final = 4
"""Of so many things that are begun one is a check that is due, if any is: whoever keeps asking does
not keep what is stored from being checked."""
GIVEN_UP_SECONDS: Final = 30 * 86_400
"""Until a receipt is tried again whose job was given up: another version may do better."""
AHEAD_SECONDS: Final = 300
"""By how much a check may lie in the future; beyond, the clock was ahead, and it counts no more."""
LEAVE_SECONDS: Final = 4.0
"""For which the end of the process waits for a walk; then its job waits for the next process."""
STANDBY_SECONDS: Final = 5.0
"""Between two tries to be the process that verifies, and before work goes on after an error."""
KEEP_SECONDS: Final = 86_400
"""For which the report of a job that ended is kept."""
KEEP_JOBS: Final = 2_000
"""Jobs that ended and are kept at most: a report may have a megabyte."""
PRUNE_SECONDS: Final = 600.0
"""Between two looks for old jobs."""
