"""BUNDLE: things bought together, among them buy X get Y (section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import ClassVar, Self

from promenade.engine.basket import FIRST_RULES
from promenade.engine.benefits.allocation import (
    Allocation,
    BundleGroup,
    Stock,
    allocate,
    group_bundles,
    next_bundle,
)
from promenade.engine.benefits.choice import Choice, choice_of
from promenade.engine.benefits.fields import discount_of, distribution_of, maximum_of, whole_units
from promenade.engine.benefits.per_unit import unit_caps
from promenade.engine.benefits.registry import ARTICLE_LEVEL, IndexKey, Terms, benefit
from promenade.engine.benefits.spread import capped, rounded_total, spread
from promenade.engine.benefits.targets import Targets, targets_of_action
from promenade.engine.definition import ActionRow, DefinitionError
from promenade.engine.forms import ALL_KINDS_OF_DISCOUNT, Form
from promenade.engine.ledger import Segment
from promenade.engine.turn import Shown, Turn
from promenade.engine.verdict import Missed, Piece
from promenade.engine.view import BasketView


class Component:
    """``quantity`` units of its target; a component that names none takes the action's targets."""

    __slots__ = ("discounted", "quantity", "target")

    def __init__(self, target: Targets, quantity: int, discounted: bool) -> None:
        self.target = target
        self.quantity = quantity
        self.discounted = discounted


