"""Rules for import jobs: they belong to the worker; a client may set who is notified, and delete finished ones."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict
from promenade.events import Event, ImportJobCompleted, ImportJobFailed
from promenade.store.authoring.statements import Columns
from promenade.store.imports.jobs import remove_remains
from promenade.store.webhooks.late import send_to
from promenade.workflows.authoring.callbacks import check_callback
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

_ENDED = frozenset({"SUCCEEDED", "FAILED"})


@rules("ImportJobs")
class _ImportJobs(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is Act.DELETE and write.before is not None and write.before["status"] not in _ENDED:
                message = "A job can be deleted only after it has ended, SUCCEEDED or FAILED."
                unit.faults.add(Conflict("JOB_NOT_FINISHED", message))
            elif write.act is Act.UPDATE:
                check_callback(unit, write, "callback_url")
        return []

    async def store(self, unit: Unit, writes: Sequence[Write]) -> None:
        """Delete the other data of deleted jobs, and call new URLs of jobs that have ended.

        The job's row is locked, so no worker is processing it, or ending it at this moment.
        """
        deleted = [write.id for write in writes if write.act is Act.DELETE]
        if deleted:
            await remove_remains(unit.session, deleted)
        for write in writes:
            job, url = write.after, write.after.get("callback_url")
            if write.act is Act.UPDATE and url and write.differs("callback_url") and job["status"] in _ENDED:
                event = job_event(job, job["status"], job["message"])
                await send_to(unit.session, event, url, happened_at=job["completed_at"], at=unit.at, new_id=unit.new_id)


def job_event(job: Columns, status: str, message: str | None) -> Event:
    """Return the event of a job that has ended: SUCCEEDED, or FAILED with a ``message``; ``job`` has its counts."""
    numbers = (job["total_rows"], job["rows_succeeded"], job["rows_failed"], job["rows_skipped"])
    if status == "SUCCEEDED":
        return ImportJobCompleted(job["id"], job["entity"], job["source"], *numbers)
    return ImportJobFailed(job["id"], job["entity"], job["source"], *numbers, message or "")
