"""The lines of a metadata document contain everything that a client could notice, and show differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as ET

import pytest

from odata_server.csdl.xml import render_xml
from tests.kit.metadata_lines import changes, metadata_lines
from tests.odata_server.bookshop import EDM as BOOKSHOP

EACH_KIND = 2  # elements of each kind that are changed, which keeps the test fast


class Kinds:
    """Limits the changes to the first few of each kind."""

    def __init__(self) -> None:
        self.seen: Counter[tuple[str, ...]] = Counter()

    def are_new(self, *kind: str) -> bool:
        self.seen[kind] += 1
        return self.seen[kind] <= EACH_KIND


def other_attributes(root: ET.Element, kinds: Kinds) -> Iterator[str]:
    """Change one attribute of the document, then remove it; yield which."""
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if kinds.are_new(element.tag, name):
                before = dict(element.attrib)
                element.set(name, "Other")
                yield f"{name}={value} of {element.tag}"
                del element.attrib[name]
                yield f"no {name}={value} of {element.tag}"
                element.attrib.update(before)


def other_children(root: ET.Element, kinds: Kinds) -> Iterator[str]:
    """Remove one element of the document, then swap it with its preceding sibling of the same kind; yield which."""
    for parent in root.iter():
        children = list(parent)
        for place, child in enumerate(children):
            if kinds.are_new(parent.tag, child.tag):
                del parent[place]
                yield f"no {child.tag} {child.attrib}"
                is_ordered = "Target" not in child.attrib  # blocks of annotations may come in any order
                if is_ordered and place and children[place - 1].tag == child.tag:
                    parent.insert(place - 1, child)
                    yield f"{child.tag} {child.attrib} comes earlier"
                parent[:] = children


def other_texts(root: ET.Element, kinds: Kinds) -> Iterator[str]:
    """Change the text of one element that has text; yield which."""
    for element in root.iter():
        text = element.text
        if text and text.strip() and kinds.are_new(element.tag):
            element.text = "Other"
            yield f"{text} of {element.tag}"
            element.text = text


@pytest.mark.parametrize(("changed", "tried_min"), [(other_attributes, 80), (other_children, 60), (other_texts, 4)])
def test_every_change_of_a_document_changes_its_lines(
    changed: Callable[[ET.Element, Kinds], Iterator[str]], tried_min: int
) -> None:
    root = ET.fromstring(render_xml(BOOKSHOP))
    agreed = metadata_lines(ET.tostring(root))

    tried = [(one, metadata_lines(ET.tostring(root)) != agreed) for one in changed(root, Kinds())]

    assert [one for one, is_noticed in tried if not is_noticed] == []
    assert len(tried) >= tried_min
    assert metadata_lines(ET.tostring(root)) == agreed


def test_each_line_is_there_once() -> None:
    lines = metadata_lines(render_xml(BOOKSHOP))

    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    "document",
    [
        b"<Schema/>",
        b'<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm">words</Schema>',
        b'<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm"><Annotation Term="A"/>words</Schema>',
    ],
)
def test_a_document_that_is_not_csdl_is_refused(document: bytes) -> None:
    with pytest.raises(ValueError, match=r"not CSDL|has text"):
        metadata_lines(document)


def test_changes_name_lines_that_came_and_went() -> None:
    agreed = ["Books EntityType", "Books/ID Property Type=Edm.Guid", "Books/title Property Type=Edm.String"]
    made = ["Books EntityType", "Books/ID Property Type=Edm.Int64", "Books/pages Property Type=Edm.Int32"]

    assert changes(agreed, made) == [
        "- Books/ID Property Type=Edm.Guid",
        "+ Books/ID Property Type=Edm.Int64",
        "- Books/title Property Type=Edm.String",
        "+ Books/pages Property Type=Edm.Int32",
    ]
    assert changes(agreed, agreed[:1]) == [f"- {line}" for line in agreed[1:]]
    assert changes(agreed[:1], agreed) == [f"+ {line}" for line in agreed[1:]]


def test_changes_of_a_long_line_show_the_part_that_differs() -> None:
    columns = [f"UI.DataField{{Value=Path:column{number}}}" for number in range(40)]
    agreed = f"Books@UI.LineItem = [{', '.join(columns)}]"
    made = agreed.replace("column20}", "other}")

    before, after = changes([agreed], [made])

    assert before.startswith("- Books@UI.LineItem ... ")
    assert after.startswith("+ Books@UI.LineItem ... ")
    assert "Path:column20}" in before
    assert "Path:other}" in after
    assert max(len(before), len(after)) < 200
