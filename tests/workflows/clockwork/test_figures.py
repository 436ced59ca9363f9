"""The figures that operators watch: what waits, what has failed, what runs low, read at a bounded cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Gauge
from sqlalchemy import insert

from promenade import metrics
from promenade.errors import Unavailable
from promenade.store.clockwork import figures
from promenade.store.clockwork.figures import Figures, read_figures
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.clockwork.figures import KEPT_SECONDS, WatchedFigures
from promenade.workflows.context import Context
from tests.workflows.shop import open_shop

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
NUMBERS = iter(range(1, 10_000))


def new_id() -> str:
    return f"00000000-0000-4000-8000-{next(NUMBERS):012d}"


async def put(database: Database, name: str, *rows: dict[str, Any]) -> None:
    async def work(session: Session) -> None:
        for row in rows:
            given = {key: value for key, value in row.items() if key != "tenant_id"}
            await session.rowcount(insert(table(name)), {"tenant_id": row.get("tenant_id", "acme"), **given})

    await database.write(work, system=True)


def job(status: str, age: int = 0, tenant_id: str = "acme") -> dict[str, Any]:
    number = new_id()
    return {
        "tenant_id": tenant_id, "id": number, "origin": "cloud", "transaction_id": number, "transaction_counter": 1,
        "status": status, "enqueued_at": AT, "due_at": AT - timedelta(seconds=age), "attempts": 0, "reported": False,
        "payload": b"",
    }  # fmt: skip


def delivery() -> dict[str, Any]:
    return {"delivery_id": new_id(), "lane": "a", "event_id": new_id(), "attempts": 0, "due_at": AT}


def entity(**values: Any) -> dict[str, Any]:
    stamps = {"created_at": AT, "created_by": "t", "modified_at": AT, "modified_by": "t", "version": 1}
    return {"id": new_id(), **stamps, **values}


def budget(consumed: str, reserved: str = "0", **values: Any) -> dict[str, Any]:
    amounts = {"total_amount": Decimal(100), "consumed_amount": Decimal(consumed), "reserved_amount": Decimal(reserved)}
    return entity(**{"code": new_id(), "name": "B", "status": "ACTIVE", "currency": "EUR"} | amounts | values)


async def read(database: Database) -> Figures:
    return await database.read(lambda session: read_figures(session, AT), system=True)


async def test_queues_say_how_many_wait_in_all_tenants_and_since_when(database: Database) -> None:
    await put(database, "side_effect_jobs", job("PENDING", 90), job("PENDING", 700, "other"), job("COMPLETED", 9_000))
    await put(database, "side_effect_jobs", job("FAILED"), job("FAILED", 5, "other"))
    await put(database, "webhook_queue", delivery(), delivery())
    found = await read(database)
    assert found.queues["side_effects"] == (2, AT - timedelta(seconds=700))
    assert found.queues["deliveries"] == (2, AT)
    assert found.queues["events"] == (0, None)
    assert found.side_effects_failed == 2


async def test_sales_that_reports_do_not_count_yet_are_a_queue(database: Database) -> None:
    old, new = AT - timedelta(hours=2), AT - timedelta(hours=1)
    counted = job("COMPLETED") | {"reported": True, "enqueued_at": old - timedelta(days=1)}
    waiting = job("COMPLETED") | {"enqueued_at": old}
    await put(database, "side_effect_jobs", counted, waiting, job("PENDING", 0, "other") | {"enqueued_at": new})
    assert (await read(database)).queues["reports"] == (2, old)


async def test_counting_stops_at_a_limit(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "COUNTED_MAX", 3)
    await put(database, "side_effect_jobs", *(job("PENDING", age) for age in range(100, 106)))
    await put(database, "side_effect_jobs", *(job("FAILED") for _ in range(5)))
    found = await read(database)
    assert found.queues["side_effects"] == (3, AT - timedelta(seconds=105))
    assert found.side_effects_failed == 3


async def test_budgets_stores_and_pools_are_counted_by_state(database: Database) -> None:
    near = (budget("89.99"), budget("80", "10"), budget("99"), budget("100"), budget("100", status="DRAFT"))
    await put(database, "Budgets", *near)
    stores = [
        entity(store_code=f"S{n}", name="S", status=status, pending_transactions=pending, epoch=0)
        for n, (status, pending) in enumerate((("ONLINE", 0), ("OFFLINE", 40), ("OFFLINE", 2)))
    ]
    await put(database, "LocalDeployments", *stores)
    kinds = [entity(code=f"K{n}", name="K", code_type="UNIQUE", status="ACTIVE") for n in range(4)]
    await put(database, "CouponTypes", *kinds)
    wanted = {"minimum_pool_size": 10, "refill_quantity": 50, "interval_minutes": 5, "is_active": True}
    schedules = [entity(coupon_type_id=kind["id"], **wanted) for kind in kinds]
    schedules[3]["is_active"] = False
    await put(database, "CouponRefillSchedules", *schedules)
    counts = dict.fromkeys(
        ("issued", "created", "active", "reserved", "redeemed", "expired", "cancelled", "external"), 0
    )
    for kind, pooled in zip(kinds, (10, 9, 0, 0), strict=True):
        told = {"coupon_type_id": kind["id"], "pooled": pooled, "examined_at": AT, "counted_at": AT}
        await put(database, "coupon_type_counts", counts | told)
    found = await read(database)
    assert found.budgets == {"enough": 1, "near_end": 2, "used_up": 1}
    assert (found.stores, found.stores_pending) == ({"online": 1, "offline": 2}, 42)
    assert (found.pools_low, found.pools_empty) == (2, 1)


async def test_secrets_older_than_their_tenant_allows_are_counted(database: Database) -> None:
    for tenant, days in (("acme", 30), ("other", 90), ("third", None)):
        settings = {} if days is None else {"secretDays": str(days)}
        await create_tenant(database, tenant, settings=settings, at=AT, user="t")

    def client(age: int, tenant_id: str, **values: Any) -> dict[str, Any]:
        made = {"client_id": new_id(), "scopes": ["svc.Sync"], "secret_digest": "0" * 64, "is_active": True}
        return entity(**made | {"tenant_id": tenant_id, "created_at": AT - timedelta(days=age)} | values)

    renewed = {"rotated_at": AT - timedelta(days=29)}
    await put(database, "Clients", client(30, "acme"), client(29, "acme"), client(99, "acme", **renewed))
    await put(database, "Clients", client(89, "other"), client(90, "other"), client(999, "third"))
    await put(database, "Clients", client(99, "acme", is_active=False), client(99, "acme", secret_digest=""))
    assert (await read(database)).secrets_overdue == 2


# ---- what the metrics show ---------------------------------------------------------------------------------------


def shown(gauge: Gauge, *labels: str) -> float:
    child: Any = gauge.labels(*labels) if labels else gauge
    return float(child._value.get())


@pytest.fixture
def _forgotten() -> Iterator[None]:
    yield
    metrics.forget_figures()


class Watch:
    """A monotonic clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def context(database: Database) -> Context:
    return (await open_shop(database)).context


