"""`/sync/budget-grants` and `/sync/coupon-leases`: what a store may spend while it is offline.

The cloud reserves a share for the store, which nobody else can spend, and takes back what the store no longer needs.
With an Idempotency-Key a request is executed once, however often it is sent (interface decisions, Sync).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.types import Receive, Scope

from promenade.errors import Detail, Invalid
from promenade.store.sync.shares import BUDGET, COUPON_TYPE, PROMOTION
from promenade.web.access.auth import Authenticator, Caller
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint
from promenade.web.http.json_body import decode_message
from promenade.web.http.numbers import Amount, BadNumber, amount_thousandths
from promenade.web.http.validation import Rule, has_plain_numbers
from promenade.web.pricing.encode import timestamp
from promenade.web.pricing.messages import Message
from promenade.web.pricing.responses import Response
from promenade.web.sync.bodies import SYNC
from promenade.web.sync.messages import Moment, SyncOperation
from promenade.workflows.context import Context
from promenade.workflows.sync.deployments import require_not_fenced
from promenade.workflows.sync.leases import Leased, lease_codes, lease_pool, return_leases, wants_stock
from promenade.workflows.sync.shares import ShareRequest, grant_share

BODY_BYTES_MAX = 256 * 1024
CODES_MAX, RELEASED_MAX = 100, 1000
USES_MAX, POOLED_MAX = 1_000_000, 1000
KEY_LENGTH_MAX = 64

T = TypeVar("T", bound=Struct)


def _thousandths(value: Decimal) -> int:
    """Return the absolute value of an amount in thousandths."""
    return amount_thousandths(value.copy_abs())


Code = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[^\\x00]*$")]
Purpose = Literal["ISSUE", "REDEEM"] | None
Money = Annotated[Decimal, Meta(extra={"check": _thousandths})]


class BudgetGrantRequest(Message):
    """A store's request for a share of a budget, or the return of one."""

    deployment_id: UUID  #: The store.
    budget_id: UUID  #: The budget.
    amount: Money | None = None  #: What a sale lacks. Negative: returned. 0: renewed. Default: up to its reserve.
    forecast: Amount | None = None  #: What the store may need in a day without a link, by its own past; 0: unknown.
    run_id: UUID | None = None  #: As in a heartbeat.
    piece: Amount | None = None  #: What one sale uses of it in the mean; a reserve of less is of no use.


class CouponLeaseRequest(Message):
    """Codes or uses that a store requests or returns; one of `codes`, `release`, `couponTypeId`, `promotionId`."""

    deployment_id: UUID  #: The store.
    codes: Annotated[list[Code], Meta(max_length=CODES_MAX)] | None = None  #: Codes presented at its tills.
    release: Annotated[list[Code], Meta(max_length=RELEASED_MAX)] | None = None  #: Codes that it no longer needs.
    expires_at: Moment | None = None  #: With `release`: only leases not renewed since are released.
    coupon_type_id: UUID | None = None  #: The coupon type whose codes or uses it requests.
    promotion_id: UUID | None = None  #: The promotion for which it requests applications.
    quantity: Annotated[int, Meta(ge=-USES_MAX, le=USES_MAX)] | None = None  #: Number, used like `amount` of a grant.
    forecast: Amount | None = None  #: With a limit: uses that the store may need in a day without a link; 0: unknown.
    run_id: UUID | None = None  #: As in a heartbeat.
    purpose: Purpose = None  #: Codes to issue, or uses of a limit. Default: codes; for a GENERIC type uses.


class BudgetGrantAnswer(Response, frozen=True):
    """The store's share of the budget after the request."""

    granted: Decimal  #: Amount added, as far as it is free; negative: returned.
    currency: str  #: Currency of the amounts.
    expires_at: str  #: The store spends nothing of it from then on, unless it renewed it before.
    outstanding: Decimal  #: Sum of all grants minus what was reported as spent or returned.
    halvings: int  #: How often the store halves its reserve, because little is free; 20: it holds none.


