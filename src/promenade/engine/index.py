"""The candidate index: from what a basket holds to the promotions that can affect it.

A promotion is indexed under the keys through which a basket may reach it (`entry_keys`), and a basket looks up only the
keys it holds; so the cost grows with the promotions that touch the basket and not with their total. Promotions for any
basket that need so many pieces or an amount are sorted by that (`Ladder`). `catalogue` has the version without an index
that tests compare it with.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.conditions.registry import Group, IndexKey
from promenade.engine.promotion import CompiledPromotion
from promenade.engine.thresholds import FINEST, Least
from promenade.engine.view import BasketView

LINE_KINDS = ("article", "ean", "group", "tree", "manufacturer", "field")
REQUEST_KINDS = ("customer", "customer_group", "tier", "payment_means", "card_type", "channel", "user_field")

Bucket = dict[str, CompiledPromotion]  # by promotion id: an ordered set with removal in constant time

_NOTHING: Bucket = {}


def entry_keys(promotion: CompiledPromotion, *, in_part: bool) -> tuple[IndexKey, ...] | None:
    """The keys of which a basket must hold at least one for the promotion to matter; None = it may matter to any
    basket. ``in_part``: any piece of a bundle matters, so that it can be told which others are missing.

    Per AND group: every positive condition that names lines is an entry, so that near misses are found; else the
    targets of the benefits, when all of them have targets; else one condition on the request that must hold anyway.
    """
    if not promotion.benefits:
        return ()
    targets = _target_keys(promotion, in_part)
    if not promotion.groups:
        return targets
    keys: dict[IndexKey, None] = {}
    for group in promotion.groups:
        found = _line_keys(group) or targets
        if found is None:
            found = _request_condition_keys(group)
        if found is None:
            return None
        keys.update(dict.fromkeys(found))
    return tuple(keys)


def _line_keys(group: Group) -> tuple[IndexKey, ...] | None:
    found: list[IndexKey] = []
    for negated, condition in group:
        keys = None if negated else condition.keys()
        if keys and keys[0][0] in LINE_KINDS:
            found.extend(keys)
    return tuple(found) or None


def _request_condition_keys(group: Group) -> tuple[IndexKey, ...] | None:
    for negated, condition in group:
        keys = None if negated else condition.keys()
        if keys:
            return keys
    return None


def _target_keys(promotion: CompiledPromotion, in_part: bool) -> tuple[IndexKey, ...] | None:
    found: list[IndexKey] = []
    for benefit in promotion.benefits:
        keys = benefit.keys_of_any() if in_part and isinstance(benefit, BundleDiscount) else benefit.keys()
        if keys is None:
            return None
        found.extend(keys)
    return tuple(found)


def sale_keys(view: BasketView) -> set[IndexKey]:
    """Every key that the basket's sale lines hold."""
    keys: set[IndexKey] = set()
    for position in view.sale:
        line = view.lines[position]
        keys.add(("article", line.article_number))
        if line.ean:
            keys.add(("ean", line.ean))
        if line.article_group_id:
            keys.add(("group", line.article_group_id))
        keys.update([("tree", group) for group in line.group_path])
        if line.manufacturer_id:
            keys.add(("manufacturer", line.manufacturer_id))
        keys.update([("field", name) for name, _ in line.line.fields])
    return keys


def request_keys(view: BasketView) -> list[IndexKey]:
    """Every key that the request holds besides its lines."""
    basket = view.basket
    keys: list[IndexKey] = []
    customer = basket.customer
    if customer is not None:
        if customer.customer_id is not None:
            keys.append(("customer", customer.customer_id))
        if customer.customer_group is not None:
            keys.append(("customer_group", customer.customer_group))
        if customer.loyalty_tier is not None:
            keys.append(("tier", customer.loyalty_tier))
    payment = basket.payment
    if payment is not None:
        if payment.payment_means is not None:
            keys.append(("payment_means", payment.payment_means))
        if payment.card_type is not None:
            keys.append(("card_type", payment.card_type))
    if basket.channel is not None:
        keys.append(("channel", basket.channel.casefold()))
    keys.extend([("user_field", name) for name, _ in basket.user_fields])
    return keys


class Ladder:
    """Promotions for any basket, sorted by the pieces or by the amount that they need."""

    __slots__ = ("_by_quantity", "_needs", "_promotions")

    def __init__(self, by_quantity: bool) -> None:
        self._by_quantity = by_quantity
        self._needs: list[int] = []
        self._promotions: list[CompiledPromotion] = []

    def __iter__(self) -> Iterator[CompiledPromotion]:
        return iter(self._promotions)

    def add(self, promotion: CompiledPromotion, least: Least) -> None:
        """Add a promotion at its place."""
        need = self._need(least)
        place = bisect_right(self._needs, need)
        self._needs.insert(place, need)
        self._promotions.insert(place, promotion)

    def discard(self, promotion: CompiledPromotion, least: Least) -> None:
        """Remove a promotion that was added."""
        place = self._promotions.index(promotion, bisect_left(self._needs, self._need(least)))
        del self._needs[place], self._promotions[place]

    def split(self, view: BasketView) -> tuple[Sequence[CompiledPromotion], Iterator[CompiledPromotion]]:
        """The promotions whose threshold the sale reaches; the others, the nearest first."""
        promotions = self._promotions
        held = view.sale_total_minor * 10 ** (FINEST - view.exponent)
        reached = bisect_right(self._needs, view.sale_quantity_thousandths if self._by_quantity else held)
        return promotions[:reached], (promotions[place] for place in range(reached, len(promotions)))

    def _need(self, least: Least) -> int:
        return least.quantity_thousandths if self._by_quantity else least.amounts[FINEST]


