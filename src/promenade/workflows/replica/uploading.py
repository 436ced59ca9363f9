"""Upload a store's sales, cancellations and coupons in order, in portions, until the cloud has accepted each (T1, T5).

A sale is uploaded when its side effects have ended, with the coupons that they issued. After too long a wait it is
uploaded without: the coupons it still owes are then the cloud's to issue. Later entries never overtake it, otherwise
the cloud would see a return before its sale. Losing a response is harmless: the cloud knows what it has accepted.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from promenade import metrics
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.iterations import load_definitions
from promenade.store.replica import uploads as sync_uploads
from promenade.store.replica.uploads import CANCELLATION, COUPON, Upload
from promenade.store.sales import jobs
from promenade.workflows.context import Context
from promenade.workflows.replica.queueing import decode_cancellation, decode_coupon, decode_sale
from promenade.workflows.replica.uploads import (
    IssuedCode,
    SoldCommand,
    SoldItem,
    SoldPromotion,
    UploadedCancellation,
    UploadedCoupon,
)
from promenade.workflows.settlement.effects import decode_effects, encode_effects
from promenade.workflows.settlement.rules import ConfirmCommand
from promenade.workflows.uplink import CloudUnreachable

ROWS_MAX = 250
BYTES_MAX = 3 * 1024 * 1024  # of sales per portion, and of definitions
SALE_BYTES_MAX = 9 * 1024 * 1024  # of a single sale in its own portion; the cloud reads 10 MiB
WAIT_MAX = timedelta(minutes=15)  # for a sale's side effects
SECONDS_MAX = 120.0  # for the cloud to process a portion
YIELD_EVERY = 16  # sales encoded before yielding to tills

_JSON = msgspec.json.Encoder()
_ACCEPTED = frozenset({"accepted", "duplicate"})


@dataclass(frozen=True, slots=True)
class Uploaded:
    """How many entries the cloud has processed now, and how many are ``left``, counted up to a portion."""

    sent: int
    left: int


class _Result(msgspec.Struct):
    status: str
    reason: str | None = None
    message: str | None = None
    missing: frozenset[str] = frozenset()  # definitions that the cloud lacks


class _Answer(msgspec.Struct):
    results: list[_Result]
    coupons: list[_Result] = []
    cancellations: list[_Result] = []


@dataclass(frozen=True, slots=True)
class _Portion:
    """The contents of one upload; ``lost`` cannot be sent at all: reasons by subject."""

    sales: Sequence[tuple[Upload, msgspec.Raw]]
    coupons: Sequence[tuple[Upload, UploadedCoupon]]
    cancellations: Sequence[tuple[Upload, UploadedCancellation]]
    hashes: frozenset[str]
    lost: Mapping[str, str]
    held_back: Sequence[Upload]  # sales sent before their jobs have completed

    @property
    def size(self) -> int:
        return len(self.sales) + len(self.coupons) + len(self.cancellations)

    @property
    def is_empty(self) -> bool:
        return not self.size


_KNOWN: WeakKeyDictionary[Database, dict[str, set[str]]] = WeakKeyDictionary()
"""Which definitions each cloud has had of this process, by deployment: those need not go again."""


async def count_pending(context: Context, tenant_id: str) -> int:
    """Return how many sales the cloud has not accepted yet, not counting those it refused."""
    return await context.database.read(lambda session: sync_uploads.count(session, sync_uploads.SALE), tenant=tenant_id)


async def requeue_rejected(database: Database, tenant_id: str) -> int:
    """Queue the uploads that the cloud refused again, in their old order; return how many."""
    return await database.write(sync_uploads.requeue, tenant=tenant_id)


async def upload_portion(context: Context, tenant_id: str) -> Uploaded:
    """Upload one portion, oldest first, and delete what the cloud has accepted.

    ``sent`` 0 means that nothing can be sent now. Raises CloudUnreachable and CloudRefused; then everything stays
    queued.
    """
    uplink = context.uplink
    if uplink is None or uplink.client is None or uplink.deployment_id is None:
        return Uploaded(0, 0)
    rows = await context.database.read(
        lambda session: sync_uploads.next_uploads(session, context.origin, ROWS_MAX + 1), tenant=tenant_id
    )
    portion = await _portion(context, rows)
    left = len(rows) - portion.size - len(portion.lost)
    if portion.lost or portion.held_back:
        await context.database.write(lambda session: _prepare(session, portion, context.clock()), tenant=tenant_id)
    if portion.held_back:  # reread what their jobs issued before they were stopped
        return await upload_portion(context, tenant_id)
    if portion.is_empty:
        return Uploaded(len(portion.lost), left)
    known = _KNOWN.setdefault(context.database, {}).setdefault(uplink.deployment_id, set())
    new = portion.hashes - known
    bodies = await context.database.read(lambda session: load_definitions(session, new), tenant=tenant_id)
    definitions = dict(_fitting_definitions(bodies))
    body = {
        "deploymentId": uplink.deployment_id,
        "definitions": definitions,
        "transactions": [raw for _, raw in portion.sales],
        "coupons": [event for _, event in portion.coupons],
        "cancellations": [one for _, one in portion.cancellations],
    }
    path = f"/sync/transactions?deploymentId={uplink.deployment_id}"
    told = _parse_results(portion, await uplink.client.post(path, body, seconds=SECONDS_MAX))
    known.update(definitions)
    missing = frozenset().union(*(one.missing for _, one in told)) - definitions.keys()
    sendable = missing & (known | bodies.keys())  # lost by the cloud, or too many for this portion
    known.difference_update(missing)
    sent = await _settle(context, tenant_id, told, sendable)
    return Uploaded(sent + len(portion.lost), left + len(told) - sent)


# ---- what is sent -------------------------------------------------------------------------------------------------


async def _portion(context: Context, rows: Sequence[Upload]) -> _Portion:
    """Select those of ``rows``, in order, that may be sent now and fit into a portion."""
    sales: list[tuple[Upload, msgspec.Raw]] = []
    coupons: list[tuple[Upload, UploadedCoupon]] = []
    cancellations: list[tuple[Upload, UploadedCancellation]] = []
    hashes: set[str] = set()
    lost: dict[str, str] = {}
    held_back: list[Upload] = []
    size = 0
    for place, row in enumerate(rows[:ROWS_MAX]):
        if place % YIELD_EVERY == YIELD_EVERY - 1:
            await asyncio.sleep(0)
        if row.kind == COUPON:
            coupons.append((row, _coupon(row)))
            continue
        if row.kind == CANCELLATION:
            cancellations.append((row, _cancellation(row)))
            continue
        if _must_wait(row, context.clock()):
            break
        if _may_still_issue(row):
            held_back.append(row)
            continue
        sale = _sale(row)
        if sale is None:
            lost[row.subject_id] = "ITERATION_LOST: The priced basket is no longer stored."
            continue
        raw, named = sale
        if len(raw) > SALE_BYTES_MAX:
            lost[row.subject_id] = f"TOO_LARGE: The sale takes {len(raw)} bytes, which is more than can be sent."
            continue
        if size + len(raw) > BYTES_MAX and (sales or coupons):
            break
        size += len(raw)
        sales.append((row, msgspec.Raw(raw)))
        hashes |= named
    return _Portion(sales, coupons, cancellations, frozenset(hashes), lost, held_back)


def _must_wait(row: Upload, now: datetime) -> bool:
    """Whether its side effects may still issue coupons; does not wait if the clock has been set back."""
    if row.job_status is None or row.job_status in {"COMPLETED", "FAILED", "CANCELLED"}:
        return False
    waited = now - row.happened_at
    return timedelta(0) <= waited < WAIT_MAX


def _may_still_issue(row: Upload) -> bool:
    """Whether its job could still issue coupons: it has failed, or did not end within the waiting time."""
    if row.job_status in {None, "COMPLETED", "CANCELLED"} or row.job_payload is None:
        return False
    return bool(decode_effects(row.job_payload).coupons)


async def _prepare(session: Session, portion: _Portion, at: datetime) -> None:
    await sync_uploads.reject(session, portion.lost, at)
    for row in portion.held_back:
        if row.job_id is not None and row.job_payload is not None:
            without = encode_effects(replace(decode_effects(row.job_payload), coupons=()))
            await jobs.replace_payload(session, row.job_id, without, at)


def _sale(row: Upload) -> tuple[bytes, frozenset[str]] | None:
    """Encode a sale as JSON with the definitions that its replay needs; None: its iteration was deleted."""
    if row.record is None or row.payload is None:
        return None
    # Sent as stored: converting it to the engine's types is not necessary.
    basket, settings, facts, tree, outcome = msgspec.msgpack.decode(row.record.unpack())
    request = {"basket": basket, "settings": settings, "facts": facts, "treeHash": tree}
    told = {"receiptId": row.receipt_id, "headerReference": row.header_reference, "dataAge": row.data_age}
    sale = {
        "transactionId": row.transaction_id,
        "transactionCounter": row.transaction_counter,
        "evaluatedAt": row.evaluated_at,
        "confirmedAt": row.happened_at,
        "request": request | told,
        "result": outcome,
        "confirm": _command(decode_sale(row.payload).command),
        "issued": [_issued(one) for one in row.issued or ()],
        "order": row.number,
    }
    return _JSON.encode(sale), frozenset([tree, *outcome["candidate_hashes"]])


def _command(command: ConfirmCommand) -> SoldCommand:
    items = command.items
    return SoldCommand(
        promotions=[
            SoldPromotion(one.promotion_id, one.coupon_code, one.amount, one.currency) for one in command.promotions
        ],
        fingerprint=command.fingerprint.hex(),
        pos_group_id=command.pos_group_id,
        pos_group_code=command.pos_group_code,
        customer_id=command.customer_id,
        timestamp=command.timestamp,
        items=None
        if items is None
        else [
            SoldItem(
                one.article_number,
                one.quantity,
                one.unit_price,
                one.line_reference,
                one.line_discount,
                one.line_net,
            )
            for one in items
        ],
        receipt_id=command.receipt_id,
        header_reference=command.header_reference,
    )


def _issued(kept: Mapping[str, Any]) -> IssuedCode:
    return IssuedCode(
        coupon_type_id=kept["couponTypeId"],
        promotion_id=kept["promotionId"],
        issued_at=datetime.fromisoformat(kept["issuedAt"]),
        coupon_id=kept["couponId"],
        customer_id=kept["customerId"],
    )


def _coupon(row: Upload) -> UploadedCoupon:
    event = decode_coupon(row.payload or b"")
    return UploadedCoupon(
        log_id=row.subject_id,
        action=event.action,
        coupon_type_id=event.coupon_type_id,
        occurred_at=event.occurred_at,
        coupon_id=event.coupon_id,
        transaction_id=event.transaction_id,
        customer_id=event.customer_id,
        reason=event.reason,
        metadata=event.metadata,
        order=row.number,
    )


def _cancellation(row: Upload) -> UploadedCancellation:
    return UploadedCancellation(
        cancellation_id=row.subject_id,
        transaction_id=row.transaction_id or "",
        transaction_counter=row.transaction_counter,
        cancelled_at=row.happened_at,
        reason=decode_cancellation(row.payload or b"").reason,
        order=row.number,
    )


def _fitting_definitions(bodies: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield the definitions that fit, in base64; the others follow with a later portion, when they are missed."""
    size = 0
    for key, body in sorted(bodies.items(), key=lambda one: len(one[1])):
        if size and size + len(body) * 4 // 3 > BYTES_MAX:
            break
        size += len(body) * 4 // 3
        yield key, base64.b64encode(body).decode("ascii")


