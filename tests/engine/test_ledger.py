"""The remaining price of every unit (pricing semantics, Words and section 6: lowest units first)."""

from __future__ import annotations

import pytest

from promenade.engine.basket import FIRST_RULES, RULES, BasketLine, Settings
from promenade.engine.benefits.choice import Choice
from promenade.engine.benefits.per_unit import PerUnit
from promenade.engine.benefits.registry import Terms
from promenade.engine.ledger import Ledger, shares_of
from promenade.engine.outcome import UnitShare
from promenade.engine.turn import Turn
from promenade.engine.view import ArticleGroups, BasketView
from tests.engine.given import NOW, basket, line

ADDITIVE = Terms(True, "ROUND_HALF_UP", None)
MULTIPLICATIVE = Terms(False, "ROUND_HALF_UP", None)
ALL = Choice("ALL", "ALL", 0)


def first(units: int) -> Choice:
    return Choice("ALL", "LIMITED", units)


def ledger_of(*lines: BasketLine, currency: str = "EUR", rules: int = RULES) -> Ledger:
    bought = basket(*lines, currency=currency)
    return Ledger(BasketView(bought, {}, {}, ArticleGroups(), Settings(now=NOW, rules=rules)), {})


def discount(
    ledger: Ledger, discount: PerUnit, choice: Choice = ALL, *, ordinal: int = 1, exclusive: bool = False
) -> Turn:
    turn = Turn(ledger, "p", ordinal, exclusive, ledger.view.sale, ())
    discount.book(turn, choice.choose(turn, turn.lines), None)
    return turn


def test_a_later_percentage_of_one_unit_meets_the_unit_that_was_discounted_first() -> None:
    ledger = ledger_of(line(quantity="2", price="10"))
    discount(ledger, PerUnit("ABSOLUTE", 400, ADDITIVE), first(1))
    later = discount(ledger, PerUnit("PERCENTAGE", 5000, MULTIPLICATIVE), first(1), ordinal=2)
    assert later.discount_minor == 300
    assert ledger.states[0][0] == 700


def test_units_with_nothing_left_are_not_open() -> None:
    ledger = ledger_of(line(quantity="3", price="10"))
    discount(ledger, PerUnit("PERCENTAGE", 10_000, ADDITIVE), first(1))
    assert ledger.open_units(0, 2, exclusive=False) == [(1, 2, 0)]
    assert ledger.free_segments(0, 2, exclusive=False) == [(0, 1, 1000)]
    assert ledger.free_segments(0, 2, exclusive=True) == []  # the first promotion has touched it
    discount(ledger, PerUnit("PERCENTAGE", 10_000, ADDITIVE), ordinal=2)
    assert ledger.open_units(0, 3, exclusive=False) == []
    assert ledger.free_segments(0, 3, exclusive=False) == [(0, 1, 1000), (1, 2, 1000)]


def test_a_line_treated_as_a_whole_may_have_units_with_nothing_left() -> None:
    ledger = ledger_of(line(quantity="3", price="0.05"))
    turn = Turn(ledger, "p", 1, False, (0,), ())
    turn.take_line(0, 12, ("ABSOLUTE", 12))
    assert ledger.open_units(0, 2, exclusive=False) is None  # 4 off each
    turn.take_line(0, 1, ("ABSOLUTE", 1))
    assert ledger.open_units(0, 2, exclusive=False) == [(1, 2, 4)]  # 5 off the first: it is free


def test_a_line_with_nothing_left_is_free_though_rounding_leaves_a_fraction_on_a_unit() -> None:
    ledger = ledger_of(line(quantity="2", price="10.50"), currency="JPY")
    turn = Turn(ledger, "p", 1, False, (0,), ())
    turn.take_line(0, 21, ("ABSOLUTE", 2100))  # 11 and 10
    assert ledger.open_units(0, 2, exclusive=False) == []
    assert ledger.free_segments(0, 2, exclusive=False) == [(0, 1, 11), (1, 1, 10)]


