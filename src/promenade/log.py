"""Loggers of events with fields. structlog, which writes them, is loaded with the first event."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

_request: ContextVar[str | None] = ContextVar("request", default=None)
_configure: list[Callable[[], None]] = []
_also: list[Callable[[], dict[str, str]]] = []


def configure_with(configure: Callable[[], None]) -> None:
    """Register ``configure`` to be called before the next event: it configures structlog."""
    _configure[:] = [configure]


def serve_request(correlation_id: str) -> Token[str | None]:
    """Note which request this task serves: every line that it logs says so, until `stop_serving` gets the token."""
    return _request.set(correlation_id)


def stop_serving(outside: Token[str | None]) -> None:
    """Go back to the request around this one, or to none: a request of an agent sends others within the process."""
    _request.reset(outside)


def request_fields() -> dict[str, str]:
    """Return what lines say of the request that is being served; nothing outside of one."""
    found = _request.get()
    fields = {} if found is None else {"correlation_id": found}
    for further in _also:
        fields |= further()
    return fields


def name_also(further: Callable[[], dict[str, str]] | None) -> None:
    """Add to every line what ``further`` returns; None: nothing any more."""
    _also[:] = [] if further is None else [further]


class Logger:
    """structlog's logger of that name: `info`, `warning`, `exception` and so on take an event and its fields."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:
        import structlog  # noqa: PLC0415 -- with what it writes tracebacks by, a tenth of a server's start

        while _configure:
            _configure.pop()()
        return getattr(structlog.get_logger().bind(logger=self._name), method)
