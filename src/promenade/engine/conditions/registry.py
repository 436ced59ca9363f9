"""What a condition is, and the one list of them: the registry is the code list ConditionTypes.

A condition is one frozen dataclass under ``@condition("CODE")``. It is parsed once, when its promotion is compiled,
and checked against every basket that the index brings it. Bad configuration raises `DefinitionError` in ``parse``;
unknown or missing data in a basket never raises: it is `Missed` (pricing semantics, section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, Self, TypeVar

from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.verdict import Missed, Verdict
from promenade.engine.view import BasketView

__all__ = ["Condition", "IndexKey", "Params", "condition", "condition_codes", "parse_condition"]

IndexKey = tuple[str, str]
"""("article", number), ("ean", ean), ("group", id) exactly, ("tree", id) with sub groups, ("manufacturer", m)."""

Params = tuple[tuple[str, str], ...]


class Condition(Protocol):
    """What the catalogue and the advice ask of a condition."""

    code: ClassVar[str]

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field."""
        ...

    def check(self, view: BasketView, remaining_sale_minor: int) -> Verdict:
        """Whether it holds, and the sale lines it matched. ``remaining_sale_minor``: sale amount not yet discounted."""
        ...

    def keys(self) -> tuple[IndexKey, ...] | None:
        """The index keys one of which a basket must hold for this to be met; None = does not restrict lines."""
        ...

    def explain(self, missed: Missed, view: BasketView) -> tuple[Params, str]:
        """Parameters and an English sentence for a verdict of this condition; built only when somebody asks."""
        ...


_REGISTRY: dict[str, type[Condition]] = {}

C = TypeVar("C", bound=Condition)


def condition(code: str) -> Callable[[type[C]], type[C]]:
    """Register a class as the condition type ``code``; a code taken twice is a programming error."""

    def register(cls: type[C]) -> type[C]:
        if code in _REGISTRY:
            raise ValueError(f"condition type {code} is defined twice")
        cls.code = code
        _REGISTRY[code] = cls
        return cls

    return register


def condition_codes() -> tuple[str, ...]:
    """The code list ConditionTypes, in the order the families define them."""
    return tuple(_REGISTRY)


def parse_condition(row: ConditionRow) -> Condition:
    """The condition a row says; raises DefinitionError naming the wire field (relative to the condition)."""
    cls = _REGISTRY.get(row.condition_type)
    if cls is None:
        raise DefinitionError(
            "conditionType", "UNKNOWN_CONDITION_TYPE", f"There is no condition type {row.condition_type}."
        )
    return cls.parse(row)
