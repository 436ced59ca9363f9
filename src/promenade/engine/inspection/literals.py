"""Which conditions can never hold together.

Conditions about different things never contradict each other; those about one thing are solved together, in integers,
texts or times, by the values that the conditions' own classes compare. What a class leaves open counts as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from promenade.engine.conditions.article import ArticleGroup, ArticleLines, Manufacturer, NamedLines
from promenade.engine.conditions.custom import AdditionalField, UserDefined
from promenade.engine.conditions.customer import LoyaltyAccount
from promenade.engine.conditions.operators import Bounds, TextTest
from promenade.engine.conditions.payment import BIN_DIGITS_MAX, CreditCardBin
from promenade.engine.conditions.receipt import ItemQuantity, ManualDiscount, ReceiptAmount
from promenade.engine.conditions.registry import Condition, Group
from promenade.engine.conditions.time import TimePeriod, TimeWindow
from promenade.engine.inspection.moments import is_ever
from promenade.engine.inspection.spans import ANY, Spans, at_least, both, outside, spans_of
from promenade.engine.inspection.texts import Outlook, text_outlook, ways_of
from promenade.engine.money import threshold_minor
from promenade.engine.view import ArticleGroups

TOGETHER_MAX = 40  # conditions on one subject for which the smallest conflict is searched
EFFORT = 400_000  # steps of one check, some microseconds each
CLOCK_STEPS = 100  # steps for one clock


class Effort:
    """The remaining work allowed; whatever is left open then counts as possible. Counted in steps, so that checks
    repeat.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = EFFORT) -> None:
        self.left = left

    def take(self, steps: int) -> bool:
        """Whether this many steps may be taken."""
        self.left -= steps
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances in which a promotion's conditions are checked.

    ``exponents``: decimals of the currencies it may meet; ``starts`` and ``ends`` as `promotion.microseconds`;
    ``zones`` of the POS groups where it may run.
    """

    exponents: frozenset[int]
    is_additive: bool
    starts: int
    ends: int
    zones: tuple[str, ...]
    groups: ArticleGroups
    effort: Effort = field(default_factory=Effort, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A condition as a member of its AND group; ``place`` counts a promotion's conditions from 0 in their order."""

    negated: bool
    condition: Condition
    place: int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The fewest conditions that cannot all hold, or that hold only for nonsensical values."""

    outlook: Outlook
    literals: tuple[Literal, ...]


def literals_of(groups: Sequence[Group]) -> tuple[tuple[Literal, ...], ...]:
    """The AND groups of a promotion, with its conditions numbered throughout."""
    found: list[tuple[Literal, ...]] = []
    place = 0
    for group in groups:
        found.append(tuple([Literal(negated, one, place + number) for number, (negated, one) in enumerate(group)]))
        place += len(group)
    return tuple(found)


def contradictions(group: Sequence[Literal], given: Circumstances) -> list[Contradiction]:
    """What keeps an AND group from ever holding, one clash per subject of its conditions."""
    found: list[Contradiction] = []
    for solve, literals in _by_matter(group):
        outlook = _solved(solve, literals, given)
        if outlook is not Outlook.POSSIBLE:
            found.append(Contradiction(outlook, _fewest(solve, literals, given, outlook)))
    return found


def outlook_of(group: Sequence[Literal], given: Circumstances, about: Sequence[Literal] = ()) -> Outlook:
    """Whether an AND group can hold at all; with ``about``, considering only the subjects of those literals."""
    wanted = {id(one) for one in about}
    matters = _by_matter(group)
    if wanted:
        matters = [(solve, each) for solve, each in matters if any(id(one) in wanted for one in each)]
    return min([_solved(solve, literals, given) for solve, literals in matters], default=Outlook.POSSIBLE)


def _solved(solve: Solve, literals: Sequence[Literal], given: Circumstances) -> Outlook:
    return solve(literals, given) if given.effort.take(_steps(solve, literals, given)) else Outlook.POSSIBLE


def _steps(solve: Solve, literals: Sequence[Literal], given: Circumstances) -> int:
    """An estimate of the work."""
    if solve is _times:
        return len(literals) * 7 + len(given.zones) * CLOCK_STEPS
    if solve is _lines:
        wanted = sum(not one.negated for one in literals)
        return len(literals) + wanted * (len(literals) - wanted)
    tests = [(one.negated, _test_of(one.condition)) for one in literals]
    operands = sum([1 if test is None else 1 + len(test.texts) for _, test in tests])
    return operands + len(literals) * ways_of(
        [test for negated, test in tests if test is not None and not negated],
        [test for negated, test in tests if test is not None and negated],
    )


Solve = Callable[[Sequence[Literal], Circumstances], Outlook]


def _fewest(solve: Solve, literals: Sequence[Literal], given: Circumstances, outlook: Outlook) -> tuple[Literal, ...]:
    kept = list(literals)
    if len(kept) > TOGETHER_MAX:
        return tuple(kept)
    for one in literals:
        rest = [other for other in kept if other is not one]
        if rest and _solved(solve, rest, given) <= outlook:
            kept = rest
    return tuple(kept)


def _by_matter(group: Sequence[Literal]) -> list[tuple[Solve, list[Literal]]]:
    """The conditions of a group by subject."""
    matters: dict[Hashable, tuple[Solve, list[Literal]]] = {}
    lines = [one for one in group if isinstance(one.condition, NamedLines)]
    for one in group:
        family = _family(one.condition)
        if family is not None:
            matter, solve = family
            matters.setdefault(matter, (solve, []))[1].append(one)
    for matter, (_, literals) in matters.items():
        # The minimum of the named lines bounds the sums over all lines.
        if matter == "AMOUNT" or (isinstance(matter, tuple) and matter[0] == "QUANTITY"):
            literals.extend([one for one in lines if not one.negated])
    return list(matters.values())


# --- solvers ----------------------------------------------------------------------------------------------------------


def _tests(pick: Callable[[Condition], TextTest | None]) -> Solve:
    def solve(literals: Sequence[Literal], given: Circumstances) -> Outlook:
        positive: list[TextTest] = []
        negative: list[TextTest] = []
        for one in literals:
            test = pick(one.condition)
            if test is not None:
                (negative if one.negated else positive).append(test)
        return text_outlook(positive, negative)

    return solve


def _solve_spans(literals: Sequence[Literal], allowed: Spans, ranges: Callable[[Condition], Sequence[Bounds]]) -> Spans:
    for one in literals:
        spans = spans_of([(each.low, each.high) for each in ranges(one.condition)])
        allowed = both(allowed, outside(spans) if one.negated else spans)
    return allowed


def _points(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    if all(one.negated for one in literals):
        return Outlook.POSSIBLE  # there need not be a loyalty account
    return _sure(_solve_spans(literals, ANY, _ranges_of_points))


def _ranges_of_points(condition: Condition) -> Sequence[Bounds]:
    return condition.ranges if isinstance(condition, LoyaltyAccount) else ()


def _amount(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    own = [one for one in literals if isinstance(one.condition, ReceiptAmount)]
    if not own:
        return Outlook.POSSIBLE
    for exponent in given.exponents:
        least = 0
        if given.is_additive:  # otherwise the amount is what earlier promotions left
            least = max([0, *[threshold_minor(_minima(one)[1], exponent) for one in literals]])
        if _solve_spans(own, at_least(least), _amounts_in(exponent)):
            return Outlook.POSSIBLE
    return Outlook.NO


def _amounts_in(exponent: int) -> Callable[[Condition], Sequence[Bounds]]:
    return lambda condition: condition.ranges[exponent] if isinstance(condition, ReceiptAmount) else ()


def _minima(literal: Literal) -> tuple[int, int]:
    """The quantity and the amount of sale lines that a positive condition needs to hold."""
    one = literal.condition
    if literal.negated or not isinstance(one, NamedLines):
        return 0, 0
    return max(1, one.min_quantity_thousandths), max(0, one.min_amount_hundredths)


def _quantity(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    own = [one for one in literals if isinstance(one.condition, ItemQuantity)]
    if not own:
        return Outlook.POSSIBLE
    first = own[0].condition
    named = first.named if isinstance(first, ItemQuantity) else ()
    least = [_minima(one)[0] for one in literals if not named or one.condition in named]
    return _sure(_solve_spans(own, at_least(max([0, *least])), _ranges_of_quantity))


def _ranges_of_quantity(condition: Condition) -> Sequence[Bounds]:
    return condition.ranges if isinstance(condition, ItemQuantity) else ()


def _manual(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    reasons = [(one.negated, one.condition.reasons) for one in literals if isinstance(one.condition, ManualDiscount)]
    if all(negated for negated, _ in reasons):
        return Outlook.POSSIBLE
    if any(negated and test is None for negated, test in reasons):
        return Outlook.NO
    return text_outlook(
        [test for negated, test in reasons if test is not None and not negated],
        [test for negated, test in reasons if test is not None and negated],
    )


def _cards(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    cards = [(one.negated, one.condition) for one in literals if isinstance(one.condition, CreditCardBin)]
    return cards_outlook([one for negated, one in cards if not negated], [one for negated, one in cards if negated])


def _times(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    timed = [(one.negated, one.condition) for one in literals]
    if given.starts >= given.ends or not given.zones:
        return Outlook.POSSIBLE  # reported by another finding
    return Outlook.POSSIBLE if is_ever(timed, given.starts, given.ends, given.zones) else Outlook.NO


def _lines(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    return lines_outlook(
        [one.condition for one in literals if not one.negated and isinstance(one.condition, NamedLines)],
        [one.condition for one in literals if one.negated and isinstance(one.condition, NamedLines)],
        given.groups,
    )


def _sure(spans: Spans) -> Outlook:
    return Outlook.POSSIBLE if spans else Outlook.NO


# --- the table --------------------------------------------------------------------------------------------------------

Family = Callable[[Condition], tuple[Hashable, Solve]]
"""What a condition is about, and what solves the conditions about it."""


def _test_of(condition: Condition) -> TextTest | None:
    test = getattr(condition, "test", None)
    return test if isinstance(test, TextTest) else None


_SOLVE_TEST = _tests(_test_of)
_SOLVE_TIER = _tests(lambda condition: condition.tier if isinstance(condition, LoyaltyAccount) else None)


def _of_account(condition: Condition) -> tuple[Hashable, Solve]:
    is_tier = isinstance(condition, LoyaltyAccount) and condition.tier is not None
    return ("TIER", _SOLVE_TIER) if is_tier else ("POINTS", _points)


def _of_field(condition: Condition) -> tuple[Hashable, Solve]:
    return ("USER_DEFINED", condition.name if isinstance(condition, UserDefined) else ""), _SOLVE_TEST


def _of_quantity(condition: Condition) -> tuple[Hashable, Solve]:
    return ("QUANTITY", condition.named if isinstance(condition, ItemQuantity) else ()), _quantity


OWN: dict[type[Condition], Family] = {
    ItemQuantity: _of_quantity,
    ReceiptAmount: lambda one: ("AMOUNT", _amount),
    ManualDiscount: lambda one: ("MANUAL", _manual),
    LoyaltyAccount: _of_account,
    CreditCardBin: lambda one: ("CREDIT_CARD_BIN", _cards),
    TimeWindow: lambda one: ("TIME", _times),
    TimePeriod: lambda one: ("TIME", _times),
    UserDefined: _of_field,
}


ABOUT_LINES: tuple[Hashable, Solve] = ("LINES", _lines)


def _family(condition: Condition) -> tuple[Hashable, Solve] | None:
    """What a condition is about: its own matter, sale lines, or one text; None where nothing can be said of it."""
    own = OWN.get(type(condition))
    if own is not None:
        return own(condition)
    if isinstance(condition, NamedLines):
        return ABOUT_LINES
    return None if _test_of(condition) is None else (condition.code, _SOLVE_TEST)


# ---- whether one card number can begin as several conditions ask ----------------------------------------------------


HIGHEST_CARD = 10**BIN_DIGITS_MAX - 1


def cards_outlook(positive: Sequence[CreditCardBin], negative: Sequence[CreditCardBin]) -> Outlook:
    """Whether a card passes every positive condition and none of ``negative`` (which count where alike)."""
    allowed: Spans = ((0, HIGHEST_CARD),)
    for one in positive:
        if one in negative:
            return Outlook.NO
        allowed = both(allowed, _numbers(one))
    return Outlook.POSSIBLE if allowed else Outlook.NO


def _numbers(condition: CreditCardBin) -> Spans:
    """The 8-digit numbers that pass; all numbers where the operator does not restrict the first digits."""
    if condition.operator == "BETWEEN":
        low, high = condition.prefixes
        return both(spans_of([_range("GTE", low)]), spans_of([_range("LTE", high)]))
    return spans_of([_range(condition.operator, prefix) for prefix in condition.prefixes])


def _range(operator: str, prefix: str) -> tuple[int, int]:
    if operator == "CONTAINS":
        return 0, HIGHEST_CARD
    rest = 10 ** (BIN_DIGITS_MAX - len(prefix))
    first = int(prefix) * rest
    last = first + rest - 1
    return {
        "GREATER_THAN": (last + 1, HIGHEST_CARD),
        "GTE": (first, HIGHEST_CARD),
        "LESS_THAN": (0, first - 1),
        "LTE": (0, last),
    }.get(operator, (first, last))


# ---- which lines are surely among those that another condition names ------------------------------------------------


PAIRS_MAX = 2_500


def lines_outlook(positive: Sequence[NamedLines], negative: Sequence[NamedLines], groups: ArticleGroups) -> Outlook:
    """Whether required lines conflict with forbidden lines because the former are among the latter.

    Different articles never conflict: a basket has many lines.
    """
    if len(positive) * len(negative) > PAIRS_MAX:
        return Outlook.POSSIBLE
    for wanted in positive:
        for unwanted in negative:
            if covers(unwanted, wanted, groups) and _brings(wanted, unwanted):
                return Outlook.NO
    return Outlook.POSSIBLE


def _brings(wanted: NamedLines, unwanted: NamedLines) -> bool:
    """Whether the minimum that is required already makes the forbidden condition hold."""
    enough = max(1, wanted.min_quantity_thousandths) >= unwanted.min_quantity_thousandths
    return enough and max(0, wanted.min_amount_hundredths) >= unwanted.min_amount_hundredths


def covers(wide: NamedLines, narrow: NamedLines, groups: ArticleGroups) -> bool:
    """Whether every line that ``narrow`` names is certainly one that ``wide`` names; minima are ignored here."""
    if isinstance(wide, ArticleLines) and isinstance(narrow, ArticleLines):
        return _covers_articles(wide, narrow)
    if isinstance(wide, ArticleGroup) and isinstance(narrow, ArticleGroup):
        return _covers_groups(wide, narrow, groups)
    if isinstance(wide, Manufacturer) and isinstance(narrow, Manufacturer):
        if wide.test is not None or narrow.test is not None:
            return wide.test == narrow.test
        return narrow.name_set <= wide.name_set
    if isinstance(wide, AdditionalField) and isinstance(narrow, AdditionalField):
        return wide.name == narrow.name and wide.test == narrow.test
    return False


def _covers_articles(wide: ArticleLines, narrow: ArticleLines) -> bool:
    if narrow.test is not None:
        return wide.test == narrow.test
    if wide.test is not None:
        return not narrow.eans and all(wide.test.holds(one) for one in narrow.numbers)
    return narrow.number_set <= wide.number_set and narrow.ean_set <= wide.ean_set


def _covers_groups(wide: ArticleGroup, narrow: ArticleGroup, groups: ArticleGroups) -> bool:
    if narrow.include_sub_groups and not wide.include_sub_groups:
        return False
    if wide.test is not None or narrow.test is not None:
        return wide.test == narrow.test
    if not wide.include_sub_groups:
        return narrow.group_set <= wide.group_set
    return all(not wide.group_set.isdisjoint(groups.path(one)) for one in narrow.groups)
