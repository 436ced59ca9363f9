"""The metrics that `GET /metrics` shows, one row each.

Several processes share them if PROMETHEUS_MULTIPROC_DIR is set before this module is first imported, as
`promenade serve --workers N` does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# The `_created` series of the counters are not in the specification.
disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_AGE_SECONDS = (1.0, 5.0, 30.0, 60.0, 300.0, 3600.0, 21600.0, 86400.0, 604800.0)
_JOB_SECONDS = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0)


TENANTS_MAX = 100
"""Tenants that have series of their own in a process; all others are shown together, as `OTHER_TENANTS`."""
OTHER_TENANTS = "other"


class FewTenants:
    """Names the first ``most`` tenants that it is asked for, and no more: each one has dozens of series."""

    def __init__(self, most: int = TENANTS_MAX) -> None:
        self._most = most
        self._named: set[str] = set()
        self._lock = Lock()

    def label(self, tenant_id: str) -> str:
        """Return the label for a tenant: its ID, or `OTHER_TENANTS`."""
        if tenant_id in self._named:
            return tenant_id
        with self._lock:
            if len(self._named) >= self._most:
                return OTHER_TENANTS
            self._named.add(tenant_id)
            return tenant_id


_tenants = FewTenants()


class _TenantCounter(Counter):
    """A counter whose first label is the tenant."""

    def labels(self, tenant_id: str, *others: str) -> Counter:  # type: ignore[override]
        return super().labels(_tenants.label(tenant_id), *others)


class _TenantHistogram(Histogram):
    """A histogram whose first label is the tenant."""

    def labels(self, tenant_id: str, *others: str) -> Histogram:  # type: ignore[override]
        return super().labels(_tenants.label(tenant_id), *others)


def _counter(name: str, text: str, *labels: str) -> Counter:
    kind = _TenantCounter if labels[:1] == ("tenant",) else Counter
    return kind(name, text, labels, registry=REGISTRY)


def _histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = _SECONDS) -> Histogram:
    kind = _TenantHistogram if labels[:1] == ("tenant",) else Histogram
    return kind(name, text, labels, registry=REGISTRY, buckets=buckets)


def _figure(name: str, text: str, *labels: str) -> Gauge:
    """A figure of the database: the process that was asked last has read it for all."""
    return Gauge(name, text, labels, registry=REGISTRY, multiprocess_mode="mostrecent")


http_requests = _counter("http_requests_total", "HTTP requests answered.", "method", "route", "status")
http_request_duration = _histogram("http_request_duration_seconds", "Time to answer a request.", "method", "route")
http_requests_in_flight = Gauge(
    "http_requests_in_flight", "HTTP requests being answered.", registry=REGISTRY, multiprocess_mode="livesum"
)
evaluations = _counter("evaluations_total", "Baskets priced.", "tenant", "status")
evaluate_duration = _histogram("evaluate_duration_seconds", "Time to price a basket and keep it.", "tenant")
shares_missing = _counter(
    "shares_missing_total", "Budgets and limits of which a store lacked some for a sale and could not ask the cloud."
)
promotions_applied = _counter("promotions_applied_total", "Promotions applied to baskets.")
# The cache itself, verified tokens, and the articles of a basket (a miss if the database is asked for any of them).
cache_hit = _counter("cache_hit_total", "Look-ups answered from a cache: of values, tokens, a basket's articles.")
cache_miss = _counter("cache_miss_total", "Look-ups a cache could not answer: the source was asked instead.")
rate_limited = _counter(
    "svc_rate_limited_total",
    "Requests refused for their number: beyond the limit of a client or tenant.",
    "tenant",
    "scope",
)
imports = _counter("svc_imports_total", "Import jobs finished.", "tenant", "type", "status")
imports_duration = _histogram(
    "svc_imports_duration_seconds", "Time an import job ran.", "tenant", "type", buckets=_JOB_SECONDS
)
webhook_deliveries = _counter("svc_webhook_deliveries_total", "Webhook attempts.", "tenant", "status")
webhook_dead_letters = _counter("svc_webhook_dead_letters_total", "Webhook messages given up.", "tenant")
events_published = _counter(
    "svc_events_published_total", "Events for the broker: published, or refused by it for good.", "tenant", "status"
)
events_publish_failures = _counter(
    "svc_events_publish_failures_total", "Batches of events that the broker did not store as a whole."
)
events_publish_lag = Gauge(
    "svc_events_publish_lag_seconds",
    "Age of the oldest event that is not published to the broker yet, in the worker that publishes; 0 in others.",
    registry=REGISTRY,
    multiprocess_mode="livemax",
)
report_delay = Histogram(
    "svc_report_delay_seconds",
    "Time from when a sale was confirmed, or arrived, until reports counted it.",
    registry=REGISTRY,
    buckets=_AGE_SECONDS,
)
drfout_skipped = _counter("svc_drfout_skipped_total", "Master-data items skipped.", "tenant", "reason")
drfout_inbound = _counter(
    "svc_drfout_inbound_total", "Master-data messages received.", "tenant", "interface", "protocol", "outcome"
)
drfout_items = _counter("svc_drfout_items_total", "Master-data items received.", "tenant", "interface", "action_code")
drfout_job_duration = _histogram(
    "svc_drfout_job_duration_seconds",
    "Time a master-data job ran.",
    "tenant",
    "interface",
    buckets=_JOB_SECONDS,
)
drfout_certificate_refused = _counter(
    "svc_drfout_certificate_refused_total", "Requests and handshakes refused for their client certificate.", "reason"
)
drfout_certificate_expiry = Gauge(
    "svc_drfout_certificate_expiry_timestamp_seconds",
    "When a certificate or revocation list runs out, in seconds since 1970: of use listener, authority, crl or client.",
    ("use", "name"),
    registry=REGISTRY,
    multiprocess_mode="livemostrecent",
)

sync_transactions = _counter(
    "svc_sync_transactions_total", "Sales that stores have sent: accepted, duplicate or rejected.", "tenant", "status"
)
sync_coupon_events = _counter(
    "svc_sync_coupon_events_total",
    "Coupon events that stores have sent: accepted, duplicate or rejected.",
    "tenant",
    "status",
)
sync_transaction_age = _histogram(
    "svc_sync_transaction_age_seconds",
    "Time from a store's confirm until the cloud has taken the sale.",
    "tenant",
    buckets=_AGE_SECONDS,
)
sync_uploads = _counter(
    "svc_sync_uploads_total",
    "Of a store: sales and coupon events that the cloud has answered for: accepted, duplicate or rejected.",
    "status",
)


# ---- the connections of the processes --------------------------------------------------------------------------------

database_units = Gauge(
    "svc_database_units",
    "Units of work that wait for the database or use it, looked at every five seconds.",
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
database_connections = Gauge(
    "svc_database_connections",
    "PostgreSQL: connections of the pools by state, in_use or limit, looked at every five seconds.",
    ("state",),
    registry=REGISTRY,
    multiprocess_mode="livesum",
)

# ---- figures of the database, the same whichever serving process is asked: never to be added up ----------------------

queue_length = _figure("svc_queue_length", "What waits in a queue; 10000 stands for that many or more.", "queue")
queue_oldest = _figure(
    "svc_queue_oldest_seconds", "For how long the oldest in a queue could have been done; 0: it is not late.", "queue"
)
side_effects_failed = _figure("svc_side_effects_failed", "Sales whose side effects have failed; at most 10000.")
clock_jobs = _figure("svc_clock_jobs", "Scheduled jobs by state, as `promenade clockwork` shows it.", "state")
stores = _figure("svc_stores", "Registered stores: online or offline.", "status")
stores_pending = _figure("svc_stores_pending_transactions", "Sales that stores say they have not uploaded yet.")
pools_low = _figure("svc_coupon_pools_low", "Pools with fewer codes than their active refill schedule wants.")
pools_empty = _figure("svc_coupon_pools_empty", "Those of them that have no code left.")
budgets = _figure("svc_budgets", "Active budgets: enough, near_end (90 % used or reserved) or used_up.", "state")
secrets_overdue = _figure(
    "svc_client_secrets_overdue", "Active clients whose secret is older than their tenant allows; at most 10000."
)
figures_known = _figure("svc_figures_known", "1 if the figures above are current; 0 if the database did not answer.")

_FIGURES = (
    *(queue_length, queue_oldest, side_effects_failed, clock_jobs, stores, stores_pending, pools_low, pools_empty),
    *(budgets, secrets_overdue, figures_known),
)


_shown: dict[tuple[Gauge, tuple[str, ...]], Gauge] = {}


def show_figure(figure: Gauge, value: float, *labels: str) -> None:
    """Set a figure of the database."""
    key = (figure, labels)
    child = _shown.get(key)
    if child is None:
        child = _shown[key] = figure.labels(*labels) if labels else figure
    child.set(value)


def forget_figures() -> None:
    """Say of every figure of the database that it is not known: NaN, which no alert takes for a good value."""
    for child in _shown.values():
        child.set(float("nan"))
    figures_known.set(0)


# ---- what the operating system says of the processes -----------------------------------------------------------------

_Sum = Callable[[Iterable[float]], float]
_OF_PROCESSES: dict[str, _Sum] = {  # how those of several processes become one
    "process_cpu_seconds": sum,
    "process_resident_memory_bytes": sum,
    "process_virtual_memory_bytes": sum,
    "process_open_fds": max,  # a limit of files is that of one process
    "process_max_fds": min,
    "process_start_time_seconds": max,
}


class _Processes(Collector):
    """Processor time, memory and files of several processes as if they were one; nothing where there is no /proc."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = list(pids)

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        values: dict[str, list[float]] = defaultdict(list)
        for pid in self._pids:
            for family in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]
                families.setdefault(family.name, family)
                values[family.name] += [sample.value for sample in family.samples]
        for name, family in families.items():
            if name in _OF_PROCESSES and values[name]:
                (sample,) = family.samples[:1]
                family.samples = [sample._replace(value=_OF_PROCESSES[name](values[name]))]
                yield family


