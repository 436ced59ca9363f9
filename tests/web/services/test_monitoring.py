"""Monitoring of the service: health, metrics, heartbeat."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from datetime import datetime
from pathlib import Path

import httpx2

from tests.conftest import StartService
from tests.kit.databases import Databases
from tests.kit.processes import until
from tests.kit.valkey import ValkeyServer
from tests.web.conftest import Shop, basket, item

# The names and labels in the specification, Health and metrics.
METRICS = {
    "http_requests_total": {"method", "route", "status"},
    "http_request_duration_seconds": {"method", "route"},
    "http_requests_in_flight": set(),
    "evaluations_total": {"tenant", "status"},
    "evaluate_duration_seconds": {"tenant"},
    "promotions_applied_total": set(),
    "shares_missing_total": set(),
    "cache_hit_total": set(),
    "cache_miss_total": set(),
    "svc_imports_total": {"tenant", "type", "status"},
    "svc_imports_duration_seconds": {"tenant", "type"},
    "svc_events_publish_failures_total": set(),
    "svc_events_publish_lag_seconds": set(),
    "svc_events_published_total": {"tenant", "status"},
    "svc_webhook_deliveries_total": {"tenant", "status"},
    "svc_webhook_dead_letters_total": {"tenant"},
    "svc_drfout_skipped_total": {"tenant", "reason"},
    "svc_drfout_inbound_total": {"tenant", "interface", "protocol", "outcome"},
    "svc_drfout_items_total": {"tenant", "interface", "action_code"},
    "svc_drfout_job_duration_seconds": {"tenant", "interface"},
}
# Metrics of the mutual-TLS listener's certificates, for which the specification names none.
OF_CERTIFICATES = {
    "svc_drfout_certificate_refused_total": {"reason"},
    "svc_drfout_certificate_expiry_timestamp_seconds": {"use", "name"},
}
OF_LIMITS = {"svc_rate_limited_total": {"tenant", "scope"}}
# Metrics of stores that price on their own, and of what a store sends.
OF_STORES = {
    "svc_sync_transactions_total": {"tenant", "status"},
    "svc_sync_coupon_events_total": {"tenant", "status"},
    "svc_sync_transaction_age_seconds": {"tenant"},
    "svc_sync_uploads_total": {"status"},
}
OF_REPORTS: dict[str, set[str]] = {"svc_report_delay_seconds": set()}
# What operators watch: the database's figures, this process's connections, and what the operating system says of it.
OF_OPERATION: dict[str, set[str]] = {
    "svc_queue_length": {"queue"},
    "svc_queue_oldest_seconds": {"queue"},
    "svc_side_effects_failed": set(),
    "svc_clock_jobs": {"state"},
    "svc_stores": {"status"},
    "svc_stores_pending_transactions": set(),
    "svc_coupon_pools_low": set(),
    "svc_coupon_pools_empty": set(),
    "svc_client_secrets_overdue": set(),
    "svc_budgets": {"state"},
    "svc_figures_known": set(),
    "svc_database_units": set(),
    "svc_database_connections": {"state"},
    "process_cpu_seconds_total": set(),
    "process_resident_memory_bytes": set(),
    "process_virtual_memory_bytes": set(),
    "process_open_fds": set(),
    "process_max_fds": set(),
    "process_start_time_seconds": set(),
}
ALL_METRICS = METRICS | OF_CERTIFICATES | OF_LIMITS | OF_STORES | OF_REPORTS | OF_OPERATION


def test_health_needs_no_token(shop: Shop) -> None:
    answer = httpx2.get(f"{shop.url}/health", timeout=60)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"status", "version", "uptime", "timestamp", "service", "checks"}
    assert body["status"] == "UP"
    assert datetime.fromisoformat(body["timestamp"]).tzinfo is not None
    assert body["checks"]["database"]["status"] == body["checks"]["cache"]["status"] == "UP"
    assert body["checks"]["database"]["responseTime"] >= 0
    assert body["checks"]["webhookDelivery"] == {"status": "active"}


def test_tills_continue_without_the_cache(
    shop: Shop, server: StartService, valkey_server: ValkeyServer, tmp_path: Path
) -> None:
    options = (
        "--database-url",
        shop.copied_database(tmp_path),
        "--public-url",
        shop.url,
        "--redis-url",
        valkey_server.url,
    )
    service = server(*options)
    until(lambda: httpx2.get(f"{service.url}/health", timeout=60).json()["status"] == "UP")
    valkey_server.stop()
    answer = httpx2.get(f"{service.url}/health", timeout=60)
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "DEGRADED"
    assert body["checks"]["cache"]["status"] == "DOWN"
    assert body["checks"]["database"]["status"] == "UP"
    assert body["checks"]["webhookDelivery"] == {"status": "inactive"}
    headers = {"authorization": f"Bearer {shop.token()}"}
    assert httpx2.post(f"{service.url}/pos/v2/evaluate", json=basket(), headers=headers, timeout=60).status_code == 200
    valkey_server.start()
    until(lambda: httpx2.get(f"{service.url}/health", timeout=60).json()["status"] == "UP")


def test_exactly_the_documented_metrics_are_exposed(shop: Shop) -> None:
    shop.call("/pos/v2/evaluate", basket())
    shop.http.get("/wp-login.php")
    text = shop.http.get("/metrics").text
    assert set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)) == set(ALL_METRICS)
    for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        family = name if name in ALL_METRICS else re.sub(r"_(bucket|count|sum)$", "", name)
        assert set(re.findall(r"(\w+)=", labels)) - {"le"} == ALL_METRICS[family]
    assert 'http_requests_total{method="POST",route="/pos/v2/evaluate",status="200"}' in text
    assert 'route="unmatched",status="404"' in text
    assert "wp-login" not in text
    assert re.search(r'^evaluations_total\{status="priced",tenant="acme"\} [1-9]', text, re.MULTILINE)
    assert re.search(r"^promotions_applied_total [1-9]", text, re.MULTILINE)


def test_hits_and_misses_of_the_caches_are_counted(shop: Shop) -> None:
    def counted() -> tuple[float, float]:
        text = shop.http.get("/metrics").text
        hits, misses = (re.search(rf"^cache_{name}_total (\S+)", text, re.MULTILINE) for name in ("hit", "miss"))
        assert hits is not None
        assert misses is not None
        return float(hits[1]), float(misses[1])

    priced = basket(items=[item(articleNumber="counted")])
    shop.call("/pos/v2/evaluate", basket())  # the token is cached from here on
    hits, misses = counted()
    shop.call("/pos/v2/evaluate", priced)
    assert counted() == (hits + 1, misses + 1)  # the token is cached, the article is not
    shop.call("/pos/v2/evaluate", priced)
    assert counted() == (hits + 3, misses + 1)


def test_metrics_need_a_loopback_address_or_their_token(server: StartService, tmp_path: Path) -> None:
    service = server("--data-dir", str(tmp_path), "--metrics-token", "open-sesame")
    from_elsewhere = {"x-forwarded-for": "203.0.113.9"}  # as a proxy on loopback says

    def status(**headers: str) -> int:
        return httpx2.get(f"{service.url}/metrics", headers={**from_elsewhere, **headers}, timeout=60).status_code

    assert httpx2.get(f"{service.url}/metrics", timeout=60).status_code == 200
    assert status() == 401
    assert status(authorization="Bearer wrong") == 401
    assert status(authorization="Bearer open-sesame") == 200


def test_the_heartbeat_reports_the_state_of_the_service_to_a_till(shop: Shop) -> None:
    answer = shop.call("/pos/heartbeat")
    body = answer.json()
    assert set(body) == {
        "status", "version", "mode", "btpConnectivity", "lastSync", "pendingTransactions", "promotionsLoaded", "uptime",
    }  # fmt: skip
    assert (body["status"], body["mode"], body["lastSync"]) == ("UP", "cloud", None)
    assert body["promotionsLoaded"] == 1
    assert isinstance(body["uptime"], int)
    assert shop.http.get("/pos/heartbeat").status_code == 401


def test_several_processes_add_up_their_metrics(databases: Databases, server: StartService) -> None:
    service = server("--database-url", databases.create("postgresql"), "--workers", "2")
    for _ in range(20):
        assert httpx2.get(f"{service.url}/health", timeout=60).status_code == 200
    text = httpx2.get(f"{service.url}/metrics", timeout=60).text
    counted = re.search(r'http_requests_total\{method="GET",route="/health",status="200"\} (\d+)', text)
    assert counted is not None
    assert int(counted[1]) >= 20
    # Memory and connections of both processes; the database's figures once, whoever has read them.
    memory = re.search(r"^process_resident_memory_bytes (\S+)", text, re.MULTILINE)
    assert memory is not None
    assert float(memory[1]) > 100e6
    queues = re.findall(r'^svc_queue_length\{queue="(\w+)"\} 0.0$', text, re.MULTILINE)
    assert sorted(queues) == ["coupon_codes", "deliveries", "events", "forecasts", "imports", "reports", "side_effects"]
    until(
        lambda: 'svc_database_connections{state="limit"} 40.0' in httpx2.get(f"{service.url}/metrics", timeout=60).text
    )
    assert service.stop() == 0


def test_a_request_under_way_is_finished_before_the_service_ends(
    shop: Shop, server: StartService, tmp_path: Path
) -> None:
    service = server("--database-url", shop.copied_database(tmp_path), "--public-url", shop.url)
    body = json.dumps(basket()).encode()
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
        line.sendall(
            b"POST /pos/v2/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n" % (shop.token().encode(), len(body))
        )
        until(lambda: "http_requests_in_flight 2.0" in httpx2.get(f"{service.url}/metrics", timeout=60).text)
        os.kill(service.pid, signal.SIGTERM)
        until(lambda: "Shutting down" in service.output())
        line.sendall(body)
        answer = line.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert service.stop() == 0


def test_a_service_that_leaves_still_answers_and_says_that_it_is_not_ready(
    server: StartService, tmp_path: Path
) -> None:
    service = server("--data-dir", str(tmp_path), "--drain-seconds", "3600")
    with httpx2.Client(base_url=service.url, timeout=60) as kept:
        assert kept.get("/health/ready").status_code == 200
        os.kill(service.pid, signal.SIGTERM)
        until(lambda: kept.get("/health/ready").status_code == 503)
        assert kept.get("/health/live").status_code == 200
    answer = httpx2.get(f"{service.url}/health", timeout=60)  # over a new connection
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    assert service.stop() == 0  # the second SIGTERM is obeyed at once


def test_each_of_several_processes_leaves(databases: Databases, server: StartService) -> None:
    database = databases.create("postgresql")
    service = server("--database-url", database, "--workers", "2", "--drain-seconds", "2")
    until(lambda: service.output().count("Application startup complete") == 2)
    asked = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - asked >= 2
    assert len(re.findall("process.leaves", service.output())) == 2
