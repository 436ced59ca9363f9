"""Confirmed sales as reports count them, and how they are read from the logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from promenade.engine.money import minor_digits, split_proportional
from promenade.store.reports.queue import SaleParts
from promenade.workflows.settlement.returns import SaleRecord, decode_record


@dataclass(frozen=True, slots=True)
class LoggedDiscount:
    """The amount one promotion took off one line, as charged."""

    promotion_id: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedLine:
    """A line of a sale; on a return line the quantity and the amounts are negative.

    ``discounts`` are those of sold lines; they add up to ``discount``.
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
    """A promotion that applied to a sale (arm None, PILOT or EXPERIMENT), or whose control arm the sale belongs to.

    ``total_discount`` is the amount charged, including give-aways; in a control arm there is none.
    """

    promotion_id: str
    promotion_name: str
    total_discount: Decimal
    points: int
    pilot_arm: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
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

_Shares = Mapping[str, tuple[LoggedDiscount, ...]]


def sales_of(parts: SaleParts) -> dict[str, LoggedSale]:
    """Return the sales by log ID."""
    return {log.id: _sale(log, parts.items.get(log.id, ()), parts.applied.get(log.id, ())) for log in parts.logs}


def _sale(log: Any, items: Sequence[Any], applied: Sequence[Any]) -> LoggedSale:
    shares: _Shares = {}
    if log.carried is not None and log.discount:
        charged = {row.promotion_id: row.total_discount for row in applied if row.total_discount}
        shares = _shares(decode_record(log.carried), charged, minor_digits(log.currency))
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
        lines=tuple([_line(item, shares) for item in items]),
        promotions=tuple([_promotion(row) for row in applied]),
    )


def _line(item: Any, shares: _Shares) -> LoggedLine:
    return LoggedLine(
        reference=item.line_reference,
        article_number=item.article_number,
        article_group_key=item.article_group_key,
        quantity=item.quantity,
        total=item.line_total,
        discount=item.line_discount,
        net=item.line_net,
        discounts=shares.get(item.line_reference, ()),
    )


def _promotion(row: Any) -> LoggedPromotion:
    return LoggedPromotion(
        promotion_id=row.promotion_id,
        promotion_name=row.promotion_name,
        total_discount=row.total_discount,
        points=row.points,
        pilot_arm=row.pilot_arm,
    )


def _shares(record: SaleRecord, charged: Mapping[str, Decimal], exponent: int) -> _Shares:
    """Return the amount each promotion took off each line, as charged.

    The record contains the discounts as evaluated. If the till confirmed less, they were reduced proportionally
    (`confirm_rules.settle`); the same rule is applied here.
    """
    places: dict[str, tuple[list[str], list[int]]] = {}
    for line in record.lines:
        for discount in line.discounts:
            references, amounts = places.setdefault(discount.promotion_id, ([], []))
            references.append(line.reference)
            amounts.append(sum([unit.count * unit.amount_minor for unit in discount.units]))
    booked: dict[str, dict[str, int]] = {}
    for promotion_id, (references, amounts) in places.items():
        whole = int(charged.get(promotion_id, Decimal(0)).scaleb(exponent))
        parts = amounts if whole == sum(amounts) else split_proportional(whole, amounts, amounts)
        for reference, part in zip(references, parts, strict=True):
            if part:
                of_line = booked.setdefault(reference, {})
                of_line[promotion_id] = of_line.get(promotion_id, 0) + part
    return {
        reference: tuple([LoggedDiscount(of, Decimal(minor).scaleb(-exponent)) for of, minor in of_line.items()])
        for reference, of_line in booked.items()
    }


@cache
def zone_of(name: str | None) -> tzinfo:
    """Return a time zone; UTC for None and names that are not known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
