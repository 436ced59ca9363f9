"""Amounts given back by partial returns: never more than the sale carried, and everything in the end."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from promenade.engine.basket import BasketLine
from promenade.engine.outcome import UnitShare
from promenade.workflows.settlement.returns import (
    BroughtBack,
    BudgetCharge,
    CarriedDiscount,
    CarriedLine,
    Given,
    SaleRecord,
    add_returned,
    all_returned,
    decode_record,
    encode_record,
    give_back,
    record_of,
    rest_of,
    returned_quantities,
    take_away,
)
from promenade.workflows.settlement.rules import ConfirmCommand, ConfirmedPromotion, settle
from tests.workflows.outcomes import applied, discount, line, outcome


def carried(units: tuple[tuple[int, int], ...], quantity: int = 3000, *, weighed: bool = False) -> CarriedLine:
    shares = tuple(UnitShare(count, amount) for count, amount in units)
    taken = sum(share.count * share.amount_minor for share in shares)
    return CarriedLine("1", quantity, weighed, 1500 - taken, 1500, (CarriedDiscount("p", shares),))


def back(sale: SaleRecord, charged: int, *parts: int) -> list[tuple[int, int]]:
    """Return (points, money) given back by each of several returns of line 1."""
    before: dict[str, int] = {}
    found = []
    for part in parts:
        after = add_returned(sale, before, {"1": part})
        brought = give_back("T1", sale, (BudgetCharge("b", "p", charged, "EUR"),), before, after)
        found.append((brought.points, sum(charge.amount_minor for charge in brought.charges)))
        before = after
    return found


def test_each_unit_gives_back_exactly_what_it_carried() -> None:
    # One of three coffees was free (5.00), the other two had nothing off.
    sale = SaleRecord("C1", 9, (carried(((1, 500), (2, 0))),))
    assert back(sale, 500, 1000, 1000, 1000) == [(3, 500), (3, 0), (3, 0)]


def test_returning_more_than_was_sold_gives_back_no_more() -> None:
    sale = SaleRecord("C1", 10, (carried(((3, 50),)),))
    assert back(sale, 150, 2000, 2000, 1000) == [(6, 100), (4, 50), (0, 0)]


def test_a_budget_gets_back_only_what_it_covered() -> None:
    sale = SaleRecord("C1", 0, (carried(((3, 50),)),))
    assert back(sale, 100, 1000, 2000) == [(0, 33), (0, 67)]


def test_a_weighed_line_gives_back_by_weight() -> None:
    sale = SaleRecord("C1", 0, (carried(((1, 301),), quantity=1500, weighed=True),))
    assert back(sale, 301, 500, 1000) == [(0, 100), (0, 201)]


def test_points_of_a_sale_that_was_all_free_go_by_the_price_before_discounts() -> None:
    sale = SaleRecord("C1", 9, (carried(((3, 500),)),))
    assert [points for points, _ in back(sale, 0, 1000, 2000)] == [3, 6]


def test_an_unknown_line_gives_nothing_back() -> None:
    sale = SaleRecord("C1", 9, (carried(((3, 50),)),))
    assert add_returned(sale, {}, {"nine": 1000}) == {}


@given(
    units=st.lists(st.tuples(st.integers(1, 5), st.integers(0, 999)), min_size=1, max_size=4),
    points=st.integers(0, 500),
    covered=st.integers(0, 100),
    parts=st.lists(st.integers(1, 20_000), max_size=8),
)
def test_however_it_is_returned_it_adds_up_and_never_exceeds_the_sale(
    units: list[tuple[int, int]], points: int, covered: int, parts: list[int]
) -> None:
    taken = sum(count * amount for count, amount in units)
    quantity = 1000 * sum(count for count, _ in units)
    shares = tuple(UnitShare(count, amount) for count, amount in units)
    sold = CarriedLine("1", quantity, False, 100, 100 + taken, (CarriedDiscount("p", shares),))
    sale = SaleRecord("C1", points, (sold,))
    charged = taken * covered // 100
    returns = back(sale, charged, *parts, quantity)
    assert all(one >= 0 and other >= 0 for one, other in returns)
    assert sum(one for one, _ in returns) == points
    assert sum(other for _, other in returns) == charged
    # A cancel after any number of the returns gives the rest.
    returned: dict[str, int] = {}
    for number, part in enumerate((*parts, quantity)):
        rest = rest_of("T1", sale, (BudgetCharge("b", "p", charged, "EUR"),), returned)
        assert rest.points == sum(one for one, _ in returns[number:])
        assert rest.charges[0].amount_minor == sum(other for _, other in returns[number:])
        returned = add_returned(sale, returned, {"1": part})
    assert returned == all_returned(sale)


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=5), st.data())
def test_an_undone_return_is_as_if_it_had_not_been_made(parts: list[int], data: st.DataObject) -> None:
    sale = SaleRecord("C1", 9, (carried(((12, 50),), quantity=20_000),))
    undone = data.draw(st.integers(0, len(parts) - 1))
    returned: dict[str, int] = {}
    for part in parts:
        returned = add_returned(sale, returned, {"1": part})
    without = add_returned(sale, {}, {"1": sum(parts) - parts[undone]})
    assert take_away(Given(returned), Given({"1": parts[undone]})) == Given(without)
    amounts = Given(returned, {"1": 900}, {"p": 60}, 4)
    assert take_away(amounts, Given({"1": parts[undone]}, {"1": 100}, {"p": 60}, 1)) == Given(
        without, {"1": 800}, {}, 3
    )


def test_what_belongs_to_no_line_comes_back_with_a_cancel() -> None:
    sale = SaleRecord("C1", 9, ())
    rest = rest_of("T1", sale, (BudgetCharge("b", "gift", 70, "EUR"),), {})
    assert (rest.points, [one.amount_minor for one in rest.charges]) == (9, [70])


def test_a_record_is_read_as_it_was_written_and_as_earlier_versions_wrote_it() -> None:
    sale = SaleRecord("C1", 9, (carried(((3, 500),)),) * 20, (BudgetCharge("b", "p", -5, "EUR"),))
    sale = replace(sale, brought=(BroughtBack("cloud", "T0", Given({"1": 1000}, {"1": 5}, {}, 2)),))
    earlier = msgspec.to_builtins(replace(sale, brought=()))
    del earlier["brought"]
    assert decode_record(msgspec.msgpack.encode(earlier)) == replace(sale, brought=())
    plain = msgspec.msgpack.encode(sale)
    assert decode_record(plain) == decode_record(encode_record(sale)) == sale
    assert len(encode_record(sale)) * 4 < len(plain)


def test_return_lines_name_their_sale() -> None:
    def returned(quantity: int, **names: str) -> BasketLine:
        return BasketLine("r", "A", quantity, 500, fields=tuple(names.items()))

    lines = (
        returned(-1000, originalTransactionId="T2", originalLineReference="1"),
        returned(-2000, originalTransactionId="T1", originalLineReference="4"),
        returned(-500, originalTransactionId="T2", originalLineReference="1"),
        returned(-1000, originalTransactionId="T2"),
        returned(-1000),
        returned(-1000, originalTransactionId="NOW", originalLineReference="1"),
        returned(1000, originalTransactionId="T2", originalLineReference="1"),
    )
    assert returned_quantities(lines, "NOW") == {"T1": {"4": 2000}, "T2": {"1": 1500}}


def test_the_record_of_a_sale_holds_its_sale_lines_and_what_was_confirmed() -> None:
    priced = outcome(
        (
            line("1", 2000, 1000, discount("p", ((2, 50),)), discount("q", ((1, 30), (1, 0)))),
            line("2", -1000, -500),
        ),
        (applied("p", 100, points=5), applied("q", 30)),
    )
    settled = settle(priced, ConfirmCommand("T1", 1, (ConfirmedPromotion("p"),), b""))
    record = record_of(settled, "EUR", "C1", ())
    assert record.points == 5
    assert [(one.reference, one.worth_minor) for one in record.lines] == [("1", 900)]
    assert [one.promotion_id for one in record.lines[0].discounts] == ["p"]
    assert record_of(settled, "EUR", None, ()).points == 0
