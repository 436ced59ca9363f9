"""Definitions of promotions as stored: frozen values that the store passes to the engine.

Numbers are scaled integers, never floats or Decimals:

- ``*_hundredths``  a Decimal(15,2) as stored: an amount at face value in major units (12.34 -> 1234),
  or a percentage (12.5 % -> 1250);
- ``*_thousandths`` a Decimal(15,3) quantity (1.5 -> 1500) or a Decimal(7,3) multiplier.

Codes (``condition_type``, ``action_type`` ...) are the code-list values (docs/reference/code-lists.md).
References to articles and article groups are business keys (articleNumber, groupId): the store resolves
``article_ID`` and ``articleGroup_ID`` before it builds a definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time


class DefinitionError(ValueError):
    """A definition that cannot run; raised when it is compiled, which activation does first.

    ``target`` is a path in wire names (``Conditions(2)/value``), ``code`` a stable upper-case code.
    """

    def __init__(self, target: str, code: str, message: str) -> None:
        super().__init__(message)
        self.target = target
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class ArticleRow:
    """One row of an article list; ``fixed_price_hundredths`` only on action lists."""

    article_number: str | None
    ean: str | None = None
    fixed_price_hundredths: int | None = None


@dataclass(frozen=True, slots=True)
class ConditionRow:
    id: str
    sequence: int
    connector: str  # AND, OR, NOT
    condition_type: str
    operator: str | None = None
    value_category: str | None = None
    value: str | None = None
    value_to: str | None = None
    article_number: str | None = None
    article_group_id: str | None = None
    include_sub_groups: bool = False
    manufacturer: str | None = None
    field_name: str | None = None
    min_quantity_thousandths: int | None = None
    min_amount_hundredths: int | None = None
    time_from: time | None = None
    time_to: time | None = None
    weekdays: str | None = None  # "MON,TUE"
    date_from: date | None = None
    date_to: date | None = None
    values: tuple[str, ...] = ()  # valueListItems
    articles: tuple[ArticleRow, ...] = ()  # articleListItems


@dataclass(frozen=True, slots=True)
class TierRow:
    """A scaled tier (``threshold_hundredths``: an amount) or a quantity tier (``min_quantity_thousandths``)."""

    sequence: int
    discount_type: str  # PERCENTAGE, ABSOLUTE, UNIT_PRICE
    discount_value_hundredths: int
    threshold_hundredths: int | None = None
    min_quantity_thousandths: int | None = None


@dataclass(frozen=True, slots=True)
class ComponentRow:
    id: str
    sequence: int
    quantity_thousandths: int
    article_number: str | None = None
    article_group_id: str | None = None
    include_sub_groups: bool = False
    discounted: bool = True


@dataclass(frozen=True, slots=True)
class ExclusionRow:
    exclusion_type: str  # ARTICLE, ARTICLE_GROUP, ARTICLE_LIST, MANUFACTURER, ADDITIONAL_FIELD, REDUCED, BETTER_REDUCED
    article_number: str | None = None
    article_group_id: str | None = None
    manufacturer: str | None = None
    articles: tuple[ArticleRow, ...] = ()
    field_name: str | None = None
    value: str | None = None  # of the field; None: any


@dataclass(frozen=True, slots=True)
class ActionRow:
    """A DiscountAction. Null discount fields of the row stay None; defaults are the benefit's business."""

    id: str
    sequence: int
    action_type: str
    discount_type: str | None = None
    discount_value_hundredths: int | None = None
    max_discount_hundredths: int | None = None
    target_article_number: str | None = None
    target_article_group_id: str | None = None
    include_sub_groups: bool = False
    target_article_list: bool = False
    selection_type: str | None = None
    application_quantity_mode: str | None = None
    application_quantity_thousandths: int | None = None
    target_coupon_type_id: str | None = None
    distribution_mode: str | None = None
    max_bundles: int | None = None
    free_item_article_number: str | None = None
    free_item_quantity_thousandths: int | None = None
    restrict_to_one_per_basket: bool = False
    free_item_reference_price_hundredths: int | None = None
    max_free_units_thousandths: int | None = None
    scaled_tiers: tuple[TierRow, ...] = ()
    quantity_tiers: tuple[TierRow, ...] = ()
    components: tuple[ComponentRow, ...] = ()
    articles: tuple[ArticleRow, ...] = ()
    exclusions: tuple[ExclusionRow, ...] = ()


@dataclass(frozen=True, slots=True)
class LoyaltyRow:
    id: str
    action_type: str  # ADD_FIXED, MULTIPLY_POINTS, CURRENCY_TO_POINTS, SUBTRACT_POINTS
    points_hundredths: int | None = None
    multiplier_thousandths: int | None = None
    currency_amount_hundredths: int | None = None
    target_scope: str = "ALL_ITEMS"
    target_article_number: str | None = None
    target_article_group_id: str | None = None
    include_sub_groups: bool = False
    max_points_hundredths: int | None = None
    articles: tuple[ArticleRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PriorityRow:
    """Membership in a priority group: the group's own priority (lower first) and the place within it."""

    group_id: str
    group_priority: int
    sequence: int


@dataclass(frozen=True, slots=True)
class ExclusionGroupRow:
    """Membership in a mutual-exclusion group; strategy HIGHEST_DISCOUNT or LOWEST_DISCOUNT."""

    group_id: str
    resolution_strategy: str


@dataclass(frozen=True, slots=True)
class PilotRow:
    """A pilot's configuration (pricing semantics, section 9). Group ids are PosGroups.ID."""

    config_id: str
    starts_at: datetime
    ends_at: datetime
    share_hundredths: int  # pilotShare: 100 = every pilot group
    control_group_size: int
    pilot_pos_groups: frozenset[str]
    control_pos_groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class PromotionDefinition:
    """A promotion with everything that decides its effect, including its campaign and links.

    ``pos_groups`` is the effective set after campaign and merge rules (section 2.3): empty = everywhere; the store
    expands a parent POS group to its children, so membership is a plain set test.
    ``campaign_window`` is (startAt, endAt) of its campaign; ``campaign_cancelled`` means it is never a candidate.
    Times are timezone-aware UTC. ``id`` and all ``*_id`` are lower-case UUID strings.
    """

    id: str
    name: str
    promotion_type: str = "ARTICLE"
    status: str = "ACTIVE"
    code: str | None = None
    version: int = 1
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    priority: int = 100
    exclusivity: str = "NONE"
    currency: str | None = None
    campaign_id: str | None = None
    campaign_window: tuple[datetime | None, datetime | None] | None = None
    campaign_cancelled: bool = False
    pos_groups: frozenset[str] = frozenset()
    priority_group: PriorityRow | None = None
    exclusion_group: ExclusionGroupRow | None = None
    calculation_mode: str = "ADDITIVE"
    rounding: str = "ROUND_HALF_UP"
    precision: int | None = None
    max_applications_per_transaction: int | None = None
    max_applications_per_customer: int | None = None
    max_applications_total: int | None = None
    is_experiment: bool = False
    control_group_id: str | None = None
    experiment_group_id: str | None = None
    pilot: PilotRow | None = None
    coupon_type_ids: frozenset[str] = frozenset()
    budget_ids: tuple[str, ...] = ()
    conditions: tuple[ConditionRow, ...] = ()
    actions: tuple[ActionRow, ...] = ()
    loyalty_actions: tuple[LoyaltyRow, ...] = ()
    counts_barred: bool | None = None  # whether goods that are never discounted count for conditions; None: as set
    counts_excluded: bool | None = None  # whether goods that its actions exclude do; None: as set
