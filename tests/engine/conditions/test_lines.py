"""Conditions on lines, and ITEM_QUANTITY (section 3)."""

from __future__ import annotations

import pytest

from promenade.engine.conditions import parse_conditions
from promenade.engine.definition import ArticleRow, ConditionRow, DefinitionError
from promenade.engine.verdict import Met, Missed, Trigger
from tests.engine.given import article, check, holds, line, row, view

TREE = {"apples": "fruit", "fruit": "food", "food": None}


def lines_of(condition: ConditionRow, *lines: object, **rest: object) -> tuple[int, ...] | None:
    verdict = check(condition, view(*lines, groups=TREE, **rest))  # type: ignore[arg-type]
    return verdict.lines if isinstance(verdict, Met) else None


BASKET = (
    line("A", group="apples", maker="Orchard"),
    line("B", group="fruit", maker="Grove", ean="4000"),
    line("C", group="food", maker="orchard ltd"),
    line("A", "-1", group="apples"),
    line("A", "2", reference="more"),
)

MATCHES: list[tuple[ConditionRow, tuple[int, ...] | None]] = [
    (row("ARTICLE", article_number="A"), (0, 4)),
    (row("ARTICLE", "A"), (0, 4)),
    (row("ARTICLE", values=("B", "A")), (0, 1, 4)),
    (row("ARTICLE", "B", article_number="A"), (0, 4)),  # the field that is named takes precedence
    (row("ARTICLE", "X"), None),
    (row("ARTICLE", "A", operator="GREATER_THAN"), (1, 2)),
    (row("ARTICLE_LIST", articles=(ArticleRow("C"), ArticleRow(None, ean="4000"))), (1, 2)),
    (row("ARTICLE_LIST", articles=(ArticleRow("A", ean="4000"),)), (0, 1, 4)),
    (row("ARTICLE_LIST", articles=tuple(ArticleRow(f"N{n}") for n in range(50))), None),
    (row("ARTICLE_LIST", articles=(*(ArticleRow(f"N{n}") for n in range(50)), ArticleRow("C"))), (2,)),
    (row("ARTICLE_LIST", values=("C",)), (2,)),
    (row("ARTICLE_GROUP", article_group_id="fruit"), (1,)),
    (row("ARTICLE_GROUP", article_group_id="fruit", include_sub_groups=True), (0, 1)),
    (row("ARTICLE_GROUP", values=("fruit", "apples"), include_sub_groups=True), (0, 1)),
    (row("ARTICLE_GROUP", "food", include_sub_groups=True), (0, 1, 2)),
    (row("ARTICLE_GROUP", "f", operator="STARTS_WITH"), (1, 2)),
    (row("ARTICLE_GROUP", "fr", operator="STARTS_WITH", include_sub_groups=True), (0, 1)),
    (row("MANUFACTURER", manufacturer="Orchard"), (0,)),
    (row("MANUFACTURER", "rchard", operator="CONTAINS"), (0, 2)),
    (row("MANUFACTURER", values=("Grove", "Orchard")), (0, 1)),
]


@pytest.mark.parametrize(("condition", "expected"), MATCHES)
def test_a_condition_matches_the_expected_sale_lines(condition: ConditionRow, expected: tuple[int, ...] | None) -> None:
    assert lines_of(condition, *BASKET) == expected


def test_an_articles_master_data_fills_in_fields_missing_from_the_line() -> None:
    condition = row("ARTICLE_GROUP", "fruit", include_sub_groups=True)
    assert lines_of(condition, line("A"), articles=(article("A", article_group_id="apples"),)) == (0,)
    assert lines_of(condition, line("A", group="tools"), articles=(article("A", article_group_id="apples"),)) is None


@pytest.mark.parametrize(
    "kind", ["ARTICLE", "ARTICLE_GROUP", "ARTICLE_LIST", "MANUFACTURER", "ADDITIONAL_FIELD", "USER_DEFINED"]
)
def test_a_condition_without_a_reference_does_not_compile(kind: str) -> None:
    with pytest.raises(DefinitionError):
        parse_conditions((row(kind),))


def test_the_minimum_quantity_is_reached_by_the_sum() -> None:
    condition = row("ARTICLE", "A", min_quantity_thousandths=3000)
    assert check(condition, view(line("A", "2"), line("B", "5"), line("A", "1"))) == Met(
        (0, 2), (Trigger((0, 2), True, 3000, 3000),)
    )
    missed = check(condition, view(line("A", "2.5"), line("A", "-1")))
    assert missed == Missed(
        "QUANTITY_TOO_LOW", gap_type="ITEM_QUANTITY", current=2500, threshold=3000, is_quantity=True, lines=(0,)
    )


