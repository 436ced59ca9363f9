"""Admin actions that change the status of a promotion, a campaign, a coupon type or a budget.

The transitions are defined in `authoring.machines`; clients that write the status directly are bound by them too.
"""

from __future__ import annotations

from datetime import datetime

from promenade.errors import Invalid, NotFound
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import read_promotions
from promenade.store.pricing.surroundings import load_places
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.approvals import DECISIONS, Policy, decision_of
from promenade.workflows.authoring.locks import locked
from promenade.workflows.authoring.runnable import missing


async def move(authoring: Authoring, set_name: str, entity_id: str, verb: str) -> None:
    """Apply a verb of its state machine to a row: ``lock``, ``unlock``, ``activate``, ``deactivate``.

    If the verb is allowed in every state, a row already in the target state stays unchanged, without an event. Raises
    NotFound, Conflict (INVALID_TRANSITION) and Invalid (VALIDITY_OVER of a budget). Specification, States and
    transitions.
    """
    await authoring.transition(set_name, entity_id, verb)


async def move_promotion(
    authoring: Authoring,
    session: Session,
    promotion_id: str,
    verb: str,
    at: datetime,
    *,
    policy: Policy | None = None,
    reason: str | None = None,
) -> None:
    """`move` for a promotion: ``activate``, ``submit``, ``startPilot`` ...

    ``policy``: that of the tenant, under which the user may decide if ``verb`` is ``approve`` or ``reject``; without it
    nobody decides. ``reason``: of a rejection; Invalid (REQUIRED) if it is missing and approval is binding.

    Activating an ACTIVE promotion checks it all the same, because it may have become ACTIVE before it was complete.
    Also raises Conflict (LOCKED of its campaign); everything that prevents it from running is raised as Invalid, by
    `Authoring.finish` at the latest.
    """
    decision = None if policy is None or verb not in DECISIONS else decision_of(policy, verb, reason)
    before = await _unlocked(session, promotion_id)
    is_binding = policy is not None and policy.is_binding
    await authoring.transition("Promotions", promotion_id, verb, binding=is_binding, decision=decision)
    if verb == "activate" and before["status"] == "ACTIVE":
        read = await read_promotions(session, (promotion_id,))
        (definition,) = read.definitions(await load_places(session)).values()
        faults = missing(definition, at)
        if faults:
            first = faults[0]
            raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())


async def _unlocked(session: Session, promotion_id: str) -> Columns:
    """Return the promotion's row, locked for update; its campaign is not locked and cannot be until the unit ends."""
    rows = await read_rows(session, "Promotions", "id", (promotion_id,), lock="update")
    if not rows:
        raise NotFound("NOT_FOUND", "There is no such promotion.")
    if rows[0]["campaign_id"] is not None:
        for campaign in await read_rows(session, "Campaigns", "id", (rows[0]["campaign_id"],), lock="share"):
            if campaign["locked"]:
                raise locked(campaign)
    return rows[0]
