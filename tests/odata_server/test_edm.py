"""What a model refuses when it is declared, and the values of its enumerations."""

from __future__ import annotations

import pytest

from odata_server.edm import (
    Action,
    Container,
    Edm,
    EntityType,
    EnumMember,
    EnumType,
    Function,
    Operation,
    Parameter,
    Primitive,
    Property,
    ReturnType,
    Schema,
)
from tests.odata_server.bookshop_edm import DAYS, FORMAT

WRITTEN: list[tuple[EnumType, str | int, str | None]] = [
    (FORMAT, "EBook", "EBook"),
    (FORMAT, " EBook ", "EBook"),
    (FORMAT, "2", "EBook"),
    (FORMAT, "3", None),
    (FORMAT, "ebook", None),
    (FORMAT, "EBook,Hardcover", None),
    (FORMAT, "", None),
    (DAYS, "Monday", "Monday"),
    (DAYS, "Tuesday,Monday", "Monday,Tuesday"),
    (DAYS, " Tuesday , 1", "Monday,Tuesday"),
    (DAYS, "Monday,Monday", "Monday"),
    (DAYS, "Saturday,Sunday", "Weekend"),
    (DAYS, "Weekend,Saturday,Monday", "Monday,Weekend"),
    (DAYS, 0, "None"),
    (DAYS, "None,Monday", "Monday"),
    (DAYS, 15, "Monday,Tuesday,Weekend"),
    (DAYS, 16, None),
    (DAYS, -1, None),
    (DAYS, "Monday,", None),
    (DAYS, "Monday,Friday", None),
    (DAYS, ",".join(["Monday"] * 8), None),
]


@pytest.mark.parametrize(("of", "written", "value"), WRITTEN)
def test_each_value_of_an_enumeration_has_one_form(of: EnumType, written: str | int, value: str | None) -> None:
    assert of.value_of(written) == value
    if value is not None:
        assert of.value_of(value) == value


def _edm(**parts: object) -> Edm:
    return Edm(Schema(**{"namespace": "Own", "entity_types": (), "container": Container(), **parts}))  # type: ignore[arg-type]


def test_flags_cannot_be_negative() -> None:
    odd = EnumType(name="Odd", members=(EnumMember(name="A", value=-1),), is_flags=True)
    with pytest.raises(ValueError, match="Odd has flags, so its members cannot be negative"):
        _edm(enum_types=(odd,))


ODD = [
    Property(name="a", type=Primitive.STRING, aggregate="sum"),
    Property(name="a", type=Primitive.STRING, aggregate="average"),
    Property(name="a", type=Primitive.BOOLEAN, aggregate="max"),
    Property(name="a", type=Primitive.INT32, collection=True, aggregate="sum"),
    Property(name="a", type=Primitive.INT32, write_only=True, aggregate="sum"),
    Property(name="a", type=Primitive.INT32, aggregate="median"),
    Property(name="a", type=DAYS, aggregate="same"),
]


@pytest.mark.parametrize("odd", ODD, ids=[f"{one.type} {one.aggregate}" for one in ODD])
def test_an_aggregate_that_a_property_cannot_have_is_refused(odd: Property) -> None:
    one = EntityType(name="One", key=("ID",), properties=(Property(name="ID", type=Primitive.INT32), odd))
    with pytest.raises(ValueError, match=f"One/a has no aggregate {odd.aggregate}"):
        _edm(entity_types=(one,))


def _function(*names: str, returns: Primitive = Primitive.STRING, of: Primitive = Primitive.STRING) -> Function:
    parameters = tuple(Parameter(name=name, type=of) for name in names)
    return Function(name="find", parameters=parameters, returns=ReturnType(type=returns))


AMBIGUOUS: list[tuple[tuple[Operation, ...], str]] = [
    (
        (_function("a", "b"), _function("b", "a", of=Primitive.DATE)),
        "two overloads of the function find have parameters of the same names",
    ),
    ((_function("a", "a"),), "find has a parameter twice"),
    ((_function("a"), _function("b", returns=Primitive.DATE)), "overloads of the function find return different types"),
    ((Action(name="go"), Action(name="go", parameters=(Parameter(name="a"),))), "the action go is declared twice"),
    ((_function("a"), Action(name="find")), "find is both an action and a function"),
]


@pytest.mark.parametrize(("operations", "message"), AMBIGUOUS, ids=[message for _, message in AMBIGUOUS])
def test_operations_that_no_call_could_tell_apart_are_refused(operations: tuple[Operation, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _edm(operations=operations)


def test_overloads_with_other_parameters_are_accepted() -> None:
    one, other = _function("a"), _function("a", "b")
    assert _edm(operations=(one, other)).overloads(one) == (one, other)
