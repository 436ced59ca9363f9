"""A CSDL XML document as readable lines: one for each property, type, operation, set and annotation.

The order of the document is kept, because generated clients see it. Only spelling is dropped: indentation, prefixes of
XML namespaces, whether a constant is an attribute or an element, and whether an annotation is inside of its target.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from tests.kit.annotation_targets import inlined

__all__ = ["changes", "metadata_lines"]

_SHOWN_MAX = 160
_CONTEXT = 60
_PLAIN = re.compile(r"[^\s\"\[\]{}(),=]+")

# Elements with their own line; all others are part of their parent's line.
_WITH_LINE = {
    "Edmx",
    "Reference",
    "DataServices",
    "Schema",
    "EntityType",
    "ComplexType",
    "EnumType",
    "TypeDefinition",
    "Term",
    "Member",
    "Property",
    "NavigationProperty",
    "Action",
    "Function",
    "Parameter",
    "ReturnType",
    "EntityContainer",
    "EntitySet",
    "Singleton",
    "ActionImport",
    "FunctionImport",
    "Annotation",
    "Annotations",
}
_NAMESPACES = ("{http://docs.oasis-open.org/odata/ns/edm", "{http://docs.oasis-open.org/odata/ns/edmx")
_UNNAMED = {"Edmx", "Reference", "DataServices", "Schema", "Annotations"}
_CONTENT = ("Annotation", "PropertyValue")


def metadata_lines(document: bytes) -> list[str]:
    """Return the lines of a metadata document; documents with equal lines mean the same to a client.

    Raise ValueError for elements of other namespaces, and for text where CSDL allows none.
    """
    return list(_lines(inlined(ET.fromstring(document)), ""))


def changes(agreed: Sequence[str], made: Sequence[str]) -> list[str]:
    """Return the differences as lines that begin with "-" and "+"; long lines are cut to the part around the
    difference.
    """
    found: list[str] = []
    for kind, low, high, start, end in difflib.SequenceMatcher(None, agreed, made, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, new = agreed[low:high], made[start:end]
        paired = min(len(gone), len(new))
        for before, after in zip(gone, new, strict=False):
            found += _shortened(before, after)
        found += [f"- {line}" for line in gone[paired:]] + [f"+ {line}" for line in new[paired:]]
    return found


def _shortened(before: str, after: str) -> list[str]:
    """Return a changed line before and after, without the long parts that are equal."""
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    name = re.split(r"[ =]", before, maxsplit=1)[0]
    shown = []
    for sign, line in (("-", before), ("+", after)):
        low = start - _CONTEXT if start > len(name) + _CONTEXT else 0
        high = len(line) - end + _CONTEXT
        if max(len(before), len(after)) <= _SHOWN_MAX:
            low, high = 0, len(line)
        left = f"{name} ... {line[low:start]}" if low else line[:start]
        shown.append(f"{sign} {left}{line[start:high]}{' ...' if high < len(line) else ''}")
    return shown


def _same(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _lines(element: ET.Element, path: str) -> Iterator[str]:
    tag = _tag(element)
    own = _path(element, path)
    if tag == "Annotation":
        yield f"{own} = {_expression(element)}"
        yield from _below(element, own, {"Annotation"})
        return
    _refuse_text(element)
    attributes = [f"{name}={_value(value)}" for name, value in _attributes(element) if name != "Name"]
    inline = [_inline(child) for child in element if _tag(child) not in _WITH_LINE]
    yield " ".join(part for part in (own, tag, *attributes, *inline) if part)
    yield from _below(element, own, _WITH_LINE)


def _below(element: ET.Element, path: str, tags: set[str]) -> Iterator[str]:
    for child in element:
        if _tag(child) in tags:
            yield from _lines(child, path)


def _path(element: ET.Element, path: str) -> str:
    """Return the path of an element: the names from its schema downwards, for operations also their binding, and
    for functions, which may have overloads, their parameters.
    """
    tag = _tag(element)
    if tag == "Annotation":
        return f"{path}@{_term(element)}"
    if tag in _UNNAMED:
        return path
    name = element.get("Name", f"${tag}")
    if tag in ("Action", "Function"):
        parameters = [child for child in element if _tag(child) == "Parameter"]
        told = [child.get("Type", "") for child in parameters[:1] if element.get("IsBound") == "true"]
        if tag == "Function":
            told += [child.get("Name", "") for child in parameters[len(told) :]]
        name += f"({', '.join(told)})" if told else ""
    return f"{path}/{name}" if path else name


def _inline(element: ET.Element) -> str:
    """Return an element as part of its parent's line, such as a key or a referential constraint."""
    _refuse_text(element)
    parts = [f"{name}={_value(value)}" for name, value in _attributes(element)]
    return f"{_tag(element)}({', '.join([*parts, *(_inline(child) for child in element)])})"


def _expression(element: ET.Element) -> str:
    """Return the value of an annotation, of a record's property or of a collection member."""
    tag = _tag(element)
    constants = [(name, value) for name, value in _attributes(element) if name not in ("Term", "Qualifier")]
    children = [child for child in element if tag not in _CONTENT or _tag(child) != "Annotation"]
    if tag == "Record":
        _refuse_text(element)
        return f"{element.get('Type', '')}{{{', '.join(_entry(child) for child in element)}}}"
    if tag == "Collection":
        _refuse_text(element)
        return f"[{', '.join(_expression(child) for child in element)}]"
    if tag in _CONTENT:
        _refuse_text(element)
        found = [_constant(name, value) for name, value in constants if name != "Property"]
        return " ".join([*found, *(_expression(child) for child in children)])
    if children or constants:
        _refuse_text(element)
        parts = [f"{name}={_value(value)}" for name, value in constants]
        return f"{tag}({', '.join([*parts, *(_expression(child) for child in children)])})"
    return _constant(tag, element.text or "")


def _entry(element: ET.Element) -> str:
    name = f"@{_term(element)}" if _tag(element) == "Annotation" else element.get("Property", "")
    notes = [f" @{_term(child)}={_expression(child)}" for child in element if _tag(child) == "Annotation"]
    return f"{name}={_expression(element)}{''.join(notes)}"


def _constant(kind: str, value: str) -> str:
    if kind == "String":
        return json.dumps(value, ensure_ascii=False)
    return f"{kind}:{_value(value)}"


def _value(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _attributes(element: ET.Element) -> list[tuple[str, str]]:
    """Return the attributes by name, as their order in XML means nothing; the type first, as people look for it."""
    return sorted(element.attrib.items(), key=lambda item: (item[0] != "Type", item[0]))


def _term(element: ET.Element) -> str:
    qualifier = element.get("Qualifier")
    return f"{element.get('Term')}#{qualifier}" if qualifier else str(element.get("Term"))


def _tag(element: ET.Element) -> str:
    namespace, _, tag = element.tag.rpartition("}")
    if namespace not in _NAMESPACES:
        raise ValueError(f"{element.tag} is not CSDL")
    return tag


def _refuse_text(element: ET.Element) -> None:
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        raise ValueError(f"{_tag(element)} has text")
