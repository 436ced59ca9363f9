"""A code list is the engine's registry: what the model offers is what the engine can do, and nothing else."""

from __future__ import annotations

from promenade import model
from promenade.engine.benefits import registry as benefits
from promenade.engine.conditions import condition_codes


def test_condition_types_are_the_conditions_of_the_engine() -> None:
    assert set(model.code_list("ConditionTypes").codes) == set(condition_codes())


def test_action_types_are_the_benefits_of_the_engine() -> None:
    # LOYALTY says that a promotion's LoyaltyActions do the work, which have a registry of their own.
    assert set(model.code_list("ActionTypes").codes) == {*benefits.benefit_codes(), "LOYALTY"}


def test_loyalty_action_types_are_those_of_the_engine() -> None:
    assert set(model.code_list("LoyaltyActionTypes").codes) == set(benefits.loyalty_codes())
