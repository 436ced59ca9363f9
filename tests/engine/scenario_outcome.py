"""An engine outcome in the terms of the scenario files, and its differences from what a scenario states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from promenade.engine.outcome import (
    AppliedPromotion,
    Gap,
    GrantedItem,
    LineOutcome,
    MissedPromotion,
    Outcome,
    Recommendation,
)
from tests.engine.scenario_kit import Scenario

__all__ = ["differences"]


def differences(scenario: Scenario, outcome: Outcome) -> list[str]:
    """Return what the scenario states and the outcome lacks, one readable line each; only stated values count.

    A stated word that the outcome's description does not know is a difference, so a misspelled expectation fails.
    """
    return _compare(scenario.expect, _Telling(scenario, outcome).everything(), "expect")


@dataclass(frozen=True, slots=True)
class _Telling:
    """Describes the whole outcome. Promotions and codes without an entry are None, so that absence can be stated."""

    scenario: Scenario
    outcome: Outcome

    def everything(self) -> dict[str, Any]:
        outcome = self.outcome
        barred = dict(outcome.never_discounted)
        return {
            "currency": outcome.currency,
            "lines": {row.reference: self._line(row, barred.get(place)) for place, row in enumerate(outcome.lines)},
            "totals": self._totals(),
            "granted": [self._granted(row) for row in outcome.granted],
            "points": Decimal(outcome.points),
            "basePoints": Decimal(outcome.base_points),
            "applied": [self._name(row.promotion_id) for row in outcome.applied],
            "promotions": self._each(outcome.applied, self._applied),
            **self._coupons(),
            "budgetLimited": self._each(outcome.budget_limited, lambda row: row.reason),
            "recommendations": self._each(outcome.recommendations, _recommendation),
            "nearMisses": [self._name(row.promotion_id) for row in outcome.recommendations if row.kind == "NEAR_MISS"],
            "missed": self._each(outcome.missed, self._missed),
            "gaps": self._each(outcome.gaps, self._gap),
            "nudges": self._each(
                outcome.nudges,
                lambda row: {
                    "gapType": row.gap_type,
                    "potentialSaving": self._money(row.potential_saving_minor),
                    "action": row.suggested_action,
                    "message": row.message,
                },
            ),
            "controlArms": [self._name(promotion) for promotion in outcome.control_arms],
            "bestDeal": None if outcome.best_deal is None else {"optimal": outcome.best_deal.optimal},
        }

    def _money(self, minor: int | None) -> Decimal | None:
        return None if minor is None else Decimal(minor).scaleb(-self.outcome.exponent)

    def _name(self, identifier: str | None) -> str | None:
        return None if identifier is None else self.scenario.readable[identifier]

    def _promotions(self) -> list[str]:
        return [self.scenario.readable[definition.id] for definition in self.scenario.definitions]

    def _each(self, rows: Iterable[Any], tell: Callable[[Any], Any]) -> dict[str, Any]:
        told: dict[str, Any] = dict.fromkeys(self._promotions())
        for row in rows:
            key = self.scenario.readable[row.promotion_id]
            told[key] = tell(row) if told[key] is None else f"listed twice: {told[key]} and {tell(row)}"
        return told

    def _line(self, row: LineOutcome, never_discounted: str | None) -> dict[str, Any]:
        by: dict[str, Any] = dict.fromkeys(self._promotions(), Decimal(0))
        shown = {}
        for discount in row.discounts:
            promotion = self.scenario.readable[discount.promotion_id]
            by[promotion] += self._money(discount.amount_minor)
            value = Decimal(discount.discount_value_hundredths).scaleb(-2)
            shown[promotion] = f"{discount.discount_type} {_shortest(value)}"
        return {
            "total": self._money(row.total_minor),
            "discount": self._money(row.discount_minor),
            "net": self._money(row.net_minor),
            "free": self._name(row.free_promotion_id),
            "neverDiscounted": never_discounted,
            "by": by,
            "shown": shown,
        }

    def _totals(self) -> dict[str, Any]:
        return {
            "subtotal": self._money(self.outcome.subtotal_minor),
            "discount": self._money(self.outcome.discount_minor),
            "grandTotal": self._money(self.outcome.grand_total_minor),
            "saleSubtotal": self._money(self.outcome.sale_subtotal_minor),
            "returnSubtotal": self._money(self.outcome.return_subtotal_minor),
        }

    def _granted(self, row: GrantedItem) -> dict[str, Any]:
        return {
            "article": row.article_number,
            "quantity": Decimal(row.quantity),
            "referencePrice": self._money(row.reference_price_minor),
            "priceSource": row.price_source,
            "value": self._money(row.give_away_value_minor),
            "promotion": self._name(row.promotion_id),
            "triggeredByCoupon": row.triggered_by_coupon,
        }

    def _applied(self, row: AppliedPromotion) -> dict[str, Any]:
        return {
            "discount": self._money(row.discount_minor),
            "giveAway": self._money(row.give_away_minor),
            "coupon": row.coupon_code,
            "applications": Decimal(row.applications),
            "points": Decimal(row.points),
            "issues": [self._name(type_id) for type_id in row.post_purchase_coupon_type_ids],
            "pilotArm": row.pilot_arm,
        }

    def _coupons(self) -> dict[str, Any]:
        presented: dict[str, Any] = dict.fromkeys(self.scenario.basket.coupons)
        used = {
            row.code: [self._name(promotion) for promotion in row.promotion_ids] for row in self.outcome.coupons_used
        }
        refused = {row.code: row.reason for row in self.outcome.coupons_refused}
        return {"couponsUsed": presented | used, "couponsRefused": presented | refused}

    def _missed(self, row: MissedPromotion) -> dict[str, Any]:
        return {
            "code": row.code,
            "matchPercent": _whole(row.match_percent),
            "potentialSaving": self._money(row.potential_saving_minor),
            "blockedBy": self._name(row.blocked_by_id),
            "difference": self._money(row.difference_minor),
            "rivals": None if row.without is None else [self._name(identity) for identity, _ in row.without],
        }

    def _gap(self, row: Gap) -> dict[str, Any]:
        return {
            "type": row.gap_type,
            "current": Decimal(row.current_hundredths).scaleb(-2),
            "threshold": Decimal(row.threshold_hundredths).scaleb(-2),
            "gap": Decimal(row.gap_hundredths).scaleb(-2),
            "potentialSaving": self._money(row.potential_saving_minor),
        }


def _recommendation(row: Recommendation) -> dict[str, Any]:
    return {"kind": row.kind, "code": row.code, "matchPercent": _whole(row.match_percent)}


def _whole(value: int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _shortest(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _compare(stated: Any, told: Any, where: str) -> list[str]:
    if isinstance(stated, dict) and isinstance(told, Mapping):
        unknown = [f"{where}.{key}: nothing of that name" for key in stated if key not in told]
        known = [(key, value) for key, value in stated.items() if key in told]
        return unknown + [line for key, value in known for line in _compare(value, told[key], f"{where}.{key}")]
    if isinstance(stated, list) and isinstance(told, list) and len(stated) == len(told):
        pairs = enumerate(zip(stated, told, strict=True))
        return [line for index, (left, right) in pairs for line in _compare(left, right, f"{where}[{index}]")]
    return [] if _same(stated, told) else [f"{where}: expected {stated}, got {told}"]


def _same(stated: Any, told: Any) -> bool:
    if stated == "any":
        return told is not None
    if isinstance(stated, str) and isinstance(told, Decimal):
        return _amount(stated) == told
    if isinstance(stated, str) and isinstance(told, str):
        return _comparable(stated) == _comparable(told)
    return stated is told  # None, true and false


def _amount(stated: str) -> Decimal | None:
    try:
        return Decimal(stated)
    except InvalidOperation:
        return None


def _comparable(value: str) -> tuple[str, str | Decimal | None]:
    """Return a form in which `ABSOLUTE 0.30` and `ABSOLUTE 0.3` are equal."""
    kind, _, amount = value.partition(" ")
    return kind, _amount(amount) or amount
