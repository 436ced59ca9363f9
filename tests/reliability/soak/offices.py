"""Back-office work during the load: change promotions, recharge budgets, edit drafts, import articles, read lists."""

from __future__ import annotations

import asyncio
import random
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.reliability.soak.caller import Caller
from tests.reliability.soak.furnishing import ARTICLES, identity

__all__ = ["Office"]

_API, _ADMIN = "/api/v1", "/admin"
_CHANGED = ("off", "saver", "bundle", "points")
_LISTS = (
    "Promotions?$top=20&$orderby=code&$count=true",
    "Budgets?$expand=promotions,rechargeContributions($top=5)",
    "CouponTypes?$expand=promotions",
    "Promotions?$filter="
    + quote("status eq 'ACTIVE' and startswith(code,'o')")
    + "&$expand=posGroups,calculationConfig",
)


@dataclass(slots=True)
class Office:
    """The people and systems of one tenant that write the pricing data."""

    caller: Caller
    rng: random.Random

    async def change_promotion(self) -> None:
        """Read a promotion, change it if nobody else has, then change its action."""
        name = self.rng.choice(_CHANGED)
        address = f"{_API}/Promotions({identity(self.caller.tenant, name)})"
        found = await self._api("GET", address)
        if found.outcome != "ok":
            return
        body = {"description": f"changed {self.rng.randrange(10_000)}"}
        await self._api("PATCH", address, body, kind="patch", if_match=found.json()["@etag"])
        action = f"{_API}/DiscountActions({identity(self.caller.tenant, f'action {name}')})"
        await self._api("PATCH", action, {"discountValue": self.rng.randint(5, 40)}, kind="patch")

    async def switch_promotion(self) -> None:
        """Deactivate a promotion and activate it again."""
        address = f"{_API}/Promotions({identity(self.caller.tenant, self.rng.choice(_CHANGED))})"
        for status in ("INACTIVE", "ACTIVE"):
            await self._api("PATCH", address, {"status": status}, kind="activate promotion")

    async def new_promotion(self) -> None:
        """Create a promotion with all its parts in one change set; it is active immediately and then switched off."""
        code = f"P-{self._name()}"
        promotion: dict[str, Any] = {
            "code": code,
            "name": code,
            "status": "ACTIVE",
            "calculationConfig": {"rounding": "ROUND_DOWN"},
        }
        about = {"promotion": {"@id": "$promotion"}}
        article = self.rng.choice(ARTICLES)
        condition: dict[str, Any] = {**about, "conditionType": "ARTICLE", "articleNumber": article, "minQuantity": 2}
        action = {**about, "actionType": "ARTICLE", "targetArticleNumber": article}
        action |= {"discountType": "PERCENTAGE", "discountValue": "5"}
        parts: dict[str, Any] = {"promotion": ("Promotions", promotion), "condition": ("Conditions", condition)}
        parts["action"] = ("DiscountActions", action)
        requests = [
            {"id": name, "atomicityGroup": "new", "method": "POST", "url": url, "body": body}
            for name, (url, body) in parts.items()
        ]
        answer = await self._api("POST", f"{_API}/$batch", {"requests": requests}, kind="batch")
        if answer.outcome != "ok":
            return
        told = {one["id"]: one for one in answer.json()["responses"]}
        if any(one["status"] != 201 for one in told.values()):
            if not any(one["status"] == 503 for one in told.values()):
                self.caller.history.fault(f"a new promotion was refused: {told}")
            return
        made = told["promotion"]["body"]["ID"]
        self.caller.history.written.append((self.caller.tenant, "Promotions", made))
        await self._api("PATCH", f"{_API}/Promotions({made})", {"status": "INACTIVE"}, kind="activate promotion")

    async def recharge(self) -> None:
        """Recharge the small budget, so that it runs out again later."""
        budget = {"budget_ID": identity(self.caller.tenant, "budget small")}
        body = {**budget, "amount": self.rng.randint(1, 3), "reference": self._name()}
        answer = await self._api("POST", f"{_API}/RechargeContributions", body, kind="recharge")
        if answer.outcome == "ok":
            self.caller.history.recharged.append((self.caller.tenant, answer.json()["ID"]))

    async def new_campaign(self) -> None:
        """Create a campaign; its subscriber never answers."""
        code = f"C-{self._name()}"[:50]
        answer = await self._api("POST", f"{_API}/Campaigns", {"code": code, "name": code}, kind="create")
        if answer.outcome == "ok":
            self.caller.history.written.append((self.caller.tenant, "Campaigns", answer.json()["ID"]))

    async def edit_draft(self) -> None:
        """Edit a promotion in the back office, possibly concurrently with others."""
        key = identity(self.caller.tenant, self.rng.choice(_CHANGED))
        who = self.rng.choice(("administrator", "planner"))
        root = f"{_ADMIN}/Promotions(ID={key},IsActiveEntity="
        begun = await self._admin("POST", f"{root}true)/AdminService.draftEdit", {"PreserveChanges": False}, who)
        if begun.outcome != "ok":
            return
        await self._admin("PATCH", f"{root}false)", {"name": f"Edited {self.rng.randrange(100)}"}, who)
        if self.rng.random() < 0.2:
            await self._admin("DELETE", f"{root}false)", None, who)
        else:
            await self._admin("POST", f"{root}false)/AdminService.draftActivate", {}, who)

    async def read(self) -> None:
        """Read a list."""
        await self._api("GET", f"{_API}/{self.rng.choice(_LISTS)}", kind="list")

    async def import_rows(self) -> None:
        """Import articles in bulk, sometimes sent twice at once, sometimes with a wrong row."""
        name, number = self._name(), self.rng.randint(20, 120)
        rows: list[dict[str, Any]] = [{"articleNumber": f"I-{name[:30]}-{row}", "name": "New"} for row in range(number)]
        if self.rng.random() < 0.3:
            rows[-1]["name"] = "n" * 300
        body = {"header": {"continueOnError": self.rng.random() < 0.7}, "rows": rows}
        address = f"{_API}/Articles:bulk-import"
        times = 2 if self.rng.random() < 0.4 else 1
        calls = [self._api("POST", address, body, kind="import", idempotency_key=name) for _ in range(times)]
        answers = await asyncio.gather(*calls)
        jobs = {one.json()["jobId"] for one in answers if one.outcome == "ok"}
        if len(jobs) > 1:
            self.caller.history.fault(f"one key became two jobs: {jobs}")
        self.caller.history.accepted += [(self.caller.tenant, name, job) for job in jobs]

    async def import_at_till(self) -> None:
        """Import articles from a till: some immediately, or a batch."""
        rows = [{"articleNumber": self.rng.choice(ARTICLES), "name": f"Renamed {self.rng.randrange(50)}"}]
        rows.append({"articleNumber": f"T-{self._name()[:30]}", "name": "New"})
        if self.rng.random() < 0.5:
            await self.caller.post("articles", "/pos/articles/import", {"articles": rows})
            return
        body = {"name": self._name(), "articles": rows}
        answer = await self.caller.post("article batch", "/pos/articles/import-batch", body)
        if answer.outcome == "ok":
            self.caller.history.accepted.append((self.caller.tenant, "", answer.json()["jobId"]))

    def _name(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128)))

    async def _api(self, method: str, path: str, body: Any = None, *, kind: str = "read", **headers: str) -> Any:
        return await self.caller.call(kind, method, path, body, client="integrator", **headers)

    async def _admin(self, method: str, path: str, body: Any, who: str) -> Any:
        return await self.caller.call("draft", method, path, body, client=who)
