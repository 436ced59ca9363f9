"""The rules of CSDL XML that a document can break, checked without the OASIS schemas.

Covers the rules of the schemas (elements, attributes, order where it matters) and those only in the prose: names
resolve, keys are not nullable, partners refer back, constraints fit, bindings end in a set of the right type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from tests.kit.annotation_targets import inlined

__all__ = ["EDM", "EDMX", "faults"]

EDMX = "{http://docs.oasis-open.org/odata/ns/edmx}"
EDM = "{http://docs.oasis-open.org/odata/ns/edm}"

_CONSTANTS = ["Bool", "Int", "Decimal", "String", "EnumMember"]
_EXPRESSIONS = [*_CONSTANTS, "Path", "PropertyPath", "NavigationPropertyPath", "AnnotationPath"]
_OPERATORS = ["And", "Or", "Not", "Eq", "Ne", "Gt", "Ge", "Lt", "Le"]
_ELEMENTS = ["Null", "Record", "Collection", *_OPERATORS, *_EXPRESSIONS]
_FACETS = "Nullable MaxLength Precision Scale"
# element -> (required attributes, further attributes, children)
_SHAPE: Mapping[str, tuple[str, str, str]] = {
    "Schema": ("Namespace", "", "EntityType ComplexType EnumType Action Function EntityContainer Annotation"),
    "EntityType": ("Name", "", "Key Property NavigationProperty Annotation"),
    "ComplexType": ("Name", "", "Property NavigationProperty Annotation"),
    "Key": ("", "", "PropertyRef"),
    "PropertyRef": ("Name", "", ""),
    "Property": ("Name Type", f"{_FACETS} DefaultValue", "Annotation"),
    "NavigationProperty": (
        "Name Type",
        "Nullable Partner ContainsTarget",
        "ReferentialConstraint OnDelete Annotation",
    ),
    "ReferentialConstraint": ("Property ReferencedProperty", "", ""),
    "OnDelete": ("Action", "", ""),
    "EnumType": ("Name", "UnderlyingType IsFlags", "Member Annotation"),
    "Member": ("Name Value", "", "Annotation"),
    "Action": ("Name", "IsBound EntitySetPath", "Parameter ReturnType Annotation"),
    "Function": ("Name", "IsBound EntitySetPath IsComposable", "Parameter ReturnType Annotation"),
    "Parameter": ("Name Type", _FACETS, "Annotation"),
    "ReturnType": ("Type", _FACETS, "Annotation"),
    "EntityContainer": ("Name", "", "EntitySet Singleton ActionImport FunctionImport Annotation"),
    "EntitySet": ("Name EntityType", "IncludeInServiceDocument", "NavigationPropertyBinding Annotation"),
    "Singleton": ("Name Type", "", "NavigationPropertyBinding Annotation"),
    "NavigationPropertyBinding": ("Path Target", "", ""),
    "ActionImport": ("Name Action", "EntitySet", "Annotation"),
    "FunctionImport": ("Name Function", "EntitySet", "Annotation"),
    "Annotation": ("Term", " ".join(["Qualifier", *_EXPRESSIONS]), " ".join(["Annotation", *_ELEMENTS])),
    "Record": ("", "Type", "PropertyValue Annotation"),
    "PropertyValue": ("Property", " ".join(_EXPRESSIONS), " ".join(_ELEMENTS)),
    "Collection": ("", "", " ".join(_ELEMENTS)),
    **dict.fromkeys(_OPERATORS, ("", "", " ".join(_ELEMENTS))),
    **dict.fromkeys(["Null", *_EXPRESSIONS], ("", "", "")),
}
_NAME = re.compile(r"[^\W\d]\w{0,127}")
_PRIMITIVES = (
    "Binary Boolean Byte Date DateTimeOffset Decimal Double Duration Guid Int16 Int32 Int64 SByte Single String "
    "TimeOfDay Stream"
)
_FACET_TYPES = {
    "MaxLength": ("Edm.String", "Edm.Binary"),
    "Precision": ("Edm.Decimal", "Edm.DateTimeOffset", "Edm.Duration", "Edm.TimeOfDay"),
    "Scale": ("Edm.Decimal",),
}


def faults(body: bytes, version: str) -> list[str]:
    """Return the faults of a metadata document; an empty list means that it is valid."""
    root = inlined(ET.fromstring(body))
    if root.tag != f"{EDMX}Edmx" or root.get("Version") != version:
        return [f"the document is {root.tag} {root.attrib}"]
    return list(_Document(root).faults())


class _Document:
    def __init__(self, root: ET.Element) -> None:
        self.references = root.findall(f"{EDMX}Reference")
        includes = [one for reference in self.references for one in reference]
        self.aliases = [one.get("Alias", "") for one in includes]
        self.order = [child.tag for child in root]
        schema = root.find(f"{EDMX}DataServices/{EDM}Schema")
        assert schema is not None
        self.schema = schema
        self.namespace = schema.get("Namespace", "")
        self.types = {
            self.qualified(one): one for one in schema if _local(one) in ("EntityType", "ComplexType", "EnumType")
        }
        container = schema.find(f"{EDM}EntityContainer")
        assert container is not None
        self.container = container
        self.sets = {one.get("Name", ""): one for one in container if _local(one) == "EntitySet"}

    def qualified(self, element: ET.Element) -> str:
        return f"{self.namespace}.{element.get('Name')}"

    def faults(self) -> Iterator[str]:
        if self.order != [f"{EDMX}Reference"] * len(self.references) + [f"{EDMX}DataServices"]:
            yield f"wrong order: {self.order}"
        if len(set(self.aliases)) != len(self.aliases):
            yield f"an alias twice: {self.aliases}"
        for element in self.schema.iter():
            yield from self._shape(element)
            yield from self._annotations(element)
        for element in self.schema.iter():
            if "Type" in element.attrib and _local(element) != "Record":
                yield from self._typed(element)
        for name, element in self.types.items():
            if _local(element) != "EnumType":
                yield from self._structured(name, element)
        for source in self.container:
            yield from self._resource(source)
        yield from self._operations()

    def _shape(self, element: ET.Element) -> Iterator[str]:
        name = _local(element)
        if name not in _SHAPE or not element.tag.startswith(EDM):
            yield f"no such element: {element.tag}"
            return
        required, optional, children = (part.split() for part in _SHAPE[name])
        given = list(element.attrib)
        if not set(required) <= set(given) <= {*required, *optional}:
            yield f"{name} {element.attrib} has wrong attributes"
        inside = [_local(child) for child in element]
        if not set(inside) <= set(children):
            yield f"{name} {element.attrib} contains {inside}"
        if "Name" in given and not _NAME.fullmatch(element.get("Name", "")):
            yield f"not a name: {element.get('Name')}"
        if name in ("Schema", "EntityType", "ComplexType", "EnumType", "EntityContainer"):
            names = [
                child.get("Name") for child in element if _local(child) not in ("Annotation", "Action", "Function")
            ]
            names = [one for one in names if one is not None]
            if len(names) != len(set(names)):
                yield f"{name} {element.get('Name')} has a name twice: {names}"
        for attribute in ("Nullable", "IsBound", "IsComposable", "IsFlags", "ContainsTarget", "Bool"):
            if element.get(attribute, "true") not in ("true", "false"):
                yield f"{name} {attribute}={element.get(attribute)}"

    def _annotations(self, element: ET.Element) -> Iterator[str]:
        given = [child for child in element if _local(child) == "Annotation"]
        terms = [(child.get("Term"), child.get("Qualifier")) for child in given]
        if len(terms) != len(set(terms)):
            yield f"{_local(element)} {element.get('Name')} is annotated twice with the same term: {terms}"
        for child in given:
            if child.get("Term", "").rpartition(".")[0] not in self.aliases:
                yield f"the vocabulary of {child.get('Term')} is not included"
        if _local(element) in ("Annotation", "PropertyValue"):
            values = [name for name in element.attrib if name in _EXPRESSIONS]
            values += [_local(child) for child in element if _local(child) != "Annotation"]
            if len(values) > 1:
                yield f"{_local(element)} {element.attrib} has several values: {values}"
        for part in re.findall(r"[\w.]+(?=/)", element.get("EnumMember", "")):
            if part.rpartition(".")[0] not in self.aliases:
                yield f"the vocabulary of {part} is not included"

    def _typed(self, element: ET.Element) -> Iterator[str]:
        name, kind = _local(element), _item_type(element.get("Type", ""))
        where = f"{name} {element.get('Name')} of type {element.get('Type')}"
        if kind.startswith("Edm."):
            if kind.removeprefix("Edm.") not in _PRIMITIVES.split():
                yield f"{where}: no such primitive type"
        elif kind not in self.types:
            yield f"{where}: no such type"
        elif name == "Property" and _local(self.types[kind]) == "EntityType":
            yield f"{where}: a property cannot be an entity"
        elif name in ("NavigationProperty", "Singleton") and _local(self.types[kind]) != "EntityType":
            yield f"{where}: leads to no entity"
        for facet, kinds in _FACET_TYPES.items():
            if facet in element.attrib and kind not in kinds:
                yield f"{where}: {facet}"
        if name == "NavigationProperty" and _is_collection(element) and "Nullable" in element.attrib:
            yield f"{where}: Nullable on a collection"
        if (
            kind == "Edm.Decimal"
            and element.get("Scale", "").isdigit()
            and (int(element.get("Scale", "0")) > int(element.get("Precision", "99")))
        ):
            yield f"{where}: more decimal places than digits"

    def _structured(self, name: str, element: ET.Element) -> Iterator[str]:
        properties = _by_name(element, "Property")
        if _local(element) == "EntityType":
            keys = [one.get("Name", "") for one in element.findall(f"{EDM}Key/{EDM}PropertyRef")]
            if not keys or any(key not in properties or properties[key].get("Nullable") != "false" for key in keys):
                yield f"{name}: its key {keys} is not made of its own properties that are never null"
        for navigation in element.findall(f"{EDM}NavigationProperty"):
            target = self.types.get(_item_type(navigation.get("Type", "")))
            if target is None:
                continue
            where = f"{name}/{navigation.get('Name')}"
            yield from self._partner(where, name, navigation, target)
            for constraint in navigation.findall(f"{EDM}ReferentialConstraint"):
                own = properties.get(constraint.get("Property", ""))
                other = _by_name(target, "Property").get(constraint.get("ReferencedProperty", ""))
                if own is None or other is None or own.get("Type") != other.get("Type"):
                    yield f"{where}: a constraint over different types"
                elif own.get("Nullable", "true") != navigation.get("Nullable", "true"):
                    yield f"{where}: nullable unlike its property {own.get('Name')}"

    def _partner(self, where: str, name: str, navigation: ET.Element, target: ET.Element) -> Iterator[str]:
        if "Partner" in navigation.attrib:
            back = _by_name(target, "NavigationProperty").get(navigation.get("Partner", ""))
            if back is None or _item_type(back.get("Type", "")) != name:
                yield f"{where}: its partner does not lead back"
            elif back.get("Partner", navigation.get("Name")) != navigation.get("Name"):
                yield f"{where}: its partner has another partner"

    def _resource(self, element: ET.Element) -> Iterator[str]:
        name = f"{_local(element)} {element.get('Name')}"
        if "EntitySet" in element.attrib and element.get("EntitySet") not in self.sets:
            yield f"{name} answers from a set that does not exist"
        for kind in ("Action", "Function"):
            if kind in element.attrib:
                operations = [
                    self.qualified(one) for one in self.schema.findall(f"{EDM}{kind}") if "IsBound" not in one.attrib
                ]
                if element.get(kind) not in operations:
                    yield f"{name} imports what does not exist: {element.get(kind)}"
        for binding in element.findall(f"{EDM}NavigationPropertyBinding"):
            reached = self._follow(element.get("EntityType", element.get("Type", "")), binding.get("Path", ""))
            bound = self.sets.get(binding.get("Target", ""))
            if bound is None or reached != bound.get("EntityType"):
                yield f"{name}: {binding.attrib} binds {reached}"

    def _follow(self, kind: str, path: str) -> str | None:
        for segment in path.split("/"):
            members = {**_by_name(self.types[kind], "Property"), **_by_name(self.types[kind], "NavigationProperty")}
            if segment not in members:
                return None
            kind = _item_type(members[segment].get("Type", ""))
        return kind

    def _operations(self) -> Iterator[str]:
        seen = set()
        for operation in (*self.schema.findall(f"{EDM}Action"), *self.schema.findall(f"{EDM}Function")):
            parameters = operation.findall(f"{EDM}Parameter")
            bound = operation.get("IsBound") == "true"
            binding = parameters[0].get("Type") if bound else None
            overload: tuple[object, ...] = (_local(operation) if not bound else "", operation.get("Name"), binding)
            names = [one.get("Name") for one in parameters]
            if operation.tag == f"{EDM}Function":
                overload = (*overload, frozenset(names))
            if overload in seen or len(names) != len(set(names)):
                yield f"operation {overload} {names} is not unique"
            seen.add(overload)
            if _local(operation) == "Function" and operation.find(f"{EDM}ReturnType") is None:
                yield f"function {operation.get('Name')} returns nothing"


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _is_collection(element: ET.Element) -> bool:
    return element.get("Type", "").startswith("Collection(")


def _item_type(name: str) -> str:
    return name.removeprefix("Collection(").removesuffix(")")


def _by_name(element: ET.Element, tag: str) -> dict[str, ET.Element]:
    return {one.get("Name", ""): one for one in element.findall(f"{EDM}{tag}")}
