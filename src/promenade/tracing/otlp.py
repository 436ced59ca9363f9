"""Spans recorded by the SDK of OpenTelemetry and sent by OTLP over HTTP, in batches, from a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Thread
from types import TracebackType

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from promenade import __version__, tracing
from promenade.errors import PromenadeError
from promenade.tracing import TRACEPARENT, Kind, Open

QUEUE_MAX = 2048
"""Spans that wait to be sent; more are dropped, so that a collector that is away costs neither memory nor time."""
BATCH_MAX = 512
DELAY_SECONDS = 2.0
SEND_SECONDS_MAX = 5.0
END_SECONDS_MAX = 5.0  # for what is not sent yet when the program ends; a server ends within 20 s
_PATH = "/v1/traces"
_FAULT = 500  # statuses of requests from here on are our fault
_REFUSAL = 400  # and those of calls from here on their failure

_KINDS = {kind: trace.SpanKind[kind.value] for kind in Kind}
_PROPAGATOR = TraceContextTextMapPropagator()
_ROOT = contexts.Context()


class _Open:
    """A span around a block, which is the present one within it."""

    __slots__ = ("_outside", "_span")

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        self._outside = contexts.attach(trace.set_span_in_context(self._span))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace_back: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and self._span.is_recording():
            # Its message may quote what somebody has sent.
            if isinstance(error, PromenadeError):
                self._span.set_attribute("error.type", error.code)
            else:
                self._span.set_attribute("error.type", type(error).__name__)
                self._span.set_status(trace.StatusCode.ERROR)
        self._span.end()
        contexts.detach(self._outside)


class SdkTraces:
    """See `promenade.tracing.Traces`."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def within(self, name: str) -> Open:
        """Return a span within the present one; without one, or if that is not recorded, nothing."""
        if not trace.get_current_span().is_recording():
            return tracing._NOTHING
        return _Open(self._tracer.start_span(name))

    def begin(self, name: str, kind: Kind, traceparent: str | None) -> Open:
        """Return a span of its own trace, or of the one that ``traceparent`` names if that is well formed."""
        parent = _ROOT if traceparent is None else _PROPAGATOR.extract({TRACEPARENT: traceparent}, _ROOT)
        return _Open(self._tracer.start_span(name, parent, _KINDS[kind]))

    def call(self, name: str) -> Open:
        """Return the span of a call to another program, within the present one or of its own trace."""
        return _Open(self._tracer.start_span(name, kind=trace.SpanKind.CLIENT))

    def note_response(self, method: str, route: str, status: int) -> None:
        """Name the present span by the route of a request, and note how it was answered."""
        span = trace.get_current_span()
        if not span.is_recording():
            return
        span.update_name(f"{method} {route}")
        span.set_attribute("http.request.method", method)
        span.set_attribute("http.route", route)
        span.set_attribute("http.response.status_code", status)
        if status >= _FAULT:
            span.set_status(trace.StatusCode.ERROR)

    def note_outcome(self, status: int | None) -> None:
        """Note on the present span how a call was answered; None: not at all."""
        span = trace.get_current_span()
        if status is not None:
            span.set_attribute("http.response.status_code", status)
        if status is None or status >= _REFUSAL:
            span.set_status(trace.StatusCode.ERROR)

    def current(self) -> tuple[str, str, bool] | None:
        """Return the IDs of the trace and the span of this task, and whether they are recorded; None: there is none."""
        found = trace.get_current_span().get_span_context()
        if not found.is_valid:
            return None
        return trace.format_trace_id(found.trace_id), trace.format_span_id(found.span_id), found.trace_flags.sampled


def sampler(ratio: float) -> ParentBased:
    """Return what decides which traces are recorded: ``ratio`` of them, whoever asks for more.

    A caller that does not record its trace gets none here, either. One that records it gets no more than its share:
    otherwise any caller could make us record everything. The share is drawn by the ID of the trace, so that all our
    processes draw the same.
    """
    share = TraceIdRatioBased(ratio)
    return ParentBased(share, remote_parent_sampled=share, remote_parent_not_sampled=ALWAYS_OFF)


@asynccontextmanager
async def recording(url: str, ratio: float, *, service: str) -> AsyncIterator[None]:
    """Record spans within the block and send them to ``url``; what is not sent yet is sent at its end.

    ``url`` is a collector's; without a path, /v1/traces is added. ``service`` is the name of this program in it.
    """
    provider = TracerProvider(
        sampler(ratio),
        Resource.create({"service.name": service, "service.version": __version__}),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(_endpoint(url), timeout=SEND_SECONDS_MAX)
    provider.add_span_processor(
        BatchSpanProcessor(
            exporter,
            max_queue_size=QUEUE_MAX,
            max_export_batch_size=BATCH_MAX,
            schedule_delay_millis=DELAY_SECONDS * 1000,
        )
    )
    tracing.record_with(SdkTraces(provider.get_tracer("promenade", __version__)))
    try:
        yield
    finally:
        tracing.record_with(None)
        # A daemon: of a collector that does not answer, the end of the program does not wait for the answers.
        ending = Thread(target=provider.shutdown, name="traces", daemon=True)
        ending.start()
        await asyncio.to_thread(ending.join, END_SECONDS_MAX)


def _endpoint(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return url if "/" in rest.rstrip("/") else f"{scheme}://{rest.rstrip('/')}{_PATH}"
