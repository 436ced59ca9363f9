"""The public API's actions and functions: each is one workflow (specification, Public API actions)."""

from __future__ import annotations

from odata_server.source import OperationCall, Result
from promenade.web.odata import AuthoredUnit, Operations
from promenade.workflows.campaigns import add_promotions, export_ics, remove_promotion
from promenade.workflows.templates import create_promotion_from_template

__all__ = ["OPERATIONS"]


async def _add_promotions(unit: AuthoredUnit, call: OperationCall) -> Result:
    await add_promotions(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionIds"))
    return _same_row(call)


async def _remove_promotion(unit: AuthoredUnit, call: OperationCall) -> Result:
    await remove_promotion(unit.authoring, unit.session, _bound_to(call), call.parameters.get("promotionId"))
    return _same_row(call)


async def _export_ics(unit: AuthoredUnit, call: OperationCall) -> Result:
    return Result(value=await export_ics(unit.session, _bound_to(call), unit.at))


async def _create_promotion_from_template(unit: AuthoredUnit, call: OperationCall) -> Result:
    template_id = call.parameters.get("templateId")
    return Result(value=await create_promotion_from_template(unit.authoring, unit.session, template_id))


def _bound_to(call: OperationCall) -> str:
    """The ID of the entity that an operation is called on."""
    return str((call.binding or {})["ID"])


def _same_row(call: OperationCall) -> Result:
    return Result(key=call.binding, entity_set=call.entity_set)


OPERATIONS: Operations = {
    "addPromotions": _add_promotions,
    "removePromotion": _remove_promotion,
    "exportICS": _export_ics,
    "createPromotionFromTemplate": _create_promotion_from_template,
}
