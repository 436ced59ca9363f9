"""Reads for the check of a promotion: the promotion in any status, and the tenant's data it depends on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select

from promenade.engine.definition import PromotionDefinition
from promenade.engine.inspection import ArticleSeen, BudgetSeen, CouponTypeSeen, PlaceSeen, Tenant
from promenade.store.authoring.statements import read_rows
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import PromotionRows
from promenade.store.pricing.facts import ALL_CUSTOMERS, read_budgets, read_usage
from promenade.store.pricing.promotion_rows import read_parts
from promenade.store.pricing.surroundings import CouponType, Surroundings

NUMBERS_AT_ONCE = 5_000  # per statement
ARTICLES_MAX = 20_000  # articles looked up per promotion; if it has more, none is reported as unknown


@dataclass(frozen=True, slots=True)
class Articles:
    """Known articles by number and by EAN."""

    by_number: Mapping[str, ArticleSeen]
    by_ean: Mapping[str, ArticleSeen]


@dataclass(frozen=True, slots=True)
class Subject:
    """A promotion to be checked, and the tenant's data it depends on."""

    definition: PromotionDefinition
    tenant: Tenant


async def read_subject(session: Session, promotion_id: str, surroundings: Surroundings, at: datetime) -> Subject | None:
    """Read the promotion with its references; None: it does not exist. The number of statements is fixed."""
    promotions = table("Promotions")
    rows = await session.execute(select(promotions).where(promotions.c.id == promotion_id))
    if not rows:
        return None
    read = PromotionRows(rows, await read_parts(session, [promotion_id]))
    definition = read.definitions(surroundings.places)[promotion_id]
    usage = await read_usage(session.hot, session.tenant or "", [promotion_id], None)
    numbers, eans = _named(definition)
    is_told = len(numbers) + len(eans) <= ARTICLES_MAX
    group_keys = surroundings.places.group_keys
    articles = await read_seen_articles(session, numbers[:ARTICLES_MAX], eans[:ARTICLES_MAX], group_keys)
    known = table("Articles")
    tenant = Tenant(
        at=at,
        places=_places(surroundings),
        budgets=await _budgets(session, definition.budget_ids, at),
        coupon_types=await _coupon_types(session, definition.coupon_type_ids, surroundings, at),
        articles=articles.by_number,
        eans=articles.by_ean,
        tree=surroundings.article_tree,
        keeps_articles=is_told and bool(await session.execute(select(known.c.id).limit(1))),
        applications=usage[promotion_id].total if promotion_id in usage else 0,
        strategy=surroundings.settings.strategy,
        barred_counts=surroundings.settings.barred_counts,
        excluded_counts=surroundings.settings.excluded_counts,
    )
    return Subject(definition, tenant)


def _places(surroundings: Surroundings) -> dict[str, PlaceSeen]:
    return {
        key: PlaceSeen(key, one.fact.code, one.fact.currency, one.fact.time_zone, one.is_active)
        for key, one in surroundings.pos_groups.items()
    }


def _named(definition: PromotionDefinition) -> list[list[str]]:
    """Return all article numbers and EANs that the promotion refers to."""
    listed = [item for row in definition.conditions for item in row.articles]
    numbers = [row.article_number for row in definition.conditions]
    # An ARTICLE condition may also name its articles by value.
    values = [[row.value, *row.values] for row in definition.conditions if row.condition_type.startswith("ARTICLE")]
    numbers += [text for texts in values for text in texts]
    for row in definition.actions:
        numbers += [row.target_article_number, row.free_item_article_number]
        numbers += [part.article_number for part in row.components]
        listed += row.articles
    numbers += [item.article_number for item in listed]
    eans = [item.ean for item in listed]
    return [list(dict.fromkeys([one for one in each if one])) for each in (numbers, eans)]


