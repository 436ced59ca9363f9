"""What tills send and get about coupons, field by field; as in `web.pricing.messages`, but in no envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta, Struct

from promenade.web.pricing.messages import CouponCode as Code
from promenade.web.pricing.messages import Message, OptionalText50, OptionalText255, Text50
from promenade.web.pricing.responses import Response

CUSTOMERS_MAX = 1_000  # coupons that can be issued in a minute
# Control characters and line ends are not allowed in an ID that people print, read out and search for.
PRINTABLE = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$"
CustomerId = Annotated[str, Meta(min_length=1, max_length=50, pattern=PRINTABLE)]
OptionalCustomerId = Annotated[str, Meta(max_length=50, pattern=PRINTABLE)] | None


# ---- requests -------------------------------------------------------------------------------------------------------


class ValidateCouponRequest(Message):
    """A coupon code presented at a till."""

    code: Code  #: The code as printed. The case of an individual code matters.
    transaction_id: OptionalText50 = None  #: The transaction it is for: a code that it has reserved is valid for it.
    customer_id: OptionalText50 = None  #: The customer who presents it. Default: the code's owner, if any.


class ReserveCouponRequest(Message):
    """A code to reserve for a transaction."""

    code: Code  #: The code as printed. The case of an individual code matters.
    transaction_id: Text50  #: The till's transaction: only it can redeem the reservation.
    customer_id: OptionalText50 = None  #: The customer who presents it. Default: the code's owner, if any.


class RedeemCouponRequest(Message):
    """A reserved code to redeem."""

    reservation_id: UUID  #: The ID returned by reserve.
    transaction_id: Text50  #: The transaction that reserved it.


class CancelCouponRequest(Message):
    """A reserved code to release."""

    reservation_id: UUID  #: The ID returned by reserve.


class ActivateCouponRequest(Message):
    """A digital coupon that its customer activates."""

    code: Code  #: The code as printed. The case of an individual code matters.
    customer_id: Text50  #: The code's owner. A code without an owner can be activated by anybody.


class IssueCouponsRequest(Message):
    """Coupons to issue, one for each customer; a single bearer coupon if no customer is named."""

    coupon_type_id: UUID | None = None  #: The coupon type. This or `couponTypeName` is required.
    coupon_type_name: OptionalText255 = None  #: The coupon type by its name, which only one type may have.
    customer_id: OptionalCustomerId = None  #: The customer. Not together with `customerIds`.
    customer_ids: Annotated[list[CustomerId], Meta(min_length=1, max_length=CUSTOMERS_MAX)] | None = None  #: Customers.
    reason: OptionalText255 = None  #: The reason, stored with each code.
    metadata: dict[str, Any] | None = None  #: An object with own data, stored with each code; at most 4 KiB.


# ---- responses ------------------------------------------------------------------------------------------------------


class ValidateCouponResponse(Response, frozen=True):
    """Whether the coupon could be redeemed now."""

    valid: bool  #: Whether it could be redeemed.
    code: str  #: As sent.
    message: str  #: An English sentence.
    promotion_id: str | None  #: The promotion that it triggers; null if none is running.
    valid_until: str | None  #: End of its validity, exclusive; null: it has no end. UTC.
    reason: str | None  #: Stable reason code; null if valid.
    reservation_id: str | None  #: The reservation by which the given transaction holds the code; null if it does not.


class ReserveCouponResponse(Response, frozen=True):
    """The reservation."""

    reservation_id: str | None  #: The ID for redeem and cancel.
    reserved: bool  #: Whether the transaction has reserved the code.
    expires_at: str | None  #: When the reservation expires, exclusive. UTC.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if reserved.


class RedeemCouponResponse(Response, frozen=True):
    """Whether the coupon was redeemed."""

    redeemed: bool  #: Whether it was redeemed by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if redeemed.


class CancelCouponResponse(Response, frozen=True):
    """Whether the coupon was released."""

    cancelled: bool  #: Whether it was released by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if cancelled.


class ActivateCouponResponse(Response, frozen=True):
    """Whether the coupon was activated."""

    activated: bool  #: Whether it was activated by this request.
    code: str  #: As sent.
    message: str  #: An English sentence.
    valid_until: str | None  #: End of its validity, exclusive; null: it has no end. UTC.
    reason: str | None  #: Stable reason code; null if activated.


class IssuedCouponCode(Response, frozen=True):
    """A coupon that was issued."""

    code: str  #: The code to present at a till.
    coupon_id: str | None  #: Its ID; null if all share the type's code.
    coupon_type_id: str  #: The coupon type.
    customer_id: str | None  #: The owner; null: a bearer coupon.
    valid_until: str | None  #: End of its validity, exclusive; null: it has no end. UTC.


class IssueFailed(Response, frozen=True):
    """A customer who got no coupon."""

    customer_id: str | None  #: The customer.
    code: str  #: The reason: a stable code.
    message: str  #: An English sentence.


class IssueCouponsResponse(Response, frozen=True):
    """The coupons issued, and the failures."""

    issued_count: int  #: Number of coupons issued.
    failed_count: int  #: Number of failures.
    issued_coupons: list[IssuedCouponCode]  #: In the order of the customers.
    failures: list[IssueFailed]  #: In the order of the customers.
    message: str  #: An English sentence.


# ---- operations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """An endpoint whose body is in no envelope; ``action`` is the equivalent OData action."""

    action: str
    request: type[Message]
    response: type[Struct]
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
    """Return the addresses of an operation below `/pos/`: two of its own and two of its action."""
    action = OPERATIONS[name].action
    return f"coupons/{name}", f"v2/coupons/{name}", action, f"PosService.{action}"
