"""Evaluate and simulate: a basket becomes a priced iteration (specification, "Evaluation messages")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from promenade.engine.basket import BasketLine, Customer, Payment
from promenade.engine.outcome import Outcome
from promenade.workflows.context import Context

__all__ = ["PricedIteration", "PricingRequest", "evaluate", "simulate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PricingRequest:
    """A decoded EvaluateRequest. The edge has checked shapes, assigned missing line references and cut the card."""

    lines: tuple[BasketLine, ...]
    transaction_id: str | None = None
    receipt_id: str | None = None
    header_reference: str | None = None
    pos_group_id: str | None = None
    pos_group_code: str | None = None
    coupons: tuple[str, ...] = ()
    customer: Customer | None = None
    payment: Payment | None = None
    channel: str | None = None
    user_fields: tuple[tuple[str, str], ...] = ()
    manual_discount: bool = False
    manual_discount_reason: str | None = None
    timestamp: datetime | None = None  # aware
    include_inactive: bool = False
    include_missed: bool = False
    client_id: str = ""  # whose failed coupon look-ups are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedIteration:
    """What web encodes as EvaluateResponseV2. ``transaction_counter`` is None when simulated."""

    transaction_id: str
    transaction_counter: int | None
    receipt_id: str | None
    header_reference: str | None
    evaluated_at: datetime
    data_age: datetime | None
    outcome: Outcome
    is_simulation: bool


async def evaluate(context: Context, tenant_id: str, request: PricingRequest) -> PricedIteration:
    """Price and store a new iteration of the transaction; ``include_inactive`` is heeded by simulate only.

    Raises Invalid (POS_GROUP_NOT_FOUND) and Unavailable; nothing is stored then.
    """
    raise NotImplementedError


async def simulate(context: Context, tenant_id: str, request: PricingRequest) -> PricedIteration:
    """Price and store nothing at all. Raises as `evaluate`."""
    raise NotImplementedError
