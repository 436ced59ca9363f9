"""Every finding of a check, and no findings where nothing is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from promenade.engine.definition import (
    ArticleRow,
    ConditionRow,
    PilotRow,
    PromotionDefinition,
)
from promenade.engine.inspection import ArticleSeen, BudgetSeen, CouponTypeSeen, Finding, PlaceSeen, Tenant, inspect
from promenade.engine.view import GroupTree
from tests.engine.given import promotion, row

AT = datetime(2026, 3, 14, 12, tzinfo=UTC)  # a Saturday
BERLIN = PlaceSeen("berlin", "DE", "EUR", "Europe/Berlin", True)
ZURICH = PlaceSeen("zurich", "CH", "CHF", "Europe/Zurich", True)
CLOSED = PlaceSeen("closed", "OLD", "EUR", "Europe/Berlin", False)
BOOK = ArticleSeen("BOOK", "9780", never_discounted="FIXED_PRICE")
TENANT = Tenant(
    at=AT,
    places={one.id: one for one in (BERLIN, ZURICH, CLOSED)},
    tree=GroupTree(
        {"food": None, "fruit": "food", "tools": None, "smoking": None, "cigars": "smoking"}, {"smoking": "TOBACCO"}
    ),
    articles={
        "A": ArticleSeen("A", "4000", "fruit", "m1"),
        "OLD": ArticleSeen("OLD", is_active=False),
        "BOOK": BOOK,
        "CIGAR": ArticleSeen("CIGAR", article_group_id="cigars"),
    },
    eans={"9780": BOOK},
    keeps_articles=True,
)
DAY = timedelta(days=1)


def of(definition: PromotionDefinition, tenant: Tenant = TENANT) -> list[Finding]:
    return inspect(definition, tenant)


def codes(definition: PromotionDefinition, tenant: Tenant = TENANT) -> list[tuple[str, str]]:
    return [(one.severity, one.code) for one in of(definition, tenant)]


def test_a_promotion_that_runs_has_no_findings() -> None:
    bought = row("ARTICLE", article_number="A", min_quantity_thousandths=2000)
    enough = row("RECEIPT_AMOUNT", "50", sequence=2)
    weekend = row("TIME_WINDOW", sequence=3, weekdays="SAT,SUN", time_from=time(8), time_to=time(20))
    made = promotion("p", bought, enough, weekend, valid_from=AT - DAY, valid_to=AT + 30 * DAY, currency="EUR")
    assert of(made) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"status": "DRAFT"}, ("INFO", "NOT_RUNNING")),
        ({"status": "ARCHIVED"}, ("WARNING", "NOT_RUNNING")),
        ({"valid_to": AT}, ("ERROR", "VALIDITY_OVER")),
        ({"valid_from": AT + DAY}, ("INFO", "VALIDITY_AHEAD")),
        ({"valid_from": AT + DAY, "valid_to": AT + DAY}, ("ERROR", "VALIDITY_EMPTY")),
        ({"campaign_id": "c", "campaign_window": (None, AT)}, ("ERROR", "CAMPAIGN_OVER")),
        ({"campaign_id": "c", "campaign_window": (AT + DAY, None)}, ("INFO", "CAMPAIGN_AHEAD")),
        (
            {"campaign_id": "c", "campaign_window": (AT + DAY, None), "valid_to": AT + DAY},
            ("ERROR", "CAMPAIGN_ELSEWHEN"),
        ),
        (
            {"campaign_id": "c", "campaign_window": (None, None), "campaign_cancelled": True},
            ("ERROR", "CAMPAIGN_CANCELLED"),
        ),
        ({"actions": ()}, ("ERROR", "ACTION_MISSING")),
        ({"pos_groups": frozenset({"closed"})}, ("ERROR", "POS_GROUPS_INACTIVE")),
        ({"pos_groups": frozenset({"closed", "berlin"})}, ("INFO", "POS_GROUPS_INACTIVE")),
        ({"currency": "USD"}, ("ERROR", "CURRENCY_NOWHERE")),
        ({"currency": "EUR", "pos_groups": frozenset({"berlin", "zurich"})}, ("WARNING", "CURRENCY_ELSEWHERE")),
        ({"is_experiment": True, "experiment_group_id": "closed"}, ("ERROR", "EXPERIMENT_EXCLUDES_ALL")),
        (
            {"is_experiment": True, "experiment_group_id": "berlin", "control_group_id": "berlin"},
            ("ERROR", "EXPERIMENT_EXCLUDES_ALL"),
        ),
        (
            {"is_experiment": True, "control_group_id": "berlin", "pos_groups": frozenset({"berlin"})},
            ("ERROR", "EXPERIMENT_EXCLUDES_ALL"),
        ),
        ({"status": "PILOT"}, ("ERROR", "PILOT_CONFIG_MISSING")),
        ({"max_applications_per_customer": 0}, ("ERROR", "APPLICATIONS_USED_UP")),
        ({"max_applications_total": 0}, ("ERROR", "APPLICATIONS_USED_UP")),
        ({"budget_ids": ("gone",)}, ("ERROR", "BUDGET_NOT_ACTIVE")),
        ({"coupon_type_ids": frozenset({"gone"})}, ("ERROR", "COUPON_TYPE_UNKNOWN")),
    ],
)
def test_each_reason_that_prevents_a_promotion_from_running_is_reported(
    changes: dict[str, Any], found: tuple[str, str]
) -> None:
    assert codes(promotion("p", **changes)) == [found]


def pilot(**changes: Any) -> PilotRow:
    rest: dict[str, Any] = {
        "starts_at": AT - DAY,
        "ends_at": AT + DAY,
        "share_hundredths": 100,
        "control_group_size": 0,
        "pilot_pos_groups": frozenset({"berlin"}),
        "control_pos_groups": frozenset(),
    }
    return PilotRow("config", **{**rest, **changes})


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (pilot(), None),
        (pilot(pilot_pos_groups=frozenset()), "PILOT_EXCLUDES_ALL"),
        (pilot(share_hundredths=0), "PILOT_EXCLUDES_ALL"),
        (pilot(pilot_pos_groups=frozenset({"closed"})), "PILOT_EXCLUDES_ALL"),
        (pilot(pilot_pos_groups=frozenset({"zurich"})), "PILOT_EXCLUDES_ALL"),
        (pilot(ends_at=AT), "PILOT_OVER"),
        (pilot(starts_at=AT + 9 * DAY, ends_at=AT + 10 * DAY), "PILOT_OUTSIDE_VALIDITY"),
    ],
)
def test_a_pilot_without_active_treated_groups_is_reported(made: PilotRow, found: str | None) -> None:
    rest: dict[str, Any] = {"pos_groups": frozenset({"berlin"}), "valid_to": AT + 5 * DAY, "pilot": made}
    assert codes(promotion("p", status="PILOT", **rest)) == ([("ERROR", found)] if found else [])
    wanted = [("WARNING", found)] if found else []
    assert codes(promotion("p", **rest)) == wanted


BUDGET = BudgetSeen("b", "Spring", "ACTIVE", "EUR", False, AT - DAY, AT + 30 * DAY)


@pytest.mark.parametrize(
    ("budget", "found"),
    [
        (BUDGET, []),
        (replace(BUDGET, is_empty=True), [("ERROR", "BUDGET_EXHAUSTED")]),
        (replace(BUDGET, status="EXHAUSTED"), [("ERROR", "BUDGET_EXHAUSTED")]),
        (replace(BUDGET, status="EXPIRED"), [("ERROR", "BUDGET_EXPIRED")]),
        (replace(BUDGET, status="DRAFT"), [("ERROR", "BUDGET_NOT_ACTIVE")]),
        (replace(BUDGET, currency="USD"), [("ERROR", "BUDGET_CURRENCY")]),
        (replace(BUDGET, status="SCHEDULED", valid_from=AT + DAY), [("WARNING", "BUDGET_AHEAD")]),
        (replace(BUDGET, status="SCHEDULED", valid_from=AT + 25 * DAY), [("ERROR", "BUDGET_NOT_ACTIVE")]),
        (replace(BUDGET, valid_to=AT + DAY), [("WARNING", "BUDGET_ENDS_EARLIER")]),
    ],
)
def test_a_budget_that_stops_the_promotion_is_reported(budget: BudgetSeen, found: list[tuple[str, str]]) -> None:
    made = promotion("p", budget_ids=("b",), valid_to=AT + 20 * DAY)
    assert codes(made, replace(TENANT, budgets={"b": budget})) == found


COUPON = CouponTypeSeen("t", "Ten off", "ACTIVE")


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (COUPON, None),
        (replace(COUPON, status="INACTIVE"), "COUPON_TYPE_INACTIVE"),
        (replace(COUPON, valid_to=AT), "COUPON_TYPE_EXPIRED"),
        (replace(COUPON, valid_from=AT + 9 * DAY), "COUPON_TYPE_LATE"),
        (replace(COUPON, has_code=False), "COUPONS_MISSING"),
        (replace(COUPON, has_code=False, has_stock=True), "COUPONS_NOT_ACTIVATED"),
        (replace(COUPON, is_used_up=True), "COUPONS_USED_UP"),
    ],
)
def test_a_coupon_type_that_triggers_nothing_is_reported(kind: CouponTypeSeen, found: str | None) -> None:
    made = promotion("p", coupon_type_ids=frozenset({"t"}), valid_to=AT + 9 * DAY)
    assert codes(made, replace(TENANT, coupon_types={"t": kind})) == ([("ERROR", found)] if found else [])
    # With another coupon type that triggers it, it is only a warning.
    both = replace(made, coupon_type_ids=frozenset({"t", "u"}))
    tenant = replace(TENANT, coupon_types={"t": kind, "u": replace(COUPON, id="u")})
    assert codes(both, tenant) == ([("WARNING", found)] if found else [])


# --- conditions -------------------------------------------------------------------------------------------------------

SUNDAY = row("TIME_WINDOW", weekdays="SUN")
MONDAY = datetime(2026, 3, 15, 23, tzinfo=UTC)  # 0:00 in Berlin


def pair(*rows: ConditionRow) -> tuple[ConditionRow, ...]:
    return tuple(replace(one, id=f"c{number}", sequence=number) for number, one in enumerate(rows, start=1))


@pytest.mark.parametrize(
    "rows",
    [
        pair(row("RECEIPT_AMOUNT", "50", operator="BETWEEN", value_to="10")),
        pair(row("RECEIPT_AMOUNT", "0", operator="LESS_THAN")),
        pair(row("ITEM_QUANTITY", "0", operator="LTE"), row("ARTICLE", article_number="A")),
        pair(row("RECEIPT_AMOUNT", "100"), row("RECEIPT_AMOUNT", "50", operator="LESS_THAN")),
        pair(
            row("ARTICLE", article_number="A", min_amount_hundredths=9000), row("RECEIPT_AMOUNT", "50", operator="LTE")
        ),
        pair(row("CUSTOMER_GROUP", "GOLD"), row("CUSTOMER_GROUP", "SILVER")),
        pair(row("CUSTOMER_GROUP", "GOLD"), row("CUSTOMER_GROUP", "GOLD", connector="NOT")),
        pair(row("CHANNEL", "SHOP"), row("CHANNEL", "shop", connector="NOT")),
        pair(row("CUSTOMER_GROUP", "SILVER", operator="BETWEEN", value_to="GOLD")),
        pair(row("CUSTOMER", "m", operator="LESS_THAN"), row("CUSTOMER", "m", operator="GTE")),
        pair(row("PAYMENT_MEANS", "CASH"), row("PAYMENT_MEANS", "CA", operator="STARTS_WITH", connector="NOT")),
        pair(row("CREDIT_CARD_BIN", "4111"), row("CREDIT_CARD_BIN", "5", operator="GTE")),
        pair(row("ARTICLE", article_number="A"), row("ARTICLE_LIST", articles=(ArticleRow("A"),), connector="NOT")),
        pair(
            row("ARTICLE_GROUP", article_group_id="fruit"),
            row("ARTICLE_GROUP", article_group_id="food", include_sub_groups=True, connector="NOT"),
        ),
        pair(row("MANUAL_DISCOUNT"), row("MANUAL_DISCOUNT", connector="NOT")),
        pair(
            row("TIME_WINDOW", time_from=time(8), time_to=time(10)),
            row("TIME_WINDOW", time_from=time(10), time_to=time(12)),
        ),
        pair(row("TIME_WINDOW", weekdays="SAT"), SUNDAY),
        pair(row("TIME_PERIOD", date_from=date(2026, 5, 2), date_to=date(2026, 5, 1))),
    ],
)
def test_conditions_that_can_never_hold_are_errors(rows: tuple[ConditionRow, ...]) -> None:
    (found,) = of(promotion("p", *rows, pos_groups=frozenset({"berlin"})))
    assert found.severity == "ERROR"
    assert found.code == ("CONDITIONS_CONTRADICT" if len(rows) > 1 else "CONDITION_NEVER_HOLDS")
    assert found.entity_id == rows[-1].id
    assert found.target is not None
    assert found.target.startswith("Conditions/")


@pytest.mark.parametrize(
    "rows",
    [
        pair(row("RECEIPT_AMOUNT", "100", operator="LTE"), row("RECEIPT_AMOUNT", "100")),
        pair(row("CUSTOMER_GROUP", values=("GOLD", "SILVER")), row("CUSTOMER_GROUP", values=("SILVER", "BRONZE"))),
        pair(row("ARTICLE", article_number="A"), row("ARTICLE", "B")),
        pair(row("CUSTOMER_GROUP", "GOLD", connector="NOT"), row("CUSTOMER_GROUP", "SILVER", connector="NOT")),
        pair(row("TIME_WINDOW", time_from=time(22), time_to=time(6), weekdays="SAT"), SUNDAY),
        pair(row("USER_DEFINED", "10", field_name="a"), row("USER_DEFINED", "20", field_name="b")),
        pair(row("USER_DEFINED", "10", field_name="a"), row("USER_DEFINED", "10.0", field_name="a")),
        pair(row("CREDIT_CARD_BIN", "41"), row("CREDIT_CARD_BIN", "4111")),
        pair(row("CUSTOMER", "GOLD", operator="BETWEEN", value_to="GOLD")),
        # Without a customer neither condition holds, so both are unmet.
        pair(
            row("CUSTOMER", "10", operator="GTE", connector="NOT"),
            row("CUSTOMER", "10", operator="LESS_THAN", connector="NOT"),
        ),
        pair(
            row("LOYALTY_ACCOUNT", "10", operator="GTE", connector="NOT"),
            row("LOYALTY_ACCOUNT", "10", operator="LESS_THAN", connector="NOT"),
        ),
    ],
)
def test_conditions_that_can_hold_are_not_reported(rows: tuple[ConditionRow, ...]) -> None:
    tenant = replace(TENANT, keeps_articles=False)
    assert of(promotion("p", *rows, pos_groups=frozenset({"berlin"})), tenant) == []


def test_amounts_that_earlier_promotions_reduce_do_not_contradict() -> None:
    rows = pair(
        row("ARTICLE", article_number="A", min_amount_hundredths=9000), row("RECEIPT_AMOUNT", "50", operator="LTE")
    )
    assert of(promotion("p", *rows, calculation_mode="MULTIPLICATIVE")) == []


def test_an_impossible_alternative_is_only_a_warning_while_another_can_hold() -> None:
    rows = pair(
        row("RECEIPT_AMOUNT", "100"),
        row("RECEIPT_AMOUNT", "50", operator="LESS_THAN"),
        row("CUSTOMER_GROUP", "GOLD", connector="OR"),
    )
    assert codes(promotion("p", *rows)) == [("WARNING", "CONDITIONS_CONTRADICT")]
    rows += (replace(row("CUSTOMER_GROUP", "SILVER"), id="c4", sequence=4),)
    found = codes(promotion("p", *rows))
    assert found == [("ERROR", "CONDITIONS_CONTRADICT")] * 2 + [("ERROR", "NEVER_APPLIES")]


def test_an_empty_range_of_an_additional_field_is_only_a_warning() -> None:
    rows = pair(row("USER_DEFINED", "100", operator="BETWEEN", value_to="50", field_name="a"))
    assert codes(promotion("p", *rows)) == [("WARNING", "CONDITION_UNLIKELY")]


@pytest.mark.parametrize(
    ("place", "valid_from", "days", "found"),
    [
        ("berlin", MONDAY, 5, ["CONDITION_OUTSIDE_VALIDITY"]),  # Monday to Friday
        ("berlin", MONDAY, 7, []),
        ("berlin", MONDAY - timedelta(minutes=1), 5, []),  # one minute of Sunday
        ("tokyo", MONDAY - timedelta(minutes=1), 5, ["CONDITION_OUTSIDE_VALIDITY"]),  # Monday morning there
    ],
)
def test_a_weekday_outside_the_validity_is_reported(
    place: str, valid_from: datetime, days: int, found: list[str]
) -> None:
    tenant = replace(TENANT, places={"berlin": BERLIN, "tokyo": PlaceSeen("tokyo", "JP", "JPY", "Asia/Tokyo", True)})
    made = promotion(
        "p", SUNDAY, pos_groups=frozenset({place}), valid_from=valid_from, valid_to=valid_from + days * DAY
    )
    assert [one.code for one in of(made, tenant) if one.severity == "ERROR"] == found


def test_a_time_window_in_the_hour_skipped_by_daylight_saving_is_reported() -> None:
    night = row("TIME_WINDOW", time_from=time(2, 15), time_to=time(2, 45))
    for day, found in ((date(2026, 3, 29), ["CONDITIONS_CONTRADICT"]), (date(2026, 3, 28), [])):
        only = replace(row("TIME_PERIOD", date_from=day, date_to=day), id="c2", sequence=2)
        assert [one.code for one in of(promotion("p", night, only, pos_groups=frozenset({"berlin"})))] == found


def test_a_day_whose_midnight_is_skipped_by_daylight_saving_is_checked_correctly() -> None:
    beirut = PlaceSeen("beirut", "LB", "LBP", "Asia/Beirut", True)
    tenant = replace(TENANT, places={"beirut": beirut})
    day = row("TIME_PERIOD", date_from=date(2026, 3, 29), date_to=date(2026, 3, 29), sequence=2)
    late = row("TIME_WINDOW", time_from=time(23), time_to=time(0))
    # From 23:30 the day before to 1:30, and the last hour of the day itself.
    for starts, is_found in (
        (datetime(2026, 3, 28, 21, 30, tzinfo=UTC), True),
        (datetime(2026, 3, 29, 20, tzinfo=UTC), False),
    ):
        made = promotion("p", late, replace(day, id="c2"), valid_from=starts, valid_to=starts + timedelta(hours=1))
        assert bool([one for one in of(made, tenant) if one.severity == "ERROR"]) == is_found


def test_a_period_in_the_past_is_reported() -> None:
    period = row("TIME_PERIOD", date_from=date(2026, 3, 10), date_to=date(2026, 3, 13))
    made = promotion("p", period, valid_from=AT - 30 * DAY, valid_to=AT + 30 * DAY)
    assert codes(made) == [("ERROR", "CONDITION_NO_MORE")]


def test_each_unreadable_condition_is_reported_with_its_field() -> None:
    made = promotion("p", row("CUSTOMER_GROUP"), row("RECEIPT_AMOUNT", "many", sequence=2))
    found = of(made)
    assert [(one.code, one.target, one.entity_id) for one in found] == [
        ("VALUE_REQUIRED", "Conditions/value", "c1"),
        ("NOT_A_NUMBER", "Conditions/value", "c2"),
    ]


def test_articles_missing_from_the_master_data_are_reported() -> None:
    made = promotion("p", row("ARTICLE", article_number="X"))
    assert codes(made) == [("WARNING", "ARTICLE_UNKNOWN")]
    assert codes(made, replace(TENANT, keeps_articles=False)) == []
    assert codes(promotion("p", row("ARTICLE", article_number="OLD"))) == [("WARNING", "ARTICLE_INACTIVE")]
    group = row("ARTICLE_GROUP", article_group_id="toys")
    assert codes(promotion("p", group)) == [("WARNING", "ARTICLE_GROUP_UNKNOWN")]
