"""Annotations of a CSDL XML document, moved from the blocks that name their targets into these elements."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

__all__ = ["inlined"]

_EDM = "{http://docs.oasis-open.org/odata/ns/edm}"


def inlined(root: ET.Element) -> ET.Element:
    """Move the annotations of every ``Annotations`` element into its target; those without a target stay."""
    for schema in list(root.iter(f"{_EDM}Schema")):
        targets = dict(_targets(schema, f"{schema.get('Namespace')}."))
        for block in schema.findall(f"{_EDM}Annotations"):
            element = targets.get(block.get("Target", ""))
            if element is not None:
                element.extend(list(block))
                schema.remove(block)
    return root


def _targets(element: ET.Element, prefix: str) -> Iterator[tuple[str, ET.Element]]:
    """Yield the elements below another by the targets that CSDL 4.01 (XML, 14.2.2) has for them."""
    for child in element:
        tag, name = child.tag.removeprefix(_EDM), child.get("Name")
        if tag == "ReturnType":
            name = "$ReturnType"
        if name is None:
            continue
        if tag in ("Action", "Function"):
            types = [one.get("Type", "") for one in child.findall(f"{_EDM}Parameter")]
            told = types if tag == "Function" else types[: child.get("IsBound") == "true"]
            name = f"{name}({','.join(told)})"
        yield prefix + name, child
        yield from _targets(child, f"{prefix}{name}/")
