"""Confirmed sales as reports count them, and how they are read from the logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from promenade.engine.money import minor_digits, split_proportional
from promenade.engine.value import value
from promenade.workflows.settlement.returns import SharedLine, decode_shared


@value(frozen=True, slots=True)
class LoggedDiscount:
    """The amount one promotion took off one line, as charged."""

    promotion_id: str
    amount: Decimal


@value(frozen=True, slots=True)
class LoggedLine:
    """A line of a sale; on a return line the quantity is negative. ``discounts`` are those of sold lines."""

    reference: str
    article_number: str
    article_group_key: str | None
    quantity_thousandths: int
    discounts: tuple[LoggedDiscount, ...]

    @property
    def is_sold(self) -> bool:
        """Whether it is a sale line."""
        return self.quantity_thousandths > 0


@value(frozen=True, slots=True)
class LoggedPromotion:
    """A promotion that applied to a sale (arm None, PILOT or EXPERIMENT), or whose control arm the sale belongs to.

    ``total_discount`` is the amount charged, including give-aways; in a control arm there is none.
    """

    promotion_id: str
    promotion_name: str
    total_discount: Decimal
    points: int
    pilot_arm: str | None


@value(frozen=True, slots=True)
class LoggedSale:
    """A confirmed transaction (CalculationLogs with status CALCULATED) with its lines and promotions.

    ``confirmed_at`` is aware, in UTC; ``local_at`` is the same moment as local time of its POS group, without a time
    zone:
    reports by day, hour and weekday use it. Amounts are in ``currency``.
    """

    log_id: str
    origin: str
    transaction_id: str
    transaction_counter: int
    pos_group_id: str | None
    customer_id: str | None
    currency: str
    subtotal: Decimal
    discount: Decimal
    grand_total: Decimal
    evaluated_at: datetime
    confirmed_at: datetime
    local_at: datetime
    lines: tuple[LoggedLine, ...]
    promotions: tuple[LoggedPromotion, ...]


# ---- read from the logs ---------------------------------------------------------------------------------------------

_NOTHING = Decimal(0)

_Shares = Mapping[str, tuple[LoggedDiscount, ...]]


def sales_of(logs: Iterable[Any]) -> dict[str, LoggedSale]:
    """Return the sales of logs as `store.reports.queue.read_logs` reads them, by log ID."""
    return {log.id: _sale(log) for log in logs}


def _sale(log: Any) -> LoggedSale:
    promotions = tuple([_promotion(packed) for packed in log.promotions or ()])
    shares: _Shares = {}
    if log.carried is not None and log.discount:
        charged = {one.promotion_id: one.total_discount for one in promotions if one.total_discount}
        shares = _shares(decode_shared(log.carried), charged, minor_digits(log.currency))
    return LoggedSale(
        log_id=log.id,
        origin=log.origin,
        transaction_id=log.transaction_id,
        transaction_counter=log.transaction_counter,
        pos_group_id=log.pos_group_id,
        customer_id=log.customer_id,
        currency=log.currency,
        subtotal=log.subtotal,
        discount=log.discount,
        grand_total=log.grand_total,
        evaluated_at=log.evaluated_at,
        confirmed_at=log.confirmed_at,
        local_at=log.confirmed_at.astimezone(zone_of(log.time_zone)).replace(tzinfo=None),
        lines=tuple([_line(packed, shares) for packed in log.lines or ()]),
        promotions=promotions,
    )


# The values of lines and promotions have the order of `store.sales.log_parts`; only those that reports count are read.


def _line(packed: Sequence[Any], shares: _Shares) -> LoggedLine:
    reference, article_number, article_group_key, quantity = packed[:4]
    return LoggedLine(reference, article_number, article_group_key, quantity, shares.get(reference, ()))


def _promotion(packed: Sequence[Any]) -> LoggedPromotion:
    promotion_id, name, _, total_discount, _, points, *ends = packed
    return LoggedPromotion(promotion_id, name, _amount(total_discount, 3), points, ends[1] if len(ends) > 1 else None)


@lru_cache(10_000)
def _amount(units: int, exponent: int) -> Decimal:
    """Return an amount of units of which ``exponent`` digits are decimals; most amounts are those of other sales."""
    return Decimal(units).scaleb(-exponent)


def _shares(lines: Sequence[SharedLine], charged: Mapping[str, Decimal], exponent: int) -> _Shares:
    """Return the amount each promotion took off each line, as charged.

    The record contains the discounts as evaluated. If the till confirmed less, they were reduced proportionally
    (`confirm_rules.settle`); the same rule is applied here.
    """
    places: dict[str, tuple[list[str], list[int]]] = {}
    for line in lines:
        for discount in line.discounts:
            references, amounts = places.setdefault(discount.promotion_id, ([], []))
            references.append(line.reference)
            amounts.append(sum([unit.count * unit.amount_minor for unit in discount.units]))
    booked: dict[str, dict[str, int]] = {}
    for promotion_id, (references, amounts) in places.items():
        whole = int(charged.get(promotion_id, _NOTHING).scaleb(exponent))
        parts = amounts if whole == sum(amounts) else split_proportional(whole, amounts, amounts)
        for reference, part in zip(references, parts, strict=True):
            if part:
                of_line = booked.setdefault(reference, {})
                of_line[promotion_id] = of_line.get(promotion_id, 0) + part
    return {
        reference: tuple([LoggedDiscount(of, _amount(minor, exponent)) for of, minor in of_line.items()])
        for reference, of_line in booked.items()
    }


@cache
def zone_of(name: str | None) -> tzinfo:
    """Return a time zone; UTC for None and names that are not known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
