"""Two rows of an import with one key: both are named with the key, unless that is a secret."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.workflows.imports.rows import importer_for
from promenade.workflows.imports.running import ImportRun, claim_import
from tests.workflows.imports.running.test_turns import Hurried
from tests.workflows.imports.running.yard import Yard, good


def _priority(code: str, **members: Any) -> dict[str, Any]:
    return {"code": code, "name": code, **members}


async def _work(yard: Yard, *, stretch_seconds: float = 60) -> None:
    """Carry out all jobs; with stretches of no time, a slice at a time and a part at most."""
    while held := await claim_import(yard.context, ""):
        run = ImportRun(yard.context, held, importer_for, Hurried(7), lambda: False, stretch_seconds=stretch_seconds)
        await run.carry_out()


async def _errors(yard: Yard, job_id: str) -> list[tuple[int, str, str]]:
    errors = await yard.every("ImportJobErrors", job_id=job_id)
    return sorted((row.row_number, row.code, row.message) for row in errors)


@pytest.mark.parametrize("stretch_seconds", [0, 60])
async def test_a_refused_row_names_the_earlier_row_and_the_key(yard: Yard, stretch_seconds: float) -> None:
    """However many parts, slices and stretches of a worker are between the two."""
    rows = [_priority(f"P{number}") for number in range(25)]
    rows[11] |= {"code": "P3"}
    rows[24] |= {"code": "P3"}
    job_id = await yard.accept(rows, entity="PriorityGroups")
    await _work(yard, stretch_seconds=stretch_seconds)
    assert await _errors(yard, job_id) == [
        (12, "ALREADY_EXISTS", "Rows 4 and 12 have the same code: P3."),
        (25, "ALREADY_EXISTS", "Rows 4 and 25 have the same code: P3."),
    ]
    assert (await yard.job(job_id)).message == "23 of 25 rows were imported, 2 failed."


async def test_a_key_that_another_row_of_the_tenant_has_is_told_as_before(yard: Yard) -> None:
    await yard.accept([_priority("P1")], entity="PriorityGroups")
    await _work(yard)
    job_id = await yard.accept([_priority("P1"), _priority("P2")], entity="PriorityGroups")
    await _work(yard)
    assert await _errors(yard, job_id) == [(1, "ALREADY_EXISTS", "Another row of PriorityGroups has this code.")]


async def test_an_import_of_all_or_nothing_names_both_rows(yard: Yard) -> None:
    rows = [_priority(code) for code in ("P1", "P2", "P1")]
    job_id = await yard.accept(rows, entity="PriorityGroups", continue_on_error=False, part_rows=2)
    await _work(yard)
    message = "Nothing was imported, because of row 3: Rows 1 and 3 have the same code: P1."
    assert (await yard.job(job_id)).message == message


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_rows_that_change_what_an_earlier_one_has_stored_are_told(yard: Yard, continue_on_error: bool) -> None:
    rows = [good(number % 9) for number in range(16)]
    job_id = await yard.accept(rows, continue_on_error=continue_on_error)
    await _work(yard, stretch_seconds=0)
    job = await yard.job(job_id)
    assert job.message == (
        "16 of 16 rows were imported. The same articleNumber twice, so that the later row counts: A0 (rows 1 and 10), "
        "A1 (rows 2 and 11), A2 (rows 3 and 12), A3 (rows 4 and 13), A4 (rows 5 and 14) and 2 more."
    )
    assert len(await yard.numbers()) == 9


async def test_a_coupon_code_is_not_told(yard: Yard) -> None:
    coupon_type = "aaaaaaaa-0000-4000-8000-000000000000"
    types = [{"ID": coupon_type, "code": "T", "name": "T", "status": "ACTIVE"}]
    await yard.accept(types, entity="CouponTypes")
    await _work(yard)
    codes = [{"couponType_ID": coupon_type, "code": "SECRET-CODE-123456789"} for _ in range(2)]
    job_id = await yard.accept(codes, entity="CouponCodes")
    await _work(yard)
    assert await _errors(yard, job_id) == [(2, "ALREADY_EXISTS", "Rows 1 and 2 have the same code.")]
