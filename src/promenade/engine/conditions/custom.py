"""Conditions on what the till sends: channel, fields of the request, fields of a line (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from promenade.engine.conditions.article import NamedLines, minima
from promenade.engine.conditions.operators import TextTest
from promenade.engine.conditions.registry import Condition, IndexKey, condition
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import MINIMA, TESTED, VALUES_NEEDED, Form
from promenade.engine.verdict import Met, Missed, Verdict
from promenade.engine.view import BasketView

NO_CHANNEL = Missed("CHANNEL_UNKNOWN")
OTHER_CHANNEL = Missed("CHANNEL_DIFFERS")
NO_FIELD = Missed("FIELD_MISSING")
OTHER_FIELD = Missed("FIELD_DIFFERS")
MET = Met()


@condition(
    "CHANNEL",
    Form(family="other", icon="multi-select", fields=TESTED, needs=VALUES_NEEDED, category="CHANNEL"),
)
@dataclass(frozen=True, slots=True)
class Channel(Condition):
    """The sale comes through one of these channels, ignoring upper and lower case."""

    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(TextTest.parse(row, identifier=True, folded=True))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        channel = view.basket.channel
        if channel is None:
            return NO_CHANNEL
        return MET if self.test.holds(channel) else OTHER_CHANNEL

    def keys(self) -> tuple[IndexKey, ...] | None:
        return self.test.keys("channel")

    def needs(self) -> str:
        return f"channel {self.test.phrase().upper()}"


@condition(
    "USER_DEFINED",
    Form(family="other", icon="customize", fields=("fieldName", *TESTED), needs=(("fieldName",), ("values",))),
)
@dataclass(frozen=True, slots=True)
class UserDefined(Condition):
    """A user-defined field of the request has one of these values."""

    name: str
    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(_field_name(row), TextTest.parse(row))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        value = view.user_fields.get(self.name)
        if value is None:
            return NO_FIELD
        return MET if self.test.holds(value) else OTHER_FIELD

    def keys(self) -> tuple[IndexKey, ...] | None:
        return (("user_field", self.name),)

    def needs(self) -> str:
        return f"{self.name} {self.test.phrase()}"


@condition(
    "ADDITIONAL_FIELD",
    Form(family="basket", icon="tag", fields=("fieldName", *TESTED, *MINIMA), needs=(("fieldName",), ("values",))),
)
@dataclass(frozen=True, slots=True)
class AdditionalField(NamedLines):
    """Sale lines whose additional field has one of these values; it matches these lines."""

    name: str
    test: TextTest

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        return cls(*minima(row), _field_name(row), TextTest.parse(row))

    def matching(self, view: BasketView) -> tuple[int, ...]:
        found: list[int] = []
        for position in view.sale:
            line = view.lines[position]
            if line.line.fields:
                value = line.fields.get(self.name)
                if value is not None and self.test.holds(value):
                    found.append(position)
        return tuple(found)

    def keys(self) -> tuple[IndexKey, ...] | None:
        return (("field", self.name),)

    def needs(self) -> str:
        return f"an item with {self.name} {self.test.phrase()}"


def _field_name(row: ConditionRow) -> str:
    if not row.field_name:
        raise DefinitionError("fieldName", "VALUE_REQUIRED", f"A {row.condition_type} condition needs a fieldName.")
    return row.field_name
