"""Rules for confirming a priced iteration, and the resulting settlement (pricing semantics, section 11).

Pure: takes a stored `Outcome` and a `ConfirmCommand`, returns a `Settlement` in whole minor units or raises `Invalid`
naming the wrong field. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from promenade.engine.basket import PosGroupFact
from promenade.engine.money import split_proportional
from promenade.engine.outcome import AppliedPromotion, LineDiscount, LineOutcome, Outcome, UnitShare
from promenade.engine.value import value
from promenade.errors import Detail, Invalid

AMOUNT_DIGITS_MAX = 13  # Decimal(15,2): digits before the decimal point


@value(frozen=True, slots=True)
class ConfirmedPromotion:
    """One ConfirmPromotion. ``amount`` is in major units; None means the evaluated amount.

    ``currency`` is set if the amount was sent as ``discountAmount`` (which takes precedence), None if it was sent as
    ``totalDiscount``.
    """

    promotion_id: str
    coupon_code: str | None = None
    amount: Decimal | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class ConfirmedItem:
    """One ConfirmBasketItem: the till's final price of a line, for audit. Amounts in major units."""

    line_reference: str | None
    article_number: str
    quantity: Decimal
    unit_price: Decimal
    line_discount: Decimal | None = None
    line_net: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ConfirmCommand:
    """A ConfirmRequest. ``fingerprint`` is the SHA-256 of the canonical request."""

    transaction_id: str
    transaction_counter: int
    promotions: tuple[ConfirmedPromotion, ...]
    fingerprint: bytes
    pos_group_id: str | None = None
    pos_group_code: str | None = None
    customer_id: str | None = None
    timestamp: datetime | None = None
    items: tuple[ConfirmedItem, ...] | None = None
    receipt_id: str | None = None
    header_reference: str | None = None


@dataclass(frozen=True, slots=True)
class SaleIdentity:
    """The iteration being confirmed, its customer, and when.

    ``at`` is the service's own time. ``judged_at`` decides what is still valid; it differs from ``at`` only for a sale
    that a store made earlier. ``confirmed_at`` is the till's time if it sent one, and is shown in the records.
    """

    origin: str
    transaction_id: str
    transaction_counter: int
    customer_id: str | None
    at: datetime
    judged_at: datetime
    confirmed_at: datetime


@value(frozen=True, slots=True)
class SettledPromotion:
    """A promotion that takes effect. ``booked_minor`` is the smaller of confirmed and evaluated."""

    applied: AppliedPromotion
    confirmed: Decimal  # major units, as sent by the till; may exceed the evaluated amount
    booked_minor: int


@value(frozen=True, slots=True)
class SettledDiscount:
    """The amount one promotion took off one line; ``units`` as evaluated, for later partial returns."""

    promotion_id: str
    booked_minor: int
    units: tuple[UnitShare, ...]


@value(frozen=True, slots=True)
class SettledLine:
    """One line of the iteration with its confirmed discounts."""

    priced: LineOutcome
    discount_minor: int
    net_minor: int  # 0 on a return line
    discounts: tuple[SettledDiscount, ...]


@dataclass(frozen=True, slots=True)
class PointsEntry:
    """Loyalty points and their cause; ``promotion_id`` None: the tenant's base points."""

    promotion_id: str | None
    points: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """The result of a confirm.

    INVARIANT: ``discount_minor`` is the sum over ``promotions`` of ``booked_minor`` and over ``lines`` of
    ``discount_minor``, and no promotion books more than was evaluated.
    """

    promotions: tuple[SettledPromotion, ...]  # in order of application, rewards-only ones included
    lines: tuple[SettledLine, ...]
    points: tuple[PointsEntry, ...]
    discount_minor: int
    grand_total_minor: int
    coupon_codes: tuple[str, ...]  # codes that triggered the confirmed promotions, each once
    is_discrepant: bool


