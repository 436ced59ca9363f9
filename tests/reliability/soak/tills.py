"""Till operations: price, sell, return, retry, change a decision, and compete for coupons."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.reliability.soak.caller import Answer, Caller
from tests.reliability.soak.furnishing import ARTICLES, GROUPS, codes_of, identity
from tests.reliability.soak.history import Confirmed, Issued, Priced, Redeemed

__all__ = ["Shelf", "Till"]

_TRIES = 400
_ITEM = {"BERLIN": ("1.99", "4.49", "12.00"), "TOKYO": ("120", "480", "1300"), "KUWAIT": ("0.75", "2.25", "9.50")}


@dataclass(slots=True)
class Shelf:
    """The shared state of a tenant's tills: sales that can be returned, and contested codes."""

    tenant: str
    operations: int
    sold: deque[Priced] = field(default_factory=lambda: deque(maxlen=2_000))
    turn: int = 0

    def code(self, rng: random.Random) -> str:
        """Return a code that others try at about the same time."""
        kind = rng.choices(("ONCE", "LATE", "DIGI", "ALL", "NONE"), (70, 8, 8, 10, 1))[0]
        if kind == "ALL":
            return f"ALL-{self.tenant}"
        number = codes_of(self.operations) if kind == "ONCE" else codes_of(self.operations) // 4
        self.turn += 1
        near = self.turn // 6 + rng.randrange(4) if kind == "ONCE" else rng.randrange(number)
        return f"{kind}-{near % number:06}"


