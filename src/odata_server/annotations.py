"""Annotations: what a model says about itself in the words of a vocabulary (OData CSDL 4.01, chapter 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any

__all__ = ["Annotation", "AnnotationPath", "AnnotationValue", "EnumMemberValue", "Expression", "Record"]


@dataclass(frozen=True, slots=True)
class AnnotationPath:
    """A path expression: ``kind`` is Path, PropertyPath, NavigationPropertyPath or AnnotationPath."""

    path: str
    kind: str = "Path"


@dataclass(frozen=True, slots=True)
class EnumMemberValue:
    """Members of a vocabulary's enumeration, e.g. ``UI.TextArrangementType/TextOnly``; several: flags."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a vocabulary: property -> value; ``type`` only where it is not the term's own.

    A name that begins with ``@`` is a term applied to the record, e.g. ``@UI.Importance``.
    """

    values: Mapping[str, AnnotationValue] = field(default_factory=lambda: MappingProxyType({}))
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A comparison or logical expression, worked out by whoever reads the model over an entity.

    ``operator`` is And, Or, Eq, Ne, Gt, Ge, Lt or Le with two operands, or Not with one.
    """

    operator: str
    operands: tuple[AnnotationValue, ...]


AnnotationValue = (
    str | bool | int | Decimal | None | AnnotationPath | EnumMemberValue | Expression | Record | tuple[Any, ...]
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A term applied to a model element; ``term`` with the alias of its vocabulary, e.g. ``Core.Description``.

    ``annotations`` apply to this annotation itself, e.g. ``UI.TextArrangement`` to a ``Common.Text``.
    """

    term: str
    value: AnnotationValue = True
    qualifier: str | None = None
    annotations: tuple[Annotation, ...] = ()
