"""Counts of the confirmed sales to which promotions applied: the basis of usage limits for later sales."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from sqlalchemy import update

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

ALL_CUSTOMERS = ""

_USAGE = table("promotion_usage")
_PROMOTIONS = table("Promotions")
_COUNT_IN_PROMOTION = Kept(
    update(_PROMOTIONS)
    .where(_PROMOTIONS.c.id == parameter("counted_id", _PROMOTIONS.c.id.type))
    .values(applications_count=_PROMOTIONS.c.applications_count + 1)
)


@cache  # built once: building the statement takes longer than running it
def _counting(dialect: str) -> Kept:
    counting = upsert(dialect, _USAGE).values(
        promotion_id=parameter("given_promotion", _USAGE.c.promotion_id.type),
        customer_id=parameter("given_customer", _USAGE.c.customer_id.type),
        count=1,
    )
    return Kept(
        counting.on_conflict_do_update(
            index_elements=[_USAGE.c.tenant_id, _USAGE.c.promotion_id, _USAGE.c.customer_id],
            set_={"count": _USAGE.c["count"] + counting.excluded["count"]},
        )
    )


async def count_applications(session: Session, promotion_ids: Iterable[str], customer_id: str | None) -> None:
    """Count one confirmed sale for each promotion, in total and for the customer.

    Rows are updated in key order, so that two confirms never deadlock. The promotion's version does not change: it
    counts authoring writes only.
    """
    ordered = sorted(promotion_ids)
    customers = (ALL_CUSTOMERS,) if customer_id is None else (ALL_CUSTOMERS, customer_id)
    await session.execute_many(
        _counting(session.dialect),
        [
            {"given_promotion": promotion_id, "given_customer": customer}
            for promotion_id in ordered
            for customer in customers
        ],
    )
    await session.execute_many(
        _COUNT_IN_PROMOTION,
        [{"counted_id": promotion_id} for promotion_id in ordered],
    )
