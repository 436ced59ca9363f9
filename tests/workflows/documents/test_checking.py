"""What is wrong with a document is told by file, line and member, and an editor with the schema says the same."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from promenade import model
from promenade.model.declare import EntityType
from promenade.workflows.documents import checking
from promenade.workflows.documents.checking import ENTRIES_MAX, FAULTS_MAX, check_document, check_together
from promenade.workflows.documents.schema import schema_text
from promenade.workflows.documents.shape import Node, definition_nodes, node_of
from promenade.workflows.documents.yaml_text import read_documents
from tests.workflows.documents.pair import documents_of, lines_of

SCHEMA = jsonschema.Draft7Validator(json.loads(schema_text()))
GOOD = """\
code: TEN
name: Ten percent
status: ACTIVE
validFrom: "2026-03-01T00:00:00+01:00"
posGroups: [WIEN]
conditions:
  - conditionType: ARTICLE
    articleNumber: "4711"
    minAmount: 10.5
  - sequence: -1
    conditionType: TIME_WINDOW
    timeFrom: "08:00:00"
    weekdays: MON,TUE
discountActions:
  - actionType: ARTICLE
    discountType: PERCENTAGE
    discountValue: 10
    exclusions:
      - exclusionType: ARTICLE
        articleNumber: "1"
budgets: [B-1]
definitions:
  budgets:
    - code: B-1
      name: Marketing
      totalAmount: 1000
      currency: EUR
"""


def faults_of(text: str) -> list[str]:
    (parsed,) = read_documents(text.encode(), "a.yaml")
    return lines_of(check_document(parsed)[1])


def test_a_document_in_its_normal_form() -> None:
    (document,) = documents_of(GOOD)
    first, second = document.content["conditions"]
    assert (first["sequence"], second["conditionType"]) == (-1, "ARTICLE")
    assert 'validFrom: "2026-02-28T23:00:00Z"' in document.text
    assert "minAmount: 10.50" in document.text
    assert documents_of(document.text)[0].text == document.text
    SCHEMA.validate(yaml.safe_load(GOOD))


WRONG = [
    ("name: Ten percent\n", "", "a.yaml, line 1: name is required."),
    ("code: TEN", "codes: TEN", "line 1: codes: There is no such member. Did you mean code?"),
    ("code: TEN", "code: 10", 'line 1: code: 10 is not a text. If it is a text, write it in quotes: "10".'),
    ("ACTIVE", "PILOT", "line 3: status: A document can wish for ACTIVE or INACTIVE, not for PILOT."),
    ("[WIEN]", "WIEN", "line 5: posGroups: This must be a list."),
    ("[WIEN]", "[WIEN, 7]", "line 5: posGroups/1: This must be code of PosGroups. If it is a text, write it in quotes"),
    ("TIME_WINDOW", "TIME_WINDOWS", "of the code list ConditionTypes. Did you mean TIME_WINDOW"),
    ("10.5", "10.555", "line 9: conditions/0/minAmount: At most 2 decimals are allowed."),
    ("10.5", '"10.5"', "line 9: conditions/0/minAmount: This must be a number, without quotes."),
    ("discountValue: 10\n", "discountValue: -1\n", "line 17: discountActions/0/discountValue must be at least 0."),
    ("      - exclusionType: ARTICLE\n        articleNumber", "      - articleNumber",
     "line 19: discountActions/0/exclusions/0/exclusionType is required."),
    ("discountActions:\n", "discountActions: {}\nloyaltyActions:\n", "line 14: discountActions: This must be a list."),
    ("      currency: EUR\n", "", "line 24: definitions/budgets/0/currency is required."),
    ("  budgets:\n", "  articles:\n", "line 23: definitions/articles: There is no such member."),
    ("    weekdays: MON,TUE\n", "    applicationsCount: 3\n",
     "line 13: conditions/1/applicationsCount: There is no such member."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), WRONG, ids=lambda one: one if one.startswith("line") else "")
def test_a_fault_is_told_by_line_and_member(old: str, new: str, said: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    assert [line for line in faults_of(text) if said in line], faults_of(text)
    if "decimals" not in said:  # of which JSON Schema cannot tell exactly
        assert not SCHEMA.is_valid(yaml.safe_load(text)), "an editor would not complain"


def test_all_faults_are_told_in_the_order_of_the_lines() -> None:
    text = GOOD.replace("ACTIVE", "X").replace("minAmount: 10.5", "minAmounts: 1").replace("discountValue: 10", "d: 1")
    assert [line.split(":")[0] for line in faults_of(text)] == [f"a.yaml, line {line}" for line in (3, 9, 17)]


@pytest.mark.parametrize(
    ("member", "said"),
    [("validTo: '2026-01-01T00:00:00Z'", "validTo must be after validFrom."),
     ("posGroups: [A, B, A]", "posGroups/2: A is in the list twice."),
     ('campaign: "a\\0b"', "campaign: It holds a character that cannot be stored."),
     ('description: "a\\0b"', "description: It contains the character U+0000."),
     ("priority: 3000000000", "priority"),
     ("discountActions: [{}]", "discountActions/0/actionType is required."),
     ("pilotConfig: []", "pilotConfig: This must be a mapping of members to values.")],
)  # fmt: skip
def test_what_single_values_cannot_say(member: str, said: str) -> None:
    text = f"name: x\nvalidFrom: '2026-02-01T00:00:00Z'\n{member}\n"
    assert [line for line in faults_of(text) if f"line 3: {said}" in line], faults_of(text)


def test_a_document_is_a_mapping() -> None:
    assert faults_of("- a\n") == ["a.yaml, line 1: A document is a mapping, such as `code: SUMMER`."]


def test_two_documents_of_one_promotion_and_two_definitions_of_one_row_are_told() -> None:
    parsed = read_documents(f"{GOOD}---\n{GOOD.replace('1000', '2000')}".encode(), "a.yaml")
    found = [document for document, _ in map(check_document, parsed) if document is not None]
    assert lines_of(check_together(found)) == [
        "a.yaml, line 29: code: a.yaml, line 1, is of the same promotion, TEN.",
        "a.yaml, line 52: definitions/budgets/0: a.yaml, line 24, defines B-1 differently.",
    ]


# --- the shape is that of the model -----------------------------------------------------------------------------------


def nodes() -> list[Node]:
    found: list[Node] = []
    waiting = [node_of("Promotions"), *definition_nodes().values()]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.append(node)
            waiting += [part.node for part in node.parts.values()]
    return found


@pytest.mark.parametrize("node", nodes(), ids=lambda node: node.set_name)
def test_a_document_has_every_property_that_a_client_may_write(node: Node) -> None:
    entity: EntityType = node.entity
    own = {one.wire for one in entity.fields if not (one.read_only or one.virtual or one.name in ("id", "tenant_id"))}
    told = node.values.keys() | {one.wire for one in node.references.values()}
    links = {one.property_wire: one for one in entity.links if not one.read_only}
    assert told - links.keys() == own
    assert len(links.keys() - told) <= 1, "the row that it belongs to"
    assert {one.wire for one in entity.collections if one.composition} <= node.parts.keys()


def test_a_document_has_every_set_whose_rows_need_a_promotion() -> None:
    told = {node.set_name for node in nodes()}
    needing = {
        one.set_name
        for one in model.entities()
        for link in one.links
        if link.target == "Promotions" and link.required and one.public.value == "RW"
    }
    assert needing <= told


def test_master_data_are_not_defined_by_documents() -> None:
    defined = {node.set_name for node in definition_nodes().values()}
    assert defined == {
        "Campaigns", "Budgets", "CouponTypes", "PriorityGroups", "MutualExclusionGroups", "Stakeholders"
    }  # fmt: skip


def schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of all members, at any depth."""
    found = []
    for one in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        found += [one, *schemas(one)]
    return found


