"""Stores during the load: they follow the pricing data, send the sales they made on their own, and share budgets."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec

from promenade.engine.basket import Basket, BasketLine, Facts, PosGroupFact, Settings
from promenade.engine.view import NO_GROUPS
from promenade.store.pricing.surroundings import tree_hash
from promenade.workflows.replica.uploads import UploadedSale
from tests.reliability.soak.caller import Answer, Caller
from tests.reliability.soak.furnishing import GROUPS, identity
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.uploads import upload_of

__all__ = ["Branch"]

_PAID_BY = {"off": "wide", "bundle": "small"}
"""By promotion, the budget that its sales use: sales of stores also use one that has nothing left."""
_TREE = tree_hash(NO_GROUPS)


@dataclass(slots=True)
class Branch:
    """One store of a tenant, which also sells while it is offline."""

    caller: Caller
    code: str
    rng: random.Random
    _deployment_id: str = ""
    _cursor: str = ""
    _unsent: list[UploadedSale] = field(default_factory=list)
    _run_id: str = ""

    async def follow(self) -> None:
        """Send a heartbeat and fetch what has changed, page by page."""
        if not await self._is_registered():
            return
        beat = {"deploymentId": self._deployment_id, "status": "UP", "version": "1.0.0", "runId": self._run_id}
        await self._post("heartbeat", {**beat, "pendingTransactions": len(self._unsent)})
        has_more = True
        while has_more:
            asked = {"deploymentId": self._deployment_id} | ({"cursor": self._cursor} if self._cursor else {})
            answer = await self.caller.call("changes", "GET", f"/sync/promotions?{urlencode(asked)}", client="store")
            if answer.outcome != "ok":
                return
            page = answer.json()
            if page["full"] and self._cursor:
                self.caller.history.fault(f"a store that had everything must start over: {self.code}")
            if page["hasMore"] and page["cursor"] == self._cursor:
                self.caller.history.fault(f"a page leads to itself: {page['cursor']}")
            self._cursor, has_more = page["cursor"], page["hasMore"]

    async def upload(self) -> None:
        """Send sales, perhaps twice at once, with those before whose outcome is unknown."""
        if not await self._is_registered():
            return
        history = self.caller.history
        self._unsent += [self._sale() for _ in range(self.rng.randint(1, 8))]
        sent = [json.loads(msgspec.json.encode(one)) for one in self._unsent]
        history.uploaded |= {self._key(one.transaction_id) for one in self._unsent}
        body = {"deploymentId": self._deployment_id, "definitions": {_TREE: "gA=="}, "transactions": sent}
        times = 2 if self.rng.random() < 0.2 else 1
        to = f"transactions?deploymentId={self._deployment_id}"
        answers = await asyncio.gather(*[self._post(to, body) for _ in range(times)])
        told = [self._results(one) for one in answers if one.outcome == "ok"]
        for sale in self._unsent:
            statuses = [one[sale.transaction_id] for one in told]
            if statuses.count("accepted") > 1 or any(one not in ("accepted", "duplicate") for one in statuses):
                history.fault(f"the sale {sale.transaction_id} of a store was answered {statuses}")
        if told:
            history.taken |= {self._key(one.transaction_id): self._deployment_id for one in self._unsent}
            self._unsent.clear()

    async def share(self) -> None:
        """Ask for a part of a budget, or give one back."""
        if not await self._is_registered():
            return
        budget = identity(self.caller.tenant, f"budget {self.rng.choice(('wide', 'small'))}")
        amount = self.rng.choice((1, 2, -1, 0))
        about = {"deploymentId": self._deployment_id, "budgetId": budget, "runId": self._run_id}
        await self._post("budget-grants", {**about, "amount": amount}, idempotency_key=self._name())

    # ---- parts ----------------------------------------------------------------------------------------------------

    async def _is_registered(self) -> bool:
        """Register, again now and then: the same code must give the same store."""
        if self._deployment_id and self.rng.random() < 0.9:
            return True
        asked = {"storeCode": self.code, "version": "1.0.0", "posGroupCode": "BERLIN"}
        answer = await self._post("register", asked)
        if answer.outcome == "ok":
            given = answer.json()["deploymentId"]
            if self._deployment_id not in ("", given):
                self.caller.history.fault(f"store {self.code} became another: {self._deployment_id}, {given}")
            self._deployment_id = given
            self._run_id = self._run_id or self._name()
        return bool(self._deployment_id)

    def _sale(self) -> UploadedSale:
        """Return a sale of one line that was made a while ago, with a promotion that a budget pays for."""
        tenant, transaction = self.caller.tenant, f"{self.code}-{self._name()[:30]}"
        name = self.rng.choice(tuple(_PAID_BY))
        promotion, budget = identity(tenant, name), identity(tenant, f"budget {_PAID_BY[name]}")
        pieces, each = self.rng.randint(1, 4), self.rng.randint(1, 50)
        sold = line("1", pieces * 1000, pieces * 400, discount(promotion, ((pieces, each),)))
        priced = outcome((sold,), (applied(promotion, pieces * each, budget_ids=(budget,)),))
        lines = (BasketLine("1", sold.article_number, sold.quantity_thousandths, sold.unit_price_hundredths),)
        basket = Basket(transaction, lines, PosGroupFact(identity(tenant, "BERLIN"), "BERLIN", GROUPS["BERLIN"]))
        made_at = datetime.now(UTC) - timedelta(minutes=self.rng.randint(2, 600))
        upload = upload_of(basket, priced, Facts(), Settings(made_at))
        return msgspec.structs.replace(upload, request=msgspec.structs.replace(upload.request, tree_hash=_TREE))

    def _results(self, answer: Answer) -> dict[str, str]:
        return {one["transactionId"]: one["status"] for one in answer.json()["results"]}

    def _key(self, transaction_id: str) -> tuple[str, str]:
        return self.caller.tenant, transaction_id

    def _name(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128)))

    async def _post(self, what: str, body: Any, **headers: str) -> Answer:
        kind = what.partition("?")[0]
        return await self.caller.post(kind, f"/sync/{what}", body, client="store", **headers)
