"""Reports about the use of promotions: how often they were applied, when, where and to what, and their discounts.

An application is one promotion in one confirmed transaction. Days, hours and weekdays are local times of the POS group
that sold; weekday 1 is Monday. Amounts are those charged when sales were confirmed: a later return does not reduce
them.
"""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    Entity,
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
    "PromotionPerformanceByCurrency",
    "PromotionPostMortemTopArticles",
    "PromotionPostMortemTopStores",
    "PromotionTopArticles",
    "PromotionTopPosGroups",
    "PromotionUsageByDay",
    "PromotionUsageByDayAndHour",
    "PromotionUsageByDayOfWeek",
    "PromotionUsageByHour",
]

_COUNT = long_integer("Number of confirmed transactions to which it was applied, each counted once.")
_GIVEN = computed_amount("The discount charged.")
_APPLICATIONS = measured(Merge.SUM, _COUNT)
_TRANSACTIONS = measured(Merge.SUM, long_integer("Number of confirmed transactions."), adds_up=False)
_DISCOUNT = measured(Merge.SUM, _GIVEN)
_CURRENCY = currency_code("The currency of the amounts.", required=True)


class _Promotion(Fields):
    promotion_id = uuid("The promotion.")
    promotion_name = text(
        255, "Name of the promotion; if it is deleted, its name when it was last applied.", virtual=True
    )


class _State(Fields):
    promotion_status = text(30, "Current status; null: deleted.", virtual=True)
    promotion_type = text(30, "Type; null: deleted.", virtual=True)
    applications_count = measured(Merge.SUM, _COUNT, of="applications")


class _Averages(Fields):
    avg_discount_per_tx = decimal(18, 3, "Average discount per application.", virtual=True)
    first_applied_at = measured(
        Merge.LEAST,
        timestamp("Confirmation time of the first sale to which it was applied.", required=True),
        of="confirmed_at",
    )
    last_applied_at = measured(
        Merge.GREATEST,
        timestamp("Confirmation time of the last sale to which it was applied.", required=True),
        of="confirmed_at",
    )


class _TotalInOneCurrency(Fields):
    total_discount_given = measured(
        Merge.SUM_WITHIN,
        computed_amount("The discount charged; null: in several currencies, see PromotionPerformanceByCurrency."),
        of="total_discount",
        by="currency",
    )


class PromotionPerformance(
    _Averages, _TotalInOneCurrency, _State, _Promotion, Entity, reporting=RO, key=("promotion_id",)
):
    """The totals of each promotion that was ever applied; deleted promotions are included.

    To compare the amounts of promotions, filter by `currency`, or read PromotionPerformanceByCurrency.
    """

    currency = measured(
        Merge.SAME, currency_code("The currency of the amounts; null: several, and the amounts are null.")
    )
    logged_name = measured(
        Merge.LATEST,
        text(255, "Name when it was last applied.", required=True, hidden_from=EVERY_SERVICE),
        of="promotion_name",
        by="last_applied_at",
    )


class _Total(Fields):
    total_discount_given = measured(Merge.SUM, _GIVEN, of="total_discount")


class PromotionPerformanceByCurrency(
    _Averages, _Total, _State, _Promotion, Entity, reporting=RO, key=("promotion_id", "currency")
):
    """The totals of each promotion in each currency in which it was applied; deleted promotions are included."""

    currency = _CURRENCY


class _Usage(Fields):
    applications = _APPLICATIONS
    total_discount = _DISCOUNT
    transactions = _TRANSACTIONS
    currency = _CURRENCY


class _Day(Fields):
    day = calendar_date("The day.")


class _Hour(Fields):
    hour = integer("The hour, 0 to 23.", minimum=0, maximum=23)


class _Weekday(Fields):
    weekday = integer("The day of the week: 1 is Monday, 7 is Sunday.", minimum=1, maximum=7)


class PromotionUsageByDay(
    _Usage,
    _Day,
    _Promotion,
    Entity,
    reporting=RO,
    key=("day", "promotion_id", "currency"),
    indexes=(("promotion_id", "day", "currency"), ("total_discount",), ("promotion_id", "total_discount")),
):
    """The totals of a promotion for each day on which it was applied."""