def test_every_member_of_the_schema_explains_itself() -> None:
    assert all(one.get("description") for one in schemas(json.loads(schema_text())))


@pytest.mark.parametrize(
    "text",
    [
        "discountActions: [" + "{}," * 80_000 + "{}]",
        "conditions: [" + "{a: 1}," * (ENTRIES_MAX - 1) + "{}]",
        "".join(f"zz{number}: 1\n" for number in range(20_000)),
    ],
    ids=["too many entries", "all wrong", "unknown members"],
)
def test_a_document_is_checked_no_further_than_helps(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (parsed,) = read_documents(f"code: X\nname: Y\n{text}\n".encode(), "x.yaml")
    told: list[str] = []
    tell = checking._Checker._tell

    def noted(checker: Any, path: str, *more: str) -> None:
        told.append(path)
        tell(checker, path, *more)

    monkeypatch.setattr(checking._Checker, "_tell", noted)
    document, faults = check_document(parsed)
    assert document is None
    assert 0 < len(faults) == len(told) <= FAULTS_MAX


def test_a_list_may_be_long_but_not_endless() -> None:
    for entries, said in ((ENTRIES_MAX, 0), (ENTRIES_MAX + 1, 1)):
        text = "code: X\nname: Y\nposGroups: [" + ",".join(f"P{number}" for number in range(entries)) + "]\n"
        (parsed,) = read_documents(text.encode(), "x.yaml")
        document, faults = check_document(parsed)
        assert (document is None, len(faults)) == (bool(said), said)
    assert "at most 10000 entries, and this one has 10001" in str(faults[0])
    assert faults[0].path == "posGroups"
