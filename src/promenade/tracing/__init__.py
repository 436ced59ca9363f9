"""Traces: for what a request waited, as spans of OpenTelemetry. Nothing of it is loaded or recorded unless wanted.

A span has a name from the code, when it began and how long it took. A request begins a trace, or continues that of its
caller, which the header ``traceparent`` names (W3C Trace Context). What the request causes belongs to it, even later.

INVARIANT: spans say nothing that a caller has sent: no address, query, ID, code or message, but the template of a route
and the code of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Asynchronous = Callable[P, Coroutine[Any, Any, T]]
Open = AbstractContextManager[object]
"""A span that lasts as long as a block; an error that leaves the block is noted."""

TRACEPARENT = "traceparent"


class Kind(Enum):
    """Where a span stands between programs."""

    SERVER = "SERVER"
    CLIENT = "CLIENT"
    CONSUMER = "CONSUMER"


class Traces(Protocol):
    """What records spans: see `promenade.tracing.otlp`."""

    def within(self, name: str) -> Open:
        """Return a span within the present one; without one, or if that is not recorded, nothing."""

    def begin(self, name: str, kind: Kind, traceparent: str | None) -> Open:
        """Return a span of its own trace, or of the one that ``traceparent`` names if that is well formed."""

    def call(self, name: str) -> Open:
        """Return the span of a call to another program, within the present one or of its own trace."""

    def note_response(self, method: str, route: str, status: int) -> None:
        """Name the present span by the route of a request, and note how it was answered."""

    def note_outcome(self, status: int | None) -> None:
        """Note on the present span how a call was answered; None: not at all."""

    def current(self) -> tuple[str, str, bool] | None:
        """Return the IDs of the trace and the span of this task, and whether they are recorded; None: there is none."""


_traces: Traces | None = None
_NOTHING: Open = nullcontext()


def record_with(traces: Traces | None) -> None:
    """Record spans with ``traces`` from now on; None: record nothing."""
    global _traces  # noqa: PLW0603 -- one for the process: a span has no place to look elsewhere
    _traces = traces


def span(name: str) -> Open:
    """Return a span of a step of the present request or job."""
    return _NOTHING if _traces is None else _traces.within(name)


def spanned(name: str) -> Callable[[Asynchronous[P, T]], Asynchronous[P, T]]:
    """Decorate a coroutine function: each call is a span."""

    def decorate(function: Asynchronous[P, T]) -> Asynchronous[P, T]:
        async def traced(*args: P.args, **kwargs: P.kwargs) -> T:
            with span(name):
                return await function(*args, **kwargs)

        @wraps(function)
        def either(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return function(*args, **kwargs) if _traces is None else traced(*args, **kwargs)

        return either

    return decorate


def serve(method: str, given: list[bytes]) -> Open:
    """Return the span of a request, by its headers ``traceparent``: one that is not alone, or malformed, is ignored."""
    if _traces is None:
        return _NOTHING
    return _traces.begin(method, Kind.SERVER, given[0].decode("latin-1") if len(given) == 1 else None)


def note_response(method: str, route: str, status: int) -> None:
    """Name the span of a request by its route, and note how it was answered."""
    if _traces is not None:
        _traces.note_response(method, route, status)


def note_outcome(status: int | None) -> None:
    """Note how a call was answered; None: not at all."""
    if _traces is not None:
        _traces.note_outcome(status)


def resume(name: str, traceparent: str | None, kind: Kind = Kind.CONSUMER) -> Open:
    """Return a span of work that a request has caused, by what `to_store` returned then; nothing without it."""
    return _NOTHING if _traces is None or traceparent is None else _traces.begin(name, kind, traceparent)


def call(name: str) -> Open:
    """Return the span of a call to another program; `headers` are to be sent with it."""
    return _NOTHING if _traces is None else _traces.call(name)


def headers() -> dict[str, str]:
    """Return what a call to another program says of the present span; never the state of others (tracestate)."""
    found = None if _traces is None else _traces.current()
    return {} if found is None else {TRACEPARENT: _traceparent(*found)}


def to_store() -> str | None:
    """Return what work that is done later needs to belong to this trace; None if nobody records it."""
    found = None if _traces is None else _traces.current()
    return _traceparent(*found) if found is not None and found[2] else None


def is_on() -> bool:
    """Return whether spans are recorded."""
    return _traces is not None


def log_fields() -> dict[str, Any]:
    """Return what a line of the log says of the trace."""
    found = None if _traces is None else _traces.current()
    return {} if found is None else {"trace_id": found[0]}


def _traceparent(trace_id: str, span_id: str, is_recorded: bool) -> str:
    return f"00-{trace_id}-{span_id}-{int(is_recorded):02x}"
