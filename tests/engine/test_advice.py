"""Recommendations to customers, and why a promotion did not apply (section 10), end to end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from promenade.engine.basket import (
    BasketLine,
    BudgetFact,
    CouponFact,
    Customer,
    Facts,
    Settings,
    UsageFact,
)
from promenade.engine.catalogue import Catalogue
from promenade.engine.definition import ActionRow, ExclusionGroupRow, PriorityRow, PromotionDefinition, TierRow
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import MissedPromotion, Outcome, Recommendation
from tests.engine.given import NOW, TEN_PERCENT, basket, line, promotion, row

ASKED = Settings(now=NOW, include_missed=True)
NUDGED = Settings(now=NOW, nudges=True)

TEN_OFF_A = replace(TEN_PERCENT, action_type="ARTICLE", target_article_number="A")


def priced(
    definitions: list[PromotionDefinition],
    *lines: BasketLine,
    settings: Settings | None = None,
    facts: Facts | None = None,
    **rest: Any,
) -> Outcome:
    catalogue = Catalogue()
    assert not catalogue.compile_all(definitions)
    return evaluate(catalogue, basket(*lines, **rest), facts or Facts(), settings or Settings(now=NOW))


def told(outcome: Outcome) -> list[tuple[str, str, int | None]]:
    return [(one.kind, one.promotion_id, one.match_percent) for one in outcome.recommendations]


def only(outcome: Outcome) -> Recommendation:
    (one,) = outcome.recommendations
    return one


def missed(outcome: Outcome) -> dict[str, MissedPromotion]:
    return {one.promotion_id: one for one in outcome.missed}


# Recommendations


@pytest.mark.parametrize(
    ("amount", "expected"),
    [("49.99", []), ("50", [("NEAR_MISS", "p", 50)]), ("99.99", [("NEAR_MISS", "p", 99)]), ("100", [])],
)
def test_a_near_miss_has_reached_at_least_half(amount: str, expected: list[object]) -> None:
    assert told(priced([promotion("p", row("RECEIPT_AMOUNT", "100"))], line("A", "1", amount))) == expected


def test_a_near_miss_says_what_is_missing() -> None:
    one = only(priced([promotion("Ten off", row("RECEIPT_AMOUNT", "100"))], line("A", "1", "90")))
    assert one.code == "CONDITION_NOT_MET"
    assert dict(one.params) == {
        "condition": "RECEIPT_AMOUNT",
        "reason": "RECEIPT_AMOUNT_TOO_LOW",
        "needs": "a purchase of at least 100",
        "current": "90.00",
        "threshold": "100.00",
        "gap": "10.00",
    }
    assert one.message == (
        "Almost there for Ten off: 10.00 EUR more needed: 90.00 EUR of 100.00 EUR reached (a purchase of at least 100)."
    )


def test_all_failed_conditions_must_be_within_reach_and_the_least_counts() -> None:
    both = promotion("p", row("ARTICLE", "A", min_quantity_thousandths=4000), row("RECEIPT_AMOUNT", "40", sequence=2))
    assert told(priced([both], line("A", "3", "10"))) == [("NEAR_MISS", "p", 75)]
    assert told(priced([both], line("A", "2", "12"))) == [("NEAR_MISS", "p", 50)]
    card = promotion("p", row("RECEIPT_AMOUNT", "40"), row("PAYMENT_MEANS", "CARD", sequence=2))
    assert told(priced([card], line("A", "1", "39"))) == []


def test_a_hint_comes_from_lines_in_the_basket() -> None:
    gold = row("CUSTOMER_GROUP", "GOLD", sequence=2)
    of_a = promotion("of a", row("ARTICLE", "A"), gold)
    of_b = promotion("of b", row("ARTICLE", "B"), gold)
    on_a = promotion("on a", gold, actions=(TEN_OFF_A,))
    for_all = promotion("for all", gold)
    outcome = priced([of_a, of_b, on_a, for_all], line("A"))
    assert told(outcome) == [("HINT", "on a", None), ("HINT", "of a", None)]
    assert outcome.recommendations[0].message == "on a: Needs customer group GOLD."
    assert told(priced([of_a], line("A"), customer=Customer(customer_group="GOLD"))) == []


def test_half_of_a_pair_is_a_hint_for_the_other_half() -> None:
    pair = promotion("pair", row("ARTICLE", "A"), row("ARTICLE", "B", sequence=2))
    one = only(priced([pair], line("A")))
    assert (one.kind, dict(one.params)["needs"]) == ("HINT", "article B")


def test_a_hint_names_the_excluded_article_in_the_basket() -> None:
    alone = promotion("alone", row("ARTICLE", "A"), row("ARTICLE", "B", sequence=2, connector="NOT"))
    one = only(priced([alone], line("A"), line("B")))
    assert dict(one.params) == {"condition": "ARTICLE", "reason": "CONDITION_EXCLUDED", "excludes": "article B"}
    assert one.message == "alone: Not together with article B."


def test_a_coupon_that_triggered_nothing_gives_a_hint() -> None:
    definition = promotion("p", row("ARTICLE", "B"), coupon_type_ids=frozenset({"t"}))
    facts = Facts(coupons=(CouponFact("CODE", "t", "Ten"),))
    assert told(priced([definition], line("A"), facts=facts)) == [("HINT", "p", None)]
    assert told(priced([definition], line("A"))) == []


def test_near_misses_come_first_the_nearest_first_and_there_are_few() -> None:
    many = [promotion(f"n{n:02}", row("RECEIPT_AMOUNT", str(100 + n))) for n in range(15)]
    hint = promotion("a hint", row("ARTICLE", "A"), row("CHANNEL", "ONLINE", sequence=2), priority=1)
    outcome = priced([hint, *many], line("A", "1", "99"))
    assert told(outcome)[:2] == [("NEAR_MISS", "n00", 99), ("NEAR_MISS", "n01", 98)]
    assert len(outcome.recommendations) == 10
    assert told(priced([hint, *many[:2]], line("A", "1", "99")))[2] == ("HINT", "a hint", None)


def test_recommendations_do_not_depend_on_the_other_request_options() -> None:
    gold = row("CUSTOMER_GROUP", "GOLD", sequence=2)
    definitions = [
        promotion("of b", row("ARTICLE", "B"), gold),
        promotion("on b", gold, actions=(replace(TEN_OFF_A, target_article_number="B"),)),
        promotion("of a", row("ARTICLE", "A"), gold),
        promotion("two for b", row("ITEM_QUANTITY", "2"), actions=(replace(TEN_OFF_A, target_article_number="B"),)),
        promotion("receipt", row("RECEIPT_AMOUNT", "15")),
    ]
    plain = priced(definitions, line("A"))
    assert told(plain) == [("NEAR_MISS", "receipt", 66), ("HINT", "of a", None)]
    assert priced(definitions, line("A"), settings=ASKED).recommendations == plain.recommendations
    nudged = priced(definitions, line("A"), settings=NUDGED)
    assert nudged.recommendations == plain.recommendations
    assert priced(definitions, line("A"), settings=replace(NUDGED, include_missed=True)).gaps == nudged.gaps


# Missed promotions


def test_missed_promotions_are_only_returned_on_request() -> None:
    assert priced([promotion("p", row("ARTICLE", "B"))], line("A")).missed == ()


def test_every_candidate_and_every_relevant_promotion_has_a_reason() -> None:
    at_a = row("ARTICLE", "A")
    definitions = [
        promotion("applied", at_a),
        promotion("coupon", at_a, coupon_type_ids=frozenset({"t"})),
        promotion("elsewhere", at_a, pos_groups=frozenset({"pos-9"})),
        promotion("later", at_a, valid_from=NOW + timedelta(days=1)),
        promotion("no targets", at_a, actions=(replace(TEN_OFF_A, target_article_number="B"),)),
        promotion("other article", row("ARTICLE", "B")),
        promotion("used up", at_a, max_applications_per_transaction=0),
    ]
    outcome = priced(definitions, line("A"), settings=ASKED)
    assert {name: one.code for name, one in missed(outcome).items()} == {
        "coupon": "COUPON_REQUIRED",
        "elsewhere": "WRONG_POS_GROUP",
        "later": "OUTSIDE_VALIDITY",
        "no targets": "NO_TARGET_LINES",
        "other article": "CONDITION_NOT_MET",
        "used up": "USAGE_LIMIT_REACHED",
    }
    assert all(one.message for one in outcome.missed)
    assert missed(outcome)["coupon"].potential_saving_minor == 100
    assert missed(outcome)["other article"].potential_saving_minor is None


def test_a_blocked_promotion_names_the_winner_and_the_difference() -> None:
    twenty = replace(TEN_PERCENT, discount_value_hundredths=2000)
    group = ExclusionGroupRow("x", "HIGHEST_DISCOUNT")
    definitions = [
        promotion("ten", exclusion_group=group),
        promotion("twenty", exclusion_group=group, actions=(twenty,)),
    ]
    (one,) = priced(definitions, line("A", "1", "50"), settings=ASKED).missed
    assert (one.promotion_id, one.code) == ("ten", "BLOCKED_BY_EXCLUSION_GROUP")
    assert (one.blocked_by_id, one.difference_minor, one.potential_saving_minor) == ("twenty", 500, None)
    assert (one.remedy, one.without) == ("It would apply if twenty did not.", (("twenty", "twenty"),))


def test_a_winner_by_order_may_give_less_than_what_it_blocks() -> None:
    everything = replace(TEN_PERCENT, discount_value_hundredths=5000)
    definitions = [
        promotion("global", exclusivity="GLOBAL"),
        promotion("half", actions=(everything,)),
    ]
    (one,) = priced(definitions, line("A", "1", "50"), settings=ASKED).missed
    assert (one.code, one.blocked_by_name, one.difference_minor) == ("BLOCKED_BY_EXCLUSIVITY", "global", -2000)


def test_what_a_budget_does_not_cover_is_not_promised() -> None:
    definition = promotion("p", budget_ids=("b",))
    facts = Facts(budgets={"b": BudgetFact("b", "ACTIVE", 99, "EUR")})
    (one,) = priced([definition], line("A"), settings=ASKED, facts=facts).missed
    assert (one.code, one.potential_saving_minor) == ("BUDGET_INSUFFICIENT", None)


def test_a_missed_threshold_is_priced_as_if_it_were_reached() -> None:
    (one,) = priced([promotion("p", row("RECEIPT_AMOUNT", "100"))], line("A", "1", "90"), settings=ASKED).missed
    assert (one.match_percent, one.potential_saving_minor) == (90, 1000)


# Gaps and nudges


def test_gaps_and_nudges_are_returned_only_to_tenants_that_enable_them() -> None:
    outcome = priced([promotion("p", row("RECEIPT_AMOUNT", "100"))], line("A", "1", "90"))
    assert outcome.gaps == ()
    assert outcome.nudges == ()


def test_an_amount_gap_states_the_missing_amount_and_the_saving() -> None:
    outcome = priced([promotion("Ten off", row("RECEIPT_AMOUNT", "100"))], line("A", "1", "90"), settings=NUDGED)
    (gap,) = outcome.gaps
    assert (gap.gap_type, gap.current_hundredths, gap.threshold_hundredths, gap.gap_hundredths) == (
        "RECEIPT_AMOUNT",
        9000,
        10000,
        1000,
    )
    assert gap.potential_saving_minor == 1000
    (nudge,) = outcome.nudges
    assert nudge.message == "Buy 10.00 EUR more and save 10.00 EUR with Ten off."
    assert (nudge.suggested_action, nudge.gap_type) == ("INCREASE_AMOUNT", "RECEIPT_AMOUNT")


def test_a_quantity_gap_is_closed_with_the_cheapest_line() -> None:
    three = promotion("p", row("ARTICLE_GROUP", "g", min_quantity_thousandths=3000))
    outcome = priced([three], line("A", "1", "20", group="g"), line("B", "1", "5", group="g"), settings=NUDGED)
    (gap,) = outcome.gaps
    assert (gap.gap_type, gap.current_hundredths, gap.threshold_hundredths, gap.gap_hundredths) == (
        "ITEM_QUANTITY",
        200,
        300,
        100,
    )
    assert gap.potential_saving_minor == 300  # 10 % of 20 + 2 x 5
    assert outcome.nudges[0].message == "Buy 1 more of B and save 3.00 EUR with p."


def test_a_minimum_amount_gap_is_closed_with_goods_that_count_but_are_not_discounted_themselves() -> None:
    fifty = promotion("p", row("ARTICLE", "A", min_amount_hundredths=5000), actions=(TEN_OFF_A,))
    outcome = priced([fifty], line("A", "1", "40"), line("B", "1", "90"), settings=NUDGED)
    (gap,) = outcome.gaps
    assert (gap.gap_type, gap.gap_hundredths, gap.potential_saving_minor) == ("RECEIPT_AMOUNT", 1000, 400)
    assert outcome.nudges[0].message == "Buy 10.00 EUR more of A and save 4.00 EUR with p."


def test_two_gaps_of_one_promotion_are_one_promise() -> None:
    both = promotion("p", row("ITEM_QUANTITY", "2"), row("RECEIPT_AMOUNT", "100", sequence=2))
    outcome = priced([both], line("A", "1", "40"), settings=NUDGED)
    (gap,) = outcome.gaps  # the wider one
    assert (gap.gap_type, gap.gap_hundredths, gap.potential_saving_minor) == ("RECEIPT_AMOUNT", 6000, 1000)
    assert outcome.nudges[0].message == "Buy 1 more of A and 20.00 EUR more and save 10.00 EUR with p."


def test_a_gap_that_would_not_help_alone_is_not_reported() -> None:
    card = promotion("p", row("RECEIPT_AMOUNT", "100"), row("PAYMENT_MEANS", "CARD", sequence=2))
    assert priced([card], line("A", "1", "90"), settings=NUDGED).gaps == ()


TIERS = ActionRow(
    id="action",
    sequence=1,
    action_type="SCALED_RECEIPT",
    scaled_tiers=(
        TierRow(1, "PERCENTAGE", 500, threshold_hundredths=5000),
        TierRow(2, "PERCENTAGE", 1000, threshold_hundredths=10000),
    ),
)


def test_the_first_tier_not_reached_is_a_near_miss_and_a_gap() -> None:
    outcome = priced([promotion("p", actions=(TIERS,))], line("A", "1", "40"), settings=NUDGED)
    assert told(outcome) == [("NEAR_MISS", "p", 80)]
    (gap,) = outcome.gaps
    assert (gap.gap_type, gap.gap_hundredths, gap.potential_saving_minor) == ("SCALED_RECEIPT", 1000, 250)


def test_the_next_tier_is_a_gap_worth_what_it_adds() -> None:
    outcome = priced([promotion("p", actions=(TIERS,))], line("A", "1", "80"), settings=NUDGED)
    assert outcome.discount_minor == 400
    assert told(outcome) == []
    (gap,) = outcome.gaps
    assert (gap.current_hundredths, gap.threshold_hundredths, gap.potential_saving_minor) == (8000, 10000, 600)


@pytest.mark.parametrize(
    ("currency", "price", "shown"), [("JPY", "90", (9000, 10000, 1000)), ("KWD", "90", (9000, 10000, 1000))]
)
def test_gaps_are_hundredths_in_every_currency(currency: str, price: str, shown: tuple[int, int, int]) -> None:
    outcome = priced(
        [promotion("p", row("RECEIPT_AMOUNT", "100"))], line("A", "1", price), settings=NUDGED, currency=currency
    )
    (gap,) = outcome.gaps
    assert (gap.current_hundredths, gap.threshold_hundredths, gap.gap_hundredths) == shown
    assert gap.potential_saving_minor == {"JPY": 10, "KWD": 10000}[currency]


def test_nudges_are_few_and_the_greatest_saving_first() -> None:
    definitions = [promotion(f"p{n}", row("RECEIPT_AMOUNT", str(100 + 10 * n))) for n in range(5)]
    outcome = priced(definitions, line("A", "1", "95"), settings=NUDGED)
    assert len(outcome.gaps) == 5
    # Each larger purchase brings those for the smaller ones too.
    assert [one.potential_saving_minor for one in outcome.nudges] == [5 * 1400, 4 * 1300, 3 * 1200]


# A nudge's promised saving is what closing the gap yields


FROM_HUNDRED = row("RECEIPT_AMOUNT", "100")
SPENT = BudgetFact("b", "EXHAUSTED", 0, "EUR")


@pytest.mark.parametrize(
    ("limits", "facts"),
    [
        ({"budget_ids": ("b",)}, Facts(budgets={"b": SPENT})),
        ({"budget_ids": ("b",)}, Facts(budgets={"b": replace(SPENT, status="ACTIVE", remaining_minor=999)})),
        ({"max_applications_total": 3}, Facts(usage={"p": UsageFact(3)})),
        ({"max_applications_per_customer": 1}, Facts(usage={"p": UsageFact(9, 1)})),
    ],
)
def test_a_saving_beyond_a_limit_is_not_promised(limits: dict[str, Any], facts: Facts) -> None:
    limited = promotion("p", FROM_HUNDRED, **limits)
    outcome = priced([limited], line("A", "1", "90"), settings=NUDGED, facts=facts)
    assert outcome.gaps == ()
    assert outcome.nudges == ()


def test_a_budget_must_bear_what_this_basket_already_takes_from_it_and_the_saving() -> None:
    first = promotion("a", budget_ids=("b",), priority=1)
    later = promotion("p", FROM_HUNDRED, budget_ids=("b",), priority=2)
    # With the gap closed, the sale of 100 gets 10 off for each, where it has 9 now.
    for left, savings in ((1999, []), (2000, [1100])):
        facts = Facts(budgets={"b": BudgetFact("b", "ACTIVE", left, "EUR")})
        outcome = priced([first, later], line("A", "1", "90"), settings=NUDGED, facts=facts)
        assert [gap.potential_saving_minor for gap in outcome.gaps] == savings


@pytest.mark.parametrize(
    ("first", "saving"),
    [
        ({"exclusivity": "NONE"}, 1000),
        ({"exclusivity": "GLOBAL"}, 0),
        ({"exclusivity": "PROMOTION"}, 100),  # only the missing ten euros are not claimed by the other promotion
        ({"exclusivity": "GROUP", "priority_group": PriorityRow("g", 1, 1)}, 0),
        ({"exclusion_group": ExclusionGroupRow("x", "HIGHEST_DISCOUNT")}, 550),  # 10.00 instead of 4.50
    ],
)
def test_a_saving_on_exclusively_used_units_is_not_promised(first: dict[str, Any], saving: int) -> None:
    five = promotion("a", actions=(replace(TEN_OFF_A, discount_value_hundredths=500),), priority=1, **first)
    groups = {
        "priority_group": PriorityRow("g", 1, 2) if "priority_group" in first else None,
        "exclusion_group": first.get("exclusion_group"),
    }
    ten = promotion("p", FROM_HUNDRED, priority=2, **groups)
    outcome = priced([five, ten], line("A", "1", "90"), settings=NUDGED)
    assert [gap.potential_saving_minor for gap in outcome.gaps] == ([saving] if saving else [])
