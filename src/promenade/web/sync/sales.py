"""`/sync/transactions`: a store uploads its sales and the coupon events at its tills (interface decisions, Sync).

A body may have ten megabytes: it is split first and decoded in slices in a thread, so that tills do not wait and the
decoded objects are never all in memory at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import random

import msgspec
from starlette.types import Receive, Scope

from promenade.errors import Invalid
from promenade.store.driver.unit import Session
from promenade.store.sync.deployments import Deployment
from promenade.web.access.auth import Authenticator, Caller
from promenade.web.http.body import read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.validation import explain
from promenade.web.sync.bodies import SYNC, read_query
from promenade.web.sync.intake import KNOWN_MAX, Intake
from promenade.web.sync.sale_messages import (
    CouponResult,
    Envelope,
    Named,
    SaleResult,
    TransactionsAnswer,
    TransactionsRequest,
    decode_cancellation,
    decode_coupon,
    decode_sale,
    named,
    read_envelope,
)
from promenade.workflows.context import Context
from promenade.workflows.sync.definitions import store_definitions
from promenade.workflows.sync.deployments import record_exchange, require_deployment
from promenade.workflows.sync.sales import Sender, Sent, UploadResult, take_uploads

SLICE = 32  # uploads that are decoded and stored together
SLICE_BYTES_MAX = 512 * 1024
WORKED_ON_MAX = 4  # bodies that this process works on at the same time
BESIDE_FROM = 32 * 1024  # bytes; smaller slices are decoded on the event loop


@dataclass(frozen=True, slots=True)
class _Part:
    """One upload as it was received."""

    raw: msgspec.Raw
    name: Named
    decode: Callable[[msgspec.Raw], Sent]


class SyncSales:
    """The handler of uploads."""

    def __init__(self, context: Context, authenticator: Authenticator, *, draw: Callable[[], float] = random) -> None:
        self._context = context
        self._authenticator = authenticator
        self._intake = Intake(draw)
        self._known: set[tuple[str, str]] = set()  # tenants and stores that have been found
        self._taking = asyncio.Semaphore(WORKED_ON_MAX)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [Endpoint("/sync/transactions", {"POST": self._transactions})]

    async def _transactions(self, scope: Scope, receive: Receive) -> Answer:
        """Store sales, coupon events and cancellations, once each, in order; an error in one rejects that one only."""
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(SYNC)
        require_json(scope)
        deployment_id = read_query(scope, "deploymentId").get("deploymentId")
        if deployment_id:
            await self._require_known(caller.tenant_id, deployment_id)
        async with self._intake.admitted((caller.tenant_id, deployment_id or caller.client_id)):
            body = await read_body(scope, receive)
            async with self._taking:
                asked = _envelope(body)
                if deployment_id and deployment_id != asked.deployment_id:
                    message = "`deploymentId` in the query and in the body name different stores."
                    raise Invalid("VALIDATION_FAILED", message, "deploymentId")
                return await self._take(caller, asked)

    async def _require_known(self, tenant_id: str, deployment_id: str) -> None:
        """Let nobody wait in the name of a store that there is not. Raises NotFound (DEPLOYMENT_NOT_FOUND)."""
        store = (tenant_id, deployment_id)
        if store in self._known:
            return
        await self._context.database.read(lambda session: require_deployment(session, deployment_id), tenant=tenant_id)
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        self._known.add(store)

    async def _take(self, caller: Caller, asked: Envelope) -> Answer:
        context, tenant_id = self._context, caller.tenant_id
        started_at = context.clock()
        deployment_id = asked.deployment_id

        async def find(session: Session) -> Deployment:
            return await require_deployment(session, deployment_id)

        deployment = await context.database.read(find, tenant=tenant_id)
        sender = Sender(deployment.id, deployment.instance_id or deployment.id)
        await store_definitions(context, tenant_id, asked.definitions)
        sales = [_Part(raw, named(raw), decode_sale) for raw in asked.transactions]
        coupons = [_Part(raw, named(raw), decode_coupon) for raw in asked.coupons]
        cancellations = [_Part(raw, named(raw), decode_cancellation) for raw in asked.cancellations]
        parts = [*coupons, *sales, *cancellations]
        # Stable sort: uploads without a readable place keep their order, coupons first.
        order = sorted(range(len(parts)), key=lambda at: parts[at].name.place)
        answers: list[UploadResult | None] = [None] * len(parts)
        for few in _slices(parts, order):
            taken = await take_uploads(context, tenant_id, sender, await _decoded([parts[at] for at in few]))
            for at, answer in zip(few, taken, strict=True):
                answers[at] = answer
        done = [answer for answer in answers if answer is not None]
        of_coupons = [_coupon_result(part, one) for part, one in zip(coupons, done, strict=False)]
        await self._record(tenant_id, deployment.id, started_at, done[len(coupons) :])
        return Answer(
            msgspec.json.encode(
                TransactionsAnswer(
                    [_sale_result(part, one) for part, one in zip(sales, done[len(coupons) :], strict=False)],
                    of_coupons,
                    [
                        _sale_result(part, one)
                        for part, one in zip(cancellations, done[len(coupons) + len(sales) :], strict=True)
                    ],
                )
            )
        )

    async def _record(
        self, tenant_id: str, deployment_id: str, started_at: datetime, sales: Sequence[UploadResult]
    ) -> None:
        """Record the exchange; an upload of repeats only is not recorded."""
        context = self._context
        accepted = sum(one.status == "accepted" for one in sales)
        rejected = [one for one in sales if one.status == "rejected"]
        if not accepted and not rejected:
            return
        codes = ", ".join(sorted({one.code or "" for one in rejected}))

        async def work(session: Session) -> None:
            await record_exchange(
                session,
                deployment_id,
                "UP",
                new_id=context.new_id,
                started_at=started_at,
                completed_at=context.clock(),
                transactions=accepted,
                status="FAILED" if rejected else "SUCCEEDED",
                message=f"{len(rejected)} rejected: {codes}" if rejected else None,
            )

        await context.database.write(work, tenant=tenant_id, durable=False)


def _envelope(body: bytes) -> Envelope:
    """Return the request with its uploads undecoded. Raises Invalid (VALIDATION_FAILED, or a code about the JSON)."""
    try:
        return read_envelope(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as fault:
        if len(body) < BESIDE_FROM:
            raise explain(b'{"request":%s}' % body, TransactionsRequest, ()) from None
        raise Invalid("VALIDATION_FAILED", f"The body cannot be read: {str(fault)[:200]}") from None


def _slices(parts: Sequence[_Part], order: Sequence[int]) -> list[list[int]]:
    """Yield the indexes of parts, in order, in slices limited in number and bytes."""
    found: list[list[int]] = []
    size = 0
    for at in order:
        length = len(memoryview(parts[at].raw))
        if not found or len(found[-1]) >= SLICE or size + length > SLICE_BYTES_MAX:
            found.append([])
            size = 0
        found[-1].append(at)
        size += length
    return found


async def _decoded(parts: Sequence[_Part]) -> list[Sent]:
    def decode() -> list[Sent]:
        return [part.decode(part.raw) for part in parts]

    if sum(len(memoryview(part.raw)) for part in parts) < BESIDE_FROM:
        return decode()
    return await asyncio.to_thread(decode)


def _sale_result(part: _Part, taken: UploadResult) -> SaleResult:
    name = part.name
    return SaleResult(
        name.transaction_id,
        name.transaction_counter,
        taken.status,
        taken.code,
        taken.message,
        sorted(taken.missing) or None,
    )


def _coupon_result(part: _Part, taken: UploadResult) -> CouponResult:
    return CouponResult(part.name.log_id, taken.status, taken.code, taken.message)
