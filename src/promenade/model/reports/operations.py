"""The action of reporting: a report of a period as CSV (specification, Reporting Service)."""

from __future__ import annotations

import re

from odata_server.edm import (
    Action,
    Annotation,
    ComplexType,
    Operation,
    Parameter,
    Primitive,
    Property,
    Record,
    ReturnType,
)
from promenade.model.declare import declared

EXPORT_CSV = "exportCsv"
EXPORT_FILE = "CsvExport"
_EXPORTED = {
    "promotionPerformance": ("PromotionPerformanceByCurrency", "currency"),
    "stakeholderCost": ("StakeholderCostBreakdown", "currency"),
    "budgetUtilization": ("BudgetUtilization", "linked_promotions"),
    "couponAnalytics": ("CouponAnalytics", "redemption_rate"),
    "abTestResults": ("ABTestResultsByCurrency", "currency"),
}
"""By report type, in the order of the specification: the entity, and the last of its fields that is exported."""

REPORT_TYPES = tuple(_EXPORTED)
"""The types of reports that can be exported."""

_MOMENT_DIGITS = 6  # decimals of a second that are stored


def reporting_operations() -> tuple[Operation, ...]:
    """Return the operations of reporting."""
    return (export_csv_action(),)


def reporting_complex_types() -> tuple[ComplexType, ...]:
    """Return the complex types that the operations return."""
    return (_EXPORT,)


def export_csv_action() -> Action:
    """Return the action that exports a report as CSV."""
    return Action(
        name=EXPORT_CSV,
        parameters=(
            Parameter(
                name="reportType",
                type=Primitive.STRING,
                nullable=False,
                max_length=50,
                annotations=(
                    *_described("The report to export."),
                    Annotation("Validation.AllowedValues", tuple(Record({"Value": one}) for one in REPORT_TYPES)),
                ),
            ),
            _moment("dateFrom", "Start of the period, inclusive."),
            _moment("dateTo", "End of the period, exclusive; must be after `dateFrom`."),
            _id("promotionId", "Restricts the report to this promotion."),
            _id("stakeholderId", "Restricts the report to this stakeholder."),
        ),
        returns=ReturnType(type=_EXPORT, nullable=False),
        annotations=_described(
            "Exports a report on a period as comma-separated values (RFC 4180) in a string; its columns are the fields"
            " of the report's entity. Must be a separate request, not part of a $batch."
        ),
    )


def export_columns(report_type: str) -> dict[str, str]:
    """Return the columns of an export: the names of the entity's fields and their wire names."""
    set_name, last = _EXPORTED[report_type]
    columns = {field.name: field.wire for field in declared()[set_name].fields}
    return dict(list(columns.items())[: list(columns).index(last) + 1])


def export_filename(report_type: str) -> str:
    """Convert ``stakeholderCost`` to ``stakeholder-cost.csv``."""
    return re.sub(r"([A-Z])", r"-\1", report_type).lower() + ".csv"


def _moment(name: str, text: str) -> Parameter:
    return Parameter(
        name=name,
        type=Primitive.DATE_TIME_OFFSET,
        precision=_MOMENT_DIGITS,
        nullable=False,
        annotations=_described(text),
    )


def _id(name: str, text: str) -> Parameter:
    return Parameter(name=name, type=Primitive.GUID, annotations=_described(text))


def _text(name: str, text: str, length: int | None = None) -> Property:
    return Property(name=name, type=Primitive.STRING, max_length=length, nullable=False, annotations=_described(text))


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


_EXPORT = ComplexType(
    name=EXPORT_FILE,
    properties=(
        _text("filename", "Name of the file; the same for every export of a report.", 100),
        _text("contentType", "Always text/csv.", 50),
        _text("data", "Content of the file: a line with the column names, then the rows."),
    ),
    annotations=_described("An exported file."),
)
