"""Converts bodies of the POS service to the requests of its workflows; invalid ones are refused with messages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from promenade.engine.basket import BasketLine, Customer, Payment
from promenade.errors import Detail, Invalid
from promenade.web.http.json_body import decode_message
from promenade.web.http.numbers import BadNumber, amount_thousandths, price_hundredths, quantity_thousandths
from promenade.web.http.unknown_fields import DETAILS_MAX, unknown_field, unknown_fields
from promenade.web.http.validation import Rule, explain, has_plain_numbers, require_bounded, require_sound
from promenade.web.pricing.messages import (
    BasketItem,
    CancelRequest,
    ConfirmBasketItem,
    ConfirmPromotion,
    ConfirmRequest,
    CustomerInfo,
    Envelope,
    EvaluateRequest,
    KeyValuePair,
    MoneyInput,
    PaymentInfo,
    PricesRequest,
)
from promenade.workflows.pricing.evaluate import PricingRequest
from promenade.workflows.pricing.prices import AskedPrice, PriceListRequest
from promenade.workflows.sales.cancel import CancelCommand
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedItem, ConfirmedPromotion

_CARD_DIGITS_READ = 8  # digits beyond these are never stored, logged or passed on
# Totals are Decimal(15,2) like prices: a basket's value stays below 10^13, here in thousandths x hundredths.
_WORTH_LIMIT = 10**18
_YEAR_MIN, _YEAR_MAX = 1970, 9000  # keeps all arithmetic with days and time zones within datetime's range

_EVALUATE = msgspec.json.Decoder(Envelope[EvaluateRequest])
_PRICES = msgspec.json.Decoder(Envelope[PricesRequest])
_CANCEL = msgspec.json.Decoder(CancelRequest)
_CONFIRM = msgspec.json.Decoder(Envelope[ConfirmRequest])

T = TypeVar("T", bound=msgspec.Struct)
Made = TypeVar("Made")


class _Refused(Exception):
    """A rule is violated; `explain` finds out which."""


def decode_evaluate(
    body: bytes, *, is_simulation: bool, client_id: str = "", is_strict: bool = False
) -> PricingRequest:
    """Decode the body of evaluate or simulate; ``is_strict``: without unknown fields, which are ignored otherwise.

    Raises Invalid (VALIDATION_FAILED and details, or a code about the JSON).
    """
    return _made(
        body,
        _EVALUATE,
        EvaluateRequest,
        lambda request: _pricing_request(request, is_simulation, client_id),
        _EVALUATE_RULES,
        is_strict=is_strict,
    )


def _refuse_unknown(body: bytes, kind: type[msgspec.Struct]) -> None:
    """Refuse fields that a request does not have, also beside `request`."""
    document = require_sound(body)
    beside = [name for name in document if name != "request" and "@" not in name]
    faults = [unknown_field(name, ("request",)) for name in beside[:DETAILS_MAX]]
    faults += unknown_fields(document["request"], kind)
    if faults:
        raise Invalid("VALIDATION_FAILED", faults[0].message, faults[0].target, faults[:DETAILS_MAX])


def decode_prices(body: bytes, *, is_strict: bool = False) -> PriceListRequest:
    """Decode the body of prices; ``is_strict`` and errors as of `decode_evaluate`."""
    return _made(body, _PRICES, PricesRequest, _price_list_request, _PRICES_RULES, is_strict=is_strict)


def decode_confirm(body: bytes) -> ConfirmCommand:
    """Decode the body of confirm. Raises Invalid as `decode_evaluate` does."""
    return _made(body, _CONFIRM, ConfirmRequest, _confirm_command, _CONFIRM_RULES)


def _made(
    body: bytes,
    decoder: msgspec.json.Decoder[Envelope[T]],
    kind: type[T],
    make: Callable[[T], Made],
    rules: Sequence[Rule],
    *,
    is_strict: bool = False,
) -> Made:
    """Return what is made of a request in an envelope. Raises Invalid, which tells all that is wrong with it."""
    request = _decode(body, decoder)
    if request is not None:
        try:
            made = make(request)
        except (_Refused, BadNumber):
            pass
        else:
            if is_strict:
                _refuse_unknown(body, kind)
            return made
    raise explain(body, kind, (*rules, lambda given: unknown_fields(given, kind)) if is_strict else rules)


def decode_cancel(body: bytes) -> CancelCommand:
    """Decode the body of cancel, which is in no envelope. Raises Invalid as `decode_evaluate` does."""
    request = decode_message(body, _CANCEL, is_fine=lambda _, document: has_plain_numbers(document, CancelRequest))
    return CancelCommand(request.transaction_id, request.transaction_counter, request.reason or None)


def _decode(body: bytes, decoder: msgspec.json.Decoder[Envelope[T]]) -> T | None:
    require_bounded(body)
    try:
        envelope = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    request = envelope.request
    return request if has_plain_numbers(require_sound(body)["request"], type(request)) else None


# ---- evaluate -------------------------------------------------------------------------------------------------------


def _pricing_request(request: EvaluateRequest, is_simulation: bool, client_id: str) -> PricingRequest:
    header = request.header
    if request.pos_group_id is None and request.pos_group_code is None:
        raise _Refused
    if header is not None and header.transaction_counter is not None:
        raise _Refused
    manual = request.manual_discount
    return PricingRequest(
        transaction_id=header.transaction_id if header else None,
        receipt_id=header.receipt_id if header else None,
        header_reference=header.header_reference if header else None,
        pos_group_id=str(request.pos_group_id) if request.pos_group_id else None,
        pos_group_code=request.pos_group_code,
        lines=_lines(request.items),
        coupons=tuple([coupon.code for coupon in request.coupons]) if request.coupons else (),
        customer=_customer(request.customer),
        payment=_payment(request.payment_info),
        channel=request.channel or None,
        user_fields=_fields(request.user_defined_fields),
        manual_discount=manual is not None and manual.enabled,
        manual_discount_reason=(manual.reason_code or None) if manual else None,
        timestamp=_moment(request.timestamp),
        include_inactive=bool(request.include_inactive) and is_simulation,
        include_missed=bool(request.include_missed_promotions),
        client_id=client_id,
    )


def _lines(items: Sequence[BasketItem]) -> tuple[BasketLine, ...]:
    given = {item.line_reference for item in items if item.line_reference is not None}
    if len(given) != sum(item.line_reference is not None for item in items):
        raise _Refused
    lines = tuple(
        [
            BasketLine(
                item.line_reference or _free_reference(position, given),
                item.article_number,
                quantity_thousandths(item.quantity),
                price_hundredths(item.unit_price),
                item.ean or None,
                item.article_group_id or None,
                item.manufacturer_id or None,
                _fields(item.additional_fields),
                None if item.regular_unit_price is None else price_hundredths(item.regular_unit_price),
            )
            for position, item in enumerate(items, start=1)
        ]
    )
    worth = sum([abs(line.quantity_thousandths) * line.unit_price_hundredths for line in lines])
    for line in lines:
        if line.regular_price_hundredths is not None:  # of most lines there is none
            worth += abs(line.quantity_thousandths) * max(0, line.regular_price_hundredths - line.unit_price_hundredths)
    if worth >= _WORTH_LIMIT:
        raise _Refused
    return lines


def _free_reference(position: int, taken: set[str]) -> str:
    """Return the line's position in the basket, from 1, made distinct from references given by the till."""
    reference = str(position)
    while reference in taken:
        reference += "a"
    return reference


