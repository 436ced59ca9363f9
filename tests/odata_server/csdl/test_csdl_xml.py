"""``$metadata`` as XML: well-formed, valid, and complete."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from odata_server.csdl.xml import render_xml
from odata_server.edm import Annotation, Edm, EntitySet, EntityType, NavigationProperty, Primitive, Property, Schema
from odata_server.edm import Container as EdmContainer
from tests.kit.annotation_targets import inlined
from tests.odata_server import bookshop_edm
from tests.odata_server.csdl.checker import EDM, EDMX, faults
from tests.odata_server.csdl.library import AWKWARD, library


def _schema(version: str = "4.01") -> ET.Element:
    schema = inlined(ET.fromstring(render_xml(library(), version))).find(f"{EDMX}DataServices/{EDM}Schema")
    assert schema is not None
    return schema


def _one(path: str) -> ET.Element:
    """Return the only element at a path, each step ``Tag[Name]`` (or Term, Path, Property)."""
    element = _schema()
    for step in path.split(" "):
        tag, _, name = step.removesuffix("]").partition("[")
        found = [
            child
            for child in element.findall(f"{EDM}{tag}")
            if not name or name in (child.get("Name"), child.get("Term"), child.get("Path"), child.get("Property"))
        ]
        assert len(found) == 1, (step, [child.attrib for child in element])
        element = found[0]
    return element


@pytest.mark.parametrize("version", ["4.0", "4.01"])
@pytest.mark.parametrize("edm", [library(), bookshop_edm.EDM], ids=["library", "bookshop"])
def test_the_document_keeps_every_rule_of_csdl(edm: Edm, version: str) -> None:
    assert faults(render_xml(edm, version), version) == []


def test_the_same_model_gives_the_same_bytes() -> None:
    assert render_xml(library()) == render_xml(library())


def test_a_4_0_client_gets_a_4_0_document_of_the_same_model() -> None:
    older, newer = render_xml(library(), "4.0"), render_xml(library(), "4.01")
    assert older.replace(b'Version="4.0"', b'Version="4.01"', 1) == newer


def test_a_version_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no CSDL XML 3\.0"):
        render_xml(library(), "3.0")


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("title", {"Type": "Edm.String", "Nullable": "false", "MaxLength": "100"}),
        ("subtitle", {"Type": "Edm.String", "DefaultValue": ""}),
        ("format", {"Type": "Library.v1.Format", "DefaultValue": "Paper"}),
        ("price", {"Type": "Library.v1.Money"}),
        ("discount", {"Type": "Edm.Decimal", "Precision": "5", "Scale": "2", "DefaultValue": "1.10"}),
        ("tags", {"Type": "Collection(Edm.String)", "Nullable": "false", "MaxLength": "20"}),
        ("inPrint", {"Type": "Edm.Boolean", "Nullable": "false", "DefaultValue": "true"}),
        ("pages", {"Type": "Edm.Int32", "DefaultValue": "0"}),
        ("cover", {"Type": "Edm.Binary", "MaxLength": "1000", "DefaultValue": "-_8="}),
        ("published", {"Type": "Edm.Date", "DefaultValue": "2020-02-29"}),
        ("opens", {"Type": "Edm.TimeOfDay", "Precision": "3", "DefaultValue": "09:30:00"}),
        ("length", {"Type": "Edm.Duration", "DefaultValue": "P1DT5.25S"}),
        ("createdAt", {"Type": "Edm.DateTimeOffset", "Precision": "6", "DefaultValue": "2020-01-02T03:04:05Z"}),
    ],
)
def test_a_property_carries_its_facets(name: str, attributes: dict[str, str]) -> None:
    assert _one(f"EntityType[Book] Property[{name}]").attrib == {"Name": name, **attributes}


def test_a_decimal_without_a_scale_may_have_any() -> None:
    assert _one("ComplexType[Money] Property[rate]").get("Scale") == "variable"


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("Property[ID] Annotation[Core.Computed]", {"Bool": "true"}),
        ("Property[isbn] Annotation[Core.Immutable]", {"Bool": "true"}),
        ("Property[secret] Annotation[Core.Permissions]", {"EnumMember": "Core.Permission/Write"}),
        ("Property[title] Annotation[Core.Description]", {"String": AWKWARD}),
        ("Property[title] Annotation[Common.Text]", {"Path": "subtitle"}),
        (
            "Property[title] Annotation[Common.Text] Annotation[UI.TextArrangement]",
            {"EnumMember": "UI.TextArrangementType/TextOnly"},
        ),
        ("Annotation[Toy.Anchor]", {"AnnotationPath": "@UI.LineItem"}),
        ("Annotation[Toy.Way]", {"NavigationPropertyPath": "author"}),
        ("Annotation[Toy.Flags]", {"EnumMember": "Toy.Sizes/Big Toy.Sizes/Round"}),
        ("Annotation[Toy.Exact]", {"Decimal": "0.1234567890123456789012345"}),
    ],
)
def test_an_annotation_carries_its_value(path: str, values: dict[str, str]) -> None:
    found = dict(_one(f"EntityType[Book] {path}").attrib)
    found.pop("Term")
    assert found == values


def test_a_collection_holds_values_of_every_kind() -> None:
    everything = _one("EntityType[Book] Annotation[Toy.Everything] Collection")
    tags = [(child.tag.removeprefix(EDM), (child.text or "").strip()) for child in everything]
    assert tags == [
        ("Bool", "true"),
        ("Int", "7"),
        ("Decimal", "1.50"),
        ("String", "text"),
        ("Null", ""),
        ("Collection", ""),
        ("EnumMember", "Toy.Size/Big"),
    ]


def test_an_expression_holds_its_operands() -> None:
    rule = _one("EntityType[Book] Annotation[Toy.Rule] Or")
    negated, compared = rule
    assert [(one.tag, one.text) for one in negated] == [(f"{EDM}Path", "secret")]
    assert [(one.tag, one.text) for one in compared] == [(f"{EDM}Path", "title"), (f"{EDM}String", "Emma")]


def test_a_record_has_its_type_its_values_and_its_own_annotations() -> None:
    record = _one("EntityType[Book] Annotation[UI.HeaderInfo] Record PropertyValue[Title] Record")
    assert record.get("Type") == "UI.DataField"
    assert [dict(child.attrib) for child in record] == [
        {"Property": "Value", "Path": "title"},
        {"Property": "Label", "String": "Title"},
        {"Term": "UI.Importance", "EnumMember": "UI.ImportanceType/High"},
    ]


def test_compositions_are_deleted_with_their_parent_and_contained_where_they_have_no_set() -> None:
    chapters = _one("EntityType[Book] NavigationProperty[chapters]")
    assert chapters.get("ContainsTarget") is None
    assert [child.attrib for child in chapters.findall(f"{EDM}OnDelete")] == [{"Action": "Cascade"}]
    assert _one("EntityType[Book] NavigationProperty[notes]").get("ContainsTarget") == "true"


def test_only_navigations_to_a_key_have_referential_constraints() -> None:
    assert _one("EntityType[Book] NavigationProperty[author] ReferentialConstraint").attrib == {
        "Property": "author_ID",
        "ReferencedProperty": "ID",
    }
    for name in ("EntityType[Author] NavigationProperty[books]", "EntityType[Chapter] NavigationProperty[sequel]"):
        assert _one(name).findall(f"{EDM}ReferentialConstraint") == []


def test_bindings_reach_through_complex_values_and_contained_entities() -> None:
    books = _one("EntityContainer EntitySet[Books]")
    bound = {one.get("Path"): one.get("Target") for one in books.findall(f"{EDM}NavigationPropertyBinding")}
    assert bound == {
        "author": "LivingAuthors",
        "chapters": "Chapters",
        "notes/writer": "Authors",
        "price/currencyText": "Currencies",
    }


def _restrictions(entity_set: str) -> dict[str, dict[str, str]]:
    found = {}
    for annotation in _one(f"EntityContainer EntitySet[{entity_set}]").findall(f"{EDM}Annotation"):
        values = annotation.findall(f"{EDM}Record/{EDM}PropertyValue")
        found[annotation.get("Term", "")] = {one.get("Property", ""): one.get("Bool", "") for one in values}
    return found


def test_a_set_declares_its_allowed_operations() -> None:
    writable, fixed = _restrictions("Authors"), _restrictions("LivingAuthors")
    for term, flag in (("Insert", "Insertable"), ("Update", "Updatable"), ("Delete", "Deletable")):
        assert writable[f"Capabilities.{term}Restrictions"][flag] == "true"
        assert fixed[f"Capabilities.{term}Restrictions"][flag] == "false"
    assert fixed["Capabilities.ReadRestrictions"] == {"Readable": "true"}
    assert fixed["Capabilities.CountRestrictions"] == {"Countable": "true"}


def test_annotations_of_the_model_take_precedence_over_generated_ones() -> None:
    assert _restrictions("Books")["Capabilities.SearchRestrictions"] == {"Searchable": "false"}


def test_properties_that_cannot_be_read_are_declared_as_not_filterable_or_sortable() -> None:
    hidden = _one(
        "EntityContainer EntitySet[Books] Annotation[Capabilities.FilterRestrictions] Record "
        "PropertyValue[NonFilterableProperties] Collection PropertyPath"
    )
    assert hidden.text == "secret"


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("Core.ODataVersions", {"String": "4.0 4.01"}),
        ("Capabilities.ConformanceLevel", {"EnumMember": "Capabilities.ConformanceLevelType/Advanced"}),
        ("Capabilities.AsynchronousRequestsSupported", {"Bool": "false"}),
        ("Capabilities.CrossJoinSupported", {"Bool": "false"}),
        ("Capabilities.KeyAsSegmentSupported", {"Bool": "false"}),
        ("Capabilities.BatchSupported", {"Bool": "true"}),
        ("Core.Description", {"String": "A library"}),
    ],
)
def test_the_service_declares_its_capabilities(term: str, value: dict[str, str]) -> None:
    assert _one(f"EntityContainer Annotation[{term}]").attrib == {"Term": term, **value}


def test_bound_operations_take_what_they_are_bound_to_first() -> None:
    overloads = {}
    for action in _schema().findall(f"{EDM}Action"):
        if action.get("Name") == "reprint":
            overloads[action[0].get("Type")] = action
    assert list(overloads) == ["Library.v1.Book", "Collection(Library.v1.Book)"]
    single = overloads["Library.v1.Book"]
    assert single.get("IsBound") == "true"
    assert single.get("EntitySetPath") == single[0].get("Name") == "in"
    assert [child.get("Name") for child in single.findall(f"{EDM}Parameter")] == ["in", "copies", "price", "notes"]


def _edm(navigation: NavigationProperty, *annotations: Annotation) -> Edm:
    thing = EntityType(
        name="Thing",
        key=("ID",),
        properties=(Property(name="ID", type=Primitive.GUID, nullable=False),),
        navigations=(navigation,),
        annotations=annotations,
    )
    container = EdmContainer(entity_sets=(EntitySet(name="Things", entity_type="Thing"),))
    return Edm(Schema(namespace="Things", entity_types=(thing,), container=container))


def test_a_partner_that_does_not_point_back_fails_to_render() -> None:
    with pytest.raises(ValueError, match="Thing/next has a partner that does not lead back: previous"):
        render_xml(_edm(NavigationProperty(name="next", target="Thing", partner="previous")))


def test_an_undeclared_vocabulary_fails_to_render() -> None:
    with pytest.raises(ValueError, match="declared nowhere: Made"):
        render_xml(_edm(NavigationProperty(name="next", target="Thing"), Annotation("Made.Up")))


def test_text_that_xml_cannot_carry_does_not_break_the_document() -> None:
    edm = _edm(NavigationProperty(name="next", target="Thing"), Annotation("Core.Description", "a\x0bb\ud800c"))
    assert "a��c".replace("��", "�b�").encode() in render_xml(edm)
    assert faults(render_xml(edm), "4.01") == []
