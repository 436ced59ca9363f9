"""The cloud takes sales that stores have made, each once, however often and in whatever order it is sent (T1, T4).

A sale is one unit of work: what the store held for it is let go of, its iteration is stored under the store's name with
the store's counter, and it is confirmed as any sale is. What was spent without a share goes by the ordinary rules: of
a budget what is left, and a coupon that somebody else has spent makes the sale rejected, with a FAILED log.

Sales are taken however old they are: the customer has paid. A store's clock that is ahead does not reach beyond now.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec
import structlog

from promenade import metrics
from promenade.errors import Conflict, Invalid, PromenadeError, Unavailable
from promenade.store import confirmations, uploaded_coupons
from promenade.store.calculation_logs import promotion_names
from promenade.store.confirmations import Confirmation
from promenade.store.iterations import StoredIteration, encode_outcome, insert_iteration, known_definitions
from promenade.store.unit import Session
from promenade.store.uploaded_coupons import CodeOf
from promenade.workflows.confirm import (
    ConfirmCommand,
    ConfirmedItem,
    ConfirmedPromotion,
    commit_sale,
    customer_of,
    log_refusal,
    plan_sale,
)
from promenade.workflows.confirm_rules import SaleIdentity
from promenade.workflows.context import Context
from promenade.workflows.returns import returned_quantities
from promenade.workflows.sync.coupon_events import take_coupon
from promenade.workflows.sync.store_sale import StoreSale
from promenade.workflows.uploads import SoldItem, SoldPromotion, UploadedCoupon, UploadedSale

__all__ = ["Refused", "Sender", "Taken", "take_uploads"]

STORE = "local-store"
AT_ONCE = {"postgresql": 6, "sqlite": 32}  # units; on SQLite they wait for one writer and are committed together
NAMED_MAX = 10_000  # in one statement; both databases take 32 766
_log = structlog.get_logger("promenade.sync")


@dataclass(frozen=True, slots=True)
class Sender:
    """The store that sends: its deployment, and what its answers say in meta.instanceId."""

    deployment_id: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that was sent and cannot be understood; see `Taken`."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a sale or a coupon event: accepted, duplicate or rejected, then with a stable code and why.

    ``missing`` are definitions that must be sent with it.
    """

    status: str
    code: str | None = None
    message: str | None = None
    missing: frozenset[str] = frozenset()


Sent = UploadedSale | UploadedCoupon | Refused

