"""The table of coupon transitions: its names exist, and both databases get the same table."""

from __future__ import annotations

import re

import pytest

from promenade.model.codelists import code_list
from promenade.store.coupons.transitions import TRANSITIONS, Transition
from promenade.store.driver.schema import table

CODES = table("CouponCodes")
NAMES = ("at", "tenant", "type", "transaction", "customer", "reservation", "until", "seen", "status", "promotion",
         "issued_under", "channel", "reason", "metadata", "ends", "user")  # fmt: skip
PLACES = {name: place for place, name in enumerate(NAMES, start=1)}


@pytest.mark.parametrize("name", TRANSITIONS)
def test_transitions_use_the_states_and_log_actions_of_the_model(name: str) -> None:
    transition: Transition = TRANSITIONS[name]
    states = {*code_list("CouponCodeStatuses").codes}
    if name != "END_EARNED":
        states -= {"CANCELLED"}  # else only authors set it
    known = states if transition.rows is CODES else {"HELD", "REDEEMED", "CANCELLED"}
    assert set(transition.sources) <= known
    assert not isinstance(transition.target, str) or transition.target in known
    assert transition.log in {"", "ISSUED", "ACTIVATED", "RESERVED", "REDEEMED", "REACTIVATED", "CANCELLED", "EXPIRED"}


@pytest.mark.parametrize("name", TRANSITIONS)
def test_both_databases_get_the_same_conditions_and_assignments(name: str) -> None:
    transition = TRANSITIONS[name]
    for part in ("where_text", "set_text"):
        texts = [getattr(transition, part)(dialect, PLACES) for dialect in ("postgresql", "sqlite")]
        plain = re.sub(r"::[A-Z]+( WITH TIME ZONE)?| COLLATE \"C\"", "", texts[0]).replace("$", ":p")
        assert plain.replace("IS NOT DISTINCT FROM", "IS") == texts[1]


def test_a_redeemed_code_changes_its_state_only_with_its_own_sale() -> None:
    """No other transition leaves REDEEMED, and only the sale's own worker completes a sale's claim."""
    undone = TRANSITIONS["REACTIVATE"].where_text("sqlite", PLACES)
    assert undone.count(f"redeemed_transaction_id = :p{PLACES['transaction']}") == 2
    for name, transition in TRANSITIONS.items():
        if name == "REACTIVATE":
            continue
        assert "REDEEMED" not in transition.sources
        if transition.rows is CODES and "RESERVED" in transition.sources:
            condition = transition.where_text("sqlite", PLACES)
            assert "redeemed_transaction_id IS NULL" in condition or name == "FINISH"
