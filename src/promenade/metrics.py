"""The metrics that `GET /metrics` shows, one row each.

Several processes share them if PROMETHEUS_MULTIPROC_DIR is set before this module is first imported, as
`promenade serve --workers N` does.
"""

from __future__ import annotations

import os

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# The `_created` series of the counters are not in the specification.
disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_AGE_SECONDS = (1.0, 5.0, 30.0, 60.0, 300.0, 3600.0, 21600.0, 86400.0, 604800.0)
_JOB_SECONDS = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0)


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(name, text, labels, registry=REGISTRY)


def _histogram(name: str, text: str, *labels: str, buckets: tuple[float, ...] = _SECONDS) -> Histogram:
    return Histogram(name, text, labels, registry=REGISTRY, buckets=buckets)


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


def render() -> bytes:
    """Return every metric in the text exposition format, summed over the server's processes."""
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def serve_metrics(host: str, port: int) -> None:
    """Serve this process's metrics without authentication, in a thread that ends with the process: for a worker.

    Raises OSError if the address cannot be bound.
    """
    start_http_server(port, host, REGISTRY)
