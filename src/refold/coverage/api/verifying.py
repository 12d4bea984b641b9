"""Routes that walk: verify a record now or as a job, and what becomes of the job."""

import msgspec

from refold.coverage.api.asked import JobAsked, VerifyAsked
from refold.coverage.api.desk import Desk, unknown_job
from refold.coverage.api.limits import SHORT_REQUESTS
from refold.coverage.api.model import JobShown, Reached, Verification
from refold.coverage.checks import Validation, validate
from refold.coverage.judge import Judgement
from refold.coverage.record import MAX_RECORD_BYTES, REPLAYABLE, MvcPins, Receipt, Unit
from refold.coverage.report import report_unreplayed
from refold.coverage.store import Store
from refold.coverage.store.model import ENDED, Job
from refold.kernel.errors import InputError
from refold.serving.answers import NO_STORE, Answer
from refold.serving.call import Call
from refold.serving.operation import get, post

__all__ = ["VerifyingApi"]

_NULL = msgspec.Raw(b"null")


class _Judged(msgspec.Struct):
    judgement: Judgement


class VerifyingApi:
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @post(
        "/v1/coverage/verify",
        summary="Walk a receipt again and judge it",
        codes=("verify-many", "verify-full", "coverage-reading", "database-busy"),
        also=(202,),
        max_body=MAX_RECORD_BYTES,
    )
    async def verify(self, asked: VerifyAsked, body: bytes, call: Call) -> Answer[Verification]:
        """Give the report, whatever it says of the record: 200.

        A verification that is short, as its record looks, is waited for. For a longer one, or one
        that takes longer, the answer is 202 with the address of its job. A record that is under way
        or was verified within a minute is not walked another time.
        """
        desk, now = self._desk, self._desk.moment()
        validation = await desk.threads.run(validate, body, now)
        receipt, name = validation.receipt, validation.receipt_hash
        if receipt is None or receipt.v not in REPLAYABLE:
            return Answer(_unwalked(validation, now))
        asker = desk.asker(call.client)
        job = await desk.threads.run(desk.verify, name, body, asker, sources=asked.sources)
        if job.state not in ENDED and asked.wait and is_short(receipt):
            job = await desk.ended(job, asked.wait)
        shown = desk.inline(lambda store: _shown(store, job))
        judgement = None
        if shown.report is not _NULL:
            judgement = msgspec.json.decode(shown.report, type=_Judged).judgement
        value = Verification(judgement, shown.report, _without_report(shown))
        if job.state in ENDED:
            return Answer(value)
        location = call.site.address(f"/v1/coverage/jobs/{job.id}")
        return Answer(value, status=202, headers=(("location", location), ("retry-after", "2")))

    @get(
        "/v1/coverage/jobs/{id}",
        summary="Say how far a verification is",
        codes=("job-unknown",),
        cache=NO_STORE,
    )
    def job(self, asked: JobAsked) -> JobShown:
        """Give state and progress, and the report when it is done."""
        return self._desk.inline(lambda store: _shown(store, _known(store, asked.id)))

    @get(
        "/v1/coverage/jobs/{id}/report",
        summary="Give the report of a verification",
        codes=("job-unknown", "report-unknown"),
        cache=NO_STORE,
    )
    def report(self, asked: JobAsked) -> Answer[bytes]:
        """Give the report alone, once the job is done."""

        def ask(store: Store) -> bytes:
            job = _known(store, asked.id)
            report = store.jobs.report(job.id)
            if report is None:
                raise InputError("report-unknown", f"the job is {job.state}", "ask later", "/id")
            return report

        return Answer(self._desk.inline(ask))

    @post(
        "/v1/coverage/jobs/{id}/cancel",
        summary="Cancel a verification",
        codes=(
            *("job-unknown", "job-ended", "job-not-yours", "coverage-reading"),
            "database-busy",
        ),
        max_body=0,
    )
    async def cancel(self, asked: JobAsked) -> JobShown:
        """End a job: at once if it waits, else after the answer that it is waiting for."""
        job = await self._desk.threads.run(self._desk.cancel, asked.id)
        return self._desk.inline(lambda store: _shown(store, job))


def is_short(receipt: Receipt) -> bool:
    """Tell whether a verification takes few requests, so far as the record says."""
    return sum(map(_requests, receipt.corpus.units)) <= SHORT_REQUESTS


def _requests(unit: Unit) -> int:
    """Give the requests that a unit looks like: its pages, and a look at the first one again."""
    replay, rows = unit.replay, unit.boundary.observed
    if unit.kind == "MANUAL":
        return 0
    if isinstance(replay, MvcPins):
        details = rows if replay.fetch == "LIST_PLUS_DETAIL" else 0
        return 2 + rows // replay.page_size + details
    return 2 + rows // _COMMON_PAGE


_COMMON_PAGE = 100
"""Rows of a page of a list whose record does not say how long its pages are."""


def _unwalked(validation: Validation, now: str) -> Verification:
    report = report_unreplayed(validation, now)
    return Verification(report.judgement, msgspec.Raw(msgspec.json.encode(report)), None)


def _known(store: Store, name: str) -> Job:
    job = store.jobs.get(name)
    if job is None:
        raise unknown_job()
    return job


def _shown(store: Store, job: Job) -> JobShown:
    report = store.jobs.report(job.id) if job.state == "done" else None
    return JobShown(
        id=job.id,
        receipt_hash=job.receipt,
        state=job.state,
        cancelled=job.cancel or job.state == "cancelled",
        sources=job.sources,
        made_at=job.made_at,
        began_at=job.began_at or None,
        ended_at=job.ended_at or None,
        progress=Reached(job.unit, job.pages, job.rows, job.requests),
        code=job.code or None,
        report=_NULL if report is None else msgspec.Raw(report),
    )


def _without_report(shown: JobShown) -> JobShown:
    return msgspec.structs.replace(shown, report=_NULL)
