"""Whether a promotion's conditions hold, which lines qualify and how often its thresholds are met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from math import ceil
from typing import Any
from zoneinfo import ZoneInfo

from promenade.engine.definition import ArticleRow, ConditionRow, PromotionDefinition
from tests.engine.reference.sale import Line, Piece, Sale

ARTICLE_LIKE = {"ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "MANUFACTURER"}
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


class Threshold:
    """A threshold for the pieces of some lines: a quantity, or an amount (original, or left at this point)."""

    def __init__(self, goal: Fraction, lines: list[Line], worth: Callable[[Piece], Fraction]) -> None:
        self.goal = goal
        self.worth = {piece: worth(piece) for line in lines for piece in line.pieces}

    def times(self, without: set[Piece]) -> int:
        reached = sum((worth for piece, worth in self.worth.items() if piece not in without), Fraction(0))
        return int(reached // self.goal)


@dataclass
class Answer:
    """The verdict of one condition: whether it holds, and the lines it matched (None: it is not about lines)."""

    holds: bool
    lines: set[int] | None = None
    thresholds: list[Threshold] = field(default_factory=list)


@dataclass
class Qualification:
    """The result of a qualifying promotion: its lines, and what determines how often its conditions are met."""

    lines: list[Line]
    thresholds: list[Threshold]
    needs: list[list[Line]] = field(default_factory=list)  # lines of conditions that only require something to be there

    def weights(self, piece: Piece) -> list[Fraction]:
        """Return what the piece adds to each threshold; pieces that trigger least become free first."""
        weights = [threshold.worth.get(piece, Fraction(0)) for threshold in self.thresholds]
        return weights + [Fraction(any(piece in line.pieces for line in lines)) for lines in self.needs]

    def times(self, without: set[Piece]) -> int:
        """Return how often the other pieces meet the conditions: a unit is either trigger or free."""
        for lines in self.needs:
            if not any(piece not in without for line in lines for piece in line.pieces):
                return 0
        return min((threshold.times(without) for threshold in self.thresholds), default=1)


def qualify(sale: Sale, promotion: PromotionDefinition) -> Qualification | None:
    """Return the promotion's qualification at this point of the sale, None if its conditions do not hold."""
    groups: list[list[ConditionRow]] = []
    for row in sorted(promotion.conditions, key=lambda each: each.sequence):
        if not groups or row.connector == "OR":
            groups.append([row])
        else:
            groups[-1].append(row)
    if not groups:
        return Qualification(sale.sale_lines, [])
    matched: set[int] = set()
    thresholds: list[Threshold] = []
    alternatives: list[list[list[Line]]] = []  # of each group that holds
    for group in groups:
        answers = [CONDITIONS[row.condition_type].ask(sale, promotion, row, group) for row in group]
        if not all(answer.holds != (row.connector == "NOT") for row, answer in zip(group, answers, strict=True)):
            continue
        alternatives.append([])
        for row, answer in zip(group, answers, strict=True):
            if row.connector != "NOT":
                matched |= answer.lines or set()
                thresholds += answer.thresholds
                if answer.lines and not answer.thresholds:
                    alternatives[-1].append([line for line in sale.sale_lines if line.index in answer.lines])
    if not alternatives:
        return None
    lines = [line for line in sale.sale_lines if not matched or line.index in matched]
    needs = alternatives[0]
    if len(alternatives) > 1:  # one line of any group is enough; none is needed if one group requires none
        needs = [[line for each in alternatives for some in each for line in some]] if all(alternatives) else []
    return Qualification(lines, thresholds, needs)


def original(piece: Piece) -> Fraction:
    return piece.price


def remaining(piece: Piece) -> Fraction:
    return piece.left


def _wanted(row: ConditionRow) -> list[str]:
    return ([row.value] if row.value is not None else []) + list(row.values)


def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None


def _holds(operator: str, said: str | Fraction, wanted: str | Fraction) -> bool:
    left, right = (said, wanted) if type(said) is type(wanted) else (str(said), str(wanted))
    outcomes: dict[str, bool] = {
        "EQUALS": left == right,
        "GREATER_THAN": left > right,  # type: ignore[operator]
        "LESS_THAN": left < right,  # type: ignore[operator]
        "GTE": left >= right,  # type: ignore[operator]
        "LTE": left <= right,  # type: ignore[operator]
    }
    return outcomes[operator]


def compare(row: ConditionRow, said: str | None, default: str = "EQUALS") -> bool:
    """Return whether the request's value satisfies the row's operator for any of its values; false if it has none."""
    operator = row.operator or default
    if said is None:
        return False
    if operator == "CONTAINS":
        return any(value in said for value in _wanted(row))
    if operator == "STARTS_WITH":
        return any(said.startswith(value) for value in _wanted(row))
    if operator == "BETWEEN":
        if row.value is None or row.value_to is None:
            return False
        return _compare_one("GTE", said, row.value) and _compare_one("LTE", said, row.value_to)
    return any(_compare_one(operator, said, value) for value in _wanted(row))


