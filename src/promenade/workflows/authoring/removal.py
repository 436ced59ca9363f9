"""What others refer to, or what stores hold of it, keeps a row from being deleted: 409 IN_USE and HELD_BY_STORES."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import Conflict
from promenade.store.authored import read_referred
from promenade.store.store_shares import BUDGET, COUPON_CODE, COUPON_TYPE, PROMOTION, find_given
from promenade.workflows.authoring.shapes import referrers
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__ = ["check_unused"]

# What stores are given parts of, to spend on their own for days without anybody hearing of it.
_GIVEN = {"Budgets": BUDGET, "CouponTypes": COUPON_TYPE, "CouponCodes": COUPON_CODE, "Promotions": PROMOTION}


async def check_unused(unit: Unit, writes: Sequence[Write]) -> None:
    """Add IN_USE for deleted rows that others refer to; one statement for every set that could.

    HELD_BY_STORES for what stores hold outstanding shares of: what they spend would be booked nowhere. The rows are
    held, and a share is given only of a row that is there.
    """
    gone: dict[str, set[str]] = {}
    for write in writes:
        if write.act is Act.DELETE:
            gone.setdefault(write.set_name, set()).add(write.id)
    for set_name, ids in gone.items():
        users = [
            one.set_name
            for one in referrers(set_name)
            if await read_referred(unit.session, one.set_name, one.column, ids)
        ]
        if users:
            names = ", ".join(sorted(set(users)))
            unit.faults.add(Conflict("IN_USE", f"This cannot be deleted: {names} refer to it."))
        kind = _GIVEN.get(set_name)
        if kind is not None and await find_given(unit.session, kind, ids):
            message = "Stores hold a part of this: deactivate it, and delete it once they have given that part back."
            unit.faults.add(Conflict("HELD_BY_STORES", message))
