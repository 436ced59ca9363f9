"""Upload of sales made in stores: each is applied once, however often and in whatever order it is sent (T1, T4).

A sale is one unit of work: the store's shares that it uses are released, its iteration is stored with the store as its
origin and the store's counter, and it is confirmed like any sale. Spending that no share covers follows the ordinary
rules: a budget gives what is left, and a coupon that was redeemed elsewhere causes the sale to be rejected, with a
FAILED log.

Sales are accepted however old they are, because the customer has paid. If a store's clock is ahead, the time of its
sale is limited to the current time.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from promenade import metrics
from promenade.errors import Conflict, Invalid, PromenadeError, Unavailable
from promenade.events import CouponRedeemed
from promenade.log import Logger
from promenade.store.access.erasures import notice
from promenade.store.coupons import claims
from promenade.store.coupons.claims import Claim
from promenade.store.coupons.reservations import activate_code
from promenade.store.driver.unit import Session
from promenade.store.pricing.dictionaries import newest_dictionary
from promenade.store.pricing.iterations import StoredIteration, encode_outcome, insert_iteration, known_definitions
from promenade.store.sales import confirmations
from promenade.store.sales.calculation_logs import promotion_names
from promenade.store.sales.confirmations import Confirmation
from promenade.store.sync import uploaded_coupons
from promenade.store.sync.uploaded_coupons import CodeOf
from promenade.store.webhooks.outbox import emit
from promenade.workflows.context import Context
from promenade.workflows.coupons.issuing import Order, issued_event
from promenade.workflows.replica.uploads import (
    SoldItem,
    SoldPromotion,
    UploadedCancellation,
    UploadedCoupon,
    UploadedSale,
)
from promenade.workflows.sales.cancel import CancelCommand, commit_cancellation, look_up
from promenade.workflows.sales.confirm import (
    ConfirmCommand,
    ConfirmedItem,
    ConfirmedPromotion,
    commit_sale,
    customer_of,
    log_refusal,
    plan_sale,
)
from promenade.workflows.settlement.returns import returned_quantities
from promenade.workflows.settlement.rules import SaleIdentity
from promenade.workflows.sync.shares import keep_leased, release_shares
from promenade.workflows.sync.store_sale import CancelledInStore, StoreSale, write_issued

STORE = "local-store"
AT_ONCE = {"postgresql": 6, "sqlite": 32}  # units of work; on SQLite they wait for one writer and are committed jointly
NAMED_MAX = 10_000  # per statement; both databases accept 32 766
_log = Logger("promenade.sync")


@dataclass(frozen=True, slots=True)
class Sender:
    """The store that uploads: its deployment, and the instance ID that its answers have in meta.instanceId."""

    deployment_id: str
    instance_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An uploaded item that cannot be parsed; see `UploadResult`."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class UploadResult:
    """The result for a sale or a coupon event: accepted, duplicate, or rejected with a stable code and a message.

    ``missing`` are definitions that must be sent with it.
    """

    status: str
    code: str | None = None
    message: str | None = None
    missing: frozenset[str] = frozenset()


Sent = UploadedSale | UploadedCoupon | UploadedCancellation | Refused

ACCEPTED, DUPLICATE = UploadResult("accepted"), UploadResult("duplicate")


@dataclass(frozen=True, slots=True)
class _UploadContext:
    """What the database knows of the uploaded items before any of them is applied."""

    confirmed: Mapping[str, Confirmation]
    logged: Collection[str]
    definitions: Collection[str]
    codes: Mapping[str, CodeOf]
    shared: Collection[str]  # types with one code shared by all
    shares: Collection[str]  # IDs of which the store has a share
    controls: Mapping[str, tuple[str, int]] = field(default_factory=dict)


async def take_uploads(context: Context, tenant_id: str, sender: Sender, sent: Sequence[Sent]) -> list[UploadResult]:
    """Apply what a store has uploaded, in its order; return one result for each item.

    Independent items are applied concurrently. Raises Unavailable; items applied before that are duplicates when they
    are sent again.
    """
    known = await context.database.read(lambda session: _look_up(session, sender, sent), tenant=tenant_id)
    taken: list[UploadResult] = []
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


def _count(context: Context, tenant_id: str, one: Sent, answer: UploadResult) -> None:
    if isinstance(one, UploadedCoupon):
        metrics.sync_coupon_events.labels(tenant_id, answer.status).inc()
        return
    metrics.sync_transactions.labels(tenant_id, answer.status).inc()
    if isinstance(one, UploadedSale) and answer is ACCEPTED:
        waited = (context.clock() - one.confirmed_at).total_seconds()
        metrics.sync_transaction_age.labels(tenant_id).observe(max(waited, 0.0))


def _waves(sent: Sequence[Sent], most: int) -> Iterator[list[Sent]]:
    """Yield the items, in order, in groups that can be applied concurrently: no two share a transaction or a coupon.

    A cancellation is alone: only the records of its sale say which others it concerns.
    """
    wave: list[Sent] = []
    busy: set[str] = set()
    for one in sent:
        keys = _keys(one)
        is_alone = any(isinstance(other, UploadedCancellation) for other in (one, *wave[:1]))
        if wave and (is_alone or len(wave) >= most or not busy.isdisjoint(keys)):
            yield wave
            wave, busy = [], set()
        wave.append(one)
        busy |= keys
    if wave:
        yield wave


def _keys(one: Sent) -> set[str]:
    if isinstance(one, Refused | UploadedCancellation):
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


async def _look_up(session: Session, sender: Sender, sent: Sequence[Sent]) -> _UploadContext:
    """Read everything that the portion needs, in a number of statements that does not depend on its length."""
    sales = [one for one in sent if isinstance(one, UploadedSale)]
    events = [one for one in sent if isinstance(one, UploadedCoupon)]
    facts = [fact for one in sales for fact in one.request.facts.coupons]
    hashes = {key for one in sales for key in (one.request.tree_hash, *one.result.candidate_hashes)}
    arms = {name for one in sales for name in one.result.control_arms}
    names = [one.transaction_id for one in sales]
    ids = {fact.coupon_id for fact in facts if fact.coupon_id} | {one.coupon_id for one in events if one.coupon_id}
    types = {fact.coupon_type_id for fact in facts if fact.coupon_type_id} | {one.coupon_type_id for one in events}
    given = ids | types | {name for one in sales for name in _spent_by(one)}
    return _UploadContext(
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
    """Split names into lists that fit into one statement, whatever number a store sends."""
    ordered = sorted(names)
    return (ordered[start : start + NAMED_MAX] for start in range(0, len(ordered), NAMED_MAX))


def _spent_by(sale: UploadedSale) -> Iterator[str]:
    """Yield the promotions and budgets of a sale."""
    for one in sale.result.applied:
        yield one.promotion_id
        yield from one.budget_ids


async def _take(
    context: Context, tenant_id: str, sender: Sender, known: _UploadContext, one: Sent
) -> UploadResult | Unavailable:
    try:
        if isinstance(one, Refused):
            return UploadResult("rejected", one.code, one.message)
        if isinstance(one, UploadedCoupon):
            if one.log_id in known.logged:
                return DUPLICATE
            _check_code(known, one.coupon_id, one.coupon_type_id, None)
            is_new = await take_coupon(context, tenant_id, sender.deployment_id, one)
            return ACCEPTED if is_new else DUPLICATE
        if isinstance(one, UploadedCancellation):
            return await _take_cancellation(context, tenant_id, sender, one)
        return await _take_sale(context, tenant_id, sender, known, one)
    except Unavailable as unavailable:
        return unavailable
    except PromenadeError as refused:
        return UploadResult("rejected", refused.code, refused.message)
    except Exception:
        # One sale that fails must not block all that follow: the store keeps it and reports it.
        _log.exception("an upload could not be taken", deployment=sender.deployment_id, tenant=tenant_id)
        return UploadResult(
            "rejected", "UPLOAD_FAILED", "The cloud could not accept it; its log says why. Send it again later."
        )


async def _take_sale(
    context: Context, tenant_id: str, sender: Sender, known: _UploadContext, upload: UploadedSale
) -> UploadResult:
    command = _command(upload)
    confirmed = known.confirmed.get(upload.transaction_id)
    if confirmed is not None:
        return _repeated(confirmed, command)
    missing = {upload.request.tree_hash, *upload.result.candidate_hashes}.difference(known.definitions)
    if missing:
        message = f"{len(missing)} of the definitions that the sale was priced with are unknown; send them with it."
        return UploadResult("rejected", "DEFINITION_MISSING", message, frozenset(missing))
    for fact in upload.request.facts.coupons:
        if fact.refusal is None and fact.coupon_type_id is not None:
            _check_code(known, fact.coupon_id, fact.coupon_type_id, fact.code)
    as_store = _as_store(context, sender)
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

    dictionary = await newest_dictionary(context.database, tenant_id, now)

    async def work(session: Session) -> bool:
        shares = StoreSale(as_store, sale, upload.issued, known.shares)
        await commit_sale(as_store, session, plan, shares)
        if shares.is_new:
            await insert_iteration(session, sale.origin, iteration, dictionary=dictionary, created_at=now)
        return shares.is_new

    try:
        return ACCEPTED if await context.database.write(work, tenant=tenant_id) else DUPLICATE
    except Conflict as refusal:
        if refusal.code not in {"CONFIRM_MISMATCH", "TRANSACTION_ALREADY_CONFIRMED"}:
            log_id = _refusal_id(sale, refusal.code)
            await log_refusal(as_store, tenant_id, iteration, command, sale, refusal, log_id)
        raise


def _as_store(context: Context, sender: Sender) -> Context:
    return replace(context, origin=sender.deployment_id, source=STORE, instance_id=sender.instance_id, uplink=None)


async def _take_cancellation(
    context: Context, tenant_id: str, sender: Sender, upload: UploadedCancellation
) -> UploadResult:
    """Cancel the sale here too. Raises what `cancel` does; the store sends its sale before."""
    as_store = _as_store(context, sender)
    command = CancelCommand(upload.transaction_id, upload.transaction_counter, upload.reason)
    named = await context.database.read(lambda session: look_up(as_store, session, command), tenant=tenant_id)

    async def work(session: Session) -> bool:
        shares = CancelledInStore(as_store, sender.deployment_id)
        done = await commit_cancellation(as_store, session, command, named, upload.cancellation_id, shares)
        return done.is_new

    return ACCEPTED if await context.database.write(work, tenant=tenant_id) else DUPLICATE


def _repeated(confirmed: Confirmation, command: ConfirmCommand) -> UploadResult:
    """Return the result for a sale that is already confirmed: the same sale again, or another one with the same ID."""
    if confirmed.transaction_counter != command.transaction_counter:
        message = f"Iteration {confirmed.transaction_counter} of this transaction was confirmed."
        return UploadResult("rejected", "TRANSACTION_ALREADY_CONFIRMED", message)
    if confirmed.fingerprint != command.fingerprint:
        return UploadResult(
            "rejected", "CONFIRM_MISMATCH", "Another sale with this name and counter was accepted before."
        )
    return DUPLICATE


def _check_code(known: _UploadContext, coupon_id: str | None, coupon_type_id: str, code: str | None) -> None:
    """Check that a coupon has the type and code that the store states. A deleted one is left to the redemption
    rules.
    """
    if coupon_id is None:
        if coupon_type_id not in known.shared:
            raise Invalid("COUPON_MISMATCH", "A coupon has no code, and its type has no shared one.")
        return
    found = known.codes.get(coupon_id)
    if found is not None and (found.coupon_type_id != coupon_type_id or code not in {None, found.code}):
        raise Invalid("COUPON_MISMATCH", "A coupon has another type or another code.")


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
    """Return the fingerprint by which a second upload is a repetition: the same confirm at the same moment.

    A till whose store was reinstalled may restart its transaction numbers: those are different sales.
    """
    return hashlib.sha256(msgspec.json.encode([upload.confirm.fingerprint, upload.confirmed_at])).digest()


def _promotion(one: SoldPromotion) -> ConfirmedPromotion:
    return ConfirmedPromotion(one.promotion_id, one.coupon_code, one.amount, one.currency)


def _item(one: SoldItem) -> ConfirmedItem:
    return ConfirmedItem(
        one.line_reference, one.article_number, one.quantity, one.unit_price, one.line_discount, one.line_net
    )


def _refusal_id(sale: SaleIdentity, code: str) -> str:
    """Return the log ID of a refusal; repeated refusals of the same sale have the same one, so that there is one
    log.
    """
    name = msgspec.json.encode([sale.origin, sale.transaction_id, sale.transaction_counter, sale.confirmed_at, code])
    return str(uuid.UUID(bytes=hashlib.sha256(name).digest()[:16], version=4))


# --- what happened to coupons at the tills of a store -----------------------------------------------------------------


async def take_coupon(context: Context, tenant_id: str, deployment_id: str, event: UploadedCoupon) -> bool:
    """Apply a coupon event of the store's till; return False if it was already applied.

    Raises Conflict (COUPON_ALREADY_CLAIMED, COUPON_LIMIT_REACHED, COUPON_NOT_HELD) and Invalid
    (COUPON_TYPE_NOT_FOUND); then nothing is changed.
    """

    async def work(session: Session) -> bool:
        at = context.clock()
        is_new = await uploaded_coupons.log_once(
            session,
            event.log_id,
            coupon_id=event.coupon_id,
            coupon_type_id=event.coupon_type_id,
            action=event.action,
            transaction_id=event.transaction_id,
            customer_id=event.customer_id,
            occurred_at=min(event.occurred_at, at),
            at=at,
        )
        if is_new:
            await notice(session, {event.customer_id}, new_id=context.new_id, at=at)
            await _ACTIONS[event.action](context, session, deployment_id, event)
        return is_new

    return await context.database.write(work, tenant=tenant_id)


async def _redeem(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    """Redeem a coupon like `coupons.redeeming`, but without a reservation: the store's lease replaced it."""
    at = context.clock()
    judged_at = min(event.occurred_at, at)
    type_id, coupon_id = event.coupon_type_id, event.coupon_id
    transaction_id = event.transaction_id or ""
    rule = (await claims.read_rules(session, [type_id])).get(type_id)
    if rule is None:
        raise Invalid("COUPON_TYPE_NOT_FOUND", "The coupon type has been deleted.")
    codes = [] if coupon_id is None else [coupon_id]
    if codes:
        await uploaded_coupons.revive_leased(session, deployment_id, codes, judged_at)
    await release_shares(
        context,
        session,
        deployment_id,
        budgets={},
        coupon_codes=codes,
        coupon_types={type_id: 1},
        promotions=(),
        at=at,
    )
    if await claims.count_use(session, type_id, None, rule.max_redemptions) is None:
        raise _limit_reached()
    if event.customer_id is not None:
        each = rule.max_redemptions_per_customer
        if await claims.count_use(session, type_id, event.customer_id, each) is None:
            raise _limit_reached()
    if coupon_id is not None:
        spend = claims.count_generic if rule.is_generic else claims.claim_individual
        if not await spend(session, coupon_id, transaction_id, judged_at):
            raise Conflict("COUPON_ALREADY_CLAIMED", "The coupon was spent elsewhere, or does not belong to the store.")
    key = coupon_id or type_id
    slot = await claims.next_slot(session, key) if rule.is_generic else 0
    claim = Claim(key, slot, type_id, promotion_id=None, customer_id=event.customer_id)
    await claims.insert_claim(
        session, claim, origin=deployment_id, transaction_id=transaction_id, transaction_counter=None, at=at
    )
    await claims.finish_redemption(session, claim, transaction_id, at)
    redeemed = CouponRedeemed(
        coupon_id=coupon_id, coupon_type_id=type_id, transaction_id=transaction_id, customer_id=event.customer_id
    )
    await emit(session, redeemed, event_id=context.new_id(), at=at)