async def read_seen_articles(
    session: Session, numbers: Collection[str], eans: Collection[str], group_keys: Mapping[str, str]
) -> Articles:
    """Read article master data; of several articles that share an EAN, one that is sold takes precedence."""
    articles = table("Articles")
    columns = (articles.c.article_number, articles.c.ean, articles.c.article_group_key, articles.c.article_group_id)
    more = (articles.c.manufacturer_id, articles.c.manufacturer, articles.c.is_active, articles.c.never_discounted)
    statement = select(*columns, *more)
    found: dict[str, ArticleSeen] = {}
    for column, values in ((articles.c.article_number, list(numbers)), (articles.c.ean, list(eans))):
        for start in range(0, len(values), NUMBERS_AT_ONCE):
            wanted = column.in_(values[start : start + NUMBERS_AT_ONCE])
            for row in await session.execute(statement.where(wanted).order_by(articles.c.article_number)):
                group = row.article_group_key or group_keys.get(row.article_group_id)
                maker = row.manufacturer_id or row.manufacturer
                found[row.article_number] = ArticleSeen(
                    row.article_number, row.ean, group, maker, bool(row.is_active), row.never_discounted
                )
    by_ean: dict[str, ArticleSeen] = {}
    for one in found.values():
        if one.ean and (one.ean not in by_ean or not by_ean[one.ean].is_active):
            by_ean[one.ean] = one
    return Articles(found, by_ean)


async def _budgets(session: Session, ids: Collection[str], at: datetime) -> dict[str, BudgetSeen]:
    if not ids:
        return {}
    facts = await read_budgets(session.hot, session.tenant or "", ids, at)
    rows = {row["id"]: row for row in await read_rows(session, "Budgets", "id", set(ids))}
    return {
        key: BudgetSeen(
            key,
            rows[key]["name"] or rows[key]["code"] or "",
            fact.status,
            fact.currency,
            fact.remaining_minor <= 0,
            rows[key]["valid_from"],
            rows[key]["valid_to"],
        )
        for key, fact in facts.items()
        if key in rows
    }


async def _coupon_types(
    session: Session, ids: Collection[str], surroundings: Surroundings, at: datetime
) -> dict[str, CouponTypeSeen]:
    if not ids:
        return {}
    rows = await session.hot("coupon usage", (session.tenant or "", sorted(ids), [ALL_CUSTOMERS]))
    used = {row[0]: row[2] for row in rows}
    found: dict[str, CouponTypeSeen] = {}
    for key in sorted(ids):
        kind = surroundings.coupon_types.get(key)
        if kind is not None:
            found[key] = await _coupon_type(session, kind, used.get(key, 0), at)
    return found


async def _coupon_type(session: Session, kind: CouponType, used: int, at: datetime) -> CouponTypeSeen:
    has_code = kind.generic_code is not None or await _has_code(session, kind.id, ("ACTIVE", "RESERVED"), at)
    is_limited = kind.max_redemptions_per_customer is not None and kind.max_redemptions_per_customer <= 0
    return CouponTypeSeen(
        kind.id,
        kind.name,
        kind.status,
        kind.valid_from,
        kind.valid_to,
        has_code=has_code,
        has_stock=not has_code and await _has_code(session, kind.id, ("CREATED",), at),
        is_used_up=is_limited or (kind.max_redemptions is not None and used >= kind.max_redemptions),
    )


async def _has_code(session: Session, type_id: str, statuses: Collection[str], at: datetime) -> bool:
    """Return whether a code in one of these statuses exists that is neither expired nor spent."""
    codes = table("CouponCodes")
    for status in statuses:
        wanted: ColumnElement[bool] = (codes.c.coupon_type_id == type_id) & (codes.c.status == status)
        wanted &= codes.c.redeemed_transaction_id.is_(None)
        wanted &= or_(codes.c.valid_until.is_(None), codes.c.valid_until > at)
        if await session.execute(select(codes.c.id).where(wanted).limit(1)):
            return True
    return False
