"""Loggers of events with fields. structlog, which writes them, is loaded with the first event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_configure: list[Callable[[], None]] = []


def configure_with(configure: Callable[[], None]) -> None:
    """Register ``configure`` to be called before the next event: it configures structlog."""
    _configure[:] = [configure]


class Logger:
    """structlog's logger of that name: `info`, `warning`, `exception` and so on take an event and its fields."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:
        import structlog  # noqa: PLC0415 -- with what it writes tracebacks by, a tenth of a server's start

        while _configure:
            _configure.pop()()
        return getattr(structlog.get_logger(self._name), method)
