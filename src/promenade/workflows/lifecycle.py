"""Verbs of administration: what moves a promotion, a campaign, a coupon type or a budget through its states.

The moves themselves are those of `authoring.machines`, which a client that writes the status obeys too.
"""

from __future__ import annotations

from datetime import datetime

from promenade.errors import Invalid, NotFound
from promenade.store.authored import Columns, read_rows
from promenade.store.definitions import read_promotions
from promenade.store.surroundings import load_places
from promenade.store.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.locks import locked
from promenade.workflows.authoring.runnable import missing

__all__ = ["move", "move_promotion"]


async def move(authoring: Authoring, set_name: str, entity_id: str, verb: str) -> None:
    """Move a row by a verb of its machine: ``lock``, ``unlock``, ``activate``, ``deactivate``.

    Where the machine lets the verb start from everywhere, a row that stands at its end already stays as it is, and
    nothing is told of it. Raises NotFound, Conflict (INVALID_TRANSITION) and Invalid (VALIDITY_OVER of a budget).
    Specification, States and transitions.
    """
    await authoring.transition(set_name, entity_id, verb)


async def move_promotion(authoring: Authoring, session: Session, promotion_id: str, verb: str, at: datetime) -> None:
    """`move` a promotion: ``activate``, ``submit``, ``startPilot`` ...

    One that is ACTIVE already and is activated is judged all the same, for it may have been made so before it had
    anything to give. Raises also Conflict (LOCKED of its campaign); all that keeps it from running is told as Invalid,
    by `Authoring.finish` at the latest.
    """
    before = await _unlocked(session, promotion_id)
    await move(authoring, "Promotions", promotion_id, verb)
    if verb == "activate" and before["status"] == "ACTIVE":
        read = await read_promotions(session, (promotion_id,))
        (definition,) = read.definitions(await load_places(session)).values()
        faults = missing(definition, at)
        if faults:
            first = faults[0]
            raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())


async def _unlocked(session: Session, promotion_id: str) -> Columns:
    """The promotion, held; its campaign is held unlocked until the unit ends."""
    rows = await read_rows(session, "Promotions", "id", (promotion_id,), lock="update")
    if not rows:
        raise NotFound("NOT_FOUND", "There is no such promotion.")
    if rows[0]["campaign_id"] is not None:
        for campaign in await read_rows(session, "Campaigns", "id", (rows[0]["campaign_id"],), lock="share"):
            if campaign["locked"]:
                raise locked(campaign)
    return rows[0]
