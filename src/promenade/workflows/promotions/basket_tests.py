"""Tests of prices: what they expect is compared with what their baskets cost by the present promotions.

A run stores nothing but its result: baskets are priced without a trace, at the time that their requests name. A test
that names its time also knows those of its expected promotions that have expired since: what ended them is time. A
promotion that only gives points or coupons for later may be expected, but is never one too many, because a planner does
not see it in a price.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from promenade.engine.catalogue import compile_promotion
from promenade.engine.definition import DefinitionError, PromotionDefinition
from promenade.engine.inspection.finding import INFO, WARNING, Finding, named
from promenade.engine.money import decimal_text, minor_digits
from promenade.engine.outcome import Outcome
from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.authoring.statements import Columns, read_rows, update_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.catalogue import TenantCatalogue
from promenade.store.promotions.basket_tests import read_expired, read_tests
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricingRequest, try_out

RUN_MAX = 100
"""Tests of one run."""

RUN_SECONDS = 10.0

CHECKED_MAX = 50
"""Tests of one check of a promotion."""

CHECKED_SECONDS = 5.0

_DIFFERENCE_MAX = 1000
_COMPARED = ("request", "expected_total", "currency", "expected_promotions")

ReadRequest = Callable[[str], PricingRequest]
"""Reads the request of a test. Raises Invalid."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out of a test; ``total`` None: its basket could not be priced."""

    test: Columns
    total: Decimal | None
    promotions: tuple[str, ...]
    difference: str | None

    @property
    def has_passed(self) -> bool:
        return self.difference is None


@dataclass(frozen=True, slots=True)
class Run:
    """Verdicts of a run; ``left``: how many of the tests that were asked for it had no room or time for."""

    verdicts: tuple[Verdict, ...]
    left: int


async def run_test(context: Context, tenant_id: str, test_id: str, read: ReadRequest) -> Verdict:
    """Run a test. Raises NotFound."""

    async def work(session: Session) -> list[Columns]:
        return await read_rows(session, "BasketTests", "id", (test_id,))

    rows = await context.database.read(work, tenant=tenant_id)
    if not rows:
        raise NotFound("NOT_FOUND", "There is no such test.")
    trial = await _trial(context, tenant_id, await context.catalogues.current(tenant_id), rows)
    return await _verdict(context, tenant_id, rows[0], read, trial)


async def run_tests(context: Context, tenant_id: str, promotion_id: str | None, read: ReadRequest) -> Run:
    """Run all tests or those of a promotion, those first that have not run for the longest time."""

    async def work(session: Session) -> tuple[list[Columns], int]:
        return await read_tests(session, RUN_MAX, of=promotion_id)

    rows, total = await context.database.read(work, tenant=tenant_id)
    trial = await _trial(context, tenant_id, await context.catalogues.current(tenant_id), rows)
    verdicts = await _in_turn(rows, RUN_SECONDS, lambda row: _verdict(context, tenant_id, row, read, trial))
    return Run(tuple(verdicts), total - len(verdicts))


async def store_verdicts(session: Session, verdicts: Sequence[Verdict], at: datetime) -> list[Verdict]:
    """Keep what came out as the last run of each test; return it without tests that have changed meanwhile."""
    rows = await read_rows(session, "BasketTests", "id", {one.test["id"] for one in verdicts}, lock="update")
    there = {row["id"]: tuple(row[name] for name in _COMPARED) for row in rows}
    kept = [one for one in verdicts if there.get(one.test["id"]) == tuple(one.test[name] for name in _COMPARED)]
    await update_rows(session, "BasketTests", [(one.test["id"], _result(one, at)) for one in kept])
    return kept


async def store_verdict(session: Session, verdict: Verdict, at: datetime) -> None:
    """Keep the result of one test. Raises Conflict (CHANGED_MEANWHILE)."""
    if not await store_verdicts(session, (verdict,), at):
        raise Conflict("CHANGED_MEANWHILE", "The test has changed while it ran; run it again.")


def _result(verdict: Verdict, at: datetime) -> Columns:
    return {
        "status": "PASSED" if verdict.has_passed else "FAILED",
        "last_run_at": at,
        "actual_total": verdict.total,
        "actual_promotions": list(verdict.promotions),
        "difference": verdict.difference,
    }


# --- as part of the check of a promotion ------------------------------------------------------------------------------


