"""Tools for agents (MCP): check, walk and explain receipts; what strangers wrote is fenced in."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from refold.coverage.api.asked import JobId
from refold.coverage.api.checking import canon_of
from refold.coverage.api.desk import Desk, unknown_job
from refold.coverage.checks import validate
from refold.coverage.codes import CODES, REASONS
from refold.coverage.export import read_report
from refold.coverage.jobs.walker import Walk
from refold.coverage.record import MAX_RECORD_BYTES, REPLAYABLE
from refold.coverage.render import render
from refold.coverage.report import Finding, Report, report_unreplayed
from refold.coverage.store.model import ENDED, Job
from refold.kernel.errors import InputError, one_line
from refold.serving.tools import Tool, fence

__all__ = ["coverage_tools"]

WAIT_SECONDS: Final = 15
"""For which a call waits for a walk; then the agent gets the job, and may ask for it."""
MAX_FINDINGS: Final = 50
"""Errors that are told of one record: an agent mends them and asks again."""
MAX_CHARACTERS: Final = 24_000
"""Characters of a text in one answer, some 6,000 tokens."""
_ASKER: Final = "tools"
"""Agents have no addresses here, so they share what one client may have."""

_Record = Annotated[str, Meta(max_length=MAX_RECORD_BYTES, description="A receipt, its JSON text.")]


class RecordGiven(msgspec.Struct, frozen=True):
    """A receipt as JSON text, as it came: whatever formats it anew may change its hash."""

    record: _Record


class VerifyGiven(msgspec.Struct, frozen=True):
    """A receipt to be walked again, or the job of an earlier call; one of the two."""

    record: _Record = ""
    job: JobId | None = None


class JsonGiven(msgspec.Struct, frozen=True):
    """Any JSON text."""

    json: Annotated[str, Meta(max_length=MAX_RECORD_BYTES)]


class CodeGiven(msgspec.Struct, frozen=True):
    """A code: E_… or W_… of a record, or a reason of a replay, in small letters."""

    code: Annotated[str, Meta(min_length=1, max_length=60)]


class CoverageTools:
    """The functions behind the tools."""

    def __init__(self, desk: Desk, wait: float, walk: Walk | None) -> None:
        self._desk = desk
        self._wait = wait
        self._walk = walk

    async def validate(self, given: RecordGiven) -> str:
        """Say what the checks say; asks nobody."""
        data, now = given.record.encode(errors="surrogatepass"), self._desk.moment()
        validation = await self._desk.threads.run(validate, data, now)
        report = report_unreplayed(validation, now)
        count = len(report.errors)
        told = f"INVALID, {count} error{'' if count == 1 else 's'}"
        verdict = "VALID" if validation.is_valid else told
        lines = [verdict, f"receiptHash {report.receipt_hash or 'none'}"]
        return "\n".join([*lines, *_findings(report)])

    async def verify(self, given: VerifyGiven) -> str:
        """Walk a receipt again, and give the report."""
        desk = self._desk
        if bool(given.record) == (given.job is not None):
            raise InputError("tool-arguments", "record and job", "give one of the two")
        if given.job is None:
            data, now = given.record.encode(errors="surrogatepass"), desk.moment()
            validation = await desk.threads.run(validate, data, now)
            receipt = validation.receipt
            if receipt is None or receipt.v not in REPLAYABLE:
                return _told(report_unreplayed(validation, now))
            walk = self._walk
            if walk is not None:
                return _told(
                    await desk.threads.run(lambda: walk(data, now, _unheard, sources=False))
                )
            name, asker = validation.receipt_hash, desk.asker(_ASKER)
            job = await desk.threads.run(desk.verify, name, data, asker, sources=False)
        else:
            wanted = given.job
            found = desk.inline(lambda store: store.jobs.get(wanted))
            if found is None:
                raise unknown_job()
            job = found
        job = await desk.ended(job, self._wait)
        return self._told_of(job)

    async def canon(self, given: JsonGiven) -> str:
        """Give what is hashed of a JSON text."""
        data = given.json.encode(errors="surrogatepass")
        shown = await self._desk.threads.run(canon_of, data)
        head = f"sha256 {shown.sha256}, {shown.bytes} bytes"
        if len(shown.canonical) > MAX_CHARACTERS:
            return f"{head}\nThe canonical form is too long for one answer."
        return f"{head}\n{fence(shown.canonical, 'canonical form')}"

    def explain(self, given: CodeGiven) -> str:
        """Say what a code means, in words of this node alone."""
        code = CODES.get(given.code) or REASONS.get(given.code)
        if code is None:
            known = ", ".join((*CODES, *REASONS))
            raise InputError("error-unknown", "there is no such code", f"one of {known}")
        return f"{code.id} ({', '.join(code.rules)})\n{code.says}\n{code.remedy}"

    def _told_of(self, job: Job) -> str:
        data = self._desk.inline(lambda store: store.jobs.report(job.id))
        if data is not None:
            return _told(read_report(data))
        if job.state in ENDED:
            return f"job {job.id}: {job.state} without a report"
        return f"job {job.id}: {job.state}, {job.requests} requests so far; ask again with job"


def _unheard(_unit: str, _spent: object) -> None:
    """Hear how far a walk is, and tell nobody."""


def _findings(report: Report) -> list[str]:
    """Give errors and warnings: codes and remedies are ours, places and values the writer's."""
    every = (*report.errors, *report.warnings)
    lines = [f"{finding.code}: {finding.remedy}" for finding in every[:MAX_FINDINGS]]
    if len(every) > MAX_FINDINGS:
        lines.append(f"and {len(every) - MAX_FINDINGS} more")
    if every:
        lines.append(fence("\n".join(map(_place, every[:MAX_FINDINGS])), "places in the record"))
    return lines


def _place(finding: Finding) -> str:
    return f"{finding.code} at {one_line(finding.pointer) or '/'}: {one_line(finding.message)}"


def _told(report: Report) -> str:
    """Give a report: the verdict in our words, the rest of it fenced in."""
    lines = [
        f"judgement {report.judgement}, coverage {report.coverage or 'none: nothing was walked'}",
        f"receiptHash {report.receipt_hash or 'none'}, judged at {report.now}",
    ]
    reasons = {*report.reasons, *(reason for unit in report.units for reason in unit.reasons)}
    lines += [f"{name}: {REASONS[name].says} {REASONS[name].remedy}" for name in sorted(reasons)]
    return "\n".join([*lines, fence(render(report)[:MAX_CHARACTERS], "report")])


def coverage_tools(
    desk: Desk, wait: float = WAIT_SECONDS, walk: Walk | None = None
) -> tuple[Tool, ...]:
    """Give the tools. Verifying sends requests to the sources of a record, so it says it writes.

    `wait` is for how many seconds a call waits for its job. With `walk` there are no jobs, as in a
    process that serves one agent and writes nothing: then a call walks, and ends when it has.
    """
    tools = CoverageTools(desk, wait, walk)
    return (
        Tool(
            "coverage_validate",
            "Check a coverage receipt without asking anybody: every error with its remedy.",
            RecordGiven,
            tools.validate,
        ),
        Tool(
            "coverage_verify",
            "Walk the sources of a coverage receipt again and judge it; asks the network.",
            VerifyGiven,
            tools.verify,
            writes=True,
        ),
        Tool(
            "coverage_canon",
            "Give the canonical form and SHA-256 of a JSON text: what receipts hash.",
            JsonGiven,
            tools.canon,
        ),
        Tool(
            "coverage_explain",
            "Say what a code of coverage receipts means and what to do about it.",
            CodeGiven,
            tools.explain,
        ),
    )
