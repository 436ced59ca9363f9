"""Handwritten uploads: what a store would send for a priced basket."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from promenade.engine.basket import Basket, Facts, Settings, StoredSettings
from promenade.engine.outcome import Outcome
from promenade.workflows.replica.uploads import SoldCommand, SoldPromotion, SoldRequest, UploadedSale

__all__ = ["as_sent", "upload_of"]

TREE = "0" * 64


def upload_of(
    basket: Basket, outcome: Outcome, facts: Facts, settings: Settings, counter: int = 1, **changes: Any
) -> UploadedSale:
    """Return the sale of a basket as it was priced, confirmed a minute later."""
    confirmed_at: datetime = settings.now + timedelta(minutes=1)
    return msgspec.structs.replace(
        UploadedSale(
            transaction_id=basket.transaction_id,
            transaction_counter=counter,
            evaluated_at=settings.now,
            confirmed_at=confirmed_at,
            request=SoldRequest(basket, _as_stored(settings), facts, TREE),
            result=outcome,
            confirm=SoldCommand([SoldPromotion(one.promotion_id) for one in outcome.applied], "f" * 64),
        ),
        **changes,
    )


def _as_stored(settings: Settings) -> StoredSettings:
    return msgspec.convert(settings, StoredSettings, from_attributes=True)


def as_sent(sale: UploadedSale) -> Any:
    """Return the JSON document that is sent."""
    return msgspec.json.decode(msgspec.json.encode(sale))
