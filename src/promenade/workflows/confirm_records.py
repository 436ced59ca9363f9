"""The calculation log of a confirm, as columns of CalculationLogs and its children."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from promenade.engine.outcome import Outcome
from promenade.store.iterations import StoredIteration
from promenade.workflows.confirm_rules import ConfirmCommand, ConfirmedItem, SaleIdentity, Settlement, money
from promenade.workflows.context import Context

__all__ = ["failed_log", "log_columns", "log_items", "log_promotions"]

Columns = dict[str, Any]


def log_columns(
    context: Context,
    log_id: str,
    iteration: StoredIteration,
    command: ConfirmCommand,
    settlement: Settlement,
    sale: SaleIdentity,
) -> Columns:
    """The log of a confirmed sale."""
    exponent = iteration.outcome.exponent
    return {
        **_common(context, log_id, iteration, command, sale),
        "status": "CALCULATED",
        "pilot_arm": _arm(iteration.outcome, settlement),
        "discount": money(settlement.discount_minor, exponent),
        "grand_total": money(settlement.grand_total_minor, exponent),
        "loyalty_points": sum(one.points for one in settlement.points) if sale.customer_id is not None else 0,
        "discrepancy": settlement.is_discrepant,
        "message": None,
    }


def failed_log(
    context: Context,
    log_id: str,
    iteration: StoredIteration,
    command: ConfirmCommand,
    sale: SaleIdentity,
    message: str,
) -> Columns:
    """The log of a confirm that was refused: the iteration's totals, and why."""
    exponent = iteration.outcome.exponent
    return {
        **_common(context, log_id, iteration, command, sale),
        "status": "FAILED",
        "pilot_arm": None,
        "discount": money(iteration.outcome.discount_minor, exponent),
        "grand_total": money(iteration.outcome.grand_total_minor, exponent),
        "loyalty_points": 0,
        "discrepancy": False,
        "message": message[:1000],
    }


def _common(
    context: Context, log_id: str, iteration: StoredIteration, command: ConfirmCommand, sale: SaleIdentity
) -> Columns:
    outcome = iteration.outcome
    return {
        "id": log_id,
        "origin": sale.origin,
        "transaction_id": sale.transaction_id,
        "transaction_counter": sale.transaction_counter,
        "receipt_id": command.receipt_id or iteration.receipt_id,
        "header_reference": command.header_reference or iteration.header_reference,
        "pos_group_id": iteration.basket.pos_group.id,
        "customer_id": sale.customer_id,
        "channel": iteration.basket.channel,
        "subtotal": money(outcome.subtotal_minor, outcome.exponent),
        "currency": outcome.currency,
        "evaluated_at": iteration.evaluated_at,
        "confirmed_at": sale.confirmed_at,
        "source": context.source,
        "instance_id": context.shown_instance_id,
    }


def _arm(outcome: Outcome, settlement: Settlement) -> str | None:
    """The arm of the sale as a whole; its promotions say which arm of which pilot."""
    arms = [one.applied.pilot_arm for one in settlement.promotions if one.applied.pilot_arm is not None]
    if arms:
        return arms[0]
    return "CONTROL" if outcome.control_arms else None


def log_items(
    settlement: Settlement, items: tuple[ConfirmedItem, ...] | None, exponent: int, new_id: Callable[[], str]
) -> list[Columns]:
    """One row per line, with the till's own discount beside ours where it sent its final prices."""
    confirmed: list[Decimal | None] = [None] * len(settlement.lines)
    if items is not None and len(items) == len(settlement.lines):
        confirmed = [_storable(item.line_discount) for item in items]
    return [
        {
            "id": new_id(),
            "line_reference": line.priced.reference,
            "article_number": line.priced.article_number,
            "article_group_key": line.priced.article_group_id,
            "quantity": Decimal(line.priced.quantity_thousandths).scaleb(-3),
            "unit_price": Decimal(line.priced.unit_price_hundredths).scaleb(-2),
            "line_total": money(line.priced.total_minor, exponent),
            "line_discount": money(line.discount_minor, exponent),
            "line_net": money(line.net_minor, exponent),
            "confirmed_discount": said,
        }
        for line, said in zip(settlement.lines, confirmed, strict=True)
    ]


def log_promotions(
    iteration: StoredIteration,
    settlement: Settlement,
    controls: Mapping[str, tuple[str, int]],
    new_id: Callable[[], str],
) -> list[Columns]:
    """One row per promotion carried out, and one per promotion whose control arm the sale belongs to.

    ``controls`` are name and version of the latter.
    """
    exponent = iteration.outcome.exponent
    codes = {fact.code: fact.coupon_id for fact in iteration.facts.coupons}
    applied = [
        {
            "id": new_id(),
            "promotion_id": one.applied.promotion_id,
            "promotion_name": one.applied.promotion_name,
            "promotion_version": one.applied.version,
            "total_discount": money(one.booked_minor, exponent),
            "evaluated_discount": money(one.applied.discount_minor, exponent),
            "confirmed_discount": _storable(one.confirmed),
            "points": one.applied.points,
            "pilot_arm": one.applied.pilot_arm,
            "coupon_code_id": codes.get(one.applied.coupon_code or ""),
        }
        for one in settlement.promotions
    ]
    control = [
        {
            "id": new_id(),
            "promotion_id": promotion_id,
            "promotion_name": name,
            "promotion_version": version,
            "total_discount": Decimal(0),
            "evaluated_discount": None,
            "confirmed_discount": None,
            "points": 0,
            "pilot_arm": "CONTROL",
            "coupon_code_id": None,
        }
        for promotion_id, (name, version) in controls.items()
    ]
    return applied + control


def _storable(said: Decimal | None) -> Decimal | None:
    """What a till said, to the three decimals that amounts are kept with."""
    return None if said is None else said.quantize(Decimal("0.001"))
