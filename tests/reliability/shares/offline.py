"""Stores with their own databases and a link to the cloud that can fail at any moment."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec
from sqlalchemy import delete

from promenade.store.access.local_store import StoreRow, insert_store
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.web.access.auth import Caller
from promenade.web.sync.shares import SyncShares
from promenade.workflows.replica.holding import keep_shares
from promenade.workflows.sync.deployments import record_heartbeat
from promenade.workflows.uplink import CloudRefused, CloudUnreachable, Reserve, Uplink
from tests.reliability.shares.stores import Stores
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import NOON, Shop, identity

__all__ = ["Branch", "Wire", "open_branch", "sale_of"]


class _Trusting:
    """Accepts every caller as a store of the tenant; access is tested elsewhere."""

    def __init__(self, tenant_id: str) -> None:
        self._caller = Caller(tenant_id, "store", "store", frozenset({"svc.Sync"}), 0.0)

    async def authenticate(self, scope: Any) -> Caller:
        return self._caller


@dataclass
class Wire:
    """A CloudClient that calls the cloud's endpoints directly. ``faults`` are the faults of the next requests.

    ``before``: the request is lost, ``after``: the answer is lost.
    """

    shop: Shop
    faults: list[str] = field(default_factory=list)
    sent: list[tuple[str, dict[str, Any], str | None]] = field(default_factory=list)

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        raise AssertionError(f"nothing is fetched here: {path}")

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        fault = self.faults.pop(0) if self.faults else ""
        self.sent.append((path, dict(body), key))  # type: ignore[call-overload]
        if fault == "before":
            raise CloudUnreachable("CLOUD_UNREACHABLE", "The cloud did not answer.")
        status, answer = await self._called(path, msgspec.json.encode(body), key)
        if fault == "after":
            raise CloudUnreachable("CLOUD_UNREACHABLE", "The answer was lost.")
        decoded: dict[str, Any] = msgspec.json.decode(answer)
        if status != 200:
            raise CloudRefused(status, decoded["error"]["code"], decoded["error"]["message"])
        return decoded

    async def _called(self, path: str, body: bytes, key: str | None) -> tuple[int, bytes]:
        trusting: Any = _Trusting(self.shop.tenant)
        endpoints = {one.route: one for one in SyncShares(self.shop.context, trusting).endpoints()}
        headers = [(b"content-type", b"application/json"), *([(b"idempotency-key", key.encode())] if key else ())]
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
                 "headers": headers, "promenade.correlation_id": b"test"}  # fmt: skip
        said: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            said.append(message)

        await endpoints[path](scope, receive, send)
        return said[0]["status"], said[1]["body"]


@dataclass
class Branch:
    """A store: its shop, its link, and the number of sales it has reported to the cloud."""

    name: str
    shop: Shop
    wire: Wire
    cloud: Stores
    unsent: list[tuple[str, int, str]] = field(default_factory=list)  # transaction, minor units, budget

    @property
    def uplink(self) -> Uplink:
        assert self.shop.context.uplink is not None
        return self.shop.context.uplink

    async def keep(self) -> bool:
        """Run one round of share keeping; return whether it completed."""
        try:
            await keep_shares(self.shop.context, self.shop.tenant)
        except CloudUnreachable:
            return False
        return True

    async def hear(self) -> None:
        """Send a heartbeat and take over what the cloud says about reserves."""
        shop = self.cloud.shop
        heard = await record_heartbeat(
            shop.context, shop.tenant, identity(self.name), version="1", pending=0, since=NOON
        )
        self.uplink.reserves |= {(one.kind, one.entity_id): Reserve(one.halvings, one.piece) for one in heard.reserves}

    async def sell(self, transaction: str, minor: int, budget: str) -> None:
        counter = await self.shop.price(transaction, sale_of(minor, budget))
        await self.shop.confirm(transaction, counter, "off")
        self.unsent.append((transaction, minor, budget))

    async def report(self) -> None:
        """Do what an upload does: the cloud releases the store's share of each sale, then confirms the sale."""
        for transaction, minor, budget in self.unsent:
            await self.cloud.release(self.name, budgets={budget: str(Decimal(minor) / 100)})
            shop, name = self.cloud.shop, f"{self.name}-{transaction}"
            await shop.confirm(name, await shop.price(name, sale_of(minor, budget)), "off")
        self.unsent.clear()
        await self.forget_uploads()

    async def forget_uploads(self) -> None:
        await self.shop.context.database.write(
            lambda session: session.rowcount(delete(table("sync_uploads"))), tenant=self.shop.tenant
        )

    async def rest(self, budget: str) -> Decimal:
        """Return the amount of a budget that the store can still spend."""
        row = await self.shop.row("Budgets", budget)
        return Decimal(row.total_amount - row.consumed_amount)


def sale_of(minor: int, budget: str) -> Any:
    """Return a sale whose promotion `off` gives this amount, charged to a budget."""
    return outcome(
        (line("1", 1000, 100_000, discount("off", ((1, minor),))),), (applied("off", minor, budget_ids=(budget,)),)
    )


async def open_branch(name: str, shop: Shop, cloud: Stores) -> Branch:
    """Open a store on its own database; it shares the cloud's clock."""
    wire = Wire(cloud.shop)
    uplink = Uplink(client=wire, is_connected=True, deployment_id=identity(name))
    now = cloud.shop.now
    shop.now = now
    shop.context = dataclasses.replace(
        shop.context, uplink=uplink, clock=lambda: now[0], source="local-store", new_id=lambda: str(uuid.uuid4())
    )
    await shop.promotion("off")

    async def work(session: Session) -> None:
        await insert_store(session, StoreRow(shop.tenant, identity(name), "0" * 64), NOON)

    await shop.context.database.write(work, system=True)
    return Branch(name, shop, wire, cloud)
