"""Jobs in tables. One writes at a time, so what is looked at and then changed is what it was."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, func, or_, select, update

from refold.coverage.store import tables
from refold.coverage.store.model import ENDED, Job, NewJob
from refold.db import insert_missing, put

__all__ = ["GAVE_UP", "SqlJobs"]

GAVE_UP = "gave-up"
"""The code of a job whose process died under it too often."""

_J = tables.jobs.c
_COLUMNS = tuple(_J[name] for name in Job.__struct_fields__)


class SqlJobs:
    """See `interface.Jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, new: NewJob, data: bytes, now: str) -> Job:
        """See the interface."""
        name = new.receipt
        known = self._one(select(*_COLUMNS, _J.asker).where(_J.running == name))
        if known is not None:
            found, first = known
            if first != new.asker:
                self._set(found.id, shared=1)
            if new.sources and found.state == "queued":
                self._set(found.id, sources=1)
            return self.get(found.id) or found
        insert_missing(self._connection, tables.records, [{"hash": name, "body": data}])
        row = {
            "id": new.id,
            "number": (self._connection.scalar(select(func.max(_J.number))) or 0) + 1,
            "receipt": name,
            "running": name,
            "origin": "due" if new.scheduled else "asked",
            "asker": new.asker,
            "shared": 0,
            "sources": int(new.sources),
            "state": "queued",
            "cancel": 0,
            "attempts": 0,
            "made_at": now,
            "began_at": "",
            "ended_at": "",
            "unit": "",
            "pages": 0,
            "rows": 0,
            "requests": 0,
            "code": "",
        }
        self._connection.execute(tables.jobs.insert(), row)
        return _job(tuple(row[name] for name in Job.__struct_fields__))

    def get(self, job: str) -> Job | None:
        """See the interface."""
        found = self._one(select(*_COLUMNS, _J.asker).where(_J.id == job))
        return None if found is None else found[0]

    def report(self, job: str) -> bytes | None:
        """See the interface."""
        c = tables.job_reports.c
        return self._connection.scalar(select(c.body).where(c.job == job))

    def fresh(self, name: str, since: str, now: str, *, sources: bool) -> Job | None:
        """See the interface."""
        asked = select(*_COLUMNS, _J.asker).where(
            _J.receipt == name,
            _J.state == "done",
            _J.ended_at >= since,
            _J.ended_at <= now,
            _J.sources >= int(sources),
        )
        found = self._one(asked.order_by(_J.number.desc()).limit(1))
        return None if found is None else found[0]

    def count(self, *, asker: str | None = None) -> int:
        """See the interface."""
        asked = select(func.count()).select_from(tables.jobs).where(_J.running.is_not(None))
        if asker is not None:
            asked = asked.where(_J.asker == asker)
        return self._connection.scalar(asked) or 0

    def is_about(self, name: str) -> bool:
        """See the interface."""
        return self._connection.scalar(select(_J.id).where(_J.running == name)) is not None

    def waits(self) -> bool:
        """See the interface."""
        asked = select(_J.id).where(_J.state == "queued").limit(1)
        return self._connection.scalar(asked) is not None

    def claim(self, now: str, *, due: bool = False) -> Job | None:
        """See the interface."""
        asked = select(_J.id).where(_J.state == "queued").order_by(_J.origin, _J.number).limit(1)
        served = select(_J.asker).where(_J.state == "running", _J.origin == "asked")
        asked = asked.where(or_(_J.origin == "due", _J.asker.not_in(served)))
        if due:
            asked = asked.where(_J.origin == "due")
        job = self._connection.scalar(asked)
        if job is None:
            return None
        began = func.coalesce(func.nullif(_J.began_at, ""), now)
        self._set(job, state="running", attempts=_J.attempts + 1, began_at=began)
        return self.get(job)

    def recover(self, now: str, most: int) -> list[str]:
        """See the interface."""
        ran = select(_J.id, _J.receipt, _J.attempts, _J.cancel).where(_J.state == "running")
        given_up = []
        for job, name, attempts, cancel in self._connection.execute(ran).all():
            if attempts >= most:
                self.ended(job, now, failed=GAVE_UP)
                given_up.append(name)
            elif cancel:
                self.ended(job, now)
            else:
                self._set(job, state="queued")
        return given_up

    def progress(self, job: str, unit: str, counts: Mapping[str, int]) -> bool:
        """See the interface."""
        self._set(job, unit=unit, **counts)
        return bool(self._connection.scalar(select(_J.cancel).where(_J.id == job)))

    def release(self, job: str) -> None:
        """See the interface."""
        self._set(job, state="queued", attempts=_J.attempts - 1)

    def done(self, job: str, now: str, report: bytes) -> None:
        """See the interface."""
        put(self._connection, tables.job_reports, [{"job": job, "body": report}])
        self._set(job, state="done", ended_at=now, running=None)

    def ended(self, job: str, now: str, *, failed: str = "") -> None:
        """See the interface."""
        state = "failed" if failed else "cancelled"
        self._set(job, state=state, ended_at=now, running=None, code=failed)

    def cancel(self, job: str, now: str) -> Job | None:
        """See the interface."""
        found = self.get(job)
        if found is None or found.state in ENDED:
            return found
        if found.state == "queued":
            self.ended(job, now)
        else:
            self._set(job, cancel=1)
        return self.get(job)

    def prune(self, before: str, keep: int) -> int:
        """See the interface. Records that nobody needs any more go with them."""
        ended = _J.running.is_(None)
        last = select(_J.number).where(ended).order_by(_J.number.desc()).offset(keep).limit(1)
        newest = self._connection.scalar(last)
        old = _J.ended_at < before
        which = ended & (old if newest is None else old | (_J.number <= newest))
        gone = self._connection.execute(
            select(_J.id, _J.receipt).where(which).limit(PRUNED_AT_ONCE)
        ).all()
        for job, name in gone:
            self._connection.execute(
                delete(tables.job_reports).where(tables.job_reports.c.job == job)
            )
            self._connection.execute(delete(tables.jobs).where(_J.id == job))
            self._connection.execute(
                delete(tables.records).where(
                    tables.records.c.hash == name,
                    ~exists().where(tables.receipts.c.hash == name),
                    ~exists().where(_J.receipt == name),
                )
            )
        return len(gone)

    def _set(self, job: str, **values: object) -> None:
        self._connection.execute(update(tables.jobs).where(_J.id == job).values(**values))

    def _one(self, asked: Select[Any]) -> tuple[Job, str] | None:
        row = self._connection.execute(asked).first()
        return None if row is None else (_job(row[:-1]), row[-1])


PRUNED_AT_ONCE = 500
"""Jobs that one transaction deletes: others wait for it."""


def _job(values: Sequence[object]) -> Job:
    fields = dict(zip(Job.__struct_fields__, values, strict=True))
    for flag in ("shared", "sources", "cancel"):
        fields[flag] = bool(fields[flag])
    return Job(**fields)  # type: ignore[arg-type]  # the columns are its fields
