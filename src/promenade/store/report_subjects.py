"""Whether a report may be narrowed to a promotion or a stakeholder: whether the tenant has, or has had, such a one."""

from __future__ import annotations

from sqlalchemy import select

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["knows_promotion", "knows_stakeholder"]

_PROMOTIONS = table("Promotions")
_LOGGED = table("CalculationLogPromotions")
_STAKEHOLDERS = table("Stakeholders")

_PROMOTION = Kept(select(_PROMOTIONS.c.id).where(_PROMOTIONS.c.id == parameter("id", _PROMOTIONS.c.id.type)))
_SALE = Kept(
    select(_LOGGED.c.id).where(_LOGGED.c.promotion_id == parameter("id", _LOGGED.c.promotion_id.type)).limit(1)
)
_STAKEHOLDER = Kept(select(_STAKEHOLDERS.c.id).where(_STAKEHOLDERS.c.id == parameter("id", _STAKEHOLDERS.c.id.type)))


async def knows_promotion(session: Session, promotion_id: str) -> bool:
    """Whether there is such a promotion, or one that was deleted has applied to a sale of which the log is kept."""
    values = {"id": promotion_id}
    return bool(await session.run_kept(_PROMOTION, values)) or bool(await session.run_kept(_SALE, values))


async def knows_stakeholder(session: Session, stakeholder_id: str) -> bool:
    """Whether there is such a stakeholder."""
    return bool(await session.run_kept(_STAKEHOLDER, {"id": stakeholder_id}))
