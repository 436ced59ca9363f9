"""Annotations of properties and navigations for user interfaces: labels, texts, value lists, units, controls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from odata_server.edm import (
    Annotation,
    AnnotationValue,
    EnumMemberValue,
    NavigationProperty,
    Parameter,
    Property,
    Record,
)
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import Field, Kind
from promenade.model.ui.sight import Sight, path, property_path, with_terms
from promenade.model.ui.words import label, label_of_action, plural, singular

_READ_ONLY = Annotation("Common.FieldControl", EnumMemberValue(("Common.FieldControlType/ReadOnly",)))
_AMOUNTS = {(15, 2), (18, 3)}  # precision and scale of entered and of computed amounts
_PERCENTAGE = (5, 2)


def annotated_property(sight: Sight, owner: OdataType, prop: Property) -> Property:
    """Return a property with its annotations for user interfaces."""
    made = (*labelled(sight.label(prop)), *_of_property(sight, owner, prop))
    return replace(prop, annotations=with_terms(prop.annotations, made))


def annotated_navigation(navigation: NavigationProperty) -> NavigationProperty:
    """Return a navigation with the label of its property."""
    stated = [one for one in navigation.annotations if one.term == "Common.Label"]
    made = labelled(str(stated[0].value)) if stated else ()
    return replace(navigation, annotations=with_terms(navigation.annotations, made))


def labelled(text: str) -> tuple[Annotation, ...]:
    """Return a label annotation in the wording of user interfaces."""
    return (Annotation("Common.Label", label(text)),)


def value_list(sight: Sight, target: str, local: str) -> Annotation:
    """Return the value list for ``local``: it takes the key, and the other columns are shown to the user."""
    is_code_list = target not in sight.entities
    key = "code" if is_code_list else "ID"
    shown = [name for name in (*sight.natural_key(target), sight.title(target)) if name and "/" not in name]
    if is_code_list:
        shown.append("name")
    parameters = (
        Record({"LocalDataProperty": property_path(local), "ValueListProperty": key}, "Common.ValueListParameterInOut"),
        *(
            Record({"ValueListProperty": name}, "Common.ValueListParameterDisplayOnly")
            for name in dict.fromkeys(shown)
            if name != key
        ),
    )
    searchable = any(one.searchable for one in sight.types[target].properties)
    values: dict[str, AnnotationValue] = {
        "CollectionPath": target,
        "SearchSupported": searchable,
        "Parameters": parameters,
    }
    return Annotation("Common.ValueList", Record(values, "Common.ValueListType"))


def annotated_parameter(sight: Sight, parameter: Parameter, target: str | None) -> Parameter:
    """Return a parameter of an action with its annotations; ``target`` is the set whose IDs it takes."""
    if target is None:
        made = labelled(label_of_action(parameter.name))
    else:
        what = plural(target) if parameter.collection else singular(target)
        made = (*labelled(what), value_list(sight, target, parameter.name))
    return replace(parameter, annotations=with_terms(parameter.annotations, made))


# ---- properties ---------------------------------------------------------------------------------------------------


def _of_property(sight: Sight, owner: OdataType, prop: Property) -> Iterator[Annotation]:
    if sight.is_hidden(owner.name, prop):
        yield Annotation("UI.Hidden")
    if prop.computed:
        yield _READ_ONLY
    if sight.is_long(prop):
        yield Annotation("UI.MultiLineText")
    title = sight.text(owner.name) or sight.title(owner.name)
    if prop.name == "ID" and title is not None and title != prop.name:
        yield _text(title, "TextOnly")
    link = sight.link(owner.name, prop)
    if link is not None and sight.is_served(link.target):
        inner = sight.text(link.target)
        if inner is not None:
            yield _text(f"{link.wire}/{inner}", "TextOnly")
        if not prop.computed:
            yield value_list(sight, link.target, prop.name)
    field = sight.field(owner.name, prop)
    if field is not None:
        yield from _of_field(sight, owner, prop, field)


def _of_field(sight: Sight, owner: OdataType, prop: Property, field: Field) -> Iterator[Annotation]:
    if field.code_list:
        yield _text(f"{prop.name}Text/name", "TextLast" if field.code_list == "Currencies" else "TextOnly")
        yield Annotation("Common.ValueListWithFixedValues")
        yield value_list(sight, field.code_list, prop.name)
    if field.refers_to is not None and sight.is_served(field.refers_to):
        yield value_list(sight, field.refers_to, prop.name)
    facets = (field.precision, field.scale)
    if field.kind is Kind.DECIMAL and facets in _AMOUNTS and "currency" in owner.property_by_name:
        yield Annotation("Measures.ISOCurrency", path("currency"))
    if field.kind is Kind.DECIMAL and facets == _PERCENTAGE:
        yield Annotation("Measures.Unit", "%")
    if field.name == "email":
        yield Annotation("Communication.IsEmailAddress")
    if field.name == "phone":
        yield Annotation("Communication.IsPhoneNumber")


def _text(to: str, arrangement: str) -> Annotation:
    how = EnumMemberValue((f"UI.TextArrangementType/{arrangement}",))
    return Annotation("Common.Text", path(to), annotations=(Annotation("UI.TextArrangement", how),))