@lru_cache(20_000)
def money(minor: int, exponent: int) -> Decimal:
    """Convert minor units to an exact Decimal in major units."""
    return Decimal(minor).scaleb(-exponent)


def check_pos_group(command: ConfirmCommand, priced_for: PosGroupFact) -> None:
    """Check that the POS group, which is optional on confirm, is the iteration's.

    Raises `Invalid` POS_GROUP_MISMATCH on posGroupId or posGroupCode.
    """
    wrong = None
    if command.pos_group_id is not None and command.pos_group_id.lower() != priced_for.id:
        wrong = "posGroupId"
    elif command.pos_group_code is not None and command.pos_group_code.strip() != priced_for.code:
        wrong = "posGroupCode"
    if wrong is not None:
        raise Invalid("POS_GROUP_MISMATCH", "The iteration was priced for another POS group.", wrong)


def settle(outcome: Outcome, command: ConfirmCommand) -> Settlement:
    """Decide which parts of an evaluated iteration take effect.

    Discounting promotions that are not named were withdrawn by the till, along with their rewards; rewards-only ones
    take effect without being named. Raises `Invalid` naming every faulty entry: UNKNOWN_PROMOTION, DUPLICATE_PROMOTION,
    INVALID_AMOUNT, CURRENCY_MISMATCH.
    """
    _check_entries(outcome, command.promotions)
    named = {entry.promotion_id: entry for entry in command.promotions}
    promotions = tuple(
        _settle_promotion(applied, named.get(applied.promotion_id), outcome.exponent)
        for applied in outcome.applied
        if applied.promotion_id in named or not _discounts(applied)
    )
    lines = _settle_lines(outcome.lines, promotions)
    discount = sum(promotion.booked_minor for promotion in promotions)
    return Settlement(
        promotions=promotions,
        lines=lines,
        points=_points(outcome.base_points, promotions),
        discount_minor=discount,
        grand_total_minor=outcome.subtotal_minor - discount,
        coupon_codes=tuple(dict.fromkeys(one.applied.coupon_code for one in promotions if one.applied.coupon_code)),
        is_discrepant=_differs(promotions, named, outcome.exponent)
        or _items_differ(lines, command.items, outcome.exponent),
    )


def _discounts(applied: AppliedPromotion) -> bool:
    """A granted free item counts as a discount too: the till may withhold it."""
    return applied.discount_minor > 0 or applied.give_away_minor > 0


def _check_entries(outcome: Outcome, entries: Sequence[ConfirmedPromotion]) -> None:
    known = {applied.promotion_id for applied in outcome.applied}
    seen: set[str] = set()
    faults: list[Detail] = []
    for position, entry in enumerate(entries):
        path = f"appliedPromotions[{position}]"
        if entry.promotion_id not in known:
            message = "This promotion was not applied in the iteration."
            faults.append(Detail("UNKNOWN_PROMOTION", message, f"{path}.promotionId"))
        elif entry.promotion_id in seen:
            faults.append(Detail("DUPLICATE_PROMOTION", "A promotion must be named only once.", f"{path}.promotionId"))
        seen.add(entry.promotion_id)
        fault = _amount_fault(entry, outcome.currency, path)
        if fault is not None:
            faults.append(fault)
    if faults:
        first = faults[0]
        raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())


def _amount_fault(entry: ConfirmedPromotion, currency: str, path: str) -> Detail | None:
    amount = entry.amount
    field = "totalDiscount" if entry.currency is None else "discountAmount"
    if entry.currency is not None and entry.currency != currency:
        message = f"The iteration was priced in {currency}."
        return Detail("CURRENCY_MISMATCH", message, f"{path}.discountAmount.currency")
    if amount is None:
        return None
    if not amount.is_finite() or amount < 0 or amount.adjusted() >= AMOUNT_DIGITS_MAX:
        message = f"An amount must be at least 0, with at most {AMOUNT_DIGITS_MAX} digits before the decimal point."
        return Detail("INVALID_AMOUNT", message, f"{path}.{field}")
    return None


