"""Operators on text and on numbers (section 3): one table, tested row by row."""

from __future__ import annotations

import pytest

from promenade.engine.conditions import parse_conditions
from promenade.engine.definition import DefinitionError
from tests.engine.given import holds, line, row, view

# operator, value, valueTo, value list, value in the request, holds
TABLE = [
    (None, "red", None, (), "red", True),
    (None, "red", None, (), "Red", False),
    ("EQUALS", "red", None, (), "redder", False),
    ("EQUALS", "10", None, (), "10.0", True),
    ("EQUALS", "10", None, (), "10.01", False),
    ("EQUALS", "7", None, (), "007", False),
    ("EQUALS", "-5", None, (), "-5.000", True),
    ("EQUALS", "red", None, ("green", "blue"), "blue", True),
    ("EQUALS", None, None, ("green", "blue"), "green", True),
    ("EQUALS", None, None, ("green", "blue"), "red", False),
    ("CONTAINS", "ed", None, (), "redder", True),
    ("CONTAINS", "ed", None, (), "blue", False),
    ("CONTAINS", None, None, ("ed", "lu"), "blue", True),
    ("STARTS_WITH", "re", None, (), "red", True),
    ("STARTS_WITH", "ed", None, (), "red", False),
    ("GREATER_THAN", "9", None, (), "10", True),
    ("GREATER_THAN", "10", None, (), "10", False),
    ("GREATER_THAN", "9", None, (), "10 kg", False),
    ("GREATER_THAN", "apple", None, (), "banana", True),
    ("LESS_THAN", "10", None, (), "9.99", True),
    ("LESS_THAN", "10", None, (), "10", False),
    ("GTE", "10", None, (), "10", True),
    ("GTE", "10", None, (), "9.999999999", False),
    ("LTE", "10", None, (), "10", True),
    ("LTE", "10", None, (), "10.000000001", False),
    ("LTE", "-10", None, (), "-10.5", True),
    ("BETWEEN", "10", "20", (), "10", True),
    ("BETWEEN", "10", "20", (), "20", True),
    ("BETWEEN", "10", "20", (), "9", False),
    ("BETWEEN", "10", "20", (), "100", False),
    ("BETWEEN", "a", "c", (), "b", True),
    ("BETWEEN", "a", "c", (), "d", False),
]


@pytest.mark.parametrize(("operator", "value", "value_to", "values", "given", "expected"), TABLE)
def test_each_operator_compares_text_and_numbers_as_specified(
    operator: str | None, value: str | None, value_to: str | None, values: tuple[str, ...], given: str, expected: bool
) -> None:
    condition = row("USER_DEFINED", value, operator=operator, value_to=value_to, values=values, field_name="colour")
    assert holds(condition, view(line(), fields=(("colour", given),))) is expected


@pytest.mark.parametrize(
    ("operator", "value", "value_to", "values", "target"),
    [
        ("LIKE", "x", None, (), "operator"),
        ("EQUALS", None, None, (), "value"),
        ("EQUALS", "", None, (), "value"),
        ("BETWEEN", "1", None, (), "valueTo"),
        ("BETWEEN", None, "1", (), "valueTo"),
    ],
)
def test_an_operator_without_its_operands_does_not_compile(
    operator: str, value: str | None, value_to: str | None, values: tuple[str, ...], target: str
) -> None:
    condition = row("USER_DEFINED", value, operator=operator, value_to=value_to, values=values, field_name="colour")
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((condition,))
    assert refused.value.target == f"Conditions(1)/{target}"


@pytest.mark.parametrize(
    ("value", "operator", "target"),
    [
        ("fifty", None, "value"),
        ("50", "CONTAINS", "operator"),
        ("50", "STARTS_WITH", "operator"),
        (None, None, "value"),
    ],
)
def test_an_amount_must_be_a_number(value: str | None, operator: str | None, target: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((row("RECEIPT_AMOUNT", value, operator=operator),))
    assert refused.value.target == f"Conditions(1)/{target}"


def test_a_value_of_thousands_of_digits_is_compared_without_an_error() -> None:
    condition = row("USER_DEFINED", "1", operator="GTE", field_name="n")
    assert holds(condition, view(line(), fields=(("n", "9" * 5000),)))
