"""The catalogue: promotions compiled once, stored individually, and found for a basket through the candidate index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from promenade.engine.basket import FIRST_RULES, Settings
from promenade.engine.benefits.registry import compile_benefits
from promenade.engine.conditions import parse_conditions
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.engine.fingerprint import definition_hash
from promenade.engine.index import CandidateIndex, Rung, entry_keys, is_held, request_keys, rungs, sale_keys
from promenade.engine.promotion import CompiledPromotion, RequestFacts, admitted, microseconds
from promenade.engine.shortlist import Shortlist, least_of, least_rest_of, missed_percent
from promenade.engine.view import ArticleGroups, BasketView

__all__ = ["Catalogue", "CompiledPromotion", "RecordedCatalogue", "Relevant", "compile_promotion", "definition_hash"]

# So few promotions are all priced sooner than those that matter among them are found.
FEW = 16

# Reasons that are never shown: the promotion is not offered here at all.
_UNREPORTED = ("INACTIVE",)
_FIRST_UNREPORTED = ("INACTIVE", "WRONG_CURRENCY")


def compile_promotion(definition: PromotionDefinition) -> CompiledPromotion:
    """Parse a definition; raises DefinitionError naming what cannot run, which activation shows to the author."""
    groups = parse_conditions(definition.conditions)
    benefits = compile_benefits(definition)
    promotion = CompiledPromotion(definition, groups, benefits, definition_hash(definition))
    promotion.entries = entry_keys(promotion, in_part=False)
    promotion.entries_in_part = entry_keys(promotion, in_part=True)
    promotion.least = least_of(promotion)
    promotion.least_rest = least_rest_of(promotion)
    return promotion


@dataclass(frozen=True, slots=True)
class Relevant:
    """The candidates without which an outcome would be a different one, in no particular order.

    ``tried`` are to be priced. ``missed`` miss a threshold, but advice may show them. ``later`` are ladders of those
    that compare with what the others leave, and of which some may be shown: which ones is known once the others are
    priced. None of them qualifies that needs more than the whole sale.
    """

    tried: list[CompiledPromotion]
    missed: list[CompiledPromotion]
    later: list[Rung]


class Catalogue:
    """All promotions of a tenant, compiled. One change costs as much as one promotion is large."""

    __slots__ = ("_controls", "_index", "_promotions", "article_groups")

    def __init__(
        self, article_groups: Mapping[str, str | None] | None = None, barred_groups: Mapping[str, str] | None = None
    ) -> None:
        self.article_groups = ArticleGroups(article_groups, barred_groups)
        self._promotions: dict[str, CompiledPromotion] = {}
        self._index = CandidateIndex()
        self._controls: dict[str, CompiledPromotion] = {}  # promotions with a control arm

    def __len__(self) -> int:
        return len(self._promotions)

    def __contains__(self, promotion_id: object) -> bool:
        return promotion_id in self._promotions

    def get(self, promotion_id: str) -> CompiledPromotion | None:
        return self._promotions.get(promotion_id)

    def promotions(self) -> list[CompiledPromotion]:
        """All of them, in no particular order."""
        return list(self._promotions.values())

    def put(self, definition: PromotionDefinition) -> None:
        """Compile and index one promotion in place of its earlier version.

        Raises DefinitionError when it cannot run; its earlier version is removed all the same, because the author has
        replaced it.
        """
        self.remove(definition.id)
        self._add(compile_promotion(definition))

    @classmethod
    def compiled(cls, promotions: Iterable[CompiledPromotion], article_groups: ArticleGroups) -> Catalogue:
        """Return a catalogue of promotions that are compiled already."""
        made = cls()
        made.article_groups = article_groups
        for promotion in promotions:
            made._add(promotion)
        return made

    def _add(self, promotion: CompiledPromotion) -> None:
        self._promotions[promotion.id] = promotion
        self._index.add(promotion)
        if promotion.control_groups or (promotion.definition.is_experiment and promotion.definition.control_group_id):
            self._controls[promotion.id] = promotion

    def remove(self, promotion_id: str) -> None:
        """Remove a promotion; an unknown one is ignored."""
        promotion = self._promotions.pop(promotion_id, None)
        if promotion is not None:
            self._index.discard(promotion)
            self._controls.pop(promotion_id, None)

    def compile_all(self, definitions: Iterable[PromotionDefinition]) -> dict[str, DefinitionError]:
        """Put many; return what could not be compiled and why, by promotion id. The others are priced."""
        refused: dict[str, DefinitionError] = {}
        for definition in definitions:
            try:
                self.put(definition)
            except DefinitionError as error:
                refused[definition.id] = error
        return refused

    def set_article_groups(
        self, parents: Mapping[str, str | None], barred_groups: Mapping[str, str] | None = None
    ) -> None:
        """Replace the article group tree (group id -> parent group id), and which groups are never discounted."""
        self.article_groups = ArticleGroups(parents, barred_groups)

    def candidates(
        self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings
    ) -> list[CompiledPromotion]:
        """The candidates of section 2 that can affect the basket, in no particular order.

        ``coupon_type_ids``: types of the valid codes presented. With ``include_missed`` every candidate, so that each
        can say why it did not apply; that costs as much as there are promotions.
        """
        types = frozenset(coupon_type_ids)
        asker = RequestFacts(view, types)
        if settings.include_missed:
            reached: Iterable[CompiledPromotion] = self._promotions.values()
        else:
            reached = self._index.reach(view, types).promotions()
        return admitted(reached, asker)

    def relevant(self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings) -> list[CompiledPromotion]:
        """The candidates without which the outcome would be a different one, in no particular order."""
        types = frozenset(coupon_type_ids)
        found = self.sorted_out(view, types, settings)
        if not found.later:
            return found.tried + found.missed
        asker = RequestFacts(view, types)
        later = [one for ladder, _, place in found.later for one in ladder.promotions[place:]]
        return found.tried + found.missed + admitted(later, asker)

    def sorted_out(self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings) -> Relevant:
        """The same, sorted by what must be done with them.

        Left out are those that miss a threshold and that advice would not show, where there are more than `FEW`.
        BEST_DEAL needs every candidate, because their number limits how long it searches; so does ``include_missed``,
        and a tenant for whom goods do not count that are excluded: each promotion then has a sale of its own.
        """
        if settings.include_missed or settings.strategy == "BEST_DEAL" or not settings.excluded_counts:
            return Relevant(self.candidates(view, coupon_type_ids, settings), [], [])
        types = frozenset(coupon_type_ids)
        asker = RequestFacts(view, types)
        reach = self._index.reach(view, types)
        if reach.is_at_most(FEW):
            return Relevant(admitted(reach.promotions(), asker), [], [])
        shortlist = Shortlist(view, asker)
        whole, view = view, view.usual
        tried: list[CompiledPromotion] = []
        for promotion in reach.others.values():
            percent = missed_percent(promotion, whole)
            if percent is None:
                tried.append(promotion)
            else:
                shortlist.offer(promotion, percent)
        later = rungs(reach.rest_ladders, view)
        if view.settings.nudges:  # supposed baskets compare with every one of them
            tried += [one for rung in later for one in rung[0].promotions]
            later = []
        of_lines = rungs(reach.ladders, view)
        if view is not whole:  # what lines lead to that do not count misses more than its threshold
            tried += [one for rung in of_lines if not is_held(rung, view) for one in rung[0].promotions]
            of_lines = [rung for rung in of_lines if is_held(rung, view)]
        of_sale = rungs(reach.sale_ladders, view)
        for ladder, _, within in chain(of_lines, of_sale, later):
            if within:
                tried += ladder.promotions[:within]
        shortlist.offer_ladders(of_lines, hints=True)
        shortlist.offer_ladders(of_sale, hints=False)
        return Relevant(admitted(tried, asker), shortlist.kept(), later)

    def candidates_naive(
        self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings
    ) -> list[CompiledPromotion]:
        """The same without the index: every promotion is checked. Tests compare `candidates` with it."""
        asker = RequestFacts(view, frozenset(coupon_type_ids))
        held = sale_keys(view).union(request_keys(view))
        found: list[CompiledPromotion] = []
        for promotion in self._promotions.values():
            entries = promotion.entries_in_part
            # A coupon leads straight to its promotions, whatever else the basket holds.
            can_matter = entries is None or bool(promotion.definition.coupon_type_ids) or not held.isdisjoint(entries)
            if (settings.include_missed or can_matter) and promotion.refusal(asker) is None:
                found.append(promotion)
        return found

    def outsiders(self, view: BasketView, coupon_type_ids: Iterable[str]) -> list[tuple[CompiledPromotion, str]]:
        """For missedPromotions: those that would affect the basket but are no candidates, with the reason.

        OUTSIDE_VALIDITY, WRONG_POS_GROUP, WRONG_CURRENCY, NOT_IN_PILOT or COUPON_REQUIRED; sorted by promotion id.
        """
        unreported = _FIRST_UNREPORTED if view.settings.rules == FIRST_RULES else _UNREPORTED
        asker = RequestFacts(view, frozenset(coupon_type_ids))
        held = sale_keys(view).union(request_keys(view))
        found: list[tuple[CompiledPromotion, str]] = []
        for promotion in self._promotions.values():
            refused = promotion.refusal(asker)
            if refused is None or refused in unreported:
                continue
            entries = promotion.leads(view.settings.rules)
            if entries is None or not held.isdisjoint(entries):
                found.append((promotion, refused))
        found.sort(key=_by_id)
        return found

    def recorded(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """What an outcome records that was priced with these definitions: each once, in this order."""
        return tuple(dict.fromkeys(hashes))

    def control_arms(self, view: BasketView) -> tuple[str, ...]:
        """Ids of the pilots and experiments whose control arm the asking POS group is in, sorted (section 9)."""
        if not self._controls:
            return ()
        now = microseconds(view.settings.now)
        return tuple(sorted([one.id for one in self._controls.values() if one.is_control(view.pos_group_id, now)]))


class RecordedCatalogue(Catalogue):
    """The promotions that an earlier outcome was priced with: all of them count, even those left out today."""

    __slots__ = ()

    def sorted_out(self, view: BasketView, coupon_type_ids: Iterable[str], settings: Settings) -> Relevant:
        """Every candidate is priced."""
        return Relevant(self.candidates(view, coupon_type_ids, settings), [], [])

    def recorded(self, hashes: Iterable[str]) -> tuple[str, ...]:
        """The same as then: all of them, in the order in which they were put."""
        return tuple([promotion.hash for promotion in self._promotions.values()])


def _by_id(found: tuple[CompiledPromotion, str]) -> str:
    return found[0].id