class LeasedCoupon(Response, frozen=True):
    """A code leased to the store."""

    code: str  #: The code as printed.
    coupon_id: str  #: ID of the coupon.
    coupon_type_id: str  #: ID of the coupon type.
    status: str  #: `ACTIVE`, or `CREATED` until its customer activates it.
    customer_id: str | None  #: The only customer who may redeem it.
    valid_from: str | None  #: Start of its validity.
    valid_until: str | None  #: End of its validity; the store accepts it only while it is leased.
    issued_at: str | None  #: Time of issue; null: not issued yet.


class RefusedCode(Response, frozen=True):
    """A code that is not leased to the store."""

    code: str  #: The code as requested.
    reason: str  #: Reason, with the codes of the coupon endpoints of `/pos`.


class CouponLeaseAnswer(Response, frozen=True):
    """The store's leases after the request."""

    leased: list[LeasedCoupon] | int  #: The codes leased; for uses, the number added.
    refused: list[RefusedCode]  #: The codes refused.
    expires_at: str  #: The store uses none of it from then on, unless it renewed it before.
    outstanding: int | UnsetType = UNSET  #: For uses: all that were granted minus those reported or returned.
    halvings: int | UnsetType = UNSET  #: For uses: as for a budget.


OPERATIONS = (
    SyncOperation(
        "POST",
        "/sync/budget-grants",
        BudgetGrantRequest,
        BudgetGrantAnswer,
        "Give a store a part of a budget to spend while it is offline, or take back what it needs no more."
        " With the header Idempotency-Key (at most 64 characters) a repeat gives nothing more.",
    ),
    SyncOperation(
        "POST",
        "/sync/coupon-leases",
        CouponLeaseRequest,
        CouponLeaseAnswer,
        "Give a store coupon codes that nobody else can spend as long as it holds them, or a part of a limit."
        " With the header Idempotency-Key (at most 64 characters) a repeat gives nothing more.",
    ),
)


