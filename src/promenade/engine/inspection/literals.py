"""Which conditions can never hold together: each family of conditions with what it is about, in one table.

Conditions about different things never contradict each other; those about one thing are solved together, in integers,
texts or times, by the values that the conditions' own classes compare. What a class leaves open counts as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from promenade.engine.conditions.article import Article, ArticleGroup, ArticleList, Manufacturer, NamedLines
from promenade.engine.conditions.custom import AdditionalField, Channel, UserDefined
from promenade.engine.conditions.customer import CustomerGroup, CustomerIs, LoyaltyAccount
from promenade.engine.conditions.operators import Bounds, TextTest
from promenade.engine.conditions.payment import CreditCardBin, PaymentCard, PaymentMeans
from promenade.engine.conditions.receipt import ItemQuantity, ManualDiscount, ReceiptAmount
from promenade.engine.conditions.registry import Condition, Group
from promenade.engine.conditions.time import TimePeriod, TimeWindow
from promenade.engine.inspection.cards import cards_outlook
from promenade.engine.inspection.lines import lines_outlook
from promenade.engine.inspection.moments import is_ever
from promenade.engine.inspection.spans import ANY, Spans, at_least, both, outside, spans_of
from promenade.engine.inspection.texts import Outlook, text_outlook, ways_of
from promenade.engine.money import threshold_minor
from promenade.engine.view import ArticleGroups

__all__ = ["Circumstances", "Clash", "Effort", "Literal", "clashes", "literals_of", "outlook_of"]

TOGETHER_MAX = 40  # conditions about one thing of which the fewest that clash are searched for
EFFORT = 400_000  # steps of one check, some microseconds each
CLOCK_STEPS = 100  # of following one clock


class Effort:
    """How much more may be worked out; what is left open then counts as possible. Steps, so that every check agrees."""

    __slots__ = ("left",)

    def __init__(self, left: int = EFFORT) -> None:
        self.left = left

    def take(self, steps: int) -> bool:
        """Whether so many steps may be taken."""
        self.left -= steps
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under what the conditions of a promotion are read.

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
class Clash:
    """Conditions, the fewest, that cannot all hold, or only for values that make no sense."""

    outlook: Outlook
    literals: tuple[Literal, ...]


def literals_of(groups: Sequence[Group]) -> tuple[tuple[Literal, ...], ...]:
    """The AND groups of a promotion, numbered through."""
    found: list[tuple[Literal, ...]] = []
    place = 0
    for group in groups:
        found.append(tuple([Literal(negated, one, place + number) for number, (negated, one) in enumerate(group)]))
        place += len(group)
    return tuple(found)


def clashes(group: Sequence[Literal], given: Circumstances) -> list[Clash]:
    """What keeps an AND group from ever holding, one clash for each thing that its conditions are about."""
    found: list[Clash] = []
    for solve, literals in _by_matter(group):
        outlook = _solved(solve, literals, given)
        if outlook is not Outlook.POSSIBLE:
            found.append(Clash(outlook, _fewest(solve, literals, given, outlook)))
    return found


def outlook_of(group: Sequence[Literal], given: Circumstances, about: Sequence[Literal] = ()) -> Outlook:
    """Whether an AND group can hold at all; with ``about``, only the things that those of its literals speak of."""
    wanted = {id(one) for one in about}
    matters = _by_matter(group)
    if wanted:
        matters = [(solve, each) for solve, each in matters if any(id(one) in wanted for one in each)]
    return min([_solved(solve, literals, given) for solve, literals in matters], default=Outlook.POSSIBLE)


def _solved(solve: Solve, literals: Sequence[Literal], given: Circumstances) -> Outlook:
    return solve(literals, given) if given.effort.take(_steps(solve, literals, given)) else Outlook.POSSIBLE


def _steps(solve: Solve, literals: Sequence[Literal], given: Circumstances) -> int:
    """About how much there is to do."""
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
    """The conditions of a group by what they are about."""
    matters: dict[Hashable, tuple[Solve, list[Literal]]] = {}
    lines = [one for one in group if isinstance(one.condition, NamedLines)]
    for one in group:
        family = FAMILIES.get(type(one.condition))
        if family is not None:
            matter, solve = family(one.condition)
            matters.setdefault(matter, (solve, []))[1].append(one)
    for matter, (_, literals) in matters.items():
        # How much of the named lines there must be bounds what is summed over all lines.
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
        return Outlook.POSSIBLE  # there need not be any account
    return _sure(_solve_spans(literals, ANY, _ranges_of_points))


def _ranges_of_points(condition: Condition) -> Sequence[Bounds]:
    return condition.ranges if isinstance(condition, LoyaltyAccount) else ()


def _amount(literals: Sequence[Literal], given: Circumstances) -> Outlook:
    own = [one for one in literals if isinstance(one.condition, ReceiptAmount)]
    if not own:
        return Outlook.POSSIBLE
    for exponent in given.exponents:
        least = 0
        if given.is_additive:  # else the amount is what earlier promotions left
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
        return Outlook.POSSIBLE  # which is told by itself
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


def _text_family(code: str, pick: Callable[[Condition], TextTest | None]) -> Family:
    solve = _tests(pick)
    return lambda condition: (code, solve)


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


FAMILIES: dict[type[Condition], Family] = {
    Article: lambda one: ("LINES", _lines),
    ArticleList: lambda one: ("LINES", _lines),
    ArticleGroup: lambda one: ("LINES", _lines),
    Manufacturer: lambda one: ("LINES", _lines),
    AdditionalField: lambda one: ("LINES", _lines),
    ItemQuantity: _of_quantity,
    ReceiptAmount: lambda one: ("AMOUNT", _amount),
    ManualDiscount: lambda one: ("MANUAL", _manual),
    CustomerIs: _text_family("CUSTOMER", _test_of),
    CustomerGroup: _text_family("CUSTOMER_GROUP", _test_of),
    LoyaltyAccount: _of_account,
    PaymentMeans: _text_family("PAYMENT_MEANS", _test_of),
    PaymentCard: _text_family("PAYMENT_CARD", _test_of),
    CreditCardBin: lambda one: ("CREDIT_CARD_BIN", _cards),
    Channel: _text_family("CHANNEL", _test_of),
    TimeWindow: lambda one: ("TIME", _times),
    TimePeriod: lambda one: ("TIME", _times),
    UserDefined: _of_field,
}
