"""`/sync/budget-grants` and `/sync/coupon-leases`: what a store may spend while it is offline.

The cloud gives it a part, which nobody else can spend then, and takes back what the store needs no more. With an
Idempotency-Key a request is done once, however often it is sent (interface decisions, Sync).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta, Struct
from starlette.types import Receive, Scope

from promenade.errors import Detail, Invalid
from promenade.store.store_shares import COUPON_TYPE, PROMOTION
from promenade.web.auth import Authenticator, Caller
from promenade.web.body import header, read_body, require_json
from promenade.web.endpoint import Answer, Endpoint
from promenade.web.numbers import BadNumber, amount_thousandths
from promenade.web.pos_encode import timestamp
from promenade.web.validation import Rule, explain, has_plain_numbers, require_bounded, require_sound
from promenade.workflows.context import Context
from promenade.workflows.sync.leases import Leased, is_to_issue, lease_codes, lease_pool, return_leases
from promenade.workflows.sync.shares import grant_budget, grant_uses

__all__ = ["SyncShares"]

SCOPE = "svc.Sync"
BODY_BYTES_MAX = 256 * 1024
CODES_MAX, RELEASED_MAX = 100, 1000
USES_MAX, POOLED_MAX = 1_000_000, 1000
KEY_LENGTH_MAX = 64

T = TypeVar("T", bound=Struct)


def _thousandths(value: Decimal) -> int:
    """The size of an amount, which may be below zero."""
    return amount_thousandths(value.copy_abs())


Code = Annotated[str, Meta(min_length=1, max_length=64)]
Money = Annotated[Decimal, Meta(extra={"check": _thousandths})]


class BudgetGrantRequest(Struct, rename="camel"):
    """What a store wants of a budget, or gives back."""

    deployment_id: UUID  #: The store.
    budget_id: UUID  #: The budget.
    amount: Money | None = None  #: How much more. Below 0: given back. 0: renewed. Default: what is usual.


class CouponLeaseRequest(Struct, rename="camel"):
    """Codes or uses that a store wants, or gives back; one of `codes`, `release`, `couponTypeId`, `promotionId`."""

    deployment_id: UUID  #: The store.
    codes: Annotated[list[Code], Meta(max_length=CODES_MAX)] | None = None  #: Codes shown at its tills.
    release: Annotated[list[Code], Meta(max_length=RELEASED_MAX)] | None = None  #: Codes that it needs no more.
    coupon_type_id: UUID | None = None  #: The coupon type whose codes or uses it wants.
    promotion_id: UUID | None = None  #: The promotion of whose applications it wants some.
    quantity: Annotated[int, Meta(ge=-USES_MAX, le=USES_MAX)] | None = None  #: How many; as `amount` of a grant.
    #: Codes to issue, or uses of a limit. Default: codes of an INDIVIDUAL type, uses of a GENERIC one.
    purpose: Literal["ISSUE", "REDEEM"] | None = None


class SyncShares:
    """The handlers."""

    def __init__(self, context: Context, authenticator: Authenticator) -> None:
        self._context = context
        self._authenticator = authenticator

    def endpoints(self) -> list[Endpoint]:
        """The routes."""
        return [
            Endpoint("/sync/budget-grants", {"POST": self._grant}),
            Endpoint("/sync/coupon-leases", {"POST": self._lease}),
        ]

    async def _called(self, scope: Scope, receive: Receive) -> tuple[Caller, bytes]:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(SCOPE)
        require_json(scope)
        return caller, await read_body(scope, receive, BODY_BYTES_MAX)

    async def _grant(self, scope: Scope, receive: Receive) -> Answer:
        """Give a store a part of a budget, renew what it has, or take back what it needs no more."""
        caller, body = await self._called(scope, receive)
        key = _key(scope)
        asked = _decode(body, _GRANT, ())
        granted = await grant_budget(
            self._context, caller.tenant_id, str(asked.deployment_id), str(asked.budget_id), asked.amount, key
        )
        return _answer(
            {
                "granted": granted.granted,
                "currency": granted.currency,
                "expiresAt": _moment(granted.expires_at),
                "outstanding": granted.outstanding,
            }
        )

    async def _lease(self, scope: Scope, receive: Receive) -> Answer:
        """Give a store codes, or uses of a limit, or take them back."""
        caller, body = await self._called(scope, receive)
        key = _key(scope)
        asked = _decode(body, _LEASE, _LEASE_RULES)
        context, tenant_id, deployment_id = self._context, caller.tenant_id, str(asked.deployment_id)
        if asked.codes is not None:
            return _leased(await lease_codes(context, tenant_id, deployment_id, list(dict.fromkeys(asked.codes))))
        if asked.release is not None:
            return _leased(await return_leases(context, tenant_id, deployment_id, set(asked.release)))
        if asked.promotion_id is not None:
            kind, entity_id = PROMOTION, str(asked.promotion_id)
        else:
            kind, entity_id = COUPON_TYPE, str(asked.coupon_type_id)
            if await is_to_issue(context, tenant_id, entity_id, asked.purpose):
                return _leased(await lease_pool(context, tenant_id, deployment_id, entity_id, _pooled(asked), key))
        given = await grant_uses(context, tenant_id, deployment_id, kind, entity_id, asked.quantity, key)
        return _answer(
            {
                "leased": given.given,
                "refused": [],
                "expiresAt": _moment(given.expires_at),
                "outstanding": given.outstanding,
            }
        )


# ---- requests -----------------------------------------------------------------------------------------------------

_GRANT = msgspec.json.Decoder(BudgetGrantRequest)
_LEASE = msgspec.json.Decoder(CouponLeaseRequest)
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


def _decode(body: bytes, decoder: msgspec.json.Decoder[T], rules: Sequence[Rule]) -> T:
    """The body as ``decoder`` has it. Raises Invalid (VALIDATION_FAILED and details, or a code about the JSON)."""
    require_bounded(body)
    try:
        asked = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        asked = None
    document = require_sound(body)
    if not isinstance(document, dict):
        raise Invalid("VALIDATION_FAILED", "The body must be a JSON object.")
    if asked is not None and _is_fine(asked, document) and not any(rule(document) for rule in rules):
        return asked
    raise explain(b'{"request":%s}' % body, decoder.type, rules)


def _is_fine(asked: Struct, document: Mapping[str, Any]) -> bool:
    amount = getattr(asked, "amount", None)
    try:
        return amount is None or (_thousandths(amount) >= 0 and has_plain_numbers(document, type(asked)))
    except BadNumber:
        return False


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


def _moment(at: datetime) -> str:
    return timestamp(at)


def _moment_maybe(at: datetime | None) -> str | None:
    return None if at is None else timestamp(at)


def _leased(answer: Leased) -> Answer:
    return _answer(
        {
            "leased": [
                {
                    "code": one.code,
                    "couponId": one.id,
                    "couponTypeId": one.coupon_type_id,
                    "status": one.status,
                    "customerId": one.customer_id,
                    "validFrom": _moment_maybe(one.valid_from),
                    "validUntil": _moment_maybe(one.valid_until),
                    "issuedAt": _moment_maybe(one.issued_at),
                }
                for one in answer.leased
            ],
            "refused": [{"code": code, "reason": reason} for code, reason in answer.refused],
            "expiresAt": _moment(answer.expires_at),
        }
    )


def _answer(message: Mapping[str, Any]) -> Answer:
    return Answer(_ENCODER.encode(message))


_ENCODER = msgspec.json.Encoder(decimal_format="string")
