"""The least that a condition asks of a sale, as numbers that can be compared before anything is priced."""

from __future__ import annotations

from promenade.engine.view import BasketView

FINEST = 4  # the decimals of the finest minor unit: at that scale, amounts of all currencies compare alike


class Least:
    """The sale amount, above 0, from which on a condition holds. ``amounts``: in minor units, by their decimals."""

    __slots__ = ("amounts",)

    def __init__(self, amount: int) -> None:
        """``amount`` has `FINEST` decimals."""
        self.amounts = tuple([-(-amount // 10 ** (FINEST - digits)) for digits in range(FINEST + 1)])

    def percent(self, view: BasketView) -> int | None:
        """How much the basket reaches, 0 to 99 as in `reached_percent`; None when it reaches all."""
        needed = self.amounts[view.exponent]
        amount = view.sale_total_minor
        return None if amount >= needed else max(0, 100 * amount // needed)
