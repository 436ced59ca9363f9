"""Reports about the use of promotions: how often they were applied, when, where and to what, and their discounts.

An application is one promotion in one confirmed transaction. Days, hours and weekdays are local times of the POS group
that sold; weekday 1 is Monday. Amounts are those charged when sales were confirmed: a later return does not reduce
them.
"""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    Entity,
    Field,
    Fields,
    calendar_date,
    computed_amount,
    currency_code,
    decimal,
    integer,
    long_integer,
    text,
    timestamp,
    uuid,
)
from promenade.model.measures import Merge
from promenade.model.shape import EVERY_SERVICE, measured

__all__ = [
    "PromotionDiscountDistribution",
    "PromotionHourOfDay",
    "PromotionPerformance",
    "PromotionPostMortemTopArticles",
    "PromotionPostMortemTopStores",
    "PromotionTopArticles",
    "PromotionTopPosGroups",
    "PromotionUsageByDay",
    "PromotionUsageByDayOfWeek",
    "PromotionUsageByHour",
]

_APPLICATIONS = "Number of confirmed transactions to which it was applied, each counted once."
_GIVEN = "The discount charged."


def _applications() -> Field:
    return measured(Merge.SUM, long_integer(_APPLICATIONS, required=True, read_only=True))


def _transactions() -> Field:
    return measured(Merge.SUM, long_integer("Number of confirmed transactions.", required=True, read_only=True))


def _given() -> Field:
    return measured(Merge.SUM, computed_amount(_GIVEN, required=True))


def _currency() -> Field:
    return currency_code("The currency of the amounts.", required=True, read_only=True)


class PromotionPerformance(Entity, reporting=RO, key=("promotion_id",), managed=False):
    """The totals of each promotion that was ever applied; deleted promotions are included."""

    promotion_id = uuid("The promotion.", required=True, read_only=True)
    promotion_name = text(
        255, "Name of the promotion; if it is deleted, its name when it was last applied.", virtual=True
    )
    promotion_status = text(30, "Current status; null: deleted.", virtual=True)
    promotion_type = text(30, "Type; null: deleted.", virtual=True)
    applications_count = measured(
        Merge.SUM, long_integer(_APPLICATIONS, required=True, read_only=True), of="applications"
    )
    total_discount_given = measured(Merge.SUM, computed_amount(_GIVEN, required=True), of="total_discount")
    avg_discount_per_tx = decimal(18, 3, "Average discount per application.", virtual=True)
    first_applied_at = measured(
        Merge.LEAST,
        timestamp("Confirmation time of the first sale to which it was applied.", required=True, read_only=True),
        of="confirmed_at",
    )
    last_applied_at = measured(
        Merge.GREATEST,
        timestamp("Confirmation time of the last sale to which it was applied.", required=True, read_only=True),
        of="confirmed_at",
    )
    currency = measured(
        Merge.SAME,
        currency_code("The currency of the amounts; null: several currencies, added at face value.", read_only=True),
    )
    logged_name = measured(
        Merge.LATEST,
        text(255, "Name when it was last applied.", required=True, read_only=True,
             hidden_from=EVERY_SERVICE),
        of="promotion_name",
        by="last_applied_at",
    )  # fmt: skip


class _Promotion(Fields):
    promotion_id = uuid("The promotion.", required=True, read_only=True)
    promotion_name = text(
        255, "Name of the promotion; if it is deleted, its name when it was last applied.", virtual=True
    )


class _Usage(Fields):
    applications = _applications()
    total_discount = _given()
    transactions = _transactions()
    currency = _currency()


class _Day(Fields):
    day = calendar_date("The day.", required=True, read_only=True)


class _Hour(Fields):
    hour = integer("The hour, 0 to 23.", required=True, read_only=True, minimum=0, maximum=23)


class _Weekday(Fields):
    weekday = integer(
        "The day of the week: 1 is Monday, 7 is Sunday.", required=True, read_only=True, minimum=1, maximum=7
    )


