"""What a condition is, and the one list of them: the registry is the code list ConditionTypes.

A condition is one frozen dataclass under ``@condition("CODE", Form(...))``; its words are in `model.texts.conditions`.
It is parsed once, when its promotion is compiled, and checked against every basket that the index brings it. Bad
configuration raises `DefinitionError` in ``parse``; unknown or missing data in a basket never raises: it is `Missed`
(pricing semantics, section 3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import ClassVar, Self, TypeVar

from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.money import decimal_text
from promenade.engine.thresholds import Least
from promenade.engine.verdict import Missed, Verdict
from promenade.engine.view import BasketView

IndexKey = tuple[str, str]
"""A kind and a value that a basket may hold. Kinds of sale lines: ``article``, ``ean``, ``group`` (exactly),
``tree`` (with sub groups), ``manufacturer``, ``field`` (the name of an additional field). Kinds of the request:
``customer``, ``customer_group``, ``tier``, ``payment_means``, ``card_type``, ``channel``, ``user_field`` (its name)."""

Params = tuple[tuple[str, str], ...]


class Condition(ABC):
    """One condition of a promotion. Subclasses are frozen dataclasses with their code in ``code``.

    A subclass that does not implement the abstract methods cannot be instantiated, so it fails when its promotion is
    compiled, not at a till.
    """

    __slots__ = ("_wordings",)

    code: ClassVar[str]
    form: ClassVar[Form]
    names_lines: ClassVar[bool] = False
    """Whether it is article-like: it names articles, groups or manufacturers, and restricts ITEM_QUANTITY."""

    @classmethod
    @abstractmethod
    def parse(cls, row: ConditionRow) -> Self:
        """Read the row; raises DefinitionError whose target is the wire field, relative to the condition."""

    @abstractmethod
    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        """Whether it holds, and the sale lines it matched. ``sale_minor``: the sale amount that counts (section 3)."""

    @abstractmethod
    def needs(self) -> str:
        """What the basket needs, as a noun phrase that a shopper understands."""

    def keys(self) -> tuple[IndexKey, ...] | None:
        """Keys of which a basket must hold at least one for this condition to hold; None = any basket may."""
        return None

    def least(self, beside: tuple[Condition, ...]) -> Least | None:
        """The least that its group needs, whose other conditions are ``beside``, none negated.

        Only if the group holds for every basket from there on to which the index leads, and for none below; else None.
        """
        return None

    _wordings: dict[tuple[str, int | None, str], _Wording]

    def missed(self, view: BasketView, quantity: int, amount: int, lines: tuple[int, ...]) -> Missed | None:
        """The verdict where less than its `least` is held: `check` for sums that are known; None: `check` must say."""
        return None

    def matching(self, view: BasketView) -> tuple[int, ...]:
        """Positions of the sale lines it names; only asked of conditions with ``names_lines``."""
        return view.sale

    def within(self, named: tuple[Condition, ...]) -> Condition:
        """This condition as a member of its AND group, whose article-like conditions are ``named``."""
        return self

    def explain(self, missed: Missed, view: BasketView) -> tuple[Params, str]:
        """Parameters and an English sentence for a verdict of this condition; built only on request."""
        current, threshold, is_quantity = missed.current, missed.threshold, missed.is_quantity
        wording = self._wording(missed, view.currency, view.exponent)
        if current is None or threshold is None or missed.gap_type is None:
            return wording.params, f"Needs {wording.needs}."
        digits = 3 if is_quantity else view.exponent
        held = decimal_text(current, digits, trim=is_quantity)
        gap = decimal_text(threshold - current, digits, trim=is_quantity)
        params: Params = (*wording.params, ("current", held), wording.threshold, ("gap", gap))
        return params, gap + wording.before_held + held + wording.after_held

    def _wording(self, missed: Missed, currency: str, exponent: int) -> _Wording:
        """What is told of it whatever a basket holds; put into words once."""
        key = missed.code, missed.threshold, currency
        try:
            return self._wordings[key]
        except AttributeError:
            object.__setattr__(self, "_wordings", {})
        except KeyError:
            pass
        found = self._wordings[key] = _Wording(self.code, self.needs(), missed, currency, exponent)
        return found


class _Wording:
    """What is told of a condition that did not hold, but for the numbers that depend on the basket."""

    __slots__ = ("after_held", "before_held", "needs", "params", "threshold")

    def __init__(self, code: str, needs: str, missed: Missed, currency: str, exponent: int) -> None:
        is_quantity = missed.is_quantity
        wanted = decimal_text(missed.threshold or 0, 3 if is_quantity else exponent, trim=is_quantity)
        unit = "" if is_quantity else f" {currency}"
        self.needs = needs
        self.params: Params = (("condition", code), ("reason", missed.code), ("needs", needs))
        self.threshold = ("threshold", wanted)
        self.before_held = f"{unit} more needed: "
        self.after_held = f"{unit} of {wanted}{unit} reached ({needs})."


Group = tuple[tuple[bool, Condition], ...]
"""An AND group: (negated, condition) in their order. A promotion's groups form a disjunction."""

_REGISTRY: dict[str, type[Condition]] = {}

C = TypeVar("C", bound=Condition)


def condition(code: str, form: Form) -> Callable[[type[C]], type[C]]:
    """Register a class as the condition type ``code``, entered as ``form`` says. Raises ValueError for a known code."""

    def register(cls: type[C]) -> type[C]:
        if code in _REGISTRY:
            raise ValueError(f"condition type {code} is defined twice")
        cls.code = code
        cls.form = form
        _REGISTRY[code] = cls
        return cls

    return register


def condition_codes() -> tuple[str, ...]:
    """The code list ConditionTypes, in the order the families define them."""
    return tuple(_REGISTRY)


def condition_types() -> Mapping[str, type[Condition]]:
    """Every condition type by its code."""
    return MappingProxyType(_REGISTRY)


def parse_conditions(rows: tuple[ConditionRow, ...]) -> tuple[Group, ...]:
    """The disjunction of AND groups that a promotion's conditions form (section 3); empty = always qualifies.

    Raises DefinitionError with a target such as ``Conditions(2)/value``, counting from 1 in that order.
    """
    groups: list[list[tuple[bool, Condition]]] = []
    for place, row in enumerate(sorted(rows, key=_place), start=1):
        path = f"Conditions({place})"
        connector = row.connector
        if connector not in ("AND", "OR", "NOT"):
            message = f"There is no connector {connector}."
            raise DefinitionError(f"{path}/logicalConnector", "UNKNOWN_CONNECTOR", message)
        if connector == "OR" or not groups:
            groups.append([])
        groups[-1].append((connector == "NOT", _parse(row, path)))
    return tuple([_joined(group) for group in groups])


def _place(row: ConditionRow) -> tuple[int, str]:
    return row.sequence, row.id


def _parse(row: ConditionRow, path: str) -> Condition:
    cls = _REGISTRY.get(row.condition_type)
    if cls is None:
        message = f"There is no condition type {row.condition_type}."
        raise DefinitionError(f"{path}/conditionType", "UNKNOWN_CONDITION_TYPE", message)
    try:
        return cls.parse(row)
    except DefinitionError as error:
        raise DefinitionError(f"{path}/{error.target}", error.code, error.message) from error


def _joined(group: list[tuple[bool, Condition]]) -> Group:
    if len(group) == 1:
        return (group[0],)
    named = tuple([one for negated, one in group if one.names_lines and not negated])
    return tuple([(negated, one.within(named)) for negated, one in group])
