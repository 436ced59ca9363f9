"""The places of the claims of a code that many share, which are part of their keys."""

from __future__ import annotations

from sqlalchemy import func, select

from odata_server.sql.connection import Kept
from promenade.store.recurring import parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["next_slot"]

_CLAIMS = table("coupon_claims")
_LAST = Kept(
    select(func.max(_CLAIMS.c.slot)).where(
        _CLAIMS.c.coupon_code_id == parameter("given_key", _CLAIMS.c.coupon_code_id.type)
    )
)


async def next_slot(session: Session, coupon_code_id: str) -> int:
    """The place of the next claim of a shared code; the caller holds the row that counts its type's redemptions.

    Not that count: it goes down when stores give back uses that were counted in advance.
    """
    rows = await session.execute(_LAST, {"given_key": coupon_code_id})
    return int(rows[0][0] or 0) + 1
