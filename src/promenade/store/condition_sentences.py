"""A condition in words that a retailer reads, such as ``Customer group is one of GOLD, SILVER``.

Each type of condition has its sentence, by what its fields mean to the engine (pricing semantics, section 3). What is
missing is said to be missing: a condition that is being written is read too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal, InvalidOperation

from promenade.engine.conditions import customer
from promenade.engine.definition import ConditionRow, DefinitionError

__all__ = ["Facts", "sentence"]

_MISSING = "(not given)"
_LISTED = 5
_DAYS = {
    "MON": "Mondays",
    "TUE": "Tuesdays",
    "WED": "Wednesdays",
    "THU": "Thursdays",
    "FRI": "Fridays",
    "SAT": "Saturdays",
    "SUN": "Sundays",
}
_RUN_MIN = 3  # so many days on end are told by the first and the last
_ORDERS = {"GREATER_THAN": "more than", "LESS_THAN": "less than", "GTE": "at least", "LTE": "at most"}
_TESTS = {"CONTAINS": "contains", "STARTS_WITH": "starts with"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a condition: its fields, the first items of its lists and how many there are.

    ``article_name`` and ``article_group_name`` are from master data, null where nothing is known.
    """

    logical_connector: str | None = "AND"
    condition_type: str | None
    operator: str | None = None
    value_category: str | None = None
    value: str | None = None
    value_to: str | None = None
    values: tuple[str, ...] = ()
    value_count: int = 0
    article_number: str | None = None
    article_name: str | None = None
    articles: tuple[str, ...] = ()
    article_count: int = 0
    article_group: str | None = None
    article_group_name: str | None = None
    include_sub_groups: bool = False
    manufacturer: str | None = None
    field_name: str | None = None
    min_quantity: Decimal | None = None
    min_amount: Decimal | None = None
    time_from: time | None = None
    time_to: time | None = None
    weekdays: str | None = None
    date_from: date | None = None
    date_to: date | None = None


def sentence(facts: Facts) -> str:
    """The condition in words, without a full stop."""
    worded = _SENTENCES.get(facts.condition_type or "")
    said = worded(facts) if worded is not None else f"Condition of type {facts.condition_type or _MISSING}"
    return f"Not: {said}" if facts.logical_connector == "NOT" else said


# ---- values -------------------------------------------------------------------------------------------------------


def _told(items: tuple[str, ...], count: int) -> str:
    """``GOLD``, ``one of GOLD, SILVER``, ``one of A, B, C, D, E and 3 more``."""
    if not items:
        return _MISSING
    shown = items[:_LISTED]
    more = count - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    return listed if count == 1 else f"one of {listed}"


def _operands(facts: Facts) -> tuple[tuple[str, ...], int]:
    """The value and the value list, and how many they are."""
    own = (facts.value,) if facts.value else ()
    return (*own, *facts.values), len(own) + facts.value_count


def _test(facts: Facts, *, equals: str = "is") -> str:
    """The comparison of a text: ``is one of GOLD, SILVER``, ``starts with 47``, ``is between A and F``."""
    operator = facts.operator or "EQUALS"
    if operator == "BETWEEN":
        return f"is between {facts.value or _MISSING} and {facts.value_to or _MISSING}"
    operands = _told(*_operands(facts))
    if operator in _ORDERS:
        return f"is {_ORDERS[operator]} {operands}"
    return f"{_TESTS.get(operator, equals)} {operands}"


def _measure(facts: Facts, fallback: Decimal | None, shown: Callable[[str], str]) -> str:
    """The comparison of a number: ``at least 50.00``, ``between 50.00 and 100.00``."""
    operator = facts.operator or "GTE"
    if operator == "BETWEEN":
        return f"between {shown(facts.value or _MISSING)} and {shown(facts.value_to or _MISSING)}"
    operands, count = _operands(facts)
    if not operands and fallback is not None:
        operands, count = (format(fallback, "f"),), 1
    order = _ORDERS.get(operator, "exactly" if operator == "EQUALS" else _TESTS.get(operator, ""))
    return f"{order} {_told(tuple(map(shown, operands)), count)}"


