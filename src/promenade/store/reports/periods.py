"""Report periods, which begin and end at any time: whole UTC days and months of sums, and the edges around them.

From the first to the last midnight a period is read from sums by day, or by month for whole months in it; the edges,
less than two days, are read from the logs of their sales.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

Edge = tuple[datetime, datetime]
"""From a moment to before another, both in UTC."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period split for reading: whole UTC days from ``first`` to before ``end``, and the edges around them."""

    first: date
    end: date
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, since: datetime, until: datetime) -> Stretch:
        """Split a period, whose ends must be in UTC and not at the limits of the calendar."""
        first, end = since.date(), until.date()
        if _midnight(first) < since:
            first += _DAY
        if first >= end:
            return cls(first, first, ((since, until),))
        around = ((since, _midnight(first)), (_midnight(end), until))
        return cls(first, end, tuple([(one, other) for one, other in around if one < other]))

    @property
    def has_days(self) -> bool:
        """Whether it contains a whole day."""
        return self.first < self.end

    def spans(self) -> Iterator[tuple[str, date, date]]:
        """Yield its days as whole months and the days before and after: ``month`` or ``day``, first, end
        (exclusive).
        """
        if not self.has_days:
            return
        begin = self.first if self.first.day == 1 else (self.first.replace(day=1) + 31 * _DAY).replace(day=1)
        end = self.end.replace(day=1)
        if begin >= end:
            yield "day", self.first, self.end
            return
        yield "month", begin, end
        for first, stop in ((self.first, begin), (end, self.end)):
            if first < stop:
                yield "day", first, stop


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
