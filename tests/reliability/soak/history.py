"""The history of a soak: every call, and each commitment made in an answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Call", "Confirmed", "History", "Issued", "Outcome", "Priced", "Redeemed"]

Outcome = Literal["ok", "refused", "unknown"]
"""``ok``: done; ``refused``: not done, and said so; ``unknown``: the connection broke, or the service could not."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request. ``status`` 0: the connection broke; ``began`` is on the monotonic clock, times are in seconds."""

    kind: str
    tenant: str
    outcome: Outcome
    status: int
    code: str
    began: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Priced:
    """An answered evaluation: its transaction and counter, and the lines that can be returned later (reference,
    pieces). ``began`` and ``ended`` (seconds, monotonic clock) enclose the call.
    """

    tenant: str
    transaction_id: str
    counter: int
    group: str
    promotion_ids: tuple[str, ...]
    lines: tuple[tuple[str, str, int, str], ...]  # reference, article, pieces, price
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An acknowledged sale, with the bytes of the answer."""

    priced: Priced
    body: bytes


@dataclass(frozen=True, slots=True)
class Redeemed:
    """A redemption that was acknowledged to a till."""

    tenant: str
    code: str
    reservation_id: str
    transaction_id: str


@dataclass(frozen=True, slots=True)
class Issued:
    """Coupons whose issue was acknowledged to a till."""

    tenant: str
    coupon_ids: tuple[str, ...]


@dataclass(slots=True)
class History:
    """All records, in append-only lists, so that a later reader sees everything."""

    calls: list[Call] = field(default_factory=list)
    not_sent: int = 0
    priced: list[Priced] = field(default_factory=list)
    confirmed: dict[tuple[str, str], Confirmed] = field(default_factory=dict)
    unknown_confirms: set[tuple[str, str]] = field(default_factory=set)
    uploaded: set[tuple[str, str]] = field(default_factory=set)  # tenant and transaction of sales that stores sent
    taken: dict[tuple[str, str], str] = field(default_factory=dict)  # of those, whose receipt was acknowledged; store
    redeemed: list[Redeemed] = field(default_factory=list)
    unknown_redeems: list[Redeemed] = field(default_factory=list)
    reserved: list[Redeemed] = field(default_factory=list)
    issued: list[Issued] = field(default_factory=list)
    recharged: list[tuple[str, str]] = field(default_factory=list)  # tenant, ID of the contribution
    accepted: list[tuple[str, str, str]] = field(default_factory=list)  # tenant, idempotency key, job
    written: list[tuple[str, str, str]] = field(default_factory=list)  # tenant, entity set, ID that was created
    database_crashes: list[tuple[float, float]] = field(default_factory=list)  # before, and when it ran again
    faults: list[str] = field(default_factory=list)  # answers that contradict each other or themselves

    def fault(self, said: str) -> None:
        """Record an answer that is wrong whatever the database contains; the first hundred are enough."""
        if len(self.faults) < 100:
            self.faults.append(said)

    def by_kind(self) -> dict[str, Counter[str]]:
        """Return how the calls of each kind ended."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for call in self.calls:
            found[call.kind][call.outcome] += 1
        return dict(found)
