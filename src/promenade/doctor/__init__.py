"""`promenade doctor` and `promenade db check`: what an operator would look at first, each with what to do about it.

It looks at this machine, the database, the running service, a store's link to its cloud, and the work that waits. It
changes nothing in the database, and goes on when one of them is out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from promenade.doctor.copy import verify
from promenade.doctor.data import examine_database, opened
from promenade.doctor.findings import Finding, Verdict, worst
from promenade.doctor.link import examine_link
from promenade.doctor.machine import examine_certificates, examine_disk, examine_packages
from promenade.doctor.service import examine_service
from promenade.doctor.work import examine_archives, examine_store, examine_uploads, examine_work
from promenade.settings import Settings
from promenade.store.access.local_store import read_store
from promenade.store.replica.link import read_link

__all__ = ["Finding", "Verdict", "examine", "verify", "worst"]


async def examine(settings: Settings, clock: Callable[[], datetime]) -> Sequence[Finding]:
    """Return what was found, in the order in which to mend it. Raises nothing that a check can say instead."""
    findings = [examine_disk(settings), *examine_packages(), *examine_database(settings, clock)]
    findings += await examine_service(settings)
    findings += examine_certificates(settings, clock())
    if any(one.verdict is Verdict.FAIL for one in findings if one.check in ("database", "schema")):
        return [*findings, Finding.skipped("link"), Finding.skipped("work")]
    async with opened(settings) as database:
        store = await database.read(read_store, system=True)
        link = await database.read(read_link, system=True)
        if store is not None:
            findings += examine_store(store)
            findings += await examine_link(link, clock)
        findings += await examine_work(database, clock())
        if store is None:  # stores keep their logs
            findings += await examine_archives(database, settings, clock())
        if store is not None and link is not None:
            findings += await examine_uploads(database, store.tenant_id, clock())
    return findings
