"""An issuer changes its keys while the service runs: no restart, and no till is refused."""

from __future__ import annotations

import socket
import time

import pytest

from tests.web.access.tokens.conftest import Trusting
from tests.web.access.tokens.issuer import Asked, new_ec, new_rsa

REFRESH_SECONDS = 300  # after which a removed key is no longer accepted
BOUND_SECONDS = 30  # within which a new key is found


def test_a_new_key_is_found_at_once_when_nobody_has_asked_lately(trusting: Trusting) -> None:
    new = new_rsa("rsa-2")
    trusting.keys.keys.append(new)
    assert trusting.status(trusting.token(new)) == 200
    assert trusting.status(trusting.token()) == 200, "both keys hold while they overlap"


def test_a_new_key_is_found_within_thirty_seconds_whoever_has_asked(trusting: Trusting) -> None:
    assert trusting.status(trusting.token(new_rsa("forged"))) == 401
    new = new_ec("ec-2")
    trusting.keys.keys.append(new)
    before = trusting.keys.asked
    for number in range(20):
        assert trusting.status(trusting.token(new_rsa("x") if number == 0 else new)) == 401
    assert trusting.keys.asked == before, "forged tokens make nobody a flood"
    trusting.clock.move(seconds=BOUND_SECONDS)
    assert trusting.status(trusting.token(new)) == 200
    assert trusting.keys.asked == before + 1


def test_tokens_of_a_removed_key_are_refused_after_the_next_refresh(trusting: Trusting) -> None:
    remembered, other = trusting.token(exp=_in(trusting, 3600)), trusting.token(trusting.ec, exp=_in(trusting, 3600))
    assert trusting.status(remembered) == trusting.status(other) == 200
    trusting.keys.keys = [trusting.ec]
    trusting.clock.move(seconds=REFRESH_SECONDS)
    assert trusting.refuses(remembered)
    assert trusting.status(trusting.token()) == 401
    assert trusting.status(other) == 200, "what another key has signed still holds"


def test_another_key_under_the_same_name_stops_the_tokens_of_the_first(trusting: Trusting) -> None:
    remembered, other = trusting.token(exp=_in(trusting, 3600)), new_rsa("rsa-1")
    assert trusting.status(remembered) == 200
    trusting.keys.keys = [other, trusting.ec]
    trusting.clock.move(seconds=REFRESH_SECONDS)
    assert trusting.refuses(remembered)
    assert trusting.status(trusting.token(other)) == 200


def test_known_keys_stay_valid_while_the_issuer_is_down(trusting: Trusting) -> None:
    def fail(asked: Asked) -> None:
        trusting.keys.tell(asked, b"{}", 503)

    remembered = trusting.token(exp=_in(trusting, 7200))
    assert trusting.status(remembered) == 200
    trusting.keys.answers = fail
    for _ in range(3):
        trusting.clock.move(seconds=REFRESH_SECONDS)
        assert trusting.status(remembered) == 200
        assert trusting.status(trusting.token(trusting.ec)) == 200
    trusting.keys.answers = None
    trusting.keys.keys = [trusting.ec]
    trusting.clock.move(seconds=BOUND_SECONDS)
    assert trusting.refuses(remembered), "once it is back, what it says counts"


@pytest.mark.alone
def test_an_issuer_that_hangs_does_not_hold_up_the_tills(trusting: Trusting) -> None:
    hung: list[Asked] = []

    def hang(asked: Asked) -> None:
        hung.append(asked)
        asked.rfile.read(1)  # until the service gives up

    trusting.keys.answers = hang
    trusting.clock.move(seconds=REFRESH_SECONDS)
    started = time.monotonic()
    for _ in range(5):
        assert trusting.status(trusting.token()) == 200
    assert time.monotonic() - started < 4.5, "the service waits five seconds for the issuer; a till must not"
    (asked,) = hung
    asked.connection.shutdown(socket.SHUT_RDWR)


def test_a_clock_that_is_set_back_keeps_no_key_alive(trusting: Trusting) -> None:
    assert trusting.status(trusting.token()) == 200
    trusting.clock.move(hours=-1)
    new = new_ec("ec-back")
    trusting.keys.keys = [new]
    assert trusting.status(trusting.token(new)) == 200
    assert trusting.status(trusting.token()) == 401
    trusting.clock.move(hours=1)


def test_an_expired_token_that_is_remembered_is_refused(trusting: Trusting) -> None:
    token = trusting.token(exp=_in(trusting, 60))
    assert trusting.status(token) == 200
    trusting.clock.move(seconds=85)
    assert trusting.status(token) == 200, "within the leeway"
    trusting.clock.move(seconds=10)
    assert trusting.status(token) == 401


def _in(trusting: Trusting, seconds: int) -> int:
    return int(trusting.clock().timestamp()) + seconds
