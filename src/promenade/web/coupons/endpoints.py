"""`/pos/coupons/...`: coupons at the till, each operation also as an OData action such as `/pos/validateCoupon`.

A business refusal is an ordinary answer; only malformed and too frequent requests are errors.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct, UnsetType
from starlette.types import Receive, Scope

from promenade.errors import Detail, Invalid
from promenade.web.access.auth import Authentication, Caller
from promenade.web.coupons.messages import (
    ActivateCouponRequest,
    ActivateCouponResponse,
    CancelCouponRequest,
    CancelCouponResponse,
    IssueCouponsRequest,
    IssueCouponsResponse,
    IssuedCouponCode,
    IssueFailed,
    RedeemCouponRequest,
    RedeemCouponResponse,
    ReserveCouponRequest,
    ReserveCouponResponse,
    ValidateCouponRequest,
    ValidateCouponResponse,
    coupon_addresses,
)
from promenade.web.http.body import header, read_body, require_json
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.http.idempotency import key_of_headers
from promenade.web.http.json_body import decode_message
from promenade.web.http.validation import Rule
from promenade.web.pricing.encode import timestamp
from promenade.web.pricing.pos import SCOPES
from promenade.workflows.context import Context
from promenade.workflows.coupons import answers
from promenade.workflows.coupons.presenting import activate, validate
from promenade.workflows.coupons.redeeming import redeem
from promenade.workflows.coupons.reserving import ReserveOrder, cancel, reserve
from promenade.workflows.coupons.till_issue import IssueAnswer, IssueOrder, issue_at_till

BODY_BYTES_MAX = 64 * 1024
ISSUE_BYTES_MAX = 4 * 1024 * 1024
METADATA_BYTES_MAX = 4 * 1024

T = TypeVar("T", bound=Struct)


class PosCoupons:
    """The handlers of the coupon endpoints."""

    def __init__(self, context: Context, authenticator: Authentication) -> None:
        self._context = context
        self._authenticator = authenticator

    def endpoints(self) -> list[Endpoint]:
        """Return the routes, hot ones first."""
        handlers: Mapping[str, Handler] = {
            "validate": self._validate,
            "reserve": self._reserve,
            "redeem": self._redeem,
            "cancel": self._cancel,
            "activate": self._activate,
            "issue": self._issue,
        }
        return [
            Endpoint(f"/pos/{address}", {"POST": handler})
            for name, handler in handlers.items()
            for address in coupon_addresses(name)
        ]

    async def _called(
        self, scope: Scope, receive: Receive, decoder: msgspec.json.Decoder[T], bytes_max: int = BODY_BYTES_MAX
    ) -> tuple[Caller, T]:
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        require_json(scope)
        return caller, decode_message(await read_body(scope, receive, bytes_max), decoder)

    async def _validate(self, scope: Scope, receive: Receive) -> Answer:
        """Return whether a code could be redeemed now, and what it triggers. Changes nothing."""
        caller, asked = await self._called(scope, receive, _VALIDATE)
        found = await validate(
            self._context,
            caller.tenant_id,
            asked.code,
            transaction_id=asked.transaction_id or "",
            customer_id=asked.customer_id or None,
            client_id=caller.client_id,
        )
        until = None if found.valid_until is None else timestamp(found.valid_until)
        return _answer(
            scope,
            ValidateCouponResponse(
                found.reason is None,
                found.code,
                found.message,
                found.promotion_id,
                until,
                found.reason,
                found.reservation_id,
            ),
        )

    async def _reserve(self, scope: Scope, receive: Receive) -> Answer:
        """Reserve a code for a transaction. A repeated request gets the transaction's existing reservation."""
        caller, asked = await self._called(scope, receive, _RESERVE)
        order = ReserveOrder(asked.code, asked.transaction_id, asked.customer_id or None, caller.client_id)
        found = await reserve(self._context, caller.tenant_id, order)
        expires = None if found.expires_at is None else timestamp(found.expires_at)
        message, reason = _message(found.reason, answers.RESERVED), found.reason
        return _answer(
            scope, ReserveCouponResponse(found.reservation_id, reason is None, expires, message, reason, reason)
        )

    async def _redeem(self, scope: Scope, receive: Receive) -> Answer:
        """Redeem a reserved code, once. A confirm of the same transaction does not redeem it again."""
        caller, asked = await self._called(scope, receive, _REDEEM)
        found = await redeem(self._context, caller.tenant_id, str(asked.reservation_id), asked.transaction_id)
        message, reason = _message(found.reason, answers.REDEEMED), found.reason
        return _answer(scope, RedeemCouponResponse(reason is None, message, reason, reason))

    async def _cancel(self, scope: Scope, receive: Receive) -> Answer:
        """Release a reserved code."""
        caller, asked = await self._called(scope, receive, _CANCEL)
        found = await cancel(self._context, caller.tenant_id, str(asked.reservation_id))
        message, reason = _message(found.reason, answers.CANCELLED), found.reason
        return _answer(scope, CancelCouponResponse(reason is None, message, reason, reason))

    async def _activate(self, scope: Scope, receive: Receive) -> Answer:
        """Activate a coupon that its customer has to activate before it can be redeemed."""
        caller, asked = await self._called(scope, receive, _ACTIVATE)
        found = await activate(
            self._context, caller.tenant_id, asked.code, asked.customer_id, client_id=caller.client_id
        )
        until = None if found.valid_until is None else timestamp(found.valid_until)
        message = _message(found.reason, answers.ACTIVATED)
        return _answer(scope, ActivateCouponResponse(found.reason is None, found.code, message, until, found.reason))

    async def _issue(self, scope: Scope, receive: Receive) -> Answer:
        """Issue coupons of a type, at most 1 000 a minute: one for each customer, or a single bearer coupon.

        The header `Idempotency-Key` makes repeats one order for 24 hours: they get the same coupons.
        """
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        require_json(scope)
        body = await read_body(scope, receive, ISSUE_BYTES_MAX)
        order = _issue_order(body, caller.user, key_of_headers(scope))
        issued = await issue_at_till(self._context, caller.tenant_id, order, secrets.choice)
        return _answer(scope, _issue_answer(issued))


