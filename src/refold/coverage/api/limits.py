"""Limits of the API, with their reasons, and what is published of them and of the jobs."""

from typing import Final

from refold.coverage.jobs import limits as jobs
from refold.coverage.jobs import schedule
from refold.coverage.jobs.bounds import MAX_IDS
from refold.coverage.record import MAX_RECORD_BYTES
from refold.coverage.store.receipts import MAX_BYTES, MAX_RECEIPTS
from refold.serving.limits import Limit

__all__ = ["LIMITS"]

SHORT_REQUESTS: Final = 20
"""A verification that takes no more, as its record looks, is waited for: at the pace of a host that
is some six seconds."""
SHORT_SECONDS: Final = 8
"""For which an answer waits for a verification; the rest of a request's 20 s is for its body."""
FRESH_SECONDS: Final = 60
"""A report of this age is given again: who asks twice in a minute would see the same source."""
WAITING_REQUESTS: Final = 32
"""Requests that wait for verifications at a time; others get the address of the job at once."""
ASKER_JOBS: Final = 4
"""Verifications of one client that have not ended: as many as can be of use to a person."""
VERIFY_SECONDS: Final = 5.0
"""From one verification of a client to the next, on average: whoever has more to verify has the
command, and each one may be a row of a receipt's history."""
VERIFY_BURST: Final = 20
"""Verifications of a client at once after a rest."""
MAX_JOBS: Final = 100
"""Verifications that have not ended: at the pace of the node the last one begins within an hour,
unless sources drip; a client has one worker at a time."""
STORE_SECONDS: Final = 5.0
"""From one receipt that a client stores to the next, on average."""
STORE_BURST: Final = 60
"""Receipts that a client stores at once: a set of questions about one list."""
THREADS: Final = 4
"""Records that are checked or written at a time; a megabyte takes some 0.3 s of a processor."""
SHOWN_JUDGEMENTS: Final = 20
"""Changes of judgement inside of an answer; there is a list of all."""
SHOWN_LINKS: Final = 50
"""Receipts of a supersedes chain, equivocations, and pins inside of an answer."""

_BUDGETS = jobs.BUDGETS
LIMITS: tuple[Limit, ...] = (
    Limit("coverage.record", MAX_RECORD_BYTES, "bytes", "a record"),
    Limit("coverage.verify.short", SHORT_REQUESTS, "requests", "a verification waited for"),
    Limit("coverage.verify.wait", SHORT_SECONDS, "seconds", "until a job is answered instead"),
    Limit("coverage.verify.waiting", WAITING_REQUESTS, "requests", "that wait at once"),
    Limit("coverage.verify.fresh", FRESH_SECONDS, "seconds", "a report is given again"),
    Limit("coverage.verify.client", ASKER_JOBS, "jobs", "of one client, not ended"),
    Limit("coverage.verify.pace", VERIFY_SECONDS, "seconds", "between those of one client"),
    Limit("coverage.verify.burst", VERIFY_BURST, "jobs", "of one client after a rest"),
    Limit("coverage.verify.jobs", MAX_JOBS, "jobs", "not ended"),
    Limit("coverage.verify.pages", _BUDGETS.unit_pages, "pages", "of a unit"),
    Limit("coverage.verify.rows", _BUDGETS.unit_rows, "rows", "of a unit"),
    Limit("coverage.verify.page", _BUDGETS.page_bytes, "bytes", "of a page, decoded"),
    Limit("coverage.verify.bytes", _BUDGETS.unit_bytes, "bytes", "of a unit, decoded"),
    Limit("coverage.verify.requests", _BUDGETS.record_requests, "requests", "of a verification"),
    Limit("coverage.report.ids", MAX_IDS, "ids", "added or removed, in a report that is kept"),
    Limit("coverage.verify.seconds", _BUDGETS.record_seconds, "seconds", "of a verification"),
    Limit("coverage.pace.host", jobs.HOST_SECONDS, "seconds", "between requests at one host"),
    Limit("coverage.pace.host.burst", jobs.HOST_BURST, "requests", "at one host after a rest"),
    Limit("coverage.pace.all", jobs.ALL_SECONDS, "seconds", "between requests, wherever they go"),
    Limit("coverage.pace.all.burst", jobs.ALL_BURST, "requests", "anywhere after a rest"),
    Limit("coverage.jobs.attempts", jobs.MAX_ATTEMPTS, "times", "a job begins"),
    Limit("coverage.jobs.kept", jobs.KEEP_SECONDS, "seconds", "a job is kept after its end"),
    Limit("coverage.jobs.kept.most", jobs.KEEP_JOBS, "jobs", "that ended are kept"),
    Limit("coverage.store.receipts", MAX_RECEIPTS, "receipts", "stored"),
    Limit("coverage.store.bytes", MAX_BYTES, "bytes", "of stored records"),
    Limit("coverage.store.pace", STORE_SECONDS, "seconds", "between receipts of one client"),
    Limit("coverage.store.burst", STORE_BURST, "receipts", "of one client after a rest"),
    Limit("coverage.schedule.shortest", schedule.SHORTEST_SECONDS, "seconds", "between checks"),
    Limit("coverage.schedule.longest", schedule.LONGEST_SECONDS, "seconds", "while it is valid"),
    Limit("coverage.schedule.expired", schedule.EXPIRED_SECONDS, "seconds", "after validUntil"),
    Limit("coverage.schedule.rest", schedule.REST, "times", "what a check took, to the next"),
    Limit("coverage.schedule.retry", schedule.RETRY_SECONDS, "seconds", "first, source away"),
)