class _ItsWeekday(Fields):
    weekday = measured(
        Merge.FIRST,
        integer("The day of the week: 1 is Monday, 7 is Sunday.", minimum=1, maximum=7, required=True),
    )


class PromotionUsageByDayAndHour(
    _Usage,
    _ItsWeekday,
    _Hour,
    _Day,
    _Promotion,
    Entity,
    reporting=RO,
    key=("day", "promotion_id", "hour", "currency"),
    indexes=(("promotion_id", "day"),),
):
    """The totals of a promotion for each hour of each day on which it was applied: hours of a period."""


class PromotionUsageByHour(_Usage, _Hour, _Promotion, Entity, reporting=RO, key=("promotion_id", "hour", "currency")):
    """The totals of a promotion for each hour of the day."""


class PromotionUsageByDayOfWeek(
    _Usage, _Weekday, _Promotion, Entity, reporting=RO, key=("promotion_id", "weekday", "currency")
):
    """The totals of a promotion for each day of the week."""


class _WeekHourSums(Fields):
    transactions = _TRANSACTIONS
    total_discount = _DISCOUNT
    currency = _CURRENCY


class PromotionHourOfDay(
    _WeekHourSums,
    _Hour,
    _Weekday,
    _Promotion,
    Entity,
    reporting=RO,
    key=("promotion_id", "weekday", "hour", "currency"),
    indexes=(("total_discount",), ("promotion_id", "total_discount")),
):
    """The totals of a promotion for each hour of the week: 168 rows; those without a sale have zeros."""


class _Buckets(Fields):
    bucket_from = computed_amount("Lower bound of the discount, inclusive.")
    bucket_to = measured(Merge.FIRST, computed_amount("Upper bound of the discount, exclusive.", required=True))
    transactions = _TRANSACTIONS
    currency = _CURRENCY


class PromotionDiscountDistribution(
    _Buckets, _Promotion, Entity, reporting=RO, key=("promotion_id", "bucket_from", "currency")
):
    """The number of transactions by the amount of a promotion's discount.

    Bounds are 0, 0.50, 1, 2, 5, 10, 20, 50 and so on; transactions that took back more than they gave are in buckets
    below zero, such as -1 to -0.50.
    """


class _PosGroup(Fields):
    pos_group_id = uuid("The POS group; null: sales without a POS group.")
    pos_group_code = text(20, "Its code; null: deleted.", virtual=True)
    pos_group_name = text(255, "Its name; null: deleted.", virtual=True)


class _Article(Fields):
    article_number = text(50, "Number of the article.", required=True)
    article_name = text(255, "Its name; null: deleted.", virtual=True)


class _Sums(Fields):
    total_discount = _DISCOUNT
    applications = _APPLICATIONS
    currency = _CURRENCY


class _SumsOfArticles(Fields):
    total_discount = _DISCOUNT
    applications = measured(Merge.SUM, _COUNT, adds_up=False)  # one may be to several articles
    currency = _CURRENCY


_RANKED = ("promotion_id", "currency", "rank")


class _Rank(Fields):
    rank = integer("Rank by total discount within the currency; 1 is the highest.")


class PromotionTopPosGroups(_Sums, _PosGroup, _Rank, _Promotion, Entity, reporting=RO, key=_RANKED, stored=False):
    """The 20 POS groups in which a promotion gave the largest discounts."""


class PromotionTopArticles(
    _SumsOfArticles, _Article, _Rank, _Promotion, Entity, reporting=RO, key=_RANKED, stored=False
):
    """The 20 articles on which a promotion gave the largest discounts, as they were allocated to lines."""


class _OfPostMortem(Fields):
    promotion_id = uuid("The promotion.", wire="promotion_ID")
    promotion_name = text(
        255, "Name of the promotion; if it is deleted, its name when it was last applied.", virtual=True
    )


class PromotionPostMortemTopStores(
    _Sums, _PosGroup, _Rank, _OfPostMortem, Entity, reporting=RO, key=_RANKED, stored=False
):
    """The ten POS groups in which a promotion gave the largest discounts."""


class PromotionPostMortemTopArticles(
    _SumsOfArticles, _Article, _Rank, _OfPostMortem, Entity, reporting=RO, key=_RANKED, stored=False
):
    """The ten articles on which a promotion gave the largest discounts, as they were allocated to lines."""
