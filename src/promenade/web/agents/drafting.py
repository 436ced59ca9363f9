"""Tools that write drafts, and that check, forecast, compare and submit them."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from promenade.model.operations import DOCUMENT_LENGTH_MAX
from promenade.web.agents.reading import ROLES, id_of
from promenade.web.agents.service import Service, segment
from promenade.web.agents.tool import RESULT_BYTES_MAX, Arguments, Part, PromotionRef, Result, Tool, fitting

__all__ = ["DRAFTING"]

WRITERS = "`svc.Admin` or `svc.PromotionManager`"

_Document = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=DOCUMENT_LENGTH_MAX,
        description="A YAML document of a promotion, in the format that `read_promotion` returns.",
    ),
]
_Lines = Annotated[list[str], Meta(description="In words, a line for each member.")]


# ---- documents ------------------------------------------------------------------------------------------------------


class Compare(Arguments, frozen=True):
    """What to compare."""

    document: _Document
    before: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=DOCUMENT_LENGTH_MAX,
                description="The document to compare it with; none: the promotion as the tenant has it.",
            ),
        ]
        | None
    ) = None


class WriteDraft(Arguments, frozen=True):
    """What to write."""

    document: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=DOCUMENT_LENGTH_MAX,
            description="A YAML document of a promotion, in the format that `read_promotion` returns. It is the whole"
            " promotion: what it leaves out gets its default, or is removed. Its status does not count.",
        ),
    ]


class Changes(Result, frozen=True):
    """What a document changes."""

    promotion: Annotated[str, Meta(description="Code or name of the promotion.")]
    promotion_id: str | None
    status: Annotated[str | None, Meta(description="Its status now; none: it is not there.")]
    is_new: Annotated[bool, Meta(description="Whether the tenant does not have it yet, or did not.")]
    changes: _Lines
    notes: Annotated[list[str], Meta(description="What the document says in vain.")]
    more: Annotated[bool, Meta(description="Whether lines were left out, as there are too many.")]


async def _compare_documents(service: Service, arguments: Compare) -> Changes:
    body = {"document": arguments.document, "before": arguments.before}
    return _changes(await service.post("/admin/Promotions/AdminService.compareDocument", body))


async def _write_draft(service: Service, arguments: WriteDraft) -> Changes:
    body = {"document": arguments.document, "withoutStatus": True}
    return _changes(await service.post("/admin/Promotions/AdminService.applyDocument", body))


def _changes(found: dict[str, Any]) -> Changes:
    changes = fitting(found["changes"], at_most=RESULT_BYTES_MAX // 2)
    notes = fitting(found["notes"], at_most=RESULT_BYTES_MAX // 4)
    return Changes(
        promotion=found["promotion"],
        promotion_id=found["promotion_ID"],
        status=found["status"],
        is_new=found["isNew"],
        changes=changes,
        notes=notes,
        more=len(changes) < len(found["changes"]) or len(notes) < len(found["notes"]),
    )


# ---- check and forecast ---------------------------------------------------------------------------------------------


class OfPromotion(Arguments, frozen=True):
    """Which promotion."""

    promotion: PromotionRef


class Finding(Part, frozen=True):
    """A finding of the check."""

    code: str
    severity: Annotated[str, Meta(description="`ERROR`, `WARNING` or `INFO`.")]
    message: str
    target: str | None = None


class Findings(Result, frozen=True):
    """What the check has found."""

    findings: list[Finding]
    more: Annotated[bool, Meta(description="Whether findings were left out, as there are too many.")]


async def _check_promotion(service: Service, arguments: OfPromotion) -> Findings:
    found = await service.post(f"{await _address(service, arguments.promotion)}.check", {})
    findings = msgspec.convert(found["value"], list[Finding])
    shown = fitting(findings)
    return Findings(shown, len(shown) < len(findings))


class Forecast(Arguments, frozen=True):
    """Which promotion, and which past days to price again."""

    promotion: PromotionRef
    date_from: Annotated[datetime.date, Meta(description="The first day.")]
    date_to: Annotated[datetime.date, Meta(description="The last day, inclusive.")]


class ReadForecast(Arguments, frozen=True):
    """Which forecast."""

    forecast_id: Annotated[
        str,
        Meta(
            pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            description="As `forecast_promotion` returned it.",
        ),
    ]


class ForecastAmount(Part, frozen=True):
    """The sales of a forecast in one currency."""

    currency: str
    discount: Annotated[str, Meta(description="The cost: the promotion's own discount.")]
    give_away_value: str
    discount_change: str
    net_sales_without: str
    net_sales_with: str


class ForecastResult(Result, frozen=True):
    """What a promotion would have done to past sales."""

    forecast_id: str
    promotion_name: str
    status: Annotated[
        str, Meta(description="`QUEUED`, `RUNNING`, `COMPLETED` or `FAILED`; read it again until it ends.")
    ]
    progress: Annotated[int, Meta(description="In percent.")]
    message: str | None
    baskets_replayed: int
    baskets_affected: int
    customers_affected: int
    amounts: list[ForecastAmount]


async def _forecast_promotion(service: Service, arguments: Forecast) -> ForecastResult:
    body = {"dateFrom": arguments.date_from.isoformat(), "dateTo": arguments.date_to.isoformat()}
    made = await service.post(f"{await _address(service, arguments.promotion)}.forecast", body)
    return await _forecast(service, str(made["ID"]))


async def _read_forecast(service: Service, arguments: ReadForecast) -> ForecastResult:
    return await _forecast(service, arguments.forecast_id)


async def _forecast(service: Service, forecast_id: str) -> ForecastResult:
    row = await service.get(f"/admin/PromotionForecasts({segment(forecast_id)})", **{"$expand": "amounts"})
    return ForecastResult(
        forecast_id=row["ID"],
        promotion_name=row["promotionName"],
        status=row["status"],
        progress=row["progress"],
        message=row["message"],
        baskets_replayed=row["basketsReplayed"],
        baskets_affected=row["basketsAffected"],
        customers_affected=row["customersAffected"],
        amounts=msgspec.convert(row["amounts"], list[ForecastAmount]),
    )


# ---- states ---------------------------------------------------------------------------------------------------------


class Moved(Result, frozen=True):
    """A promotion in its new state."""

    promotion_id: str
    name: str
    status: str


async def _submit_promotion(service: Service, arguments: OfPromotion) -> Moved:
    return _moved(await service.post(f"{await _address(service, arguments.promotion)}.submit", {}))


async def _activate_promotion(service: Service, arguments: OfPromotion) -> Moved:
    return _moved(await service.post(f"{await _address(service, arguments.promotion)}.activate", {}))


def _moved(row: dict[str, Any]) -> Moved:
    return Moved(row["ID"], row["name"], row["status"])


async def _address(service: Service, promotion: str) -> str:
    """Return the beginning of the addresses of a promotion's actions."""
    return f"/admin/Promotions(ID={await id_of(service, promotion)},IsActiveEntity=true)/AdminService"


