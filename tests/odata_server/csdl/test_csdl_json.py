"""``$metadata`` as JSON describes the same model as the XML, in CSDL JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odata_server.csdl.json import render_json
from odata_server.csdl.xml import render_xml
from odata_server.edm import Edm
from tests.odata_server import bookshop_edm
from tests.odata_server.csdl.library import library
from tests.odata_server.csdl.reader import to_json


def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render_json(library()))["Library.v1"]
    return found


@pytest.mark.parametrize("edm", [library(), bookshop_edm.EDM], ids=["library", "bookshop"])
def test_json_and_xml_describe_the_same_model(edm: Edm) -> None:
    assert json.loads(render_json(edm)) == to_json(render_xml(edm))


def test_the_same_model_gives_the_same_bytes() -> None:
    assert render_json(library()) == render_json(library())


def test_the_document_names_its_version_its_container_and_its_vocabularies() -> None:
    document = json.loads(render_json(library()))
    assert document["$Version"] == "4.01"
    assert document["$EntityContainer"] == "Library.v1.Container"
    assert document["$Reference"]["https://example.com/Toy.json"] == {
        "$Include": [{"$Namespace": "com.example.toy", "$Alias": "Toy"}]
    }


def test_an_entity_type_has_its_key_its_properties_and_its_navigations() -> None:
    book = _schema()["Book"]
    assert book["$Kind"] == "EntityType"
    assert book["$Key"] == ["ID"]
    assert book["discount"] == {
        "$Type": "Edm.Decimal",
        "$Nullable": True,
        "$Precision": 5,
        "$Scale": 2,
        "$DefaultValue": 1.1,
    }
    assert book["tags"] == {"$Collection": True, "$MaxLength": 20}
    assert book["author"] == {
        "$Kind": "NavigationProperty",
        "$Type": "Library.v1.Author",
        "$Nullable": True,
        "$Partner": "books",
        "$ReferentialConstraint": {"author_ID": "ID"},
    }
    assert book["chapters"] == {
        "$Kind": "NavigationProperty",
        "$Type": "Library.v1.Chapter",
        "$Collection": True,
        "$Partner": "book",
        "$OnDelete": "Cascade",
    }


def test_annotations_are_members_named_by_their_target() -> None:
    schema = _schema()
    assert schema["Book"]["title"]["@Common.Text"] == {"$Path": "subtitle"}
    assert schema["Book"]["title"]["@Common.Text@UI.TextArrangement"] == "TextOnly"
    assert schema["Book"]["@UI.LineItem#Short"] == []
    assert schema["Book"]["@Toy.Flags"] == "Big,Round"
    assert schema["Book"]["@Toy.Rule"] == {
        "$Or": [{"$Not": {"$Path": "secret"}}, {"$Eq": [{"$Path": "title"}, "Emma"]}]
    }
    assert schema["Book"]["@Toy.Exact"] == "0.1234567890123456789012345"
    assert schema["Book"]["@UI.LineItem"][0] == {
        "@type": "https://sap.github.io/odata-vocabularies/vocabularies/UI.json#UI.DataField",
        "Value": {"$Path": "title"},
        "Label": "Title",
        "@UI.Importance": "High",
    }
    assert "Paper@Core.Description" in schema["Format"]
    assert schema["Genres"]["$UnderlyingType"] == "Edm.Int64"


def test_operations_are_lists_of_their_overloads() -> None:
    schema = _schema()
    assert [overload["$Parameter"][0] for overload in schema["reprint"]] == [
        {"$Name": "in", "$Type": "Library.v1.Book"},
        {"$Name": "in", "$Collection": True, "$Type": "Library.v1.Book"},
    ]
    assert schema["bestsellers"] == [
        {
            "$Kind": "Function",
            "$IsComposable": True,
            "$Parameter": [{"$Name": "top", "$Type": "Edm.Int32"}],
            "$ReturnType": {"$Collection": True, "$Type": "Library.v1.Book"},
        }
    ]


def test_a_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no CSDL JSON 5\.0"):
        render_json(library(), "5.0")
