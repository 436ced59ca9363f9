"""The basket to be priced, and the facts about it that the store supplies.

Units: ``*_hundredths`` and ``*_thousandths`` as in `definition`; ``*_minor`` are whole minor units of the
basket's currency (cents for EUR, yen for JPY, fils for KWD).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

FIRST_RULES = 1
"""The rules of pricing and advice from before they were numbered."""

RULES = 2
"""The rules now in force; a change of what a basket costs or is told counts them up (section 11)."""


@dataclass(frozen=True, slots=True)
class BasketLine:
    """One BasketItem. ``reference`` is present and unique in the basket (assigned by the edge when absent)."""

    reference: str
    article_number: str
    quantity_thousandths: int  # below zero: a returned line; never zero
    unit_price_hundredths: int
    ean: str | None = None
    article_group_id: str | None = None
    manufacturer_id: str | None = None
    fields: tuple[tuple[str, str], ...] = ()  # additionalFields
    regular_price_hundredths: int | None = None  # of a unit, before the till reduced it


@dataclass(frozen=True, slots=True)
class Customer:
    customer_id: str | None = None
    customer_group: str | None = None
    loyalty_card_number: str | None = None
    loyalty_tier: str | None = None
    loyalty_points: int | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    payment_means: str | None = None
    card_type: str | None = None
    card_prefix: str | None = None  # never more than the first 8 digits


@dataclass(frozen=True, slots=True)
class PosGroupFact:
    """The POS group that asks: its currency and time zone apply to all amounts and times."""

    id: str
    code: str
    currency: str
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Basket:
    transaction_id: str
    lines: tuple[BasketLine, ...]
    pos_group: PosGroupFact
    coupons: tuple[str, ...] = ()  # codes in the order presented, as sent
    customer: Customer | None = None
    payment: Payment | None = None
    channel: str | None = None
    user_fields: tuple[tuple[str, str], ...] = ()
    manual_discount: bool = False
    manual_discount_reason: str | None = None


@dataclass(frozen=True, slots=True)
class ArticleFact:
    """Master data of one article; ``unit`` decides whether a line is weighed.

    ``never_discounted``: why no promotion may take anything off it, a code; None: any may.
    """

    article_number: str
    ean: str | None = None
    name: str | None = None
    article_group_id: str | None = None
    manufacturer_id: str | None = None  # manufacturerId, else manufacturer
    unit: str | None = None
    base_price_hundredths: int | None = None
    currency: str | None = None
    never_discounted: str | None = None


@dataclass(frozen=True, slots=True)
class CouponFact:
    """What the store knows about one presented code. ``refusal`` is a reason of section 10, None = usable.

    ``uses_left`` limits how often the code may trigger (None = no limit); ``uses_left_of_customer`` likewise.
    """

    code: str
    coupon_type_id: str | None = None
    coupon_type_name: str | None = None
    coupon_id: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class BudgetFact:
    """What is left of a budget; ``status`` as of the evaluation's time (ACTIVE, EXHAUSTED, SHARE, other).

    SHARE: it is a store's part of a budget that may have more, but the cloud cannot be asked for it.
    """

    id: str
    status: str
    remaining_minor: int
    currency: str


@dataclass(frozen=True, slots=True)
class UsageFact:
    """How many confirmed transactions a promotion applied to: of all customers, and of this one.

    ``is_share``: the limit is a store's part of one that may have more, but the cloud cannot be asked for it.
    """

    total: int = 0
    by_customer: int = 0
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class RefundShare:
    """``count`` returned units that each carried ``amount_minor`` of a promotion's discount (a weighed line: 1)."""

    promotion_id: str
    count: int
    amount_minor: int


@dataclass(frozen=True, slots=True)
class Refund:
    """What a return line that names its sale gives back, by the books at the time of the evaluation (section 11).

    ``status``: MATCHED, UNKNOWN_SALE, NOT_CONFIRMED, UNKNOWN_LINE, OVER_RETURNED or WRONG_CURRENCY. ``amount_minor`` is
    what was paid for the units; None: the books cannot tell, the till's own price counts.
    """

    line_reference: str
    status: str
    amount_minor: int | None = None
    discount_minor: int = 0
    shares: tuple[RefundShare, ...] = ()
    points: int = 0
    budget_minor: int = 0
    left_thousandths: int | None = None  # OVER_RETURNED: how much was left to return


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything outside the catalogue and the basket that the answer depends on; stored for replay."""

    articles: Mapping[str, ArticleFact] = field(default_factory=dict)  # by articleNumber
    articles_by_ean: Mapping[str, ArticleFact] = field(default_factory=dict)
    coupons: tuple[CouponFact, ...] = ()  # one per presented code, same order
    budgets: Mapping[str, BudgetFact] = field(default_factory=dict)
    usage: Mapping[str, UsageFact] = field(default_factory=dict)  # by promotion id
    refunds: tuple[Refund, ...] = ()  # of the return lines that name their sale, in the order of the basket


@dataclass(frozen=True, slots=True)
class Settings:
    """The tenant's settings and the request's switches that evaluation heeds."""

    now: datetime  # timezone-aware; the request's timestamp, else the edge's clock
    strategy: str = "SEQUENTIAL"  # or BEST_DEAL
    points_per_currency_unit_thousandths: int = 0
    include_inactive: bool = False
    include_missed: bool = False
    nudges: bool = False  # enableProductionNudges: thresholdGaps and nudges
    barred_counts: bool = True  # whether goods that are never discounted count for conditions
    excluded_counts: bool = True  # whether goods that the actions of a promotion exclude do
    rules: int = RULES  # a replay prices by the rules that were in force when the basket was priced


@dataclass(frozen=True, slots=True)
class StoredSettings(Settings):
    """Settings as stored with an iteration: those from before rules were numbered have no number."""

    rules: int = FIRST_RULES
