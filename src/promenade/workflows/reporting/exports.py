"""Reports of a period, as they are exported: what each report type gives, row by row."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from promenade.workflows.context import Context

__all__ = ["Export", "Period", "export", "exports"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """What an export is about: all that happened from ``since`` to before ``until``, both in UTC.

    ``promotion_id`` and ``stakeholder_id`` narrow it to what has to do with them; both have been found to be the
    tenant's.
    """

    tenant_id: str
    since: datetime
    until: datetime
    promotion_id: str | None = None
    stakeholder_id: str | None = None


Row = Mapping[str, Any]
"""By names of columns: texts, whole numbers, Decimals, booleans, moments, or None."""
Rows = Callable[[Context, Period], AsyncIterator[Row]]


@dataclass(frozen=True, slots=True)
class Export:
    """``columns`` are the fields of the entity in the specification's order; ``rows`` come in a fixed order."""

    report_type: str
    filename: str
    columns: tuple[str, ...]
    rows: Rows


_REGISTRY: dict[str, Export] = {}


def export(report_type: str, *, filename: str, columns: tuple[str, ...]) -> Callable[[Rows], Rows]:
    """Register an async generator as what ``reportType`` exports."""

    def register(rows: Rows) -> Rows:
        if report_type in _REGISTRY:
            raise ValueError(f"export {report_type} is defined twice")
        _REGISTRY[report_type] = Export(report_type, filename, columns, rows)
        return rows

    return register


def exports() -> Mapping[str, Export]:
    """All exports by report type."""
    return MappingProxyType(_REGISTRY)