class PromotionUsageByDay(
    _Usage,
    _Day,
    _Promotion,
    Entity,
    reporting=RO,
    key=("day", "promotion_id", "currency"),
    indexes=(("promotion_id", "day", "currency"), ("total_discount",), ("promotion_id", "total_discount")),
    managed=False,
):
    """The totals of a promotion for each day on which it was applied."""


class PromotionUsageByHour(
    _Usage, _Hour, _Promotion, Entity, reporting=RO, key=("promotion_id", "hour", "currency"), managed=False
):
    """The totals of a promotion for each hour of the day."""


class PromotionUsageByDayOfWeek(
    _Usage, _Weekday, _Promotion, Entity, reporting=RO, key=("promotion_id", "weekday", "currency"), managed=False
):
    """The totals of a promotion for each day of the week."""


class _WeekHourSums(Fields):
    transactions = _transactions()
    total_discount = _given()
    currency = _currency()


class PromotionHourOfDay(
    _WeekHourSums,
    _Hour,
    _Weekday,
    _Promotion,
    Entity,
    reporting=RO,
    key=("promotion_id", "weekday", "hour", "currency"),
    indexes=(("total_discount",), ("promotion_id", "total_discount")),
    managed=False,
):
    """The totals of a promotion for each hour of the week: 168 rows; those without a sale have zeros."""


class _Buckets(Fields):
    bucket_from = computed_amount("Lower bound of the discount, inclusive.", required=True)
    bucket_to = measured(Merge.FIRST, computed_amount("Upper bound of the discount, exclusive.", required=True))
    transactions = _transactions()
    currency = _currency()


class PromotionDiscountDistribution(
    _Buckets, _Promotion, Entity, reporting=RO, key=("promotion_id", "bucket_from", "currency"), managed=False
):
    """The number of transactions by the amount of a promotion's discount.

    Bounds are 0, 0.50, 1, 2, 5, 10, 20, 50 and so on; transactions that took back more than they gave are in buckets
    below zero, such as -1 to -0.50.
    """


class _PosGroup(Fields):
    pos_group_id = uuid("The POS group; null: sales without a POS group.", read_only=True)
    pos_group_code = text(20, "Its code; null: deleted.", virtual=True)
    pos_group_name = text(255, "Its name; null: deleted.", virtual=True)


class _Article(Fields):
    article_number = text(50, "Number of the article.", required=True, read_only=True)
    article_name = text(255, "Its name; null: deleted.", virtual=True)


class _Sums(Fields):
    total_discount = _given()
    applications = _applications()
    currency = _currency()


class _Rank(Fields):
    rank = integer("Rank by total discount within the currency; 1 is the highest.", required=True, read_only=True)


class PromotionTopPosGroups(
    _Sums,
    _PosGroup,
    _Rank,
    _Promotion,
    Entity,
    reporting=RO,
    key=("promotion_id", "currency", "rank"),
    managed=False,
    stored=False,
):
    """The 20 POS groups in which a promotion gave the largest discounts."""


class PromotionTopArticles(
    _Sums,
    _Article,
    _Rank,
    _Promotion,
    Entity,
    reporting=RO,
    key=("promotion_id", "currency", "rank"),
    managed=False,
    stored=False,
):
    """The 20 articles on which a promotion gave the largest discounts, as they were allocated to lines."""


class _OfPostMortem(Fields):
    promotion_id = uuid("The promotion.", required=True, read_only=True, wire="promotion_ID")
    promotion_name = text(
        255, "Name of the promotion; if it is deleted, its name when it was last applied.", virtual=True
    )


class PromotionPostMortemTopStores(
    _Sums,
    _PosGroup,
    _Rank,
    _OfPostMortem,
    Entity,
    reporting=RO,
    key=("promotion_id", "currency", "rank"),
    managed=False,
    stored=False,
):
    """The ten POS groups in which a promotion gave the largest discounts."""


class PromotionPostMortemTopArticles(
    _Sums,
    _Article,
    _Rank,
    _OfPostMortem,
    Entity,
    reporting=RO,
    key=("promotion_id", "currency", "rank"),
    managed=False,
    stored=False,
):
    """The ten articles on which a promotion gave the largest discounts, as they were allocated to lines."""
