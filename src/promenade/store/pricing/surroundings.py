"""What evaluation needs of a tenant besides promotions: settings, POS groups, coupon types, the article tree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Row, select

from odata_server.sql.connection import Kept
from promenade.engine.basket import PosGroupFact
from promenade.engine.view import NO_GROUPS, GroupTree
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import Places


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """The settings in Tenants that a sale uses; ``points_thousandths`` per currency unit of the net total."""

    strategy: str = "SEQUENTIAL"
    points_thousandths: int = 0
    nudges: bool = False
    refuses_unmatched_returns: bool = False
    barred_counts: bool = True
    excluded_counts: bool = True


@dataclass(frozen=True, slots=True)
class PosGroup:
    fact: PosGroupFact
    is_active: bool
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class CouponType:
    id: str
    name: str
    status: str
    generic_code: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    max_redemptions: int | None
    max_redemptions_per_customer: int | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All of it, read in one session; replaced as a whole when any part changes."""

    settings: TenantSettings = TenantSettings()
    pos_groups: Mapping[str, PosGroup] = field(default_factory=dict)  # by ID
    pos_groups_by_code: Mapping[str, PosGroup] = field(default_factory=dict)
    coupon_types: Mapping[str, CouponType] = field(default_factory=dict)  # by ID
    generic_codes: Mapping[str, CouponType] = field(default_factory=dict)  # by code
    article_tree: GroupTree = NO_GROUPS  # by groupId
    places: Places = field(default_factory=lambda: Places({}, {}))


async def load_surroundings(session: Session) -> Surroundings:
    """Read everything, one statement per table."""
    pos_groups = await _pos_groups(session)
    coupon_types = await _coupon_types(session)
    rows = await _article_groups(session)
    keys = {row.id: row.group_id for row in rows}
    return Surroundings(
        settings=await _settings(session),
        pos_groups=pos_groups,
        pos_groups_by_code={one.fact.code: one for one in pos_groups.values()},
        coupon_types=coupon_types,
        generic_codes={one.generic_code: one for one in coupon_types.values() if one.generic_code is not None},
        article_tree=GroupTree(
            {row.group_id: keys.get(row.parent_id) for row in rows},
            {row.group_id: row.never_discounted for row in rows if row.never_discounted is not None},
        ),
        places=Places(keys, _below(pos_groups)),
    )


async def load_places(session: Session) -> Places:
    """Read only the `Surroundings.places`."""
    keys = {row.id: row.group_id for row in await _article_groups(session)}
    return Places(keys, _below(await _pos_groups(session)))


async def _article_groups(session: Session) -> Sequence[Row[Any]]:
    return await session.execute(_all_of("ArticleGroups", "id", "group_id", "parent_id", "never_discounted"))


@cache
def _all_of(set_name: str, *columns: str) -> Kept:
    rows = table(set_name)
    return Kept(select(*[rows.c[name] for name in columns]))


def tree_hash(article_tree: GroupTree) -> str:
    """Return the identity of an article group tree: sha256 (64 hex digits) of its groups in order."""
    groups: list[Any] = sorted(article_tree.parents.items())
    told = [groups, sorted(article_tree.barred.items())] if article_tree.barred else groups
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


async def _settings(session: Session) -> TenantSettings:
    tenants = table("Tenants")
    rows = await session.execute(
        select(
            tenants.c.combination_strategy,
            tenants.c.points_per_currency_unit,
            tenants.c.enable_production_nudges,
            tenants.c.unmatched_returns,
            tenants.c.counts_towards_threshold,
            tenants.c.excluded_counts_towards_threshold,
        ).where(tenants.c.tenant_id == session.tenant)
    )
    if not rows:
        return TenantSettings()
    row = rows[0]
    points = row.points_per_currency_unit or 0
    return TenantSettings(
        strategy=row.combination_strategy,
        points_thousandths=int(points * 1000),
        nudges=bool(row.enable_production_nudges),
        refuses_unmatched_returns=row.unmatched_returns == "REFUSE",
        barred_counts=row.counts_towards_threshold is not False,
        excluded_counts=row.excluded_counts_towards_threshold is not False,
    )


async def _pos_groups(session: Session) -> dict[str, PosGroup]:
    rows = await session.execute(_all_of("PosGroups", "id", "code", "currency", "time_zone", "is_active", "parent_id"))
    return {
        row.id: PosGroup(
            PosGroupFact(row.id, row.code, row.currency, row.time_zone or "UTC"), bool(row.is_active), row.parent_id
        )
        for row in rows
    }


def _below(groups: Mapping[str, PosGroup]) -> dict[str, frozenset[str]]:
    """Return each group with itself and its subgroups; a cycle in the data ends where it closes."""
    below: dict[str, set[str]] = {key: {key} for key in groups}
    for key, group in groups.items():
        above, seen = group.parent_id, {key}
        while above is not None and above in groups and above not in seen:
            below[above].add(key)
            seen.add(above)
            above = groups[above].parent_id
    return {key: frozenset(members) for key, members in below.items()}


async def _coupon_types(session: Session) -> dict[str, CouponType]:
    types = table("CouponTypes")
    rows = await session.execute(select(types))
    return {
        row.id: CouponType(
            id=row.id,
            name=row.name,
            status=row.status,
            generic_code=row.generic_code if row.code_type == "GENERIC" else None,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
            max_redemptions=row.max_redemptions,
            max_redemptions_per_customer=row.max_redemptions_per_customer,
        )
        for row in rows
    }
