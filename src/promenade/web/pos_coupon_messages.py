"""What tills send and get about coupons, field by field; as in `web.pos_messages`, but in no envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from promenade.web.pos_messages import CouponCode as Code
from promenade.web.pos_messages import Message, OptionalText50, OptionalText255, Text50
from promenade.web.pos_responses import Response

__all__ = [
    "OPERATIONS",
    "ActivateCouponRequest",
    "ActivateCouponResponse",
    "CancelCouponRequest",
    "CancelCouponResponse",
    "IssueCouponsRequest",
    "IssueCouponsResponse",
    "IssueFailed",
    "IssuedCouponCode",
    "Operation",
    "RedeemCouponRequest",
    "RedeemCouponResponse",
    "ReserveCouponRequest",
    "ReserveCouponResponse",
    "ValidateCouponRequest",
    "ValidateCouponResponse",
    "coupon_addresses",
]

CUSTOMERS_MAX = 10_000
# Control characters and line ends are no part of an ID that people print, read out and search for.
PRINTABLE = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$"
CustomerId = Annotated[str, Meta(min_length=1, max_length=50, pattern=PRINTABLE)]
OptionalCustomerId = Annotated[str, Meta(max_length=50, pattern=PRINTABLE)] | None


# ---- requests -------------------------------------------------------------------------------------------------------


class ValidateCouponRequest(Message):
    """A code that somebody shows."""

    code: Code  #: The code as printed. Upper and lower case differ.
    customer_id: OptionalText50 = None  #: Who shows it. Default: whose the code is, if anybody's.


class ReserveCouponRequest(Message):
    """A code to hold for a transaction."""

    code: Code  #: The code as printed. Upper and lower case differ.
    transaction_id: Text50  #: The till's transaction: it alone can redeem the reservation.
    customer_id: OptionalText50 = None  #: Who shows it. Default: whose the code is, if anybody's.


class RedeemCouponRequest(Message):
    """A reserved code to spend."""

    reservation_id: UUID  #: As answered by reserve.
    transaction_id: Text50  #: The transaction that reserved it.


class CancelCouponRequest(Message):
    """A reserved code to give back."""

    reservation_id: UUID  #: As answered by reserve.


class ActivateCouponRequest(Message):
    """A digital coupon that its customer activates."""

    code: Code  #: The code as printed. Upper and lower case differ.
    customer_id: Text50  #: Whose the code is. A code that is nobody's can be activated by anybody.


class IssueCouponsRequest(Message):
    """Coupons to hand out, one to each customer; to one who bears it when no customer is named."""

    coupon_type_id: UUID | None = None  #: Of which type. This or `couponTypeName` is required.
    coupon_type_name: OptionalText255 = None  #: The same by its name, which must be the name of one type only.
    customer_id: OptionalCustomerId = None  #: To whom. Not together with `customerIds`.
    customer_ids: Annotated[list[CustomerId], Meta(min_length=1, max_length=CUSTOMERS_MAX)] | None = None  #: To whom.
    reason: OptionalText255 = None  #: Why, kept with each code.
    metadata: dict[str, Any] | None = None  #: An object of the till's own, kept with each code; at most 4 KiB.


# ---- responses ------------------------------------------------------------------------------------------------------


class ValidateCouponResponse(Response, frozen=True):
    """Whether the coupon could be spent now."""

    valid: bool  #: Whether it could.
    code: str  #: As sent.
    message: str  #: An English sentence.
    promotion_id: str | None  #: The promotion that it triggers; null when none runs.
    valid_until: str | None  #: Until when, this moment not included; null: it has no end. UTC.
    reason: str | None  #: Why not: a stable code; null when valid.


class ReserveCouponResponse(Response, frozen=True):
    """The reservation."""

    reservation_id: str | None  #: What redeems it or gives it back.
    reserved: bool  #: Whether the transaction holds the code.
    expires_at: str | None  #: When the reservation runs out, this moment not included. UTC.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Why not: a stable code; null when reserved.


class RedeemCouponResponse(Response, frozen=True):
    """Whether the coupon was spent."""

    redeemed: bool  #: Whether it was, by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Why not: a stable code; null when redeemed.


class CancelCouponResponse(Response, frozen=True):
    """Whether the coupon was given back."""

    cancelled: bool  #: Whether it was, by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Why not: a stable code; null when cancelled.


class ActivateCouponResponse(Response, frozen=True):
    """Whether the coupon became active."""

    activated: bool  #: Whether it did, by this request.
    code: str  #: As sent.
    message: str  #: An English sentence.
    valid_until: str | None  #: Until when it can be spent, this moment not included; null: it has no end. UTC.
    reason: str | None  #: Why not: a stable code; null when activated.


class IssuedCouponCode(Response, frozen=True):
    """A coupon that was handed out."""

    code: str  #: To show at a till.
    coupon_id: str | None  #: Its ID; null where all share the code of the type.
    coupon_type_id: str  #: Of which type.
    customer_id: str | None  #: Whose it is; null: whoever shows it.
    valid_until: str | None  #: Until when it can be spent, this moment not included; null: it has no end. UTC.


class IssueFailed(Response, frozen=True):
    """A customer who got none."""

    customer_id: str | None  #: Who.
    code: str  #: Why: a stable code.
    message: str  #: The same in an English sentence.


class IssueCouponsResponse(Response, frozen=True):
    """Who got what."""

    issued_count: int  #: How many were issued.
    failed_count: int  #: How many were not.
    issued_coupons: list[IssuedCouponCode]  #: In the order of the customers.
    failures: list[IssueFailed]  #: In the order of the customers.
    message: str  #: An English sentence.


# ---- operations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """One coupon endpoint: ``action`` is the OData action that is the same."""

    action: str
    request: type[Message]
    response: type[Response]
    text: str


OPERATIONS: Mapping[str, Operation] = {
    "validate": Operation(
        "validateCoupon", ValidateCouponRequest, ValidateCouponResponse, "Tells whether a code could be spent now."
    ),
    "reserve": Operation(
        "reserveCoupon", ReserveCouponRequest, ReserveCouponResponse, "Holds a code for a transaction."
    ),
    "redeem": Operation("redeemCoupon", RedeemCouponRequest, RedeemCouponResponse, "Spends a reserved code, once."),
    "cancel": Operation("cancelCoupon", CancelCouponRequest, CancelCouponResponse, "Gives a reserved code back."),
    "activate": Operation(
        "activateCoupon", ActivateCouponRequest, ActivateCouponResponse, "Activates a digital coupon of a customer."
    ),
    "issue": Operation(
        "issueCoupons", IssueCouponsRequest, IssueCouponsResponse, "Hands out coupons, one to each customer."
    ),
}
"""By the last part of their addresses."""


def coupon_addresses(name: str) -> tuple[str, ...]:
    """Where an operation is, below `/pos/`: two addresses of its own and two of its action."""
    action = OPERATIONS[name].action
    return f"coupons/{name}", f"v2/coupons/{name}", action, f"PosService.{action}"
