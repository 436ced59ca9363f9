"""Tools that read: who the caller is, promotions, their documents, reports, and what a sale was calculated from."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from odata_server.edm import EntityType
from promenade.errors import Invalid, NotFound, TooLarge
from promenade.model import code_list
from promenade.model.declare import Service as ServiceName
from promenade.model.edm import edm_for
from promenade.web.agents.service import Service, segment
from promenade.web.agents.tool import (
    RESULT_BYTES_MAX,
    Arguments,
    Limit,
    Offset,
    Part,
    PromotionRef,
    Result,
    Tool,
    fitting,
    one_of,
    without_marks,
)

__all__ = ["READING", "ROLES", "id_of"]

ROLES = "`svc.Admin`, `svc.PromotionManager` or `svc.BudgetManager`"

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_STATUSES = one_of(*(one.code for one in code_list("PromotionStatuses").values))
_TYPES = one_of(*(one.code for one in code_list("PromotionTypes").values))
_SHOWN = ("ID", "code", "name", "status", "type", "validFrom", "validTo", "priority", "currency", "modifiedAt")


# ---- the caller -----------------------------------------------------------------------------------------------------


class NoArguments(Arguments, frozen=True):
    """None."""


class Caller(Result, frozen=True):
    """Whom the agent works for."""

    user: str
    tenant_id: str
    scopes: list[str]
    approval_is_binding: bool


async def _who_am_i(service: Service, arguments: NoArguments) -> Caller:
    return msgspec.convert(await service.get("/ui/me"), Caller, strict=False)


# ---- promotions -----------------------------------------------------------------------------------------------------


class Search(Arguments, frozen=True):
    """Which promotions to list; all that is given must hold."""

    text: Annotated[str, Meta(min_length=1, max_length=100, description="A part of code, name or text.")] | None = None
    status: Annotated[str, _STATUSES] | None = None
    type: Annotated[str, _TYPES] | None = None
    campaign: Annotated[str, Meta(min_length=1, max_length=50, description="Code of its campaign.")] | None = None
    limit: Limit = 20
    offset: Offset = 0


class PromotionRow(Part, frozen=True):
    """A promotion of a list."""

    id: Annotated[str, Meta(description="Its ID.")] = msgspec.field(name="ID")
    name: str
    status: str
    type: str
    code: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    priority: int | None = None
    currency: str | None = None
    modified_at: str | None = None


class FoundPromotions(Result, frozen=True):
    """Promotions, those changed last first."""

    promotions: list[PromotionRow]
    total: Annotated[int, Meta(description="How many there are in all.")]
    more: Annotated[bool, Meta(description="Whether there are others after these.")]


async def _search_promotions(service: Service, arguments: Search) -> FoundPromotions:
    tests = ["IsActiveEntity eq true"]
    tests += [f"status eq {_literal(arguments.status)}"] if arguments.status else []
    tests += [f"type eq {_literal(arguments.type)}"] if arguments.type else []
    tests += [f"campaign/code eq {_literal(arguments.campaign)}"] if arguments.campaign else []
    asked = {"$search": _phrase(arguments.text)} if arguments.text else {}
    found = await service.get(
        "/admin/Promotions",
        **asked,
        **{"$filter": " and ".join(tests), "$select": ",".join(_SHOWN), "$orderby": "modifiedAt desc,ID"},
        **{"$top": str(arguments.limit), "$skip": str(arguments.offset), "$count": "true"},
    )
    total = int(found["@odata.count"])
    rows = fitting(msgspec.convert(found["value"], list[PromotionRow]))
    return FoundPromotions(rows, total, arguments.offset + len(rows) < total)


def _phrase(text: str) -> str:
    """Return a text to search for, whose every word is only a word."""
    words = text.replace('"', " ").split()
    if not words:
        raise Invalid("INVALID_ARGUMENTS", "The text has no word to search for.", "text")
    return " ".join(f'"{word}"' for word in words)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


async def id_of(service: Service, promotion: str) -> str:
    """Return the ID of a promotion by its code, or by its ID. Raises NotFound (NO_SUCH_PROMOTION)."""
    tests = [f"code eq {_literal(promotion)}"]
    tests += [f"ID eq {promotion}"] if _ID.fullmatch(promotion) else []
    asked = {"$filter": f"IsActiveEntity eq true and ({' or '.join(tests)})", "$select": "ID", "$top": "1"}
    found = await service.get("/admin/Promotions", **asked)
    if not found["value"]:
        raise NotFound("NO_SUCH_PROMOTION", "There is no promotion with this code or ID.", "promotion")
    return str(found["value"][0]["ID"])


class Reading(Arguments, frozen=True):
    """Which promotion to read."""

    promotion: PromotionRef
    definitions: Annotated[
        bool, Meta(description="Whether to write out the coupon types, budgets, campaigns and groups it names, too.")
    ] = False


class Document(Result, frozen=True):
    """A promotion with all that belongs to it."""

    id: Annotated[str, Meta(description="Its ID.")] = msgspec.field(name="ID")
    document: Annotated[str, Meta(description="A YAML document, as `promenade export` writes it.")]


async def _read_promotion(service: Service, arguments: Reading) -> Document:
    promotion_id = await id_of(service, arguments.promotion)
    definitions = str(arguments.definitions).lower()
    address = f"/admin/Promotions(ID={promotion_id},IsActiveEntity=true)/AdminService.document"
    found = await service.get(f"{address}(withDefinitions={definitions})")
    text = str(found["value"])
    if len(text.encode()) > RESULT_BYTES_MAX:
        message = f"The document has more than {RESULT_BYTES_MAX} bytes: read it with `promenade export`."
        raise TooLarge("DOCUMENT_TOO_LARGE", message)
    return Document(promotion_id, text)


# ---- reports --------------------------------------------------------------------------------------------------------


class Report(Part, frozen=True):
    """A report: what its rows are, and their fields."""

    name: str
    about: str
    fields: list[str]


class Reports(Result, frozen=True):
    """The reports that can be read."""

    reports: list[Report]


@cache
def _reports() -> dict[str, Report]:
    edm = edm_for(ServiceName.REPORTING)
    found = {}
    for name, entity_set in edm.entity_sets.items():
        entity_type: EntityType = edm.entity_types[entity_set.entity_type]
        if entity_type.key != ("code",):  # a code list
            about = next((str(one.value) for one in entity_type.annotations if one.term == "Core.Description"), "")
            found[name] = Report(name, about, [one.name for one in entity_type.properties])
    return found


async def _list_reports(service: Service, arguments: NoArguments) -> Reports:
    return Reports(list(_reports().values()))


class ReadReport(Arguments, frozen=True):
    """Which rows of which report to read."""

    report: Annotated[str, one_of(*_reports())]
    filter: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=1000,
                description="A $filter of OData, such as `day ge 2026-01-01 and currency eq 'EUR'`.",
            ),
        ]
        | None
    ) = None
    order_by: (
        Annotated[str, Meta(min_length=1, max_length=200, description="Fields, such as `totalDiscountGiven desc`.")]
        | None
    ) = None
    fields: Annotated[
        list[Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z0-9_]{0,63}$")]],
        Meta(max_length=50, description="The fields to return; empty: all."),
    ] = msgspec.field(default_factory=list)
    limit: Limit = 20
    offset: Offset = 0


class ReportRows(Result, frozen=True):
    """Rows of a report. Numbers with a fraction are texts of digits."""

    rows: list[dict[str, Any]]
    more: Annotated[bool, Meta(description="Whether there are others after these.")]


async def _read_report(service: Service, arguments: ReadReport) -> ReportRows:
    asked = {"$top": str(arguments.limit + 1), "$skip": str(arguments.offset)}
    asked |= {"$filter": arguments.filter} if arguments.filter else {}
    asked |= {"$orderby": arguments.order_by} if arguments.order_by else {}
    asked |= {"$select": ",".join(arguments.fields)} if arguments.fields else {}
    found = without_marks((await service.get(f"/reporting/{segment(arguments.report)}", **asked))["value"])
    rows = fitting(found[: arguments.limit])
    if found and not rows:
        raise TooLarge("ANSWER_TOO_LARGE", "One row is larger than a result may be: ask for fewer fields.", "fields")
    return ReportRows(rows, len(rows) < len(found))


READING = (
    Tool(
        "who_am_i",
        "Who am I",
        "Tells for whom you work: user, tenant, scopes, and whether approval is binding. You decide about"
        " nothing, whatever that user may.",
        NoArguments,
        Caller,
        _who_am_i,
        ROLES,
    ),
    Tool(
        "search_promotions",
        "Search promotions",
        "Lists promotions, those changed last first, by words of their texts, status, type or campaign.",
        Search,
        FoundPromotions,
        _search_promotions,
        ROLES,
    ),
    Tool(
        "read_promotion",
        "Read a promotion",
        "Returns one promotion with all that belongs to it, conditions, actions, coupon types, budgets, as a YAML"
        " document: the format in which drafts are written.",
        Reading,
        Document,
        _read_promotion,
        ROLES,
    ),
    Tool(
        "list_reports",
        "List the reports",
        "Lists the reports on sales, budgets, coupons and trials, with the fields of their rows.",
        NoArguments,
        Reports,
        _list_reports,
        "none",
    ),
    Tool(
        "read_report",
        "Read a report",
        "Returns rows of one report.",
        ReadReport,
        ReportRows,
        _read_report,
        f"{ROLES}, or `svc.ReportReader`",
    ),
)