def test_what_costs_nothing_is_free() -> None:
    ledger = ledger_of(line(quantity="2", price="0"))
    assert ledger.open_units(0, 1, exclusive=False) == []
    assert ledger.free_segments(0, 1, exclusive=True) == [(0, 2, 0)]


def test_by_the_first_rules_only_gifts_are_free() -> None:
    ledger = ledger_of(line(quantity="2", price="10"), rules=FIRST_RULES)
    discount(ledger, PerUnit("PERCENTAGE", 10_000, ADDITIVE), first(1))
    assert ledger.open_units(0, 2, exclusive=False) == [(0, 1, 1000), (1, 1, 0)]
    assert ledger.free_segments(0, 2, exclusive=False) == []


def test_odd_cents_lie_on_the_lowest_units() -> None:
    ledger = ledger_of(line(quantity="3", price="0.35"))
    turn = discount(ledger, PerUnit("PERCENTAGE", 1000, ADDITIVE))
    assert turn.discount_minor == 11  # 10.5 rounded half up
    assert turn.unit_shares(turn.takes[0]) == (UnitShare(2, 4), UnitShare(1, 3))


def test_unit_shares_include_the_untouched_first_unit() -> None:
    ledger = ledger_of(line(quantity="4", price="10"))
    discount(ledger, PerUnit("ABSOLUTE", 100, ADDITIVE), first(1), exclusive=True)
    later = discount(ledger, PerUnit("ABSOLUTE", 200, ADDITIVE), first(2), ordinal=2)
    assert later.unit_shares(later.takes[0]) == (UnitShare(1, 0), UnitShare(2, 200))


def test_exclusive_units_are_closed_to_others_and_touched_units_to_exclusive_promotions() -> None:
    ledger = ledger_of(line(quantity="3", price="10"))
    discount(ledger, PerUnit("ABSOLUTE", 100, ADDITIVE), first(1), exclusive=True)
    assert ledger.open_segments(0, 2, exclusive=False) == [(1, 2, 0)]
    discount(ledger, PerUnit("ABSOLUTE", 100, ADDITIVE), first(1), ordinal=2)
    assert ledger.open_segments(0, 3, exclusive=True) == [(2, 1, 0)]
    assert ledger.open_segments(0, 1, exclusive=True) == [(0, 1, 100), (2, 1, 0)]


def test_undo_and_redo_restore_the_ledger_exactly() -> None:
    ledger = ledger_of(line(quantity="3", price="10"), line("B", "1", "5"))
    before = ledger.snapshot()
    turn = discount(ledger, PerUnit("PERCENTAGE", 1250, ADDITIVE), first(2))
    after = ledger.snapshot()
    turn.undo()
    assert ledger.snapshot() == before
    turn.redo()
    assert ledger.snapshot() == after


def test_yen_prices_keep_their_fraction_until_the_line_is_rounded() -> None:
    ledger = ledger_of(line(quantity="1", price="10.50"), currency="JPY")
    turn = discount(ledger, PerUnit("PERCENTAGE", 5000, ADDITIVE))
    assert turn.discount_minor == 5  # 5.25, not half of 11


def test_a_line_of_ten_thousand_pieces_stays_a_handful_of_runs() -> None:
    ledger = ledger_of(line(quantity="10000", price="0.33"))
    for ordinal in range(1, 40):
        discount(ledger, PerUnit("PERCENTAGE", 100, MULTIPLICATIVE), ordinal=ordinal)
    discount(ledger, PerUnit("ABSOLUTE", 5, ADDITIVE), first(3333), ordinal=40)
    assert len(ledger.runs(0)) <= 4
    assert sum(count * taken for count, taken, _ in ledger.runs(0)) == ledger.states[0][0]


@pytest.mark.parametrize("units", range(1, 8))
def test_shares_of_a_whole_line_are_the_change_of_its_even_spread(units: int) -> None:
    for before in range(25):
        for after in range(before, 40):
            told = [share.amount_minor for share in shares_of(units, before, after) for _ in range(share.count)]
            even = [
                after // units + (unit < after % units) - before // units - (unit < before % units)
                for unit in range(units)
            ]
            assert told == even
            assert min(told) >= 0
