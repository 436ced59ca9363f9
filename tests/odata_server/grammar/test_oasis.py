"""Every case of the OASIS grammar tests: what they accept is accepted, what they refuse gets 400.

Well-formed requests for features that this library does not support get 501; those cases are listed below, as are the
few that the protocol itself refuses. FailAt is not compared: parsers detect errors at different positions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from odata_server.errors import ODataError
from odata_server.parse.query import parse_options
from tests.odata_server.grammar.names import Names
from tests.odata_server.grammar.rules import RULES

FOLDER = Path(__file__).resolve().parents[3].parent / "shared/design/oasis-abnf"
FILES = ("odata-abnf-testcases.json", "odata-aggregation-testcases.json")

# Well-formed and answered with 501: the reason, and the names of the cases.
NOT_OFFERED: Mapping[str, tuple[str, ...]] = {
    "A date outside of the years 1 to 9999": (
        "Date: year zero",
        "Date: negative",
        "DateTimeOffset: year zero",
        "DateTimeOffset: negative",
    ),
    "A $filter(...) inside a path that no $count follows": ("4.12 Filter Path Segment followed by key predicate",),
    "An expression inside a JSON object": (
        "5.1.1.14.2 object with expression values",
        "function with rootExpr - complex with single navigation",
        "function with rootExpr - complex with collection navigation",
    ),
    "A key inside an expression": (
        "5.1.1.15 Path expressions - key access after set navigation",
        "aggregate - path with key segment",
    ),
    "rolluprecursive(...)": (
        "aggregate - groupby rollup recursive hierarchy",
        "aggregate - groupby rollup recursive sub-hierarchy",
        "aggregate - groupby rollup recursive sub-hierarchy with filter",
        "transformation sequences - aggregation along hierarchy",
        "two hierarchies in one transformation sequence",
        "two hierarchies in one transformation sequence - alternative",
        (
            "multi-parent hierarchy with weighted edges"
            " (ns.SalesOrganization@Aggregation.RecursiveHierarchy#SalesOrgHierarchy/ParentPropertyPath = Edges/Parent)"
        ),
        "aggregation with 1:n hierarchy assignment",
        "traverserecursive",
        "restricted hierarchical measure",
    ),
    "aggregate(...) inside an expression": (
        "aggregate function - arithmetic expression",
        "aggregate function - $compute",
        "aggregate function - lambda operators",
        "aggregate function after function",
        "aggregate function - function expression",
        "aggregate function - function expression on current collection",
        "aggregate function - after grouping",
        "aggregate function - within a group",
        "aggregate function - across input set",
        "aggregate function - across input set with custom aggregate",
        "aggregate function - across input set with related custom aggregate",
        "aggregate function - across input set with from",
        "aggregate function - across input set with $count and from",
        "aggregate function - across input set with $count",
        "aggregate function - within a group - ...",
        "aggregate function - in $compute option",
        "aggregate function - in $compute option with custom aggregate",
        "aggregate function - within filter after navigation property",
        "aggregate function - within filter within groupby",
        "aggregate function - aggregate within any",
        "aggregate function - countdistinct with navigation property",
    ),
}

# Accepted by the grammar but answered with 400.
AGAINST_THE_PROTOCOL = {
    "5.1.8 Format": "URL Conventions, 5: no system query option twice",
    "5.1.8 Format - value is case-insensitive": "URL Conventions, 5: no system query option twice",
}

REASONS = {name: reason for reason, names in NOT_OFFERED.items() for name in names}


def _cases() -> list[Any]:
    if not FOLDER.is_dir():
        missing = f"the OASIS test cases are not at {FOLDER}"
        return [pytest.param({}, None, marks=pytest.mark.skip(reason=missing), id="missing")]
    found = []
    for file in FILES:
        content = json.loads((FOLDER / file).read_text())
        names = Names(content["Constraints"])
        for number, case in enumerate(content["TestCases"]):
            refused = "refused" if "FailAt" in case else "accepted"
            found.append(pytest.param(case, names, id=f"{file[6:10]}{number:04}-{case['Rule']}-{refused}"))
    return found


@pytest.mark.parametrize(("case", "names"), _cases())
def test_the_parser_agrees_with_the_oasis_grammar_tests(case: Mapping[str, Any], names: Names) -> None:
    rule, text, name = case["Rule"], case["Input"], case["Name"]
    if "FailAt" in case or name in AGAINST_THE_PROTOCOL:
        with pytest.raises(ODataError) as refusal:
            RULES[rule](text, names)
        assert refusal.value.status == 400, refusal.value
    elif name in REASONS:
        with pytest.raises(ODataError) as refusal:
            RULES[rule](text, names)
        assert refusal.value.status == 501
        assert REASONS[name] in refusal.value.message
    else:
        RULES[rule](text, names)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("$filter=Price gt", 8),
        ("$filter=(Price", 6),
        ("$orderby=Name up", 5),
        ("$top=-1", 0),
        ("$apply=aggregate()", 10),
    ],
)
def test_a_syntax_error_states_its_position(text: str, position: int) -> None:
    with pytest.raises(ODataError) as refusal:
        parse_options(text)
    assert f"at position {position}" in refusal.value.message
    assert refusal.value.target == text.partition("=")[0]
