"""Whether a report can be filtered by a promotion or stakeholder: whether the tenant has, or had, such a one."""

from __future__ import annotations

from sqlalchemy import select

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_PROMOTIONS = table("Promotions")
_LOGGED = table("calculation_log_blocks")
_COUNTED = table("PromotionPerformance")
_STAKEHOLDERS = table("Stakeholders")

_PROMOTION = Kept(select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.id == parameter("id", _PROMOTIONS.c.id.type)))
_SALE = Kept(
    select(_LOGGED.c.promotion_id)
    .where(_LOGGED.c.promotion_id == parameter("id", _LOGGED.c.promotion_id.type))
    .limit(1)
)
_FIGURES = Kept(
    select(_COUNTED.c.promotion_id).where(_COUNTED.c.promotion_id == parameter("id", _COUNTED.c.promotion_id.type))
)
_STAKEHOLDER = Kept(select(_STAKEHOLDERS.c.id).where(_STAKEHOLDERS.c.id == parameter("id", _STAKEHOLDERS.c.id.type)))


async def knows_promotion(session: Session, promotion_id: str) -> bool:
    """Return whether the promotion exists, or was deleted but applied to a sale: its log is kept, or its figures."""
    for known in (_PROMOTION, _SALE, _FIGURES):
        if await session.run_kept(known, {"id": promotion_id}):
            return True
    return False


async def knows_stakeholder(session: Session, stakeholder_id: str) -> bool:
    """Return whether the stakeholder exists."""
    return bool(await session.run_kept(_STAKEHOLDER, {"id": stakeholder_id}))
