"""Which promotions are priced again when goods come back."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_PROMOTIONS = table("Promotions")
_REPRICING = select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.return_policy == "REPRICE")


async def repricing_promotions(session: Session, promotion_ids: Collection[str]) -> set[str]:
    """Return those of the promotions whose policy for returns is REPRICE now."""
    rows = await read_among(session, (_PROMOTIONS.c.id,), sorted(promotion_ids), _REPRICING.where)
    return {row.id for row in rows}
