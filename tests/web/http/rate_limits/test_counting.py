"""The counter itself, with an injected clock: how many requests fit, how soon more do, and its memory and cost."""

from __future__ import annotations

import timeit
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.errors import TooMany
from promenade.web.http.rate_limits import CLIENTS_MAX, SHOWN_MAX, RateLimits, Use


class Moments:
    """A clock that tests advance; it need not begin at zero."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def take(limits: RateLimits, tenant: str, client: str) -> None:
    """Take one request; nothing is waited for, as no cache is shared."""
    with pytest.raises(StopIteration):
        limits.take(tenant, client).send(None)


def taken(limits: RateLimits, requests: int, tenant: str = "acme", client: str = "till") -> int:
    """Return how many of this many simultaneous requests get through: always the first ones."""
    for number in range(requests):
        try:
            take(limits, tenant, client)
        except TooMany:
            return number
    return requests


def test_a_full_minute_of_requests_is_admitted_at_once_and_more_over_time() -> None:
    clock = Moments()
    limits = RateLimits(per_tenant=0, per_client=120, seconds=clock)
    assert taken(limits, 200) == 120
    clock.now += 0.5
    assert taken(limits, 200) == 1
    clock.now += 10
    assert taken(limits, 200) == 20
    clock.now += 3600
    assert taken(limits, 200) == 120, "rest is not saved up"


def test_a_client_that_waits_as_asked_is_admitted() -> None:
    clock = Moments()
    limits = RateLimits(per_tenant=7, per_client=0, seconds=clock)
    assert taken(limits, 7) == 7
    with pytest.raises(TooMany) as refused:
        take(limits, "acme", "till")
    assert refused.value.code == "RATE_LIMITED"
    assert 1 <= refused.value.retry_after_seconds <= 60
    clock.now += refused.value.retry_after_seconds
    assert taken(limits, 1) == 1


def test_clients_share_their_tenants_limit_and_have_their_own() -> None:
    limits = RateLimits(per_tenant=10, per_client=6, seconds=Moments())
    assert taken(limits, 20, client="till") == 6
    assert taken(limits, 20, client="erp") == 4
    assert taken(limits, 20, client="back office") == 0
    assert taken(limits, 20, "globex", client="till") == 6, "another tenant's client of the same name is another"


def test_refused_requests_are_not_counted() -> None:
    clock = Moments()
    limits = RateLimits(per_tenant=10, per_client=4, seconds=clock)
    for _ in range(1_000):
        taken(limits, 5, client="till")
    assert taken(limits, 5, client="erp") == 4
    assert taken(limits, 5, client="back office") == 2
    clock.now += 15
    assert taken(limits, 5, client="till") == 1, "what was refused has not made the wait longer"


def test_a_limit_of_zero_means_unlimited() -> None:
    assert taken(RateLimits(per_tenant=0, per_client=0, seconds=Moments()), 50_000) == 50_000


def test_the_memory_is_bounded_however_many_clients_there_are() -> None:
    limits = RateLimits(per_tenant=0, per_client=2, seconds=Moments())
    for number in range(3 * CLIENTS_MAX):
        take(limits, "acme", str(number))
    kept = limits._of_clients
    assert kept is not None
    assert len(kept.known()) <= CLIENTS_MAX
    assert taken(limits, 5, client=str(3 * CLIENTS_MAX - 1)) == 1, "who came last is still counted"


@given(limit=st.integers(1, 500), pauses=st.lists(st.floats(0, 40), max_size=200))
def test_no_minute_admits_over_twice_the_limit_and_at_least_the_limit_is_admitted(
    limit: int, pauses: list[float]
) -> None:
    clock = Moments()
    limits = RateLimits(per_tenant=limit, per_client=0, seconds=clock)
    admitted: list[float] = []
    for pause in pauses:
        clock.now += pause
        admitted += [clock.now] * taken(limits, 50)
    for start in set(admitted):
        assert bisect_left(admitted, start + 60) - bisect_left(admitted, start) <= 2 * limit
    assert len(admitted) >= min(limit, 50 * len(pauses))


def test_a_request_costs_less_than_two_microseconds() -> None:
    limits = RateLimits(per_tenant=10**9, per_client=10**9)

    def once() -> None:
        try:
            limits.take("acme", "till").send(None)
        except StopIteration:
            return

    one = min(timeit.repeat(once, number=1_000, repeat=50)) / 1_000
    assert one < 2e-6, f"{one * 1e6:.2f} us"


def test_what_is_used_is_told_of_the_tenant_and_of_its_own_clients_alone() -> None:
    clock = Moments()
    limits = RateLimits(per_tenant=120, per_client=60, seconds=clock)
    tenant = "told-of"
    assert [taken(limits, 3, tenant), taken(limits, 80, tenant, "erp"), taken(limits, 9, "globex")] == [3, 60, 9]
    assert limits.use(tenant) == [Use(None, 120, 63, 1), Use("erp", 60, 60), Use("till", 60, 3)]
    clock.now += 4
    assert limits.use(tenant) == [Use(None, 120, 55, 1), Use("erp", 60, 56), Use("till", 60, 0)]
    assert limits.use("nobody") == [Use(None, 120, 0, 0)]
    assert RateLimits(per_tenant=0, per_client=0, seconds=clock).use("acme")[0].limit is None


def test_of_many_clients_the_busiest_are_told() -> None:
    limits = RateLimits(per_tenant=0, per_client=1000, seconds=Moments())
    for number in range(SHOWN_MAX + 50):
        taken(limits, 1 + number % 7, "acme", f"client-{number}")
    told = limits.use("acme")[1:]
    assert len(told) == SHOWN_MAX
    assert [one.in_use for one in told[:40]] == [7] * 21 + [6] * 19
