"""Why a coupon is refused: the same rules for pricing a basket and for a till's request about a code.

Reasons are those of the pricing semantics, section 10; None: the coupon is accepted. An expired reservation no longer
holds a code, and a code past its validity has ended, whether or not a sweeper has processed it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Validity(Protocol):
    """The validity settings of a coupon type."""

    @property
    def status(self) -> str: ...
    @property
    def valid_from(self) -> datetime | None: ...
    @property
    def valid_to(self) -> datetime | None: ...


class Limits(Protocol):
    """The usage limits of a coupon type."""

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
    """Return the reason why all codes of the type are refused at ``at``, or None."""
    if kind.status != "ACTIVE" or (kind.valid_from is not None and at < kind.valid_from):
        return "NOT_ACTIVE"
    return "EXPIRED" if kind.valid_to is not None and at >= kind.valid_to else None


def code_refusal(
    row: CodeState, at: datetime, transaction_id: str | None, customer_id: str | None, *, bearer_counts: bool = False
) -> str | None:
    """Return the reason why this code is refused for a transaction and a customer, or None.

    ``bearer_counts``: without a customer, the bearer of a customer's code is accepted as that customer.
    """
    status = row.status
    if status == "REDEEMED" or (status == "RESERVED" and row.redeemed_transaction_id is not None):
        return "ALREADY_REDEEMED"
    if status == "EXPIRED" or (row.valid_until is not None and at >= row.valid_until):
        return "EXPIRED"
    if status in {"CREATED", "CANCELLED"} or (row.valid_from is not None and at < row.valid_from):
        return "NOT_ACTIVE"
    held = status == "RESERVED" and row.reserved_until is not None and at < row.reserved_until
    # A reservation without a transaction belongs to a store that holds the code to spend it offline.
    if held and (row.reserved_by_transaction_id is None or row.reserved_by_transaction_id != transaction_id):
        return "RESERVED_ELSEWHERE"
    if row.customer_id is not None and row.customer_id != customer_id and not (bearer_counts and customer_id is None):
        return "WRONG_CUSTOMER"
    return None


def limit_refusal(kind: Limits, uses: int, customer_uses: int) -> str | None:
    """Return the reason if the type has reached a usage limit, or None; ``uses`` include others' reservations."""
    total, each = kind.max_redemptions, kind.max_redemptions_per_customer
    if total is not None and uses >= total:
        return "USAGE_LIMIT_REACHED"
    return "USAGE_LIMIT_REACHED" if each is not None and customer_uses >= each else None
