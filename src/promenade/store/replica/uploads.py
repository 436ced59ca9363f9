"""A store's upload queue: sales and coupon events in the order in which they happened (reliability T1).

A row is written in the transaction of its sale or event, and deleted when the cloud has accepted it. Its number is the
highest one plus one, as a store's database has only one writer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, insert, select, update

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.packing import PackedRecord, StoredRecord, packed_records

SALE, COUPON, CANCELLATION = "SALE", "COUPON", "CANCEL"
REASON_MAX = 1000

_UPLOADS = table("sync_uploads")
_ITERATIONS = table("iterations")
_JOBS = table("side_effect_jobs")


@dataclass(frozen=True, slots=True)
class Upload:
    """A row of the queue with related columns of other tables; for a coupon event only the first six are set.

    ``record`` is that of the iteration, None when it has been deleted; ``job_status`` None: there is no job;
    ``issued``: the coupons that its job has issued.
    """

    number: int
    kind: str
    subject_id: str
    transaction_id: str | None
    transaction_counter: int
    payload: bytes | None
    happened_at: datetime
    record: PackedRecord | None
    receipt_id: str | None
    header_reference: str | None
    evaluated_at: datetime | None
    data_age: datetime | None
    job_id: str | None
    job_status: str | None
    job_payload: bytes | None
    issued: Sequence[Mapping[str, Any]] | None


def _given(name: str) -> Any:
    return parameter(f"given_{name}", _UPLOADS.c[name].type)


_ADD = Kept(
    insert(_UPLOADS).values(
        number=select(func.coalesce(func.max(_UPLOADS.c.number), 0) + 1).scalar_subquery(),
        **{
            name: _given(name)
            for name in ("kind", "subject_id", "transaction_id", "transaction_counter", "payload", "happened_at")
        },
    )
)


async def add(
    session: Session,
    kind: str,
    subject_id: str,
    *,
    transaction_id: str | None,
    transaction_counter: int,
    payload: bytes | None,
    happened_at: datetime,
) -> None:
    """Append an upload to the queue, in the transaction of the sale or event."""
    given = {
        "given_kind": kind,
        "given_subject_id": subject_id,
        "given_transaction_id": transaction_id,
        "given_transaction_counter": transaction_counter,
        "given_payload": payload,
        "given_happened_at": happened_at,
    }
    await session.rowcount(_ADD, given)


async def next_uploads(session: Session, origin: str, limit: int) -> list[Upload]:
    """Return the first ``limit`` pending uploads, with iteration and job of sales; ``origin`` is the store's own.

    INVARIANT: one statement, so that a job is read in the same state as the row.
    """
    few = select(_UPLOADS).where(_UPLOADS.c.rejected_at.is_(None)).order_by(_UPLOADS.c.number).limit(limit).subquery()
    same = (few.c.transaction_id, few.c.transaction_counter)
    joined = few.outerjoin(_ITERATIONS, _is_of(_ITERATIONS, few, origin)).outerjoin(_JOBS, _is_of(_JOBS, few, origin))
    rows = await session.execute(
        select(
            few.c.number,
            few.c.kind,
            few.c.subject_id,
            *same,
            few.c.payload,
            few.c.happened_at,
            _ITERATIONS.c.tenant_id,
            _ITERATIONS.c.origin,
            _ITERATIONS.c.record,
            _ITERATIONS.c.base_counter,
            _ITERATIONS.c.receipt_id,
            _ITERATIONS.c.header_reference,
            _ITERATIONS.c.evaluated_at,
            _ITERATIONS.c.data_age,
            _JOBS.c.id.label("job_id"),
            _JOBS.c.status.label("job_status"),
            _JOBS.c.payload.label("job_payload"),
            _JOBS.c.post_purchase_coupons.label("issued"),
        )
        .select_from(joined)
        .order_by(few.c.number)
    )
    records = iter(await packed_records(session, [StoredRecord.of(row) for row in rows if row.record is not None]))
    return [_upload(row, None if row.record is None else next(records)) for row in rows]


def _upload(row: Any, record: PackedRecord | None) -> Upload:
    same = {one.name: getattr(row, one.name) for one in fields(Upload) if one.name != "record"}
    return Upload(**same, record=record)


def _is_of(rows: Any, few: Any, origin: str) -> Any:
    return and_(
        few.c.kind == SALE,
        rows.c.origin == origin,
        rows.c.transaction_id == few.c.transaction_id,
        rows.c.transaction_counter == few.c.transaction_counter,
    )


async def remove(session: Session, subject_ids: Collection[str]) -> None:
    """Delete uploads that the cloud accepted."""
    if subject_ids:
        await session.rowcount(delete(_UPLOADS).where(_UPLOADS.c.subject_id.in_(list(subject_ids))))


_REJECT = (
    update(_UPLOADS)
    .where(_UPLOADS.c.subject_id == bindparam("refused_id"))
    .values(rejected_at=bindparam("refused_at"), reason=bindparam("refused_for"))
)


async def reject(session: Session, reasons: Mapping[str, str], at: datetime) -> None:
    """Mark uploads as rejected, with the reason by subject; they are not sent again automatically."""
    await session.execute_many(
        _REJECT,
        [
            {"refused_id": subject_id, "refused_at": at, "refused_for": reason[:REASON_MAX]}
            for subject_id, reason in reasons.items()
        ],
    )


async def count(session: Session, kind: str | None = None) -> int:
    """Return how many uploads are pending, of one kind or both; rejected ones are not counted."""
    statement = select(func.count()).select_from(_UPLOADS).where(_UPLOADS.c.rejected_at.is_(None))
    if kind is not None:
        statement = statement.where(_UPLOADS.c.kind == kind)
    return int((await session.execute(statement))[0][0])


async def requeue(session: Session) -> int:
    """Make all rejected uploads pending again, at their old positions; return their number."""
    refused = update(_UPLOADS).where(_UPLOADS.c.rejected_at.is_not(None))
    return await session.rowcount(refused.values(rejected_at=None, reason=None))
