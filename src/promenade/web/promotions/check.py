"""The check of a promotion (docs/how-to/check-a-promotion.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from odata_server.source import OperationCall, Result
from promenade.engine.inspection import Finding
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.preparing import Unprepared
from promenade.web.promotions.basket_tests import read_request
from promenade.workflows.context import Context
from promenade.workflows.promotions.check import check_promotion

MESSAGE_MAX = 1000
TARGET_MAX = 255


async def _check(unit: AdminUnit, call: OperationCall) -> Result:
    """Return the findings, prepared before the unit of work begins: it blocks no writer and changes nothing."""
    promotion_id = str((call.binding or {})["ID"])
    key = ("check", promotion_id)
    found = unit.prepared.get(key)
    if found is None:
        raise Unprepared(key, _preparing(unit.session.tenant or "", promotion_id, unit.at))
    return Result(value=[_value(one) for one in found])


def _preparing(tenant_id: str, promotion_id: str, at: datetime) -> Callable[[Context], Awaitable[list[Finding]]]:
    async def prepare(context: Context) -> list[Finding]:
        return await check_promotion(context, tenant_id, promotion_id, at, read_request)

    return prepare


def _value(one: Finding) -> dict[str, Any]:
    """Return a CheckFinding as its properties."""
    return {
        "code": one.code,
        "severity": one.severity,
        "message": _cut(one.message, MESSAGE_MAX),
        "target": None if one.target is None else _cut(one.target, TARGET_MAX),
        "entity_ID": one.entity_id,
        "promotion_ID": one.promotion_id,
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


OPERATIONS: AdminOperations = {"check": _check}
