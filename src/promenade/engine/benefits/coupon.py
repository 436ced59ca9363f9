"""POST_PURCHASE_COUPON: a coupon for the next visit (section 6)."""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.registry import REWARDS_ONLY, IndexKey, Terms, benefit
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.turn import Turn
from promenade.engine.verdict import Missed


@benefit(
    POST_PURCHASE_COUPON=Form(
        family="rewards", icon="bar-code", fields=("targetCouponType_ID",), needs=(("targetCouponType_ID",),)
    )
)
class PostPurchaseCoupon:
    """Does nothing at evaluation; a code of the coupon type is issued after confirm."""

    __slots__ = ("coupon_type_id",)
    code: ClassVar[str] = "POST_PURCHASE_COUPON"
    stage: ClassVar[int] = REWARDS_ONLY

    def __init__(self, coupon_type_id: str) -> None:
        self.coupon_type_id = coupon_type_id

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without a coupon type."""
        if not row.target_coupon_type_id:
            raise DefinitionError("targetCouponType_ID", "REQUIRED", "The coupon type to issue is required.")
        return cls(row.target_coupon_type_id)

    def keys(self) -> tuple[IndexKey, ...] | None:
        return None

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return ()

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def book(self, turn: Turn) -> None:
        if not turn.lines:
            return  # only returns: nothing was purchased
        turn.coupon_types = turn.coupon_types or []
        turn.coupon_types.append(self.coupon_type_id)
