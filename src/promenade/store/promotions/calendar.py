"""PromotionsCalendar: an entity without a table, read from promotions, their campaigns and their POS groups."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from promenade.store.driver.schema import table
from promenade.store.driver.types import Json


@cache
def promotions_calendar() -> sa.FromClause:
    """Return the query of PromotionsCalendar: one row per promotion, with the Python names as columns.

    ``id`` is the promotion's. ``starts_at`` and ``ends_at`` are the promotion's validity intersected with its
    campaign's, null where neither has a limit; if the two do not overlap, ``starts_at`` is after ``ends_at``.
    ``pos_groups`` are the codes that decide where it runs (pricing semantics, section 2.3), sorted, without descendant
    groups; an empty list means everywhere. The query reads plain tables, so the tenant filter applies as usual.
    """
    promotions, campaigns = table("Promotions"), table("Campaigns")
    with_campaigns = promotions.outerjoin(campaigns, _refers(promotions.c.campaign_id, promotions, campaigns))
    return (
        sa.select(
            promotions.c.id.label("id"),
            promotions.c.id.label("promotion_id"),
            promotions.c.name.label("promotion_name"),
            promotions.c.status.label("status"),
            promotions.c.type.label("type"),
            _later(promotions.c.valid_from, campaigns.c.start_at).label("starts_at"),
            _earlier(promotions.c.valid_to, campaigns.c.end_at).label("ends_at"),
            promotions.c.campaign_id.label("campaign_id"),
            campaigns.c.code.label("campaign_code"),
            _pos_groups(promotions, campaigns).label("pos_groups"),
            promotions.c.tenant_id.label("tenant_id"),
        )
        .select_from(with_campaigns)
        .subquery("promotions_calendar")
    )


def _refers(column: sa.ColumnElement[Any], source: sa.FromClause, target: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return the condition that ``column`` of ``source`` refers to ``target``; it includes the tenant, as keys do."""
    return (target.c.tenant_id == source.c.tenant_id) & (target.c.id == column)


def _later(one: sa.ColumnElement[Any], other: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Return the later of two times, where null is no limit: the databases' own functions treat nulls differently."""
    return sa.case((other.is_(None) | (one >= other), one), else_=other)


def _earlier(one: sa.ColumnElement[Any], other: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.case((other.is_(None) | (one <= other), one), else_=other)


def _pos_groups(promotions: sa.Table, campaigns: sa.Table) -> sa.ColumnElement[Any]:
    """Return the POS group codes of one promotion as a JSON list."""
    own, campaigns_own, groups = table("PromotionPosGroups"), table("CampaignPosGroups"), table("PosGroups")
    any_of_campaign = table("CampaignPosGroups").alias("any_of_campaign")
    campaign_decides = (
        sa.select(sa.literal_column("1"))
        .select_from(any_of_campaign)
        .where(
            any_of_campaign.c.tenant_id == campaigns.c.tenant_id,
            any_of_campaign.c.campaign_id == campaigns.c.id,
            campaigns.c.merge_promotion_pos_groups.is_(sa.false()),
        )
        .correlate(campaigns)
        .exists()
    )
    of_promotion = (
        sa.select(own.c.tenant_id, own.c.pos_group_id)
        .where(own.c.tenant_id == promotions.c.tenant_id, own.c.promotion_id == promotions.c.id, ~campaign_decides)
        .correlate(promotions, campaigns)
    )
    of_campaign = (
        sa.select(campaigns_own.c.tenant_id, campaigns_own.c.pos_group_id)
        .where(campaigns_own.c.tenant_id == campaigns.c.tenant_id, campaigns_own.c.campaign_id == campaigns.c.id)
        .correlate(promotions, campaigns)
    )
    places = sa.union(of_promotion, of_campaign).subquery("places")
    # Each looked up by its key: given the choice, either database may scan all POS groups for every promotion.
    code = (
        sa.select(groups.c.code)
        .where(_refers(places.c.pos_group_id, places, groups))
        .correlate(places)
        .scalar_subquery()
        .label("code")
    )
    in_order = sa.select(code).select_from(places).order_by(code).subquery("in_order")
    return sa.type_coerce(sa.select(_JsonList(in_order.c.code)).scalar_subquery(), Json())


class _JsonList(FunctionElement[Any]):
    """The values of a group as a sorted JSON list; an empty group gives an empty list.

    SQLite before 3.44 cannot order inside an aggregate, so there the values must arrive in order.
    """

    inherit_cache = True
    type = Json()


@compiles(_JsonList)
def _in_order_of_reading(element: _JsonList, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_group_array({compiler.process(element.clauses, **kw)})"


@compiles(_JsonList, "postgresql")
def _ordered(element: _JsonList, compiler: SQLCompiler, **kw: Any) -> str:
    values = compiler.process(element.clauses, **kw)
    return f"coalesce(json_agg({values} ORDER BY {values})::text, '[]')"
