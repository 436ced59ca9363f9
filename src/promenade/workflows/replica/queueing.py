"""What happens in a store is queued for its cloud, in the very transaction of what happened (reliability T1, T4).

In the cloud nothing is: every function here does nothing there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from promenade.store import sync_uploads
from promenade.store.unit import Session
from promenade.workflows.confirm_rules import ConfirmCommand, SaleIdentity
from promenade.workflows.context import Context

__all__ = ["QueuedCoupon", "QueuedSale", "decode_coupon", "decode_sale", "queue_coupon", "queue_coupons", "queue_sale"]


class QueuedSale(msgspec.Struct, frozen=True):
    """What is kept of a confirm until the cloud has taken it; the iteration has the rest."""

    command: ConfirmCommand


class QueuedCoupon(msgspec.Struct, frozen=True):
    """A coupon event at a till, as the cloud is told of it; see `uploads.UploadedCoupon`."""

    action: Literal["REDEEMED", "ISSUED", "ACTIVATED"]
    coupon_type_id: str
    occurred_at: datetime
    coupon_id: str | None = None
    transaction_id: str | None = None
    customer_id: str | None = None
    reason: str | None = None
    metadata: str | None = None


_ENCODER = msgspec.msgpack.Encoder()
_SALE = msgspec.msgpack.Decoder(QueuedSale)
_COUPON = msgspec.msgpack.Decoder(QueuedCoupon)


def decode_sale(payload: bytes) -> QueuedSale:
    """The payload of a queued sale."""
    return _SALE.decode(payload)


def decode_coupon(payload: bytes) -> QueuedCoupon:
    """The payload of a queued coupon event."""
    return _COUPON.decode(payload)


async def queue_sale(
    context: Context, session: Session, *, log_id: str, command: ConfirmCommand, sale: SaleIdentity, at: datetime
) -> None:
    """Queue the sale that this unit of work confirms; ``log_id`` is its calculation log, ``at`` the store's clock."""
    if not context.is_store:
        return
    await sync_uploads.add(
        session,
        sync_uploads.SALE,
        log_id,
        transaction_id=sale.transaction_id,
        transaction_counter=sale.transaction_counter,
        payload=_ENCODER.encode(QueuedSale(command)),
        happened_at=at,
    )


async def queue_coupon(context: Context, session: Session, *, log_id: str, event: QueuedCoupon) -> None:
    """Queue what this unit of work has done to a coupon; ``log_id`` is its redemption log."""
    if not context.is_store:
        return
    await sync_uploads.add(
        session,
        sync_uploads.COUPON,
        log_id,
        transaction_id=event.transaction_id,
        transaction_counter=0,
        payload=_ENCODER.encode(event),
        happened_at=event.occurred_at,
    )


async def queue_coupons(context: Context, session: Session, events: Sequence[tuple[str, QueuedCoupon]]) -> None:
    """`queue_coupon` for several, each with its log."""
    if context.is_store:
        for log_id, event in events:
            await queue_coupon(context, session, log_id=log_id, event=event)
