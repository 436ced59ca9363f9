"""Webhook deliveries replayed, tested and shown by hand (docs/how-to/webhooks.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from odata_server.source import OperationCall, Result
from promenade.model.declare import Service
from promenade.model.edm import edm_for
from promenade.store.webhooks.replay import MissedEvents
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.preparing import Unprepared
from promenade.workflows.context import Context
from promenade.workflows.webhooks.replay import Period, check_period, find_missed, replay_delivery, replay_events
from promenade.workflows.webhooks.trial import payload_of, send_test


async def _replay(unit: AdminUnit, call: OperationCall) -> Result:
    await replay_delivery(unit.authoring, unit.session, _bound_to(call), at=unit.at)
    return Result(key=call.binding, entity_set=call.entity_set)


async def _replay_events(unit: AdminUnit, call: OperationCall) -> Result:
    """Replay missed events, which are searched for before the unit of work begins, so that no till waits."""
    subscription_id = _bound_to(call)
    period = check_period(call.parameters["from"], call.parameters["to"])
    key = ("replayEvents", subscription_id, period)
    found = unit.prepared.get(key)
    if found is None:
        raise Unprepared(key, _preparing(unit.session.tenant or "", subscription_id, period))
    replayed = await replay_events(unit.authoring, unit.session, subscription_id, period, found, at=unit.at)
    return Result(value={"events": replayed.events, "until": replayed.until})


def _preparing(tenant_id: str, subscription_id: str, period: Period) -> Callable[[Context], Awaitable[MissedEvents]]:
    async def prepare(context: Context) -> MissedEvents:
        return await find_missed(context, tenant_id, subscription_id, period)

    return prepare


async def _send_test(unit: AdminUnit, call: OperationCall) -> Result:
    log_id = await send_test(unit.authoring, unit.session, _bound_to(call), at=unit.at)
    return Result(key={"ID": log_id}, entity_set=edm_for(Service.ADMIN).set_of("NotificationLogs"))


async def _payload(unit: AdminUnit, call: OperationCall) -> Result:
    return Result(value=await payload_of(unit.session, _bound_to(call)))


def _bound_to(call: OperationCall) -> str:
    return str((call.binding or {})["ID"])


OPERATIONS: AdminOperations = {
    "replay": _replay,
    "replayEvents": _replay_events,
    "sendTest": _send_test,
    "payload": _payload,
}
