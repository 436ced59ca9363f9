"""The clients: `Till` for programs with threads, `AsyncTill` for those with an event loop.

Both have the same operations and carry out the steps of `promenade_client.calling`.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx2

from promenade_client import operations
from promenade_client.answers import (
    ActivateCouponResponse,
    CancelCouponResponse,
    CancelResponse,
    ConfirmResponse,
    EvaluateResponse,
    Heartbeat,
    ImportArticlesResponse,
    IssueCouponsResponse,
    LoyaltyResult,
    PricesResponse,
    RedeemCouponResponse,
    ReserveCouponResponse,
    SideEffectsResult,
    TransactionResult,
    ValidateCouponResponse,
)
from promenade_client.calling import (
    ApiKey,
    Caller,
    ClientCredentials,
    Operation,
    Patience,
    Reply,
    Send,
    Steps,
    TakeToken,
    Tokens,
    Wait,
)
from promenade_client.errors import PromenadeError, Unavailable
from promenade_client.operations import Article
from promenade_client.requests import (
    ActivateCouponRequest,
    CancelCouponRequest,
    CancelRequest,
    ConfirmRequest,
    EvaluateRequest,
    IssueCouponsRequest,
    PricesRequest,
    RedeemCouponRequest,
    ReserveCouponRequest,
    ValidateCouponRequest,
)

T = TypeVar("T")
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


def _new_key() -> str:
    return str(uuid.uuid4())


def _lost(error: httpx2.HTTPError) -> Unavailable:
    return Unavailable(
        "NO_ANSWER", f"{type(error).__name__} {error}".rstrip(), was_sent=not isinstance(error, _NOT_SENT)
    )


def _reply(response: httpx2.Response) -> Reply:
    headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, response.content)


class Till:
    """A client of the service at ``url``, for any number of threads. Close it, or use it in a `with` statement.

    ``transport`` replaces the network, ``sleep`` the waiting, ``new_key`` the source of idempotency keys.
    """

    def __init__(
        self,
        url: str,
        credentials: ClientCredentials | ApiKey,
        *,
        patience: Patience | None = None,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        new_key: Callable[[], str] = _new_key,
    ) -> None:
        self._caller = Caller(url, credentials, patience or Patience())
        self._http = httpx2.Client(transport=transport)
        self._new_key = new_key
        self._renewing = threading.Lock()
        self.sleep = sleep

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def evaluate(self, request: EvaluateRequest) -> EvaluateResponse:
        """Price a basket and store it as the next iteration of its transaction."""
        return self.run(operations.evaluate(request))

    def simulate(self, request: EvaluateRequest) -> EvaluateResponse:
        """Price a basket and store nothing."""
        return self.run(operations.simulate(request))

    def prices(self, request: PricesRequest) -> PricesResponse:
        """Return what single articles cost, each alone."""
        return self.run(operations.prices(request))

    def confirm(self, request: ConfirmRequest) -> ConfirmResponse:
        """Confirm an iteration as a sale. It counts once, however often it is sent."""
        return self.run(operations.confirm(request))

    def cancel(self, request: CancelRequest) -> CancelResponse:
        """Undo a confirmed sale as a whole. It counts once, however often it is sent."""
        return self.run(operations.cancel(request))

    def transaction(self, transaction_id: str) -> TransactionResult:
        """Return what is known of a transaction: whether it was confirmed, and its iterations."""
        return self.run(operations.transaction(transaction_id))

    def iteration(self, transaction_id: str, counter: int) -> EvaluateResponse:
        """Return what evaluate has answered for an iteration."""
        return self.run(operations.iteration(transaction_id, counter))

    def side_effects(self, transaction_id: str, counter: int) -> SideEffectsResult:
        """Return how far the side effects of a confirmed sale are."""
        return self.run(operations.side_effects(transaction_id, counter))

    def loyalty(self, customer_id: str) -> LoyaltyResult:
        """Return a customer's points and the latest bookings."""
        return self.run(operations.loyalty(customer_id))

    def validate_coupon(self, request: ValidateCouponRequest) -> ValidateCouponResponse:
        """Return whether a code could be redeemed now; nothing changes."""
        return self.run(operations.validate_coupon(request))

    def reserve_coupon(self, request: ReserveCouponRequest) -> ReserveCouponResponse:
        """Reserve a code for a transaction. A repeat gets the same reservation."""
        return self.run(operations.reserve_coupon(request))

    def redeem_coupon(self, request: RedeemCouponRequest) -> RedeemCouponResponse:
        """Redeem a reserved code. `is_redeemed` of the answer is true for a repeat, too."""
        return self.run(operations.redeem_coupon(request))

    def release_coupon(self, request: CancelCouponRequest) -> CancelCouponResponse:
        """Release a reserved code. `is_released` of the answer is true for a repeat, too."""
        return self.run(operations.release_coupon(request))

    def activate_coupon(self, request: ActivateCouponRequest) -> ActivateCouponResponse:
        """Activate a code that its customer has to activate before it can be redeemed."""
        return self.run(operations.activate_coupon(request))

    def import_articles(self, articles: Sequence[Article]) -> ImportArticlesResponse:
        """Add and change articles, each on its own. A repeat changes nothing."""
        return self.run(operations.import_articles(articles))

    def heartbeat(self) -> Heartbeat:
        """Return the state of the service."""
        return self.run(operations.heartbeat())

    def issue_coupons(self, request: IssueCouponsRequest, *, key: str | None = None) -> IssueCouponsResponse:
        """Issue coupons. Orders with the same ``key`` count once within 24 hours; default: a new key for each call."""
        return self.run(operations.issue_coupons(request, key or self._new_key()))

    def run(self, operation: Operation[T], *, repeats: bool = True) -> T:
        """Carry out an operation; without ``repeats`` send it once."""
        return self._follow(self._caller.call(operation, repeats=repeats))

    def _follow(self, steps: Steps[T]) -> T:
        outcome: Any = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                answer: T = done.value
                return answer
            match step:
                case Send():
                    outcome = self._send(step)
                case Wait(seconds):
                    self.sleep(seconds)
                    outcome = None
                case TakeToken(tokens, stale):
                    outcome = self._token(tokens, stale)

    def _send(self, step: Send) -> Reply | PromenadeError:
        try:
            response = self._http.request(
                step.method, step.url, headers=step.headers, content=step.content, timeout=step.timeout
            )
        except httpx2.HTTPError as error:
            return _lost(error)
        return _reply(response)

    def _token(self, tokens: Tokens, stale: str | None) -> str | PromenadeError:
        with self._renewing:
            try:
                kept = tokens.kept(stale)
                return kept if kept is not None else self._follow(tokens.renewal())
            except PromenadeError as error:
                return error


