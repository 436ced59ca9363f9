"""docs/reference/reporting.md: how `/reporting` is called, its reports from the model, and their export as CSV."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from docs import public_reference as reference
from docs.markdown import table
from odata_server.edm import Parameter
from promenade import model
from promenade.model import EntityType
from promenade.model.declare import NONE, Service
from promenade.model.edm import edm_for
from promenade.model.reports.operations import REPORT_TYPES, export_csv_action
from promenade.web.http.downloads import EXPORTS_MAX
from promenade.workflows.reports import exports

__all__ = ["reporting_page"]

_EDM = edm_for(Service.REPORTING)

_INTRO = inspect.cleandoc(
    """
    What came of promotions, budgets, coupons and experiments: OData V4, read only, from confirmed sales, up to date
    within a minute. The same as metadata is at `/reporting/$metadata`, as OpenAPI at `/reporting/openapi.json`, and to
    browse at `/reporting/docs`; [`?tag=` and `openapi-all.json`](public-api.md) as there.

    Each of the scopes `svc.ReportReader`, which opens nothing else, `svc.Admin`, `svc.PromotionManager` and
    `svc.BudgetManager` reads every report; in a store the session of its administrator does, which sends the
    `X-CSRF-Token` that `HEAD /reporting/` with `X-CSRF-Token: Fetch` answers with `$batch` and exports. Reports of
    other tenants do not exist: they are 404.

    Addresses, query options, batches, headers and limits are those of the [public API](public-api.md). What is
    different:

    - Answers have the forms of OData 4.0 (`@odata.count`) unless `OData-MaxVersion: 4.01` is sent.
    - Errors are always `{"error": {"code", "message", "target", "details"}}`, as `application/json`.
    - There is no `minorVersion`, and no ETag where a report is computed when it is read.
    - Nothing is written: 405 `READ_ONLY`, and 403 to OData clients.
    """
)
_FIGURES = inspect.cleandoc(
    """
    - An application is one promotion in one confirmed transaction. Amounts are those that were charged. A return takes
      nothing off the figures of promotions; what budgets get back by it is taken off theirs.
    - Rates, shares and uplifts are percent with two decimals. What nothing can be said of, such as the significance of
      one sale, is null.
    - Days, weekdays (1 is Monday) and hours are those on the clock of the POS group; a key with a `currency` counts
      each currency by itself. Where the key has none, `currency` is the only one, or null where amounts of several
      were added at their face value.
    - Names are those of today, and of what was deleted those that its last sale had.
    - A sale is in every report, or in none yet; [AggregatorRuns](#aggregatorruns) tell when the last were counted.
    """
)
_EXPORT = inspect.cleandoc(
    """
    `POST /reporting/exportCsv` with `{"reportType", "dateFrom", "dateTo", "promotionId", "stakeholderId"}`, the last
    two optional. It counts what happened from `dateFrom` to before `dateTo`, both with a time and an offset
    (`2026-03-01T00:00:00Z`), and answers `{"filename", "contentType", "data"}`; `contentType` is `text/csv`.

    `data` is RFC 4180: commas, lines that end in CR LF, quotes where they are needed and doubled inside, the names of
    the columns first. Times are in UTC, amounts have a point, true and false are `true` and `false`, null is nothing.
    A text that a spreadsheet would compute (it begins with `=`, `+`, `-`, `@`, a tab or a line break, or has one of
    the signs after a semicolon, a tab or a line break) gets an apostrophe before the sign; numbers do not.

    The answer is sent while it is being read, whatever its size; one that breaks off is no JSON. What has not been
    counted yet, a few seconds' sales, is missing from whole days.
    """
)
_REFUSED = (
    ("400 `REQUIRED`, `NOT_NULLABLE`, `TYPE_MISMATCH`", "Something is missing, or no timestamp, or no UUID."),
    ("400 `UNKNOWN_CODE`", "`reportType` is none of these."),
    ("400 `PERIOD_EMPTY`", "`dateTo` is not after `dateFrom`."),
    ("400 `UNKNOWN_PARAMETER`", "The body holds something else."),
    ("404 `NOT_FOUND`", "The promotion or the stakeholder is not there, or another tenant's."),
    ("429 `TOO_MANY_EXPORTS`, with `Retry-After`", f"{EXPORTS_MAX} exports of the tenant are being sent."),
    ("501 `NOT_IMPLEMENTED`", "It is a part of a batch."),
)


def reporting_page() -> str:
    """Return the whole page."""
    parts = ["# Reporting", _INTRO, "## Figures", _FIGURES]
    parts += ["## Export", _LISTS, _EXPORT, table(("`reportType`", "`filename`", "Columns"), list(_exports()))]
    parts += [table(("Parameter", "Type", "", "Meaning"), list(_parameters()))]
    parts += [table(("Refused with", "When"), _REFUSED)]
    parts += ["## Plan of a trial", _PLAN, table(("Field", "Meaning"), list(_plan()))]
    parts += ["## Reports", table(("Report", "Key", "What a row is"), list(_index()))]
    parts += [_section(entity) for entity in _reports()]
    parts += ["## Code lists", f"As in the public API: {_code_lists()}."]
    return "\n\n".join(parts)


_PLAN = inspect.cleandoc(
    """
    `GET /reporting/planTrial(promotionId=..,difference=5)` answers how many baskets, and days at the present pace of
    sales, a pilot or an experiment needs until a difference of 5 % between the average baskets of its arms is
    significant with a likelihood of 80 %; it need not have begun. Where both arms sold before the trial, for
    `adjustedUplift`, which takes more baskets than `revenueUplift`. Pace and spread are those of the last 28 days. 400
    `OUT_OF_RANGE` if `difference` is not above 0 and at most 100, 404 `NOT_FOUND` without such a promotion.
    """
)


_LISTS = inspect.cleandoc(
    """
    Collections are files by `$format=csv` and `$format=xlsx`, as [in the public API](public-api.md#files), after
    `$apply` with a column for each group and total.

    `POST /reporting/exportList` streams a list, such as `CalculationLogs?$filter=...`, as a workbook or as CSV for the
    spreadsheets of a region, as [administration](admin.md) does.
    """
)


def _plan() -> Iterator[tuple[str, str]]:
    for one in _EDM.complex_types["TrialPlan"].properties:
        yield f"`{one.name}`", str(one.annotations[0].value)


def _exports() -> Iterator[tuple[str, str, str]]:
    known = exports()
    for name in REPORT_TYPES:
        columns = ", ".join(f"`{column}`" for column in known[name].columns)
        yield f"`{name}`", f"`{known[name].filename}`", columns


def _parameters() -> Iterator[tuple[str, str, str, str]]:
    for one in export_csv_action().parameters:
        need = "" if one.nullable else "required"
        yield f"`{one.name}`", reference.type_of(one), need, _words(one)


def _words(given: Parameter) -> str:
    """Describe a parameter."""
    return next(str(one.value) for one in given.annotations if one.term == "Core.Description")


def _reports() -> list[EntityType]:
    return [entity for entity in model.entities() if entity.reporting is not NONE]


def _index() -> Iterator[tuple[str, str, str]]:
    for entity in _reports():
        key = ", ".join(f"`{name}`" for name in _EDM.entity_types[entity.set_name].key)
        yield f"[{entity.set_name}](#{entity.set_name.lower()})", key, reference.first_of(entity.doc)


def _section(entity: EntityType) -> str:
    type_ = _EDM.entity_types[entity.set_name]
    rows = [
        (f"`{prop.name}`", reference.type_of(prop), reference.description_of(prop))
        for prop in type_.properties
        if prop.name not in reference.MANAGED
    ]
    rows += [
        (f"`{one.name}`", _target(one.target, many=one.collection), reference.description_of(one))
        for one in type_.navigations
        if one.target not in model.code_lists()
    ]
    searched = [f"`{prop.name}`" for prop in type_.searched]
    parts = [f"### {entity.set_name}", reference.prose_of(entity.doc)]
    if searched:
        parts.append(f"`$search` looks into {', '.join(searched)}.")
    return "\n\n".join([*parts, table(("Field", "Type", "Meaning"), rows)])


def _target(set_name: str, *, many: bool) -> str:
    return f"{'many of' if many else 'one of'} [{set_name}](#{set_name.lower()})"


def _code_lists() -> str:
    """Return the code lists whose codes a report uses."""
    used = sorted({field.code_list for entity in _reports() for field in entity.fields if field.code_list})
    return ", ".join(f"[{name}](code-lists.md#{name.lower()})" for name in used)
