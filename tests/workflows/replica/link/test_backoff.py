"""How long a store waits for a cloud that does not answer."""

from __future__ import annotations

import pytest

from promenade.worker.uplink import BACKOFF_SECONDS_MAX, backoff


@pytest.mark.parametrize(("failures", "shortest", "longest"), [(1, 1, 2), (2, 2, 4), (5, 16, 32), (9, 150, 300)])
def test_the_wait_doubles_and_is_spread(failures: int, shortest: float, longest: float) -> None:
    assert backoff(failures, 0.0) == shortest
    assert backoff(failures, 1.0) == longest


def test_the_wait_never_exceeds_five_minutes() -> None:
    assert backoff(10**9, 1.0) == BACKOFF_SECONDS_MAX == 300
