"""Code lists match the engine's registry: the model offers exactly what the engine supports."""

from __future__ import annotations

from promenade import model
from promenade.engine.benefits import registry as benefits
from promenade.engine.conditions import condition_codes


def test_condition_types_are_the_conditions_of_the_engine() -> None:
    assert set(model.code_list("ConditionTypes").codes) == set(condition_codes())


def test_action_types_are_the_benefits_of_the_engine() -> None:
    # LOYALTY means that the promotion's LoyaltyActions, which have their own registry, apply.
    assert set(model.code_list("ActionTypes").codes) == {*benefits.benefit_codes(), "LOYALTY"}


def test_loyalty_action_types_are_those_of_the_engine() -> None:
    assert set(model.code_list("LoyaltyActionTypes").codes) == set(benefits.loyalty_codes())
