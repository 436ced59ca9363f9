"""Repeats of a till's order of coupons under one Idempotency-Key: the first answer again, with the same codes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from promenade.errors import Conflict
from promenade.store.coupons import pool as coupon_pool
from promenade.store.coupons.issue_keys import KeptAnswer
from promenade.store.driver.unit import Session
from promenade.workflows.coupons.issuing import IssuedCoupon


@dataclass(frozen=True, slots=True)
class IssueOrder:
    """An order for coupons of a type, one for each of ``customer_ids`` (None: a bearer coupon).

    The type is identified by its ID, its name or both. ``reason`` (at most 255 characters) and ``metadata`` (JSON text)
    are stored with each code; ``user`` is the caller. ``key`` makes repeats one order, for 24 hours.
    """

    coupon_type_id: str | None
    coupon_type_name: str | None
    customer_ids: tuple[str | None, ...]
    reason: str | None = None
    metadata: str | None = None
    user: str | None = None
    key: str | None = None

    @property
    def digest(self) -> bytes:
        """Identifies what is ordered, whoever sends it."""
        ordered = (self.coupon_type_id, self.coupon_type_name, self.customer_ids, self.reason, self.metadata)
        return hashlib.sha256(msgspec.msgpack.encode(ordered)).digest()


@dataclass(frozen=True, slots=True)
class IssueFailure:
    """A customer who got no coupon, with a stable code and a message."""

    customer_id: str | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class IssueAnswer:
    """The coupons issued, in the order of the customers, and the failures."""

    issued: tuple[IssuedCoupon, ...]
    failures: tuple[IssueFailure, ...]


_Coupon = tuple[str | None, str, str | None, datetime | None]  # its ID, type, customer and end
_Answer = tuple[list[_Coupon], list[IssueFailure]]
_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[_Answer] = msgspec.msgpack.Decoder(_Answer)


def kept_answer(order: IssueOrder, answer: IssueAnswer) -> KeptAnswer:
    """Return what is stored of an answer; the codes are secret and stay in their rows."""
    coupons = [(one.id, one.coupon_type_id, one.customer_id, one.valid_until) for one in answer.issued]
    return KeptAnswer(order.digest, _ENCODER.encode((coupons, answer.failures)))


async def repeated(
    session: Session, order: IssueOrder, kept: Mapping[str, KeptAnswer]
) -> IssueAnswer | Conflict | None:
    """Return the first answer to an order under its key, a Conflict (KEY_REUSED), or None: it was not answered yet.

    Coupons that were deleted since are left out.
    """
    known = kept.get(order.key or "")
    if known is None:
        return None
    if known.digest != order.digest:
        return Conflict("KEY_REUSED", "Another order with this key, but different content, was carried out before.")
    coupons, failures = _DECODER.decode(known.answer)
    codes = await _codes(session, coupons)
    issued = [
        IssuedCoupon(coupon_id, codes[coupon_id or kind], kind, customer, ends)
        for coupon_id, kind, customer, ends in coupons
        if (coupon_id or kind) in codes
    ]
    return IssueAnswer(tuple(issued), tuple(failures))


async def _codes(session: Session, coupons: Sequence[_Coupon]) -> dict[str, str]:
    """Return the codes by the coupon's ID or, of a shared code, by the type's."""
    codes = await coupon_pool.codes_by_id(session, [one for one, *_ in coupons if one])
    return codes | await coupon_pool.generic_codes(session, list({kind for one, kind, *_ in coupons if not one}))
