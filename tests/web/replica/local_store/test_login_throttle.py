"""Delays for an address that guesses passwords: they double, they end, and attackers cannot make them use up memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from promenade.errors import TooMany
from promenade.web.access import login_throttle
from promenade.web.access.login_throttle import FAILURES_FREE, LoginThrottle
from tests.web.replica.local_store.conftest import PASSWORD, start_store


@dataclass
class Seconds:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def wait(throttle: LoginThrottle, address: str) -> int:
    """Return how long ``address`` must wait; 0 means not at all."""
    try:
        throttle.require_room(address)
    except TooMany as error:
        return error.retry_after_seconds
    return 0


def guess(throttle: LoginThrottle, address: str, times: int = FAILURES_FREE) -> None:
    for _ in range(times):
        throttle.record(address)


def test_waits_double_up_to_an_hour() -> None:
    seconds = Seconds()
    throttle = LoginThrottle(seconds)
    guess(throttle, "a", FAILURES_FREE - 1)
    assert wait(throttle, "a") == 0
    waits = []
    for _ in range(9):
        throttle.record("a")
        waits.append(wait(throttle, "a"))
        seconds.now += waits[-1]
        assert wait(throttle, "a") == 0
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert wait(throttle, "b") == 0


def test_a_success_or_a_quiet_hour_resets_the_delay() -> None:
    seconds = Seconds()
    throttle = LoginThrottle(seconds)
    guess(throttle, "a")
    throttle.reset("a")
    guess(throttle, "a", FAILURES_FREE - 1)
    assert wait(throttle, "a") == 0
    throttle.record("a")
    assert wait(throttle, "a") == 30
    seconds.now += 30 + 3600 + 1
    throttle.record("a")
    assert wait(throttle, "a") == 0
    guess(throttle, "a")
    throttle.reset_all()
    assert wait(throttle, "a") == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_throttle, "ADDRESSES_MAX", 3)
    throttle = LoginThrottle(Seconds())
    guess(throttle, "10.0.0.1")
    for number in range(2, 5):
        throttle.record(f"10.0.0.{number}")
    assert len(throttle._failed) == 3
    assert wait(throttle, "10.0.0.1") == 0


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("", "unknown", False),
    ],
)
def test_addresses_of_one_network_share_their_delay(one: str, other: str, is_same: bool) -> None:
    throttle = LoginThrottle(Seconds())
    guess(throttle, one)
    assert bool(wait(throttle, other)) is is_same


def test_only_a_trusted_proxy_may_name_the_client_address(logs: Path, tmp_path: Path) -> None:
    """Otherwise a new header value in each request would count as a new address and evade the throttle."""
    for number, (options, status) in enumerate((((), 429), (("--trusted-proxy", "127.0.0.0/8"), 401))):
        store = start_store(tmp_path / str(number), logs, *options)
        try:
            browser = store.browser(logged_in=False)
            browser.post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD})
            answers = [
                browser.post("login", {"password": "wrong wrong"}, x_forwarded_for=f"203.0.113.{one}")
                for one in range(FAILURES_FREE + 1)
            ]
            assert [one.status_code for one in answers] == [401] * FAILURES_FREE + [status]
        finally:
            store.close()
