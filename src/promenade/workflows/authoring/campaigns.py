"""Rules for campaigns: `locked` cannot be written by clients; events for subscribers."""

from __future__ import annotations

from collections.abc import Mapping

from promenade.errors import NotAllowed
from promenade.events import CampaignCreated, CampaignEnded, CampaignLocked, CampaignStarted, CampaignUnlocked
from promenade.store.authoring.statements import read_rows
from promenade.store.webhooks.outbox import emit_all
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Row, Unit, Write

_Told = (
    type[CampaignCreated] | type[CampaignStarted] | type[CampaignEnded] | type[CampaignLocked] | type[CampaignUnlocked]
)
_EVENTS: Mapping[str, _Told] = {
    "start": CampaignStarted,
    "end": CampaignEnded,
    "lock": CampaignLocked,
    "unlock": CampaignUnlocked,
}


@rules("Campaigns")
class _Campaigns(Rules):
    def admit(self, unit: Unit, row: Row, *, is_new: bool) -> None:
        # For a new campaign it is ignored like every read-only property.
        if "locked" in row and not is_new:
            message = "Only the administration's actions lock and unlock change locked."
            raise NotAllowed("LOCKED_IS_READ_ONLY", message, ("GET", "PATCH", "DELETE"), "locked")

    async def finish(self, unit: Unit) -> None:
        told = [(write.id, kind) for write in unit.written if write.set_name == "Campaigns" for kind in _kinds(write)]
        if not told:
            return
        rows = {row["id"]: row for row in await read_rows(unit.session, "Campaigns", "id", {key for key, _ in told})}
        news = [
            kind(key, row["code"], row["name"], row["start_at"], row["end_at"], unit.user)
            for key, kind in told
            if (row := rows.get(key)) is not None
        ]
        await emit_all(unit.session, news, new_id=unit.new_id, at=unit.at)


def _kinds(write: Write) -> list[_Told]:
    """Return the events of a write; a campaign created as ACTIVE has also started."""
    if write.act is Act.CREATE:
        return [CampaignCreated, *([CampaignStarted] if write.after["status"] == "ACTIVE" else [])]
    kind = _EVENTS.get(write.verb or "")
    return [] if kind is None else [kind]
