"""Queue a store's events for its cloud, in the same transaction as the event (reliability T1, T4).

In the cloud every function here does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

import msgspec

from promenade.store.driver.unit import Session
from promenade.store.replica import uploads as sync_uploads
from promenade.workflows.context import Context
from promenade.workflows.settlement.rules import ConfirmCommand, SaleIdentity


class QueuedSale(msgspec.Struct, frozen=True):
    """The part of a confirm that is kept until the cloud has accepted it; the rest is in the iteration."""

    command: ConfirmCommand


class QueuedCancellation(msgspec.Struct, frozen=True):
    """A cancelled sale, as sent to the cloud; see `uploads.UploadedCancellation`."""

    reason: str | None


class QueuedCoupon(msgspec.Struct, frozen=True):
    """A coupon event at a till, as sent to the cloud; see `uploads.UploadedCoupon`."""

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
_CANCELLATION = msgspec.msgpack.Decoder(QueuedCancellation)
_COUPON = msgspec.msgpack.Decoder(QueuedCoupon)


def decode_sale(payload: bytes) -> QueuedSale:
    """Decode the payload of a queued sale."""
    return _SALE.decode(payload)


def decode_cancellation(payload: bytes) -> QueuedCancellation:
    """Decode the payload of a queued cancellation."""
    return _CANCELLATION.decode(payload)


def decode_coupon(payload: bytes) -> QueuedCoupon:
    """Decode the payload of a queued coupon event."""
    return _COUPON.decode(payload)


def renamed_sale(payload: bytes, old: str, new: str) -> bytes:
    """Return the payload of a queued sale with another customer in the place of ``old``."""
    queued = decode_sale(payload)
    if queued.command.customer_id != old:
        return payload
    return _ENCODER.encode(QueuedSale(replace(queued.command, customer_id=new)))


def renamed_coupon(payload: bytes, old: str, new: str) -> bytes:
    """Return the payload of a queued coupon event in the same way, without what its issuer has added."""
    queued = decode_coupon(payload)
    if queued.customer_id != old:
        return payload
    return _ENCODER.encode(msgspec.structs.replace(queued, customer_id=new, metadata=None))


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


async def queue_cancellation(
    context: Context,
    session: Session,
    *,
    cancellation_id: str,
    transaction_id: str,
    transaction_counter: int,
    reason: str | None,
    at: datetime,
) -> None:
    """Queue the cancellation of a sale by this unit of work; ``at`` is the store's clock."""
    if not context.is_store:
        return
    await sync_uploads.add(
        session,
        sync_uploads.CANCELLATION,
        cancellation_id,
        transaction_id=transaction_id,
        transaction_counter=transaction_counter,
        payload=_ENCODER.encode(QueuedCancellation(reason)),
        happened_at=at,
    )


async def queue_coupon(context: Context, session: Session, *, log_id: str, event: QueuedCoupon) -> None:
    """Queue this unit of work's change of a coupon; ``log_id`` is its redemption log."""
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
    """`queue_coupon` for several events, each with its log ID."""
    if context.is_store:
        for log_id, event in events:
            await queue_coupon(context, session, log_id=log_id, event=event)
