"""The least that a condition asks of a sale, as numbers that can be compared before anything is priced."""

from __future__ import annotations

from collections.abc import Iterable

from promenade.engine.view import BasketView, Held

FINEST = 4  # the decimals of the finest minor unit: at that scale, amounts of all currencies compare alike

_KINDS = frozenset(("article", "ean", "group", "tree", "manufacturer"))


def in_one_kind(keys: tuple[tuple[str, str], ...] | None) -> tuple[str, tuple[str, ...]] | None:
    """The kind and the names of index keys, if what they hold adds up without a line that counts twice."""
    kinds = {kind for kind, _ in keys or ()}
    names = tuple(dict.fromkeys([name for _, name in keys or ()]))
    if len(kinds) != 1 or not kinds <= _KINDS or (kinds == {"tree"} and len(names) > 1):
        return None
    return kinds.pop(), names


def reached(held: int, wanted: int) -> int:
    """How much of a threshold above what is held is reached: 0 to 99 percent."""
    return 100 * held // wanted if held > 0 else 0


class Least:
    """The quantity and the amount from which on a condition holds; 0 where it asks for none.

    ``kind`` and ``names`` say of which lines (`BasketView.held`); without a kind it is the whole sale. ``amounts``: in
    minor units, by their decimals.
    """

    __slots__ = ("_known", "_name", "amounts", "kind", "names", "quantity_thousandths")

    def __init__(
        self, quantity_thousandths: int, amount: int, kind: str | None = None, names: tuple[str, ...] = ()
    ) -> None:
        """``amount`` has `FINEST` decimals; ``names`` differ from each other."""
        self.quantity_thousandths = max(0, quantity_thousandths)
        self.amounts: tuple[int, ...] = tuple(
            [-(-max(0, amount) // 10 ** (FINEST - digits)) for digits in range(FINEST + 1)]
        )
        self.kind = kind
        self.names = names
        self._name = names[0] if len(names) == 1 else None
        self._known = frozenset(names)

    def percent(self, view: BasketView) -> int | None:
        """How much the basket reaches, 0 to 99 as in `reached_percent`; None when it reaches all."""
        kind = self.kind
        if kind is None:
            quantity, amount = view.sale_quantity_thousandths, view.sale_total_minor
        elif self._name is not None:
            quantity, amount, _ = view.held(kind)[self._name]
        else:
            quantity = amount = 0
            held = view.held(kind)
            for name in self._names(held):
                more, worth, _ = held[name]
                quantity += more
                amount += worth
        wanted = self.quantity_thousandths
        percent = 100 if quantity >= wanted else 100 * quantity // wanted
        wanted = self.amounts[view.exponent]
        if 0 < wanted > amount:
            percent = min(percent, max(0, 100 * amount // wanted))
        return percent if percent < 100 else None

    def counted(self, view: BasketView) -> tuple[int, int, tuple[int, ...]]:
        """Quantity, amount and positions of the sale lines that count, in basket order."""
        kind = self.kind
        if kind is None:
            return view.sale_quantity_thousandths, view.sale_total_minor, view.sale
        held = view.held(kind)
        if self._name is not None:
            return held[self._name]
        quantity = amount = 0
        places: list[int] = []
        for name in self._names(held):
            more, worth, some = held[name]
            quantity += more
            amount += worth
            places += some
        places.sort()
        return quantity, amount, tuple(places)

    def _names(self, held: Held) -> Iterable[str]:
        """Its names, or fewer: those that the basket holds."""
        names = self.names
        return names if len(names) <= len(held.places) else self._known.intersection(held.places)
