"""Every operation that the interface offers to a till, as the request to send."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TypedDict, TypeVar
from urllib.parse import quote

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
from promenade_client.calling import Operation
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
from promenade_client.wire import encode

T = TypeVar("T")


class ArticleNumber(TypedDict):
    """What every article has."""

    articleNumber: str  # the names of the interface


class Article(ArticleNumber, total=False):
    """An article to add or to change: what is left out stays as it is, None empties the field."""

    name: str | None
    description: str | None
    ean: str | None
    manufacturer: str | None
    manufacturerId: str | None
    category: str | None
    articleGroupId: str | None
    basePrice: Decimal | int | None
    currency: str | None
    unit: str
    source: str
    isActive: bool
    neverDiscounted: str | None
    articleGroup_ID: str | None
    ID: str | None


def evaluate(request: EvaluateRequest) -> Operation[EvaluateResponse]:
    """Price a basket and store the result."""
    return _post("/pos/v2/evaluate", {"request": request}, EvaluateResponse)


def simulate(request: EvaluateRequest) -> Operation[EvaluateResponse]:
    """Price a basket."""
    return _post("/pos/v2/simulate", {"request": request}, EvaluateResponse)


def prices(request: PricesRequest) -> Operation[PricesResponse]:
    """Ask what single articles cost."""
    return _post("/pos/v2/prices", {"request": request}, PricesResponse)


def confirm(request: ConfirmRequest) -> Operation[ConfirmResponse]:
    """Confirm an iteration."""
    return _post("/pos/v2/confirm", {"request": request}, ConfirmResponse)


def cancel(request: CancelRequest) -> Operation[CancelResponse]:
    """Undo a confirmed sale."""
    return _post("/pos/v2/cancel", request, CancelResponse)


def transaction(transaction_id: str) -> Operation[TransactionResult]:
    """Read a transaction."""
    return _get(f"/pos/v2/transactions/{_part(transaction_id)}", TransactionResult)


def iteration(transaction_id: str, counter: int) -> Operation[EvaluateResponse]:
    """Read an iteration."""
    return _get(f"/pos/v2/transactions/{_part(transaction_id)}/{counter}", EvaluateResponse)


def side_effects(transaction_id: str, counter: int) -> Operation[SideEffectsResult]:
    """Read the status of side effects."""
    return _get(f"/pos/v2/transactions/{_part(transaction_id)}/{counter}/side-effects", SideEffectsResult)


def loyalty(customer_id: str) -> Operation[LoyaltyResult]:
    """Read a customer's points."""
    return _get(f"/pos/v2/customers/{_part(customer_id)}/loyalty", LoyaltyResult)


def validate_coupon(request: ValidateCouponRequest) -> Operation[ValidateCouponResponse]:
    """Ask whether a code is valid."""
    return _post("/pos/coupons/validate", request, ValidateCouponResponse)


def reserve_coupon(request: ReserveCouponRequest) -> Operation[ReserveCouponResponse]:
    """Reserve a code."""
    return _post("/pos/coupons/reserve", request, ReserveCouponResponse)


def redeem_coupon(request: RedeemCouponRequest) -> Operation[RedeemCouponResponse]:
    """Redeem a reserved code."""
    return _post("/pos/coupons/redeem", request, RedeemCouponResponse)


def release_coupon(request: CancelCouponRequest) -> Operation[CancelCouponResponse]:
    """Release a reserved code."""
    return _post("/pos/coupons/cancel", request, CancelCouponResponse)


def activate_coupon(request: ActivateCouponRequest) -> Operation[ActivateCouponResponse]:
    """Activate a code."""
    return _post("/pos/coupons/activate", request, ActivateCouponResponse)


def issue_coupons(request: IssueCouponsRequest, key: str) -> Operation[IssueCouponsResponse]:
    """Issue coupons, once for each ``key``."""
    path = "/pos/coupons/issue"
    return Operation("POST", path, IssueCouponsResponse, encode(request), {"idempotency-key": key})


def import_articles(articles: Sequence[Article]) -> Operation[ImportArticlesResponse]:
    """Add and change articles."""
    return _post("/pos/articles/import", {"articles": articles}, ImportArticlesResponse)


def heartbeat() -> Operation[Heartbeat]:
    """Read the state of the service."""
    return _get("/pos/heartbeat", Heartbeat)


def _post(path: str, body: object, answer: type[T]) -> Operation[T]:
    return Operation("POST", path, answer, encode(body))


def _get(path: str, answer: type[T]) -> Operation[T]:
    return Operation("GET", path, answer)


def _part(text: str) -> str:
    return quote(text, safe="")
