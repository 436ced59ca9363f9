"""A confirmed sale as reports count it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

__all__ = ["LoggedDiscount", "LoggedLine", "LoggedPromotion", "LoggedSale"]


@dataclass(frozen=True, slots=True)
class LoggedDiscount:
    """What one promotion took off one line, as charged."""

    promotion_id: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedLine:
    """A line of a sale; on a return the quantity and the amounts are below zero.

    ``discounts`` are those of lines that were sold; they add up to ``discount``.
    """

    reference: str
    article_number: str
    article_group_key: str | None
    quantity: Decimal
    total: Decimal
    discount: Decimal
    net: Decimal
    discounts: tuple[LoggedDiscount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPromotion:
    """A promotion that applied to a sale (arm None, PILOT or EXPERIMENT), or whose control arm it belongs to.

    ``total_discount`` is what was charged, give-aways included; a control arm has none.
    """

    promotion_id: str
    promotion_name: str
    total_discount: Decimal
    points: int
    pilot_arm: str | None
    coupon_code_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSale:
    """A confirmed transaction (CalculationLogs with status CALCULATED) with its lines and promotions.

    ``confirmed_at`` is aware, in UTC; ``local_at`` is the same moment as the clock on the wall of its POS group shows
    it, without a time zone: reports by day, hour and weekday count by it. Amounts are in ``currency``.
    """

    log_id: str
    origin: str
    transaction_id: str
    transaction_counter: int
    pos_group_id: str | None
    customer_id: str | None
    currency: str
    pilot_arm: str | None
    subtotal: Decimal
    discount: Decimal
    grand_total: Decimal
    loyalty_points: int
    evaluated_at: datetime
    confirmed_at: datetime
    local_at: datetime
    lines: tuple[LoggedLine, ...]
    promotions: tuple[LoggedPromotion, ...]
