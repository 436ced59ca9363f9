"""The examples of docs/pricing.md are scenarios: what the page says they cost is what the engine says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from promenade.engine.catalogue import Catalogue
from promenade.engine.evaluation import evaluate
from tests.engine.scenario_kit import parse
from tests.engine.scenario_outcome import differences

PAGE = Path(__file__).parent.parent.parent / "docs/pricing.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_has_the_sections_that_the_code_names() -> None:
    found = re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.MULTILINE)
    assert found == [str(number) for number in range(1, 12)]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number: int) -> None:
    scenario = parse(f"title: example {number + 1}\nwhy: it stands beside it\n{EXAMPLES[number]}", PAGE)
    assert {"applied", "totals"} <= set(scenario.expect), "an example says what applies and what is paid"
    catalogue = Catalogue(scenario.article_groups)
    refused = catalogue.compile_all(scenario.definitions)
    assert not refused, refused
    outcome = evaluate(catalogue, scenario.basket, scenario.facts, scenario.settings)
    assert not differences(scenario, outcome)
