"""What administration's metadata tells user interfaces, so that they need no page written by hand.

Labels, texts, value lists, columns, filters, facets and actions follow by rules from the declarations: what a title
is, what a list shows, which group a field is in. The few things that cannot be told from a declaration are in
`promenade.model.ui.hints`. The terms are those of the vocabularies UI, Common, Communication, Measures and Core.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from odata_server.draft import IS_ACTIVE
from odata_server.edm import (
    Annotation,
    AnnotationPath,
    AnnotationValue,
    EntitySet,
    Expression,
    NavigationProperty,
    Operation,
    Property,
    Record,
    Schema,
)
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import EntityType
from promenade.model.ui.columns import actions_of, data_field, line_item, order, ranges_of_time, selection_fields
from promenade.model.ui.fields import annotated_navigation, annotated_parameter, annotated_property, labelled
from promenade.model.ui.hints import AVAILABLE, CRITICAL_ACTIONS, DEPENDENT, GROUPS, LOCKED_BY
from promenade.model.ui.sight import MANAGED, Sight, path, property_path, with_terms
from promenade.model.ui.words import label, label_of_action, plural, singular


def for_user_interfaces(schema: Schema, entities: Iterable[EntityType]) -> Schema:
    """Return a schema with annotations for user interfaces; ``entities`` are the declarations it was made from."""
    declared = {entity.set_name: entity for entity in entities}
    sight = Sight(schema, declared)
    members = replace(schema, entity_types=tuple(_members(sight, one) for one in schema.entity_types))
    sight = Sight(members, declared)
    code_lists = {one.name for one in members.entity_types if one.key == ("code",)} - declared.keys()
    return replace(
        members,
        entity_types=tuple(_whole(sight, one, one.name in code_lists) for one in members.entity_types),
        operations=tuple(annotated_operation(sight, one) for one in members.operations),
        container=replace(
            members.container, entity_sets=tuple(_restricted(sight, one) for one in members.container.entity_sets)
        ),
    )


def _members(sight: Sight, odata_type: OdataType) -> OdataType:
    """Return the type with annotations on its members."""
    return replace(
        odata_type,
        properties=tuple(annotated_property(sight, odata_type, one) for one in odata_type.properties),
        navigations=tuple(annotated_navigation(one) for one in odata_type.navigations),
    )


def _whole(sight: Sight, odata_type: OdataType, is_code_list: bool) -> OdataType:
    """Return the type with its own annotations."""
    if is_code_list:
        made = of_code_list(sight, odata_type)
    elif odata_type.name in sight.entities:
        made = of_entity(sight, odata_type)
    else:
        return odata_type
    return replace(odata_type, annotations=with_terms(odata_type.annotations, made))


def _restricted(sight: Sight, entity_set: EntitySet) -> EntitySet:
    """Return the set with restrictions.

    A navigation that does not allow creation: create in the target set instead. No search, where it would look at
    nothing but IDs and codes: it is answered, but no page needs to offer it.
    """
    odata_type = sight.types[entity_set.entity_type]
    made: list[Annotation] = []
    if not any(one.searchable for one in odata_type.properties):
        made.append(Annotation("Capabilities.SearchRestrictions", Record({"Searchable": False})))
    closed = tuple(
        Record(
            {
                "NavigationProperty": AnnotationPath(one.name, "NavigationPropertyPath"),
                "InsertRestrictions": Record({"Insertable": False}, "Capabilities.InsertRestrictionsType"),
            },
            "Capabilities.NavigationPropertyRestriction",
        )
        for one in odata_type.navigations
        if one.collection and not (one.writable or one.composition)
    )
    if closed:
        made.append(Annotation("Capabilities.NavigationRestrictions", Record({"RestrictedProperties": closed})))
    return replace(entity_set, annotations=(*entity_set.annotations, *made))


# ---- the page of an entity and the list of them ---------------------------------------------------------------------


_GENERAL, _VALIDITY, _AMOUNTS, _LIMITS, _ADMINISTRATIVE = "General", "Validity", "Amounts", "Limits", "Administrative"
_GROUPS = {
    _GENERAL: "General information",
    _VALIDITY: "Validity",
    _AMOUNTS: "Amounts",
    _LIMITS: "Limits",
    _ADMINISTRATIVE: "Administrative data",
}
_BOUNDS = ("max", "min", "threshold")
_AMOUNTS_MIN = 3  # fewer are shown in the general group
_NAVIGATIONS_OF_DRAFTS = ("SiblingEntity", "DraftAdministrativeData")


def of_entity(sight: Sight, odata_type: OdataType) -> tuple[Annotation, ...]:
    """Return the annotations of an entity type itself."""
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
    made.extend(_intervals(sight, odata_type))
    if odata_type.draft is not None:
        made.extend(_side_effects(sight, odata_type))
    return tuple(made)


def of_code_list(sight: Sight, odata_type: OdataType) -> tuple[Annotation, ...]:
    """Return the annotations of a code list: its header and its columns."""
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


def _intervals(sight: Sight, odata_type: OdataType) -> Iterator[Annotation]:
    """Return the pairs of times between which an entity is valid: the second is the first moment that is out."""
    entity = sight.entities[odata_type.name]
    wires = {one.name: one.wire for one in entity.fields}
    for place, (start, end) in enumerate(entity.windows):
        bounds: dict[str, AnnotationValue] = {
            "LowerBoundary": property_path(wires[start]),
            "UpperBoundary": property_path(wires[end]),
            "UpperBoundaryIncluded": False,
        }
        yield Annotation("Common.Interval", Record(bounds, "Common.IntervalType"), f"Window{place}" if place else None)


# ---- groups of fields ---------------------------------------------------------------------------------------------


def _groups(sight: Sight, odata_type: OdataType) -> dict[str, list[Property]]:
    """Return the properties by the group in which they are shown; empty groups are left out."""
    times = ranges_of_time(sight, odata_type.name)
    own = {wire: name for name, wires in GROUPS.get(odata_type.name, {}).items() for wire in wires}
    names = dict.fromkeys((_GENERAL, *own.values(), *_GROUPS))
    groups: dict[str, list[Property]] = {name: [] for name in names}
    for one in sight.shown(odata_type):
        if one.name in MANAGED:
            groups[_ADMINISTRATIVE].append(one)
        elif one.name in own:
            groups[own[one.name]].append(one)
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
        group = Record({"Label": _GROUPS.get(name, name), "Data": data}, "UI.FieldGroupType")
        yield Annotation("UI.FieldGroup", group, name)


# ---- facets -------------------------------------------------------------------------------------------------------


def _facets_of_groups(groups: dict[str, list[Property]]) -> Iterator[Record]:
    for name in groups:
        if name != _ADMINISTRATIVE:
            yield _facet(name, _GROUPS.get(name, name), f"@UI.FieldGroup#{name}")


def _facets_of_parts(sight: Sight, odata_type: OdataType) -> Iterator[Record]:
    """Return the facets of children and of referring entities, and at the end of who changed it last."""
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
    """Return which computed properties must be reread when an entered one has changed."""
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


# ---- bound actions: what they are called, when they are offered, what they change -----------------------------------


_ENTITY = "in"  # name of the binding parameter
_OF_LOCKS = {"lock": False, "unlock": True}
_MOVES_TO = {"activate": "ACTIVE", "deactivate": "INACTIVE"}
_WITHOUT_CHANGE = frozenset({"check", "document", "forecast"})
_IDS = re.compile("([a-z]+)Ids?")


def annotated_operation(sight: Sight, operation: Operation) -> Operation:
    """Return an operation with its label, its parameters' value lists, and when it is available."""
    if operation.binding is None:
        return operation
    parameters = tuple(annotated_parameter(sight, one, _target(sight, one.name)) for one in operation.parameters)
    made = (*labelled(label_of_action(operation.name)), *_of_bound(sight, operation, operation.binding))
    return replace(operation, parameters=parameters, annotations=with_terms(operation.annotations, made))


