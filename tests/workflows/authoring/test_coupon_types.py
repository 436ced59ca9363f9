"""Coupon types: what may change once customers have codes."""

from __future__ import annotations

from promenade.errors import Conflict
from tests.workflows.authoring.desk import Desk
from tests.workflows.authoring.test_every_entity import refused


async def test_the_code_type_cannot_change_once_there_are_codes(desk: Desk) -> None:
    """A shared code that was spent by many could, as an individual code, be neither spent again nor refused."""
    own = await desk.create("CouponTypes", code="OWN", name="Own")
    shared = await desk.create("CouponTypes", code="ALL", name="All", codeType="GENERIC", genericCode="ALL")
    await desk.update("CouponTypes", own, codeType="GENERIC")  # it has no codes yet
    await desk.update("CouponTypes", own, codeType="INDIVIDUAL")
    for number, kind in enumerate((own, shared)):
        await desk.put("CouponCodes", code=f"CODE-{number}", coupon_type_id=kind, status="EXPIRED")
    for kind, other in ((own, "GENERIC"), (shared, "INDIVIDUAL")):
        change = {"codeType": other, "genericCode": None}
        error = await refused(desk, Conflict, desk.update("CouponTypes", kind, **change))
        assert (error.code, error.target) == ("CODE_TYPE_IN_USE", "codeType")
    await desk.update("CouponTypes", own, codeType="INDIVIDUAL", name="Still of one's own")