def _limit_reached() -> Conflict:
    return Conflict("COUPON_LIMIT_REACHED", "Coupons of this type have been spent as often as allowed.")


async def _issue(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    order = Order("MANUAL", (event.customer_id,), reason=event.reason, metadata=event.metadata)
    issued = await write_issued(
        context,
        session,
        deployment_id,
        coupon_id=event.coupon_id,
        coupon_type_id=event.coupon_type_id,
        order=order,
        issued_at=event.occurred_at,
    )
    if issued is None:
        raise Conflict("COUPON_NOT_HELD", "The code cannot be issued: it no longer belongs to the store.")
    await emit(session, issued_event(issued.issue, issued.coupon), event_id=context.new_id(), at=issued.issue.issued_at)


async def _activate(context: Context, session: Session, deployment_id: str, event: UploadedCoupon) -> None:
    """Activate a code: a code that the store still leases becomes active when it is returned, any other one at once."""
    at, coupon_id = context.clock(), event.coupon_id or ""
    if coupon_id not in await keep_leased(session, deployment_id, {coupon_id: "ACTIVE"}, at):
        await activate_code(session, coupon_id, min(event.occurred_at, at))


_ACTIONS = {"REDEEMED": _redeem, "ISSUED": _issue, "ACTIVATED": _activate}