def _target(sight: Sight, parameter: str) -> str | None:
    """Return the set whose IDs a parameter takes: Promotions for ``promotionIds``."""
    found = _IDS.fullmatch(parameter)
    target = f"{found.group(1).capitalize()}s" if found else ""
    return target if sight.is_served(target) else None


def _of_bound(sight: Sight, operation: Operation, binding: str) -> Iterator[Annotation]:
    if operation not in sight.bound.get(binding, ()):
        return
    available = _conjunction(tuple(_conditions(sight, operation.name, binding)))
    if available is not None:
        yield Annotation("Core.OperationAvailable", available)
    if operation.name in CRITICAL_ACTIONS:
        yield Annotation("Common.IsActionCritical")
    if operation.returns is not None and operation.returns.entity_type == binding and operation.name != "copy":
        entities = tuple(
            AnnotationPath(f"{_ENTITY}/{one.name}", "NavigationPropertyPath")
            for one in sight.types[binding].navigations
            if one.name in ("statusText", "promotions")
        )
        values: dict[str, AnnotationValue] = {"TargetProperties": (f"{_ENTITY}/*",)}
        values |= {"TargetEntities": entities} if entities else {}
        yield Annotation("Common.SideEffects", Record(values, "Common.SideEffectsType"))


def _conditions(sight: Sight, name: str, binding: str) -> Iterator[AnnotationValue]:
    properties = sight.types[binding].property_by_name
    if IS_ACTIVE in properties:
        yield _in(IS_ACTIVE)
    states = AVAILABLE.get((binding, name))
    if states is not None:
        yield _disjunction(tuple(Expression("Eq", (_in("status"), code)) for code in states.split()))
    elif name in _MOVES_TO and "status" in properties:
        yield Expression("Ne", (_in("status"), _MOVES_TO[name]))
    if binding in LOCKED_BY and name not in _WITHOUT_CHANGE:
        # Compare with true instead of negating: null counts as not locked.
        locked = Expression("Ne", (_in(LOCKED_BY[binding]), True))
        yield _in(LOCKED_BY[binding]) if _OF_LOCKS.get(name, False) else locked


def _in(to: str) -> AnnotationPath:
    return AnnotationPath(f"{_ENTITY}/{to}")


def _conjunction(values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    return _joined("And", values)


def _disjunction(values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    return _joined("Or", values)


def _joined(operator: str, values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    """Join expressions pairwise, because OData 4.0 allows two operands only."""
    if not values:
        return None
    first, *rest = values
    joined = first
    for one in rest:
        joined = Expression(operator, (joined, one))
    return joined
