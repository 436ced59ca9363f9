"""Rules for webhook subscriptions: a callable address, existing events, a secret that receivers can read.

A changed secret starts a rotation: for `ROTATION` the previous one also signs, so that receivers can switch without
refusing anything. A second rotation in that time drops the first one's old secret at once.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import timedelta

from promenade.errors import Detail
from promenade.events import subscribable_kinds
from promenade.workflows.authoring.callbacks import check_callback
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

ROTATION = timedelta(hours=24)
"""How long the secret before the current one signs too."""

_PREFIX = "whsec_"
# Standard Webhooks recommends 24 to 64 bytes; 16 are already unguessable, and more than 64 add nothing.
_KEY_BYTES_MIN, _KEY_BYTES_MAX = 16, 64


@rules("WebhookSubscriptions")
class _Subscriptions(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is not Act.DELETE:
                write.after["event_types"] = list(dict.fromkeys(write.after["event_types"] or ()))
            if write.act is Act.UPDATE and write.after["is_active"] and write.differs("is_active"):
                write.after |= {"failure_count": 0, "disabled_at": None}  # enabling it resets its health
            if write.after.get("secret") is None and (write.act is Act.CREATE or "secret" in write.given):
                _make_secret(unit, write)
            before = (write.before or {}).get("secret")
            if write.act is Act.UPDATE and before and write.differs("secret"):
                write.after |= {"previous_secret": before, "previous_secret_until": unit.at + ROTATION}

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE:
                check_callback(unit, write, "callback_url")
                _check_events(unit, write)
                _check_secret(unit, write)
        return []


def _check_events(unit: Unit, write: Write) -> None:
    known = subscribable_kinds()
    target = write.target("event_types")
    for one in write.after["event_types"] or () if "event_types" in write.given else ():
        if one != "*" and one not in known:
            message = f"{target} must list event types, or *."
            unit.faults.add(Detail("UNKNOWN_CODE", message, target))
            return


def _make_secret(unit: Unit, write: Write) -> None:
    """Generate a secret, which is returned in this response only."""
    # Two random UUIDs are 244 bits; the format is that of Standard Webhooks.
    seed = bytes.fromhex(f"{unit.new_id()}{unit.new_id()}".replace("-", ""))
    write.after["secret"] = f"{_PREFIX}{b64encode(seed).decode()}"
    unit.shown_once.setdefault(write.set_name, {})[write.id] = {"secret": write.after["secret"]}


def _check_secret(unit: Unit, write: Write) -> None:
    """Check that the Standard Webhooks libraries can read the secret; the fault never repeats it."""
    if write.differs("secret") and not _is_readable(write.after["secret"] or ""):
        target = write.target("secret")
        message = (
            f"{target} must be {_KEY_BYTES_MIN} to {_KEY_BYTES_MAX} random bytes in base64, with or without the prefix"
            f" {_PREFIX}; send null to have the service generate one."
        )
        unit.faults.add(Detail("INVALID_SECRET", message, target))


def _is_readable(secret: str) -> bool:
    try:
        key = b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:  # also for non-ASCII characters
        return False
    return _KEY_BYTES_MIN <= len(key) <= _KEY_BYTES_MAX
