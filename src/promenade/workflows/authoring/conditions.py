"""Conditions may be incomplete while their promotion is a draft; what is said must still make sense."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Detail
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Unit, Write

__all__: list[str] = []

_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


@rules("Conditions", "TemplateConditions")
class _Conditions(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            days = write.after.get("weekdays")
            if days and write.differs("weekdays"):
                names = days.split(",")
                if not set(names) <= set(_WEEKDAYS) or len(set(names)) < len(names):
                    message = f"{write.target('weekdays')} must list weekdays once each, such as MON,TUE."
                    unit.faults.add(Detail("UNKNOWN_WEEKDAY", message, write.target("weekdays")))
        return []
