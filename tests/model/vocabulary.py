"""Checks that annotations are allowed by their vocabularies and refer to existing things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from odata_server.edm import (
    Annotation,
    AnnotationPath,
    AnnotationValue,
    Edm,
    EntityType,
    EnumMemberValue,
    Expression,
    Record,
)

__all__ = ["Vocabulary", "faults_of", "read_vocabulary"]

_OTHERS = ("Core.", "Capabilities.", "Validation.")  # those that every service uses


@dataclass
class Vocabulary:
    """The table of vocabularies.txt."""

    terms: dict[str, tuple[set[str], str]] = field(default_factory=dict)
    bases: dict[str, str | None] = field(default_factory=dict)
    abstract: set[str] = field(default_factory=set)
    properties: dict[str, dict[str, str]] = field(default_factory=dict)
    required: dict[str, set[str]] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)

    def lineage(self, record: str) -> Iterator[str]:
        """Yield a record type and its base types."""
        found: str | None = record
        while found is not None:
            yield found
            found = self.bases[found]


def read_vocabulary(path: Path) -> Vocabulary:
    found = Vocabulary()
    for line in path.read_text().splitlines():
        kind, _, rest = line.partition(" ")
        words = rest.split()
        if kind == "term":
            found.terms[words[0]] = (set(words[1].split(",")), words[2])
        elif kind == "enum":
            found.members[words[0]] = set(words[1:])
        elif kind == "record":
            name, _, base = words[0].rstrip("*").partition("<")
            found.bases[name] = base or None
            found.abstract |= {name} if words[0].endswith("*") else set()
            pairs = [one.split(":") for one in words[1:]]
            found.properties[name] = {prop.rstrip("!"): of for prop, of in pairs}
            found.required[name] = {prop.rstrip("!") for prop, _ in pairs if prop.endswith("!")}
    return found


def faults_of(edm: Edm, vocabulary: Vocabulary) -> list[str]:
    """Return the faults in the annotations of a model as text; empty if there are none."""
    return sorted(set(_Check(edm, vocabulary).faults()))


class _Check:
    def __init__(self, edm: Edm, vocabulary: Vocabulary) -> None:
        self._edm = edm
        self._known = vocabulary

    def faults(self) -> Iterator[str]:
        schema = self._edm.schema
        for owner in schema.entity_types:
            yield from self._all(owner.annotations, "EntityType", owner, owner.name)
            for prop in owner.properties:
                yield from self._all(prop.annotations, "Property", owner, f"{owner.name}/{prop.name}")
            for navigation in owner.navigations:
                yield from self._all(
                    navigation.annotations, "NavigationProperty", owner, f"{owner.name}/{navigation.name}"
                )
        for operation in schema.operations:
            bound = self._edm.entity_types[operation.binding] if operation.binding else None
            yield from self._all(operation.annotations, "Action", bound, operation.name, "in/")
            for one in operation.parameters:
                yield from self._all(one.annotations, "Parameter", None, f"{operation.name}/{one.name}")
        for entity_set in schema.container.entity_sets:
            owner = self._edm.entity_types[entity_set.entity_type]
            yield from self._all(entity_set.annotations, "EntitySet", owner, entity_set.name)

    def _all(
        self, annotations: tuple[Annotation, ...], host: str, owner: EntityType | None, at: str, prefix: str = ""
    ) -> Iterator[str]:
        names = [(one.term, one.qualifier) for one in annotations]
        if len(names) != len(set(names)):
            yield f"{at} has a term twice"
        for one in annotations:
            yield from self._one(one, host, owner, f"{at}@{one.term}", prefix)

    def _one(self, one: Annotation, host: str, owner: EntityType | None, at: str, prefix: str) -> Iterator[str]:
        if one.term not in self._known.terms:
            if not one.term.startswith(_OTHERS):
                yield f"{at}: no such term"
            return
        applies, kind = self._known.terms[one.term]
        if not applies & {host, "*"}:
            yield f"{at} does not apply to {host}"
        yield from self._value(one.value, kind, owner, at, prefix)
        for nested in one.annotations:
            yield from self._one(nested, "Annotation", owner, at, prefix)

    def _value(
        self, value: AnnotationValue, kind: str, owner: EntityType | None, at: str, prefix: str
    ) -> Iterator[str]:
        if kind.startswith("["):
            if not isinstance(value, tuple):
                yield f"{at} is no collection"
            for item in value if isinstance(value, tuple) else ():
                yield from self._value(item, kind[1:-1], owner, at, prefix)
        elif isinstance(value, Record):
            yield from self._record(value, kind, owner, at, prefix)
        elif isinstance(value, AnnotationPath):
            expected = value.kind if kind.endswith("Path") else "Path"
            if value.kind != expected or (kind.endswith("Path") and value.kind != kind):
                yield f"{at}: {value.kind} for {kind}"
            yield from self._path(value.path, owner, at, prefix)
        elif isinstance(value, Expression):
            for operand in value.operands:
                yield from self._value(operand, "Any", owner, at, prefix)
        elif isinstance(value, EnumMemberValue):
            for member in value.members:
                of, _, name = member.partition("/")
                if of != kind or name not in self._known.members.get(of, ()):
                    yield f"{at}: no member {member} of {kind}"
        else:
            expected_type = {"String": str, "Boolean": bool}.get(kind)
            if kind != "Any" and (expected_type is None or not isinstance(value, expected_type)):
                yield f"{at}: {value!r} is no {kind}"

    def _record(self, record: Record, kind: str, owner: EntityType | None, at: str, prefix: str) -> Iterator[str]:
        known = self._known
        name = record.type or kind
        if name not in known.bases or kind not in known.lineage(name) or name in known.abstract:
            yield f"{at}: no record of {kind}: {name}"
            return
        lineage = list(known.lineage(name))
        properties: Mapping[str, str] = {prop: of for one in lineage for prop, of in known.properties[one].items()}
        missing = {prop for one in lineage for prop in known.required[one]} - record.values.keys()
        if missing:
            yield f"{at}: {name} without {', '.join(sorted(missing))}"
        for prop, value in record.values.items():
            if prop.startswith("@"):
                yield from self._one(Annotation(prop[1:], value), "Record", owner, at, prefix)
            elif prop not in properties:
                yield f"{at}: {name} has no {prop}"
            else:
                yield from self._value(value, properties[prop], owner, f"{at}/{prop}", prefix)

    def _path(self, path: str, owner: EntityType | None, at: str, prefix: str) -> Iterator[str]:
        if not path.startswith(prefix):
            yield f"{at}: {path} does not begin with {prefix}"
        place = owner
        for segment in path.removeprefix(prefix).split("/"):
            if place is None:
                return
            term, _, qualifier = segment.removeprefix("@").partition("#")
            if segment.startswith("@"):
                if (term, qualifier or None) not in {(one.term, one.qualifier) for one in place.annotations}:
                    yield f"{at}: {path} leads to no annotation"
            elif segment in place.navigation_by_name:
                place = self._edm.entity_types[place.navigation_by_name[segment].target]
            elif segment not in place.property_by_name:
                yield f"{at}: {path} leads nowhere"