def _settle_promotion(applied: AppliedPromotion, entry: ConfirmedPromotion | None, exponent: int) -> SettledPromotion:
    evaluated = applied.discount_minor
    if entry is None or entry.amount is None:
        return SettledPromotion(applied, money(evaluated, exponent), evaluated)
    # Fractions of a minor unit cannot be booked: the confirmed amount is rounded down; the log keeps it unrounded.
    return SettledPromotion(applied, entry.amount, min(evaluated, int(entry.amount.scaleb(exponent))))


def _settle_lines(lines: Sequence[LineOutcome], promotions: Sequence[SettledPromotion]) -> tuple[SettledLine, ...]:
    """Book each promotion on the lines it was evaluated on; reduce them proportionally if less was confirmed."""
    places: dict[str, list[tuple[int, LineDiscount]]] = {}
    for position, line in enumerate(lines):
        for discount in line.discounts:
            places.setdefault(discount.promotion_id, []).append((position, discount))
    booked: list[list[SettledDiscount]] = [[] for _ in lines]
    for promotion in promotions:
        its_places = places.get(promotion.applied.promotion_id, [])
        amounts = [discount.amount_minor for _, discount in its_places]
        whole = promotion.booked_minor == sum(amounts)
        parts = amounts if whole else split_proportional(promotion.booked_minor, amounts, amounts)
        for (position, discount), part in zip(its_places, parts, strict=True):
            booked[position].append(SettledDiscount(discount.promotion_id, part, discount.units))
    return tuple([_settled_line(line, tuple(taken)) for line, taken in zip(lines, booked, strict=True)])


def _settled_line(line: LineOutcome, discounts: tuple[SettledDiscount, ...]) -> SettledLine:
    discount = sum([one.booked_minor for one in discounts])
    return SettledLine(line, discount, max(line.total_minor - discount, 0), discounts)


def _points(base: int, promotions: Sequence[SettledPromotion]) -> tuple[PointsEntry, ...]:
    """Return the base points first, then each promotion's, in order of application.

    The balance of a sale never drops below zero (section 6), even if the points that a SUBTRACT_POINTS was taken from
    have been withdrawn.
    """
    entries: list[PointsEntry] = []
    total = 0
    causes = [(None, base)] + [(one.applied.promotion_id, one.applied.points) for one in promotions]
    for promotion_id, points in causes:
        granted = max(points, -total)
        if granted:
            entries.append(PointsEntry(promotion_id, granted))
            total += granted
    return tuple(entries)


def _differs(promotions: Sequence[SettledPromotion], named: dict[str, ConfirmedPromotion], exponent: int) -> bool:
    for promotion in promotions:
        if promotion.confirmed != money(promotion.applied.discount_minor, exponent):
            return True
        entry = named.get(promotion.applied.promotion_id)
        if entry is not None and entry.coupon_code is not None and entry.coupon_code != promotion.applied.coupon_code:
            return True
    return False


def _items_differ(lines: Sequence[SettledLine], items: Sequence[ConfirmedItem] | None, exponent: int) -> bool:
    """Whether the till's final prices differ from what is booked. Items never change what is booked."""
    if items is None:
        return False
    if len(items) != len(lines):
        return True
    return any(_item_differs(line, item, exponent) for line, item in zip(lines, items, strict=True))


def _item_differs(line: SettledLine, item: ConfirmedItem, exponent: int) -> bool:
    priced = line.priced
    return (
        item.article_number != priced.article_number
        or item.quantity != Decimal(priced.quantity_thousandths).scaleb(-3)
        or item.unit_price != Decimal(priced.unit_price_hundredths).scaleb(-2)
        or (item.line_reference is not None and item.line_reference != priced.reference)
        or (item.line_discount is not None and item.line_discount != money(line.discount_minor, exponent))
        or (item.line_net is not None and item.line_net != money(line.net_minor, exponent))
    )
