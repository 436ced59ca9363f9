"""Reads promotions and all their child rows, with one statement per table whatever their number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, select

from promenade.store.driver.recurring import among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

# ARCHIVED and EXPIRED promotions are never candidates, not even for `includeInactive`.
LOADED_STATUSES = ("ACTIVE", "PILOT", "DRAFT", "PENDING_APPROVAL", "APPROVED", "REJECTED", "INACTIVE")

NAMED_MAX = 10_000  # for more IDs than this, everything is read

Rows = Mapping[str, Sequence[Row[Any]]]


@dataclass(frozen=True, slots=True)
class Parts:
    """The rows that make up promotions: children by their parent's ID, the others by their own ID."""

    conditions: Rows
    condition_values: Rows
    condition_articles: Rows
    actions: Rows
    scaled_tiers: Rows
    quantity_tiers: Rows
    components: Rows
    action_articles: Rows
    exclusions: Rows
    exclusion_articles: Rows
    loyalty_actions: Rows
    loyalty_articles: Rows
    pos_groups: Rows
    configs: Rows
    memberships: Rows  # PriorityGroupPromotions
    priority_groups: Mapping[str, Row[Any]]
    exclusion_groups: Mapping[str, Row[Any]]
    campaigns: Mapping[str, Row[Any]]
    article_numbers: Mapping[str, str]  # by Articles.ID, for rows that refer to their article only by it
    campaign_pos_groups: Rows
    pilots: Rows
    pilot_pos_groups: Rows
    control_pos_groups: Rows
    coupon_types: Rows
    budgets: Rows

    def article_links(self) -> Iterator[tuple[str, str]]:
        """Yield (Articles.ID, promotion ID) for references to articles by ID alone: the article's number may change."""
        promotion_of: dict[str, str] = {}
        for row in _every(self.conditions):
            if row.article_id is not None and row.article_number is None:
                yield row.article_id, row.promotion_id
        for row in _every(self.actions):
            promotion_of[row.id] = row.promotion_id
            if row.target_article_id is not None and row.target_article_number is None:
                yield row.target_article_id, row.promotion_id
        for row in _every(self.components):
            if row.article_id is not None and row.article_number is None and row.action_id in promotion_of:
                yield row.article_id, promotion_of[row.action_id]


async def read_rows(session: Session, ids: Collection[str] | None) -> Sequence[Row[Any]]:
    """Read the tenant's promotions in one of `LOADED_STATUSES`, all or those in ``ids``."""
    promotions = table("Promotions")
    return await _among(session, promotions, "id", ids, _loaded)


async def read_rows_in_any_status(session: Session, ids: Collection[str]) -> Sequence[Row[Any]]:
    """Read the tenant's promotions in ``ids``."""
    return await _among(session, table("Promotions"), "id", ids)


def _loaded(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows).where(rows.c.status.in_(LOADED_STATUSES) & condition)