@pytest.mark.usefixtures("_forgotten")
async def test_figures_are_read_again_after_some_seconds_and_not_before(context: Context) -> None:
    watch = Watch()
    watched = WatchedFigures(context, seconds=watch)
    await watched.refresh()
    assert shown(metrics.queue_length, "side_effects") == 0
    waiting = job("PENDING") | {"due_at": context.clock() - timedelta(seconds=90)}
    await put(context.database, "side_effect_jobs", waiting)
    watch.now += KEPT_SECONDS - 1
    await watched.refresh()
    assert shown(metrics.queue_length, "side_effects") == 0
    watch.now += 1
    await watched.refresh()
    assert shown(metrics.queue_length, "side_effects") == 1
    assert shown(metrics.queue_oldest, "side_effects") >= 90
    assert shown(metrics.figures_known) == 1


@pytest.mark.usefixtures("_forgotten")
async def test_without_a_database_the_figures_are_unknown_and_not_what_they_were(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch()
    watched = WatchedFigures(context, seconds=watch)
    await watched.refresh()

    async def fails(*_: object, **__: object) -> None:
        raise Unavailable("DATABASE_UNAVAILABLE", "It is away.")

    monkeypatch.setattr(type(context.database), "_read", fails)
    watch.now += KEPT_SECONDS
    await watched.refresh()
    assert shown(metrics.figures_known) == 0
    assert str(shown(metrics.queue_length, "side_effects")) == "nan"


def test_only_so_many_tenants_have_series_of_their_own() -> None:
    few = metrics.FewTenants(2)
    assert [few.label(one) for one in ("a", "b", "c", "a", "d", "b")] == ["a", "b", "other", "a", "other", "b"]


def test_every_metric_of_a_tenant_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_tenants", metrics.FewTenants(0))
    for metric in vars(metrics).values():
        labels = getattr(metric, "_labelnames", ())
        if "tenant" in labels:
            child = metric.labels("t-1", *("x" for _ in labels[1:]))
            assert child._labelvalues[0] == metrics.OTHER_TENANTS, metric
            metric.remove(metrics.OTHER_TENANTS, *("x" for _ in labels[1:]))


SHOWN = """
import json
from promenade import metrics
shown = {}
for number in range(1, 301):
    for metric in list(vars(metrics).values()):
        labels = getattr(metric, "_labelnames", ())
        if labels[:1] == ("tenant",):
            metric.labels(f"tenant-{number}", *("x" for _ in labels[1:]))
    if number in (1, 100, 101, 300):
        lines = [line for line in metrics.render().decode().splitlines() if not line.startswith("#")]
        shown[number] = len(lines), sum("tenant=" in line for line in lines)
print(json.dumps(shown))
"""


def test_the_series_of_300_tenants_are_those_of_100_and_of_all_others_together() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PROMETHEUS_MULTIPROC_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", SHOWN], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    shown = json.loads(done.stdout)
    each = shown["1"][1]
    assert each == 60  # with one value of each other label: a new metric of tenants costs a hundred times its series
    assert [of_tenants for _, of_tenants in shown.values()] == [each, 100 * each, 101 * each, 101 * each]
    assert shown["300"] == shown["101"]
    assert shown["300"][0] < 6_200


def test_open_files_are_those_of_the_process_that_has_most() -> None:
    idle = subprocess.Popen(["sleep", "600"])
    try:
        pids = [os.getpid(), idle.pid]
        few, many = sorted(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids)
        values = {family.name: family.samples[0].value for family in metrics._Processes(pids).collect()}
    finally:
        idle.kill()
        idle.wait()
    assert few < many
    assert few < values["process_open_fds"] < few + many


def test_what_a_killed_process_had_in_hand_is_forgotten(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    for pid in (gone.pid, os.getpid()):
        for kind in ("gauge_livesum", "counter"):
            (tmp_path / f"{kind}_{pid}.db").touch()
    assert metrics._live_pids(str(tmp_path)) == {os.getpid()}
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"counter_{gone.pid}.db", f"counter_{os.getpid()}.db", f"gauge_livesum_{os.getpid()}.db"}
