"""Months of an archive: of UTC, as `2026-10`; only those that are over are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from promenade.errors import Invalid

SETTLED_DAYS = 7
"""Days after its end until a month is written, so that stores can send sales of their last days offline."""

_FORM = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month of UTC."""

    year: int
    number: int

    @classmethod
    def of(cls, moment: datetime) -> Month:
        """Return the month of a time."""
        own = moment.astimezone(UTC)
        return cls(own.year, own.month)

    @classmethod
    def parse(cls, text: str, target: str) -> Month:
        """Read `2026-10`. Raises Invalid (BAD_MONTH), naming ``target``."""
        if not _FORM.fullmatch(text) or text.startswith("0000"):
            raise Invalid("BAD_MONTH", f"{target} must be a month such as 2026-10, not {text}.", target)
        return cls(int(text[:4]), int(text[5:]))

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    @property
    def begins(self) -> datetime:
        """Its first moment."""
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def is_last(self) -> bool:
        """Whether no month can follow."""
        return self == Month(9999, 12)

    @property
    def ends(self) -> datetime:
        """The first moment after it."""
        return self.following.begins

    @property
    def following(self) -> Month:
        """The month after it. Raises Invalid (BAD_MONTH) after the last one that there is."""
        if self.is_last:
            raise Invalid("BAD_MONTH", f"{self} is the last month that there is.")
        return Month(self.year + self.number // 12, self.number % 12 + 1)


def is_finished(month: Month, now: datetime, settled_days: int = SETTLED_DAYS) -> bool:
    """Return whether a month ended ``settled_days`` before ``now`` or earlier."""
    return not month.is_last and month.ends + timedelta(days=settled_days) <= now