def _customer(info: CustomerInfo | None) -> Customer | None:
    if info is None:
        return None
    loyalty = info.loyalty
    return Customer(
        customer_id=info.customer_id or None,
        customer_group=info.customer_group or None,
        loyalty_card_number=info.loyalty_card_no or None,
        loyalty_tier=(loyalty.tier or None) if loyalty else None,
        loyalty_points=loyalty.points if loyalty else None,
    )


def _payment(info: PaymentInfo | None) -> Payment | None:
    if info is None:
        return None
    digits = "".join([character for character in info.card_number or "" if character in "0123456789"])
    return Payment(
        payment_means=info.payment_means or None,
        card_type=info.card_type or None,
        card_prefix=digits[:_CARD_DIGITS_READ] or None,
    )


def _fields(pairs: Sequence[KeyValuePair] | None) -> tuple[tuple[str, str], ...]:
    return tuple([(pair.key, pair.value) for pair in pairs]) if pairs else ()


def _moment(value: datetime | None) -> datetime | None:
    """Return a request's time in UTC; a time without an offset is in UTC."""
    if value is None:
        return None
    if not _YEAR_MIN <= value.year <= _YEAR_MAX:
        raise _Refused
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# ---- prices ---------------------------------------------------------------------------------------------------------


def _price_list_request(request: PricesRequest) -> PriceListRequest:
    if request.pos_group_id is None and request.pos_group_code is None:
        raise _Refused
    return PriceListRequest(
        items=tuple(
            [
                AskedPrice(
                    item.article_number,
                    item.ean or None,
                    None if item.unit_price is None else price_hundredths(item.unit_price),
                    None if item.regular_unit_price is None else price_hundredths(item.regular_unit_price),
                )
                for item in request.items
            ]
        ),
        pos_group_id=str(request.pos_group_id) if request.pos_group_id else None,
        pos_group_code=request.pos_group_code,
        customer=_customer(request.customer),
        channel=request.channel or None,
        timestamp=_moment(request.timestamp),
    )


