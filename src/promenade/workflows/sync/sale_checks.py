"""Consistency checks on a sale that a store uploads: its parts fit together and its sums agree (reliability B4).

Pure functions. A store prices as the cloud does, so its own sales always pass; forged or damaged ones are refused
before anything is done with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from promenade.engine.basket import Basket, Facts
from promenade.engine.money import line_total_minor, minor_digits
from promenade.engine.outcome import AppliedPromotion, LineDiscount, LineOutcome, Outcome
from promenade.errors import Invalid
from promenade.workflows.replica.uploads import SoldItem, UploadedCancellation, UploadedCoupon, UploadedSale

TEXT_MAX = 4_000
# By field name, in the engine and on the wire; stored values are no longer than their column.
_TEXTS: Mapping[str, int] = {
    "reference": 50,
    "article_number": 50,
    "ean": 18,
    "article_group_id": 20,
    "manufacturer_id": 255,
    "channel": 50,
    "customer_id": 50,
    "transaction_id": 50,
    "id": 36,
    "promotion_id": 36,
    "promotion_name": 255,
    "coupon_type_id": 36,
    "coupon_id": 36,
    "coupon_code": 64,
    "definition_hash": 64,
    "currency": 3,
    "card_prefix": 8,
    "metadata": 10_000,
}
_CODES = frozenset({"PILOT", "CONTROL", "EXPERIMENT", None})
_NUMBER_MAX = 10**18
_SMALL_MAX = 2**31 - 1
_SMALL = frozenset({"version", "applications", "count", "transactionCounter", "quantity"})
_POINTS_MAX = 10**12
_WORTH_LIMIT = 10**18
_PRICE_LIMIT, _QUANTITY_LIMIT = 10**15, 10**15
_AMOUNT_DIGITS_MAX = 13
_YEAR_MIN, _YEAR_MAX = 1970, 9000
_NODES_MAX = 250_000
# Maximum counts of what a till sends or a sale causes: each element costs the cloud one or more statements.
_LINES_MAX, _COUPONS_MAX = 5_000, 100
_CHARGES_MAX, _GRANTED_MAX = 2_000, 1_000


def check_document(document: Any) -> None:
    """Check the texts and numbers of a sale or an event as sent. Raises Invalid (SALE_MALFORMED)."""
    waiting: list[tuple[str, Any]] = [("", document)]
    nodes = 0
    while waiting:
        name, value = waiting.pop()
        kind = type(value)
        if kind is dict:
            nodes += len(value)
            waiting.extend(value.items())
        elif kind is list:
            nodes += len(value)
            waiting.extend([(name, one) for one in value])
        elif kind is str:
            if len(value) > _TEXTS.get(name, TEXT_MAX) or "\0" in value:
                raise _malformed(f"A text of `{name[:50]}` is too long, or holds a NUL.")
        elif kind is int:
            if abs(value) > (_SMALL_MAX if name in _SMALL else _NUMBER_MAX):
                raise _malformed(f"A number of `{name[:50]}` is too large.")
        elif kind is float:
            raise _malformed(f"A number of `{name[:50]}` is not a whole number; send decimals as strings.")
        if len(name) > 100 or nodes > _NODES_MAX:
            raise _malformed("It has too many members.")


def check_sale(sale: UploadedSale) -> None:
    """Raise Invalid (SALE_MALFORMED, SALE_INCONSISTENT) for a sale that no store could have priced and confirmed."""
    basket, outcome, facts = sale.request.basket, sale.result, sale.request.facts
    _check_moments(sale)
    _require(basket.transaction_id == sale.transaction_id, "The basket belongs to another transaction.")
    _require(sale.evaluated_at == sale.request.settings.now, "`evaluatedAt` is not the time at which it was priced.")
    currency = outcome.currency
    _require(currency == basket.pos_group.currency, "Basket and result have different currencies.")
    _require(len(currency) == 3 and currency.isascii() and currency.isupper(), "`currency` is not a currency code.")
    _require(outcome.exponent == minor_digits(currency), "`exponent` does not fit the currency.")
    _check_coupons(basket, facts)
    _check_lines(basket, outcome)
    _check_promotions(outcome, facts)
    _check_totals(outcome)
    _check_issued(sale)
    for item in sale.confirm.items or ():
        _check_item(item)


def check_coupon(event: UploadedCoupon) -> None:
    """Raise Invalid (SALE_MALFORMED) for an event that no till could have caused."""
    _check_moment(event.occurred_at, "occurredAt")
    if event.action == "REDEEMED" and event.transaction_id is None:
        raise _malformed("A redemption must name its transaction.")
    if event.action == "ACTIVATED" and event.coupon_id is None:
        raise _malformed("An activation must name its code.")


def check_cancellation(one: UploadedCancellation) -> None:
    """Raise Invalid (SALE_MALFORMED) for a time that no clock could have shown."""
    _check_moment(one.cancelled_at, "cancelledAt")


def _check_moments(sale: UploadedSale) -> None:
    named = {
        "evaluatedAt": sale.evaluated_at,
        "confirmedAt": sale.confirmed_at,
        "settings.now": sale.request.settings.now,
        "dataAge": sale.request.data_age,
        "timestamp": sale.confirm.timestamp,
    }
    for name, moment in named.items():
        if moment is not None:
            _check_moment(moment, name)
    for one in sale.issued:
        _check_moment(one.issued_at, "issuedAt")


def _check_moment(moment: datetime, name: str) -> None:
    if moment.tzinfo is None or not _YEAR_MIN <= moment.year <= _YEAR_MAX:
        raise _malformed(f"`{name}` must have a time zone, and a year from {_YEAR_MIN} to {_YEAR_MAX}.")


def _check_coupons(basket: Basket, facts: Facts) -> None:
    codes = tuple([fact.code for fact in facts.coupons])
    _require(len(codes) <= _COUPONS_MAX, "There are too many coupons.")
    _require(codes == basket.coupons, "The facts do not match the coupons of the basket.")
    _require(all(0 < len(code) <= 64 for code in codes), "A coupon code is too long.")


def _check_lines(basket: Basket, outcome: Outcome) -> None:
    _require(len(basket.lines) <= _LINES_MAX, "There are too many lines.")
    _require(len(basket.lines) == len(outcome.lines) > 0, "The lines of the result and the basket differ.")
    _require(len({line.reference for line in basket.lines}) == len(basket.lines), "A line reference is repeated.")
    worth = 0
    for asked, line in zip(basket.lines, outcome.lines, strict=True):
        same = (
            asked.reference == line.reference
            and asked.article_number == line.article_number
            and asked.quantity_thousandths == line.quantity_thousandths
            and asked.unit_price_hundredths == line.unit_price_hundredths
        )
        _require(same and bool(line.reference), "The lines of the result and the basket differ.")
        quantity, prices = line.quantity_thousandths, (line.unit_price_hundredths, asked.regular_price_hundredths or 0)
        is_priced = min(prices) >= 0 and max(prices) < _PRICE_LIMIT
        _require(0 < abs(quantity) < _QUANTITY_LIMIT and is_priced, "A line is out of range.")
        worth += abs(quantity) * max(prices)
        _require(worth < _WORTH_LIMIT, "The total value of the lines is too large.")
        _check_line(line, outcome.exponent)


def _check_line(line: LineOutcome, exponent: int) -> None:
    total = line_total_minor(line.unit_price_hundredths, line.quantity_thousandths, exponent)
    _require(line.total_minor == total, "A line's total is not its price times its quantity.")
    taken = sum([_amount_of(one) for one in line.discounts])
    _require(line.discount_minor == taken, "A line's discounts do not add up.")
    if line.quantity_thousandths < 0:
        _require(taken == 0 and line.net_minor == 0, "A returned line has a discount.")
    else:
        _require(line.net_minor == total - taken >= 0, "A line's net is not its total less its discounts.")


def _amount_of(discount: LineDiscount) -> int:
    units = discount.units
    sound = discount.amount_minor >= 0 and all(one.count > 0 and one.amount_minor >= 0 for one in units)
    _require(sound, "A discount is below zero.")
    shares = sum([one.count * one.amount_minor for one in units])
    _require(shares == discount.amount_minor, "The units of a discount do not add up.")
    return discount.amount_minor


def _check_promotions(outcome: Outcome, facts: Facts) -> None:
    on_lines: Counter[str] = Counter()
    for line in outcome.lines:
        for discount in line.discounts:
            on_lines[discount.promotion_id] += discount.amount_minor
    usable = {fact.code for fact in facts.coupons if fact.refusal is None}
    applied = {one.promotion_id: one for one in outcome.applied}
    _require(len(applied) == len(outcome.applied), "A promotion is applied twice.")
    charges = sum([len(one.budget_ids) for one in outcome.applied])
    _require(charges <= _CHARGES_MAX, "Too many budgets are charged.")
    granted = sum([len(one.post_purchase_coupon_type_ids) for one in outcome.applied])
    _require(granted <= _GRANTED_MAX, "Too many coupons are granted.")
    _require(on_lines.keys() <= applied.keys(), "A discount belongs to a promotion that was not applied.")
    for one in outcome.applied:
        _require(one.discount_minor == on_lines[one.promotion_id], "A promotion's discounts do not add up.")
        _require(
            one.coupon_code is None or one.coupon_code in usable, "A promotion uses a coupon that was not presented."
        )
        _check_promotion(one)
    for promotion_id in outcome.control_arms:
        _require(len(promotion_id) <= 36, "A promotion's ID is too long.")


def _check_promotion(one: AppliedPromotion) -> None:
    _require(
        one.give_away_minor >= 0 and one.version >= 0 and bool(one.promotion_id),
        "A number of a promotion is out of range.",
    )
    _require(abs(one.points) <= _POINTS_MAX, "A promotion gives too many points.")
    _require(one.pilot_arm in _CODES, "A promotion has an unknown pilot arm.")
    named = (*one.budget_ids, *one.post_purchase_coupon_type_ids)
    _require(all(0 < len(name) <= 36 for name in named), "An ID of a promotion is too long.")
    _require(len(set(one.budget_ids)) == len(one.budget_ids), "A promotion is charged to a budget twice.")


def _check_totals(outcome: Outcome) -> None:
    totals = [line.total_minor for line in outcome.lines]
    sums = {
        "subtotal": (outcome.subtotal_minor, sum(totals)),
        "sale subtotal": (outcome.sale_subtotal_minor, sum([one for one in totals if one > 0])),
        "return subtotal": (outcome.return_subtotal_minor, sum([one for one in totals if one < 0])),
        "discount": (outcome.discount_minor, sum([one.discount_minor for one in outcome.applied])),
        "grand total": (outcome.grand_total_minor, outcome.subtotal_minor - outcome.discount_minor),
    }
    for name, (said, found) in sums.items():
        _require(said == found, f"The {name} does not add up.")
    _require(
        0 <= outcome.points <= _POINTS_MAX and 0 <= outcome.base_points <= _POINTS_MAX, "The points are out of range."
    )


def _check_issued(sale: UploadedSale) -> None:
    """Check that every issued coupon was granted, each once."""
    granted = {(one.promotion_id, kind) for one in sale.result.applied for kind in one.post_purchase_coupon_type_ids}
    issued = [(one.promotion_id, one.coupon_type_id) for one in sale.issued]
    _require(len(set(issued)) == len(issued), "A coupon was issued twice.")
    _require(granted.issuperset(issued), "A coupon was issued that the result did not grant.")


def _check_item(item: SoldItem) -> None:
    numbers: Iterable[Decimal | None] = (item.quantity, item.unit_price, item.line_discount, item.line_net)
    for number in numbers:
        if number is not None and not (number.is_finite() and number.adjusted() < _AMOUNT_DIGITS_MAX):
            raise _malformed("A number of `confirm.items` is out of range.")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise Invalid("SALE_INCONSISTENT", message)


def _malformed(message: str) -> Invalid:
    return Invalid("SALE_MALFORMED", message)
