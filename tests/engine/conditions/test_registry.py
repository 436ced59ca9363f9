"""The list of conditions takes only whole ones, each once."""

from __future__ import annotations

import pytest

from promenade.engine.conditions.registry import Condition, condition, condition_codes
from promenade.engine.verdict import Met, Verdict
from promenade.engine.view import BasketView


class Speechless(Condition):
    """It can be checked, but neither read from a row nor say what it needs."""

    __slots__ = ()

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        return Met()


def test_a_condition_that_is_not_whole_cannot_be_made() -> None:
    with pytest.raises(TypeError, match=r"abstract.*needs"):
        Speechless()  # type: ignore[abstract]


def test_a_code_is_taken_once() -> None:
    before = condition_codes()
    with pytest.raises(ValueError, match="CHANNEL is defined twice"):
        condition("CHANNEL")(Speechless)  # type: ignore[type-abstract]
    assert condition_codes() == before
