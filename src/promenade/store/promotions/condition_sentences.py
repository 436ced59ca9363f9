"""A condition in words that a retailer reads, such as ``Customer group is one of GOLD, SILVER``.

The sentences of each type of condition are in `model.texts.conditions`; this fills their places, by what the fields
mean to the engine (pricing semantics, section 3). Missing values are said to be missing: drafts are read too.

What is told of a condition is gathered by the statement that reads it: the expression is one list of JSON, with the
first items of the condition's lists and their number, and the names of the article and the group it speaks of. Its type
turns that into a sentence as the row is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from promenade.engine.conditions import condition_types, customer
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.model.texts.conditions import CONDITIONS
from promenade.model.texts.rules import Sentences
from promenade.store.driver.schema import table

_MISSING = "(not given)"
_ONE = "an article "
_PLACE = re.compile(r"\{(\w+)\}")
_LISTED = 5
"""So many items of a list are read; of more only the number is told."""
_DAYS = {
    "MON": "Mondays",
    "TUE": "Tuesdays",
    "WED": "Wednesdays",
    "THU": "Thursdays",
    "FRI": "Fridays",
    "SAT": "Saturdays",
    "SUN": "Sundays",
}
_RUN_MIN = 3  # from this many consecutive days on, only the first and the last are named
_ORDERS = {"GREATER_THAN": "more than", "LESS_THAN": "less than", "GTE": "at least", "LTE": "at most"}
_TESTS = {"CONTAINS": "contains", "STARTS_WITH": "starts with"}


class Part(NamedTuple):
    """The text for a placeholder; if it is unknown, another sentence is used."""

    text: str
    is_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a condition: its fields, the first items of its lists and their counts.

    ``article_name`` and ``article_group_name`` are from master data, null if unknown.
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
    """Return the condition in words, without a full stop."""
    code = facts.condition_type or ""
    words = CONDITIONS.get(code)
    if words is None:
        said = f"Condition of type {facts.condition_type or _MISSING}"
    else:
        said = _filled(words.summary or words.en.says, facts)
        if condition_types()[code].form.is_about_lines:
            said = _of_lines(facts, said)
    return f"Not: {said}" if facts.logical_connector == "NOT" else said


def _filled(sentences: Sentences, facts: Facts) -> str:
    """Return the first sentence whose parts are all known, else the last one, naming the missing parts as missing."""
    templates = (sentences,) if isinstance(sentences, str) else sentences
    for template in templates[:-1]:
        parts = [PARTS[name](facts) for name in _names(template)]
        if all(part.is_known for part in parts):
            return _with(template, parts)
    return _with(templates[-1], [PARTS[name](facts) for name in _names(templates[-1])])


@cache
def _names(template: str) -> tuple[str, ...]:
    return tuple(_PLACE.findall(template))


def _with(template: str, parts: list[Part]) -> str:
    said = iter(parts)
    return _PLACE.sub(lambda _: next(said).text, template)


# ---- values -------------------------------------------------------------------------------------------------------


def _joined_items(items: tuple[str, ...], count: int) -> str:
    """Return ``GOLD``, ``one of GOLD, SILVER``, ``one of A, B, C, D, E and 3 more``."""
    if not items:
        return _MISSING
    shown = items[:_LISTED]
    more = count - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more > 0 else "")
    return listed if count == 1 else f"one of {listed}"


def _operands(facts: Facts) -> tuple[tuple[str, ...], int]:
    """Return the value and the value list, and their total count."""
    own = (facts.value,) if facts.value else ()
    return (*own, *facts.values), len(own) + facts.value_count


def _test(facts: Facts, *, equals: str = "is") -> str:
    """Return the comparison of a text: ``is one of GOLD, SILVER``, ``starts with 47``, ``is between A and F``."""
    operator = facts.operator or "EQUALS"
    if operator == "BETWEEN":
        return f"is between {facts.value or _MISSING} and {facts.value_to or _MISSING}"
    operands = _joined_items(*_operands(facts))
    if operator in _ORDERS:
        return f"is {_ORDERS[operator]} {operands}"
    return f"{_TESTS.get(operator, equals)} {operands}"


def _measure(facts: Facts, fallback: Decimal | None, shown: Callable[[str], str]) -> str:
    """Return the comparison of a number: ``at least 50.00``, ``between 50.00 and 100.00``."""
    operator = facts.operator or "GTE"
    if operator == "BETWEEN":
        return f"between {shown(facts.value or _MISSING)} and {shown(facts.value_to or _MISSING)}"
    operands, count = _operands(facts)
    if not operands and fallback is not None:
        operands, count = (format(fallback, "f"),), 1
    order = _ORDERS.get(operator, "exactly" if operator == "EQUALS" else _TESTS.get(operator, ""))
    return f"{order} {_joined_items(tuple(map(shown, operands)), count)}"


def _amount(text: str) -> str:
    """Format an amount with two decimals, or more if it has more."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number) >= Decimal(10) ** 20:
        return text
    return f"{number:.2f}" if number == round(number, 2) else format(number.normalize(), "f")


