"""What receipt-level promotions can take from each line, so that the promotions before them can be solved apart."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.benefits.receipt import ReceiptDiscount
from promenade.engine.benefits.registry import RECEIPT_LEVEL, Terms
from promenade.engine.best_deal.ceilings import FINE
from promenade.engine.best_deal.contenders import Contender
from promenade.engine.ledger import EXCLUSIVE, FREE, Ledger
from promenade.engine.money import rounding_step
from promenade.engine.stacking import World


class Share:
    """The sum of the percentages off one line, in hundredths of a percent: by the base that they apply to."""

    __slots__ = ("of_originals", "of_remainders")

    def __init__(self) -> None:
        self.of_originals = 0
        self.of_remainders = 0

    def of(self, ledger: Ledger, line: int) -> int:
        """The most that they give for the line as it is now, in minor units times FINE.

        That may be more than is left of it: what a line cannot take goes to others.
        """
        left, original = open_worth(ledger, line)
        most = original * self.of_originals + left * self.of_remainders  # a hundredth of a percent is one of FINE
        return -(-most // ledger.scale)


class ReceiptShares:
    """Plain percentages by line; every other receipt-level promotion by the most that it gives in all."""

    __slots__ = ("_constant", "_ledger", "_slack", "shares")

    def __init__(self, world: World, wide: Sequence[Contender]) -> None:
        self._ledger = Ledger(world.view, world.articles)
        self._constant = 0
        self._slack = 0
        self.shares: dict[int, Share] = {}
        for contender in wide:
            plain = _plain(contender)
            if plain is None:
                self._constant += contender.most
                continue
            percent, terms = plain
            self._slack += _slack(terms, world.view.exponent)
            for line in contender.lines:
                share = self.shares.setdefault(line, Share())
                if terms.additive:
                    share.of_originals += percent
                else:
                    share.of_remainders += percent

    def outside(self, components: Sequence[Sequence[Contender]]) -> int:
        """The most that they take from lines that no other contender reaches, in minor units times FINE."""
        reached = {line for component in components for member in component for line in member.lines}
        return sum([share.of(self._ledger, line) for line, share in self.shares.items() if line not in reached])

    def whole(self, scores: int) -> int:
        """The most that everything gives together, in minor units, from the sum of the scores by line."""
        return (scores + self._slack) // FINE + self._constant


def _plain(contender: Contender) -> tuple[int, Terms] | None:
    """The percentage of a promotion that is nothing but one off a sum of lines, as it is."""
    benefits = [one for one in contender.candidate.promotion.benefits if one.stage == RECEIPT_LEVEL]
    if len(benefits) != 1:
        return None
    (benefit,) = benefits
    if not isinstance(benefit, ReceiptDiscount) or not benefit.choice.is_all or benefit.maximum is not None:
        return None
    kind, value = benefit.shown
    return (value, benefit.terms) if kind == "PERCENTAGE" else None


def _slack(terms: Terms, exponent: int) -> int:
    """How much rounding its total can add, in minor units times FINE."""
    step = 1 if terms.precision is None else rounding_step(terms.precision, exponent)
    if terms.rounding == "ROUND_DOWN":
        return 0
    return step * FINE - 1 if terms.rounding == "ROUND_UP" else step * FINE // 2


def open_worth(ledger: Ledger, line: int) -> tuple[int, int]:
    """(what is left, the original worth) of the units of a line that other promotions may still take, scaled."""
    taken, mark, runs = ledger.states[line]
    scale = ledger.scale
    if runs is None:
        if mark & (EXCLUSIVE | FREE):
            return 0, 0
        original = ledger.totals[line] * scale
        left = original - taken * scale
        return left, original if left > 0 else 0
    worth = ledger.unit_worths[line]
    left = original = 0
    for count, each, own in runs:
        if not own & (EXCLUSIVE | FREE) and each * scale < worth:
            original += count * worth
            left += count * max(0, worth - each * scale)
    return left, original