def same(said: str, wanted: str) -> bool:
    """Return whether two texts are equal, as numbers if both are."""
    return _compare_one("EQUALS", said, wanted)


def _compare_one(operator: str, said: str, wanted: str) -> bool:
    left, right = _number(said), _number(wanted)
    if left is not None and right is not None:
        return _holds(operator, left, right)
    return _holds(operator, said, wanted)


def in_list(line: Line, rows: tuple[ArticleRow, ...]) -> ArticleRow | None:
    """Return the first row that names the line, by article number, otherwise by EAN."""
    for row in rows:
        if row.article_number is not None:
            if row.article_number == line.row.article_number:
                return row
        elif row.ean is not None and row.ean == line.row.ean:
            return row
    return None


def _matches(sale: Sale, row: ConditionRow, line: Line) -> bool:
    kind = row.condition_type
    if kind == "ARTICLE":
        if row.article_number is not None:
            return line.row.article_number == row.article_number
        return compare(row, line.row.article_number)
    if kind == "ARTICLE_GROUP":
        if row.article_group_id is not None:
            return sale.in_group(line, row.article_group_id, row.include_sub_groups)
        return any(sale.in_group(line, value, row.include_sub_groups) for value in _wanted(row))
    if kind == "ARTICLE_LIST":
        if row.articles:
            return in_list(line, row.articles) is not None
        return compare(row, line.row.article_number)
    if row.manufacturer is not None:
        return line.maker == row.manufacturer
    return compare(row, line.maker)


def _weight(sale: Sale) -> Callable[[Piece], Fraction]:
    return lambda piece: piece.measure


def _ask_articles(sale: Sale, row: ConditionRow) -> Answer:
    found = [line for line in sale.sale_lines if _matches(sale, row, line)]
    if not found:
        return Answer(False)
    thresholds = []
    if row.min_quantity_thousandths:
        thresholds.append(Threshold(Fraction(row.min_quantity_thousandths, 1000), found, _weight(sale)))
    if row.min_amount_hundredths:
        thresholds.append(Threshold(sale.minor(row.min_amount_hundredths), found, original))
    holds = all(threshold.times(set()) >= 1 for threshold in thresholds)
    return Answer(holds, {line.index for line in found}, thresholds)


def _ask_quantity(sale: Sale, row: ConditionRow, group: list[ConditionRow]) -> Answer:
    restricting = [other for other in group if other.condition_type in ARTICLE_LIKE and other.connector != "NOT"]
    lines = sale.sale_lines
    if restricting:
        lines = [line for line in lines if any(_matches(sale, other, line) for other in restricting)]
    return _ask_number(row, sum((line.quantity for line in lines), Fraction(0)), 1, lines, _weight(sale))


def _ask_amount(sale: Sale, promotion: PromotionDefinition, row: ConditionRow) -> Answer:
    lines = sale.sale_lines
    multiplicative = promotion.calculation_mode == "MULTIPLICATIVE"
    amount = sum(line.left if multiplicative else line.total for line in lines)
    worth = remaining if multiplicative else original
    answer = _ask_number(row, Fraction(amount), 10**sale.exponent, lines, worth)
    for threshold in answer.thresholds:
        threshold.goal = Fraction(ceil(threshold.goal))  # whole minor units (section 1): 19.99 yen becomes 20
    return answer


def _ask_number(
    row: ConditionRow, reached: Fraction, scale: int, lines: list[Line], worth: Callable[[Piece], Fraction]
) -> Answer:
    major = reached / scale
    holds = compare(row, f"{major.numerator}/{major.denominator}", "GTE")
    wanted = [number for value in _wanted(row) if (number := _number(value))]
    thresholds = []
    if holds and row.operator in (None, "GTE", "GREATER_THAN", "BETWEEN", "EQUALS") and wanted:
        thresholds.append(Threshold(min(wanted) * scale, lines, worth))
    return Answer(holds, None, thresholds)


def _ask_clock(sale: Sale, row: ConditionRow) -> bool:
    local: datetime = sale.settings.now.astimezone(ZoneInfo(sale.basket.pos_group.time_zone))
    if row.condition_type == "TIME_PERIOD":
        today = local.date()
        return (row.date_from is None or row.date_from <= today) and (row.date_to is None or today <= row.date_to)
    clock, day = local.time(), local
    begin, end = row.time_from, row.time_to
    if begin is not None and end is not None and end <= begin:  # past midnight
        if clock < end:
            day = local - timedelta(days=1)
        elif clock < begin:
            return False
    elif (begin is not None and clock < begin) or (end is not None and clock >= end):
        return False
    return row.weekdays is None or WEEKDAYS[day.weekday()] in row.weekdays.split(",")


def _ask_field(sale: Sale, promotion: PromotionDefinition, row: ConditionRow, group: list[ConditionRow]) -> Answer:
    found = {
        line.index
        for line in sale.sale_lines
        if any(key == row.field_name and compare(row, value) for key, value in line.row.fields)
    }
    return Answer(bool(found), found)


def _customer(sale: Sale, row: ConditionRow) -> bool:
    customer = sale.basket.customer
    return compare(row, customer.customer_id if customer else None)


