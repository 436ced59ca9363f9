"""Part of the document: what a client of some tags needs, and nothing else."""

from __future__ import annotations

import copy
import json

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from odata_server.openapi.selection import select_tags
from tests.odata_server.openapi.test_openapi import BOOKSHOP, operations, render

DOCUMENT = render(BOOKSHOP, extras={"minorVersion": {"type": "integer"}})
TAGS = [tag["name"] for tag in DOCUMENT["tags"]]


@pytest.mark.parametrize("tag", TAGS)
def test_a_part_has_the_operations_of_its_tag_and_the_components_that_they_reach(tag: str) -> None:
    part = select_tags(DOCUMENT, {tag})
    assert [str(error) for error in OpenAPIV31SpecValidator(part).iter_errors()] == []
    named = {operation["operationId"] for _, _, operation in operations(DOCUMENT) if operation["tags"] == [tag]}
    assert {operation["operationId"] for _, _, operation in operations(part)} == named
    text = json.dumps(part)
    for kind in ("parameters", "responses", "schemas"):
        for name, component in part["components"][kind].items():
            assert f'"#/components/{kind}/{name}"' in text
            assert component == DOCUMENT["components"][kind][name]
    for used in {one.split('"')[0] for one in text.split('"#/components/')[1:]}:
        kind, name = used.split("/")
        assert name in part["components"][kind]


def test_a_part_is_smaller_and_leaves_the_document_as_it_is() -> None:
    before = copy.deepcopy(DOCUMENT)
    part = select_tags(DOCUMENT, {"Countries"})
    assert before == DOCUMENT
    assert len(json.dumps(part)) < len(json.dumps(DOCUMENT)) / 5
    assert "Chapter" not in part["components"]["schemas"]
    assert part["info"] == DOCUMENT["info"]


def test_parts_can_be_taken_together_and_all_of_them_are_the_whole() -> None:
    both = select_tags(DOCUMENT, {"Books", "Countries"})
    paths = {path for tag in ("Books", "Countries") for path in select_tags(DOCUMENT, {tag})["paths"]}
    assert set(both["paths"]) == paths
    assert [tag["name"] for tag in both["tags"]] == ["Books", "Countries"]
    assert select_tags(DOCUMENT, set(TAGS))["paths"] == DOCUMENT["paths"]


def test_links_lead_only_to_operations_of_the_part() -> None:
    part = select_tags(DOCUMENT, {"Books"})
    names = {operation["operationId"] for _, _, operation in operations(part)}
    links = [
        link["operationId"]
        for _, _, operation in operations(part)
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    assert set(links) <= names