def _plain(text: str) -> str:
    """Format a number without trailing zeros."""
    return text.rstrip("0").rstrip(".") if "." in text and text.replace(".", "", 1).isdigit() else text


# ---- lines --------------------------------------------------------------------------------------------------------


def _named(number: str, name: str | None) -> str:
    return f"{number} ({name})" if name and name != number else number


def _of_lines(facts: Facts, what: str) -> str:
    """Return what the basket must contain; ``what`` is one such item, such as ``an article of manufacturer ACME``."""
    parts = ["Basket holds", what]
    if facts.min_quantity:
        quantity = _plain(format(facts.min_quantity, "f"))
        several = f"articles {what.removeprefix(_ONE)}" if what.startswith(_ONE) else what
        parts = [f"Basket holds at least {quantity} {'piece' if quantity == '1' else 'pieces'} of {several}"]
    if facts.min_amount:
        parts.append(f"worth at least {_amount(format(facts.min_amount, 'f'))}")
    return " ".join(parts)


def _articles(facts: Facts) -> Part:
    own = (_named(facts.article_number, facts.article_name),) if facts.article_number else ()
    items, count = (*own, *facts.articles), len(own) + facts.article_count
    return _which(items, count, facts, "article {}", "any of the articles {}")


def _groups(facts: Facts) -> Part:
    own = (_named(facts.article_group, facts.article_group_name),) if facts.article_group else ()
    return _which(own, len(own), facts, "article group {}", "the article groups {}")


def _manufacturers(facts: Facts) -> Part:
    own = (facts.manufacturer,) if facts.manufacturer else ()
    return _which(own, len(own), facts, "manufacturer {}", "the manufacturers {}")


def _which(items: tuple[str, ...], count: int, facts: Facts, one: str, several: str) -> Part:
    """Return the named items, else the values of an equality; unknown if the values are compared in another way."""
    if not items:
        if facts.operator not in (None, "EQUALS"):
            return Part("", False)
        items, count = _operands(facts)
    return Part(one.format(_joined_items(items, count)) if count <= 1 else several.format(_listed(items, count)))


def _listed(items: tuple[str, ...], count: int) -> str:
    return _joined_items(items, count).removeprefix("one of ")


# ---- the rest -----------------------------------------------------------------------------------------------------


def _pieces(facts: Facts) -> Part:
    measured = _measure(facts, facts.min_quantity, _plain)
    return Part(f"{measured} {'piece' if measured.endswith(' 1') else 'pieces'}")


def _is_about_points(facts: Facts) -> bool:
    """Return whether the condition is about points, by the engine's rule."""
    row = ConditionRow(
        id="", sequence=0, connector="AND", condition_type="LOYALTY_ACCOUNT", operator=facts.operator,
        value_category=facts.value_category, value=facts.value, value_to=facts.value_to, field_name=facts.field_name,
        values=facts.values,
    )  # fmt: skip
    try:
        return customer.LoyaltyAccount.parse(row).points is not None
    except DefinitionError:
        return (facts.field_name or "").casefold() == "points"


def _prefix(facts: Facts) -> Part:
    """Return a card number's first digits; unknown if they are compared in another way."""
    is_start = facts.operator in (None, "EQUALS", "STARTS_WITH")
    return Part(f"starts with {_joined_items(*_operands(facts))}", is_start)


