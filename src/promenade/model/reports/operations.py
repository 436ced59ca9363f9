"""The operations of reporting: a report of a period as CSV (specification, Reporting Service), and plans of trials."""

from __future__ import annotations

import re

from odata_server.edm import (
    Action,
    Annotation,
    ComplexType,
    Function,
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
PLAN_TRIAL = "planTrial"
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
    return (export_csv_action(), _plan_trial_function())


def reporting_complex_types() -> tuple[ComplexType, ...]:
    """Return the complex types that the operations return."""
    return (_EXPORT, _TRIAL_PLAN)


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


def _plan_trial_function() -> Function:
    return Function(
        name=PLAN_TRIAL,
        parameters=(
            Parameter(
                name="promotionId",
                type=Primitive.GUID,
                nullable=False,
                annotations=_described("The pilot or experiment, which may not have begun yet."),
            ),
            Parameter(
                name="difference",
                type=Primitive.DECIMAL,
                precision=5,
                scale=2,
                nullable=False,
                annotations=_described("The difference of average baskets to be told, in percent: above 0, up to 100."),
            ),
        ),
        returns=ReturnType(type=_TRIAL_PLAN, nullable=False),
        annotations=_described(
            "How many baskets, and days at the present pace of sales, a trial needs until a difference of this size is"
            " significant with a likelihood of `power`: in revenueUplift, or adjustedUplift where arms sold before."
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


def _figure(
    name: str, kind: Primitive, text: str, *, nullable: bool = True, digits: tuple[int, int] | None = None
) -> Property:
    precision, scale = digits or (None, None)
    return Property(
        name=name, type=kind, nullable=nullable, precision=precision, scale=scale, annotations=_described(text)
    )


_DECIMAL, _DATE, _WHOLE = Primitive.DECIMAL, Primitive.DATE, Primitive.INT64
_TRIAL_PLAN = ComplexType(
    name="TrialPlan",
    properties=(
        _figure("trial", Primitive.STRING, "PILOT or EXPERIMENT; null: the promotion is neither."),
        _figure("currency", Primitive.STRING, "The currency with most baskets, which is planned for."),
        _figure("difference", _DECIMAL, "As asked for, in percent.", nullable=False, digits=(5, 2)),
        _figure("power", _DECIMAL, "Likelihood to find it, if it is there.", nullable=False, digits=(3, 2)),
        _figure("significanceLevel", _DECIMAL, "The tenant's level of significance.", nullable=False, digits=(4, 3)),
        _figure("paceFrom", _DATE, "First of the days from which the pace is taken: the last 28, or fewer."),
        _figure("paceTo", _DATE, "Last of these days: yesterday, in UTC."),
        _figure("avgBasket", _DECIMAL, "Average basket of which `difference` is a part.", digits=(18, 3)),
        _figure("basketsPerDay", _DECIMAL, "Baskets of both arms on a day.", digits=(18, 1)),
        _figure("baskets", _WHOLE, "Baskets of both arms that the trial needs; null: too few are sold to say so."),
        _figure("days", _WHOLE, "Days that this takes."),
        _figure("basketsSoFar", _WHOLE, "Baskets that the trial has.", nullable=False),
        _figure("moreBaskets", _WHOLE, "Baskets that it still needs."),
        _figure("moreDays", _WHOLE, "Days that these take."),
    ),
    annotations=_described("What a trial needs to tell a difference from chance."),
)