def _message(reason: str | None, done: str) -> str:
    return done if reason is None else answers.REASONS[reason]


def _answer(scope: Scope, message: Struct) -> Answer:
    version = b"4.01" if header(scope, b"odata-maxversion") == b"4.01" else b"4.0"
    return Answer(msgspec.json.encode(message), headers=[(b"odata-version", version)])


# ---- bodies -------------------------------------------------------------------------------------------------------

_VALIDATE = msgspec.json.Decoder(ValidateCouponRequest)
_RESERVE = msgspec.json.Decoder(ReserveCouponRequest)
_REDEEM = msgspec.json.Decoder(RedeemCouponRequest)
_CANCEL = msgspec.json.Decoder(CancelCouponRequest)
_ACTIVATE = msgspec.json.Decoder(ActivateCouponRequest)
_ISSUE = msgspec.json.Decoder(IssueCouponsRequest)


class _Kept(Struct, rename="camel"):
    """Members that are kept as raw text, because some numbers would not survive decoding."""

    metadata: Raw | UnsetType = msgspec.UNSET


_METADATA = msgspec.json.Decoder(_Kept)


def _issue_order(body: bytes, user: str, key: str | None) -> IssueOrder:
    asked = decode_message(body, _ISSUE, _ISSUE_RULES)
    metadata = None
    if asked.metadata is not None:
        written = bytes(_METADATA.decode(body).metadata or b"").strip()
        if len(written) > METADATA_BYTES_MAX:
            text = f"`metadata` may have at most {METADATA_BYTES_MAX} bytes."
            raise Invalid("VALIDATION_FAILED", text, "metadata", [Detail("TOO_LONG", text, "metadata")])
        metadata = written.decode("utf-8")
    customers: Sequence[str | None] = asked.customer_ids or [asked.customer_id or None]
    return IssueOrder(
        coupon_type_id=None if asked.coupon_type_id is None else str(asked.coupon_type_id),
        coupon_type_name=asked.coupon_type_name or None,
        customer_ids=tuple(customers),
        reason=asked.reason or None,
        metadata=metadata,
        user=user,
        key=key,
    )


def _type_rule(request: Mapping[str, Any]) -> list[Detail]:
    if not request.get("couponTypeId") and not request.get("couponTypeName"):
        return [Detail("COUPON_TYPE_REQUIRED", "Give `couponTypeId` or `couponTypeName`.", "couponTypeId")]
    return []


def _customer_rule(request: Mapping[str, Any]) -> list[Detail]:
    if request.get("customerId") and request.get("customerIds") is not None:
        return [Detail("ONE_OF_TWO", "Give `customerId` or `customerIds`, not both.", "customerIds")]
    return []


def _printable_rule(request: Mapping[str, Any]) -> list[Detail]:
    several = request.get("customerIds")
    named = [("customerId", request.get("customerId"))]
    named += [(f"customerIds[{at}]", one) for at, one in enumerate(several)] if isinstance(several, list) else []
    return [
        Detail("WRONG_FORM", f"`{target}` must not hold line ends or control characters.", target)
        for target, one in named
        if isinstance(one, str) and one.endswith("\n")  # the case that the pattern misses
    ]


_ISSUE_RULES: Sequence[Rule] = (_type_rule, _customer_rule, _printable_rule)


def _issue_answer(answer: IssueAnswer) -> IssueCouponsResponse:
    issued, failed = len(answer.issued), len(answer.failures)
    return IssueCouponsResponse(
        issued_count=issued,
        failed_count=failed,
        issued_coupons=[
            IssuedCouponCode(
                one.code or "",
                one.id,
                one.coupon_type_id,
                one.customer_id,
                None if one.valid_until is None else timestamp(one.valid_until),
            )
            for one in answer.issued
        ],
        failures=[IssueFailed(one.customer_id, one.code, one.message) for one in answer.failures],
        message=_issue_message(issued, failed),
    )


def _issue_message(issued: int, failed: int) -> str:
    coupons = "1 coupon was issued" if issued == 1 else f"{issued} coupons were issued"
    return f"{coupons}." if not failed else f"{coupons}, {failed} could not be."
