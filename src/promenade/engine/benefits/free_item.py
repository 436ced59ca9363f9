"""FREE_ITEM: units given away, taken from the basket first, then added to it (section 6)."""

from __future__ import annotations

from typing import ClassVar, Self

from promenade.engine.benefits.fields import FULL_PERCENTAGE
from promenade.engine.benefits.per_unit import unit_caps
from promenade.engine.benefits.registry import ARTICLE_LEVEL, IndexKey, Terms, benefit
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.ledger import Pieces, Segment
from promenade.engine.money import divide, minor_from_hundredths, split_proportional
from promenade.engine.turn import Grant, Shown, Turn
from promenade.engine.verdict import Missed, Trigger
from promenade.engine.view import BasketView, LineView

_SHOWN: Shown = ("PERCENTAGE", FULL_PERCENTAGE)

_FreeRun = tuple[int, int, int, int, list[int]]
"""(position, first unit, count, taken from each, what each adds to every trigger): units of a line, alike"""


@benefit(
    FREE_ITEM=Form(
        family="articles",
        icon="competitor",
        fields=("freeItemArticleNumber", "freeItemQuantity", "restrictToOnePerBasket"),
        more=("maxFreeUnits", "freeItemReferencePrice"),
        also=("targetArticleNumber",),
        needs=(("freeItemArticleNumber", "targetArticleNumber"),),
        begin=(("freeItemQuantity", "1"),),
        place=60,
    )
)
class FreeItem:
    """``freeItemQuantity`` free units each time the conditions are met.

    A unit either triggers or is free, not both: with buy 2 get 1 of the same article, four units cost the price of
    three.
    """

    __slots__ = ("article_number", "once", "quantity", "reference_price", "units_max")
    code: ClassVar[str] = "FREE_ITEM"
    stage: ClassVar[int] = ARTICLE_LEVEL

    def __init__(self, row: ActionRow, terms: Terms, article_number: str) -> None:
        quantity = row.free_item_quantity_thousandths
        if quantity is not None and quantity <= 0:
            raise DefinitionError("freeItemQuantity", "OUT_OF_RANGE", "The free quantity must be above zero.")
        maximum = row.max_free_units_thousandths
        if maximum is not None and maximum < 0:
            raise DefinitionError("maxFreeUnits", "OUT_OF_RANGE", "A maximum must not be below zero.")
        if row.max_discount_hundredths is not None:
            raise DefinitionError("maxDiscountAmount", "NOT_ALLOWED", "Limit free items with maxFreeUnits instead.")
        price = row.free_item_reference_price_hundredths
        if price is not None and price < 0:
            raise DefinitionError("freeItemReferencePrice", "OUT_OF_RANGE", "A price must not be below zero.")
        self.article_number = article_number
        self.quantity = 1000 if quantity is None else quantity  # thousandths
        self.units_max = None if maximum is None else maximum // 1000
        self.once = row.restrict_to_one_per_basket
        self.reference_price = price

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without an article to give, or for a quantity or maximum out of range."""
        article_number = row.free_item_article_number or row.target_article_number
        if not article_number:
            raise DefinitionError("freeItemArticleNumber", "REQUIRED", "The article to give away is required.")
        return cls(row, terms, article_number)

    def keys(self) -> tuple[IndexKey, ...] | None:
        return None  # the free article need not be in the basket

    def targets(self, turn: Turn) -> tuple[int, ...]:
        found = turn.view.by_article.get(self.article_number, ())
        apart = turn.view.apart
        return tuple([position for position in found if position not in apart]) if apart else tuple(found)

    def gap(self, turn: Turn) -> Missed | None:
        return None

    def book(self, turn: Turn) -> None:
        if not turn.lines:
            return  # only returns: nothing was purchased
        if self.is_barred(turn.ledger.view, turn.lines):
            return
        triggers = turn.triggers
        in_basket = self._free_order(turn, triggers)
        freed = self._most_free(turn, triggers, in_basket)
        chosen = _first(in_basket, freed)
        times = self._times(turn, triggers, chosen)
        granted = self._entitled(times) - freed
        if freed:
            _make_free(turn, chosen)
        if granted > 0:
            turn.grants = turn.grants or []
            turn.grants.append(self._grant(turn, granted))
        if freed or granted > 0:
            turn.counted(times)

    def is_barred(self, view: BasketView, qualifying: tuple[int, ...] | None) -> bool:
        """Whether the article is never discounted, as a gift would be: by a line, or if it qualifies by master data."""
        if view.barred and not view.barred.isdisjoint(view.by_article.get(self.article_number, ())):
            return True
        article = None if qualifying is None else view.article(self.article_number)
        return article is not None and view.why_barred(article) is not None

    def is_spared(self, view: BasketView, qualifying: tuple[int, ...]) -> bool:
        """Never: it has no exclusions."""
        return False

    def most_units(self, turn: Turn) -> int:
        """The most units it gives, free in the basket and granted together, if no unit had to trigger."""
        return self._entitled(self._times(turn, turn.triggers, []))

    def grant_price_minor(self, turn: Turn) -> int:
        """The value of one granted unit."""
        return self._grant(turn, 1).price_minor

    def _free_order(self, turn: Turn, triggers: tuple[Trigger, ...]) -> list[_FreeRun]:
        """Units of the article that could be free: those that trigger least first, then the most expensive."""
        ledger = turn.ledger
        scale = ledger.scale
        runs: list[_FreeRun] = []
        for position in self.targets(turn):
            if ledger.totals[position] <= ledger.states[position][0]:
                continue
            worth = ledger.unit_worths[position]
            for start, count, taken, taken_before in _open_runs(turn, triggers, position):
                # A unit whose price rounds to nothing cannot be given away.
                if 2 * (worth - taken * scale) >= scale:
                    weights = [_weight(turn, trigger, position, taken_before) for trigger in triggers]
                    runs.append((position, start, count, taken, weights))
        runs.sort(key=lambda run: (run[4], -ledger.unit_worths[run[0]], run[0], run[1]))
        return runs

    def _most_free(self, turn: Turn, triggers: tuple[Trigger, ...], runs: list[_FreeRun]) -> int:
        """The most units that can be free while the others still trigger them; more free units never trigger more."""
        # Never more than could be given away if no unit had to trigger.
        low, high = 0, min(sum([run[2] for run in runs]), self._entitled(self._times(turn, triggers, [])))
        while low < high:
            middle = (low + high + 1) // 2
            if self._entitled(self._times(turn, triggers, _first(runs, middle))) >= middle:
                low = middle
            else:
                high = middle - 1
        return low

    def _times(self, turn: Turn, triggers: tuple[Trigger, ...], free: list[_FreeRun]) -> int:
        """How often the conditions are met by the units that are not free."""
        times: int | None = None
        for number, trigger in enumerate(triggers):
            reached = trigger.reached - sum([count * weights[number] for _, _, count, _, weights in free])
            if trigger.threshold > 0:
                met = max(0, reached) // trigger.threshold
                times = met if times is None else min(times, met)
            elif reached <= 0:
                return 0  # at least one unit must not be free
        times = 1 if times is None else times
        if self.once:
            times = min(times, 1)
        if turn.applications_max is not None:
            times = min(times, turn.applications_max)
        return times

    def _entitled(self, times: int) -> int:
        units = times * self.quantity // 1000  # whole free units only
        return units if self.units_max is None else min(units, self.units_max)

    def _grant(self, turn: Turn, quantity: int) -> Grant:
        view = turn.view
        positions = self.targets(turn)
        article = turn.ledger.articles.get(self.article_number)
        ean = article.ean if article is not None else None
        if positions:
            # Of several prices the lowest: what is given away is never said to be worth more than it is sold for.
            line = min([view.lines[position] for position in positions], key=_price)
            return self._priced(turn, line.ean or ean, quantity, line.unit_price_hundredths, "BASKET_PRICE")
        if self.reference_price is not None:
            return self._priced(turn, ean, quantity, self.reference_price, "REFERENCE_PRICE")
        if (
            article is not None
            and article.base_price_hundredths is not None
            and article.currency in (None, view.currency)
        ):
            return self._priced(turn, ean, quantity, article.base_price_hundredths, "MASTER_DATA")
        return self._priced(turn, ean, quantity, 0, "UNKNOWN_ZERO")

    def _priced(self, turn: Turn, ean: str | None, quantity: int, price_hundredths: int, source: str) -> Grant:
        price = minor_from_hundredths(price_hundredths, turn.view.exponent)
        return Grant(self.article_number, ean, quantity, price, source)


def _unit_quantity(turn: Turn, position: int) -> int:
    line = turn.view.lines[position]
    return line.quantity_thousandths if line.weighed else 1000


def _weight(turn: Turn, trigger: Trigger, position: int, taken_before: int) -> int:
    """What one unit of a line counts towards a trigger: thousandths of pieces, or minor units."""
    if position not in trigger.lines:
        return 0
    if trigger.is_quantity:
        return _unit_quantity(turn, position)
    ledger = turn.ledger
    taken = taken_before if trigger.is_remaining else 0
    return max(0, -((taken * ledger.scale - ledger.unit_worths[position]) // ledger.scale))


def _open_runs(turn: Turn, triggers: tuple[Trigger, ...], position: int) -> list[tuple[int, int, int, int]]:
    """(first unit, count, taken from each, the part of it that earlier promotions took): the open units of a line.

    The conditions were checked before this promotion's own earlier actions took anything.
    """
    ledger = turn.ledger
    segments = ledger.open_segments(position, turn.ordinal, turn.exclusive)
    before = next((take[4] for take in turn.takes if take[0] == position), None)
    if before is None or not any(trigger.is_remaining for trigger in triggers):
        return [(start, count, taken, taken) for start, count, taken in segments]
    found: list[tuple[int, int, int, int]] = []
    first = 0
    for length, taken_before, _ in ledger.runs(position, before):
        for start, count, taken in segments:
            low, high = max(first, start), min(first + length, start + count)
            if low < high:
                found.append((low, high - low, taken, taken_before))
        first += length
    return found


def _first(runs: list[_FreeRun], units: int) -> list[_FreeRun]:
    """The first ``units`` units of the runs."""
    found: list[_FreeRun] = []
    for position, start, count, taken, weights in runs:
        if units == 0:
            break
        here = min(count, units)
        found.append((position, start, here, taken, weights))
        units -= here
    return found


def _make_free(turn: Turn, runs: list[_FreeRun]) -> None:
    """Take everything that is left of these units; rounded once per line, like every per-unit discount."""
    ledger = turn.ledger
    scale = ledger.scale
    wanted: dict[int, list[Segment]] = {}
    for position, start, count, taken, _ in runs:
        wanted.setdefault(position, []).append((start, count, taken))
    for position, segments in wanted.items():
        segments.sort()
        worth = ledger.unit_worths[position]
        exact = [count * (worth - taken * scale) for _, count, taken in segments]
        left = ledger.totals[position] - ledger.states[position][0]
        amount = min(left, divide(sum(exact), scale))
        if amount <= 0:
            continue
        caps = [s[1] * cap for s, cap in zip(segments, unit_caps(ledger, position, segments), strict=True)]
        pieces: Pieces = []
        for (start, count, _), part in zip(segments, split_proportional(amount, exact, caps), strict=True):
            each, odd = divmod(part, count)
            # A unit is free even where rounding leaves no share for it.
            pieces += [piece for piece in ((start, odd, each + 1), (start + odd, count - odd, each)) if piece[1]]
        turn.take_pieces(position, amount, pieces, _SHOWN, free=True)


def _price(line: LineView) -> int:
    return line.unit_price_hundredths
