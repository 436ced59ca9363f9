"""Answers of the coupon endpoints, and the text for each refusal reason (interface decisions, POS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

REASONS: Mapping[str, str] = {
    "UNKNOWN_CODE": "There is no coupon with this code.",
    "NOT_ACTIVE": "The coupon is not active: not yet, or no more.",
    "EXPIRED": "The coupon is no longer valid.",
    "ALREADY_REDEEMED": "The coupon has been redeemed.",
    "ALREADY_ACTIVE": "The coupon is active already.",
    "RESERVED_ELSEWHERE": "Another transaction has reserved the coupon.",
    "WRONG_CUSTOMER": "The coupon belongs to another customer.",
    "USAGE_LIMIT_REACHED": "Coupons of this type have been redeemed as often as they may.",
    "RESERVATION_NOT_FOUND": "There is no such reservation: it was cancelled, or has been replaced.",
    "RESERVATION_EXPIRED": "The reservation has run out; reserve the coupon again.",
    "WRONG_TRANSACTION": "Another transaction holds this reservation.",
    "NEEDS_CLOUD": "Only the cloud knows this code, and it cannot be asked now.",
    "TOO_MANY_ATTEMPTS": "Too many unknown codes were shown; wait before the next.",
    "REDEEMED_BEFORE": "This has been redeemed already; nothing was done again.",
}
VALID = "The coupon is valid."
VALID_WITHOUT_PROMOTION = "The coupon is valid, but no promotion runs that it triggers."
RESERVED = "The coupon is reserved."
REDEEMED = "The coupon is redeemed."
CANCELLED = "The reservation is cancelled; the coupon is available again."
ACTIVATED = "The coupon is active."


@dataclass(frozen=True, slots=True)
class Validated:
    """Whether a code can be spent now; ``reason`` None: yes."""

    code: str
    reason: str | None
    promotion_id: str | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reserved:
    """A live reservation, or the reason why there is none."""

    reason: str | None
    reservation_id: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The result of a redemption; ``reason`` None: it was redeemed now."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The result of a cancellation; ``reason`` None: it was cancelled now."""

    reason: str | None


@dataclass(frozen=True, slots=True)
class Activated:
    """The result of an activation; ``reason`` None: it was activated now."""

    code: str
    reason: str | None
    valid_until: datetime | None = None