DRAFTING = (
    Tool(
        "compare_documents",
        "Compare documents",
        "Says in words what a document would change in the tenant, or how two documents differ. Changes nothing.",
        Compare,
        Changes,
        _compare_documents,
        ROLES,
    ),
    Tool(
        "write_draft",
        "Write a draft",
        "Creates a promotion as a draft from a YAML document, or changes one that is not running. Whole or not at all."
        " Compare the document first, and show your user what changes.",
        WriteDraft,
        Changes,
        _write_draft,
        WRITERS,
        reads=False,
    ),
    Tool(
        "check_promotion",
        "Check a promotion",
        "Reports what keeps a promotion from running, overlaps with others, and conditions that can never hold.",
        OfPromotion,
        Findings,
        _check_promotion,
        ROLES,
    ),
    Tool(
        "forecast_promotion",
        "Forecast a promotion",
        "Prices the confirmed sales of past days again as if the promotion had run. Long periods go on in the"
        " background: read the forecast until it has ended.",
        Forecast,
        ForecastResult,
        _forecast_promotion,
        WRITERS,
        reads=False,
    ),
    Tool(
        "read_forecast",
        "Read a forecast",
        "Returns a forecast and how far it is.",
        ReadForecast,
        ForecastResult,
        _read_forecast,
        ROLES,
    ),
    Tool(
        "submit_promotion",
        "Submit for approval",
        "Submits a promotion for approval by a person.",
        OfPromotion,
        Moved,
        _submit_promotion,
        WRITERS,
        reads=False,
    ),
    Tool(
        "activate_promotion",
        "Activate a promotion",
        "Makes a promotion run for customers. Refused unless the tenant lets agents do that; binding approval holds all"
        " the same. Only if the user asks for it.",
        OfPromotion,
        Moved,
        _activate_promotion,
        WRITERS,
        reads=False,
    ),
)
