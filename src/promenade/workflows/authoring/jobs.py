"""Rules for import jobs: they belong to the worker; a client may set who is notified, and delete finished ones."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict
from promenade.store.imports.jobs import remove_remains
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
        """Delete the other data of deleted jobs; the job row is locked, so no worker is processing it."""
        deleted = [write.id for write in writes if write.act is Act.DELETE]
        if deleted:
            await remove_remains(unit.session, deleted)