class AsyncTill:
    """`Till` for an event loop: the same operations to `await`. Close it, or use it in an `async with` statement."""

    def __init__(
        self,
        url: str,
        credentials: ClientCredentials | ApiKey,
        *,
        patience: Patience | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        new_key: Callable[[], str] = _new_key,
    ) -> None:
        self._caller = Caller(url, credentials, patience or Patience())
        self._http = httpx2.AsyncClient(transport=transport)
        self._new_key = new_key
        self._renewing = asyncio.Lock()
        self.sleep = sleep

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def evaluate(self, request: EvaluateRequest) -> EvaluateResponse:
        """Price a basket and store it as the next iteration of its transaction."""
        return await self.run(operations.evaluate(request))

    async def simulate(self, request: EvaluateRequest) -> EvaluateResponse:
        """Price a basket and store nothing."""
        return await self.run(operations.simulate(request))

    async def prices(self, request: PricesRequest) -> PricesResponse:
        """Return what single articles cost, each alone."""
        return await self.run(operations.prices(request))

    async def confirm(self, request: ConfirmRequest) -> ConfirmResponse:
        """Confirm an iteration as a sale. It counts once, however often it is sent."""
        return await self.run(operations.confirm(request))

    async def cancel(self, request: CancelRequest) -> CancelResponse:
        """Undo a confirmed sale as a whole. It counts once, however often it is sent."""
        return await self.run(operations.cancel(request))

    async def transaction(self, transaction_id: str) -> TransactionResult:
        """Return what is known of a transaction: whether it was confirmed, and its iterations."""
        return await self.run(operations.transaction(transaction_id))

    async def iteration(self, transaction_id: str, counter: int) -> EvaluateResponse:
        """Return what evaluate has answered for an iteration."""
        return await self.run(operations.iteration(transaction_id, counter))

    async def side_effects(self, transaction_id: str, counter: int) -> SideEffectsResult:
        """Return how far the side effects of a confirmed sale are."""
        return await self.run(operations.side_effects(transaction_id, counter))

    async def loyalty(self, customer_id: str) -> LoyaltyResult:
        """Return a customer's points and the latest bookings."""
        return await self.run(operations.loyalty(customer_id))

    async def validate_coupon(self, request: ValidateCouponRequest) -> ValidateCouponResponse:
        """Return whether a code could be redeemed now; nothing changes."""
        return await self.run(operations.validate_coupon(request))

    async def reserve_coupon(self, request: ReserveCouponRequest) -> ReserveCouponResponse:
        """Reserve a code for a transaction. A repeat gets the same reservation."""
        return await self.run(operations.reserve_coupon(request))

    async def redeem_coupon(self, request: RedeemCouponRequest) -> RedeemCouponResponse:
        """Redeem a reserved code. `is_redeemed` of the answer is true for a repeat, too."""
        return await self.run(operations.redeem_coupon(request))

    async def release_coupon(self, request: CancelCouponRequest) -> CancelCouponResponse:
        """Release a reserved code. `is_released` of the answer is true for a repeat, too."""
        return await self.run(operations.release_coupon(request))

    async def activate_coupon(self, request: ActivateCouponRequest) -> ActivateCouponResponse:
        """Activate a code that its customer has to activate before it can be redeemed."""
        return await self.run(operations.activate_coupon(request))

    async def import_articles(self, articles: Sequence[Article]) -> ImportArticlesResponse:
        """Add and change articles, each on its own. A repeat changes nothing."""
        return await self.run(operations.import_articles(articles))

    async def heartbeat(self) -> Heartbeat:
        """Return the state of the service."""
        return await self.run(operations.heartbeat())

    async def issue_coupons(self, request: IssueCouponsRequest, *, key: str | None = None) -> IssueCouponsResponse:
        """Issue coupons. Orders with the same ``key`` count once within 24 hours; default: a new key for each call."""
        return await self.run(operations.issue_coupons(request, key or self._new_key()))

    async def run(self, operation: Operation[T], *, repeats: bool = True) -> T:
        """Carry out an operation; without ``repeats`` send it once."""
        return await self._follow(self._caller.call(operation, repeats=repeats))

    async def _follow(self, steps: Steps[T]) -> T:
        outcome: Any = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                answer: T = done.value
                return answer
            match step:
                case Send():
                    outcome = await self._send(step)
                case Wait(seconds):
                    await self.sleep(seconds)
                    outcome = None
                case TakeToken(tokens, stale):
                    outcome = await self._token(tokens, stale)

    async def _send(self, step: Send) -> Reply | PromenadeError:
        try:
            response = await self._http.request(
                step.method, step.url, headers=step.headers, content=step.content, timeout=step.timeout
            )
        except httpx2.HTTPError as error:
            return _lost(error)
        return _reply(response)

    async def _token(self, tokens: Tokens, stale: str | None) -> str | PromenadeError:
        async with self._renewing:
            try:
                kept = tokens.kept(stale)
                return kept if kept is not None else await self._follow(tokens.renewal())
            except PromenadeError as error:
                return error