async def findings_of_tests(
    context: Context, tenant_id: str, known: TenantCatalogue, definition: PromotionDefinition, read: ReadRequest
) -> list[Finding]:
    """Return a warning for each test that would fail with the promotion active.

    Those of the promotion count, then those that belong to none. Nothing is said of a promotion that cannot run.
    """

    async def work(session: Session) -> tuple[list[Columns], int]:
        return await read_tests(session, CHECKED_MAX, of=definition.id, with_general=True)

    rows, total = await context.database.read(work, tenant=tenant_id)
    active = as_active(definition)
    if not rows or not _can_run(active):
        return []
    trial = await _trial(context, tenant_id, known, rows, active)
    verdicts = await _in_turn(rows, CHECKED_SECONDS, lambda row: _verdict(context, tenant_id, row, read, trial))
    found = [_finding(one) for one in verdicts if not one.has_passed]
    left = total - len(verdicts)
    if left:
        message = f"Of {total} tests, {len(verdicts)} were run with the promotion active; {left} were not."
        found.append(Finding("BASKET_TESTS_MORE", INFO, message, "BasketTests"))
    return found


def as_active(definition: PromotionDefinition) -> PromotionDefinition:
    """The promotion as it is once it is active everywhere; its validity stays, because a test names its time."""
    return replace(definition, status="ACTIVE")


def _can_run(definition: PromotionDefinition) -> bool:
    try:
        compile_promotion(definition)
    except DefinitionError:
        return False
    return True


def _finding(verdict: Verdict) -> Finding:
    name = verdict.test["name"]
    message = f'The test "{name}" would fail with the promotion active. {verdict.difference}'
    return Finding("BASKET_TEST_FAILS", WARNING, message, "BasketTests", verdict.test["id"])


# --- one test ---------------------------------------------------------------------------------------------------------


async def _in_turn(
    rows: Sequence[Columns], seconds: float, run: Callable[[Columns], Awaitable[Verdict]]
) -> list[Verdict]:
    """Run one after the other until the time is over; the first one always."""
    began = time.monotonic()
    verdicts: list[Verdict] = []
    for row in rows:
        if verdicts and time.monotonic() - began > seconds:
            break
        verdicts.append(await run(row))
    return verdicts


async def _trial(
    context: Context, tenant_id: str, known: TenantCatalogue, rows: Sequence[Columns], *tried: PromotionDefinition
) -> TenantCatalogue | None:
    """Return the catalogue for tests with ``tried`` and with what has expired since; None: the present one."""
    keys = {key for row in rows if row["priced_at"] is not None for key in row["expected_promotions"] or ()}

    async def work(session: Session) -> list[PromotionDefinition]:
        return await read_expired(session, keys, known.surroundings.places)

    expired = await context.database.read(work, tenant=tenant_id) if keys else []
    others = [as_active(one) for one in expired if one.id not in {each.id for each in tried}]
    return await known.trial(*others, *tried) if others or tried else None


async def _verdict(
    context: Context, tenant_id: str, test: Columns, read: ReadRequest, trial: TenantCatalogue | None
) -> Verdict:
    try:
        request = replace(read(test["request"]), include_missed=False)
        priced = await try_out(context, tenant_id, request, trial)
    except Invalid as error:
        return Verdict(test, None, (), f"The basket cannot be priced: {error.message}"[:_DIFFERENCE_MAX])
    known = trial or await context.catalogues.get(tenant_id)
    codes = {one.promotion_id: _code(known, one.promotion_id) for one in priced.outcome.applied}
    return _compared(test, priced.outcome, codes)


def _code(known: TenantCatalogue, promotion_id: str) -> str:
    definition = known.definitions.get(promotion_id)
    return promotion_id if definition is None else definition.code or promotion_id


def _compared(test: Columns, outcome: Outcome, codes: Mapping[str, str]) -> Verdict:
    """Compare an outcome with what is expected of it: minor units, and sets of promotions."""
    digits = minor_digits(outcome.currency)
    total = Decimal(outcome.grand_total_minor).scaleb(-digits)
    said: list[str] = []
    if (test["expected_total"], test["currency"]) != (total, outcome.currency):
        expected = f"{_amount(test['expected_total'], test['currency'])} {test['currency']}"
        got = f"{decimal_text(outcome.grand_total_minor, digits)} {outcome.currency}"
        said.append(f"Expected total {expected}, got {got}.")
    wanted = set(test["expected_promotions"] or ())
    missing = sorted(wanted - set(codes.values()))
    too_many = sorted({codes[one] for one in _seen(outcome)} - wanted)
    if missing:
        said.append(f"Promotions missing: {named(missing)}.")
    if too_many:
        said.append(f"Promotions too many: {named(too_many)}.")
    promotions = tuple(dict.fromkeys(codes.values()))
    return Verdict(test, total, promotions, " ".join(said)[:_DIFFERENCE_MAX] or None)


def _seen(outcome: Outcome) -> set[str]:
    """Return the promotions that change the price, give something now, or took a coupon."""
    by_coupon = {promotion_id for use in outcome.coupons_used for promotion_id in use.promotion_ids}
    given = {one.promotion_id for one in outcome.applied if one.discount_minor or one.give_away_minor}
    return given | by_coupon | {one.promotion_id for one in outcome.granted}


def _amount(value: Decimal, currency: str) -> str:
    digits = minor_digits(currency)
    return decimal_text(int(value.scaleb(digits)), digits)