def _digits(facts: Facts) -> Part:
    if facts.operator == "CONTAINS":
        return Part(f"contain {_joined_items(*_operands(facts))}")
    return Part(_test(facts).replace("is ", "are ", 1))


def _hours(facts: Facts) -> Part:
    days = _weekdays(facts.weekdays)
    start, end = facts.time_from or time(0), facts.time_to or time(0)
    if start == end:
        return Part(days if start == time(0) else f"{days} from {start:%H:%M} for 24 hours")
    if start < end:
        return Part(f"{days} between {start:%H:%M} and {end:%H:%M}")
    until = "midnight" if end == time(0) else f"{end:%H:%M} on the next day"
    return Part(f"{days} from {start:%H:%M} until {until}")


def _weekdays(names: str | None) -> str:
    """Return ``Mondays to Fridays``, ``Mondays, Wednesdays and Sundays``; for all or no days ``Every day``."""
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


def _date(day: date | None) -> Part:
    return Part(_MISSING, False) if day is None else Part(f"{day.day} {day:%B} {day.year}")


def _only_day(facts: Facts) -> Part:
    """Return the day of a one-day period."""
    return _date(facts.date_from if facts.date_from == facts.date_to else None)


PARTS: Mapping[str, Callable[[Facts], Part]] = {
    "articles": _articles,
    "groups": _groups,
    "below": lambda facts: Part(" or a group below" if facts.include_sub_groups else ""),
    "manufacturers": _manufacturers,
    "field": lambda facts: Part(facts.field_name or _MISSING),
    "test": lambda facts: Part(_test(facts), _operands(facts)[1] > 0),
    "amount": lambda facts: Part(_measure(facts, facts.min_amount, _amount)),
    "count": lambda facts: Part(_measure(facts, None, _plain)),
    "pieces": _pieces,
    "points": lambda facts: Part(_measure(facts, None, _plain), _is_about_points(facts)),
    "prefix": _prefix,
    "digits": _digits,
    "hours": _hours,
    "day": _only_day,
    "dateFrom": lambda facts: _date(facts.date_from),
    "dateTo": lambda facts: _date(facts.date_to),
}
"""What the places of a summary are filled with."""


# ---- what the statement that reads a condition gathers of it --------------------------------------------------------


_TEXTS = ("logical_connector", "condition_type", "operator", "value_category", "value", "value_to", "manufacturer")
_MORE_TEXTS = ("field_name", "weekdays")
_SCALES = {"min_quantity": 3, "min_amount": 2}


def condition_summary(source: sa.FromClause) -> sa.ColumnElement[Any]:
    """Return the expression for a condition in words, over (an alias of) the rows of Conditions."""
    values, articles = table("ConditionValueListItems"), table("ConditionArticleListItems")
    named = sa.func.coalesce(articles.c.article_number, articles.c.ean)
    article = sa.func.coalesce(source.c.article_number, _of("Articles", source.c.article_id, "article_number", source))
    group = sa.func.coalesce(
        source.c.article_group_key, _of("ArticleGroups", source.c.article_group_id, "group_id", source)
    )
    return _FactsAsJson(
        *(source.c[name] for name in (*_TEXTS, *_MORE_TEXTS)),
        *(sa.cast(source.c[name], sa.Text()) for name in _SCALES),
        *(sa.cast(source.c[name], sa.Text()) for name in ("time_from", "time_to", "date_from", "date_to")),
        source.c.include_sub_groups,
        article,
        _name("Articles", source.c.article_id, "article_number", source.c.article_number, source),
        group,
        _name("ArticleGroups", source.c.article_group_id, "group_id", source.c.article_group_key, source),
        _first(values, values.c.value, source),
        _number_of(values, source),
        _first(articles, named, source),
        _number_of(articles, source),
    )


def _of(set_name: str, key: sa.ColumnElement[Any], column: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    """Select a column of the row that ``key`` refers to."""
    rows = table(set_name)
    return (
        sa.select(rows.c[column])
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c.id == key)
        .correlate(source)
        .scalar_subquery()
    )


