"""The basket as it would be if a threshold were reached, so that the engine can price what that brings (section 10)."""

from __future__ import annotations

from dataclasses import replace

from promenade.engine.basket import Basket, BasketLine
from promenade.engine.money import POWERS_OF_TEN
from promenade.engine.verdict import Missed
from promenade.engine.view import BasketView

__all__ = ["closed"]


def closed(view: BasketView, shortfalls: tuple[Missed, ...]) -> BasketView | None:
    """The view with every shortfall made up at the least promising place, so that no saving is promised too high.

    Pieces are added to the cheapest line that counts; an amount on named lines as one more line like the cheapest of
    them, an amount on the receipt as a line of nothing in particular. None when there is no line to add to.
    """
    lines = list(view.basket.lines)
    for missed in shortfalls:
        if missed.is_quantity:
            model = _cheapest(view, missed.lines or view.sale)
            if model is None:
                return None
            line = lines[model]
            gap = (missed.threshold or 0) - (missed.current or 0)
            wanted = gap if view.lines[model].weighed else -(-gap // 1000) * 1000
            lines[model] = replace(line, quantity_thousandths=line.quantity_thousandths + wanted)
    # Pieces that were added are worth something too: only the rest of an amount is still missing.
    added = view.of(_with_lines(view.basket, lines)).sale_total_minor - view.sale_total_minor
    for number, missed in enumerate(shortfalls):
        gap = (missed.threshold or 0) - (missed.current or 0)
        if not missed.is_quantity and (missed.lines or gap > added):
            model = _cheapest(view, missed.lines)
            rest = gap if missed.lines else gap - added
            lines.append(_worth(view, None if model is None else lines[model], rest, number))
    return view.of(_with_lines(view.basket, lines))


def _cheapest(view: BasketView, positions: tuple[int, ...]) -> int | None:
    if not positions:
        return None
    return min(positions, key=lambda position: (view.lines[position].unit_price_hundredths, position))


def _worth(view: BasketView, model: BasketLine | None, amount_minor: int, number: int) -> BasketLine:
    """One piece worth at least ``amount_minor``, like ``model`` otherwise."""
    price = -(-amount_minor * 100 // POWERS_OF_TEN[view.exponent])
    reference = f"~{number}"  # never leaves this evaluation
    if model is None:
        return BasketLine(reference, "", 1000, price)
    return replace(model, reference=reference, quantity_thousandths=1000, unit_price_hundredths=price)


def _with_lines(basket: Basket, lines: list[BasketLine]) -> Basket:
    return replace(basket, lines=tuple(lines))
