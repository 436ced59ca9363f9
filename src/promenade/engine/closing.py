"""The basket as it would be if a threshold were reached, so that the engine can price what that brings (section 10)."""

from __future__ import annotations

from promenade.engine.basket import BasketLine
from promenade.engine.money import POWERS_OF_TEN
from promenade.engine.verdict import Missed
from promenade.engine.view import BasketView

__all__ = ["closed"]


def closed(view: BasketView, shortfalls: tuple[Missed, ...]) -> BasketView | None:
    """The view with every shortfall made up at the least promising place, so that no saving is promised too high.

    Pieces are added to the cheapest line that counts; an amount on named lines as one more line like the cheapest of
    them, an amount on the receipt as a line of nothing in particular. None when there is no line to add to.
    """
    changed: dict[int, BasketLine] = {}
    for missed in shortfalls:
        if missed.is_quantity:
            model = _cheapest(view, missed.lines or view.sale)
            if model is None:
                return None
            line = changed.get(model, view.lines[model].line)
            gap = (missed.threshold or 0) - (missed.current or 0)
            wanted = gap if view.lines[model].weighed else -(-gap // 1000) * 1000
            changed[model] = _like(line, line.reference, line.quantity_thousandths + wanted, line.unit_price_hundredths)
    amounts = [(number, missed) for number, missed in enumerate(shortfalls) if not missed.is_quantity]
    # Pieces that were added are worth something too: only the rest of an amount is still missing.
    more = view.with_lines(changed, ()).sale_total_minor - view.sale_total_minor if changed and amounts else 0
    added: list[BasketLine] = []
    for number, missed in amounts:
        gap = (missed.threshold or 0) - (missed.current or 0)
        if missed.lines or gap > more:
            model = _cheapest(view, missed.lines)
            rest = gap if missed.lines else gap - more
            added.append(_worth(view, None if model is None else view.lines[model].line, rest, number))
    return view.with_lines(changed, added)


def _cheapest(view: BasketView, positions: tuple[int, ...]) -> int | None:
    if not positions:
        return None
    lines = view.lines
    # Positions ascend, so that of equal prices the first is found.
    return min(positions, key=lambda position: lines[position].unit_price_hundredths)


def _worth(view: BasketView, model: BasketLine | None, amount_minor: int, number: int) -> BasketLine:
    """One piece worth at least ``amount_minor``, like ``model`` otherwise."""
    price = -(-amount_minor * 100 // POWERS_OF_TEN[view.exponent])
    reference = f"~{number}"  # never leaves this evaluation
    if model is None:
        return BasketLine(reference, "", 1000, price)
    return _like(model, reference, 1000, price)


def _like(line: BasketLine, reference: str, quantity_thousandths: int, unit_price_hundredths: int) -> BasketLine:
    """The line with another quantity and price; `dataclasses.replace` takes three times as long."""
    return BasketLine(
        reference,
        line.article_number,
        quantity_thousandths,
        unit_price_hundredths,
        line.ean,
        line.article_group_id,
        line.manufacturer_id,
        line.fields,
    )