class CandidateIndex:
    """Promotions by their entry keys; those without one by POS group; those that need a coupon by coupon type."""

    __slots__ = (
        "_articles",
        "_coupons",
        "_eans",
        "_everywhere",
        "_groups",
        "_ladders",
        "_makers",
        "_places",
        "_tables",
        "_trees",
    )

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Bucket]] = {kind: {} for kind in (*LINE_KINDS, *REQUEST_KINDS)}
        self._articles = self._tables["article"]
        self._eans = self._tables["ean"]
        self._groups = self._tables["group"]
        self._trees = self._tables["tree"]
        self._makers = self._tables["manufacturer"]
        self._coupons: dict[str, Bucket] = {}
        self._places: dict[str, Bucket] = {}  # any basket of this POS group
        self._everywhere: Bucket = {}  # any basket
        # Those of the two that need so many pieces (True) or an amount (False), by POS group; None is everywhere.
        self._ladders: dict[tuple[str | None, bool], Ladder] = {}

    def add(self, promotion: CompiledPromotion) -> None:
        """Add a promotion; the cost grows with its number of keys."""
        least = promotion.least
        if least is not None and promotion.entries is None:
            for rung in _rungs(promotion, least):
                ladder = self._ladders.get(rung)
                if ladder is None:
                    ladder = self._ladders[rung] = Ladder(rung[1])
                ladder.add(promotion, least)
            return
        for table, key in self._entries(promotion):
            bucket = table.get(key)
            if bucket is None:
                bucket = table[key] = {}
            bucket[promotion.id] = promotion
        if _is_everywhere(promotion):
            self._everywhere[promotion.id] = promotion

    def discard(self, promotion: CompiledPromotion) -> None:
        """Remove a promotion; the cost grows with its number of keys."""
        least = promotion.least
        if least is not None and promotion.entries is None:
            for rung in _rungs(promotion, least):
                self._ladders[rung].discard(promotion, least)
            return
        for table, key in self._entries(promotion):
            bucket = table.get(key)
            if bucket is not None:
                bucket.pop(promotion.id, None)
                if not bucket:
                    del table[key]
        self._everywhere.pop(promotion.id, None)

    def _entries(self, promotion: CompiledPromotion) -> list[tuple[dict[str, Bucket], str]]:
        definition = promotion.definition
        if definition.coupon_type_ids:
            return [(self._coupons, one) for one in definition.coupon_type_ids]
        if promotion.entries_in_part is None:
            return [(self._places, one) for one in definition.pos_groups]
        return [(self._tables[kind], value) for kind, value in promotion.entries_in_part]

    def reach(self, view: BasketView, coupon_type_ids: frozenset[str]) -> Bucket:
        """The promotions that can affect a basket, whatever their validity, each once; without those on `ladders`."""
        found = dict(self._everywhere)
        place = self._places.get(view.pos_group_id)
        if place is not None:
            found.update(place)
        for coupon_type in coupon_type_ids:
            bucket = self._coupons.get(coupon_type)
            if bucket is not None:
                found.update(bucket)
        self._reach_by_lines(view, found)
        for kind, value in request_keys(view):
            bucket = self._tables[kind].get(value)
            if bucket is not None:
                found.update(bucket)
        return found

    def ladders(self, view: BasketView) -> list[Ladder]:
        """The promotions that can affect any basket of this POS group that reaches what they need."""
        if not self._ladders:
            return []
        rungs = [(place, by_quantity) for place in (None, view.pos_group_id) for by_quantity in (False, True)]
        return [self._ladders[rung] for rung in rungs if rung in self._ladders]

    def _reach_by_lines(self, view: BasketView, found: Bucket) -> None:
        articles, eans, makers = self._articles, self._eans, self._makers
        by_group = bool(self._groups or self._trees)
        groups: set[str] = set()
        lines = view.lines
        for position in view.sale:
            line = lines[position]
            bucket = articles.get(line.article_number)
            if bucket is not None:
                found.update(bucket)
            if line.ean is not None:
                bucket = eans.get(line.ean)
                if bucket is not None:
                    found.update(bucket)
            if line.manufacturer_id is not None:
                bucket = makers.get(line.manufacturer_id)
                if bucket is not None:
                    found.update(bucket)
            if by_group:
                group = line.article_group_id
                if group is not None and group not in groups:
                    groups.add(group)
                    self._reach_by_group(group, line.group_path, found)
            if line.line.fields:
                for name, _ in line.line.fields:
                    found.update(self._tables["field"].get(name, _NOTHING))

    def _reach_by_group(self, group: str, path: tuple[str, ...], found: Bucket) -> None:
        bucket = self._groups.get(group)
        if bucket is not None:
            found.update(bucket)
        for ancestor in path:
            bucket = self._trees.get(ancestor)
            if bucket is not None:
                found.update(bucket)


def _rungs(promotion: CompiledPromotion, least: Least) -> list[tuple[str | None, bool]]:
    """The ladders that a promotion for any basket is on."""
    return [(place, least.quantity_thousandths > 0) for place in promotion.definition.pos_groups or (None,)]


def _is_everywhere(promotion: CompiledPromotion) -> bool:
    definition = promotion.definition
    return promotion.entries is None and not definition.coupon_type_ids and not definition.pos_groups