def _live_pids(directory: str) -> set[int]:
    """Return the processes that share metrics here; what those that are gone had in hand is forgotten."""
    pids = {int(path.stem.rpartition("_")[2]) for path in Path(directory).glob("*.db")}
    gone = {pid for pid in pids if not _is_alive(pid)}
    for pid in gone:
        mark_process_dead(pid, directory)  # type: ignore[no-untyped-call]
    return pids - gone


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def render() -> bytes:
    """Return every metric in the text exposition format, summed over the server's processes."""
    shared = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if shared is None:
        return generate_latest(REGISTRY) + _rendered(_Processes([os.getpid()]))
    pids = _live_pids(shared)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry) + _rendered(_Processes(pids))


def _rendered(collector: Collector) -> bytes:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)


class _OfWorker(Collector):
    """What a worker shows: all but the figures of the database, which it does not read, so that none looks like 0."""

    def collect(self) -> Iterable[Metric]:
        kept_back = {family.name for figure in _FIGURES for family in figure.describe()}
        yield from (family for family in REGISTRY.collect() if family.name not in kept_back)
        yield from _Processes([os.getpid()]).collect()


def serve_metrics(host: str, port: int) -> None:
    """Serve this process's metrics without authentication, in a thread that ends with the process: for a worker.

    Raises OSError if the address cannot be bound.
    """
    registry = CollectorRegistry()
    registry.register(_OfWorker())
    start_http_server(port, host, registry)
