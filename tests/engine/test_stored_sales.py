"""Sales stored under earlier rules: today's engine prices them to the same bytes (section 11)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import pytest

from promenade.engine.basket import FIRST_RULES, RULES
from promenade.engine.catalogue import RecordedCatalogue, definition_hash
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from promenade.store.pricing.iterations import encode_outcome
from tests.engine.stored import StoredSale, stored_sales

LOTS = 4
ACTIONS = (
    *("ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "QUANTITY_TIER", "RECEIPT", "SCALED_RECEIPT", "BUNDLE", "FREE_ITEM"),
    *("POST_PURCHASE_COUPON", "ADD_FIXED", "MULTIPLY_POINTS"),
)
SALES = stored_sales(FIRST_RULES)


def outcome_of(sale: StoredSale) -> Outcome:
    return msgspec.msgpack.decode(sale.outcome, type=Outcome)


def replayed(sale: StoredSale, rules: int = FIRST_RULES) -> Outcome:
    """Price a sale again from what is stored with it: a replay has only the definitions that its outcome names."""
    by_hash = {definition_hash(one): one for one in sale.definitions}
    catalogue = RecordedCatalogue(sale.article_groups)
    for key in outcome_of(sale).candidate_hashes:
        catalogue.put(by_hash[key])
    return evaluate(catalogue, sale.basket, sale.facts, replace(sale.settings, rules=rules))


@pytest.mark.parametrize("lot", range(LOTS))
def test_a_sale_of_earlier_rules_is_replayed_to_the_same_bytes(lot: int) -> None:
    for number in range(lot, len(SALES), LOTS):
        sale = SALES[number]
        again = replayed(sale, sale.settings.rules)
        assert again == outcome_of(sale), f"sale {number}"
        assert encode_outcome(again) == bytes(sale.outcome), f"sale {number}"


def test_enough_of_the_stored_sales_cost_something_else_by_the_rules_in_force() -> None:
    """If none did, they would not show that a replay heeds the rules of then."""
    assert {sale.settings.rules for sale in SALES} == {FIRST_RULES}
    assert sum(replayed(sale, RULES).lines != outcome_of(sale).lines for sale in SALES) >= 15


def test_the_stored_sales_are_varied() -> None:
    """What no stored sale shows could change without a test that fails."""
    seen: Counter[str] = Counter()
    for sale in SALES:
        outcome = outcome_of(sale)
        seen[sale.settings.strategy] += 1
        seen["several apply"] += len(outcome.applied) > 1
        seen["given in addition"] += bool(outcome.granted)
        seen["a line given away"] += any(line.free_promotion_id is not None for line in outcome.lines)
        seen["searched"] += outcome.best_deal is not None and outcome.best_deal.nodes > 1
        seen["recommendations"] += bool(outcome.recommendations)
        seen["gaps"] += bool(outcome.gaps)
        seen["nudges"] += bool(outcome.nudges)
        seen["points"] += outcome.points > 0
        seen["coupons"] += bool(outcome.coupons_used)
        seen.update({one.code for one in outcome.missed})
        seen.update({one.discount_type for line in outcome.lines for one in line.discounts})
        seen.update({action.action_type for one in sale.definitions for action in one.actions})
        seen.update({action.action_type for one in sale.definitions for action in one.loyalty_actions})
    wanted = {
        60: ("BEST_DEAL", "SEQUENTIAL", "several apply", "given in addition", *ACTIONS),
        40: ("searched", "PERCENTAGE", "ABSOLUTE", "UNIT_PRICE", "points", "recommendations", "gaps", "nudges"),
        10: ("a line given away", "CONDITION_NOT_MET", "NO_TARGET_LINES", "NOTHING_LEFT_TO_DISCOUNT"),
        4: ("coupons", "BLOCKED_BY_EXCLUSIVITY", "BLOCKED_BY_EXCLUSION_GROUP", "BUDGET_EXHAUSTED", "COUPON_REQUIRED"),
    }
    for least, kinds in wanted.items():
        for kind in kinds:
            assert seen[kind] >= least, (kind, seen)
