"""Campaigns and the promotions linked to them, read and written set-wise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


@dataclass(frozen=True, slots=True)
class CampaignSheet:
    """A summary of a campaign for planners.

    ``promotion_names`` are the first of ``promotion_count``, in their order.
    """

    id: str
    name: str
    description: str | None
    status: str
    start_at: datetime | None
    end_at: datetime | None
    created_at: datetime
    modified_at: datetime
    version: int
    promotion_names: tuple[str, ...]
    promotion_count: int


async def read_campaign_sheet(session: Session, campaign_id: str, names_max: int) -> CampaignSheet | None:
    """Return the campaign with the names of at most ``names_max`` of its promotions; None: no campaign has this ID."""
    campaigns, promotions = table("Campaigns"), table("Promotions")
    found = await session.execute(select(campaigns).where(campaigns.c.id == campaign_id))
    if not found:
        return None
    named = await session.execute(
        select(promotions.c.name, func.count().over().label("altogether"))
        .where(promotions.c.campaign_id == campaign_id)
        .order_by(promotions.c.name, promotions.c.id)
        .limit(names_max)
    )
    row = found[0]
    return CampaignSheet(
        id=row.id,
        name=row.name,
        description=row.description,
        status=row.status,
        start_at=row.start_at,
        end_at=row.end_at,
        created_at=row.created_at,
        modified_at=row.modified_at,
        version=row.version,
        promotion_names=tuple([one.name for one in named]),
        promotion_count=named[0].altogether if named else 0,
    )
