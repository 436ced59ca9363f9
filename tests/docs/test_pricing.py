"""The examples of docs/pricing.md are scenarios: the engine gives the same prices as the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from promenade.engine.catalogue import Catalogue
from promenade.engine.evaluation import evaluate
from tests.engine.scenario_kit import parse
from tests.engine.scenario_outcome import differences

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs/pricing.md"
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_has_the_sections_that_the_code_names() -> None:
    found = re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.MULTILINE)
    assert found == [str(number) for number in range(1, 12)]


def test_sections_and_promises_named_in_the_code_exist() -> None:
    """`section 6` is a section of the pricing page, `reliability B1` a promise in docs/reliability.md."""
    promises = (ROOT / "docs/reliability.md").read_text()
    for path in sorted((ROOT / "src/promenade").rglob("*.py")):
        code = path.read_text()
        for number in re.findall(r"\bsections? (\d+)", code):
            assert 1 <= int(number) <= 11, f"{path.name}: section {number}"
        for label in re.findall(r"\breliability ([A-Z]\d)", code):
            assert f"**{label}**" in promises, f"{path.name}: reliability {label}"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_each_example_gives_its_documented_prices(number: int) -> None:
    scenario = parse(f"title: example {number + 1}\nwhy: it stands beside it\n{EXAMPLES[number]}", PAGE)
    assert {"applied", "totals"} <= set(scenario.expect), "an example says what applies and what is paid"
    catalogue = Catalogue(scenario.article_groups, scenario.barred_groups)
    refused = catalogue.compile_all(scenario.definitions)
    assert not refused, refused
    outcome = evaluate(catalogue, scenario.basket, scenario.facts, scenario.settings)
    assert not differences(scenario, outcome)
