"""Annotations of entity types for user interfaces: header, groups of fields, facets, identification, side effects."""

from __future__ import annotations

from collections.abc import Iterator

from odata_server.annotations import Annotation, AnnotationPath, AnnotationValue, Record
from odata_server.edm import EntityType as OdataType
from odata_server.edm import NavigationProperty, Property
from promenade.model.ui_columns import actions_of, data_field, line_item, order, ranges_of_time, selection_fields
from promenade.model.ui_hints import DEPENDENT
from promenade.model.ui_sight import MANAGED, Sight, path, property_path
from promenade.model.ui_words import label, plural, singular

__all__ = ["of_code_list", "of_entity"]

_GENERAL, _VALIDITY, _AMOUNTS, _LIMITS, _ADMINISTRATIVE = "General", "Validity", "Amounts", "Limits", "Administrative"
_GROUPS = {
    _GENERAL: "General information",
    _VALIDITY: "Validity",
    _AMOUNTS: "Amounts",
    _LIMITS: "Limits",
    _ADMINISTRATIVE: "Administrative data",
}
_BOUNDS = ("max", "min", "threshold")
_AMOUNTS_MIN = 3  # fewer are told among the rest
_NAVIGATIONS_OF_DRAFTS = ("SiblingEntity", "DraftAdministrativeData")


def of_entity(sight: Sight, odata_type: OdataType) -> tuple[Annotation, ...]:
    """What is said of an entity type beyond its members."""
    made = [_header(sight, odata_type), line_item(sight, odata_type)]
    made.extend(one for one in (order(sight, odata_type), selection_fields(sight, odata_type)) if one is not None)
    groups = _groups(sight, odata_type)
    made.extend(_field_groups(sight, odata_type, groups))
    made.append(Annotation("UI.Facets", (*_facets_of_groups(groups), *_facets_of_parts(sight, odata_type))))
    actions = tuple(actions_of(sight, odata_type))
    if actions:
        made.append(Annotation("UI.Identification", actions))
    key = sight.natural_key(odata_type.name)
    if key:
        made.append(Annotation("Common.SemanticKey", tuple(property_path(name) for name in key)))
    if odata_type.draft is not None:
        made.extend(_side_effects(sight, odata_type))
    return tuple(made)


def of_code_list(sight: Sight, odata_type: OdataType) -> tuple[Annotation, ...]:
    """What is said of a code list: its header and its columns."""
    columns = tuple(Record({"Value": path(name)}, "UI.DataField") for name in ("code", "name", "description"))
    return (
        _header(sight, odata_type),
        Annotation("UI.LineItem", columns),
        Annotation("Common.SemanticKey", (property_path("code"),)),
    )


def _header(sight: Sight, odata_type: OdataType) -> Annotation:
    name = odata_type.name
    values: dict[str, AnnotationValue] = {"TypeName": singular(name), "TypeNamePlural": plural(name)}
    title = sight.title(name)
    if title is not None:
        values["Title"] = Record({"Value": path(title)}, "UI.DataField")
    others = [one for one in (*sight.natural_key(name), "description") if one != title]
    told = next((one for one in others if one in odata_type.property_by_name and not one.endswith("_ID")), None)
    if told is not None:
        values["Description"] = Record({"Value": path(told)}, "UI.DataField")
    return Annotation("UI.HeaderInfo", Record(values, "UI.HeaderInfoType"))


# ---- groups of fields ---------------------------------------------------------------------------------------------


def _groups(sight: Sight, odata_type: OdataType) -> dict[str, list[Property]]:
    """The properties by the group that they are shown in; groups without any are left out."""
    times = ranges_of_time(sight, odata_type.name)
    groups: dict[str, list[Property]] = {name: [] for name in _GROUPS}
    for one in sight.shown(odata_type):
        if one.name in MANAGED:
            groups[_ADMINISTRATIVE].append(one)
        elif one.name in times:
            groups[_VALIDITY].append(one)
        elif one.name.startswith(_BOUNDS):
            groups[_LIMITS].append(one)
        elif any(stated.term == "Measures.ISOCurrency" for stated in one.annotations):
            groups[_AMOUNTS].append(one)
        else:
            groups[_GENERAL].append(one)
    for name, few in ((_AMOUNTS, _AMOUNTS_MIN), (_LIMITS, 2)):
        if len(groups[name]) < few:
            groups[_GENERAL].extend(groups.pop(name))
    return {name: found for name, found in groups.items() if found}


def _field_groups(sight: Sight, odata_type: OdataType, groups: dict[str, list[Property]]) -> Iterator[Annotation]:
    for name, properties in groups.items():
        data = tuple(data_field(sight, odata_type, one) for one in properties)
        group = Record({"Label": _GROUPS[name], "Data": data}, "UI.FieldGroupType")
        yield Annotation("UI.FieldGroup", group, name)


# ---- facets -------------------------------------------------------------------------------------------------------


def _facets_of_groups(groups: dict[str, list[Property]]) -> Iterator[Record]:
    for name in groups:
        if name != _ADMINISTRATIVE:
            yield _facet(name, _GROUPS[name], f"@UI.FieldGroup#{name}")


def _facets_of_parts(sight: Sight, odata_type: OdataType) -> Iterator[Record]:
    """What belongs to an entity and what refers to it, and who changed it last of all."""
    for one in odata_type.navigations:
        if one.name in _NAVIGATIONS_OF_DRAFTS or not sight.is_served(one.target) or one.target not in sight.entities:
            continue
        if one.collection:
            yield _facet(one.name, _label(one), f"{one.name}/@UI.LineItem")
        elif one.composition:
            yield _facet(one.name, _label(one), f"{one.name}/@UI.FieldGroup#{_GENERAL}")
    if any(name in odata_type.property_by_name for name in MANAGED):
        yield _facet(_ADMINISTRATIVE, _GROUPS[_ADMINISTRATIVE], f"@UI.FieldGroup#{_ADMINISTRATIVE}")


def _label(navigation: NavigationProperty) -> str:
    return label(next(str(one.value) for one in navigation.annotations if one.term == "Common.Label"))


def _facet(name: str, text: str, target: str) -> Record:
    return Record({"ID": name, "Label": text, "Target": AnnotationPath(target, "AnnotationPath")}, "UI.ReferenceFacet")


# ---- side effects -------------------------------------------------------------------------------------------------


def _side_effects(sight: Sight, odata_type: OdataType) -> Iterator[Annotation]:
    """What is computed of what is typed in: to be read again when that has changed."""
    affected: dict[tuple[str, ...], list[str]] = {}
    for one in odata_type.properties:
        colour = sight.criticality(odata_type.name, one.name)
        if colour is not None and not one.computed:
            affected.setdefault((one.name,), []).append(colour)
        sources = DEPENDENT.get((odata_type.name, one.name))
        if sources is not None:
            affected.setdefault(sources, []).append(one.name)
    for changed, targets in affected.items():
        values: dict[str, AnnotationValue] = {
            "SourceProperties": tuple(property_path(name) for name in changed),
            "TargetProperties": tuple(targets),
        }
        effects = Record(values, "Common.SideEffectsType")
        yield Annotation("Common.SideEffects", effects, "".join(name[:1].upper() + name[1:] for name in changed))
