"""Every scenario file against the engine, and the coverage that the files promise (scenarios/README.md)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promenade.engine.benefits.registry import benefit_codes, loyalty_codes
from promenade.engine.catalogue import Catalogue
from promenade.engine.conditions import condition_codes
from promenade.engine.evaluation import evaluate
from promenade.engine.outcome import Outcome
from tests.engine.scenario_kit import FOLDER, Scenario, ScenarioError, load, load_all, load_file, parse
from tests.engine.scenario_outcome import differences

CASES = {"plain", "boundary", "interplay"}
COVERABLE = [
    *(("condition", code) for code in condition_codes()),
    *(("action", code) for code in benefit_codes()),
    *(("loyalty", code) for code in loyalty_codes()),
]


def price(scenario: Scenario) -> Outcome:
    catalogue = Catalogue(scenario.article_groups, scenario.barred_groups)
    refused = catalogue.compile_all(scenario.definitions)
    assert not refused, [f"{error.target}: {error.message}" for error in refused.values()]
    return evaluate(catalogue, scenario.basket, scenario.facts, scenario.settings)


def _scenarios() -> list[Any]:
    """Return every scenario, named after its file and, if there are several in it, its place."""
    found: list[Any] = []
    for path in sorted(FOLDER.rglob("*.yaml")):
        name, scenarios = str(path.relative_to(FOLDER).with_suffix("")), load_file(path)
        names = [name] if len(scenarios) == 1 else [f"{name}-{place}" for place in range(1, len(scenarios) + 1)]
        found += [pytest.param(scenario, id=one) for scenario, one in zip(scenarios, names, strict=True)]
    return found


@pytest.mark.parametrize("scenario", _scenarios())
def test_each_scenario_gives_its_stated_result(scenario: Scenario) -> None:
    found = differences(scenario, price(scenario))
    assert not found, "\n".join([f"{scenario.title} ({scenario.why.strip()})", *found])


@pytest.mark.parametrize("scenario", _scenarios())
def test_the_shares_of_every_scenario_add_up(scenario: Scenario) -> None:
    outcome = price(scenario)
    for line in outcome.lines:
        assert sum(discount.amount_minor for discount in line.discounts) == line.discount_minor
        assert line.net_minor == max(line.total_minor - line.discount_minor, 0)
        for discount in line.discounts:
            assert sum(share.count * share.amount_minor for share in discount.units) == discount.amount_minor
    assert sum(line.discount_minor for line in outcome.lines) == outcome.discount_minor
    assert sum(promotion.discount_minor for promotion in outcome.applied) == outcome.discount_minor
    assert outcome.subtotal_minor - outcome.discount_minor == outcome.grand_total_minor


def test_there_are_enough_scenarios_and_each_states_the_essentials() -> None:
    scenarios = load_all()
    assert len(scenarios) >= 120
    for scenario in scenarios:
        assert "applied" in scenario.expect, f"{scenario.path.name} does not say which promotions apply"
        assert "discount" in scenario.expect["totals"], f"{scenario.path.name} does not say what is saved"
    titles = [scenario.title for scenario in scenarios]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("kind", "code"), COVERABLE)
def test_every_type_has_a_plain_case_a_boundary_and_an_interplay(kind: str, code: str) -> None:
    """A rule type without three manually calculated scenarios is not finished."""
    shown: dict[str, list[str]] = defaultdict(list)
    for scenario in load_all():
        if scenario.covers.get(kind) == code:
            assert code in _types_in(scenario, kind), f"{scenario.path.name} claims {code} without using it"
            shown[scenario.covers["case"]].append(scenario.path.name)
    assert set(shown) == CASES, f"{kind} {code} has only {dict(shown)}"
    assert sum(map(len, shown.values())) >= 3


def _types_in(scenario: Scenario, kind: str) -> set[str]:
    used = set()
    for definition in scenario.definitions:
        if kind == "condition":
            used |= {condition.condition_type for condition in definition.conditions}
        elif kind == "loyalty":
            used |= {action.action_type for action in definition.loyalty_actions}
        else:
            used |= {action.action_type for action in definition.actions}
            used |= {"LOYALTY"} if definition.loyalty_actions else set()
    return used


def test_the_coverage_of_every_scenario_uses_known_codes() -> None:
    known = {(kind, code) for kind, code in COVERABLE}
    for scenario in load_all():
        stated = dict(scenario.covers)
        if stated:
            assert stated.pop("case") in CASES, scenario.path.name
            assert set(stated.items()) <= known, scenario.path.name


def test_a_wrong_number_in_a_scenario_fails() -> None:
    """Each stated amount of one scenario, increased by a cent, makes it fail."""
    scenario = load(FOLDER / "conditions" / "article" / "ten_percent_off_shampoo.yaml")
    outcome = price(scenario)
    wrong: list[dict[str, Any]] = [
        {"applied": []},
        {"lines": {"SHAMPOO": {"discount": "0.81"}}},
        {"lines": {"SOAP": {"net": "1.51"}}},
        {"lines": {"SHAMPOO": {"discont": "0.80"}}},
        {"totals": {"grandTotal": "8.71"}},
        {"missed": {"shampoo-week": {"code": "CONDITION_NOT_MET"}}},
        {"mised": {}},
    ]
    for expectation in wrong:
        assert len(differences(replace(scenario, expect=expectation), outcome)) == 1, expectation


PLAIN = """
title: A title
why: A reason
promotions:
  - {id: one, actions: [{actionType: ARTICLE, discountType: PERCENTAGE, discountValue: 10}]}
basket:
  - {article: SOAP, price: 1.50}
expect: {applied: [one]}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("why: A reason", "whi: A reason", "unknown whi"),
        ("discountValue: 10", "discountVaule: 10", "unknown discountVaule"),
        ("price: 1.50", "price: 1.505", "more than 2 decimals"),
        ("price: 1.50", "price: cheap", "expected a number"),
        ("price: 1.50", "price: 1.50, price: 1.60", "written twice"),
        ("{article: SOAP, price: 1.50}", "{article: SOAP}", "price is missing"),
        ("  - {article: SOAP", "  - {article: SOAP, price: 1}\n  - {article: SOAP", "share a reference"),
        ("title: A title", "title: A title\nnow: 2026-03-14T12:00:00", "names no time zone"),
    ],
)
def test_a_misspelt_scenario_is_refused(right: str, wrong: str, complaint: str) -> None:
    parse(PLAIN, Path("plain.yaml"))
    with pytest.raises(ScenarioError, match=complaint):
        parse(PLAIN.replace(right, wrong), Path("plain.yaml"))


def test_numbers_are_never_floats() -> None:
    scenario = parse(PLAIN, Path("plain.yaml"))
    assert scenario.basket.lines[0].unit_price_hundredths == 150
    assert type(scenario.basket.lines[0].unit_price_hundredths) is int