ACCEPTED, DUPLICATE = Taken("accepted"), Taken("duplicate")


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of what was sent before any of it is done."""

    confirmed: Mapping[str, Confirmation]
    logged: Collection[str]
    definitions: Collection[str]
    codes: Mapping[str, CodeOf]
    shared: Collection[str]  # types whose code all share
    shares: Collection[str]  # of what the store was given something
    controls: Mapping[str, tuple[str, int]] = field(default_factory=dict)


async def take_uploads(context: Context, tenant_id: str, sender: Sender, sent: Sequence[Sent]) -> list[Taken]:
    """Take what a store has sent, in its order; the answer has one for each.

    What has nothing to do with each other is carried out at the same time. Raises Unavailable; what was taken until
    then is a duplicate when it is sent again.
    """
    known = await context.database.read(lambda session: _look_up(session, sender, sent), tenant=tenant_id)
    taken: list[Taken] = []
    for wave in _waves(sent, AT_ONCE[context.database.dialect]):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_take(context, tenant_id, sender, known, one)) for one in wave]
        answers = [task.result() for task in tasks]
        for answer in answers:
            if isinstance(answer, Unavailable):
                raise answer
            taken.append(answer)
    context.jobs_ready.set()
    for one, answer in zip(sent, taken, strict=True):
        _count(context, tenant_id, one, answer)
    return taken


def _count(context: Context, tenant_id: str, one: Sent, answer: Taken) -> None:
    if isinstance(one, UploadedCoupon):
        metrics.sync_coupon_events.labels(tenant_id, answer.status).inc()
        return
    metrics.sync_transactions.labels(tenant_id, answer.status).inc()
    if isinstance(one, UploadedSale) and answer is ACCEPTED:
        waited = (context.clock() - one.confirmed_at).total_seconds()
        metrics.sync_transaction_age.labels(tenant_id).observe(max(waited, 0.0))


def _waves(sent: Sequence[Sent], most: int) -> Iterator[list[Sent]]:
    """What can be done at the same time, in order: nothing of a wave has a transaction or a coupon in common."""
    wave: list[Sent] = []
    busy: set[str] = set()
    for one in sent:
        keys = _keys(one)
        if wave and (len(wave) >= most or not busy.isdisjoint(keys)):
            yield wave
            wave, busy = [], set()
        wave.append(one)
        busy |= keys
    if wave:
        yield wave


def _keys(one: Sent) -> set[str]:
    if isinstance(one, Refused):
        return set()
    if isinstance(one, UploadedCoupon):
        named = {f"c:{one.coupon_id or one.coupon_type_id}"}
        return named if one.transaction_id is None else {*named, f"t:{one.transaction_id}"}
    request = one.request
    coupons = [fact.coupon_id or fact.coupon_type_id for fact in request.facts.coupons]
    issued = [code.coupon_id for code in one.issued]
    returned = returned_quantities(request.basket.lines, one.transaction_id)
    keys = {f"t:{name}" for name in (one.transaction_id, *returned)}
    return keys | {f"c:{name}" for name in (*coupons, *issued) if name is not None}


async def _look_up(session: Session, sender: Sender, sent: Sequence[Sent]) -> _Known:
    """All that the portion needs to know, in as many statements whatever its length."""
    sales = [one for one in sent if isinstance(one, UploadedSale)]
    events = [one for one in sent if isinstance(one, UploadedCoupon)]
    facts = [fact for one in sales for fact in one.request.facts.coupons]
    hashes = {key for one in sales for key in (one.request.tree_hash, *one.result.candidate_hashes)}
    arms = {name for one in sales for name in one.result.control_arms}
    names = [one.transaction_id for one in sales]
    ids = {fact.coupon_id for fact in facts if fact.coupon_id} | {one.coupon_id for one in events if one.coupon_id}
    types = {fact.coupon_type_id for fact in facts if fact.coupon_type_id} | {one.coupon_type_id for one in events}
    given = ids | types | {name for one in sales for name in _spent_by(one)}
    return _Known(
        confirmed=await confirmations.find_all(session, sender.deployment_id, names) if names else {},
        logged=await uploaded_coupons.logged(session, [one.log_id for one in events]),
        definitions={key for few in _portions(hashes) for key in await known_definitions(session, few)},
        codes=await uploaded_coupons.codes_of(session, ids),
        shared=await uploaded_coupons.shared_types(session, types),
        shares={
            name
            for few in _portions(given)
            for name in await uploaded_coupons.shares_of(session, sender.deployment_id, few)
        },
        controls={name: of for few in _portions(arms) for name, of in (await promotion_names(session, few)).items()},
    )


def _portions(names: Collection[str]) -> Iterator[list[str]]:
    """As many at a time as a statement takes, whatever a store names."""
    ordered = sorted(names)
    return (ordered[start : start + NAMED_MAX] for start in range(0, len(ordered), NAMED_MAX))


def _spent_by(sale: UploadedSale) -> Iterator[str]:
    """Promotions and budgets of a sale."""
    for one in sale.result.applied:
        yield one.promotion_id
        yield from one.budget_ids


async def _take(context: Context, tenant_id: str, sender: Sender, known: _Known, one: Sent) -> Taken | Unavailable:
    try:
        if isinstance(one, Refused):
            return Taken("rejected", one.code, one.message)
        if isinstance(one, UploadedCoupon):
            if one.log_id in known.logged:
                return DUPLICATE
            _check_code(known, one.coupon_id, one.coupon_type_id, None)
            is_new = await take_coupon(context, tenant_id, sender.deployment_id, one)
            return ACCEPTED if is_new else DUPLICATE
        return await _take_sale(context, tenant_id, sender, known, one)
    except Unavailable as unavailable:
        return unavailable
    except PromenadeError as refused:
        return Taken("rejected", refused.code, refused.message)
    except Exception:
        # What one sale stumbles over must not hold up all that come after it: the store keeps it, and tells of it.
        _log.exception("an upload could not be taken", deployment=sender.deployment_id, tenant=tenant_id)
        return Taken("rejected", "UPLOAD_FAILED", "The cloud could not take it; its log says why. Send it again later.")


async def _take_sale(context: Context, tenant_id: str, sender: Sender, known: _Known, upload: UploadedSale) -> Taken:
    command = _command(upload)
    confirmed = known.confirmed.get(upload.transaction_id)
    if confirmed is not None:
        return _repeated(confirmed, command)
    missing = {upload.request.tree_hash, *upload.result.candidate_hashes}.difference(known.definitions)
    if missing:
        message = f"{len(missing)} definitions that it was priced with are not known; send them with it."
        return Taken("rejected", "DEFINITION_MISSING", message, frozenset(missing))
    for fact in upload.request.facts.coupons:
        if fact.refusal is None and fact.coupon_type_id is not None:
            _check_code(known, fact.coupon_id, fact.coupon_type_id, fact.code)
    as_store = replace(context, origin=sender.deployment_id, source=STORE, instance_id=sender.instance_id, uplink=None)
    iteration = _iteration(upload)
    now = context.clock()
    made_at = min(upload.confirmed_at, now)
    sale = SaleIdentity(
        origin=sender.deployment_id,
        transaction_id=upload.transaction_id,
        transaction_counter=upload.transaction_counter,
        customer_id=customer_of(iteration, command),
        at=now,
        judged_at=made_at,
        confirmed_at=command.timestamp or made_at,
    )
    controls = {name: known.controls[name] for name in upload.result.control_arms if name in known.controls}
    plan = plan_sale(iteration, command, sale, controls)

    async def work(session: Session) -> bool:
        shares = StoreSale(as_store, sale, upload.issued, known.shares)
        await commit_sale(as_store, session, plan, shares)
        if shares.is_new:
            await insert_iteration(session, sale.origin, iteration, created_at=now)
        return shares.is_new

    try:
        return ACCEPTED if await context.database.write(work, tenant=tenant_id) else DUPLICATE
    except Conflict as refusal:
        if refusal.code not in {"CONFIRM_MISMATCH", "TRANSACTION_ALREADY_CONFIRMED"}:
            log_id = _refusal_id(sale, refusal.code)
            await log_refusal(as_store, tenant_id, iteration, command, sale, refusal, log_id)
        raise


def _repeated(confirmed: Confirmation, command: ConfirmCommand) -> Taken:
    """The store has sent the sale before, or another one of the same name."""
    if confirmed.transaction_counter != command.transaction_counter:
        message = f"Iteration {confirmed.transaction_counter} of this transaction was confirmed."
        return Taken("rejected", "TRANSACTION_ALREADY_CONFIRMED", message)
    if confirmed.fingerprint != command.fingerprint:
        return Taken("rejected", "CONFIRM_MISMATCH", "Another sale of this name and counter was taken before.")
    return DUPLICATE


def _check_code(known: _Known, coupon_id: str | None, coupon_type_id: str, code: str | None) -> None:
    """A coupon is what the store says it is. One that is gone is left to the rules of spending."""
    if coupon_id is None:
        if coupon_type_id not in known.shared:
            raise Invalid("COUPON_MISMATCH", "A coupon names no code, and its type does not share one among all.")
        return
    found = known.codes.get(coupon_id)
    if found is not None and (found.coupon_type_id != coupon_type_id or code not in {None, found.code}):
        raise Invalid("COUPON_MISMATCH", "A coupon is of another type, or has another code.")


def _iteration(upload: UploadedSale) -> StoredIteration:
    request = upload.request
    return StoredIteration(
        transaction_id=upload.transaction_id,
        transaction_counter=upload.transaction_counter,
        pos_group_id=request.basket.pos_group.id,
        receipt_id=request.receipt_id,
        header_reference=request.header_reference,
        evaluated_at=upload.evaluated_at,
        data_age=request.data_age,
        basket=request.basket,
        settings=request.settings,
        facts=request.facts,
        tree_hash=request.tree_hash,
        outcome=upload.result,
        outcome_bytes=encode_outcome(upload.result),
    )


def _command(upload: UploadedSale) -> ConfirmCommand:
    said = upload.confirm
    return ConfirmCommand(
        transaction_id=upload.transaction_id,
        transaction_counter=upload.transaction_counter,
        promotions=tuple([_promotion(one) for one in said.promotions]),
        fingerprint=_fingerprint(upload),
        pos_group_id=said.pos_group_id,
        pos_group_code=said.pos_group_code,
        customer_id=said.customer_id,
        timestamp=said.timestamp,
        items=None if said.items is None else tuple([_item(one) for one in said.items]),
        receipt_id=said.receipt_id,
        header_reference=said.header_reference,
    )


def _fingerprint(upload: UploadedSale) -> bytes:
    """What makes a second upload a repeat: the same confirm at the same moment.

    A till whose store was set up anew may count its transactions from the beginning: those are other sales.
    """
    return hashlib.sha256(msgspec.json.encode([upload.confirm.fingerprint, upload.confirmed_at])).digest()


def _promotion(one: SoldPromotion) -> ConfirmedPromotion:
    return ConfirmedPromotion(one.promotion_id, one.coupon_code, one.amount, one.currency)


def _item(one: SoldItem) -> ConfirmedItem:
    return ConfirmedItem(
        one.line_reference, one.article_number, one.quantity, one.unit_price, one.line_discount, one.line_net
    )


def _refusal_id(sale: SaleIdentity, code: str) -> str:
    """The ID of the log of a refusal: sent again and refused again, there is one."""
    name = msgspec.json.encode([sale.origin, sale.transaction_id, sale.transaction_counter, sale.confirmed_at, code])
    return str(uuid.UUID(bytes=hashlib.sha256(name).digest()[:16], version=4))
