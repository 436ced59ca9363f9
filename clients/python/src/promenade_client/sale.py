"""From a priced basket to the request that confirms it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from promenade_client.answers import EvaluateResponse
from promenade_client.requests import ConfirmHeader, ConfirmPromotion, ConfirmRequest


def confirmation(
    priced: EvaluateResponse,
    *,
    withdrawn: Collection[str] = (),
    customer_id: str | None = None,
    receipt_id: str | None = None,
    timestamp: datetime | None = None,
) -> ConfirmRequest:
    """Return the request that confirms an evaluated basket as it was priced, with its discounts and gifts.

    ``withdrawn`` are the IDs of promotions that the till has not granted. Raises ValueError for a simulation.
    """
    header = priced.meta.header
    if header.transaction_id is None or header.transaction_counter is None:
        raise ValueError("a simulation cannot be confirmed: evaluate the basket")
    discounts = (one.promotion_id for one in priced.totals.savings_summary.promotion_breakdown)
    gifts = (one.promotion_id for one in priced.granted_items)
    granted = dict.fromkeys([*discounts, *gifts])
    return ConfirmRequest(
        header=ConfirmHeader(
            transaction_id=header.transaction_id, transaction_counter=header.transaction_counter, receipt_id=receipt_id
        ),
        transaction_id=header.transaction_id,
        applied_promotions=[ConfirmPromotion(promotion_id=one) for one in granted if one not in withdrawn],
        customer_id=customer_id,
        timestamp=timestamp,
    )
