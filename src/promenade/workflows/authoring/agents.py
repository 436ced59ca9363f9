"""What an agent may not do, whatever its person may: run promotions, decide about them, and set the rules for itself.

Every authoring unit ends here, as at binding approval, so that it makes no difference by which way an agent writes.
"""

from __future__ import annotations

from promenade.errors import Forbidden
from promenade.store.authoring.approvals import read_agents_may_activate, read_promotions_of
from promenade.store.authoring.statements import read_rows
from promenade.workflows.authoring.approvals import DECISIONS, LIVE
from promenade.workflows.authoring.unit import Unit

__all__ = ["refuse_agents", "refuse_settings_by_agents"]


async def refuse_agents(unit: Unit) -> None:
    """Raise Forbidden for what an agent has done to promotions that only a person may.

    AGENTS_DO_NOT_DECIDE: it approved or rejected one. AGENTS_MAY_NOT_ACTIVATE: it changed what runs, or makes it run,
    and the tenant does not allow that. Does nothing in a unit of a person.
    """
    if unit.session.scope.agent is None:
        return
    ids, campaigns = set(unit.ids_of("Promotions")), set(unit.ids_of("Campaigns"))
    if not ids and not campaigns:
        return
    writes = [write for key in ids for write in unit.subjects["Promotions", key] if write.set_name == "Promotions"]
    if any(write.verb in DECISIONS for write in writes):
        raise Forbidden("AGENTS_DO_NOT_DECIDE", "An agent approves and rejects nothing: ask a person.")
    if await read_agents_may_activate(unit.session):
        return
    through = await read_promotions_of(unit.session, campaigns) if campaigns else set()
    after = await read_rows(unit.session, "Promotions", "id", ids | through)
    before = [write.before for write in writes if write.before is not None]
    if any(row["status"] in LIVE for row in (*before, *after)):
        message = (
            "An agent changes nothing that runs and makes nothing run, as the settings of the tenant"
            " (agentsMayActivate) do not allow it: ask a person."
        )
        raise Forbidden("AGENTS_MAY_NOT_ACTIVATE", message)


def refuse_settings_by_agents(unit: Unit) -> None:
    """Raise Forbidden (AGENTS_DO_NOT_DECIDE) if the unit is an agent's: settings say what it may do."""
    if unit.session.scope.agent is not None:
        raise Forbidden("AGENTS_DO_NOT_DECIDE", "An agent changes no settings of its tenant: ask a person.")
