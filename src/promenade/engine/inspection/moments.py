"""Whether the clock ever shows what time conditions require, within a validity and in certain time zones.

Exact over the real calendar: a day is divided into quarters of an hour of UTC, so that an hour that a clock skips in
spring does not count, and one that it shows twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from promenade.engine.conditions.registry import Condition
from promenade.engine.conditions.time import TimePeriod, TimeWindow
from promenade.engine.inspection.spans import ANY, HIGHEST, LOWEST, Spans, both, outside, spans_of
from promenade.engine.promotion import EPOCH, microseconds

ZONES_MAX = 60  # different clocks considered; with more, it counts as possible
DAYS = 16  # days considered of a period: each weekday twice, so that at least one is not a day on which clocks change

DAY = 86_400_000_000  # microseconds
SLICE = 900_000_000  # clocks change at quarters of an hour of UTC
FIRST = microseconds(datetime(1, 1, 3, tzinfo=UTC))
LAST = microseconds(datetime(9999, 12, 28, tzinfo=UTC))

Timed = tuple[bool, Condition]
"""(negated, TIME_WINDOW or TIME_PERIOD)"""


def is_ever(timed: Sequence[Timed], starts: int, ends: int, zones: Sequence[str]) -> bool:
    """Whether there is a moment from ``starts`` to before ``ends`` (`promotion.microseconds`) at which all hold.

    In at least one of the zones; an unknown zone has no clock, so no positive condition holds there.
    """
    starts, ends = max(starts, FIRST), min(ends, LAST)
    if starts >= ends:
        return False
    if len(zones) > ZONES_MAX:
        return True
    days = _days(timed)
    week = [_clock(timed, weekday) for weekday in range(7)]
    return any(_is_ever_in(zone, days, week, (starts, ends), timed) for zone in zones)


def _is_ever_in(name: str, days: Spans, week: Sequence[Spans], window: tuple[int, int], timed: Sequence[Timed]) -> bool:
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return all(negated for negated, _ in timed)
    starts, ends = window
    first, last = _local(starts, zone).toordinal(), _local(ends - 1, zone).toordinal()
    for low, high in both(days, ((first, last),)):
        for ordinal in range(low, min(high, low + DAYS) + 1):
            day = date.fromordinal(ordinal)
            clock = week[day.weekday()]
            if clock and _shows(zone, day, clock, window):
                return True
    return False


def _shows(zone: ZoneInfo, day: date, clock: Spans, window: tuple[int, int]) -> bool:
    """Whether the zone's clock shows one of these times of day on that day, within the window."""
    for low, high in _slices(zone, day):
        start, end = max(low, window[0]), min(high, window[1] - 1)
        if start > end:
            continue
        local = _local(start, zone)
        if local.date() != day:
            continue
        since = _of_day(local.time())
        if both(clock, ((since, min(since + end - start, DAY - 1)),)):
            return True
    return False


def _slices(zone: ZoneInfo, day: date) -> Iterator[tuple[int, int]]:
    """Quarters of an hour of UTC that cover the day, from its first moment on; both ends included."""
    begins = [_world(day, zone, fold) for fold in (0, 1)]
    finishes = [_world(day + timedelta(days=1), zone, fold) for fold in (0, 1)]
    low, until = min(begins), max(finishes)
    while low < until:
        yield low, low + SLICE - 1
        low += SLICE


def _world(day: date, zone: ZoneInfo, fold: int) -> int:
    return microseconds(datetime.combine(day, time(0, fold=fold), tzinfo=zone).astimezone(UTC))


def _local(moment: int, zone: ZoneInfo) -> datetime:
    return (EPOCH + timedelta(microseconds=moment)).astimezone(zone)


def _of_day(clock: time) -> int:
    """Microseconds since midnight."""
    return ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1_000_000 + clock.microsecond


def _days(timed: Sequence[Timed]) -> Spans:
    """The days, by their ordinals, that every TIME_PERIOD allows."""
    days = ANY
    for negated, one in timed:
        if isinstance(one, TimePeriod):
            low = LOWEST if one.first is None else one.first.toordinal()
            high = HIGHEST if one.last is None else one.last.toordinal()
            period = spans_of([(low, high)])
            days = both(days, outside(period) if negated else period)
    return days


def _clock(timed: Sequence[Timed], weekday: int) -> Spans:
    """The times of day, in microseconds, that every TIME_WINDOW allows on a weekday."""
    clock: Spans = ((0, DAY - 1),)
    for negated, one in timed:
        if isinstance(one, TimeWindow):
            shown = _window(one, weekday)
            clock = both(clock, outside(shown) if negated else shown)
    return clock


def _window(window: TimeWindow, weekday: int) -> Spans:
    start, end = _of_day(window.start), _of_day(window.end)
    today, yesterday = weekday in window.weekdays, (weekday - 1) % 7 in window.weekdays
    if start < end:
        return ((start, end - 1),) if today else ()
    parts = [(start, DAY - 1)] if today else []
    return spans_of([*parts, (0, end - 1)] if yesterday else parts)
