"""The candidate index: from what a basket holds to the promotions that can affect it.

A promotion is indexed under the keys through which a basket may reach it (`entry_keys`), and a basket looks up only the
keys it holds; so the cost grows with the promotions that touch the basket and not with their total. Under each key,
promotions that need only so many pieces or only an amount are sorted by that (`Ladder`), so that those which a basket
misses are not even looked at. `catalogue` has the version without an index that tests compare it with.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.conditions.registry import Group, IndexKey
from promenade.engine.promotion import CompiledPromotion
from promenade.engine.thresholds import FINEST, Least
from promenade.engine.view import BasketView

LINE_KINDS = ("article", "ean", "group", "tree", "manufacturer", "field")
REQUEST_KINDS = ("customer", "customer_group", "tier", "payment_means", "card_type", "channel", "user_field")

Bucket = dict[str, CompiledPromotion]  # by promotion id: an ordered set with removal in constant time

Table = dict[str, "Shelf"]
"""The shelves of one kind of key, by name"""


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
    """Promotions under one key that need so many pieces, or an amount, and nothing else; sorted by that.

    ``key``: what they need is counted over its lines; None: over the whole sale; ``of_rest``: over what earlier
    promotions leave of it.
    """

    __slots__ = ("by_quantity", "key", "needs", "of_rest", "promotions")

    def __init__(self, key: IndexKey | None, by_quantity: bool, of_rest: bool) -> None:
        self.key = key
        self.of_rest = of_rest
        self.by_quantity = by_quantity
        self.promotions: list[CompiledPromotion] = []
        # What each of them needs, ascending, by the decimals of the currency: minor units, or thousandths of pieces.
        pieces: list[int] = []
        self.needs: tuple[list[int], ...] = tuple([pieces if by_quantity else [] for _ in range(FINEST + 1)])

    def add(self, promotion: CompiledPromotion, least: Least) -> None:
        """Add a promotion at its place."""
        place = bisect_right(self.needs[FINEST], self._need(least))
        self.promotions.insert(place, promotion)
        if self.by_quantity:
            self.needs[0].insert(place, least.quantity_thousandths)
        else:
            for needs, amount in zip(self.needs, least.amounts, strict=True):
                needs.insert(place, amount)

    def discard(self, promotion: CompiledPromotion, least: Least) -> None:
        """Remove a promotion that was added."""
        place = self.promotions.index(promotion, bisect_left(self.needs[FINEST], self._need(least)))
        del self.promotions[place]
        for needs in self.needs[:1] if self.by_quantity else self.needs:
            del needs[place]

    def _need(self, least: Least) -> int:
        return least.quantity_thousandths if self.by_quantity else least.amounts[FINEST]


class Shelf:
    """The promotions under one key: on ladders where one threshold alone decides, else among the ``others``."""

    __slots__ = ("ladders", "name", "others")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ladders: tuple[Ladder, ...] = ()
        self.others: Bucket = {}

    def add(self, promotion: CompiledPromotion) -> None:
        """Add a promotion."""
        least = _sole_need(promotion)
        if least is None:
            self.others[promotion.id] = promotion
            return
        ladder = self._ladder(promotion, least)
        if ladder is None:
            key = None if least.kind is None else (least.kind, self.name)
            ladder = Ladder(key, least.quantity_thousandths > 0, promotion.least_rest is not None)
            self.ladders += (ladder,)
        ladder.add(promotion, least)

    def discard(self, promotion: CompiledPromotion) -> bool:
        """Remove a promotion that was added; say whether nothing is left."""
        least = _sole_need(promotion)
        ladder = None if least is None else self._ladder(promotion, least)
        if least is None or ladder is None:
            self.others.pop(promotion.id, None)
        else:
            ladder.discard(promotion, least)
            self.ladders = tuple([one for one in self.ladders if one.promotions])
        return not self.others and not self.ladders

    def _ladder(self, promotion: CompiledPromotion, least: Least) -> Ladder | None:
        wanted = least.kind is None, least.quantity_thousandths > 0, promotion.least_rest is not None
        for ladder in self.ladders:
            if (ladder.key is None, ladder.by_quantity, ladder.of_rest) == wanted:
                return ladder
        return None


def _sole_need(promotion: CompiledPromotion) -> Least | None:
    """What it needs, if that is one number, counted over the whole sale or over the lines of its only key."""
    least, entries = promotion.least or promotion.least_rest, promotion.entries_in_part
    if least is None or (least.quantity_thousandths > 0) == (least.amounts[FINEST] > 0):
        return None
    if entries is not None and len(entries) != 1:
        return None
    if least.kind is not None and entries != tuple([(least.kind, name) for name in least.names]):
        return None
    return least


Rung = tuple[Ladder, int, int]
"""A ladder, what the basket holds as the ladder counts, and how many of its promotions need no more than that"""


class Reach:
    """What a basket leads to: promotions that must be looked at one by one, and ladders.

    ``sale_ladders`` have the promotions for any basket, ``rest_ladders`` those of them that need so much to be left.
    """

    __slots__ = ("ladders", "others", "rest_ladders", "sale_ladders")

    def __init__(self) -> None:
        self.others: Bucket = {}
        self.ladders: list[Ladder] = []
        self.sale_ladders: list[Ladder] = []
        self.rest_ladders: list[Ladder] = []

    def is_at_most(self, most: int) -> bool:
        """Whether so few promotions are led to, and none by ladders of any basket that count the whole sale."""
        if self.sale_ladders or len(self.others) + len(self.ladders) > most:
            return False
        ladders = self.ladders + self.rest_ladders
        return len(self.others) + sum([len(ladder.promotions) for ladder in ladders]) <= most

    def promotions(self) -> list[CompiledPromotion]:
        """All of them, each once."""
        found = list(self.others.values())
        for ladder in self.ladders + self.sale_ladders + self.rest_ladders:
            found += ladder.promotions
        return found


class CandidateIndex:
    """Promotions by their entry keys; those without one by POS group; those that need a coupon by coupon type."""

    __slots__ = ("_coupons", "_everywhere", "_of_lines", "_places", "_tables")

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {kind: {} for kind in (*LINE_KINDS, *REQUEST_KINDS)}
        self._of_lines = tuple([(kind, self._tables[kind]) for kind in LINE_KINDS if kind != "field"])
        self._coupons: Table = {}
        self._places: Table = {}  # any basket of this POS group
        self._everywhere: Table = {}  # any basket, under ""

    def add(self, promotion: CompiledPromotion) -> None:
        """Add a promotion; the cost grows with its number of keys."""
        for table, name in self._entries(promotion):
            shelf = table.get(name)
            if shelf is None:
                shelf = table[name] = Shelf(name)
            shelf.add(promotion)

    def discard(self, promotion: CompiledPromotion) -> None:
        """Remove a promotion; the cost grows with its number of keys."""
        for table, name in self._entries(promotion):
            shelf = table.get(name)
            if shelf is not None and shelf.discard(promotion):
                del table[name]

    def _entries(self, promotion: CompiledPromotion) -> list[tuple[Table, str]]:
        definition = promotion.definition
        if definition.coupon_type_ids:
            return [(self._coupons, one) for one in definition.coupon_type_ids]
        if promotion.entries_in_part is None:
            if definition.pos_groups:
                return [(self._places, one) for one in definition.pos_groups]
            return [(self._everywhere, "")]
        return [(self._tables[kind], name) for kind, name in dict.fromkeys(promotion.entries_in_part)]

    def reach(self, view: BasketView, coupon_type_ids: frozenset[str]) -> Reach:
        """The promotions that can affect a basket, whatever their validity, each once."""
        reach = Reach()
        others = reach.others
        for shelf in (self._everywhere.get(""), self._places.get(view.pos_group_id)):
            if shelf is not None:
                others.update(shelf.others)
                for ladder in shelf.ladders:
                    (reach.rest_ladders if ladder.of_rest else reach.sale_ladders).append(ladder)
        for coupon_type in coupon_type_ids:
            shelf = self._coupons.get(coupon_type)
            if shelf is not None:
                others.update(shelf.others)
        for shelf in self._led_to(view):
            if shelf.others:
                others.update(shelf.others)
            reach.ladders += shelf.ladders
        return reach

    def _led_to(self, view: BasketView) -> list[Shelf]:
        """The shelves under the keys that the basket holds, each once."""
        found: list[Shelf] = []
        for kind, table in self._of_lines:
            if table:
                found += [table[name] for name in view.places(kind) if name in table]
        fields = self._tables["field"]
        if fields:
            names = {name for place in view.sale for name, _ in view.lines[place].line.fields}
            found += [fields[name] for name in names if name in fields]
        for kind, name in dict.fromkeys(request_keys(view)):
            shelf = self._tables[kind].get(name)
            if shelf is not None:
                found.append(shelf)
        return found


def rungs(ladders: Iterable[Ladder], view: BasketView) -> list[Rung]:
    """How far a basket reaches on each of them."""
    exponent = view.exponent
    found: list[Rung] = []
    for ladder in ladders:
        key = ladder.key
        if key is None:
            held = view.sale_quantity_thousandths if ladder.by_quantity else view.sale_total_minor
        else:
            quantity, amount, _ = view.held(key[0])[key[1]]
            held = quantity if ladder.by_quantity else amount
        found.append((ladder, held, bisect_right(ladder.needs[exponent], held)))
    return found


def is_held(rung: Rung, view: BasketView) -> bool:
    """Whether any line that counts is one of those that its ladder is about."""
    key = rung[0].key
    return key is None or bool(view.held(key[0])[key[1]][2])
