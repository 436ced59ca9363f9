"""Tills of a store that is killed at any moment: like real ones, they retry until they have an answer."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx2

from tests.reliability.offline.market import Sale
from tests.web.replica.link.chain import Branch

__all__ = ["Sold", "Tills"]

TILLS = 4
SECONDS_MAX = 120.0  # for one sale, including a restart of the store


@dataclass(frozen=True, slots=True)
class Sold:
    """A sale as acknowledged to the till."""

    transaction_id: str
    counter: int
    total: Decimal
    coupon: str | None  # the applied one
    invalid: tuple[str, ...]  # refused codes with the reason


@dataclass
class Tills:
    """The tills of one store. ``sold`` are the acknowledged sales."""

    branch: Branch
    draw: random.Random
    sold: list[Sold] = field(default_factory=list)
    kills: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pause: threading.Event = field(default_factory=threading.Event)

    def sell(self, sales: Sequence[Sale], *, kills: int = 0) -> None:
        """Make all of these sales while the store is killed this often, at random points."""
        at = sorted(self.draw.randrange(1, max(2, len(sales))) for _ in range(kills))
        goal = len(self.sold)
        with ThreadPoolExecutor(TILLS) as pool:
            made = [pool.submit(self._sell, sale) for sale in sales]
            for point in at:
                while len(self.sold) < goal + point and not all(one.done() for one in made):
                    self._pause.wait(0.001)
                self.kill()
            for one in made:
                one.result()

    def kill(self) -> None:
        """Kill the store (SIGKILL) and restart it."""
        self.branch.service.kill()
        self.kills += 1
        self.branch.service.restart()

    def _sell(self, sale: Sale) -> None:
        priced = self._answer("/pos/v2/evaluate", sale.basket())
        header = priced["meta"]["header"]
        granted = [
            {"promotionId": one["promotionId"], "discountAmount": one["totalDiscount"]}
            for one in priced["totals"]["savingsSummary"]["promotionBreakdown"]
        ]
        confirm = {
            "header": header,
            "transactionId": header["transactionId"],
            "appliedPromotions": granted,
        }
        told = self._answer("/pos/v2/confirm", {"request": confirm})
        assert told["confirmed"] is True
        took_effect = [one["code"] for one in priced["appliedCoupons"]]
        sold = Sold(
            header["transactionId"],
            header["transactionCounter"],
            Decimal(str(priced["totals"]["grandTotal"]["value"])),
            took_effect[0] if took_effect else None,
            tuple(f"{one['code']}: {one['reason']}" for one in priced["invalidCoupons"]),
        )
        with self._lock:
            self.sold.append(sold)

    def _answer(self, path: str, body: Any) -> dict[str, Any]:
        """Return the answer to a request, which is repeated while the store is down."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                answer = self.branch.post(path, body)
            except httpx2.TransportError:
                assert time.monotonic() < deadline, "the store does not come back"
                self._pause.wait(0.02)
                continue
            assert answer.status_code == 200, answer.text
            told: dict[str, Any] = answer.json()
            return told
