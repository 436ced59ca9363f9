"""Traces: what a collector gets over HTTP, how they continue those of callers, and that nothing happens without one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from promenade import tracing
from promenade.errors import Invalid
from promenade.settings import Settings, SettingsError
from promenade.tracing.otlp import recording
from promenade.workflows.replica.cloud_client import CloudAccess, HttpCloudClient
from tests.conftest import StartService
from tests.kit.databases import Databases
from tests.kit.receiver import Answer, Receiver
from tests.kit.service import Service, promenade
from tests.kit.tenants import make_clients
from tests.web.conftest import TENANT, basket, furnish, item, run

TILL = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
RECORDED, IGNORED = f"00-{TILL}-{CALLER}-01", f"00-{TILL}-{CALLER}-00"
SECRET_CODE = "CODE-FROM-A-CUSTOMER"


@dataclass
class Collector:
    """Takes spans by OTLP over HTTP, as a collector does."""

    receiver: Receiver

    def spans(self) -> list[tuple[str, Span]]:
        """Return the spans so far, each with the name of the program that it comes from."""
        found = []
        for request in self.receiver.requests("/v1/traces"):
            assert request.headers["content-type"] == "application/x-protobuf"
            for part in ExportTraceServiceRequest.FromString(request.body).resource_spans:
                of = {one.key: one.value.string_value for one in part.resource.attributes}
                found += [(of["service.name"], span) for scope in part.scope_spans for span in scope.spans]
        return found

    def until(self, holds: Callable[[list[Span]], bool]) -> list[Span]:
        """Wait for batches until the spans so far are enough."""
        batches = 1
        while not holds(found := [span for _, span in self.spans()]):
            batches = len(self.receiver.wait(batches, path="/v1/traces")) + 1
        return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Receiver() as receiver:
        yield Collector(receiver)


@dataclass
class Traced:
    """A shop whose server sends traces, and its clients."""

    service: Service
    clients: dict[str, tuple[str, str]]
    tokens: dict[str, str] = field(default_factory=dict)

    def post(self, path: str, body: Any, *, client: str = "till", **headers: str) -> httpx2.Response:
        url = self.service.url
        if client not in self.tokens:
            name, secret = self.clients[client]
            form = {"grant_type": "client_credentials", "client_id": name, "client_secret": secret}
            self.tokens[client] = httpx2.post(f"{url}/oauth/token", data=form, timeout=60).json()["access_token"]
        sent = {"authorization": f"Bearer {self.tokens[client]}", **headers}
        return httpx2.post(f"{url}{path}", json=body, headers=sent, timeout=60)


@pytest.fixture
def start(databases: Databases, server: StartService) -> Callable[..., Traced]:
    def started(*options: str) -> Traced:
        url = databases.create("sqlite")
        scopes = {"till": ("svc.POSReader",), "integrator": ("PublicApi.Read", "PublicApi.Write")}
        clients = make_clients(url, TENANT, scopes, is_new=True)
        run(furnish(url))
        return Traced(server("--database-url", url, "--log-format", "json", "--access-log", *options), clients)

    return started


def all_recorded(collector: Collector) -> tuple[str, ...]:
    return "--traces-url", collector.receiver.url, "--traces-sample", "1"


def attributes(span: Span) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def named(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


def test_the_trace_of_a_till_continues_through_the_layers(start: Callable[..., Traced], collector: Collector) -> None:
    shop = start(*all_recorded(collector))
    answer = shop.post("/pos/v2/evaluate?strict=true", basket(coupons=[{"code": SECRET_CODE}]), traceparent=RECORDED)
    assert answer.status_code == 200, answer.text
    assert shop.service.stop() == 0  # what is not sent yet is sent at the end
    spans = [span for _, span in collector.spans() if span.trace_id.hex() == TILL]
    (request,) = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    assert (request.name, request.parent_span_id.hex()) == ("POST /pos/v2/evaluate", CALLER)
    assert attributes(request) == {
        "http.request.method": "POST", "http.route": "/pos/v2/evaluate", "http.response.status_code": 200,
    }  # fmt: skip
    within = {span.name for span in spans if span.parent_span_id == request.span_id}
    assert {"access", "engine select", "engine price", "store statement"} <= within
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano >= request.start_time_unix_nano for span in spans)
    assert {service for service, _ in collector.spans()} == {"promenade"}
    # The line of the log names both: the ID that the caller got, and the trace.
    lines = [json.loads(line) for line in shop.service.output().splitlines()]
    (line,) = [one for one in lines if one.get("route") == "/pos/v2/evaluate"]
    assert (line["trace_id"], line["correlation_id"]) == (TILL, answer.headers["x-correlation-id"])
    sent = b"".join(one.body for one in collector.receiver.requests())
    for secret in (
        SECRET_CODE,
        shop.tokens["till"],
        shop.clients["till"][0],
        "strict",
        "A-1",
        answer.json()["meta"]["header"]["transactionId"],
    ):
        assert secret.encode() not in sent, secret


def test_the_trace_goes_on_in_side_effects_and_webhooks(start: Callable[..., Traced], collector: Collector) -> None:
    shop = start(*all_recorded(collector), "--webhook-allow", "127.0.0.1")
    receiver = collector.receiver
    hook = {"callbackUrl": f"{receiver.url}/hook?key=hidden", "eventTypes": ["TRANSACTION_CONFIRMED"]}
    made = shop.post("/api/v1/WebhookSubscriptions", hook, client="integrator")
    assert made.status_code == 201, made.text
    header = shop.post("/pos/v2/evaluate", basket()).json()["meta"]["header"]
    sale = {"header": header, "transactionId": header["transactionId"], "appliedPromotions": [], "items": [item()]}
    confirmed = shop.post("/pos/v2/confirm", {"request": sale}, traceparent=RECORDED)
    assert confirmed.status_code == 200, confirmed.text
    (delivered,) = receiver.wait(1, path="/hook?key=hidden")
    version, trace_id, span_id, flags = delivered.headers["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", TILL, "01")
    assert "tracestate" not in delivered.headers
    spans = collector.until(lambda found: bool(named(found, "webhook") and named(found, "side effects")))
    (request,) = named(spans, "POST /pos/v2/confirm")
    (webhook,) = named(spans, "webhook")
    (effects,) = named(spans, "side effects")
    assert webhook.span_id.hex() == span_id
    for span in (webhook, effects):
        assert span.trace_id.hex() == TILL
    assert attributes(webhook) == {"http.response.status_code": 200}
    # Both were caused by the unit of work of the confirm.
    (unit,) = [one for one in named(spans, "store write") if one.parent_span_id == request.span_id]
    assert webhook.parent_span_id == effects.parent_span_id == unit.span_id
    assert [one.trace_id.hex() for one in named(spans, "store write") if one.parent_span_id == effects.span_id] == [
        TILL
    ]
    assert b"hidden" not in b"".join(one.body for one in receiver.requests("/v1/traces"))


@pytest.mark.parametrize(
    "malformed",
    ["", "nonsense", f"00-{TILL}-{CALLER}", f"ff-{TILL}-{CALLER}-01", f"00-{'0' * 32}-{CALLER}-01",
     f"00-{TILL}-{'0' * 16}-01", f"00-{TILL.upper()}-{CALLER}-01", f"00-{TILL}-{CALLER}-01-more", "\u00e9" * 55],
)  # fmt: skip
async def test_a_malformed_traceparent_begins_a_new_trace(malformed: str, collector: Collector) -> None:
    async with recording(collector.receiver.url, 1, service="tests"):
        with tracing.serve("GET", [malformed.encode("latin-1")]):
            pass
        with tracing.serve("GET", [RECORDED.encode(), RECORDED.encode()]):  # two are none
            pass
    spans = [span for _, span in collector.spans()]
    assert len(spans) == 2
    assert len({span.trace_id.hex() for span in spans} | {TILL}) == 3
    assert not any(span.parent_span_id for span in spans)


async def test_callers_get_no_more_than_the_share_and_may_ask_for_less(collector: Collector) -> None:
    async with recording(collector.receiver.url, 0.25, service="tests"):
        for number in range(400):
            with tracing.serve("GET", [f"00-{number:016x}{(2 * number + 1) * 2**64 // 800:016x}-{CALLER}-01".encode()]):
                pass
        with tracing.serve("GET", [IGNORED.encode()]):
            with tracing.span("within"):
                assert tracing.headers() == {"traceparent": f"00-{TILL}-{tracing.headers()['traceparent'][36:52]}-00"}
            assert tracing.log_fields() == {"trace_id": TILL}
            assert tracing.to_store() is None  # nobody records what comes later, either
    assert len(collector.spans()) == 100


async def test_a_call_of_a_store_to_its_cloud_names_the_trace(collector: Collector) -> None:
    receiver = collector.receiver
    token = json.dumps({"access_token": "t-1", "expires_in": 3600}).encode()
    receiver.answers("/oauth/token", Answer(body=token))
    receiver.answers("/sync/heartbeat", Answer(body=b"{}"))
    client = HttpCloudClient(CloudAccess(receiver.url, receiver.url, "store", "a-secret"))
    async with recording(receiver.url, 1, service="tests"):
        await client.post("/sync/heartbeat", {"deploymentId": "d-1"})
        await client.close()
    (called,) = receiver.requests("/sync/heartbeat")
    spans = {span.span_id.hex(): span for _, span in collector.spans()}
    _, trace_id, span_id, _ = called.headers["traceparent"].split("-")
    assert spans[span_id].trace_id.hex() == trace_id
    assert spans[span_id].kind == Span.SPAN_KIND_CLIENT
    assert attributes(spans[span_id]) == {"http.response.status_code": 200}
    assert b"a-secret" not in b"".join(one.body for one in receiver.requests("/v1/traces"))


async def test_errors_are_noted_by_their_kind_alone(collector: Collector) -> None:
    async with recording(f"{collector.receiver.url}/v1/traces", 1, service="tests"):
        with tracing.serve("GET", []):
            with pytest.raises(ValueError, match="quoted"), tracing.span("fault"):
                raise ValueError("quoted text")
            with pytest.raises(Invalid), tracing.span("refusal"):
                raise Invalid("VALIDATION_FAILED", "quoted text")
            tracing.note_response("GET", "/pos/{id}", 500)
    spans = {span.name: span for _, span in collector.spans()}
    assert attributes(spans["fault"]) == {"error.type": "ValueError"}
    assert attributes(spans["refusal"]) == {"error.type": "VALIDATION_FAILED"}
    codes = {name: span.status.code for name, span in spans.items()}
    assert codes["fault"] == codes["GET /pos/{id}"] == Status.STATUS_CODE_ERROR
    assert codes["refusal"] == Status.STATUS_CODE_UNSET
    assert b"quoted" not in b"".join(one.body for one in collector.receiver.requests())


def test_without_a_collector_tills_are_served_and_the_server_ends(start: Callable[..., Traced]) -> None:
    shop = start("--traces-url", "http://127.0.0.1:9", "--traces-sample", "1")
    for _ in range(20):
        assert shop.post("/pos/v2/evaluate", basket()).status_code == 200
    assert shop.service.stop() == 0


def test_nothing_is_traced_unless_wanted(start: Callable[..., Traced], collector: Collector) -> None:
    shop = start("--webhook-allow", "127.0.0.1")
    answer = shop.post("/pos/v2/evaluate", basket(), traceparent=RECORDED)
    assert answer.status_code == 200
    assert shop.service.stop() == 0
    assert "trace_id" not in shop.service.output()
    assert collector.receiver.requests() == []
    assert tracing.span("nothing") is tracing.serve("GET", [RECORDED.encode()]) is tracing.call("nothing")
    assert tracing.headers() == {}
    assert tracing.to_store() is None


SERVED = """
import asyncio, pathlib, sys
from promenade import app
from promenade.settings import Settings
from promenade.worker import run_worker
async def start():
    async with app.Cloud(Settings(data_dir=pathlib.Path(sys.argv[1])), run_worker=True)._lifespan(None):
        while "promenade.worker.delivery" not in sys.modules:
            await asyncio.sleep(0)
asyncio.run(start())
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def test_nothing_of_it_is_loaded_unless_wanted(tmp_path: Path) -> None:
    promenade("db", "upgrade", "--data-dir", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", SERVED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"traces_url": "collector:4318"}, "--traces-url must be an address"),
        ({"traces_url": "http://user:password@collector"}, "--traces-url must be an address"),
        ({"traces_url": "ftp://collector"}, "--traces-url must be an address"),
        ({"traces_sample": 1.5}, "--traces-sample must be from 0 to 1"),
        ({"traces_sample": float("nan")}, "--traces-sample must be from 0 to 1"),
    ],
)
def test_options_that_cannot_be_used_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(said)):
        Settings(**settings)


def test_without_the_extra_the_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promenade.settings.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=re.escape("pip install '.[tracing]'")):
        Settings(traces_url="http://127.0.0.1:4318")
