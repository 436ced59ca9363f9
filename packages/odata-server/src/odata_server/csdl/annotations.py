"""Annotations derived from the model: capabilities of the service and its sets, flags of properties.

An annotation that the model declares itself overrides a generated one with the same term and qualifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from odata_server.edm import (
    SAME,
    Annotation,
    AnnotationPath,
    AnnotationValue,
    ComplexType,
    Edm,
    EntitySet,
    EntityType,
    EnumMemberValue,
    Expression,
    Primitive,
    Property,
    Record,
    Reference,
    StructuredType,
)

__all__ = [
    "EXPAND_DEPTH_MAX",
    "TRANSFORMATIONS",
    "of_container",
    "of_property",
    "of_set",
    "of_type",
    "references",
]

EXPAND_DEPTH_MAX = 4
TRANSFORMATIONS = (
    "aggregate",
    "bottomcount",
    "bottompercent",
    "bottomsum",
    "compute",
    "concat",
    "filter",
    "groupby",
    "identity",
    "orderby",
    "search",
    "skip",
    "top",
    "topcount",
    "toppercent",
    "topsum",
)
"""What ``$apply`` consists of; there are no custom methods of aggregation."""

_OASIS = "https://oasis-tcs.github.io/odata-vocabularies/vocabularies"
_SAP = "https://sap.github.io/odata-vocabularies/vocabularies"
VOCABULARIES = {
    **{
        name: Reference(uri=f"{_OASIS}/Org.OData.{name}.V1.xml", namespace=f"Org.OData.{name}.V1", alias=name)
        for name in ("Aggregation", "Authorization", "Capabilities", "Core", "Measures", "Validation")
    },
    **{
        name: Reference(uri=f"{_SAP}/{name}.xml", namespace=f"com.sap.vocabularies.{name}.v1", alias=name)
        for name in ("Analytics", "CodeList", "Common", "Communication", "PersonalData", "UI")
    },
}
"""The vocabularies that a model may use without declaring them, by alias."""


def of_property(prop: Property) -> tuple[Annotation, ...]:
    """Return the annotations of a property; those derived from its flags come last."""
    generated = []
    if prop.computed:
        generated.append(Annotation("Core.Computed"))
    elif prop.immutable:
        generated.append(Annotation("Core.Immutable"))
    if prop.write_only:
        generated.append(Annotation("Core.Permissions", EnumMemberValue(("Core.Permission/Write",))))
    return _merged(prop.annotations, generated)


def of_type(structured: StructuredType) -> tuple[Annotation, ...]:
    """Return the annotations of a type: what else identifies its entities."""
    if not isinstance(structured, EntityType) or not structured.alternate_keys:
        return structured.annotations
    keys = tuple(
        Record({"Key": tuple(Record({"Name": AnnotationPath(name, "PropertyPath"), "Alias": name}) for name in key)})
        for key in structured.alternate_keys
    )
    return _merged(structured.annotations, [Annotation("Core.AlternateKeys", keys)])


def of_set(edm: Edm, entity_set: EntitySet) -> tuple[Annotation, ...]:
    """Return the annotations of an entity set: the operations that it allows."""
    entity_type = edm.entity_types[entity_set.entity_type]
    unfilterable = tuple(
        AnnotationPath(one.name, "PropertyPath")
        for one in entity_type.properties
        if one.write_only or not one.filterable
    )
    unsortable = tuple(
        AnnotationPath(one.name, "PropertyPath")
        for one in entity_type.properties
        if one.write_only or not one.filterable or one.collection or isinstance(one.type, ComplexType)
    )
    refused = tuple(
        AnnotationPath(one.name, "NavigationPropertyPath") for one in entity_type.navigations if not one.writable
    )
    fixed = tuple(
        AnnotationPath(one.name, "PropertyPath")
        for one in entity_type.properties
        if (one.immutable or one.name in entity_type.key) and not one.computed
    )
    return _merged(
        entity_set.annotations,
        [
            _restrictions("Read", {"Readable": entity_set.readable}),
            _restrictions(
                "Insert",
                {"Insertable": entity_set.insertable}
                | _unless_empty("NonInsertableNavigationProperties", refused if entity_set.insertable else ()),
            ),
            _restrictions(
                "Update",
                {"Updatable": entity_set.updatable}
                | _unless_empty("NonUpdatableProperties", fixed if entity_set.updatable else ())
                | _unless_empty("NonUpdatableNavigationProperties", refused if entity_set.updatable else ()),
            ),
            _restrictions("Delete", {"Deletable": entity_set.deletable}),
            _restrictions("Filter", {"Filterable": True} | _unless_empty("NonFilterableProperties", unfilterable)),
            _restrictions("Sort", {"Sortable": True} | _unless_empty("NonSortableProperties", unsortable)),
            _restrictions("Search", {"Searchable": bool(entity_type.searched)}),
            _restrictions("Count", {"Countable": True}),
            _restrictions(
                "Expand",
                {"Expandable": bool(entity_type.navigations)}
                | ({"MaxLevels": EXPAND_DEPTH_MAX} if entity_type.navigations else {}),
            ),
            *(Annotation(f"Capabilities.{one}") for one in ("TopSupported", "SkipSupported", "IndexableByKey")),
            *_of_aggregates(entity_type),
        ],
    )


def _of_aggregates(entity_type: EntityType) -> Iterator[Annotation]:
    """Yield the custom aggregates of a set, and what they are meant to be grouped by (Aggregation 4.0, 5.2 and 5.3).

    A set without any has only the container's defaults, which allow the same.
    """
    custom = [one for one in entity_type.properties if one.aggregate is not None]
    if not custom:
        return
    measures = [one for one in custom if one.aggregate != SAME]
    groupable = (
        AnnotationPath(one.name, "PropertyPath")
        for one in entity_type.properties
        if one not in measures and one.filterable and not (one.collection or one.write_only)
        if not isinstance(one.type, ComplexType)
    )
    aggregatable = (
        Record({"Property": AnnotationPath(one.name, "PropertyPath"), "RecommendedAggregationMethod": one.aggregate})
        for one in measures
    )
    applied = {"GroupableProperties": tuple(groupable), "AggregatableProperties": tuple(aggregatable)}
    yield Annotation("Aggregation.ApplySupported", Record(applied))
    for one in custom:
        unit = tuple(annotation.value for annotation in one.annotations if annotation.term == "Measures.ISOCurrency")
        paths = tuple(AnnotationPath(value.path, "PropertyPath") for value in unit if isinstance(value, AnnotationPath))
        context = (Annotation("Aggregation.ContextDefiningProperties", paths),) if paths else ()
        yield Annotation("Aggregation.CustomAggregate", _aggregate_type(one), qualifier=one.name, annotations=context)


def _aggregate_type(prop: Property) -> str:
    integral = prop.type in {Primitive.INT16, Primitive.INT32, Primitive.INT64, Primitive.BYTE, Primitive.SBYTE}
    if prop.aggregate == "countdistinct" or (prop.aggregate == "sum" and integral):
        return str(Primitive.INT64.value)
    if prop.aggregate == "average" and integral:
        return str(Primitive.DECIMAL.value)
    return str(prop.type.value) if isinstance(prop.type, Primitive) else ""


def of_container(edm: Edm) -> tuple[Annotation, ...]:
    """Return the annotations of the container: what the service as a whole supports."""
    level = EnumMemberValue(("Capabilities.ConformanceLevelType/Advanced",))
    batch = Record(
        {
            "Supported": True,
            "ContinueOnErrorSupported": True,
            "ReferencesInRequestBodiesSupported": True,
            "ReferencesAcrossChangeSetsSupported": True,
            "EtagReferencesSupported": True,
            "RequestDependencyConditionsSupported": True,
            "SupportedFormats": ("multipart/mixed", "application/json"),
        }
    )
    apply = Record(
        {
            "Transformations": TRANSFORMATIONS,
            "CustomAggregationMethods": (),
            "Rollup": EnumMemberValue(("Aggregation.RollupType/MultipleHierarchies",)),
            "From": False,
        }
    )
    return _merged(
        edm.schema.container.annotations,
        [
            Annotation("Core.ODataVersions", "4.0 4.01"),
            Annotation("Capabilities.ConformanceLevel", level),
            Annotation("Capabilities.SupportedFormats", ("application/json",)),
            Annotation("Capabilities.SupportedMetadataFormats", ("application/xml", "application/json")),
            Annotation("Capabilities.BatchSupported"),
            Annotation("Capabilities.BatchSupport", batch),
            Annotation("Capabilities.ComputeSupported"),
            Annotation("Capabilities.QuerySegmentSupported"),
            Annotation("Capabilities.AsynchronousRequestsSupported", False),
            Annotation("Capabilities.CrossJoinSupported", False),
            Annotation("Capabilities.KeyAsSegmentSupported", False),
            *([Annotation("Aggregation.ApplySupportedDefaults", apply)] if edm.schema.container.entity_sets else []),
            Annotation("Capabilities.DefaultCapabilities", Record({"ChangeTracking": Record({"Supported": False})})),
        ],
    )


def references(edm: Edm) -> tuple[Reference, ...]:
    """Return by alias the vocabularies whose terms, types or members this model uses.

    Raise ValueError for an alias that is neither declared by the model nor well known.
    """
    known = VOCABULARIES | {one.alias: one for one in edm.schema.references}
    used = {one.alias for one in edm.schema.references}
    for annotation in _all(edm):
        used.update(_aliases(annotation))
    own = edm.namespace
    unknown = sorted(alias for alias in used if alias not in known and alias != own)
    if unknown:
        raise ValueError(f"annotations use vocabularies that are declared nowhere: {', '.join(unknown)}")
    return tuple(known[alias] for alias in sorted(used) if alias in known)


def _restrictions(what: str, values: dict[str, AnnotationValue]) -> Annotation:
    return Annotation(f"Capabilities.{what}Restrictions", Record(values))


def _unless_empty(name: str, paths: tuple[AnnotationPath, ...]) -> dict[str, AnnotationValue]:
    return {name: paths} if paths else {}


def _merged(stated: tuple[Annotation, ...], generated: list[Annotation]) -> tuple[Annotation, ...]:
    taken = {(one.term, one.qualifier) for one in stated}
    return (*stated, *(one for one in generated if (one.term, one.qualifier) not in taken))


def _all(edm: Edm) -> Iterator[Annotation]:
    schema = edm.schema
    yield from schema.annotations
    for structured in (*schema.entity_types, *schema.complex_types):
        yield from of_type(structured)
        for prop in structured.properties:
            yield from of_property(prop)
        yield from _of_each(structured.navigations)
    for enum_type in schema.enum_types:
        yield from enum_type.annotations
        yield from _of_each(enum_type.members)
    for operation in schema.operations:
        yield from operation.annotations
        yield from _of_each(operation.parameters)
    container = schema.container
    yield from of_container(edm)
    for entity_set in container.entity_sets:
        yield from of_set(edm, entity_set)
    yield from _of_each((*container.singletons, *container.action_imports, *container.function_imports))


def _of_each(elements: Iterable[Any]) -> Iterator[Annotation]:
    for element in elements:
        yield from element.annotations


def _aliases(annotation: Annotation) -> Iterator[str]:
    yield annotation.term.rpartition(".")[0]
    yield from _aliases_in(annotation.value)
    for nested in annotation.annotations:
        yield from _aliases(nested)


def _aliases_in(value: AnnotationValue) -> Iterator[str]:
    if isinstance(value, Record):
        if value.type is not None:
            yield value.type.rpartition(".")[0]
        for name, inner in value.values.items():
            if name.startswith("@"):
                yield name[1:].partition("#")[0].rpartition(".")[0]
            yield from _aliases_in(inner)
    elif isinstance(value, EnumMemberValue):
        yield from (member.partition("/")[0].rpartition(".")[0] for member in value.members)
    elif isinstance(value, tuple | Expression):
        for inner in value if isinstance(value, tuple) else value.operands:
            yield from _aliases_in(inner)
