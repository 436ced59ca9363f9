"""Tests of prices: their requests as they are written and read, and the actions that run them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from odata_server.source import OperationCall, Result
from promenade.errors import Detail, Invalid
from promenade.model.promotions.basket_tests import REQUEST_MAX
from promenade.web.odata.admin_unit import AdminOperations, AdminUnit
from promenade.web.odata.preparing import Unprepared
from promenade.web.pricing.decode import decode_evaluate
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricingRequest
from promenade.workflows.promotions.basket_tests import Run, Verdict, run_test, run_tests, store_verdict, store_verdicts

RUN = "run"
RUN_ALL = "runAll"
CARD_DIGITS_MAX = 8
"""As many digits of a card number as pricing reads; a test keeps no more of them either."""


def read_request(text: str, *, is_strict: bool = False) -> PricingRequest:
    """Return the request of a test. Raises Invalid as `decode_evaluate` does."""
    return decode_evaluate(b'{"request":%s}' % text.encode("utf-8"), is_simulation=True, is_strict=is_strict)


def check_request(row: Mapping[str, Any]) -> None:
    """Check the request of a test that is written. Raises Invalid (INVALID_BASKET), with a detail for each fault."""
    text = row.get("request")
    if not isinstance(text, str) or not text.strip() or len(text) > REQUEST_MAX:
        return  # refused by what the entity declares
    faults = _faults(text)
    if faults:
        message = f"request is not a basket that can be priced: {faults[0].message}"
        details = [
            Detail(one.code, one.message, f"request/{one.target}" if one.target else "request") for one in faults
        ]
        raise Invalid("INVALID_BASKET", message, "request", details)


def _faults(text: str) -> list[Detail]:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        return [Detail("MALFORMED_JSON", f"It is not JSON: {error}.")]
    if not isinstance(document, dict):
        return [Detail("WRONG_TYPE", "It must be a JSON object.")]
    try:
        read_request(text, is_strict=True)
    except Invalid as error:
        return list(error.details) or [Detail(error.code, error.message, error.target)]
    payment = document.get("paymentInfo") or {}
    if sum(one.isdigit() for one in payment.get("cardNumber") or "") > CARD_DIGITS_MAX:
        target = "paymentInfo.cardNumber"
        message = f"`{target}` may have at most {CARD_DIGITS_MAX} digits: a test keeps no card number."
        return [Detail("TOO_LONG", message, target)]
    return []


async def _run(unit: AdminUnit, call: OperationCall) -> Result:
    """Run a test before the unit of work begins, and keep its result in it."""
    test_id = str((call.binding or {})["ID"])
    key = (RUN, test_id)
    verdict: Verdict | None = unit.prepared.get(key)
    if verdict is None:
        raise Unprepared(key, _running(unit.session.tenant or "", test_id))
    await store_verdict(unit.session, verdict, unit.at)
    return Result(key=call.binding, entity_set=call.entity_set)


def _running(tenant_id: str, test_id: str) -> Callable[[Context], Awaitable[Verdict]]:
    async def prepare(context: Context) -> Verdict:
        return await run_test(context, tenant_id, test_id, read_request)

    return prepare


async def _run_all(unit: AdminUnit, call: OperationCall) -> Result:
    given = call.parameters.get("promotionId")
    promotion_id = None if given is None else str(given).lower()
    key = (RUN_ALL, promotion_id)
    run: Run | None = unit.prepared.get(key)
    if run is None:
        raise Unprepared(key, _running_all(unit.session.tenant or "", promotion_id))
    kept = await store_verdicts(unit.session, run.verdicts, unit.at)
    passed = sum(one.has_passed for one in kept)
    left = run.left + len(run.verdicts) - len(kept)
    return Result(value={"passed": passed, "failed": len(kept) - passed, "left": left})


def _running_all(tenant_id: str, promotion_id: str | None) -> Callable[[Context], Awaitable[Run]]:
    async def prepare(context: Context) -> Run:
        return await run_tests(context, tenant_id, promotion_id, read_request)

    return prepare


OPERATIONS: AdminOperations = {RUN: _run, RUN_ALL: _run_all}
