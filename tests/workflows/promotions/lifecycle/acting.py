"""Actions on a desk's rows: one call is one unit of work, as in the administration."""

from __future__ import annotations

import json
import secrets
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from promenade.model.declare import Service
from promenade.store.driver.unit import Database, Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.coupons.generation import generate_codes, issue_coupon
from promenade.workflows.coupons.issuing import IssuedCoupon
from promenade.workflows.promotions.lifecycle import move, move_promotion
from tests.workflows.authoring.desk import TENANT, Desk

__all__ = ["Office"]

Step = Callable[[Authoring, Session], Awaitable[Any]]


class Office(Desk):
    """A desk in the administration; ``now`` is the time of the next action."""

    def __init__(self, database: Database, tenant: str = TENANT) -> None:
        super().__init__(database, tenant, service=Service.ADMIN)

    async def act(self, step: Step) -> Any:
        """Run one unit of work that needs its session."""

        async def unit(session: Session) -> Any:
            authoring = Authoring(
                session, user="ann", at=self.now, new_id=lambda: str(uuid.uuid4()), service=Service.ADMIN
            )
            answer = await step(authoring, session)
            await authoring.finish()
            return answer

        return await self.database.write(unit, tenant=self.tenant)

    async def move(self, set_name: str, row_id: str, verb: str) -> None:
        if set_name == "Promotions":
            await self.act(lambda authoring, session: move_promotion(authoring, session, row_id, verb, self.now))
        else:
            await self.act(lambda authoring, _: move(authoring, set_name, row_id, verb))

    async def generate(self, coupon_type_id: str, number: int) -> str:
        made = await self.act(
            lambda authoring, session: generate_codes(
                authoring, session, coupon_type_id, number, at=self.now, draw=secrets.choice
            )
        )
        return str(made)

    async def issue(self, coupon_type_id: str, customer_id: str | None = None) -> IssuedCoupon:
        issued: IssuedCoupon = await self.act(
            lambda authoring, session: issue_coupon(
                authoring, session, coupon_type_id, customer_id, at=self.now, draw=secrets.choice
            )
        )
        return issued

    async def trail(self, row_id: str) -> list[str]:
        """Return the audit trail of a row."""
        return [row["action"] for row in await self.rows("AuditLogs", entityId=row_id)]

    async def news(self, row_id: str | None = None) -> list[dict[str, Any]]:
        """Return the events in the outbox by type, only those about a row if one is given."""
        told = [json.loads(row["payload"]) for row in await self.system_rows("outbox_events")]
        about = [one for one in told if row_id is None or row_id in one["data"].values()]
        return sorted(about, key=lambda one: str(one["type"]))
