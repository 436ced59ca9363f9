"""A model as CSDL XML (OData CSDL XML Representation 4.01), the form of ``$metadata`` that every client can read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from xml.etree import ElementTree as ET

from odata_server.csdl import annotations as csdl_annotations
from odata_server.csdl import model as csdl_model
from odata_server.edm import (
    Action,
    Annotation,
    AnnotationPath,
    AnnotationValue,
    Edm,
    EntityType,
    EnumMemberValue,
    EnumType,
    Expression,
    Function,
    NavigationProperty,
    Operation,
    Parameter,
    Property,
    Record,
    ReturnType,
    Singleton,
    StructuredType,
)

__all__ = ["render_xml"]

_EDMX = "http://docs.oasis-open.org/odata/ns/edmx"
_EDM = "http://docs.oasis-open.org/odata/ns/edm"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PATHS = ("Path", "PropertyPath", "NavigationPropertyPath", "AnnotationPath", "ModelElementPath")


def render_xml(edm: Edm, version: str = "4.01") -> bytes:
    """Render the metadata document in UTF-8; the same model always gives the same bytes.

    ``version`` is "4.0" or "4.01"; the library uses none of the additions of 4.01, so only the version attribute
    differs. Raise ValueError for another version and for a model that cannot be expressed (see
    `odata_server.csdl.model`).
    """
    if version not in ("4.0", "4.01"):
        raise ValueError(f"there is no CSDL XML {version}")
    root = ET.Element("edmx:Edmx", {"xmlns:edmx": _EDMX, "Version": version})
    for reference in csdl_annotations.references(edm):
        element = ET.SubElement(root, "edmx:Reference", {"Uri": reference.uri})
        ET.SubElement(element, "edmx:Include", {"Namespace": reference.namespace, "Alias": reference.alias})
    services = ET.SubElement(root, "edmx:DataServices")
    schema = ET.SubElement(services, "Schema", {"xmlns": _EDM, "Namespace": edm.namespace})
    _Writer(edm).write_schema(schema)
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=False)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body + b"\n"


class _Writer:
    """Writes the elements of one model.

    Annotations come after all elements, in blocks that name their targets: parsers for user interfaces, such as those
    of SAP's tools, read no annotations inside of the elements.
    """

    def __init__(self, edm: Edm) -> None:
        self._edm = edm
        self._annotated: list[tuple[str, Sequence[Annotation]]] = []

    def write_schema(self, parent: ET.Element) -> None:
        schema = self._edm.schema
        for entity_type in schema.entity_types:
            self._structured(parent, "EntityType", entity_type)
        for complex_type in schema.complex_types:
            self._structured(parent, "ComplexType", complex_type)
        for enum_type in schema.enum_types:
            self._enum_type(parent, enum_type)
        for operation in schema.operations:
            self._operation(parent, operation)
        self._container(parent)
        for target, stated in self._annotated:
            _annotate(ET.SubElement(parent, "Annotations", {"Target": target}), stated)
        _annotate(parent, schema.annotations)

    def _annotate(self, annotations: Sequence[Annotation], *path: str) -> None:
        """Note the annotations of the element at a path from the schema."""
        if annotations:
            self._annotated.append((self._edm.qualified("/".join(path)), annotations))

    def _structured(self, parent: ET.Element, tag: str, structured: StructuredType) -> None:
        element = ET.SubElement(parent, tag, {"Name": structured.name})
        if isinstance(structured, EntityType):
            key = ET.SubElement(element, "Key")
            for name in structured.key:
                ET.SubElement(key, "PropertyRef", {"Name": name})
        for prop in structured.properties:
            self._property(element, structured, prop)
        for navigation in structured.navigations:
            self._navigation(element, structured, navigation)
        self._annotate(csdl_annotations.of_type(structured), structured.name)

    def _property(self, parent: ET.Element, owner: StructuredType, prop: Property) -> None:
        attributes = {"Name": prop.name, **self._typed(prop)}
        default = csdl_model.default_text(prop)
        if default is not None:
            attributes["DefaultValue"] = _clean(default)
        ET.SubElement(parent, "Property", attributes)
        self._annotate(csdl_annotations.of_property(prop), owner.name, prop.name)

    def _typed(self, typed: Property | Parameter | ReturnType) -> dict[str, str]:
        kind = typed.type if typed.type is not None else typed.entity_type
        if kind is None:
            raise ValueError(f"{typed!r} has no type")
        name = csdl_model.type_name(self._edm, kind)
        attributes = {"Type": f"Collection({name})" if typed.collection else name}
        # without the facet, a collection may or may not hold nulls, and a single value may be null
        if not typed.nullable or typed.collection:
            attributes["Nullable"] = "true" if typed.nullable else "false"
        return attributes | {facet: str(value) for facet, value in csdl_model.facets(typed).items()}

    def _navigation(self, parent: ET.Element, owner: StructuredType, navigation: NavigationProperty) -> None:
        edm = self._edm
        target = edm.qualified(navigation.target)
        attributes = {
            "Name": navigation.name,
            "Type": f"Collection({target})" if navigation.collection else target,
        }
        if not navigation.collection and not csdl_model.is_nullable(edm, owner, navigation):
            attributes["Nullable"] = "false"
        partner = csdl_model.partner(edm, owner, navigation)
        if partner is not None:
            attributes["Partner"] = partner
        if csdl_model.is_contained(edm, navigation):
            attributes["ContainsTarget"] = "true"
        element = ET.SubElement(parent, "NavigationProperty", attributes)
        for own, other in csdl_model.constraints(edm, owner, navigation).items():
            ET.SubElement(element, "ReferentialConstraint", {"Property": own, "ReferencedProperty": other})
        if navigation.composition:
            ET.SubElement(element, "OnDelete", {"Action": "Cascade"})
        self._annotate(navigation.annotations, owner.name, navigation.name)

    def _enum_type(self, parent: ET.Element, enum_type: EnumType) -> None:
        attributes = {"Name": enum_type.name}
        if csdl_model.underlying_type(enum_type) != "Edm.Int32":
            attributes["UnderlyingType"] = csdl_model.underlying_type(enum_type)
        if enum_type.is_flags:
            attributes["IsFlags"] = "true"
        element = ET.SubElement(parent, "EnumType", attributes)
        for member in enum_type.members:
            ET.SubElement(element, "Member", {"Name": member.name, "Value": str(member.value)})
            self._annotate(member.annotations, enum_type.name, member.name)
        self._annotate(enum_type.annotations, enum_type.name)

    def _operation(self, parent: ET.Element, operation: Operation) -> None:
        attributes = {"Name": operation.name}
        if operation.binding is not None:
            attributes["IsBound"] = "true"
        path = csdl_model.entity_set_path(operation)
        if path is not None:
            attributes["EntitySetPath"] = path
        if isinstance(operation, Function) and operation.composable:
            attributes["IsComposable"] = "true"
        element = ET.SubElement(parent, "Action" if isinstance(operation, Action) else "Function", attributes)
        parameters = list(operation.parameters)
        if operation.binding is not None:
            bound = Parameter(
                name=csdl_model.BINDING_PARAMETER,
                entity_type=operation.binding,
                collection=operation.binding_collection,
                nullable=False,
            )
            parameters.insert(0, bound)
        typed = [self._typed(parameter) for parameter in parameters]
        told = len(typed) if isinstance(operation, Function) else int(operation.binding is not None)
        overload = f"{operation.name}({','.join(one['Type'] for one in typed[:told])})"
        for parameter, attributes in zip(parameters, typed, strict=True):
            ET.SubElement(element, "Parameter", {"Name": parameter.name, **attributes})
            self._annotate(parameter.annotations, overload, parameter.name)
        if operation.returns is not None:
            ET.SubElement(element, "ReturnType", self._typed(operation.returns))
        elif isinstance(operation, Function):
            raise ValueError(f"function {operation.name} returns nothing")
        self._annotate(operation.annotations, overload)

    def _container(self, parent: ET.Element) -> None:
        edm = self._edm
        container = edm.schema.container
        element = ET.SubElement(parent, "EntityContainer", {"Name": container.name})
        for entity_set in container.entity_sets:
            attributes = {"Name": entity_set.name, "EntityType": edm.qualified(entity_set.entity_type)}
            if not entity_set.in_service_document:
                attributes["IncludeInServiceDocument"] = "false"
            inner = ET.SubElement(element, "EntitySet", attributes)
            _bind(inner, csdl_model.bindings(edm, entity_set))
            self._annotate(csdl_annotations.of_set(edm, entity_set), container.name, entity_set.name)
        for singleton in container.singletons:
            self._singleton(element, singleton)
        for action in container.action_imports:
            self._import(element, "ActionImport", action.name, {"Action": action.action}, action.entity_set)
            self._annotate(action.annotations, container.name, action.name)
        for function in container.function_imports:
            self._import(element, "FunctionImport", function.name, {"Function": function.function}, function.entity_set)
            self._annotate(function.annotations, container.name, function.name)
        self._annotate(csdl_annotations.of_container(edm), container.name)

    def _singleton(self, parent: ET.Element, singleton: Singleton) -> None:
        attributes = {"Name": singleton.name, "Type": self._edm.qualified(singleton.entity_type)}
        element = ET.SubElement(parent, "Singleton", attributes)
        _bind(element, csdl_model.bindings(self._edm, singleton))
        self._annotate(singleton.annotations, self._edm.schema.container.name, singleton.name)

    def _import(self, parent: ET.Element, tag: str, name: str, target: dict[str, str], entity_set: str | None) -> None:
        attributes = {"Name": name, **{kind: self._edm.qualified(operation) for kind, operation in target.items()}}
        if entity_set is not None:
            attributes["EntitySet"] = entity_set
        ET.SubElement(parent, tag, attributes)


def _bind(parent: ET.Element, bindings: Mapping[str, str]) -> None:
    for path, target in bindings.items():
        ET.SubElement(parent, "NavigationPropertyBinding", {"Path": path, "Target": target})


# ---- annotations --------------------------------------------------------------------------------------------------


def _annotate(parent: ET.Element, annotations: Iterable[Annotation]) -> None:
    for annotation in annotations:
        attributes = {"Term": annotation.term}
        if annotation.qualifier is not None:
            attributes["Qualifier"] = annotation.qualifier
        element = ET.SubElement(parent, "Annotation", attributes)
        _write_value(element, annotation.value)
        _annotate(element, annotation.annotations)


def _write_value(element: ET.Element, value: AnnotationValue) -> None:
    """Set an expression on an Annotation or PropertyValue: constants and paths as attribute, others as child."""
    constant = _constant(value)
    if constant is None:
        _write_element(element, value)
    else:
        element.set(*constant)


def _write_element(parent: ET.Element, value: AnnotationValue) -> None:
    """Add an expression as an element of its own."""
    constant = _constant(value)
    if constant is not None:
        ET.SubElement(parent, constant[0]).text = constant[1]
    elif value is None:
        ET.SubElement(parent, "Null")
    elif isinstance(value, tuple):
        collection = ET.SubElement(parent, "Collection")
        for item in value:
            _write_element(collection, item)
    elif isinstance(value, Record):
        _write_record(parent, value)
    elif isinstance(value, Expression):
        expression = ET.SubElement(parent, value.operator)
        for operand in value.operands:
            _write_element(expression, operand)
    else:
        raise TypeError(f"no annotation value: {value!r}")


def _write_record(parent: ET.Element, record: Record) -> None:
    element = ET.SubElement(parent, "Record", {} if record.type is None else {"Type": record.type})
    for name, value in record.values.items():
        if not name.startswith("@"):
            _write_value(ET.SubElement(element, "PropertyValue", {"Property": name}), value)
    for name, value in record.values.items():
        if name.startswith("@"):
            term, _, qualifier = name[1:].partition("#")
            _annotate(element, [Annotation(term, value, qualifier or None)])


def _constant(value: AnnotationValue) -> tuple[str, str] | None:
    """Return the element or attribute name of a constant or path, and its text."""
    if isinstance(value, AnnotationPath) and value.kind not in _PATHS:
        raise ValueError(f"no path of an annotation: {value!r}")
    forms: tuple[tuple[type, Callable[..., tuple[str, str]]], ...] = (
        (bool, lambda it: ("Bool", "true" if it else "false")),
        (int, lambda it: ("Int", str(it))),
        (Decimal, lambda it: ("Decimal", format(it, "f"))),
        (str, lambda it: ("String", _clean(it))),
        (AnnotationPath, lambda it: (it.kind, _clean(it.path))),
        (EnumMemberValue, lambda it: ("EnumMember", " ".join(it.members))),
    )
    for kind, form in forms:
        if isinstance(value, kind):
            return form(value)
    return None


def _clean(text: str) -> str:
    """Replace characters that XML cannot carry, as a decoder would."""
    return _NOT_XML.sub("�", text)
