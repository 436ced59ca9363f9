"""Why a coupon does not count: the same rules for a basket that is priced and for a code that a till asks about.

Reasons are those of the pricing semantics, section 10; None: it counts. A reservation that has run out no longer holds
a code, and a validity that is over ends it, whether a sweeper has come by or not.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

__all__ = ["CodeState", "Limits", "Validity", "code_refusal", "limit_refusal", "type_refusal"]


class Validity(Protocol):
    """What a coupon type says about when its codes are accepted."""

    @property
    def status(self) -> str: ...
    @property
    def valid_from(self) -> datetime | None: ...
    @property
    def valid_to(self) -> datetime | None: ...


class Limits(Protocol):
    """What a coupon type says about how often its codes are accepted."""

    @property
    def max_redemptions(self) -> int | None: ...
    @property
    def max_redemptions_per_customer(self) -> int | None: ...


class CodeState(Protocol):
    """The row of a code."""

    @property
    def status(self) -> str: ...
    @property
    def customer_id(self) -> str | None: ...
    @property
    def valid_from(self) -> datetime | None: ...
    @property
    def valid_until(self) -> datetime | None: ...
    @property
    def reserved_until(self) -> datetime | None: ...
    @property
    def reserved_by_transaction_id(self) -> str | None: ...
    @property
    def redeemed_transaction_id(self) -> str | None: ...


def type_refusal(kind: Validity, at: datetime) -> str | None:
    """Why no code of the type counts at ``at``."""
    if kind.status != "ACTIVE" or (kind.valid_from is not None and at < kind.valid_from):
        return "NOT_ACTIVE"
    return "EXPIRED" if kind.valid_to is not None and at >= kind.valid_to else None


def code_refusal(
    row: CodeState, at: datetime, transaction_id: str | None, customer_id: str | None, *, bearer_counts: bool = False
) -> str | None:
    """Why this code does not count for a transaction and a customer.

    ``bearer_counts``: who does not say who they are bears the code of a customer as that customer.
    """
    status = row.status
    if status == "REDEEMED" or (status == "RESERVED" and row.redeemed_transaction_id is not None):
        return "ALREADY_REDEEMED"
    if status == "EXPIRED" or (row.valid_until is not None and at >= row.valid_until):
        return "EXPIRED"
    if status in {"CREATED", "CANCELLED"} or (row.valid_from is not None and at < row.valid_from):
        return "NOT_ACTIVE"
    held = status == "RESERVED" and row.reserved_until is not None and at < row.reserved_until
    # One without a transaction is a store's, which holds the code to spend it on its own.
    if held and (row.reserved_by_transaction_id is None or row.reserved_by_transaction_id != transaction_id):
        return "RESERVED_ELSEWHERE"
    if row.customer_id is not None and row.customer_id != customer_id and not (bearer_counts and customer_id is None):
        return "WRONG_CUSTOMER"
    return None


def limit_refusal(kind: Limits, uses: int, customer_uses: int) -> str | None:
    """Why the type has been spent as often as it may; ``uses`` hold what others have reserved."""
    total, each = kind.max_redemptions, kind.max_redemptions_per_customer
    if total is not None and uses >= total:
        return "USAGE_LIMIT_REACHED"
    return "USAGE_LIMIT_REACHED" if each is not None and customer_uses >= each else None
