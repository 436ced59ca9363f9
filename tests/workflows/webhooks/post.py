"""A tenant with subscriptions to a real receiver, and a delivery that tests run themselves."""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Row

from promenade.events import CouponExpired, Event
from promenade.store.driver.unit import Database
from promenade.store.webhooks.outbox import emit, emit_all
from promenade.worker.delivery import Delivery
from promenade.workflows.context import Context
from promenade.workflows.webhooks.sending import trusted_roots
from tests.kit.receiver import Receiver
from tests.workflows.shop import TENANT, Shop, identity, open_shop

__all__ = ["SCHEDULE", "SECRET", "Post", "an_event", "open_post"]

SECRET = f"whsec_{b64encode(b'a key of twenty-four byte').decode()}"
SCHEDULE = (5, 300, 1800)
VALID_UNTIL = datetime(2026, 12, 31, tzinfo=UTC)


def an_event(name: str = "c") -> Event:
    return CouponExpired(
        coupon_id=identity(name), coupon_type_id=identity("type"), customer_id=None, valid_until=VALID_UNTIL
    )


@dataclass
class Post:
    """A shop's webhooks; its clock begins at the real time, because receivers reject other times."""

    shop: Shop
    receiver: Receiver

    @property
    def context(self) -> Context:
        return self.shop.context

    def later(self, **by: float) -> None:
        self.shop.later(**by)

    async def subscribe(self, name: str, *kinds: str, **columns: Any) -> str:
        """Create a subscription to the receiver's path /<name>; its secret is SECRET."""
        values = {
            "name": name,
            "callback_url": f"{self.receiver.url}/{name}",
            "event_types": list(kinds) or ["*"],
            "secret": SECRET,
            "is_active": True,
            "failure_count": 0,
            **columns,
        }
        await self.shop.put("WebhookSubscriptions", id=identity(name), **values)
        return identity(name)

    async def emit(self, *names: str, callback_url: str | None = None, at: datetime | None = None) -> None:
        """Emit one event for each name, which is also its ID."""
        moment = at or self.context.clock()

        async def work(session: Any) -> None:
            for name in names:
                await emit(session, an_event(name), event_id=identity(name), at=moment, callback_url=callback_url)

        await self.context.database.write(work, tenant=self.shop.tenant)

    async def emit_many(self, number: int) -> None:
        events = [an_event(str(one)) for one in range(number)]
        at = self.context.clock()
        await self.context.database.write(
            lambda session: emit_all(session, events, new_id=self.context.new_id, at=at), tenant=self.shop.tenant
        )

    async def tell(self, event: Event) -> None:
        """Emit ``event`` itself."""
        context = self.context
        await context.database.write(
            lambda session: emit(session, event, event_id=context.new_id(), at=context.clock()),
            tenant=self.shop.tenant,
        )

    def delivery(self, **settings: Any) -> Delivery:
        return Delivery(
            self.context, **{"tls": roots(), "draw": middle, "rest_seconds_max": 0, "poll_seconds": 0.05, **settings}
        )

    async def deliver(self, **settings: Any) -> None:
        """Let a worker plan and send whatever is due now."""
        async with self.delivery(**settings) as delivery:
            await delivery.drain()

    async def logs(self, **where: Any) -> Sequence[Row[Any]]:
        return await self.shop.rows("NotificationLogs", **where)

    async def log(self, **where: Any) -> Row[Any]:
        (row,) = await self.logs(**where)
        return row

    async def queued(self) -> Sequence[Row[Any]]:
        return await self.shop.rows("webhook_queue")

    async def outbox(self, kind: str) -> Sequence[Row[Any]]:
        return await self.shop.rows("outbox_events", kind=kind)

    async def subscription(self, name: str) -> Row[Any]:
        return await self.shop.row("WebhookSubscriptions", name)


@cache
def roots() -> ssl.SSLContext:
    """Read the trusted roots once: that takes longer than a delivery."""
    return trusted_roots()


def middle(below: int) -> int:
    """Return the random draw that adds no jitter: schedules are exact to the second."""
    return below // 2


async def open_post(database: Database, receiver: Receiver, tenant: str = TENANT, **settings: Any) -> Post:
    shop = await open_shop(database, tenant)
    shop.now[0] = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    shop.context = replace(
        shop.context,
        **{"webhook_allow": frozenset({"127.0.0.1"}), "webhook_retry_schedule": SCHEDULE, **settings},
    )
    return Post(shop, receiver)
