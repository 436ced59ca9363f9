"""What waits to be done, and who does it; of a store also whether strangers could take it over."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice

from promenade.doctor.findings import Finding
from promenade.settings import Settings
from promenade.store.access.local_store import StoreRow
from promenade.store.clockwork.backlog import Backlog, read_backlog
from promenade.store.driver.unit import Database
from promenade.store.replica.link import count_uploads, oldest_upload
from promenade.workflows.archive.months import Month
from promenade.workflows.clockwork.dropping import Waiting, waiting_for_check
from promenade.workflows.clockwork.sheet import clock_sheet
from promenade.workflows.context import Retention

_LATE = timedelta(minutes=10)
_UPLOADS_LATE, _UPLOADS_MAX = timedelta(days=1), timedelta(days=14)
_STARTS_WORK = "Start `promenade worker`, or serve with one process, which works, too."
_TENANTS_SHOWN = 5
_TROUBLED = frozenset({"STUCK", "FAILED", "TROUBLE"})


def examine_store(store: StoreRow) -> Sequence[Finding]:
    """Look at what only a store has."""
    if store.password_hash is not None:
        return [Finding.ok("password", "The administrator's password is set.")]
    remedy = "Set it on the store's page, or with `promenade local-admin reset-password`."
    message = "The administrator's password is not set: whoever comes first sets it."
    return [Finding.fail("password", message, remedy)]


async def examine_work(database: Database, at: datetime) -> Sequence[Finding]:
    """Look at the clock jobs, and what waits for a worker."""
    jobs = _jobs([(one["job"], one["state"]) for one in await clock_sheet(database, at)])
    return [jobs, *_queues(await database.read(read_backlog, system=True), at)]


async def examine_archives(database: Database, settings: Settings, at: datetime) -> Sequence[Finding]:
    """Look for logs of sales that tenants want deleted, and that only an archive is missing for; nothing if none do."""
    waiting = await waiting_for_check(database, Retention.of(settings), at)
    findings = [_unchecked(one) for one in waiting[:_TENANTS_SHOWN]]
    if len(waiting) > _TENANTS_SHOWN:
        message = f"Logs of sales of {len(waiting) - _TENANTS_SHOWN} more tenants wait for it, too."
        findings.append(Finding.warn("archive", message, "Write and check their archives; then run this again."))
    return findings


async def examine_uploads(database: Database, tenant_id: str, at: datetime) -> Sequence[Finding]:
    """Look at what a linked store has to send to its cloud."""
    waiting, rejected = await database.read(count_uploads, tenant=tenant_id)
    return _uploads(waiting, rejected, await database.read(oldest_upload, tenant=tenant_id), at)


def _jobs(states: Sequence[tuple[str, str]]) -> Finding:
    if all(state == "NEW" for _, state in states):
        return Finding.warn("worker", "No worker has run on this database yet.", _STARTS_WORK)
    troubled = [name for name, state in states if state in _TROUBLED]
    if troubled:
        remedy = "`promenade clockwork` shows their last errors; they are tried again."
        return Finding.warn("worker", f"Jobs of the clock that have trouble: {', '.join(troubled)}.", remedy)
    late = [name for name, state in states if state == "LATE"]
    if late:
        return Finding.fail("worker", f"Jobs of the clock are late: {', '.join(late[:5])}.", _STARTS_WORK)
    return Finding.ok("worker", "The jobs of the clock run.")


def _queues(backlog: Backlog, at: datetime) -> Sequence[Finding]:
    findings = []
    for name, what, since, count in (
        ("side-effects", "side effects of confirmed sales", backlog.sales_since, backlog.sales),
        ("events", "events for subscribers", backlog.events_since, backlog.events),
    ):
        if since is not None and at - since > _LATE:
            message = f"{count} {what} wait, the oldest for {_shown(at - since)}."
            findings.append(Finding.fail(name, message, _STARTS_WORK))
        else:
            findings.append(Finding.ok(name, f"{count} {what} wait."))
    if backlog.sales_failed:
        remedy = "Mend the cause that `promenade side-effects list --tenant ... --status FAILED` shows, then requeue."
        message = f"Side effects of sales have failed: {_of_tenants(backlog.sales_failed)}."
        findings.append(Finding.warn("side-effects", message, remedy))
    return findings


def _unchecked(one: Waiting) -> Finding:
    first, last = Month.of(one.first), Month.of(one.last)
    months = f"{first}" if first == last else f"{first} to {last}"
    last_check = "was never done" if one.checked_at is None else f"was last done on {one.checked_at:%Y-%m-%d}"
    message = (
        f"Logs of sales of {one.tenant_id} from {months} are to be deleted, and wait for a check of all months of the"
        f" archive, which {last_check}."
    )
    command, options = "promenade archive", f"--tenant {shlex.quote(one.tenant_id)} --archive ..."
    remedy = f"Run `{command} write {options}`, then `{command} check {options}`, each month."
    return Finding.warn("archive", message, remedy)


def _of_tenants(counts: Mapping[str, int]) -> str:
    first = [f"{count} of {tenant}" for tenant, count in islice(counts.items(), _TENANTS_SHOWN)]
    more = len(counts) - len(first)
    return ", ".join(first) + (f", and those of {more} more tenants" if more else "")


def _uploads(waiting: int, rejected: int, oldest: datetime | None, at: datetime) -> Sequence[Finding]:
    findings = []
    if rejected:
        remedy = "See why with `promenade sync-link show`, mend it, and send them again: `promenade sync-link retry`."
        findings.append(Finding.warn("uploads", f"The cloud has refused {rejected} sales or coupons.", remedy))
    age = timedelta() if oldest is None else at - oldest
    message = f"{waiting} sales and coupons wait to be sent to the cloud"
    if age > _UPLOADS_LATE:
        remedy = "Mend the link; nothing is lost meanwhile, and shares of budgets run out after 14 days without it."
        verdict = Finding.fail if age > _UPLOADS_MAX else Finding.warn
        findings.append(verdict("uploads", f"{message}, the oldest for {_shown(age)}.", remedy))
    else:
        findings.append(Finding.ok("uploads", f"{message}."))
    return findings


def _shown(age: timedelta) -> str:
    minutes = int(age.total_seconds()) // 60
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 48 * 60 else f"{age.days} days"