# ---- confirm --------------------------------------------------------------------------------------------------------


def _confirm_command(request: ConfirmRequest) -> ConfirmCommand:
    header = request.header
    if header.transaction_id != request.transaction_id:
        raise _Refused
    promotions = tuple([_confirmed(promotion) for promotion in request.applied_promotions])
    return ConfirmCommand(
        transaction_id=request.transaction_id,
        transaction_counter=header.transaction_counter,
        pos_group_id=str(request.pos_group_id) if request.pos_group_id else None,
        pos_group_code=request.pos_group_code,
        promotions=promotions,
        customer_id=request.customer_id or None,
        timestamp=_moment(request.timestamp),
        items=None if request.items is None else _confirmed_items(request.items),
        receipt_id=header.receipt_id,
        header_reference=header.header_reference,
        fingerprint=_fingerprint(promotions, request.customer_id or None),
    )


def _confirmed(promotion: ConfirmPromotion) -> ConfirmedPromotion:
    amount, currency = promotion.total_discount, None
    if amount is not None:
        amount_thousandths(amount)
    if promotion.discount_amount is not None:
        amount, currency = _money(promotion.discount_amount), promotion.discount_amount.currency
    return ConfirmedPromotion(str(promotion.promotion_id), promotion.coupon_code, amount, currency)


def _money(money: MoneyInput) -> Decimal:
    amount_thousandths(money.value)
    return money.value


def _confirmed_items(items: Sequence[ConfirmBasketItem]) -> tuple[ConfirmedItem, ...]:
    _lines(items)
    return tuple(
        [
            ConfirmedItem(
                line_reference=item.line_reference,
                article_number=item.article_number,
                quantity=item.quantity,
                unit_price=item.unit_price,
                line_discount=None if item.line_discount is None else _money(item.line_discount),
                line_net=None if item.line_net is None else _money(item.line_net),
            )
            for item in items
        ]
    )