async def read_parts(session: Session, ids: Collection[str] | None) -> Parts:
    """Read all child and referenced rows of the promotions in ``ids``, or of all promotions."""

    async def children(name: str, parent: str, parents: Collection[str] | None = ids) -> Rows:
        return _by(parent, await _among(session, table(name), parent, parents))

    def found(of: Rows) -> Collection[str] | None:
        return None if ids is None else [row.id for row in _every(of)]

    conditions = await children("Conditions", "promotion_id")
    actions = await children("DiscountActions", "promotion_id")
    loyalty_actions = await children("LoyaltyActions", "promotion_id")
    of_conditions, of_actions = found(conditions), found(actions)
    exclusions = await children("ActionExclusions", "action_id", of_actions)
    pilots = await children("PromotionPilotConfigs", "promotion_id")
    memberships = await children("PriorityGroupPromotions", "promotion_id")
    groups = None if ids is None else {row.priority_group_id for row in _every(memberships)}
    campaigns = await _named(session, "Campaigns", "campaign_id", ids)
    parts = Parts(
        conditions=conditions,
        condition_values=await children("ConditionValueListItems", "condition_id", of_conditions),
        condition_articles=await children("ConditionArticleListItems", "condition_id", of_conditions),
        actions=actions,
        scaled_tiers=await children("ActionScaledTiers", "action_id", of_actions),
        quantity_tiers=await children("ActionQuantityTiers", "action_id", of_actions),
        components=await children("BundleComponents", "action_id", of_actions),
        action_articles=await children("ActionArticleListItems", "action_id", of_actions),
        exclusions=exclusions,
        exclusion_articles=await children("ActionExclusionArticleListItems", "exclusion_id", found(exclusions)),
        loyalty_actions=loyalty_actions,
        loyalty_articles=await children("LoyaltyActionArticleListItems", "loyalty_action_id", found(loyalty_actions)),
        pos_groups=await children("PromotionPosGroups", "promotion_id"),
        configs=await children("CalculationConfigs", "promotion_id"),
        memberships=memberships,
        priority_groups={row.id: row for row in await _among(session, table("PriorityGroups"), "id", groups)},
        exclusion_groups=await _named(session, "MutualExclusionGroups", "mutual_exclusion_group_id", ids),
        campaigns=campaigns,
        article_numbers={},
        campaign_pos_groups=await children("CampaignPosGroups", "campaign_id", None if ids is None else campaigns),
        pilots=pilots,
        pilot_pos_groups=await children("PilotPosGroups", "config_id", found(pilots)),
        control_pos_groups=await children("ControlPosGroups", "config_id", found(pilots)),
        coupon_types=await children("CouponTypePromotions", "promotion_id"),
        budgets=await children("BudgetPromotions", "promotion_id"),
    )
    return await _with_articles(session, parts)


async def _with_articles(session: Session, parts: Parts) -> Parts:
    """Return ``parts`` with the numbers of articles that are referenced only by their ID; usually there are none."""
    linked = {article for article, _ in parts.article_links()}
    if not linked:
        return parts
    articles = table("Articles")
    rows = await _among(session, articles, "id", linked if len(linked) <= NAMED_MAX else None, _numbers)
    return replace(parts, article_numbers={row.id: row.article_number for row in rows})


async def _named(session: Session, name: str, column: str, ids: Collection[str] | None) -> Mapping[str, Row[Any]]:
    """Read the rows that the promotions in ``ids`` refer to in a column; for all promotions, the whole table."""
    rows, promotions = table(name), table("Promotions")
    if ids is None:
        return {row.id: row for row in await session.execute(select(rows))}
    if not ids:
        return {}
    found = among((promotions.c.id,), list(ids), _named_by, rows, promotions.c[column])
    return {row.id: row for row in await session.execute(*found)}


def _numbers(condition: ColumnElement[bool], articles: Table) -> Select[Any]:
    return select(articles.c.id, articles.c.article_number).where(condition)


def _whole(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows).where(condition)


def _named_by(condition: ColumnElement[bool], rows: Table, column: ColumnElement[Any]) -> Select[Any]:
    """Select the rows that promotions matching ``condition`` refer to in ``column``."""
    return select(rows).where(rows.c.id.in_(select(column).where(condition)))


async def _among(
    session: Session,
    rows: Table,
    column: str,
    values: Collection[str] | None,
    build: Callable[..., Select[Any]] = _whole,
) -> Sequence[Row[Any]]:
    """Read rows whose ``column`` is among ``values``; None: all. Nothing is read if there are no values."""
    if values is None:
        return await session.execute(build(rows.c[column].is_not(None), rows))
    if not values:
        return ()
    return await session.execute(*among((rows.c[column],), list(values), build, rows))


def _by(parent: str, rows: Sequence[Row[Any]]) -> Rows:
    grouped: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        grouped[getattr(row, parent)].append(row)
    return grouped


def _every(rows: Rows) -> Iterator[Row[Any]]:
    return (row for siblings in rows.values() for row in siblings)
