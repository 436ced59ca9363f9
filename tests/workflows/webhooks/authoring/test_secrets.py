"""Secrets of subscriptions: which are valid, how they are rotated, and that they are shown once or never."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from promenade.errors import Invalid, PromenadeError
from tests.workflows.authoring.desk import Desk
from tests.workflows.authoring.test_every_entity import refused

SET = "WebhookSubscriptions"
DAY = timedelta(hours=24)
FIRST, SECOND, THIRD = (f"whsec_{b64encode(bytes([number]) * 24).decode()}" for number in (1, 2, 3))


def _of(length: int) -> str:
    return b64encode(bytes(range(length))).decode()


async def _secrets(desk: Desk, subscription: str) -> tuple[Any, Any, Any]:
    row = await desk.row(SET, subscription)
    return row["secret"], row["previousSecret"], row["previousSecretUntil"]


@pytest.mark.parametrize("secret", [_of(16), _of(24), f"whsec_{_of(16)}", f"whsec_{_of(64)}", "s" * 24])
async def test_a_secret_is_one_that_the_reference_library_reads(desk: Desk, secret: str) -> None:
    made = await desk.given(SET, secret=secret)
    assert (await _secrets(desk, made))[0] == secret
    assert desk.shown == {}
    Webhook(secret)


@pytest.mark.parametrize(
    "secret",
    [_of(15), _of(65), "whsec_", "whsec_whsec_" + _of(24), "a" * 25, "-_" * 12, " " + _of(24), _of(24) + "\n",
     _of(16).rstrip("="), "my own secret, long enough", "ü" * 24, "WHSEC_" + _of(24), "whpk_" + _of(32), "   ", "",
     "=" * 24, "AAAA==AA" * 3],
)  # fmt: skip
async def test_a_secret_that_receivers_cannot_read_is_refused_and_not_quoted(desk: Desk, secret: str) -> None:
    sample = await desk.sample(SET)
    made = await desk.create_row(SET, sample | {"secret": FIRST})
    for call in (desk.create_row(SET, sample | {"secret": secret}), desk.update(SET, made, secret=secret)):
        error = await refused(desk, Invalid, call)
        assert (error.code, error.target) == ("INVALID_SECRET", "secret")
        assert len(secret.strip()) < 7 or secret not in error.message
    assert await _secrets(desk, made) == (FIRST, None, None)


async def test_the_previous_secret_signs_for_a_day(desk: Desk) -> None:
    made = await desk.given(SET, secret=FIRST)
    await desk.update(SET, made, secret=SECOND)
    assert await _secrets(desk, made) == (SECOND, FIRST, desk.now + DAY)
    assert desk.shown == {}


async def test_of_two_rotations_the_oldest_secret_goes_at_once(desk: Desk) -> None:
    made = await desk.given(SET, secret=FIRST)
    await desk.update(SET, made, secret=SECOND)
    desk.now += timedelta(hours=1)
    await desk.update(SET, made, secret=THIRD)
    assert await _secrets(desk, made) == (THIRD, SECOND, desk.now + DAY)


async def test_other_changes_do_not_rotate_the_secrets(desk: Desk) -> None:
    made = await desk.given(SET, secret=FIRST)
    await desk.update(SET, made, secret=SECOND)
    held = await _secrets(desk, made)
    desk.now += timedelta(hours=2)
    await desk.update(SET, made, secret=SECOND)
    await desk.update(SET, made, name="x", isActive=False)
    await desk.update(SET, made, isActive=True)
    await desk.unit(lambda one: one.update(SET, made, {"callbackUrl": "https://x.example/", "eventTypes": ["*"]},
                                           replace=True))  # fmt: skip
    assert await _secrets(desk, made) == held
    assert desk.shown == {}


async def test_without_a_secret_the_server_makes_one_and_shows_it_once(desk: Desk) -> None:
    made = await desk.given(SET, secret=None)
    first = desk.shown[SET][made]["secret"]
    assert await _secrets(desk, made) == (first, None, None)
    await desk.update(SET, made, secret=None)
    second = desk.shown[SET][made]["secret"]
    assert second != first
    assert await _secrets(desk, made) == (second, first, desk.now + DAY)
    assert Webhook(second)
    await desk.update(SET, made, name="x")
    assert desk.shown == {}


async def test_clients_cannot_write_the_previous_secrets(desk: Desk) -> None:
    made = await desk.given(SET, secret=FIRST)
    await desk.update(SET, made, previousSecretUntil=desk.now, failureCount=7, disabledAt=desk.now)
    row = await desk.row(SET, made)
    assert (row["previousSecretUntil"], row["failureCount"], row["disabledAt"]) == (None, 0, None)
    await desk.update(SET, made, previousSecret=THIRD)
    assert await _secrets(desk, made) == (FIRST, None, None)


async def test_no_secret_is_in_the_audit_trail_nor_in_events(desk: Desk) -> None:
    made = await desk.given(SET, secret=FIRST)
    await desk.update(SET, made, secret=SECOND)
    await desk.update(SET, made, secret=None)
    third = desk.shown[SET][made]["secret"]
    await desk.remove(SET, made)
    trail = await desk.rows("AuditLogs")
    assert [row["action"] for row in sorted(trail, key=lambda row: str(row["action"]))] == [
        "CREATE", "DELETE", "UPDATE", "UPDATE",
    ]  # fmt: skip
    told = str(trail) + str(await desk.system_rows("outbox_events")) + str(await desk.system_rows("catalogue_changes"))
    for secret in (FIRST, SECOND, third):
        assert secret.removeprefix("whsec_") not in told


async def test_rotations_at_once_lose_no_secret_that_was_answered(desk: Desk) -> None:
    """Whatever the order, the last two sign; no earlier one does."""
    made = await desk.given(SET, secret=FIRST)
    given = [f"whsec_{b64encode(bytes([number]) * 32).decode()}" for number in range(10, 26)]
    answers = await asyncio.gather(*(desk.update(SET, made, secret=one) for one in given), return_exceptions=True)
    assert [one for one in answers if isinstance(one, BaseException) and not isinstance(one, PromenadeError)] == []
    current, before, until = await _secrets(desk, made)
    assert {current, before} <= {*given}
    assert current != before
    assert until == desk.now + DAY
