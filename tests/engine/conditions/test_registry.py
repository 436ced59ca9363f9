"""The condition registry accepts only complete types, each once."""

from __future__ import annotations

import pytest

from promenade.engine.conditions.registry import Condition, condition, condition_codes
from promenade.engine.forms import Form
from promenade.engine.verdict import Met, Verdict
from promenade.engine.view import BasketView


class Speechless(Condition):
    """A condition that can be checked, but lacks parsing and its requirements."""

    __slots__ = ()

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        return Met()


def test_an_incomplete_condition_type_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match=r"abstract.*needs"):
        Speechless()  # type: ignore[abstract]


def test_a_code_can_be_registered_only_once() -> None:
    before = condition_codes()
    with pytest.raises(ValueError, match="CHANNEL is defined twice"):
        condition("CHANNEL", Form(family="other", icon="multi-select"))(Speechless)  # type: ignore[type-abstract]
    assert condition_codes() == before
