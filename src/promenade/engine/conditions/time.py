"""Conditions on when the sale happens, by the POS group's own clock (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time
from typing import Self

from promenade.engine.conditions.registry import Condition, condition
from promenade.engine.definition import ConditionRow, DefinitionError
from promenade.engine.forms import Form
from promenade.engine.verdict import Met, Missed, Verdict
from promenade.engine.view import BasketView

NO_CLOCK = Missed("TIME_ZONE_UNKNOWN")
OUTSIDE_WINDOW = Missed("OUTSIDE_TIME_WINDOW")
OUTSIDE_PERIOD = Missed("OUTSIDE_TIME_PERIOD")
MET = Met()

WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
MIDNIGHT = time(0)


@condition(
    "TIME_WINDOW",
    Form(
        family="time",
        icon="present",
        fields=("timeFrom", "timeTo", "weekdays"),
        needs=(("timeFrom", "timeTo", "weekdays"),),
    ),
)
@dataclass(frozen=True, slots=True)
class TimeWindow(Condition):
    """A time of day from ``start`` (included) to ``end`` (not included), on certain weekdays.

    A window whose end is not after its start runs past midnight and belongs to the weekday it starts on; equal start
    and end make it 24 hours long. Without times it is the whole day.
    """

    start: time
    end: time
    weekdays: frozenset[int]  # Monday is 0; all seven when none are named

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        if row.time_from is None and row.time_to is None and not row.weekdays:
            raise DefinitionError("timeFrom", "VALUE_REQUIRED", "A TIME_WINDOW condition needs times or weekdays.")
        days: set[int] = set()
        for name in (row.weekdays or "").split(","):
            if not name.strip():
                continue
            if name.strip().upper() not in WEEKDAYS:
                raise DefinitionError("weekdays", "UNKNOWN_WEEKDAY", f"{name.strip()!r} is not a weekday such as MON.")
            days.add(WEEKDAYS.index(name.strip().upper()))
        return cls(row.time_from or MIDNIGHT, row.time_to or MIDNIGHT, frozenset(days or range(7)))

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        now = view.local_time
        if now is None:
            return NO_CLOCK
        clock, weekday = now.time(), now.weekday()
        if self.start < self.end:
            inside = self.start <= clock < self.end and weekday in self.weekdays
        elif clock >= self.start:
            inside = weekday in self.weekdays
        else:
            inside = clock < self.end and (weekday - 1) % 7 in self.weekdays
        return MET if inside else OUTSIDE_WINDOW

    def needs(self) -> str:
        days = "" if len(self.weekdays) == 7 else " on " + ", ".join([WEEKDAYS[day] for day in sorted(self.weekdays)])
        if self.start == self.end:
            return f"a purchase{days}"
        return f"a purchase between {self.start:%H:%M} and {self.end:%H:%M}{days}"


@condition(
    "TIME_PERIOD",
    Form(family="time", icon="calendar", fields=("dateFrom", "dateTo"), needs=(("dateFrom", "dateTo"),)),
)
@dataclass(frozen=True, slots=True)
class TimePeriod(Condition):
    """A range of dates, both included; either may be open."""

    first: date | None
    last: date | None

    @classmethod
    def parse(cls, row: ConditionRow) -> Self:
        if row.date_from is None and row.date_to is None:
            raise DefinitionError("dateFrom", "VALUE_REQUIRED", "A TIME_PERIOD condition needs a first or last date.")
        return cls(row.date_from, row.date_to)

    def check(self, view: BasketView, sale_minor: int) -> Verdict:
        now = view.local_time
        if now is None:
            return NO_CLOCK
        today = now.date()
        if (self.first is not None and today < self.first) or (self.last is not None and today > self.last):
            return OUTSIDE_PERIOD
        return MET

    def needs(self) -> str:
        start = "" if self.first is None else f" from {self.first.isoformat()}"
        end = "" if self.last is None else f" until {self.last.isoformat()}"
        return f"a purchase{start}{end}"
