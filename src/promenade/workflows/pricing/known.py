"""What pricing takes from the tenant's catalogue: the POS group that asks, the settings, the articles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from promenade.engine.basket import ArticleFact, BasketLine, Settings
from promenade.engine.evaluation import Selection
from promenade.errors import Invalid, Unavailable
from promenade.store.pricing.articles import read_articles
from promenade.store.pricing.catalogue import TenantCatalogue
from promenade.store.pricing.surroundings import PosGroup
from promenade.workflows.context import Context


class NamesPosGroup(Protocol):
    """A request that names its POS group by ID, code or both."""

    @property
    def pos_group_id(self) -> str | None: ...

    @property
    def pos_group_code(self) -> str | None: ...


def changing() -> Unavailable:
    """The error of who kept pricing while the catalogue kept changing."""
    return Unavailable("CATALOGUE_CHANGING", "Promotions kept changing while the basket was being priced; try again.")


def settings_of(known: TenantCatalogue, at: datetime) -> Settings:
    """Return the tenant's settings for a price at a time, without advice."""
    own = known.surroundings.settings
    return Settings(
        now=at,
        strategy=own.strategy,
        points_per_currency_unit_thousandths=own.points_thousandths,
        barred_counts=own.barred_counts,
        excluded_counts=own.excluded_counts,
    )


async def find_pos_group(context: Context, tenant_id: str, known: TenantCatalogue, request: NamesPosGroup) -> PosGroup:
    """Return the requesting POS group. If it is unknown, it may be new, so the database is asked.

    Raises Invalid (POS_GROUP_NOT_FOUND, POS_GROUP_MISMATCH).
    """
    group = _find_pos_group(known, request)
    if group is None:
        group = _find_pos_group(await context.catalogues.current(tenant_id), request)
    if group is None:
        target = "posGroupId" if request.pos_group_id is not None else "posGroupCode"
        raise Invalid("POS_GROUP_NOT_FOUND", "There is no active POS group with this ID or code.", target)
    return group


def _find_pos_group(known: TenantCatalogue, request: NamesPosGroup) -> PosGroup | None:
    """Find the active group that the request names, by ID, code or both. Raises Invalid if they name different ones."""
    by_id = by_code = None
    if request.pos_group_id is not None:
        by_id = known.surroundings.pos_groups.get(request.pos_group_id.lower())
        if by_id is None or not by_id.is_active:
            return None
    if request.pos_group_code is not None:
        by_code = known.surroundings.pos_groups_by_code.get(request.pos_group_code.strip())
        if by_code is None or not by_code.is_active:
            return None
    if by_id is not None and by_code is not None and by_id is not by_code:
        raise Invalid("POS_GROUP_MISMATCH", "posGroupId and posGroupCode name different POS groups.", "posGroupCode")
    return by_id or by_code


async def learn_articles(
    context: Context,
    tenant_id: str,
    known: TenantCatalogue,
    lines: Collection[BasketLine] = (),
    others: Collection[str] = (),
) -> bool:
    """Read the articles of lines, and others by number, as far as they are not in memory; return whether all were.

    What is read belongs into the memory that lacked it, even if the catalogue has a new one meanwhile. A memory that
    overflows forgets what it knew, so it is asked twice.
    """
    memory, groups = known.articles, known.surroundings.places.group_keys
    were_known = True
    for _ in range(2):
        numbers, eans = memory.missing(lines, others)
        if not numbers and not eans:
            break
        were_known = False
        found = await _read_articles(context, tenant_id, numbers, eans, groups)
        memory.learn(numbers, eans, found)
    return were_known


async def _read_articles(
    context: Context, tenant_id: str, numbers: Collection[str], eans: Collection[str], groups: Mapping[str, str]
) -> list[ArticleFact]:
    return await context.database.read(lambda session: read_articles(session, numbers, eans, groups), tenant=tenant_id)


def articles_in(tables: Iterable[Mapping[str, Sequence[str]]], selection: Selection) -> list[str]:
    """Return the numbers that tables by promotion have for the promotions of a selection."""
    return [
        number for table in tables if table for promotion in selection.asked for number in table.get(promotion.id, ())
    ]
