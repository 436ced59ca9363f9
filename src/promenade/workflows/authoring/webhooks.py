"""Webhook subscriptions: an address that may be called, events that exist, a secret that is strong."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from promenade.errors import Detail
from promenade.events import events
from promenade.workflows.authoring.callbacks import check_callback
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__: list[str] = []

_SECRET_MIN = 24


@rules("WebhookSubscriptions")
class _Subscriptions(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is not Act.DELETE:
                write.after["event_types"] = list(dict.fromkeys(write.after["event_types"] or ()))
            if write.act is Act.UPDATE and write.after["is_active"] and write.differs("is_active"):
                write.after |= {"failure_count": 0, "disabled_at": None}  # whoever switches it on begins anew
            if write.act is Act.CREATE and not write.after["secret"]:
                # Two random UUIDs are 244 bits; the form is that of Standard Webhooks.
                seed = bytes.fromhex(f"{unit.new_id()}{unit.new_id()}".replace("-", ""))
                write.after["secret"] = f"whsec_{b64encode(seed).decode()}"
                shown = unit.shown_once.setdefault(write.set_name, {})
                shown[write.id] = {"secret": write.after["secret"]}

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE:
                check_callback(unit, write, "callback_url")
                _check_events(unit, write)
                _check_secret(unit, write)
        return []


def _check_events(unit: Unit, write: Write) -> None:
    known = events()
    target = write.target("event_types")
    for one in write.after["event_types"] or () if "event_types" in write.given else ():
        if one != "*" and one not in known:
            message = f"{target} must hold kinds of events, or *."
            unit.faults.add(Detail("UNKNOWN_CODE", message, target))
            return


def _check_secret(unit: Unit, write: Write) -> None:
    if len(write.after["secret"] or "") < _SECRET_MIN and write.differs("secret"):
        target = write.target("secret")
        message = f"{target} must have at least {_SECRET_MIN} characters."
        unit.faults.add(Detail("SECRET_TOO_SHORT", message, target))
