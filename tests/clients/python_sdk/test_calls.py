"""Calls of both clients: a sale from basket to side effects, repeats, deadlines, tokens, and an error of each kind."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from promenade_client import (
    ApiKey,
    ClientCredentials,
    NotAllowed,
    Patience,
    PromenadeError,
    Refused,
    Till,
    TooMany,
    Unavailable,
    confirmation,
    operations,
)
from promenade_client.requests import (
    ActivateCouponRequest,
    BasketItem,
    CancelCouponRequest,
    CancelRequest,
    IssueCouponsRequest,
    RedeemCouponRequest,
    ReserveCouponRequest,
    ValidateCouponRequest,
)
from tests.clients.python_sdk.conftest import Counter, basket, new_transaction
from tests.clients.python_sdk.line import TOKEN_PATH, Hour, Line, answer, lost_answer, lost_before
from tests.web.coupons.conftest import TYPE_ID

BUSY = answer(503, {"error": {"code": "DATABASE_BUSY", "message": "Try again."}})
TIRED = answer(429, {"error": {"code": "RATE_LIMITED", "message": "Wait."}}, retry_after="3")
WITHDRAWN = answer(401, {"error": {"code": "UNAUTHORIZED", "message": "The token has been withdrawn."}})
PATIENCE_SECONDS = 90


class Both:
    """Calls `Till` and `AsyncTill` alike, the one here, the other on an event loop of its own."""

    def __init__(self, counter: Counter, is_async: bool) -> None:
        self.is_async = is_async
        self.line = counter.line()
        self.hour = Hour()
        self._make: Any = counter.async_till if is_async else counter.till
        self.patience: dict[str, Any] = {}

    def __getattr__(self, operation: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            till = self._make(self.line, self.hour, **self.patience)
            if not self.is_async:
                with till:
                    return getattr(till, operation)(*arguments, **named)

            async def work() -> Any:
                async with till:
                    return await getattr(till, operation)(*arguments, **named)

            return asyncio.run(work())

        return call


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def till(counter: Counter, request: pytest.FixtureRequest) -> Both:
    return Both(counter, request.param)


# --- what a till does -------------------------------------------------------------------------------------------------


def test_a_sale_is_priced_confirmed_read_and_cancelled(till: Both) -> None:
    transaction = new_transaction()
    priced = till.evaluate(basket(transaction))
    assert priced.totals.grand_total.value == Decimal("9.00")
    assert till.confirm(confirmation(priced)).confirmed is True
    found = till.transaction(transaction)
    assert (found.confirmed, found.cancelled, found.confirmation.transaction_counter) == (True, False, 1)
    assert till.iteration(transaction, 1) == priced
    end = time.monotonic() + PATIENCE_SECONDS
    while till.side_effects(transaction, 1).status != "COMPLETED":
        assert time.monotonic() < end
    cancelled = till.cancel(CancelRequest(transaction_id=transaction, transaction_counter=1, reason="Void"))
    assert (cancelled.cancelled, cancelled.budgets_given_back) == (True, [])


def test_a_coupon_is_validated_reserved_released_and_redeemed(till: Both, counter: Counter) -> None:
    code, transaction = counter.coupon(), new_transaction()
    assert till.validate_coupon(ValidateCouponRequest(code=code)).valid is True
    wanted = ReserveCouponRequest(code=code, transaction_id=transaction)
    held = till.reserve_coupon(wanted)
    assert till.reserve_coupon(wanted) == held
    assert held.expires_at is not None
    released = CancelCouponRequest(reservation_id=held.reservation_id)
    assert till.release_coupon(released).is_released
    assert till.release_coupon(released).is_released
    held = till.reserve_coupon(wanted)
    redeemed = RedeemCouponRequest(reservation_id=held.reservation_id, transaction_id=transaction)
    assert till.redeem_coupon(redeemed).redeemed
    again = till.redeem_coupon(redeemed)
    assert (again.redeemed, again.is_redeemed) == (False, True)
    elsewhere = RedeemCouponRequest(reservation_id=held.reservation_id, transaction_id="another")
    assert not till.redeem_coupon(elsewhere).is_redeemed
    activation = till.activate_coupon(ActivateCouponRequest(code=code, customer_id="C1"))
    assert (activation.activated, activation.reason) == (False, "ALREADY_REDEEMED")


def test_coupons_are_issued_once_although_the_answer_is_lost(till: Both) -> None:
    till.line.faults.append(lost_answer)
    request = IssueCouponsRequest(coupon_type_id=TYPE_ID, customer_ids=["C1", "C2"], metadata={"from": "SDK"})
    issued = till.issue_coupons(request, key=f"key-{new_transaction()}")
    assert issued.issued_count == 2
    first, second = (sent.headers["idempotency-key"] for sent in till.line.requests[-2:])
    assert first == second


def test_points_articles_and_the_heartbeat_are_there(till: Both) -> None:
    assert till.loyalty("nobody/at all").balance == 0
    imported = till.import_articles([{"articleNumber": "SDK-1", "name": "Tea", "basePrice": Decimal("2.50")}])
    assert (imported.failed, imported.results[0].article_number) == (0, "SDK-1")
    assert till.heartbeat().status == "UP"


# --- repeats ----------------------------------------------------------------------------------------------------------


def test_a_confirm_whose_answer_was_lost_is_sent_again_and_counts_once(till: Both) -> None:
    transaction = new_transaction()
    request = confirmation(till.evaluate(basket(transaction)))
    till.line.faults.extend([lost_answer, lost_before, BUSY, lost_answer])
    del till.line.requests[:]
    confirmed = till.confirm(request)
    assert confirmed.confirmed
    assert till.line.paths() == ["/pos/v2/confirm"] * 5
    bodies = {sent.content for sent in till.line.requests if sent.url.path != TOKEN_PATH}
    assert len(bodies) == 1
    assert till.confirm(request) == confirmed
    assert len(till.transaction(transaction).iterations) == 1


def test_pauses_grow_and_heed_retry_after(till: Both) -> None:
    till.line.faults.extend([BUSY, BUSY, TIRED, BUSY])
    assert till.heartbeat().status == "UP"
    assert till.hour.waits == [0.2, 0.4, 3.0, 1.6]


def test_a_date_in_retry_after_counts_from_the_date_of_the_answer(till: Both) -> None:
    told = {"retry_after": "Fri, 01 May 2026 10:00:07 GMT", "date": "Fri, 01 May 2026 10:00:00 GMT"}
    till.line.faults.append(answer(503, "busy", **told))
    assert till.heartbeat().status == "UP"
    assert till.hour.waits == [7.0]


def test_pauses_differ_between_tills_by_luck(counter: Counter) -> None:
    lucky, unlucky = (Patience(luck=lambda luck=luck: luck, clock=lambda: 0.0) for luck in (0.0, 1.0))  # type: ignore[misc]
    error = Unavailable("X", "")
    assert (lucky.pause(error, 2, 99.0), unlucky.pause(error, 2, 99.0)) == (0.4, 0.8)
    assert unlucky.pause(error, 99, 99.0) == 5.0


def test_a_call_ends_at_its_deadline(till: Both) -> None:
    till.patience = {"deadline": 2.0}
    till.line.is_down = True
    begun = till.hour.now
    with pytest.raises(Unavailable) as caught:
        till.heartbeat()
    assert caught.value.was_sent is False
    assert till.hour.now - begun < 2.0
    assert till.hour.waits == [0.2, 0.4, 0.8]


def test_a_wait_beyond_the_deadline_is_not_begun(till: Both) -> None:
    till.patience = {"deadline": 2.0}
    till.line.faults.append(TIRED)
    with pytest.raises(TooMany) as caught:
        till.heartbeat()
    assert (caught.value.code, caught.value.retry_after, till.hour.waits) == ("RATE_LIMITED", 3.0, [])


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_refusal_names_code_field_and_all_faults(till: Both) -> None:
    items = [BasketItem(article_number="A-1", quantity=0, unit_price=Decimal("1.234"))]
    with pytest.raises(Refused) as caught:
        till.evaluate(basket(items=items))
    error = caught.value
    assert (error.status, error.code, error.field) == (400, "VALIDATION_FAILED", "items[0].quantity")
    assert {(fault.code, fault.field) for fault in error.faults} == {
        ("QUANTITY_ZERO", "items[0].quantity"),
        ("TOO_MANY_DECIMALS", "items[0].unitPrice"),
    }
    assert error.correlation_id
    assert till.hour.waits == []
    with pytest.raises(Refused, match="TRANSACTION_NOT_FOUND"):
        till.transaction("nobody's")


def test_a_wrong_secret_is_not_allowed(counter: Counter) -> None:
    credentials = ClientCredentials(counter.credentials.client_id, "wrong")
    line = counter.line()
    with Till(counter.service.url, credentials, transport=line) as till, pytest.raises(NotAllowed) as caught:
        till.heartbeat()
    assert (caught.value.status, caught.value.code, line.tokens()) == (401, "invalid_client", 1)
    assert "wrong" not in repr(credentials)


@pytest.mark.parametrize(
    "strange",
    [answer(200, "<html>Log in to the network</html>"), answer(404, "nothing here"), answer(302, ""), answer(200, [])],
)
def test_an_answer_of_something_else_is_no_verdict(till: Both, strange: Any) -> None:
    till.line.faults.append(strange)
    assert till.heartbeat().status == "UP"
    assert till.hour.waits == [0.2]


def test_another_address_is_not_taken_for_a_refusal(counter: Counter) -> None:
    hour = Hour()
    with (
        Till(f"{counter.service.url}/elsewhere", ApiKey("k"), transport=counter.line(), sleep=hour.sleep) as till,
        pytest.raises(PromenadeError) as caught,
    ):
        till.run(operations.heartbeat(), repeats=False)
    assert isinstance(caught.value, Unavailable)
    with pytest.raises(ValueError, match="no address"):
        Till("promenade.example", ApiKey("k"))


def test_a_store_gets_the_key_of_its_till() -> None:
    sent: list[httpx2.Request] = []

    def store(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(401, json={"error": {"code": "UNAUTHORIZED", "message": "The API key is invalid."}})

    transport = httpx2.MockTransport(store)
    with Till("http://store", ApiKey("secret"), transport=transport) as till, pytest.raises(NotAllowed):
        till.heartbeat()
    (request,) = sent
    assert request.headers["x-api-key"] == "secret"
    assert "secret" not in repr(ApiKey("secret"))


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_a_token_is_kept_and_renewed_once_before_it_ends(counter: Counter) -> None:
    line, hour = counter.line(), Hour()
    with counter.till(line, hour) as till:
        till.heartbeat()
        till.heartbeat()
        assert line.tokens() == 1
        hour.now += 4 * 3600 - 61
        till.heartbeat()
        assert line.tokens() == 1
        hour.now += 2  # a minute before the end
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: till.heartbeat(), range(8)))
        assert line.tokens() == 2


async def test_coroutines_renew_a_token_once(counter: Counter) -> None:
    line, hour = counter.line(), Hour()
    async with counter.async_till(line, hour) as till:
        await asyncio.gather(*(till.heartbeat() for _ in range(5)))
        assert line.tokens() == 1
        hour.now += 4 * 3600
        await asyncio.gather(*(till.heartbeat() for _ in range(5)))
    assert line.tokens() == 2


def test_a_withdrawn_token_is_renewed_once(till: Both) -> None:
    till.line.faults.append(WITHDRAWN)
    assert till.heartbeat().status == "UP"
    assert (till.line.tokens(), till.hour.waits) == (2, [])
    till.line.faults.extend([WITHDRAWN, WITHDRAWN])
    with pytest.raises(NotAllowed, match="withdrawn"):
        till.heartbeat()
    assert till.line.tokens() == 4


def test_one_withdrawn_token_is_renewed_once_for_all_threads(counter: Counter) -> None:
    line = counter.line()
    both_sent = threading.Barrier(2)

    def withdrawn(_: Any) -> httpx2.Response:
        both_sent.wait(60)
        return WITHDRAWN(_)

    with counter.till(line) as till:
        till.heartbeat()
        line.faults.extend([withdrawn, withdrawn])
        with ThreadPoolExecutor(2) as pool:
            assert [one.status for one in pool.map(lambda _: till.heartbeat(), range(2))] == ["UP", "UP"]
    assert line.tokens() == 2


def test_a_token_is_asked_for_again_while_the_issuer_is_busy(counter: Counter) -> None:
    service, hour = counter.service.transport(), Hour()
    asked: list[str] = []

    def busy(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.path)
        if len(asked) < 3:
            return httpx2.Response(503, text="busy")
        return service.handle_request(request)

    with counter.till(Line(httpx2.MockTransport(busy)), hour) as till:
        assert till.heartbeat().status == "UP"
    assert asked == [TOKEN_PATH] * 3 + ["/pos/heartbeat"]
    assert hour.waits == [0.2, 0.4]
