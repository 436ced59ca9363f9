"""What an agent may not do, whatever its person may: decide, give access, and change what runs.

Every authoring unit ends here, as at binding approval, so that it makes no difference by which way an agent writes.
"""

from __future__ import annotations

from promenade.errors import Forbidden
from promenade.store.authoring.approvals import read_agents_may_activate, read_promotions_of
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.authoring.approvals import DECISIONS, LIVE
from promenade.workflows.authoring.unit import Unit

__all__ = ["refuse_agents", "refuse_agents_access"]

_ACCESS = frozenset({"Clients", "GroupRoles", "People", "TenantSettings", "WebhookSubscriptions"})
"""Who may do what, by which rules, and where data are sent."""

_DECISIONS = {"Promotions": DECISIONS, "BudgetRequests": frozenset({"grant", "decline"})}
_OF_COUPONS = frozenset({"CouponCodeBatches", "CouponCodeConfigurations", "CouponCodes", "CouponRefillSchedules"})


async def refuse_agents(unit: Unit) -> None:
    """Raise Forbidden for what an agent has done in a unit that only a person may.

    AGENTS_GIVE_NO_ACCESS: see `refuse_agents_access`. AGENTS_DO_NOT_DECIDE: it approved or rejected a promotion, or
    answered who asked for a budget. AGENTS_MAY_NOT_ACTIVATE: it changed a promotion or a coupon type that runs, or
    makes one run, and the tenant does not allow that. Does nothing in a unit of a person.
    """
    if unit.session.scope.agent is None:
        return
    if any(write.set_name in _ACCESS for write in unit.written):
        refuse_agents_access(unit.session)
    if any(write.verb in _DECISIONS.get(write.set_name, ()) for write in unit.written):
        message = "An agent approves, grants and refuses nothing: ask a person."
        raise Forbidden("AGENTS_DO_NOT_DECIDE", message)
    if await read_agents_may_activate(unit.session):
        return
    if any(row["status"] in LIVE for row in (*await _promotions(unit), *await _coupon_types(unit))):
        message = (
            "An agent changes no promotion or coupon type that runs and makes none run, as the settings of the tenant"
            " (agentsMayActivate) do not allow it: ask a person."
        )
        raise Forbidden("AGENTS_MAY_NOT_ACTIVATE", message)


def refuse_agents_access(session: Session) -> None:
    """Raise Forbidden (AGENTS_GIVE_NO_ACCESS) if a session is an agent's.

    By clients, people, roles and settings it could give itself what it may not do; by webhooks, data to others.
    """
    if session.scope.agent is not None:
        message = "An agent gives no access, changes no settings or webhooks, and sends no events: ask a person."
        raise Forbidden("AGENTS_GIVE_NO_ACCESS", message)


async def _promotions(unit: Unit) -> list[Columns]:
    """Return the promotions that a unit has changed, as they were and as they are."""
    ids, campaigns = set(unit.ids_of("Promotions")), set(unit.ids_of("Campaigns"))
    if not ids and not campaigns:
        return []
    through = await read_promotions_of(unit.session, campaigns) if campaigns else set()
    before = [write.before for write in unit.written if write.set_name == "Promotions" and write.before is not None]
    return [*before, *await read_rows(unit.session, "Promotions", "id", ids | through)]


async def _coupon_types(unit: Unit) -> list[Columns]:
    """Return the coupon types that a unit has changed or given codes, as they were and as they are."""
    kinds = [write for write in unit.written if write.set_name == "CouponTypes"]
    codes = [write for write in unit.written if write.set_name in _OF_COUPONS]
    ids = {row["coupon_type_id"] for write in codes for row in (write.before, write.after) if row}
    given = await read_rows(unit.session, "CouponTypes", "id", ids) if ids else []
    return [*given, *(row for write in kinds for row in (write.before, write.after) if row)]