class SyncShares:
    """The handlers."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator

    def endpoints(self) -> list[Endpoint]:
        """Return the routes."""
        return [
            Endpoint("/sync/budget-grants", {"POST": self._grant}),
            Endpoint("/sync/coupon-leases", {"POST": self._lease}),
        ]

    async def _called(self, scope: Scope, receive: Receive) -> tuple[Caller, bytes]:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(SYNC)
        require_json(scope)
        return caller, await read_body(scope, receive, BODY_BYTES_MAX)

    async def _require_speaker(self, caller: Caller, deployment_id: UUID, run_id: UUID | None) -> None:
        """Give nothing to a machine that another one with the same identity has been preferred to."""
        if run_id is not None:
            at = self._context.clock()
            await self._context.database.read(
                lambda session: require_not_fenced(session, str(deployment_id), str(run_id), at),
                tenant=caller.tenant_id,
            )

    async def _grant(self, scope: Scope, receive: Receive) -> Answer:
        """Grant a store a share of a budget, renew it, or take back what it no longer needs."""
        caller, body = await self._called(scope, receive)
        key = _key(scope)
        asked = decode_message(body, _GRANT, is_fine=_is_fine)
        await self._require_speaker(caller, asked.deployment_id, asked.run_id)
        wanted = ShareRequest(asked.amount, asked.forecast, asked.piece or Decimal(0), key)
        got = await grant_share(
            self._context, caller.tenant_id, str(asked.deployment_id), BUDGET, str(asked.budget_id), wanted
        )
        expires = timestamp(got.expires_at)
        return _answer(BudgetGrantAnswer(got.granted, got.currency or "", expires, got.outstanding, got.halvings))

    async def _lease(self, scope: Scope, receive: Receive) -> Answer:
        """Lease codes or uses of a limit to a store, or take them back."""
        caller, body = await self._called(scope, receive)
        key = _key(scope)
        asked = decode_message(body, _LEASE, _LEASE_RULES, is_fine=_is_fine)
        await self._require_speaker(caller, asked.deployment_id, asked.run_id)
        context, tenant_id, deployment_id = self._context, caller.tenant_id, str(asked.deployment_id)
        if asked.codes is not None:
            codes = list(dict.fromkeys(asked.codes))
            return _leased(await lease_codes(context, tenant_id, deployment_id, codes, caller.client_id))
        if asked.release is not None:
            return _leased(await return_leases(context, tenant_id, deployment_id, set(asked.release), asked.expires_at))
        if asked.promotion_id is not None:
            kind, entity_id = PROMOTION, str(asked.promotion_id)
        else:
            kind, entity_id = COUPON_TYPE, str(asked.coupon_type_id)
            if await wants_stock(context, tenant_id, entity_id, asked.purpose):
                return _leased(await lease_pool(context, tenant_id, deployment_id, entity_id, _pooled(asked), key))
        quantity = None if asked.quantity is None else Decimal(asked.quantity)
        wanted = ShareRequest(quantity, asked.forecast, Decimal(1), key)
        got = await grant_share(context, tenant_id, deployment_id, kind, entity_id, wanted)
        expires = timestamp(got.expires_at)
        return _answer(CouponLeaseAnswer(int(got.granted), [], expires, int(got.outstanding), got.halvings))


# ---- requests -----------------------------------------------------------------------------------------------------

_GRANT = msgspec.json.Decoder(BudgetGrantRequest)
_LEASE = msgspec.json.Decoder(CouponLeaseRequest)
_AMOUNTS = {"amount": _thousandths, "forecast": amount_thousandths, "piece": amount_thousandths}
_KINDS = ("codes", "release", "couponTypeId", "promotionId")


def _key(scope: Scope) -> str | None:
    given = header(scope, b"idempotency-key")
    if given is None:
        return None
    text = given.decode("latin-1")
    if not 1 <= len(text) <= KEY_LENGTH_MAX or not text.isascii() or not text.isprintable():
        message = f"Idempotency-Key must have 1 to {KEY_LENGTH_MAX} printable ASCII characters."
        raise Invalid("INVALID_KEY", message, "Idempotency-Key")
    return text


def _is_fine(asked: Struct, document: Mapping[str, Any]) -> bool:
    try:
        found = [check(one) for name, check in _AMOUNTS.items() if (one := getattr(asked, name, None)) is not None]
    except BadNumber:
        return False
    return not found or has_plain_numbers(document, type(asked))


def _one_rule(request: Mapping[str, Any]) -> list[Detail]:
    given = [name for name in _KINDS if request.get(name) is not None]
    if len(given) == 1:
        return []
    named = ", ".join(f"`{name}`" for name in _KINDS)
    return [Detail("ONE_OF_SEVERAL", f"Give exactly one of {named}.", given[1] if given else "codes")]


def _pooled(asked: CouponLeaseRequest) -> int:
    if asked.quantity is None or not 1 <= asked.quantity <= POOLED_MAX:
        message = f"`quantity` must be from 1 to {POOLED_MAX} for codes to issue."
        detail = Detail("OUT_OF_RANGE", message, "quantity")
        raise Invalid("VALIDATION_FAILED", message, "quantity", [detail])
    return asked.quantity


_LEASE_RULES: Sequence[Rule] = (_one_rule,)


# ---- answers ------------------------------------------------------------------------------------------------------


def _moment_maybe(at: datetime | None) -> str | None:
    return None if at is None else timestamp(at)


def _leased(answer: Leased) -> Answer:
    leased = [
        LeasedCoupon(
            one.code,
            one.id,
            one.coupon_type_id,
            one.status,
            one.customer_id,
            _moment_maybe(one.valid_from),
            _moment_maybe(one.valid_until),
            _moment_maybe(one.issued_at),
        )
        for one in answer.leased
    ]
    refused = [RefusedCode(code, reason) for code, reason in answer.refused]
    return _answer(CouponLeaseAnswer(leased, refused, timestamp(answer.expires_at)))


def _answer(message: Response) -> Answer:
    return Answer(_ENCODER.encode(message))


_ENCODER = msgspec.json.Encoder(decimal_format="string")