@benefit(
    BUNDLE=Form(
        family="articles",
        icon="combine",
        discount_types=("UNIT_PRICE", "PERCENTAGE", "ABSOLUTE"),
        fields=("bundleComponents", "discountType", "discountValue", "maxBundles"),
        more=(
            "selectionType",
            "applicationQuantityMode",
            "applicationQuantity",
            "distributionMode",
            "maxDiscountAmount",
            "exclusions",
        ),
        also=(
            "targetArticleNumber",
            "targetArticleGroupId",
            "includeSubGroups",
            "targetArticleList",
            "articleListItems",
        ),
        needs=(("bundleComponents",), ("discountType",), ("discountValue",)),
        place=60,
    )
)
class BundleDiscount:
    """PERCENTAGE or ABSOLUTE off each complete bundle, or a UNIT_PRICE that one bundle costs."""

    __slots__ = ("choice", "components", "max_bundles", "maximum", "mode", "shown", "target", "terms")
    code: ClassVar[str] = "BUNDLE"
    stage: ClassVar[int] = ARTICLE_LEVEL

    def __init__(self, row: ActionRow, terms: Terms) -> None:
        if not row.components:
            raise DefinitionError("bundleComponents", "NO_COMPONENTS", "A bundle needs components.")
        components: list[Component] = []
        for number, part in enumerate(sorted(row.components, key=lambda part: (part.sequence, part.id)), start=1):
            path = f"bundleComponents({number})"
            quantity = whole_units(f"{path}/quantity", part.quantity_thousandths)
            target = Targets(part.article_number, part.article_group_id, part.include_sub_groups, ())
            components.append(Component(target, quantity, part.discounted))
        if not any(part.discounted for part in components):
            raise DefinitionError(
                "bundleComponents", "NOTHING_DISCOUNTED", "A bundle must discount at least one component."
            )
        if row.max_bundles is not None and row.max_bundles < 1:
            raise DefinitionError("maxBundles", "OUT_OF_RANGE", "At least one bundle must be allowed.")
        self.components = tuple(components)
        self.max_bundles = row.max_bundles
        self.target: Targets = targets_of_action(row)
        self.choice: Choice = choice_of(row)
        self.mode = distribution_of(row.distribution_mode)
        self.maximum = maximum_of(row.max_discount_hundredths)
        self.terms = terms
        self.shown: Shown = discount_of(row.discount_type, row.discount_value_hundredths, ALL_KINDS_OF_DISCOUNT)

    @classmethod
    def parse(cls, row: ActionRow, terms: Terms) -> Self:
        """Raises DefinitionError without components, a discounted one, or a discount."""
        return cls(row, terms)

    def keys(self) -> tuple[IndexKey, ...] | None:
        # Every component must be present, so the keys of the first one that names something are enough.
        for component in self.components:
            if component.target.own:
                return component.target.keys()
        return self.target.keys()

    def keys_of_any(self) -> tuple[IndexKey, ...] | None:
        """Index keys of which a basket must hold at least one for any component to be there."""
        keys: dict[IndexKey, None] = {}
        for component in self.components:
            keys.update(dict.fromkeys(component.target.keys() or ()))
        return tuple(keys) or self.target.keys()

    def targets(self, turn: Turn) -> tuple[int, ...]:
        return _merged(self.lines_by_component(turn))

    def is_barred(self, view: BasketView, qualifying: tuple[int, ...] | None) -> bool:
        """Whether all that is in the basket of a component that it would discount is never discounted."""
        parts = [part.target if part.target.own else self.target for part in self.components if part.discounted]
        return any(target.is_barred(view, qualifying) for target in parts)

    def is_spared(self, view: BasketView, qualifying: tuple[int, ...]) -> bool:
        """Whether all that is in the basket of a component that it needs is left out as reduced by the till."""
        parts = [part.target if part.target.own else self.target for part in self.components]
        return any(target.is_spared(view, qualifying, self.target.exclusions) for target in parts)

    def lines_by_component(self, turn: Turn) -> list[tuple[int, ...]]:
        """As `lines_of`, for each component."""
        return [self.lines_of(turn, component) for component in self.components]

    def lines_of(self, turn: Turn, component: Component) -> tuple[int, ...]:
        """Positions of the sale lines whose units may serve the component."""
        if not component.target.own:
            return self.target.resolve(turn.view, turn.lines)
        positions = component.target.resolve(turn.view, turn.lines)
        exclusions = self.target.exclusions
        return positions if exclusions is None else exclusions.apply(turn.view, positions)

    def gap(self, turn: Turn) -> Missed | None:
        """What the next bundle lacks: BUNDLE_INCOMPLETE for the first one, else NEXT_BUNDLE."""
        if turn.view.settings.rules == FIRST_RULES or self.is_barred(turn.ledger.view, turn.lines):
            return None
        fitting = self.lines_by_component(turn)
        found = next_bundle(self._stocks(turn, fitting), self.components, self._limit(turn))
        if found is None:
            return None
        bundles, missing = found
        size = sum([component.quantity for component in self.components])
        wanted = (bundles + 1) * size
        held = wanted - sum(missing)
        if held <= bundles * size:
            return None  # nothing of it is there
        pieces = tuple(
            [
                self._piece(component, lines, lacks)
                for component, lines, lacks in zip(self.components, fitting, missing, strict=True)
                if lacks
            ]
        )
        return Missed(
            "NEXT_BUNDLE" if bundles else "BUNDLE_INCOMPLETE",
            (),
            "",
            "ITEM_QUANTITY",
            held * 1000,
            wanted * 1000,
            is_quantity=True,
            lines=_merged(fitting),
            pieces=pieces,
        )

    def _piece(self, component: Component, lines: tuple[int, ...], lacks: int) -> Piece:
        target = component.target if component.target.own else self.target
        article = target.articles[0] if target.articles else None
        return Piece(lacks, lines, article, target.group)

    def _limit(self, turn: Turn) -> int | None:
        limit = self.max_bundles
        if turn.applications_max is not None:
            limit = turn.applications_max if limit is None else min(limit, turn.applications_max)
        return limit

    def book(self, turn: Turn) -> None:
        fitting = self.lines_by_component(turn)
        if not all(fitting):
            return  # most often some component is not in the basket at all
        allocation = allocate(self._stocks(turn, fitting), self.components, self._limit(turn))
        if allocation is None:
            return
        before = turn.discount_minor
        self._discount(turn, allocation)
        if turn.discount_minor > before:
            turn.counted(allocation.bundles)
            turn.used = (turn.used or []) + [(p, start, count) for p, start, count in allocation.used()]

    def _stocks(self, turn: Turn, fitting_lines: Sequence[tuple[int, ...]]) -> list[Stock]:
        """The units that fit some component, in the order bundles are filled; free ones fit those that are bought."""
        fits: dict[int, int] = {}
        bought = 0
        for number, (component, lines) in enumerate(zip(self.components, fitting_lines, strict=True)):
            if not component.discounted:
                bought |= 1 << number
            for position in lines:
                fits[position] = fits.get(position, 0) | 1 << number
        ledger, used = turn.ledger, turn.used or []
        stocks: list[Stock] = []
        for position in sorted(fits):
            worth, fitting = ledger.unit_worths[position], fits[position]
            segments = ledger.open_segments(position, turn.ordinal, turn.exclusive)
            stocks += [Stock(position, one, worth, fitting) for one in _without_used(segments, position, used)]
            if fitting & bought:
                free = _without_used(ledger.free_segments(position, turn.ordinal, turn.exclusive), position, used)
                stocks += [Stock(position, one, worth, fitting & bought, is_free=True) for one in free]
                if turn.leaves and self.mode is None:  # units left to others may still be bought
                    left = _without_used(ledger.left_segments(position), position, used)
                    stocks += [Stock(position, one, worth, fitting & bought) for one in left]
        sign = 1 if self.choice.selection == "CHEAPEST" else -1
        stocks.sort(key=lambda stock: (sign * stock.worth, stock.position, stock.start))
        return stocks

    def _discount(self, turn: Turn, allocation: Allocation) -> None:
        """Compute every bundle's discount exactly, round once, and distribute (section 7)."""
        ledger = turn.ledger
        scale = ledger.scale
        kind, value = self.shown
        groups = group_bundles(allocation, self.choice)
        offers: list[tuple[BundleGroup, int, int]] = []  # (group, exact discount of one bundle, base it applies to)
        for group in groups:
            base = group.worth(group.chosen, scale, remaining=not self.terms.additive)
            left = group.worth(group.chosen, scale, remaining=True)
            if kind == "PERCENTAGE":
                exact = min(base * value, left * 10_000)
            elif kind == "ABSOLUTE":
                exact = min(value * ledger.factor, left) * 10_000
            else:
                price = value * ledger.factor
                exact = max(0, min(group.worth(group.parts, scale, remaining=True) - price, left)) * 10_000
            offers.append((group, exact, base))
        total_exact = sum([group.count * exact for group, exact, _ in offers])
        total = capped(ledger, rounded_total(ledger, self.terms, total_exact, 10_000), self.maximum)
        if total <= 0:
            return
        self._distribute(turn, offers, total)

    def _distribute(self, turn: Turn, offers: list[tuple[BundleGroup, int, int]], total: int) -> None:
        ledger = turn.ledger
        scale = ledger.scale
        over_all = self.mode is not None
        remaining = not self.terms.additive
        bearing = [group.bearers() if over_all else group.chosen for group, _, _ in offers]
        bases = [
            group.worth(parts, scale, remaining=remaining) if over_all else base
            for (group, _, base), parts in zip(offers, bearing, strict=True)
        ]
        # One common denominator keeps the shares of bundles of different worth exact.
        common = lcm(*[base for base in bases if base > 0]) if any(bases) else 1
        weights: dict[int, int] = {}
        units: dict[int, list[Segment]] = {}
        for (group, exact, _), parts, base in zip(offers, bearing, bases, strict=True):
            if exact <= 0 or base <= 0:
                continue
            for stock, start, each in parts:
                unit = max(0, stock.worth - stock.taken * scale) if remaining else stock.worth
                count = each * group.count
                position = stock.position
                weights[position] = weights.get(position, 0) + count * unit * exact * (common // base)
                units.setdefault(position, []).append((start, count, stock.taken))
        positions = sorted(weights)
        chosen = [(position, sorted(units[position])) for position in positions]
        caps = [
            sum([s[1] * cap for s, cap in zip(segments, unit_caps(ledger, position, segments), strict=True)])
            for position, segments in chosen
        ]
        spread(
            turn,
            [(position, segments) for position, segments in chosen],
            [weights[position] for position in positions],
            min(total, sum(caps)),
            self.mode,
            self.shown,
            self.terms.additive,
        )


def _merged(fitting: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The positions of all components, each once, in basket order."""
    return tuple(sorted(set().union(*fitting)))


def _without_used(segments: list[Segment], position: int, used: list[tuple[int, int, int]]) -> list[Segment]:
    """A unit serves one bundle of a promotion: the segments minus what its earlier bundle actions used."""
    kept = segments
    for line, first, count in used:
        if line != position:
            continue
        parts: list[Segment] = []
        for start, length, taken in kept:
            head = min(length, max(0, first - start))
            tail_from = max(start, first + count)
            if head:
                parts.append((start, head, taken))
            if start + length > tail_from:
                parts.append((tail_from, start + length - tail_from, taken))
        kept = parts
    return kept