def _amount(text: str) -> str:
    """An amount with two decimals, or more where it has more."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number) >= Decimal(10) ** 20:
        return text
    return f"{number:.2f}" if number == round(number, 2) else format(number.normalize(), "f")


def _plain(text: str) -> str:
    """A number without decimals that say nothing."""
    return text.rstrip("0").rstrip(".") if "." in text and text.replace(".", "", 1).isdigit() else text


# ---- lines --------------------------------------------------------------------------------------------------------


def _named(number: str, name: str | None) -> str:
    return f"{number} ({name})" if name and name != number else number


def _of_lines(facts: Facts, what: str, several: str) -> str:
    """What the basket holds; ``what`` for one of it, ``several`` for a number of pieces of it."""
    parts = ["Basket holds", what]
    if facts.min_quantity:
        quantity = _plain(format(facts.min_quantity, "f"))
        parts = [f"Basket holds at least {quantity} {'piece' if quantity == '1' else 'pieces'} of {several}"]
    if facts.min_amount:
        parts.append(f"worth at least {_amount(format(facts.min_amount, 'f'))}")
    return " ".join(parts)


def _article(facts: Facts) -> str:
    own = (_named(facts.article_number, facts.article_name),) if facts.article_number else ()
    items, count = (*own, *facts.articles), len(own) + facts.article_count
    if not items:
        if facts.operator not in (None, "EQUALS"):
            of = f"whose number {_test(facts)}"
            return _of_lines(facts, f"an article {of}", f"articles {of}")
        items, count = _operands(facts)
    said = f"article {_told(items, count)}" if count <= 1 else f"any of the articles {_listed(items, count)}"
    return _of_lines(facts, said, said)


def _article_group(facts: Facts) -> str:
    below = " or a group below" if facts.include_sub_groups else ""
    if facts.article_group:
        said = f"article group {_named(facts.article_group, facts.article_group_name)}"
    elif facts.operator in (None, "EQUALS"):
        items, count = _operands(facts)
        said = f"article group {_told(items, count)}" if count <= 1 else f"the article groups {_listed(items, count)}"
    else:
        said = f"an article group whose number {_test(facts)}"
    return _of_lines(facts, f"an article of {said}{below}", f"articles of {said}{below}")


def _manufacturer(facts: Facts) -> str:
    if facts.manufacturer:
        said = f"manufacturer {facts.manufacturer}"
    elif facts.operator in (None, "EQUALS"):
        items, count = _operands(facts)
        said = f"manufacturer {_told(items, count)}" if count <= 1 else f"the manufacturers {_listed(items, count)}"
    else:
        said = f"a manufacturer whose name {_test(facts)}"
    return _of_lines(facts, f"an article of {said}", f"articles of {said}")


def _additional_field(facts: Facts) -> str:
    of = f"whose field {facts.field_name or _MISSING} {_test(facts)}"
    return _of_lines(facts, f"an article {of}", f"articles {of}")


def _listed(items: tuple[str, ...], count: int) -> str:
    return _told(items, count).removeprefix("one of ")


# ---- the rest -----------------------------------------------------------------------------------------------------


def _receipt_amount(facts: Facts) -> str:
    return f"Basket is worth {_measure(facts, facts.min_amount, _amount)}"


def _item_quantity(facts: Facts) -> str:
    measured = _measure(facts, facts.min_quantity, _plain)
    return f"Basket holds {measured} {'piece' if measured.endswith(' 1') else 'pieces'}"


def _loyalty_account(facts: Facts) -> str:
    if _is_about_points(facts):
        return f"Customer has {_measure(facts, None, _plain)} loyalty points"
    return f"Loyalty tier {_test(facts)}"


def _is_about_points(facts: Facts) -> bool:
    """As the engine takes it."""
    row = ConditionRow(
        id="", sequence=0, connector="AND", condition_type="LOYALTY_ACCOUNT", operator=facts.operator,
        value_category=facts.value_category, value=facts.value, value_to=facts.value_to, field_name=facts.field_name,
        values=facts.values,
    )  # fmt: skip
    try:
        return customer.LoyaltyAccount.parse(row).points is not None
    except DefinitionError:
        return (facts.field_name or "").casefold() == "points"


def _credit_card_bin(facts: Facts) -> str:
    if facts.operator in (None, "EQUALS", "STARTS_WITH"):
        return f"Card number starts with {_told(*_operands(facts))}"
    if facts.operator == "CONTAINS":
        return f"The first digits of the card number contain {_told(*_operands(facts))}"
    return f"The first digits of the card number {_test(facts).replace('is ', 'are ', 1)}"


def _manual_discount(facts: Facts) -> str:
    of = f" whose reason {_test(facts)}" if _operands(facts)[1] else ""
    return f"The till gave a manual discount{of}"


def _time_window(facts: Facts) -> str:
    days = _weekdays(facts.weekdays)
    start, end = facts.time_from or time(0), facts.time_to or time(0)
    if start == end:
        if start == time(0):
            return days
        return f"{days} from {start:%H:%M} for 24 hours"
    if start < end:
        return f"{days} between {start:%H:%M} and {end:%H:%M}"
    until = "midnight" if end == time(0) else f"{end:%H:%M} on the next day"
    return f"{days} from {start:%H:%M} until {until}"


def _weekdays(names: str | None) -> str:
    """``Mondays to Fridays``, ``Mondays, Wednesdays and Sundays``; of all or none ``Every day``."""
    given = {one.strip().upper() for one in (names or "").split(",") if one.strip()}
    order = list(_DAYS)
    chosen = [at for at, name in enumerate(order) if name in given]
    if not given or len(chosen) == len(order):
        return "Every day"
    if not chosen:
        return _MISSING
    if len(chosen) >= _RUN_MIN and chosen[-1] - chosen[0] == len(chosen) - 1:
        return f"{_DAYS[order[chosen[0]]]} to {_DAYS[order[chosen[-1]]]}"
    *most, last = [_DAYS[order[at]] for at in chosen]
    return f"{', '.join(most)} and {last}" if most else last


def _time_period(facts: Facts) -> str:
    first, last = (
        None if one is None else f"{one.day} {one:%B} {one.year}" for one in (facts.date_from, facts.date_to)
    )
    if first is not None and last is not None:
        return f"On {first}" if first == last else f"From {first} until {last}"
    if first is None and last is None:
        return f"Date is {_MISSING}"
    return f"From {first} on" if first is not None else f"Until {last}"


def _text(subject: str) -> Callable[[Facts], str]:
    return lambda facts: f"{subject} {_test(facts)}"


_SENTENCES: Mapping[str, Callable[[Facts], str]] = {
    "ARTICLE": _article,
    "ARTICLE_LIST": _article,
    "ARTICLE_GROUP": _article_group,
    "MANUFACTURER": _manufacturer,
    "ADDITIONAL_FIELD": _additional_field,
    "RECEIPT_AMOUNT": _receipt_amount,
    "ITEM_QUANTITY": _item_quantity,
    "CUSTOMER": _text("Customer"),
    "CUSTOMER_GROUP": _text("Customer group"),
    "LOYALTY_ACCOUNT": _loyalty_account,
    "PAYMENT_MEANS": _text("Means of payment"),
    "PAYMENT_CARD": _text("Kind of card"),
    "CREDIT_CARD_BIN": _credit_card_bin,
    "CHANNEL": _text("Channel"),
    "USER_DEFINED": lambda facts: f"Field {facts.field_name or _MISSING} of the sale {_test(facts)}",
    "MANUAL_DISCOUNT": _manual_discount,
    "TIME_WINDOW": _time_window,
    "TIME_PERIOD": _time_period,
}
