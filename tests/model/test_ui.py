"""The annotations for user interfaces in the admin service's metadata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from odata_server.csdl.annotations import of_set
from odata_server.edm import Annotation, AnnotationPath, AnnotationValue, Edm, EntityType, EnumMemberValue, Record
from promenade import model
from promenade.model.declare import ADMIN, PUBLIC, REPORTING
from promenade.model.edm import edm_for
from promenade.model.ui.hints import AVAILABLE, COLUMNS, DEPENDENT, LOCKED_BY
from promenade.model.ui.words import label, label_of_action, plural, singular
from promenade.workflows.authoring.machines import MACHINES
from tests.model.vocabulary import faults_of, read_vocabulary

VOCABULARY = read_vocabulary(Path(__file__).with_name("vocabularies.txt"))
EDM = edm_for(ADMIN)


def said(annotations: tuple[Annotation, ...], term: str, qualifier: str | None = None) -> Any:
    """Return the value of a term, or None if it is absent."""
    return next((one.value for one in annotations if (one.term, one.qualifier) == (term, qualifier)), None)


def of_type(name: str, term: str, qualifier: str | None = None) -> Any:
    return said(EDM.entity_types[name].annotations, term, qualifier)


def of_property(name: str, prop: str, term: str) -> Any:
    return said(EDM.entity_types[name].property_by_name[prop].annotations, term)


def shown(fields: tuple[Record, ...]) -> list[str]:
    """Return the paths of fields, and the labels of actions."""
    told: list[str] = []
    for one in fields:
        value = one.values["Value"] if "Value" in one.values else one.values["Label"]
        told.append(value.path if isinstance(value, AnnotationPath) else str(value))
    return told


# ---- vocabularies -------------------------------------------------------------------------------------------------


def test_annotations_are_valid_and_refer_to_existing_members() -> None:
    assert faults_of(EDM, VOCABULARY) == []


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (Annotation("UI.Lineitem", ()), "no such term"),
        (Annotation("UI.LineItem", Record({})), "is no collection"),
        (Annotation("UI.LineItem", (Record({"Value": AnnotationPath("name")}),)), "no record of UI.DataFieldAbstract"),
        (Annotation("UI.LineItem", (Record({}, "UI.DataField"),)), "UI.DataField without Value"),
        (Annotation("UI.HeaderInfo", Record({"TypeName": "A", "TypeNamePlural": "B", "Name": "C"})), "has no Name"),
        (Annotation("UI.SelectionFields", (AnnotationPath("nmae", "PropertyPath"),)), "leads nowhere"),
        (Annotation("UI.SelectionFields", (AnnotationPath("name"),)), "Path for PropertyPath"),
        (Annotation("Common.Text", AnnotationPath("name")), "does not apply to EntityType"),
        (Annotation("UI.TextArrangement", EnumMemberValue(("UI.TextArrangementType/Text",))), "no member"),
    ],
)
def test_the_check_of_annotations_reports_each_kind_of_fault(wrong: Annotation, fault: str) -> None:
    broken = replace(EDM.entity_types["Promotions"], annotations=(wrong,))
    types = tuple(broken if one.name == broken.name else one for one in EDM.schema.entity_types)
    assert any(fault in one for one in faults_of(Edm(replace(EDM.schema, entity_types=types)), VOCABULARY))


@pytest.mark.parametrize("service", [PUBLIC, REPORTING])
def test_only_the_administration_has_annotations_for_user_interfaces(service: Any) -> None:
    for entity_type in edm_for(service).entity_types.values():
        assert not any(one.term.startswith("UI.") for one in entity_type.annotations), entity_type.name


def test_a_validity_is_an_interval_whose_end_is_out() -> None:
    (interval,) = [one for one in EDM.entity_types["Campaigns"].annotations if one.term == "Common.Interval"]
    bounds = AnnotationPath("startAt", "PropertyPath"), AnnotationPath("endAt", "PropertyPath")
    assert interval.value == Record(
        {"LowerBoundary": bounds[0], "UpperBoundary": bounds[1], "UpperBoundaryIncluded": False}, "Common.IntervalType"
    )


# ---- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [("Pos group", "POS group"), ("Is active", "Active"), ("Ean", "EAN"), ("Callback URL", "Callback URL"),
     ("Email", "E-mail"), ("Article group ID", "Article group ID"),
     ("Calculation config", "Calculation configuration")],
)  # fmt: skip
def test_labels_use_the_usual_spelling(name: str, words: str) -> None:
    assert label(name) == words


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("Promotions", "Promotion", "Promotions"),
        ("PromotionPosGroups", "Promotion POS group", "Promotion POS groups"),
        ("CouponCodeBatches", "Coupon code batch", "Coupon code batches"),
        ("SyncHistory", "Sync history", "Sync history"),
        ("PromotionStatuses", "Promotion status", "Promotion statuses"),
        ("ResolutionStrategies", "Resolution strategy", "Resolution strategies"),
    ],
)
def test_entities_have_a_singular_and_a_plural_name(name: str, one: str, many: str) -> None:
    assert (singular(name), plural(name)) == (one, many)


def test_the_label_of_an_action_is_derived_from_its_name() -> None:
    assert label_of_action("promoteToActive") == "Promote to active"


def test_every_member_has_a_label() -> None:
    for entity_type in EDM.entity_types.values():
        for prop in entity_type.properties:
            text = said(prop.annotations, "Common.Label")
            assert text, (entity_type.name, prop.name)
            assert "Pos " not in text
    for operation in EDM.schema.operations:
        if not operation.name.startswith("draft"):
            assert said(operation.annotations, "Common.Label"), operation.name
            for parameter in operation.parameters:
                assert said(parameter.annotations, "Common.Label"), parameter.name


# ---- properties ---------------------------------------------------------------------------------------------------


def test_codes_and_references_are_shown_by_name_and_chosen_from_lists() -> None:
    for entity in model.entities():
        if entity.set_name not in EDM.entity_types:
            continue
        properties = EDM.entity_types[entity.set_name].property_by_name
        for field in entity.fields:
            if field.code_list:
                stated = properties[field.wire].annotations
                assert said(stated, "Common.Text") == AnnotationPath(f"{field.wire}Text/name")
                assert said(stated, "Common.ValueListWithFixedValues")
                assert said(stated, "Common.ValueList").values["CollectionPath"] == field.code_list
        for link in entity.links:
            if link.target in EDM.entity_sets and not link.read_only:
                value_list = said(properties[link.property_wire].annotations, "Common.ValueList")
                assert value_list.values["CollectionPath"] == link.target, (entity.set_name, link.name)


def test_value_lists_fill_in_the_key_and_show_readable_columns() -> None:
    value_list = of_property("Promotions", "campaign_ID", "Common.ValueList")
    told = [(one.type, one.values["ValueListProperty"]) for one in value_list.values["Parameters"]]
    assert told == [
        ("Common.ValueListParameterInOut", "ID"),
        ("Common.ValueListParameterDisplayOnly", "code"),
        ("Common.ValueListParameterDisplayOnly", "name"),
    ]
    for entity_type in EDM.entity_types.values():
        for prop in entity_type.properties:
            found = said(prop.annotations, "Common.ValueList")
            for one in found.values["Parameters"] if found else ():
                target = EDM.entity_types[found.values["CollectionPath"]]
                assert one.values["ValueListProperty"] in target.property_by_name
                assert one.values.get("LocalDataProperty", AnnotationPath(prop.name, "PropertyPath")).path == prop.name


def test_a_reference_is_shown_by_the_name_of_what_it_refers_to() -> None:
    assert of_property("Promotions", "campaign_ID", "Common.Text") == AnnotationPath("campaign/name")
    assert of_property("CouponCodes", "couponType_ID", "Common.Text") == AnnotationPath("couponType/name")


def test_the_text_of_a_reference_can_be_filtered_and_sorted() -> None:
    assert (
        of_property("ConditionValueListItems", "condition_ID", "Common.Text").path == "condition/conditionTypeText/name"
    )


def test_technical_properties_are_hidden() -> None:
    for name in ("ID", "tenantId", "statusCriticality", "IsActiveEntity", "HasDraftEntity", "HasActiveEntity"):
        assert of_property("Promotions", name, "UI.Hidden"), name
    assert of_property("Promotions", "name", "UI.Hidden") is None


def test_amounts_have_their_currency_and_percentages_their_sign() -> None:
    for name in ("totalAmount", "consumedAmount", "remainingAmount"):
        assert of_property("Budgets", name, "Measures.ISOCurrency") == AnnotationPath("currency"), name
    assert of_property("Budgets", "utilization", "Measures.Unit") == "%"
    assert of_property("Budgets", "utilization", "Measures.ISOCurrency") is None


def test_computed_fields_are_read_only_and_long_texts_are_multi_line() -> None:
    read_only = EnumMemberValue(("Common.FieldControlType/ReadOnly",))
    mandatory = EnumMemberValue(("Common.FieldControlType/Mandatory",))
    assert of_property("Budgets", "consumedAmount", "Common.FieldControl") == read_only
    assert of_property("Budgets", "name", "Common.FieldControl") == mandatory
    assert of_property("Campaigns", "notes", "UI.MultiLineText")
    assert of_property("Stakeholders", "email", "Communication.IsEmailAddress")


def test_non_filterable_properties_are_declared() -> None:
    stated = of_set(EDM, EDM.entity_sets["Conditions"])
    summary = (AnnotationPath("parameterSummary", "PropertyPath"),)
    assert said(stated, "Capabilities.FilterRestrictions").values["NonFilterableProperties"] == summary
    assert said(stated, "Capabilities.SortRestrictions").values["NonSortableProperties"] == summary


def test_navigations_without_inserts_are_declared() -> None:
    stated = EDM.entity_sets["Promotions"].annotations
    restricted = said(stated, "Capabilities.NavigationRestrictions").values["RestrictedProperties"]
    closed = {one.values["NavigationProperty"].path for one in restricted}
    assert {"budgetPromotions", "couponTypePromotions"} <= closed
    assert "posGroups" not in closed
    assert all(one.values["InsertRestrictions"].values == {"Insertable": False} for one in restricted)


# ---- pages --------------------------------------------------------------------------------------------------------


def test_promotions_have_the_expected_list_columns_and_page_sections() -> None:
    header = of_type("Promotions", "UI.HeaderInfo").values
    assert (header["TypeName"], header["TypeNamePlural"]) == ("Promotion", "Promotions")
    assert shown((header["Title"], header["Description"])) == ["name", "code"]
    columns = of_type("Promotions", "UI.LineItem")
    assert shown(columns)[:7] == ["code", "name", "status", "type", "exclusivityLevel", "validFrom", "validTo"]
    assert columns[2].values["Criticality"] == AnnotationPath("statusCriticality")
    assert {"Activate", "Deactivate", "Submit", "Approve", "Archive"} <= set(shown(columns))
    assert {"Copy", "Check"} <= set(shown(of_type("Promotions", "UI.Identification")))
    assert of_type("Promotions", "Common.SemanticKey") == (AnnotationPath("code", "PropertyPath"),)
    filters = [one.path for one in of_type("Promotions", "UI.SelectionFields")]
    assert filters[:2] == ["status", "type"]
    targets = [one.values["Target"].path for one in of_type("Promotions", "UI.Facets")]
    assert targets[:3] == ["@UI.FieldGroup#General", "@UI.FieldGroup#Validity", "@UI.FieldGroup#Limits"]
    assert {"posGroups/@UI.LineItem", "calculationConfig/@UI.FieldGroup#General"} <= set(targets)
    assert {"budgetPromotions/@UI.LineItem", "couponTypePromotions/@UI.LineItem"} <= set(targets)
    assert targets[-1] == "@UI.FieldGroup#Administrative"


def test_every_property_that_people_read_is_in_one_group_of_its_page() -> None:
    for name, entity_type in EDM.entity_types.items():
        groups = [one for one in entity_type.annotations if one.term == "UI.FieldGroup"]
        if not groups:
            continue
        grouped = [path for one in groups for path in shown(_fields(one.value))]
        readable = [one.name for one in entity_type.properties if _is_read(one.name, entity_type)]
        assert sorted(grouped) == sorted(readable), name


def _fields(value: AnnotationValue) -> tuple[Record, ...]:
    assert isinstance(value, Record)
    data = value.values["Data"]
    assert isinstance(data, tuple)
    return data


def _is_read(name: str, entity_type: EntityType) -> bool:
    prop = entity_type.property_by_name[name]
    return not (prop.write_only or prop.collection or said(prop.annotations, "UI.Hidden"))


def test_logs_are_sorted_newest_first_and_parts_by_their_sequence() -> None:
    for name, by, descending in (("AuditLogs", "timestamp", True), ("Conditions", "sequence", False)):
        (sorting,) = of_type(name, "UI.PresentationVariant").values["SortOrder"]
        assert sorting.values == {"Property": AnnotationPath(by, "PropertyPath"), "Descending": descending}


# ---- hints and actions --------------------------------------------------------------------------------------------


def test_user_interface_hints_refer_to_existing_properties() -> None:
    for name, columns in COLUMNS.items():
        assert set(columns) <= set(EDM.entity_types[name].property_by_name), name
    for (name, target), sources in DEPENDENT.items():
        assert {target, *sources} <= set(EDM.entity_types[name].property_by_name)
    for name in LOCKED_BY:
        assert EDM.entity_types[name].draft


def test_actions_are_offered_in_the_source_states_of_their_state_machine() -> None:
    for operation in EDM.schema.operations:
        machine = MACHINES.get(operation.binding or "")
        moves = [one for one in machine.moves if one.verb == operation.name] if machine else []
        sources = {state for one in moves for state in one.sources or ()}
        known = set(AVAILABLE.get((operation.binding or "", operation.name), "").split())
        assert known == sources, operation.name


def test_actions_that_stop_something_require_a_confirmation() -> None:
    critical = {
        (one.binding, one.name) for one in EDM.schema.operations if said(one.annotations, "Common.IsActionCritical")
    }
    assert {("Promotions", "deactivate"), ("Promotions", "archive"), ("CouponTypes", "deactivate")} <= critical
    assert ("Promotions", "activate") not in critical


def test_fields_that_depend_on_an_input_are_read_again() -> None:
    effects = [one for one in EDM.entity_types["Budgets"].annotations if one.term == "Common.SideEffects"]
    told = {one.qualifier: one.value for one in effects}
    assert told["TotalAmount"] == Record(
        {
            "SourceProperties": (AnnotationPath("totalAmount", "PropertyPath"),),
            "TargetProperties": ("remainingAmount", "utilization"),
        },
        "Common.SideEffectsType",
    )