def _fingerprint(promotions: Sequence[ConfirmedPromotion], customer_id: str | None) -> bytes:
    """Return the fingerprint by which a second confirm is a repetition: the same promotions, amounts and customer.

    The order of the promotions, the notation of numbers and the time of the retry do not matter.
    """
    entries = sorted(
        [
            promotion.promotion_id,
            promotion.coupon_code or "",
            "" if promotion.amount is None else str(amount_thousandths(promotion.amount)),
        ]
        for promotion in promotions
    )
    return hashlib.sha256(msgspec.json.encode([customer_id, entries])).digest()


# ---- what holds between fields, for the explanation ------------------------------------------------------------------


def _items_of(request: Mapping[str, Any]) -> list[Any]:
    items = request.get("items")
    return items if isinstance(items, list) else []


def _pos_group_rule(request: Mapping[str, Any]) -> list[Detail]:
    if request.get("posGroupId") is None and request.get("posGroupCode") is None:
        return [Detail("POS_GROUP_REQUIRED", "Give `posGroupId` or `posGroupCode`.", "posGroupId")]
    return []


def _counter_rule(request: Mapping[str, Any]) -> list[Detail]:
    header = request.get("header")
    if isinstance(header, dict) and header.get("transactionCounter") is not None:
        target = "header.transactionCounter"
        return [Detail("COUNTER_NOT_ALLOWED", f"`{target}` is set by the server: do not send it here.", target)]
    return []


def _reference_rule(request: Mapping[str, Any]) -> list[Detail]:
    references = [item.get("lineReference") for item in _items_of(request) if isinstance(item, dict)]
    repeated = {reference for reference, count in Counter(map(repr, references)).items() if count > 1}
    seen: set[str] = set()
    faults: list[Detail] = []
    for position, item in enumerate(_items_of(request)):
        reference = item.get("lineReference") if isinstance(item, dict) else None
        if not isinstance(reference, str) or repr(reference) not in repeated:
            continue
        if reference in seen:
            target = f"items[{position}].lineReference"
            faults.append(Detail("LINE_REFERENCE_REPEATED", f"`{target}` repeats `{reference[:50]}`.", target))
        seen.add(reference)
    return faults


def _worth_rule(request: Mapping[str, Any]) -> list[Detail]:
    try:
        items = msgspec.convert(_items_of(request), list[BasketItem])
        worth = sum(
            abs(quantity_thousandths(one.quantity))
            * max(price_hundredths(price) for price in (one.unit_price, one.regular_unit_price) if price is not None)
            for one in items
        )
    except (msgspec.ValidationError, BadNumber):
        return []  # already reported as an error of the field
    if worth < _WORTH_LIMIT:
        return []
    return [Detail("OUT_OF_RANGE", "The total value of `items` must be less than 10000000000000.", "items")]


def _timestamp_rule(request: Mapping[str, Any]) -> list[Detail]:
    try:
        moment = msgspec.convert(request.get("timestamp"), datetime | None)
        _moment(moment)
    except msgspec.ValidationError:
        return []  # already reported as an error of the field
    except _Refused:
        message = f"`timestamp` must be between the years {_YEAR_MIN} and {_YEAR_MAX}."
        return [Detail("OUT_OF_RANGE", message, "timestamp")]
    return []


def _same_transaction_rule(request: Mapping[str, Any]) -> list[Detail]:
    header, own = request.get("header"), request.get("transactionId")
    other = header.get("transactionId") if isinstance(header, dict) else None
    if isinstance(own, str) and isinstance(other, str) and own != other:
        return [Detail("MISMATCH", "`transactionId` must equal `header.transactionId`.", "transactionId")]
    return []


_EVALUATE_RULES: Sequence[Rule] = (
    _pos_group_rule,
    _counter_rule,
    _reference_rule,
    _worth_rule,
    _timestamp_rule,
)
_PRICES_RULES: Sequence[Rule] = (_pos_group_rule, _timestamp_rule)
_CONFIRM_RULES: Sequence[Rule] = (_same_transaction_rule, _reference_rule, _worth_rule, _timestamp_rule)
