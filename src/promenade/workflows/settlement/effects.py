"""The side effects still to be carried out for a confirmed sale: the job that confirm queues for the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from promenade.workflows.settlement.returns import GiveBack
from promenade.workflows.settlement.rules import PointsEntry, SaleIdentity, Settlement


@dataclass(frozen=True, slots=True)
class PostPurchaseCoupon:
    """One code of the type to be issued for the promotion."""

    promotion_id: str
    coupon_type_id: str


@dataclass(frozen=True, slots=True)
class PointsBack:
    """Points to deduct that a returned sale had given to its customer."""

    customer_id: str
    points: int


@dataclass(frozen=True, slots=True)
class Effects:
    """Points and coupons of one sale; the coupons it spent are recorded as claims."""

    customer_id: str | None
    points: tuple[PointsEntry, ...]  # empty without a customer
    points_back: tuple[PointsBack, ...]
    coupons: tuple[PostPurchaseCoupon, ...]


def effects_of(settlement: Settlement, sale: SaleIdentity, brought: Sequence[GiveBack]) -> Effects:
    """Return the asynchronous part of a confirm."""
    coupons = dict.fromkeys(
        PostPurchaseCoupon(promotion.applied.promotion_id, coupon_type_id)
        for promotion in settlement.promotions
        for coupon_type_id in promotion.applied.post_purchase_coupon_type_ids
    )
    return Effects(
        customer_id=sale.customer_id,
        points=settlement.points if sale.customer_id is not None else (),
        points_back=tuple(
            PointsBack(one.customer_id, one.points) for one in brought if one.customer_id is not None and one.points
        ),
        coupons=tuple(coupons),
    )


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Effects)


def encode_effects(effects: Effects) -> bytes:
    """Encode as the job's payload."""
    return _ENCODER.encode(effects)


def decode_effects(payload: bytes) -> Effects:
    """The inverse of `encode_effects`."""
    return _DECODER.decode(payload)
