"""The prices of a case by both implementations in one plain form, for comparison."""

from __future__ import annotations

from typing import Any

from promenade.engine.catalogue import Catalogue
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from tests.engine.reference.case import Case
from tests.engine.reference.made_up import ARTICLE_GROUPS
from tests.engine.reference.pricing import Result


def engine(case: Case) -> Outcome:
    catalogue = Catalogue(ARTICLE_GROUPS, case.never)
    refused = catalogue.compile_all(list(case.definitions))
    assert not refused, {key: (error.target, error.message) for key, error in refused.items()}
    return evaluate(catalogue, case.basket, case.facts, case.settings)


def of_engine(outcome: Outcome) -> dict[str, Any]:
    return {
        "lines": [
            (
                line.total_minor,
                line.discount_minor,
                line.net_minor,
                [
                    (each.promotion_id, each.amount_minor, each.discount_type, each.coupon_code)
                    for each in line.discounts
                ],
                line.free_promotion_id,
            )
            for line in outcome.lines
        ],
        "applied": [
            (
                each.promotion_id,
                each.discount_minor,
                each.give_away_minor,
                each.points,
                each.coupon_code,
                each.post_purchase_coupon_type_ids,
            )
            for each in outcome.applied
        ],
        "granted": [
            (each.promotion_id, each.article_number, each.quantity, each.price_source, each.give_away_value_minor)
            for each in outcome.granted
        ],
        "totals": (
            outcome.subtotal_minor,
            outcome.discount_minor,
            outcome.grand_total_minor,
            outcome.sale_subtotal_minor,
            outcome.return_subtotal_minor,
        ),
        "points": (outcome.base_points, outcome.points),
        "used": [(each.code, tuple(sorted(each.promotion_ids))) for each in outcome.coupons_used],
        "refused": [(each.code, each.reason) for each in outcome.coupons_refused],
        "limited": sorted((each.promotion_id, each.reason) for each in outcome.budget_limited),
    }


def of_reference(result: Result) -> dict[str, Any]:
    sale = result.sale
    discounts: list[list[tuple[str, int, str, str | None]]] = [[] for _ in sale.lines]
    for application in result.applied:
        for taking in application.takings:
            discounts[taking.line].append((application.promotion.id, taking.amount, taking.shown, application.coupon))
    sales = sum(line.total for line in sale.lines if line.is_sale)
    returns = sum(line.total for line in sale.lines if not line.is_sale)
    off = sum(line.taken for line in sale.lines)
    lines = []
    for line in sale.lines:
        freed = {piece.free_for for piece in line.pieces}
        last = [each.promotion.id for each in result.applied if each.promotion.id in freed]
        free_for = last[-1] if last and None not in freed else None  # if several promotions gave it, the last one
        lines.append((line.total, line.taken, max(0, line.left), discounts[line.index], free_for))
    return {
        "lines": lines,
        "applied": [
            (each.promotion.id, each.discount, each.given, each.points, each.coupon, each.coupon_types)
            for each in result.applied
        ],
        "granted": [
            (each.promotion.id, gift.article_number, gift.quantity, gift.source, gift.value)
            for each in result.applied
            for gift in each.gifts
        ],
        "totals": (sales + returns, off, sales + returns - off, sales, returns),
        "points": (result.base_points, result.points),
        "used": [(code, tuple(sorted(ids))) for code, ids in result.used],
        "refused": result.refused,
        "limited": sorted(result.limited.items()),
    }
