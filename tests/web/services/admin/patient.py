"""A longer time limit for short forecasts, for busy machines.

A forecast that takes longer than a second continues in the background, by design; which ones do does not matter to
tests of their results.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from promenade.workflows.forecasts import asking as forecast

__all__ = ["patient"]

_waiting: list[None] = []  # one entry per open block


@contextmanager
def patient() -> Iterator[None]:
    """Let the service wait a minute for a short forecast within this block."""
    seconds = forecast.prepare_forecast.__kwdefaults__
    assert seconds is not None
    assert seconds["seconds_max"] == (60.0 if _waiting else forecast.SECONDS_AT_ONCE)
    _waiting.append(None)
    seconds["seconds_max"] = 60.0
    try:
        yield
    finally:
        _waiting.pop()
        if not _waiting:
            seconds["seconds_max"] = forecast.SECONDS_AT_ONCE