def _name(
    set_name: str, key: sa.ColumnElement[Any], number: str, said: sa.ColumnElement[Any], source: sa.FromClause
) -> sa.ColumnElement[Any]:
    """Select the name of an article or group: by ``said`` (its number) if that is set, else by ``key``."""
    rows = table(set_name)
    by_number = (
        sa.select(rows.c.name)
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c[number] == said)
        .correlate(source)
        .scalar_subquery()
    )
    return sa.case((said.is_(None), _of(set_name, key, "name", source)), else_=by_number)


def _first(items: sa.Table, shown: sa.ColumnElement[Any], source: sa.FromClause) -> sa.ColumnElement[Any]:
    """Select the first few items of a condition's list as a JSON list."""
    some = (
        sa.select(shown.label("item"))
        .where(items.c.tenant_id == source.c.tenant_id, items.c.condition_id == source.c.id)
        .order_by(shown)
        .limit(sa.literal_column(str(_LISTED)))
        .correlate(source)
        .subquery("some")
    )
    return sa.select(_List(some.c.item)).scalar_subquery()


def _number_of(items: sa.Table, source: sa.FromClause) -> sa.ColumnElement[Any]:
    return (
        sa.select(sa.func.count())
        .select_from(items)
        .where(items.c.tenant_id == source.c.tenant_id, items.c.condition_id == source.c.id)
        .correlate(source)
        .scalar_subquery()
    )


class _List(FunctionElement[Any]):
    """The texts of a group as a JSON list."""

    inherit_cache = True
    type = sa.Text()


@compiles(_List)
def _list(element: _List, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_group_array({compiler.process(element.clauses, **kw)})"


@compiles(_List, "postgresql")
def _list_of_postgresql(element: _List, compiler: SQLCompiler, **kw: Any) -> str:
    item = compiler.process(element.clauses, **kw)
    return f"coalesce(json_agg({item} ORDER BY {item}), '[]')"


class _Sentence(TypeDecorator[str]):
    """A column type that reads the facts as a sentence."""

    impl = sa.Text
    cache_ok = True

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else sentence(_read(value, whole=dialect.name == "sqlite"))


class _FactsAsJson(FunctionElement[str]):
    """A list of JSON of its arguments."""

    inherit_cache = True
    type = _Sentence()


@compiles(_FactsAsJson)
def _facts(element: _FactsAsJson, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_array({compiler.process(element.clauses, **kw)})"


@compiles(_FactsAsJson, "postgresql")
def _facts_of_postgresql(element: _FactsAsJson, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_build_array({compiler.process(element.clauses, **kw)})::text"


def _read(text: str, *, whole: bool) -> Facts:
    """The facts of a row; ``whole``: numbers are kept as whole ones, see `store.driver.types`."""
    row = msgspec.json.decode(text)
    texts = dict(zip((*_TEXTS, *_MORE_TEXTS), row, strict=False))
    rest = row[len(texts) :]
    quantity, amount = (
        None if one is None else Decimal(one).scaleb(-scale if whole else 0)
        for one, scale in zip(rest[:2], _SCALES.values(), strict=True)
    )
    time_from, time_to = (None if one is None else time.fromisoformat(one) for one in rest[2:4])
    date_from, date_to = (None if one is None else date.fromisoformat(one) for one in rest[4:6])
    sub_groups, article, article_name, group, group_name, values, value_count, articles, article_count = rest[6:]
    return Facts(
        **texts,
        min_quantity=quantity,
        min_amount=amount,
        time_from=time_from,
        time_to=time_to,
        date_from=date_from,
        date_to=date_to,
        include_sub_groups=bool(sub_groups),
        article_number=article,
        article_name=article_name,
        article_group=group,
        article_group_name=group_name,
        values=_items(values),
        value_count=value_count,
        articles=_items(articles),
        article_count=article_count,
    )


def _items(found: str | list[str | None]) -> tuple[str, ...]:
    """Return the items of a list; SQLite returns a JSON list from a subquery as text."""
    items = msgspec.json.decode(found) if isinstance(found, str) else found
    return tuple(item or "" for item in items)
