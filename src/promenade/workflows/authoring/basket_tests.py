"""Rules for tests of prices: what is expected must be possible, and a changed test has not been run yet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from promenade.engine.money import minor_digits
from promenade.errors import Conflict, Detail
from promenade.store.authoring.statements import Columns, hold, read_rows
from promenade.store.promotions.basket_tests import count_tests, read_codes
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

TESTS_MAX = 500
"""Tests of a tenant."""

PROMOTIONS_MAX = 100
"""Promotions that a test expects."""

_NOT_RUN = {
    "status": "NEVER_RUN",
    "last_run_at": None,
    "actual_total": None,
    "actual_promotions": None,
    "difference": None,
}


class _Request(msgspec.Struct, rename="camel"):
    """What the rules read of a request; the service that accepts it has checked all of it."""

    pos_group_id: str | None = None
    pos_group_code: str | None = None
    timestamp: datetime | None = None


@rules("BasketTests")
class _BasketTests(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is Act.DELETE:
                continue
            write.after["expected_promotions"] = write.after["expected_promotions"] or []
            if write.differs("request", "currency"):
                await _read_request(unit, write)
            if write.differs("request", "expected_total", "currency", "expected_promotions"):
                write.after |= _NOT_RUN

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        kept = [write for write in writes if write.act is not Act.DELETE]
        for write in kept:
            _check_total(unit, write)
        await _check_promotions(unit, [write for write in kept if write.differs("expected_promotions")])
        made = [write for write in kept if write.act is Act.CREATE]
        if made:
            await hold(unit.session, "basket tests")
            if await count_tests(unit.session) + len(made) > TESTS_MAX:
                message = f"There can be at most {TESTS_MAX} tests: delete some that are of no use any more."
                unit.faults.add(Conflict("TOO_MANY_TESTS", message))
        return []


async def _read_request(unit: Unit, write: Write) -> None:
    """Fill in what follows from the request: the time of pricing and, unless it was given, the currency."""
    target = write.target("request")
    try:
        request = msgspec.json.decode(write.after["request"] or "{}", type=_Request)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        unit.faults.add(Detail("INVALID_BASKET", f"{target} is not a basket that can be priced.", target))
        return
    at = request.timestamp
    write.after["priced_at"] = None if at is None else at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    group = await _pos_group(unit, request)
    if group is None:
        if write.after["request"]:
            message = f"{target} names a POS group that does not exist."
            unit.faults.add(Detail("POS_GROUP_NOT_FOUND", message, target))
    elif write.after["currency"] is None or not write.differs("currency"):
        write.after["currency"] = group["currency"]
    elif write.after["currency"] != group["currency"]:
        message = f"{write.target('currency')} must be the currency of the basket's POS group."
        unit.faults.add(Detail("CURRENCY_MISMATCH", message, write.target("currency")))


async def _pos_group(unit: Unit, request: _Request) -> Columns | None:
    column, key = "id", (request.pos_group_id or "").lower()
    if request.pos_group_id is None:
        column, key = "code", (request.pos_group_code or "").strip()
    found = await read_rows(unit.session, "PosGroups", column, (key,)) if key and "\0" not in key else []
    return found[0] if found else None


def _check_total(unit: Unit, write: Write) -> None:
    total, currency = write.after["expected_total"], write.after["currency"]
    if total is None or currency is None or not write.differs("expected_total", "currency"):
        return
    digits = minor_digits(currency)
    if total != round(total, digits):
        target = write.target("expected_total")
        message = f"{target} has more than the {digits} decimals of {currency}."
        unit.faults.add(Detail("TOO_MANY_DECIMALS", message, target))


async def _check_promotions(unit: Unit, writes: Sequence[Write]) -> None:
    """Check that the expected promotions exist, and store each once, by its code if it has one."""
    known = await read_codes(unit.session, {key for write in writes for key in write.after["expected_promotions"]})
    for write in writes:
        wanted = write.after["expected_promotions"]
        target = write.target("expected_promotions")
        if len(wanted) > PROMOTIONS_MAX:
            message = f"{target} may name at most {PROMOTIONS_MAX} promotions."
            unit.faults.add(Detail("TOO_LONG", message, target))
        unknown = [key for key in wanted if key not in known]
        if unknown:
            message = f"{target}: there is no promotion {unknown[0][:50]}; name them by their codes."
            unit.faults.add(Detail("UNKNOWN_PROMOTION", message, target))
        write.after["expected_promotions"] = list(dict.fromkeys(known.get(key, key) for key in wanted))
