"""Which promotions are candidates (sections 2, 9), which lines qualify (section 3), and in what order (section 4)."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from promenade.engine.basket import Settings
from promenade.engine.catalogue import Catalogue, compile_promotion, definition_hash
from promenade.engine.definition import (
    ConditionRow,
    DefinitionError,
    PilotRow,
    PriorityRow,
    PromotionDefinition,
)
from promenade.engine.pilots import control_groups, treated_groups
from promenade.engine.verdict import Met
from promenade.engine.view import BasketView
from tests.engine.given import NOW, TEN_PERCENT, line, promotion, row, view

HOUR = timedelta(hours=1)
PILOT = PilotRow("config", NOW - HOUR, NOW + HOUR, 100, 0, frozenset({"pos-1"}), frozenset({"pos-2"}))


def found(definition: PromotionDefinition, *, coupons: tuple[str, ...] = (), **rest: Any) -> bool:
    """Return whether the promotion is a candidate for a basket of one article A."""
    catalogue = Catalogue()
    catalogue.put(definition)
    seen = view(line("A"), **rest)
    return [one.id for one in catalogue.candidates(seen, coupons, seen.settings)] == [definition.id]


# Section 2, rule by rule


@pytest.mark.parametrize(
    ("status", "live", "inactive"),
    [
        ("ACTIVE", True, True),
        ("DRAFT", False, True),
        ("PENDING_APPROVAL", False, True),
        ("APPROVED", False, True),
        ("REJECTED", False, True),
        ("INACTIVE", False, True),
        ("EXPIRED", False, False),
        ("ARCHIVED", False, False),
        ("PILOT", False, False),
    ],
)
def test_the_status_decides_and_include_inactive_widens_it(status: str, live: bool, inactive: bool) -> None:
    definition = promotion("p", status=status)
    assert found(definition) is live
    assert found(definition, settings=Settings(now=NOW, include_inactive=True)) is inactive


TIMES: list[tuple[datetime | None, datetime | None, bool]] = [
    (None, None, True),
    (NOW, None, True),
    (NOW + timedelta(microseconds=1), None, False),
    (None, NOW, False),
    (None, NOW + timedelta(microseconds=1), True),
    (datetime(1900, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC), True),
]


@pytest.mark.parametrize(("opens", "closes", "expected"), TIMES)
def test_validity_includes_its_start_and_not_its_end(
    opens: datetime | None, closes: datetime | None, expected: bool
) -> None:
    assert found(promotion("p", valid_from=opens, valid_to=closes)) is expected
    assert found(promotion("p", campaign_id="c", campaign_window=(opens, closes))) is expected
    wide = promotion("p", valid_from=NOW - HOUR, valid_to=NOW + HOUR, campaign_id="c", campaign_window=(opens, closes))
    assert found(wide) is expected


def test_a_cancelled_campaign_takes_its_promotions_along() -> None:
    assert not found(promotion("p", campaign_id="c", campaign_cancelled=True))


def test_a_promotion_applies_only_in_its_pos_groups_and_currency() -> None:
    assert found(promotion("p", pos_groups=frozenset({"pos-1", "pos-9"})))
    assert not found(promotion("p", pos_groups=frozenset({"pos-9"})))
    assert found(promotion("p", currency="EUR"))
    assert not found(promotion("p", currency="EUR"), currency="USD")


def test_a_coupon_promotion_needs_a_valid_code_of_one_of_its_types() -> None:
    definition = promotion("p", row("ARTICLE", "A"), coupon_type_ids=frozenset({"t1", "t2"}))
    assert found(definition, coupons=("t2",))
    assert not found(definition, coupons=("t3",))
    assert not found(definition)


def test_an_experiment_is_for_its_experiment_group_and_never_for_its_control_group() -> None:
    experiment = promotion("p", is_experiment=True, control_group_id="pos-2", experiment_group_id="pos-1")
    assert found(experiment)
    assert not found(experiment, pos_group="pos-2")
    assert not found(experiment, pos_group="pos-3")
    open_ended = replace(experiment, experiment_group_id=None)
    assert found(open_ended, pos_group="pos-3")
    assert not found(open_ended, pos_group="pos-2")
    assert found(replace(experiment, is_experiment=False), pos_group="pos-2")


def test_a_pilot_runs_at_its_treated_groups_between_its_dates() -> None:
    pilot = promotion("p", status="PILOT", pilot=PILOT)
    assert found(pilot)
    assert not found(pilot, pos_group="pos-2")
    assert found(pilot, now=NOW - HOUR)
    assert not found(pilot, now=NOW - HOUR - timedelta(seconds=1))
    assert not found(pilot, now=NOW + HOUR)
    assert not found(replace(pilot, pos_groups=frozenset({"pos-9"})))


def test_control_arms_name_the_pilots_and_experiments_that_a_pos_group_is_control_for() -> None:
    catalogue = Catalogue()
    catalogue.compile_all(
        [
            promotion("pilot", status="PILOT", pilot=PILOT),
            promotion("over", status="PILOT", pilot=replace(PILOT, ends_at=NOW)),
            promotion("experiment", is_experiment=True, control_group_id="pos-2"),
            promotion("plain"),
        ]
    )
    assert catalogue.control_arms(view(line(), pos_group="pos-2")) == ("experiment", "pilot")
    assert catalogue.control_arms(view(line(), pos_group="pos-1")) == ()
    catalogue.remove("pilot")
    assert catalogue.control_arms(view(line(), pos_group="pos-2")) == ("experiment",)


@pytest.mark.parametrize(("share", "groups", "treated"), [(100, 7, 7), (50, 7, 4), (1, 7, 1), (0, 7, 0), (34, 3, 2)])
def test_the_treated_share_is_rounded_up(share: int, groups: int, treated: int) -> None:
    pilot = replace(PILOT, share_hundredths=share, pilot_pos_groups=frozenset(f"g{n}" for n in range(groups)))
    assert len(treated_groups(pilot)) == treated


def test_a_greater_share_keeps_the_groups_it_had() -> None:
    names = frozenset(f"g{n}" for n in range(20))
    shares = [treated_groups(replace(PILOT, share_hundredths=share, pilot_pos_groups=names)) for share in (20, 50, 90)]
    assert shares[0] < shares[1] < shares[2]
    other = treated_groups(replace(PILOT, config_id="other", share_hundredths=50, pilot_pos_groups=names))
    assert other != shares[1]


def test_control_groups_are_capped_and_never_treated() -> None:
    names = frozenset(f"g{n}" for n in range(10))
    assert len(control_groups(replace(PILOT, control_group_size=3, control_pos_groups=names))) == 3
    assert control_groups(replace(PILOT, control_pos_groups=names)) == names
    assert control_groups(replace(PILOT, control_pos_groups=frozenset({"pos-1", "pos-2"}))) == {"pos-2"}


# Promotions that would match but are not candidates


def test_promotions_that_are_not_candidates_state_the_reason() -> None:
    at_a = row("ARTICLE", "A")
    catalogue = Catalogue()
    catalogue.compile_all(
        [
            promotion("candidate", at_a),
            promotion("coupon", at_a, coupon_type_ids=frozenset({"t"})),
            promotion("elsewhere", at_a, pos_groups=frozenset({"pos-9"})),
            promotion("later", at_a, valid_from=NOW + HOUR),
            promotion("of other articles", row("ARTICLE", "B"), valid_from=NOW + HOUR),
            promotion("pilot", at_a, status="PILOT", pilot=replace(PILOT, pilot_pos_groups=frozenset({"pos-2"}))),
            promotion("retired", at_a, status="ARCHIVED"),
            promotion("retired long ago", at_a, status="ARCHIVED", valid_to=NOW - HOUR),
            promotion("drafted for elsewhere", at_a, status="DRAFT", pos_groups=frozenset({"pos-9"})),
            promotion("in dollars and over", at_a, currency="USD", valid_to=NOW - HOUR),
            promotion("whole receipt", valid_to=NOW),
        ]
    )
    reasons = {one.id: reason for one, reason in catalogue.outsiders(view(line("A")), ())}
    assert reasons == {
        "coupon": "COUPON_REQUIRED",
        "elsewhere": "WRONG_POS_GROUP",
        "in dollars and over": "WRONG_CURRENCY",
        "later": "OUTSIDE_VALIDITY",
        "pilot": "NOT_IN_PILOT",
        "whole receipt": "OUTSIDE_VALIDITY",
    }
    assert "coupon" not in {one.id for one, _ in catalogue.outsiders(view(line("A")), ("t",))}


# Qualifying (section 3)


def qualifying(*conditions: ConditionRow, seen: BasketView, remaining: int | None = None, **rest: Any) -> Any:
    compiled = compile_promotion(promotion("p", *conditions, **rest))
    verdict = compiled.qualify(seen, seen.sale_total_minor if remaining is None else remaining)
    return verdict.lines if isinstance(verdict, Met) else [one.missed.code for one in verdict.failed]


AB = view(line("A"), line("B"), line("C", "-1"), line("C"), channel="ONLINE")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ((), (0, 1, 3)),
        ((("AND", "ARTICLE", "A"),), (0,)),
        ((("AND", "ARTICLE", "A"), ("AND", "ARTICLE", "B")), (0, 1)),
        ((("AND", "ARTICLE", "A"), ("AND", "ARTICLE", "X")), ["NOT_IN_BASKET"]),
        ((("AND", "ARTICLE", "A"), ("OR", "ARTICLE", "X")), (0,)),
        ((("AND", "ARTICLE", "X"), ("OR", "ARTICLE", "B"), ("OR", "ARTICLE", "A")), (0, 1)),
        ((("NOT", "ARTICLE", "X"),), (0, 1, 3)),
        ((("NOT", "ARTICLE", "A"),), ["CONDITION_EXCLUDED"]),
        ((("AND", "ARTICLE", "A"), ("NOT", "ARTICLE", "X")), (0,)),
        ((("AND", "ARTICLE", "A"), ("NOT", "ARTICLE", "B")), ["CONDITION_EXCLUDED"]),
        ((("AND", "CHANNEL", "ONLINE"),), (0, 1, 3)),
        ((("AND", "CHANNEL", "ONLINE"), ("AND", "ARTICLE", "B")), (1,)),
        ((("AND", "CHANNEL", "ONLINE"), ("OR", "ARTICLE", "B")), (1,)),
        ((("OR", "ARTICLE", "C"),), (3,)),
    ],
)
def test_condition_groups_determine_which_lines_qualify(
    conditions: tuple[tuple[str, str, str], ...], expected: object
) -> None:
    rows = [row(kind, value, connector=how, sequence=n) for n, (how, kind, value) in enumerate(conditions)]
    assert qualifying(*rows, seen=AB) == expected
    assert qualifying(*reversed(rows), seen=AB) == expected  # the order follows the sequence


def test_the_group_that_came_closest_is_the_one_explained() -> None:
    rows = (row("RECEIPT_AMOUNT", "1000"), row("RECEIPT_AMOUNT", "40", sequence=2, connector="OR"))
    compiled = compile_promotion(promotion("p", *rows))
    unmet = compiled.qualify(AB, AB.sale_total_minor)
    assert not isinstance(unmet, Met)
    assert (unmet.percent(), unmet.failed[0].missed.threshold) == (75, 4000)


def test_the_remaining_amount_counts_in_multiplicative_mode_only() -> None:
    at_thirty = row("RECEIPT_AMOUNT", "30")
    assert qualifying(at_thirty, seen=AB, remaining=2999) == (0, 1, 3)
    assert qualifying(at_thirty, seen=AB, remaining=2999, calculation_mode="MULTIPLICATIVE") == [
        "RECEIPT_AMOUNT_TOO_LOW"
    ]


def test_the_order_is_total() -> None:
    group = PriorityRow("g", 5, 2)
    definitions = [
        promotion("b", priority=1),
        promotion("a", priority=1),
        promotion("c", priority=0),
        promotion("grouped", priority=999, priority_group=group),
        promotion("first in group", priority=1000, priority_group=replace(group, sequence=1)),
        promotion("global", exclusivity="GLOBAL", priority=1000),
        promotion("article", priority=1000, actions=(replace(TEN_PERCENT, action_type="ARTICLE"),)),
    ]
    compiled = sorted(map(compile_promotion, definitions), key=lambda one: (one.order_before, 0, one.order_after))
    assert [one.id for one in compiled] == ["first in group", "grouped", "global", "article", "c", "a", "b"]


# One change at a time


def test_an_invalid_definition_is_refused_and_removes_its_earlier_version() -> None:
    catalogue = Catalogue()
    catalogue.put(promotion("p"))
    with pytest.raises(DefinitionError):
        catalogue.put(promotion("p", row("CHANNEL")))
    assert len(catalogue) == 0
    refused = catalogue.compile_all([promotion("p", row("CHANNEL")), promotion("q")])
    assert [(name, error.target) for name, error in refused.items()] == [("p", "Conditions(1)/value")]
    assert "q" in catalogue


def test_an_article_that_changes_its_group_changes_its_candidates() -> None:
    catalogue = Catalogue({"apples": "fruit"})
    catalogue.put(promotion("p", row("ARTICLE_GROUP", "fruit", include_sub_groups=True)))

    def candidates() -> int:
        groups = catalogue.article_groups
        seen = BasketView(view(line("A", group="apples")).basket, {}, {}, groups, Settings(now=NOW))
        return len(catalogue.candidates(seen, (), seen.settings))

    assert candidates() == 1
    catalogue.set_article_groups({"apples": "tech"})
    assert candidates() == 0


def test_the_hash_changes_with_every_change_and_only_then() -> None:
    one = promotion("p", row("ARTICLE", "A"), valid_from=NOW, pos_groups=frozenset({"b", "a", "c"}))
    assert definition_hash(one) == definition_hash(replace(one, pos_groups=frozenset({"c", "a", "b"})))
    assert definition_hash(one) == definition_hash(replace(one, valid_from=NOW.astimezone()))
    changes: list[dict[str, Any]] = [
        {"name": "q"},
        {"valid_from": NOW + timedelta(microseconds=1)},
        {"pos_groups": frozenset({"a"})},
        {"conditions": (row("ARTICLE", "B"),)},
        {"actions": (replace(TEN_PERCENT, discount_value_hundredths=1001),)},
        {"priority": 1},
        {"is_experiment": True},
    ]
    assert len({definition_hash(one), *[definition_hash(replace(one, **change)) for change in changes]}) == 8


def test_the_hash_is_the_same_in_every_process() -> None:
    script = (
        "from tests.engine.given import *; from promenade.engine.catalogue import definition_hash as h;"
        "print(h(promotion('p', row('ARTICLE', 'A'), valid_from=NOW, pos_groups=frozenset(map(str, range(50))))))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].strip()) == 64