@dataclass(slots=True)
class Till:
    """One till of a tenant. Each method is a till operation of several calls."""

    caller: Caller
    shelf: Shelf
    rng: random.Random

    async def sell(self) -> None:
        """Price a basket, perhaps more than once, and usually confirm it."""
        await self._checkout(self._basket(), at_once=self.rng.random() < 0.12)

    async def exchange(self) -> None:
        """Return something, perhaps in exchange for something else."""
        if not self.shelf.sold:
            return await self.sell()
        before = self.rng.choice(self.shelf.sold)
        basket = self._basket(before.group) if self.rng.random() < 0.5 else self._basket(before.group, lines=0)
        for number, (reference, article, pieces, price) in enumerate(before.lines):
            if self.rng.random() < 0.6 or not basket["items"]:
                fields = {"originalTransactionId": before.transaction_id, "originalLineReference": reference}
                named = [{"key": key, "value": value} for key, value in fields.items()]
                line = {"articleNumber": article, "quantity": -self.rng.randint(1, pieces), "unitPrice": price}
                basket["items"].append({**line, "lineReference": f"r{number}", "additionalFields": named})
        return await self._checkout(basket)

    async def look(self) -> None:
        """Simulate, and request the side-effect status of a sale."""
        answer = await self.caller.post("simulate", "/pos/v2/simulate", {"request": self._basket()})
        if answer.outcome == "ok" and "transactionCounter" in answer.json()["meta"]["header"]:
            self.caller.history.fault("a simulation took a counter")
        if self.shelf.sold:
            one = self.rng.choice(self.shelf.sold)
            path = f"/pos/v2/transactions/{one.transaction_id}/{one.counter}/side-effects"
            await self.caller.call("side-effects", "GET", path)

    async def spend_coupon(self) -> None:
        """Reserve a contested code, then redeem it, cancel the reservation, or let it expire."""
        code, transaction = self.shelf.code(self.rng), self._name()
        if self.rng.random() < 0.3:
            await self.caller.post("validate", "/pos/coupons/validate", {"code": code})
        if code.startswith("DIGI") and self.rng.random() < 0.7:
            await self.caller.post("activate", "/pos/coupons/activate", {"code": code, "customerId": "C-1"})
        asked = {"code": code, "transactionId": transaction}
        answer = await self.caller.post("reserve", "/pos/coupons/reserve", asked)
        if answer.outcome != "ok":
            return
        held = Redeemed(self.caller.tenant, code, answer.json()["reservationId"], transaction)
        self.caller.history.reserved.append(held)
        what = self.rng.random()
        if what < 0.3:
            await self.caller.post("cancel", "/pos/coupons/cancel", {"reservationId": held.reservation_id})
        elif what < 0.85:
            await self._redeem(held, times=2 if self.rng.random() < 0.2 else 1)

    async def issue(self) -> None:
        """Issue coupons to some customers."""
        customers = [self._customer() for _ in range(self.rng.randint(1, 4))]
        body = {"couponTypeId": identity(self.caller.tenant, "type gift"), "customerIds": sorted(set(customers))}
        answer = await self.caller.post("issue", "/pos/coupons/issue", {**body, "reason": "soak"})
        if answer.outcome == "ok":
            ids = tuple(one["couponId"] for one in answer.json()["issuedCoupons"])
            self.caller.history.issued.append(Issued(self.caller.tenant, ids))

    # ---- parts ----------------------------------------------------------------------------------------------------

    def _name(self) -> str:
        return f"{self.caller.tenant}-{uuid.UUID(int=self.rng.getrandbits(128))}"

    def _customer(self) -> str:
        return f"C-{self.rng.randrange(40)}"

    def _basket(self, group: str = "", lines: int | None = None) -> dict[str, Any]:
        group = group or self.rng.choices(tuple(GROUPS), (8, 1, 1))[0]
        number = self.rng.randint(1, 6) if lines is None else lines
        articles = self.rng.sample(ARTICLES[:12] if self.rng.random() < 0.8 else ARTICLES, number)
        items = [
            {"articleNumber": one, "quantity": self.rng.randint(1, 4), "unitPrice": self.rng.choice(_ITEM[group])}
            for one in articles
        ]
        basket: dict[str, Any] = {"header": {"transactionId": self._name()}, "posGroupCode": group, "items": items}
        if self.rng.random() < 0.5:
            basket["customer"] = {"customerId": self._customer()}
        if self.rng.random() < 0.15:
            basket["coupons"] = [{"code": self.shelf.code(self.rng)}]
            coupon_article = {"ONCE": "A-006", "ALL-": "A-007", "LATE": "A-008", "DIGI": "A-010"}
            wanted = coupon_article.get(basket["coupons"][0]["code"][:4], "A-006")
            if number and all(item["articleNumber"] != wanted for item in items):
                items[0]["articleNumber"] = wanted
        return basket

    async def _checkout(self, basket: dict[str, Any], *, at_once: bool = False) -> None:
        priced = None
        for _ in range(self.rng.choices((1, 2, 3), (80, 15, 5))[0]):
            answer = await self.caller.post("evaluate", "/pos/v2/evaluate", {"request": basket})
            if answer.outcome == "ok":
                priced = self._priced(answer)
        if priced is None or self.rng.random() < 0.1:
            return
        await self._confirm(priced, times=2 if at_once else 1)

    def _priced(self, answer: Answer) -> Priced:
        told = answer.json()
        self._check_sums(told)
        breakdown = told["totals"]["savingsSummary"]["promotionBreakdown"]
        header = told["meta"]["header"]
        price = _plain_price
        priced = Priced(
            self.caller.tenant,
            header["transactionId"],
            header["transactionCounter"],
            _group_of(told),
            tuple(one["promotionId"] for one in breakdown),
            tuple(
                (line["lineReference"], line["articleNumber"], int(line["quantity"]["value"]), price(line))
                for line in told["lineItems"]
                if line["quantity"]["value"] > 0
            ),
            answer.began,
            answer.ended,
        )
        self.caller.history.priced.append(priced)
        return priced

    def _check_sums(self, told: dict[str, Any]) -> None:
        """Check B5 in the answer: shares add up to the discount, and no line is negative."""
        discount = Decimal(0)
        for line in told["lineItems"]:
            shares = sum((_amount(one["totalDiscount"]) for one in line["discounts"]), Decimal(0))
            if shares != _amount(line["lineDiscount"]) or _amount(line["lineNet"]) < 0:
                self.caller.history.fault(f"a line does not add up: {line}")
            discount += shares
        if discount != _amount(told["totals"]["discount"]):
            self.caller.history.fault(f"lines do not add up to the discount: {told['totals']}")

    async def _confirm(self, priced: Priced, times: int) -> None:
        """Confirm until the outcome is known; every answer to the same confirm must have the same bytes."""
        history = self.caller.history
        key = (priced.tenant, priced.transaction_id)
        header = {"transactionId": priced.transaction_id, "transactionCounter": priced.counter}
        request: dict[str, Any] = {"header": header, "transactionId": priced.transaction_id}
        request["appliedPromotions"] = [{"promotionId": one} for one in priced.promotion_ids]
        if self.rng.random() < 0.1 and request["appliedPromotions"]:
            request["appliedPromotions"].pop()
        for _ in range(_TRIES):
            calls = [self.caller.post("confirm", "/pos/v2/confirm", {"request": request}) for _ in range(times)]
            answers = await asyncio.gather(*calls)
            bodies = {one.body for one in answers if one.outcome == "ok"}
            if len(bodies) > 1:
                history.fault(f"one confirm was answered in two ways: {bodies}")
            if bodies:
                history.confirmed[key] = Confirmed(priced, bodies.pop())
                if priced.lines:
                    self.shelf.sold.append(priced)
                break
            if any(one.outcome == "refused" for one in answers):
                return
            history.unknown_confirms.add(key)
        if self.rng.random() < 0.06:
            await self._confirm_otherwise(priced, request)

    async def _confirm_otherwise(self, priced: Priced, request: dict[str, Any]) -> None:
        """A repeated request gets the same answer; a different one is refused."""
        history = self.caller.history
        again = await self.caller.post("confirm", "/pos/v2/confirm", {"request": request})
        known = history.confirmed[priced.tenant, priced.transaction_id]
        if again.outcome != "unknown" and again.body != known.body:
            history.fault(f"a repeated confirm was answered otherwise: {again}")
        other = {**request, "customerId": f"OTHER-{self.rng.randrange(1000)}"}
        answer = await self.caller.post("confirm", "/pos/v2/confirm", {"request": other})
        if answer.outcome != "unknown" and answer.code != "CONFIRM_MISMATCH":
            history.fault(f"another confirm of a confirmed sale was answered {answer}")

    async def _redeem(self, held: Redeemed, times: int) -> None:
        body = {"reservationId": held.reservation_id, "transactionId": held.transaction_id}
        if self.rng.random() < 0.1:
            foreign = await self.caller.post("redeem", "/pos/coupons/redeem", {**body, "transactionId": self._name()})
            if foreign.outcome == "ok":
                self.caller.history.fault(f"a reservation was redeemed for another transaction: {held}")
        calls = [self.caller.post("redeem", "/pos/coupons/redeem", body) for _ in range(times)]
        answers = await asyncio.gather(*calls)
        if sum(one.outcome == "ok" for one in answers) > 1:
            self.caller.history.fault(f"redeemed twice: {held}")
        if any(one.outcome == "ok" for one in answers):
            self.caller.history.redeemed.append(held)
        elif any(one.outcome == "unknown" for one in answers):
            self.caller.history.unknown_redeems.append(held)


def _amount(money: dict[str, Any]) -> Decimal:
    return Decimal(str(money["value"]))


def _plain_price(line: dict[str, Any]) -> str:
    return str(line["unitPrice"]["value"])


def _group_of(told: dict[str, Any]) -> str:
    currency = told["totals"]["grandTotal"]["currency"]
    return next(group for group, one in GROUPS.items() if one == currency)
