"""Converts CSDL XML into CSDL JSON by the rules of the two specifications: both must describe the same model."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from tests.kit.annotation_targets import inlined
from tests.odata_server.csdl.checker import EDM, EDMX

__all__ = ["to_json"]

_OPERATORS = ("And", "Or", "Not", "Eq", "Ne", "Gt", "Ge", "Lt", "Le")
_NUMBERS = ("Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Byte", "Edm.SByte", "Edm.Decimal", "Edm.Double", "Edm.Single")


def to_json(body: bytes) -> dict[str, Any]:
    """Return the JSON form of a metadata document in XML."""
    root = inlined(ET.fromstring(body))
    uris: dict[str, str] = {}
    includes: dict[str, Any] = {}
    for reference in root.findall(f"{EDMX}Reference"):
        uri = reference.attrib["Uri"].replace(".xml", ".json")
        include = reference[0].attrib
        uris[include["Alias"]] = uri
        includes[uri] = {"$Include": [{"$Namespace": include["Namespace"], "$Alias": include["Alias"]}]}
    schema = root[-1][0]
    namespace = schema.attrib["Namespace"]
    reader = _Reader(uris)
    made: dict[str, Any] = {}
    container = ""
    for element in schema:
        name = element.get("Name", "")
        if _local(element) in ("Action", "Function"):
            made.setdefault(name, []).append(reader.operation(element))
        elif _local(element) == "EntityContainer":
            container = f"{namespace}.{name}"
            made[name] = {"$Kind": "EntityContainer"} | reader.members(element)
        elif _local(element) != "Annotation":
            made[name] = reader.type(element)
    return {
        "$Version": root.attrib["Version"],
        "$EntityContainer": container,
        "$Reference": includes,
        namespace: made | reader.annotations(schema),
    }


class _Reader:
    def __init__(self, uris: dict[str, str]) -> None:
        self._uris = uris

    def type(self, element: ET.Element) -> dict[str, Any]:
        made: dict[str, Any] = {"$Kind": _local(element)}
        if element.get("IsFlags") == "true":
            made["$IsFlags"] = True
        if "UnderlyingType" in element.attrib:
            made["$UnderlyingType"] = element.attrib["UnderlyingType"]
        if element.find(f"{EDM}Key") is not None:
            made["$Key"] = [one.get("Name") for one in element.iter(f"{EDM}PropertyRef")]
        return made | self.members(element)

    def members(self, element: ET.Element) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for child in element:
            name = child.get("Name", "")
            if _local(child) == "Member":
                made[name] = int(child.attrib["Value"])
                made |= self.annotations(child, name)
            elif _local(child) == "Property":
                made[name] = self.typed(child)
            elif _local(child) == "NavigationProperty":
                made[name] = self.navigation(child)
            elif _local(child) not in ("Key", "Annotation"):
                made[name] = self.resource(child)
        return made | self.annotations(element)

    def typed(self, element: ET.Element) -> dict[str, Any]:
        made: dict[str, Any] = {}
        kind = element.attrib["Type"]
        collection = kind.startswith("Collection(")
        if collection:
            made["$Collection"] = True
            kind = kind[len("Collection(") : -1]
        if kind != "Edm.String":
            made["$Type"] = kind
        if element.get("Nullable", "true") == "true" and not (_local(element) == "NavigationProperty" and collection):
            made["$Nullable"] = True
        for facet in ("MaxLength", "Precision", "Scale"):
            if facet in element.attrib:
                text = element.attrib[facet]
                made[f"${facet}"] = int(text) if text.isdigit() else text
        if "DefaultValue" in element.attrib:
            default: Any = element.attrib["DefaultValue"]
            if kind == "Edm.Boolean":
                default = default == "true"
            made["$DefaultValue"] = _number(default) if kind in _NUMBERS else default
        return made | self.annotations(element)

    def navigation(self, element: ET.Element) -> dict[str, Any]:
        made = {"$Kind": "NavigationProperty"} | self.typed(element)
        if "Partner" in element.attrib:
            made["$Partner"] = element.attrib["Partner"]
        if element.get("ContainsTarget") == "true":
            made["$ContainsTarget"] = True
        constraints = element.findall(f"{EDM}ReferentialConstraint")
        if constraints:
            made["$ReferentialConstraint"] = {
                one.attrib["Property"]: one.attrib["ReferencedProperty"] for one in constraints
            }
        deleted = element.find(f"{EDM}OnDelete")
        if deleted is not None:
            made["$OnDelete"] = deleted.attrib["Action"]
        return made

    def operation(self, element: ET.Element) -> dict[str, Any]:
        made: dict[str, Any] = {"$Kind": _local(element)}
        for flag in ("IsBound", "IsComposable"):
            if element.get(flag) == "true":
                made[f"${flag}"] = True
        if "EntitySetPath" in element.attrib:
            made["$EntitySetPath"] = element.attrib["EntitySetPath"]
        parameters = [{"$Name": one.get("Name")} | self.typed(one) for one in element.findall(f"{EDM}Parameter")]
        if parameters:
            made["$Parameter"] = parameters
        returns = element.find(f"{EDM}ReturnType")
        if returns is not None:
            made["$ReturnType"] = self.typed(returns)
        return made | self.annotations(element)

    def resource(self, element: ET.Element) -> dict[str, Any]:
        made: dict[str, Any] = {"$Collection": True} if _local(element) == "EntitySet" else {}
        if "EntityType" in element.attrib or "Type" in element.attrib:
            made["$Type"] = element.get("EntityType", element.get("Type"))
        for name in ("Action", "Function", "EntitySet"):
            if name in element.attrib:
                made[f"${name}"] = element.attrib[name]
        if element.get("IncludeInServiceDocument") == "false":
            made["$IncludeInServiceDocument"] = False
        bound = {one.attrib["Path"]: one.attrib["Target"] for one in element.findall(f"{EDM}NavigationPropertyBinding")}
        if bound:
            made["$NavigationPropertyBinding"] = bound
        return made | self.annotations(element)

    def annotations(self, element: ET.Element, target: str = "") -> dict[str, Any]:
        made: dict[str, Any] = {}
        for one in element.findall(f"{EDM}Annotation"):
            qualifier = f"#{one.attrib['Qualifier']}" if "Qualifier" in one.attrib else ""
            name = f"{target}@{one.attrib['Term']}{qualifier}"
            made[name] = self.expression(one)
            made |= self.annotations(one, name)
        return made

    def expression(self, element: ET.Element) -> Any:
        for name, text in element.attrib.items():
            if name not in ("Term", "Qualifier", "Property"):
                return _constant(name, text)
        return self.value(next(child for child in element if _local(child) != "Annotation"))

    def value(self, element: ET.Element) -> Any:
        if _local(element) == "Collection":
            return [self.value(child) for child in element]
        if _local(element) in _OPERATORS:
            operands = [self.value(child) for child in element]
            return {f"${_local(element)}": operands if len(operands) > 1 else operands[0]}
        if _local(element) != "Record":
            return _constant(_local(element), element.text or "")
        made: dict[str, Any] = {}
        if "Type" in element.attrib:
            kind = element.attrib["Type"]
            made["@type"] = f"{self._uris[kind.partition('.')[0]]}#{kind}"
        made |= {one.attrib["Property"]: self.expression(one) for one in element.findall(f"{EDM}PropertyValue")}
        return made | self.annotations(element)


def _constant(kind: str, text: str) -> Any:
    if kind == "Null":
        return None
    if kind == "Bool":
        return text == "true"
    if kind == "EnumMember":
        return ",".join(member.partition("/")[2] for member in text.split())
    if kind == "Path":
        return {"$Path": text}
    return _number(text) if kind in ("Int", "Decimal") else text


def _number(text: str) -> int | float | str:
    value = float(text)
    return int(value) if value.is_integer() else value if len(text) < 17 else text


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
