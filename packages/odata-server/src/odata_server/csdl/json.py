"""A model as CSDL JSON (OData CSDL JSON Representation 4.01)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from odata_server.csdl import annotations as csdl_annotations
from odata_server.csdl import model as csdl_model
from odata_server.edm import (
    Action,
    Annotation,
    AnnotationPath,
    AnnotationValue,
    Edm,
    EntitySet,
    EntityType,
    EnumMemberValue,
    EnumType,
    Expression,
    Function,
    NavigationProperty,
    Operation,
    Parameter,
    Primitive,
    Property,
    Record,
    ReturnType,
    Singleton,
    StructuredType,
)

__all__ = ["render_json"]


def render_json(edm: Edm, version: str = "4.01") -> bytes:
    """Render the metadata document as UTF-8 JSON; the same model always gives the same bytes.

    Raise ValueError for a version other than "4.0" and "4.01" and for a model that cannot be expressed.
    """
    if version not in ("4.0", "4.01"):
        raise ValueError(f"there is no CSDL JSON {version}")
    return json.dumps(_Writer(edm).document(version), ensure_ascii=False, separators=(",", ":")).encode()


class _Writer:
    """Builds the JSON objects of one model."""

    def __init__(self, edm: Edm) -> None:
        self._edm = edm
        self._references = csdl_annotations.references(edm)
        self._uris = {one.alias: _json_uri(one.uri) for one in self._references}

    def document(self, version: str) -> dict[str, Any]:
        edm = self._edm
        schema: dict[str, Any] = {}
        for entity_type in edm.schema.entity_types:
            schema[entity_type.name] = self._structured("EntityType", entity_type)
        for complex_type in edm.schema.complex_types:
            schema[complex_type.name] = self._structured("ComplexType", complex_type)
        for enum_type in edm.schema.enum_types:
            schema[enum_type.name] = self._enum_type(enum_type)
        for name, overloads in edm.operations.items():
            schema[name] = [self._operation(operation) for operation in overloads]
        schema[edm.schema.container.name] = self._container()
        includes = {
            _json_uri(one.uri): {"$Include": [{"$Namespace": one.namespace, "$Alias": one.alias}]}
            for one in self._references
        }
        return {
            "$Version": version,
            "$EntityContainer": edm.qualified(edm.schema.container.name),
            **({"$Reference": includes} if includes else {}),
            edm.namespace: schema | self._annotations(edm.schema.annotations),
        }

    def _structured(self, kind: str, structured: StructuredType) -> dict[str, Any]:
        made: dict[str, Any] = {"$Kind": kind}
        if isinstance(structured, EntityType):
            made["$Key"] = list(structured.key)
        for prop in structured.properties:
            made[prop.name] = self._property(prop)
        for navigation in structured.navigations:
            made[navigation.name] = self._navigation(structured, navigation)
        return made | self._annotations(csdl_annotations.of_type(structured))

    def _property(self, prop: Property) -> dict[str, Any]:
        made = self._typed(prop)
        if csdl_model.default_text(prop) is not None:
            made["$DefaultValue"] = _default(prop)
        return made | self._annotations(csdl_annotations.of_property(prop))

    def _typed(self, typed: Property | Parameter | ReturnType) -> dict[str, Any]:
        kind = typed.type if typed.type is not None else typed.entity_type
        if kind is None:
            raise ValueError(f"{typed!r} has no type")
        made: dict[str, Any] = {"$Collection": True} if typed.collection else {}
        if kind is not Primitive.STRING:
            made["$Type"] = csdl_model.type_name(self._edm, kind)
        if typed.nullable:
            made["$Nullable"] = True
        return made | {f"${facet}": value for facet, value in csdl_model.facets(typed).items()}

    def _navigation(self, owner: StructuredType, navigation: NavigationProperty) -> dict[str, Any]:
        edm = self._edm
        made: dict[str, Any] = {"$Kind": "NavigationProperty", "$Type": edm.qualified(navigation.target)}
        if navigation.collection:
            made["$Collection"] = True
        elif csdl_model.is_nullable(edm, owner, navigation):
            made["$Nullable"] = True
        partner = csdl_model.partner(edm, owner, navigation)
        if partner is not None:
            made["$Partner"] = partner
        if csdl_model.is_contained(edm, navigation):
            made["$ContainsTarget"] = True
        constraints = csdl_model.constraints(edm, owner, navigation)
        if constraints:
            made["$ReferentialConstraint"] = dict(constraints)
        if navigation.composition:
            made["$OnDelete"] = "Cascade"
        return made | self._annotations(navigation.annotations)

    def _enum_type(self, enum_type: EnumType) -> dict[str, Any]:
        made: dict[str, Any] = {"$Kind": "EnumType"}
        if csdl_model.underlying_type(enum_type) != "Edm.Int32":
            made["$UnderlyingType"] = csdl_model.underlying_type(enum_type)
        if enum_type.is_flags:
            made["$IsFlags"] = True
        for member in enum_type.members:
            made[member.name] = member.value
            made |= self._annotations(member.annotations, member.name)
        return made | self._annotations(enum_type.annotations)

    def _operation(self, operation: Operation) -> dict[str, Any]:
        made: dict[str, Any] = {"$Kind": "Action" if isinstance(operation, Action) else "Function"}
        parameters = []
        if operation.binding is not None:
            made["$IsBound"] = True
            bound: dict[str, Any] = {"$Name": csdl_model.BINDING_PARAMETER}
            bound |= {"$Collection": True} if operation.binding_collection else {}
            parameters.append({**bound, "$Type": self._edm.qualified(operation.binding)})
        path = csdl_model.entity_set_path(operation)
        if path is not None:
            made["$EntitySetPath"] = path
        if isinstance(operation, Function) and operation.composable:
            made["$IsComposable"] = True
        parameters += [
            {"$Name": one.name} | self._typed(one) | self._annotations(one.annotations) for one in operation.parameters
        ]
        if parameters:
            made["$Parameter"] = parameters
        if operation.returns is not None:
            made["$ReturnType"] = self._typed(operation.returns)
        elif isinstance(operation, Function):
            raise ValueError(f"function {operation.name} returns nothing")
        return made | self._annotations(operation.annotations)

    def _container(self) -> dict[str, Any]:
        edm = self._edm
        container = edm.schema.container
        made: dict[str, Any] = {"$Kind": "EntityContainer"}
        for entity_set in container.entity_sets:
            made[entity_set.name] = self._entity_set(entity_set)
        for singleton in container.singletons:
            made[singleton.name] = {
                "$Type": edm.qualified(singleton.entity_type),
                **self._bindings(singleton),
                **self._annotations(singleton.annotations),
            }
        for action in container.action_imports:
            made[action.name] = {
                "$Action": edm.qualified(action.action),
                **({} if action.entity_set is None else {"$EntitySet": action.entity_set}),
                **self._annotations(action.annotations),
            }
        for function in container.function_imports:
            made[function.name] = {
                "$Function": edm.qualified(function.function),
                **({} if function.entity_set is None else {"$EntitySet": function.entity_set}),
                **self._annotations(function.annotations),
            }
        return made | self._annotations(csdl_annotations.of_container(edm))

    def _entity_set(self, entity_set: EntitySet) -> dict[str, Any]:
        made: dict[str, Any] = {"$Collection": True, "$Type": self._edm.qualified(entity_set.entity_type)}
        if not entity_set.in_service_document:
            made["$IncludeInServiceDocument"] = False
        made |= self._bindings(entity_set)
        return made | self._annotations(csdl_annotations.of_set(self._edm, entity_set))

    def _bindings(self, source: EntitySet | Singleton) -> dict[str, Any]:
        found = csdl_model.bindings(self._edm, source)
        return {"$NavigationPropertyBinding": dict(found)} if found else {}

    # ---- annotations ----------------------------------------------------------------------------------------------

    def _annotations(self, annotations: Iterable[Annotation], target: str = "") -> dict[str, Any]:
        """Return the members for the annotations of ``target``: a member of this object, or the object itself."""
        made: dict[str, Any] = {}
        for annotation in annotations:
            qualifier = "" if annotation.qualifier is None else f"#{annotation.qualifier}"
            name = f"{target}@{annotation.term}{qualifier}"
            made[name] = self._value(annotation.value)
            made |= self._annotations(annotation.annotations, name)
        return made

    def _value(self, value: AnnotationValue) -> Any:
        if isinstance(value, AnnotationPath):
            return {"$Path": value.path} if value.kind == "Path" else value.path
        if isinstance(value, EnumMemberValue):
            return ",".join(member.partition("/")[2] for member in value.members)
        if isinstance(value, Record):
            return self._record(value)
        if isinstance(value, Expression):
            operands = [self._value(operand) for operand in value.operands]
            return {f"${value.operator}": operands if len(operands) > 1 else operands[0]}
        if isinstance(value, tuple):
            return [self._value(item) for item in value]
        if isinstance(value, Decimal):
            return _number(value)
        return value

    def _record(self, record: Record) -> Mapping[str, Any]:
        made: dict[str, Any] = {}
        if record.type is not None:
            made["@type"] = f"{self._uris.get(record.type.rpartition('.')[0], '')}#{record.type}"
        return made | {name: self._value(value) for name, value in record.values.items()}


def _json_uri(uri: str) -> str:
    """Return the URI of the JSON form of a vocabulary, which is next to its XML form."""
    return f"{uri.removesuffix('.xml')}.json" if uri.endswith(".xml") else uri


def _default(prop: Property) -> Any:
    """Return the default value of a property in JSON."""
    if isinstance(prop.default, Decimal):
        return _number(prop.default)
    if isinstance(prop.default, bool | int | float):
        return prop.default
    return csdl_model.default_text(prop)


def _number(value: Decimal) -> int | float | str:
    """Return a decimal as a JSON number, or as a string if a number would not be exact."""
    if value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if Decimal(repr(near)) == value else format(value, "f")
