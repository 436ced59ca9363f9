"""Logs of confirmed sales, read as reports count them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from promenade.engine.money import minor_digits, split_proportional
from promenade.store.report_queue import SaleParts
from promenade.workflows.reporting.sales import LoggedDiscount, LoggedLine, LoggedPromotion, LoggedSale
from promenade.workflows.returns import SaleRecord

__all__ = ["sales_of"]

_RECORD = msgspec.msgpack.Decoder(SaleRecord)
_Shares = Mapping[str, tuple[LoggedDiscount, ...]]


def sales_of(parts: SaleParts) -> dict[str, LoggedSale]:
    """The sales by the IDs of their logs."""
    return {log.id: _sale(log, parts.items.get(log.id, ()), parts.applied.get(log.id, ())) for log in parts.logs}


def _sale(log: Any, items: Sequence[Any], applied: Sequence[Any]) -> LoggedSale:
    shares: _Shares = {}
    if log.carried is not None and log.discount:
        charged = {row.promotion_id: row.total_discount for row in applied if row.total_discount}
        shares = _shares(_RECORD.decode(log.carried), charged, minor_digits(log.currency))
    return LoggedSale(
        log_id=log.id,
        origin=log.origin,
        transaction_id=log.transaction_id,
        transaction_counter=log.transaction_counter,
        pos_group_id=log.pos_group_id,
        customer_id=log.customer_id,
        currency=log.currency,
        pilot_arm=log.pilot_arm,
        subtotal=log.subtotal,
        discount=log.discount,
        grand_total=log.grand_total,
        loyalty_points=log.loyalty_points,
        evaluated_at=log.evaluated_at,
        confirmed_at=log.confirmed_at,
        local_at=log.confirmed_at.astimezone(_zone(log.time_zone)).replace(tzinfo=None),
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
        coupon_code_id=row.coupon_code_id,
    )


def _shares(record: SaleRecord, charged: Mapping[str, Decimal], exponent: int) -> _Shares:
    """What each promotion took off each line, as charged.

    The record has the discounts as evaluated. Where the till confirmed less, that was booked in proportion to them
    (`confirm_rules.settle`), and is here again by the same rule.
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
def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
