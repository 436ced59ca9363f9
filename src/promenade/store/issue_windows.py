"""How many coupons tills have had issued in the last minute: one row per tenant, which bounds all its processes.

The row is held from `hold` on until the unit ends, so that units of one tenant that issue come one after the other and
each sees what those before it have issued.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec
from sqlalchemy import insert, select, update

from promenade.store.schema import table
from promenade.store.types import from_microseconds, to_microseconds
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["Issuances", "hold", "keep"]

_WINDOWS = table("issue_windows")
_Entries = list[tuple[int, int]]
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Entries)
_NOTHING = _ENCODER.encode([])


@dataclass(frozen=True, slots=True)
class Issuances:
    """``number`` coupons issued at one moment."""

    at: datetime
    number: int


async def hold(session: Session) -> tuple[Issuances, ...]:
    """What the tenant's tills have had issued as far as it was kept, held until the unit ends."""
    if session.dialect == "postgresql":
        # Adds the row or locks it, in one statement; what it answers is what the one before has committed.
        adding = upsert(session.dialect, _WINDOWS)
        rows = await session.execute(
            adding.on_conflict_do_update(
                index_elements=[_WINDOWS.c.tenant_id], set_={"issued": _WINDOWS.c.issued}
            ).returning(_WINDOWS.c.issued),
            {"issued": _NOTHING},
        )
    else:
        rows = await session.execute(select(_WINDOWS.c.issued))
    entries = _DECODER.decode(rows[0].issued) if rows else []
    return tuple([Issuances(from_microseconds(at), number) for at, number in entries])


async def keep(session: Session, issued: Sequence[Issuances]) -> None:
    """Write down what counts from now on; the window must be held."""
    content = _ENCODER.encode([(to_microseconds(one.at), one.number) for one in issued])
    if await session.rowcount(update(_WINDOWS).values(issued=content)) == 0:
        await session.rowcount(insert(_WINDOWS), {"issued": content})