# ---- what is answered ---------------------------------------------------------------------------------------------


def _parse_results(portion: _Portion, answer: object) -> list[tuple[Upload, _Result]]:
    """Return the result for each entry sent. Raises CloudUnreachable for an incomplete response."""
    try:
        told = msgspec.convert(answer, _Answer, strict=False)
    except msgspec.ValidationError as fault:
        raise CloudUnreachable("SYNC_ANSWER", f"The cloud's answer cannot be understood: {fault}") from None
    parts = (portion.sales, told.results), (portion.coupons, told.coupons), (portion.cancellations, told.cancellations)
    if any(len(sent) != len(results) for sent, results in parts):
        raise CloudUnreachable("SYNC_ANSWER", "The cloud's answer does not cover everything that was sent.")
    return [(row, result) for sent, results in parts for (row, _), result in zip(sent, results, strict=True)]


async def _settle(
    context: Context, tenant_id: str, told: Sequence[tuple[Upload, _Result]], sendable: frozenset[str]
) -> int:
    """Delete accepted entries and mark refused ones; return how many of both.

    Entries refused because of definitions that are ``sendable`` stay queued and are sent again with them.
    """
    taken: list[str] = []
    refused: dict[str, str] = {}
    for row, result in told:
        if result.status in _ACCEPTED:
            taken.append(row.subject_id)
        elif not result.missing & sendable:
            refused[row.subject_id] = f"{result.reason or 'REJECTED'}: {result.message or ''}"
        metrics.sync_uploads.labels(result.status if result.status in _ACCEPTED else "rejected").inc()

    async def work(session: Session) -> None:
        await sync_uploads.remove(session, taken)
        await sync_uploads.reject(session, refused, context.clock())

    await context.database.write(work, tenant=tenant_id)
    return len(taken) + len(refused)
