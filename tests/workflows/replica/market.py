"""A cloud and its stores, each with its own database; they exchange wire messages within one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import msgspec

from promenade.engine.basket import Basket, BasketLine, CouponFact, Customer, Facts, PosGroupFact, Settings
from promenade.engine.outcome import Outcome
from promenade.engine.view import NO_GROUPS
from promenade.store.driver.unit import Database
from promenade.store.pricing.changes import Version
from promenade.store.pricing.iterations import keep_definitions, store_iteration
from promenade.store.pricing.surroundings import tree_hash
from promenade.web.access.auth import Caller
from promenade.web.sync.sales import SyncSales
from promenade.workflows.replica.uploading import Uploaded, upload_portion
from promenade.workflows.sync.deployments import StoreCard, register
from promenade.workflows.uplink import CloudRefused, CloudUnreachable, Uplink
from tests.workflows.shop import TENANT, Shop, identity, open_shop

__all__ = ["Cloud", "Store", "open_cloud", "open_store", "price"]

LOCAL = "local"
TREE = tree_hash(NO_GROUPS)


class _Anybody:
    """Accepts every caller as a store of the tenant."""

    async def authenticate(self, scope: object) -> Caller:
        return Caller(TENANT, "store", "store", frozenset({"svc.Sync"}), 2e9)


@dataclass
class Cloud:
    """The cloud's shop and its upload endpoint; ``requests`` were received, ``failing`` are the next faults."""

    shop: Shop
    endpoint: Any
    requests: list[dict[str, Any]] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)

    async def post(
        self, path: str, body: object, *, key: str | None = None, seconds: float | None = None
    ) -> dict[str, Any]:
        """Like `CloudClient.post`; in ``failing``, ``before`` loses the request and ``after`` the answer."""
        assert path == f"/sync/transactions?deploymentId={body['deploymentId']}"  # type: ignore[index]
        sent = msgspec.json.encode(body)
        failure = self.failing.pop(0) if self.failing else None
        if failure == "before":
            raise CloudUnreachable("GONE", "The request was lost.")
        status, answer = await self.raw(sent)
        self.requests.append(msgspec.json.decode(sent))
        if failure == "after":
            raise CloudUnreachable("GONE", "The answer was lost.")
        if status != 200:
            raise CloudRefused(status, answer["error"]["code"], answer["error"]["message"])
        return answer

    async def get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        raise AssertionError(path)

    async def raw(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Return status and body of the answer to a body."""
        answered: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            answered.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/sync/transactions",
            "raw_path": b"/sync/transactions",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "promenade.correlation_id": b"test",
        }
        await self.endpoint(scope, receive, send)
        return answered[0]["status"], msgspec.json.decode(answered[1]["body"])


@dataclass
class Store(Shop):
    """A store's shop, on its own database; the cloud knows it as ``deployment_id``."""

    cloud: Cloud | None = None
    deployment_id: str = ""

    async def upload(self) -> Uploaded:
        return await upload_portion(self.context, self.tenant)

    async def upload_all(self) -> None:
        """Upload everything that can be sent, after running the side effects."""
        await self.work()
        while (await self.upload()).sent:
            pass

    async def queue(self) -> list[Any]:
        return sorted(await self.rows("sync_uploads"), key=lambda row: row.number)


async def open_cloud(database: Database) -> Cloud:
    shop = await open_shop(database)
    (endpoint,) = SyncSales(shop.context, _Anybody()).endpoints()  # type: ignore[arg-type]
    return Cloud(shop, endpoint)


async def open_store(database: Database, cloud: Cloud, code: str = "S1") -> Store:
    """Open a store that is registered with the cloud and shares its clock."""
    found = await register(cloud.shop.context, TENANT, StoreCard(code, code, None, "1"), user="tests")
    plain = await open_shop(database, LOCAL)
    plain.now[0] = cloud.shop.now[0]
    uplink = Uplink(client=cloud, is_connected=True, deployment_id=found.deployment_id, instance_id=found.instance_id)
    context = replace(plain.context, uplink=uplink, source="local-store")
    return Store(context, plain.now, plain.tenant, cloud, found.deployment_id)


async def price(
    shop: Shop,
    transaction_id: str,
    outcome: Outcome,
    *,
    coupons: Sequence[CouponFact] = (),
    customer_id: str | None = None,
    sales: Mapping[str, tuple[str, str]] | None = None,
) -> int:
    """Price like `Shop.price`, with everything that an upload needs."""
    lines = tuple(
        BasketLine(
            line.reference,
            line.article_number,
            line.quantity_thousandths,
            line.unit_price_hundredths,
            fields=_names((sales or {}).get(line.reference)),
        )
        for line in outcome.lines
    )
    basket = Basket(
        transaction_id,
        lines,
        PosGroupFact(identity("shop"), "SHOP", outcome.currency),
        tuple(one.code for one in coupons),
        Customer(customer_id) if customer_id is not None else None,
    )
    at = shop.now[0]
    await shop.context.database.write(
        lambda session: keep_definitions(session, {TREE: NO_GROUPS}, at), tenant=shop.tenant
    )
    counter = await store_iteration(
        shop.context.database,
        tenant_id=shop.tenant,
        origin=shop.context.origin,
        version=Version(),
        must_be_current=False,
        input_=(basket, Settings(at - timedelta(seconds=1)), Facts(coupons=tuple(coupons)), TREE),
        outcome=_named(outcome),
        receipt_id=None,
        header_reference=None,
        created_at=at,
    )
    assert counter is not None
    return counter


def _names(sale: tuple[str, str] | None) -> tuple[tuple[str, str], ...]:
    return () if sale is None else (("originalTransactionId", sale[0]), ("originalLineReference", sale[1]))


def _named(outcome: Outcome) -> Outcome:
    return dataclasses.replace(
        outcome,
        lines=tuple(
            replace(
                line, discounts=tuple(replace(one, promotion_id=identity(one.promotion_id)) for one in line.discounts)
            )
            for line in outcome.lines
        ),
        applied=tuple(
            replace(
                one,
                promotion_id=identity(one.promotion_id),
                budget_ids=tuple(map(identity, one.budget_ids)),
                post_purchase_coupon_type_ids=tuple(map(identity, one.post_purchase_coupon_type_ids)),
            )
            for one in outcome.applied
        ),
    )
