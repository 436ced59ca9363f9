"""Answers of the coupon endpoints, and the text for each refusal reason (interface decisions, POS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

REASONS: Mapping[str, str] = {
    "UNKNOWN_CODE": "There is no coupon with this code.",
    "NOT_ACTIVE": "The coupon is not active yet, or no longer active.",
    "EXPIRED": "The coupon is no longer valid.",
    "ALREADY_REDEEMED": "The coupon has been redeemed.",
    "ALREADY_ACTIVE": "The coupon is already active.",
    "RESERVED_ELSEWHERE": "Another transaction has reserved the coupon.",
    "WRONG_CUSTOMER": "The coupon belongs to another customer.",
    "USAGE_LIMIT_REACHED": "Coupons of this type have been redeemed as often as allowed.",
    "RESERVATION_NOT_FOUND": "There is no such reservation: it was cancelled or replaced.",
    "RESERVATION_EXPIRED": "The reservation has expired; reserve the coupon again.",
    "WRONG_TRANSACTION": "Another transaction holds this reservation.",
    "NEEDS_CLOUD": "Only the cloud knows this code, and it cannot be asked now.",
    "TOO_MANY_ATTEMPTS": "Too many unknown codes were shown; wait before the next.",
    "REDEEMED_BEFORE": "The coupon has already been redeemed; nothing was changed.",
}
VALID = "The coupon is valid."
VALID_FOR_HOLDER = "The coupon is valid: this transaction has reserved it."
VALID_WITHOUT_PROMOTION = "The coupon is valid, but it triggers no promotion that is running."
RESERVED = "The coupon is reserved."
REDEEMED = "The coupon is redeemed."
CANCELLED = "The reservation is cancelled; the coupon is available again."
ACTIVATED = "The coupon is active."


@dataclass(frozen=True, slots=True)
class Validated:
    """Whether a code can be spent now; ``reason`` None: yes. ``reservation_id``: the asking transaction holds it."""

    code: str
    reason: str | None
    promotion_id: str | None = None
    valid_until: datetime | None = None
    reservation_id: str | None = None

    @property
    def message(self) -> str:
        """The answer as a sentence."""
        if self.reason is not None:
            return REASONS[self.reason]
        if self.promotion_id is None:
            return VALID_WITHOUT_PROMOTION
        return VALID if self.reservation_id is None else VALID_FOR_HOLDER


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
