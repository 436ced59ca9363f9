"""How a rule type is entered: the fields it reads, which of them are needed, and where the editor offers it.

A form is declared with the class of its condition or benefit. Fields have the names of the wire; ``values`` stands for
``value`` together with ``valueListItems``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Fields = tuple[str, ...]
Begin = tuple[tuple[str, str | bool], ...]

TESTED: Fields = ("operator", "values", "valueTo")
MINIMA: Fields = ("minQuantity", "minAmount")
VALUES_NEEDED: tuple[Fields, ...] = (("values",),)
ALL_KINDS_OF_DISCOUNT: Fields = ("PERCENTAGE", "ABSOLUTE", "UNIT_PRICE")

FAMILIES = ("basket", "customer", "payment", "time", "other", "articles", "receipt", "rewards")


class Values(StrEnum):
    """The kind of value that a condition compares with."""

    TEXT = "text"
    AMOUNT = "amount"  # of the promotion's currency
    COUNT = "count"  # a number without a unit
    DIGITS = "digits"  # the beginning of a card number


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the editor shows of one rule type."""

    family: str  # the heading under which the type is offered, one of FAMILIES
    icon: str  # its name in OpenUI5's icon font
    fields: Fields = ()  # always shown
    more: Fields = ()  # shown behind "More options"
    also: Fields = ()  # shown only where they are filled: another way to say what the fields say
    needs: tuple[Fields, ...] = ()  # of each group one field must be filled
    values: Values = Values.TEXT
    category: str | None = None  # the valueCategory of a new condition
    discount_types: Fields = ()  # those it allows; a new action starts with the first
    begin: Begin = ()  # further values of a new rule
    place: int = 50  # within the family: lower comes first, of equal ones the one declared first

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"there is no family {self.family}")

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers; they then compare with GTE unless the operator says otherwise."""
        return self.values in (Values.AMOUNT, Values.COUNT)

    @property
    def is_about_lines(self) -> bool:
        """Whether it names sale lines, of which a quantity and an amount can be asked."""
        return set(MINIMA) <= set(self.fields)

    @property
    def offered(self) -> Fields:
        """Every field that the editor can show."""
        return self.fields + self.more + self.also


def in_order(forms: dict[str, Form]) -> dict[str, Form]:
    """Forms by code in the order in which the editor offers them."""
    return dict(sorted(forms.items(), key=lambda item: (FAMILIES.index(item[1].family), item[1].place)))