def test_the_minimum_amount_is_reached_by_the_original_sum() -> None:
    condition = row("ARTICLE_GROUP", "g", min_amount_hundredths=2000)
    assert check(condition, view(line("A", "1", "12", group="g"), line("B", "1", "8", group="g"))) == Met(
        (0, 1), (Trigger((0, 1), False, 2000, 2000),)
    )
    missed = check(condition, view(line("A", "1", "19.99", group="g")))
    assert isinstance(missed, Missed)
    assert (missed.code, missed.gap_type, missed.current, missed.threshold) == (
        "AMOUNT_TOO_LOW",
        "RECEIPT_AMOUNT",
        1999,
        2000,
    )


def test_a_minimum_amount_in_yen_is_whole() -> None:
    condition = row("ARTICLE", "A", min_amount_hundredths=10050)
    assert not holds(condition, view(line("A", "1", "100"), currency="JPY"))
    assert holds(condition, view(line("A", "1", "101"), currency="JPY"))


@pytest.mark.parametrize(("quantity", "price", "code"), [("1", "5", "AMOUNT_TOO_LOW"), ("1", "45", "QUANTITY_TOO_LOW")])
def test_the_greater_of_two_shortfalls_is_reported(quantity: str, price: str, code: str) -> None:
    condition = row("ARTICLE", "A", min_quantity_thousandths=4000, min_amount_hundredths=5000)
    missed = check(condition, view(line("A", quantity, price)))
    assert isinstance(missed, Missed)
    assert missed.code == code


def test_both_minima_count_as_triggers() -> None:
    condition = row("ARTICLE", "A", min_quantity_thousandths=2000, min_amount_hundredths=1000)
    met = check(condition, view(line("A", "4", "10")))
    assert isinstance(met, Met)
    assert [(one.is_quantity, one.threshold, one.reached) for one in met.triggers] == [
        (True, 2000, 4000),
        (False, 1000, 4000),
    ]


def test_an_additional_field_matches_the_lines_that_have_it() -> None:
    condition = row("ADDITIONAL_FIELD", "yes", field_name="organic")
    lines = (
        line("A", fields=(("organic", "yes"),)),
        line("B", fields=(("organic", "no"),)),
        line("C"),
        line("D", "-1", fields=(("organic", "yes"),)),
        line("E", fields=(("organic", "no"), ("organic", "yes"))),
    )
    assert lines_of(condition, *lines) == (0, 4)


@pytest.mark.parametrize(
    ("operator", "value", "quantity", "expected"),
    [
        (None, "3", "3", True),
        (None, "3", "2.999", False),
        ("EQUALS", "3", "3", True),
        ("EQUALS", "3", "4", False),
        ("GREATER_THAN", "3", "3", False),
        ("GREATER_THAN", "3", "3.001", True),
        ("LESS_THAN", "3", "3", False),
        ("LTE", "3", "3", True),
        ("LTE", "3", "4", False),
    ],
)
def test_item_quantity_counts_all_sale_lines(operator: str | None, value: str, quantity: str, expected: bool) -> None:
    condition = row("ITEM_QUANTITY", value, operator=operator)
    assert holds(condition, view(line("A", quantity), line("B", "-5"))) is expected


def test_item_quantity_uses_min_quantity_if_it_has_no_value() -> None:
    assert holds(row("ITEM_QUANTITY", min_quantity_thousandths=2000), view(line("A", "2")))
    assert not holds(row("ITEM_QUANTITY", min_quantity_thousandths=2000), view(line("A", "1")))


def test_item_quantity_is_restricted_to_the_article_like_conditions_of_its_group() -> None:
    group = (row("ARTICLE", "A"), row("ITEM_QUANTITY", "3", sequence=2), row("MANUFACTURER", "M", sequence=3))
    (conditions,) = parse_conditions(group)
    quantity = conditions[1][1]
    seen = view(line("A", "1"), line("B", "1", maker="M"), line("C", "9"))
    missed = quantity.check(seen, seen.sale_total_minor)
    assert isinstance(missed, Missed)
    assert (missed.current, missed.threshold, missed.lines) == (2000, 3000, (0, 1))
    seen = view(line("A", "2"), line("B", "1", maker="M"))
    met = quantity.check(seen, seen.sale_total_minor)
    assert met == Met(None, (Trigger((0, 1), True, 3000, 3000),))


def test_item_quantity_of_another_group_or_of_a_negated_condition_is_not_restricted() -> None:
    other = (row("ARTICLE", "A"), row("ITEM_QUANTITY", "3", sequence=2, connector="OR"))
    negated = (row("ITEM_QUANTITY", "3"), row("ARTICLE", "A", sequence=2, connector="NOT"))
    seen = view(line("B", "3"))
    for group in (parse_conditions(other)[1], parse_conditions(negated)[0]):
        quantity = next(one for _, one in group if one.code == "ITEM_QUANTITY")
        assert isinstance(quantity.check(seen, seen.sale_total_minor), Met)