def _customer_group(sale: Sale, row: ConditionRow) -> bool:
    customer = sale.basket.customer
    return compare(row, customer.customer_group if customer else None)


def _loyalty_account(sale: Sale, row: ConditionRow) -> bool:
    customer = sale.basket.customer
    if customer is None:
        return False
    if row.operator in ("GTE", "LTE", "BETWEEN", "GREATER_THAN", "LESS_THAN"):
        points = customer.loyalty_points
        return points is not None and compare(row, str(points))
    return compare(row, customer.loyalty_tier)


def _payment_means(sale: Sale, row: ConditionRow) -> bool:
    payment = sale.basket.payment
    return compare(row, payment.payment_means if payment else None)


def _payment_card(sale: Sale, row: ConditionRow) -> bool:
    payment = sale.basket.payment
    return compare(row, payment.card_type if payment else None)


def _credit_card_bin(sale: Sale, row: ConditionRow) -> bool:
    payment = sale.basket.payment
    prefix = payment.card_prefix if payment else None
    return prefix is not None and any(prefix.startswith(value) for value in _wanted(row))


def _channel(sale: Sale, row: ConditionRow) -> bool:
    said = sale.basket.channel
    return said is not None and any(said.casefold() == value.casefold() for value in _wanted(row))


def _user_defined(sale: Sale, row: ConditionRow) -> bool:
    return any(key == row.field_name and compare(row, value) for key, value in sale.basket.user_fields)


def _manual_discount(sale: Sale, row: ConditionRow) -> bool:
    if not sale.basket.manual_discount:
        return False
    return not _wanted(row) or compare(row, sale.basket.manual_discount_reason)


# ---- the types ---------------------------------------------------------------------------------------------------

Ask = Callable[[Sale, PromotionDefinition, ConditionRow, list[ConditionRow]], Answer]


@dataclass(frozen=True)
class Known:
    """A condition type: how it is evaluated, and rows of it for random sales (those about lines are in `made_up`)."""

    ask: Ask
    made_up: tuple[dict[str, Any], ...] = ()


def _request(holds: Callable[[Sale, ConditionRow], bool], *made_up: dict[str, Any]) -> Known:
    """Return a type that is about the request and names no lines."""
    return Known(lambda sale, promotion, row, group: Answer(holds(sale, row)), made_up)


_ARTICLES = Known(lambda sale, promotion, row, group: _ask_articles(sale, row))

CONDITIONS: dict[str, Known] = {
    **dict.fromkeys(sorted(ARTICLE_LIKE), _ARTICLES),
    "ITEM_QUANTITY": Known(lambda sale, promotion, row, group: _ask_quantity(sale, row, group)),
    "RECEIPT_AMOUNT": Known(lambda sale, promotion, row, group: _ask_amount(sale, promotion, row)),
    "ADDITIONAL_FIELD": Known(
        _ask_field,
        (
            {"field_name": "shelf", "value": "3"},
            {"field_name": "shelf", "value": "low"},
            {"field_name": "shelf", "value": "2", "operator": "GTE"},
        ),
    ),
    "CUSTOMER": _request(_customer, {"value": "c-1"}, {"value": "c-2"}),
    "CUSTOMER_GROUP": _request(_customer_group, {"values": ("STAFF", "VIP")}),
    "LOYALTY_ACCOUNT": _request(
        _loyalty_account,
        {"value": "GOLD"},
        {"value": "50", "operator": "GTE"},
        {"value": "50", "operator": "LTE"},
        {"value": "0", "value_to": "99", "operator": "BETWEEN"},
    ),
    "PAYMENT_MEANS": _request(
        _payment_means, {"value": "CA", "operator": "STARTS_WITH"}, {"value": "CA", "operator": "CONTAINS"}
    ),
    "PAYMENT_CARD": _request(_payment_card, {"values": ("VISA", "AMEX")}),
    "CREDIT_CARD_BIN": _request(_credit_card_bin, {"value": "4111"}, {"value": "42"}),
    "CHANNEL": _request(_channel, {"value": "IN_STORE"}, {"value": "ONLINE"}),
    "USER_DEFINED": _request(
        _user_defined,
        {"field_name": "key", "value": "yes"},
        {"field_name": "key", "value": "no"},
        {"field_name": "count", "value": "9", "operator": "GTE"},
        {"field_name": "count", "value": "9", "operator": "LESS_THAN"},
    ),
    "MANUAL_DISCOUNT": _request(_manual_discount, {}, {"values": ("DAMAGED", "LATE")}),
    "TIME_WINDOW": _request(
        _ask_clock,
        {"time_from": time(12), "time_to": time(14)},
        {"time_from": time(20), "time_to": time(13), "weekdays": "FRI"},
        {"time_from": time(20), "time_to": time(13), "weekdays": "SAT,SUN"},
    ),
    "TIME_PERIOD": _request(
        _ask_clock,
        {"date_from": date(2026, 3, 14), "date_to": date(2026, 3, 14)},
        {"date_to": date(2026, 3, 13)},
        {"date_to": date(2026, 4, 1)},
    ),
}
