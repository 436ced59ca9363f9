"""What return lines are told to give back: exactly what was paid, in however many parts (section 11, R1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from promenade.engine.basket import BasketLine, Refund
from promenade.engine.money import divide, minor_digits
from promenade.engine.outcome import LineOutcome, Outcome
from promenade.workflows.settlement.refunds import (
    KnownSale,
    given_by_shares,
    refunds_of,
    repriced,
    with_amounts,
    without,
)
from promenade.workflows.settlement.repricing import NOTHING_LEFT, Rest
from promenade.workflows.settlement.returns import (
    BudgetCharge,
    Given,
    SaleRecord,
    add_returned,
    added,
    decode_given,
    encode_given,
    give_back,
    record_of,
)
from promenade.workflows.settlement.rules import ConfirmCommand, ConfirmedPromotion, settle
from tests.workflows.outcomes import applied, discount, line, outcome


def sold(priced: Outcome, *confirmed: ConfirmedPromotion) -> SaleRecord:
    entries = confirmed or tuple(ConfirmedPromotion(one.promotion_id) for one in priced.applied)
    return record_of(settle(priced, ConfirmCommand("T1", 1, entries, b"")), priced.currency, "C1", ())


def back(reference: str, quantity: int, own: str = "r", sale: str = "T1") -> BasketLine:
    names = {"originalTransactionId": sale, "originalLineReference": reference}
    return BasketLine(own, "A", -quantity, 999, fields=tuple((name, value) for name, value in names.items() if value))


def told(
    record: SaleRecord, *lines: BasketLine, before: Mapping[str, int] | None = None, currency: str = "EUR"
) -> list[Refund]:
    return list(refunds_of(lines, "R1", currency, {"T1": KnownSale(record, Given(before or {}), ())}, {"T2"}))


# 3 x 10.00 with 4.00 off, and 50.00 in another line.
THREE = outcome(
    (line("1", 3000, 3000, discount("off", ((1, 134), (2, 133)))), line("2", 1000, 5000)), (applied("off", 400),)
)


def test_one_by_one_the_refunds_are_what_the_units_cost() -> None:
    amounts = [
        refund.amount_minor
        for before in (0, 1000, 2000)
        for refund in told(sold(THREE), back("1", 1000), before={"1": before})
    ]
    assert amounts == [866, 867, 867]


def test_units_whose_price_is_no_whole_amount_are_refunded_to_the_whole_line() -> None:
    record = sold(outcome((line("1", 3000, 32),), (), currency="JPY", exponent=0))  # 3 x 10.50 yen
    steps = [told(record, back("1", 1000), before={"1": before}, currency="JPY") for before in (0, 1000, 2000)]
    assert [one.amount_minor for (one,) in steps] == [11, 10, 11]


def test_a_unit_that_was_free_gives_back_nothing_and_not_less() -> None:
    free = discount("off", ((1, 0), (1, 11), (1, 0)))  # 11 yen off a unit of 10.50
    record = sold(outcome((line("1", 3000, 32, free),), (applied("off", 11),), currency="JPY", exponent=0))
    steps = [told(record, back("1", 1000), before={"1": before}, currency="JPY") for before in (0, 1000, 2000)]
    assert [one.amount_minor for (one,) in steps] == [11, 0, 10]


def test_several_lines_of_a_basket_return_one_line_of_a_sale() -> None:
    first, second = told(sold(THREE), back("1", 1000, "a"), back("1", 2000, "b"))
    assert [(first.amount_minor, first.discount_minor), (second.amount_minor, second.discount_minor)] == [
        (866, 134),
        (1734, 266),
    ]
    assert [(one.count, one.amount_minor) for one in second.shares] == [(2, 133)]


def test_a_whole_sale_gives_back_what_was_paid_and_not_its_prices() -> None:
    priced = outcome(
        (
            line("1", 1000, 5000, discount("receipt", ((1, 313),))),
            line("2", 3000, 3000, discount("receipt", ((1, 63), (2, 62)))),
        ),
        (applied("receipt", 500),),
    )
    refunds = told(sold(priced), back("1", 1000), back("2", 3000))
    assert sum(one.amount_minor or 0 for one in refunds) == 7500


def test_more_than_is_left_gives_back_what_is_left() -> None:
    (refund,) = told(sold(THREE), back("1", 3000), before={"1": 2000})
    assert (refund.status, refund.left_thousandths, refund.amount_minor) == ("OVER_RETURNED", 1000, 867)
    (refund,) = told(sold(THREE), back("1", 1000), before={"1": 3000})
    assert (refund.status, refund.left_thousandths, refund.amount_minor) == ("OVER_RETURNED", 0, 0)


def test_what_the_books_do_not_have_counts_as_the_till_sends_it() -> None:
    lines = (
        back("9", 1000),
        back("", 1000),
        back("1", 1000, sale="T9"),
        back("1", 1000, sale="T2"),
        back("1", 1, sale="R1"),
    )
    assert [(one.status, one.amount_minor) for one in told(sold(THREE), *lines)] == [
        ("UNKNOWN_LINE", None),
        ("UNKNOWN_LINE", None),
        ("UNKNOWN_SALE", None),
        ("NOT_CONFIRMED", None),
        ("NOT_CONFIRMED", None),
    ]


def test_a_sale_in_another_currency_gives_back_points_but_no_amount() -> None:
    priced = outcome((line("1", 1000, 1000),), (), base_points=10)
    (refund,) = told(sold(priced), back("1", 1000), currency="JPY")
    assert (refund.status, refund.amount_minor, refund.points) == ("WRONG_CURRENCY", None, 10)


def test_lines_that_name_no_sale_have_no_refund() -> None:
    plain = (BasketLine("1", "A", -1000, 100), BasketLine("2", "A", 1000, 100, fields=back("1", 1).fields))
    assert told(sold(THREE), *plain) == []


@st.composite
def priced_lines(draw: st.DrawFn, digits: int, reference: str) -> LineOutcome:
    """A line of units with the shares of up to three discounts, or a weighed one."""
    price = draw(st.integers(1, 5000))  # hundredths
    weighed = draw(st.booleans())
    quantity = draw(st.integers(1, 4000)) if weighed else 1000 * draw(st.integers(1, 9))
    total = divide(quantity * price * 10**digits, 100_000)
    left = total if weighed else -(-price * 10**digits // 100)  # of each unit, rounded up: it may be all of it
    discounts = []
    for name in draw(st.lists(st.sampled_from("pqr"), unique=True, max_size=3)):
        share = draw(st.integers(0, left))
        left -= share
        if weighed:
            shares: tuple[tuple[int, int], ...] = ((1, share),)
        else:
            units = draw(
                st.lists(
                    st.sampled_from([0, draw(st.integers(0, share)), share]),
                    min_size=quantity // 1000,
                    max_size=quantity // 1000,
                )
            )
            shares = tuple((1, one) for one in units)
        discounts.append(discount(name, shares))
    assume(sum(one.amount_minor for one in discounts) <= total)
    return line(reference, quantity, total, *discounts, unit="KGM" if weighed else "PCE")


@pytest.mark.parametrize("currency", ["EUR", "JPY", "KWD"])
@given(data=st.data())
def test_however_it_is_returned_the_refunds_add_up_to_what_was_paid(currency: str, data: st.DataObject) -> None:
    digits = minor_digits(currency)
    lines = tuple(data.draw(priced_lines(digits, str(place))) for place in range(data.draw(st.integers(1, 3))))
    given_off = Counter[str]()
    for one in lines:
        for taken in one.discounts:
            given_off[taken.promotion_id] += taken.amount_minor
    priced = outcome(
        lines,
        tuple(applied(name, whole) for name, whole in given_off.items()),
        currency=currency,
        exponent=digits,
        base_points=data.draw(st.integers(0, 99)),
    )
    confirmed = {name: data.draw(st.one_of(st.just(whole), st.integers(0, whole))) for name, whole in given_off.items()}
    record = sold(
        priced, *(ConfirmedPromotion(name, amount=Decimal(minor).scaleb(-digits)) for name, minor in confirmed.items())
    )
    charges = [BudgetCharge("b", name, minor, currency) for name, minor in confirmed.items()]
    paid = {one.reference: one.worth_minor for one in record.lines}

    refunded, off, points, funded = Counter[str](), Counter[str](), 0, 0
    returned: dict[str, int] = {}
    parts = data.draw(st.lists(st.tuples(st.sampled_from(lines), st.integers(1, 4000)), max_size=8))
    for turn in [[part] for part in parts] + [[(one, one.quantity_thousandths) for one in lines]]:
        basket = tuple(back(one.reference, quantity) for one, quantity in turn)
        refunds = refunds_of(basket, "R", currency, {"T1": KnownSale(record, Given(returned), charges)}, ())
        after = add_returned(record, returned, Counter({one.reference: quantity for one, quantity in turn}))
        booked = give_back("T1", record, charges, returned, after)
        assert sum(one.points for one in refunds) == booked.points
        assert sum(one.budget_minor for one in refunds) == sum(charge.amount_minor for charge in booked.charges)
        for (one, _), refund in zip(turn, refunds, strict=True):
            assert refund.amount_minor is not None
            assert refund.amount_minor >= 0
            refunded[one.reference] += refund.amount_minor
            points, funded = points + refund.points, funded + refund.budget_minor
            assert refund.discount_minor == sum(share.count * share.amount_minor for share in refund.shares)
            for share in refund.shares:
                assert share.amount_minor > 0
                off[share.promotion_id] += share.count * share.amount_minor
        returned = after
    assert {reference: refunded[reference] for reference in paid} == paid
    assert off == Counter({name: minor for name, minor in confirmed.items() if minor})
    assert (points, funded) == (record.points, sum(confirmed.values()))


@given(data=st.data())
def test_returns_that_are_not_undone_refund_what_was_paid_together(data: st.DataObject) -> None:
    """Whichever is undone, and whichever units come back afterwards: each line refunds its amount, no more."""
    lines = tuple(data.draw(priced_lines(2, str(place))) for place in range(data.draw(st.integers(1, 2))))
    off = Counter[str]()
    for one in lines:
        for taken in one.discounts:
            off[taken.promotion_id] += taken.amount_minor
    record = sold(outcome(lines, tuple(applied(*one) for one in off.items())))
    paid = {one.reference: one.worth_minor for one in record.lines}
    given = Given()
    standing: list[tuple[Given, str, int]] = []  # what it added, its line, what it was told to refund
    parts = [(one.reference, data.draw(st.sampled_from([1000, 700]))) for one in lines for _ in range(5)]
    steps = data.draw(st.lists(st.one_of(st.sampled_from(parts), st.integers(0, 9)), max_size=12))
    for step in [*steps, *((one.reference, one.quantity_thousandths) for one in lines)]:
        if isinstance(step, int):
            if standing:
                undone, _, _ = standing.pop(step % len(standing))
                given = decode_given(encode_given(without(record, given, undone)))
            continue
        reference, quantity = step
        (refund,) = refunds_of((back(reference, quantity),), "R", "EUR", {"T1": KnownSale(record, given, ())}, ())
        now = given_by_shares(record, given, add_returned(record, given.quantities, {reference: quantity}))
        assert refund.amount_minor is not None
        assert refund.amount_minor >= 0
        more = added(with_amounts(record, given), with_amounts(record, now))
        standing.append((more, reference, refund.amount_minor))
        given = decode_given(encode_given(now))
        booked = with_amounts(record, given).refunded or {}
        for name, whole in paid.items():
            told_so_far = sum(minor for _, of, minor in standing if of == name)
            assert told_so_far == booked.get(name, 0) <= whole
    assert {one: sum(minor for _, of, minor in standing if of == one) for one in paid} == paid


@given(data=st.data())
def test_whatever_the_rest_costs_the_refunds_never_exceed_the_sale(data: st.DataObject) -> None:
    lines = tuple(data.draw(priced_lines(2, str(place))) for place in range(data.draw(st.integers(1, 3))))
    off = Counter[str]()
    for one in lines:
        for taken in one.discounts:
            off[taken.promotion_id] += taken.amount_minor
    record = sold(outcome(lines, tuple(applied(*one) for one in off.items()), base_points=data.draw(st.integers(0, 9))))
    paid = sum(one.worth_minor for one in record.lines)
    some = st.integers(-9, paid + 9)
    given, back_so_far = Given(), 0
    parts = data.draw(st.lists(st.tuples(st.sampled_from(lines), st.integers(1, 4000)), max_size=5))
    for place, part in enumerate([*parts, None]):
        now = (
            {one.reference: one.quantity_thousandths for one in lines} if part is None else {part[0].reference: part[1]}
        )
        quantities = add_returned(record, given.quantities, now)
        rest = Rest(data.draw(some), {name: data.draw(some) for name in off}, data.draw(some))
        if all(quantities.get(one.reference) == one.quantity_thousandths for one in lines):
            rest = NOTHING_LEFT
        before, given = repriced(record, given, quantities, rest)
        given = decode_given(encode_given(given))
        assert all(value >= (before.refunded or {}).get(key, 0) for key, value in (given.refunded or {}).items()), place
        assert all(value >= (before.off or {}).get(key, 0) for key, value in (given.off or {}).items())
        back_so_far = sum((given.refunded or {}).values())
        assert back_so_far <= paid
    assert (back_so_far, given.points) == (paid, record.points)
    assert given.off == off
