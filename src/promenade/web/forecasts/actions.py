"""The forecast of a promotion (docs/how-to/forecast-a-promotion.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from odata_server.source import OperationCall, Result
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.preparing import Unprepared
from promenade.workflows.context import Context
from promenade.workflows.forecasts.asking import (
    BASKETS_AT_ONCE,
    Forecast,
    Period,
    check_period,
    prepare_forecast,
    store_forecast,
)


async def _forecast(unit: AdminUnit, call: OperationCall) -> Result:
    promotion_id = str((call.binding or {})["ID"])
    period = check_period(call.parameters["dateFrom"], call.parameters["dateTo"])
    key = ("forecast", promotion_id, period)
    forecast = unit.prepared.get(key)
    if forecast is None:
        # If a change set requests several, only one is computed at a time.
        baskets_max = 0 if unit.prepared else BASKETS_AT_ONCE
        raise Unprepared(key, _preparing(unit.session.tenant or "", promotion_id, period, baskets_max))
    user = unit.session.scope.user or ""
    forecast_id = await store_forecast(unit.session, forecast, user=user, new_id=unit.authoring.new_id)
    return Result(key={"ID": forecast_id}, status=201)


def _preparing(
    tenant_id: str, promotion_id: str, period: Period, baskets_max: int
) -> Callable[[Context], Awaitable[Forecast]]:
    async def prepare(context: Context) -> Forecast:
        return await prepare_forecast(context, tenant_id, promotion_id, period, baskets_max=baskets_max)

    return prepare


OPERATIONS: AdminOperations = {"forecast": _forecast}
