"""An accepted import is one job with its rows, once per key; a refused import leaves nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, PromenadeError, TooMany, Unavailable
from promenade.store.driver.unit import Database, Session
from promenade.store.imports.parts import PART_ROWS, Part, drop_parts, pack, read_part, unpack
from promenade.workflows.imports.accepting import ImportOrder, accept_import, check_room, find_accepted
from tests.workflows.shop import Shop, open_shop

ORDER = ImportOrder("Articles", "BULK_IMPORT", "erp", continue_on_error=False)
KEYED = replace(ORDER, key="k-1", key_scope="BULK_IMPORT")


@pytest.fixture
async def shop(database: Database) -> Shop:
    return await open_shop(database)


def rows(count: int) -> list[bytes]:
    return [json.dumps({"articleNumber": f"A-{number}", "name": "ä" * 20}).encode() for number in range(count)]


async def accept(shop: Shop, order: ImportOrder = ORDER, count: int = 3, **more: Any) -> Any:
    return await accept_import(shop.context, shop.tenant, order, pack(rows(count)), **more)


async def received(shop: Shop, job_id: str) -> list[tuple[int, bytes]]:
    """Return the rows of a job with their numbers, as a worker will read them."""
    found: list[tuple[int, bytes]] = []

    async def work(session: Session) -> list[Part]:
        parts: list[Part] = []
        while (part := await read_part(session, job_id, len(parts))) is not None:
            parts.append(part)
        return parts

    for part in await shop.context.database.read(work, tenant=shop.tenant):
        found += [(row.number, row.text) for row in unpack(part)]
    return found


async def tables(shop: Shop) -> dict[str, int]:
    names = ("ImportJobs", "import_work", "import_parts", "import_keys")
    return {name: await shop.count(name) for name in names}


SOME, MORE = PART_ROWS + 50, 2 * PART_ROWS + 100  # rows: two parts, and three
NOTHING = {"ImportJobs": 0, "import_work": 0, "import_parts": 0, "import_keys": 0}


@pytest.mark.parametrize("count", [1, PART_ROWS, PART_ROWS + 1, 5000])
def test_rows_are_read_from_their_parts_as_written(count: int) -> None:
    parts = list(pack(rows(count)))
    assert [row.text for part in parts for row in unpack(part)] == rows(count)
    assert [row.number for part in parts for row in unpack(part)] == list(range(1, count + 1))
    assert [part.part for part in parts] == list(range((count + PART_ROWS - 1) // PART_ROWS))
    assert sum(part.row_count for part in parts) == count


def test_a_part_is_bounded_in_bytes_and_a_long_row_has_one_of_its_own() -> None:
    long = json.dumps({"name": "x" * 3_000_000}).encode()
    parts = list(pack([b"1", long, b"2", b"3"]))
    assert [part.row_count for part in parts] == [1, 1, 2]
    assert [part.first_row for part in parts] == [1, 2, 3]
    assert unpack(parts[1])[0].text == long


def test_rows_keep_their_numbers_when_others_are_left_out() -> None:
    numbers = list(range(3, 3 * (PART_ROWS + 50), 3))
    parts = list(pack(rows(len(numbers)), numbers))
    assert [row.number for part in parts for row in unpack(part)] == numbers
    assert parts[1].first_row == numbers[PART_ROWS]


async def test_a_job_and_its_rows_are_there_when_it_is_accepted(shop: Shop) -> None:
    order = replace(KEYED, continue_on_error=True, rows_skipped=2, callback_url="https://erp.example/done")
    accepted = await accept(shop, order, MORE)
    assert not accepted.is_replay
    (job,) = await shop.rows("ImportJobs")
    assert (job.id, job.entity, job.source, job.status) == (accepted.job_id, "Articles", "BULK_IMPORT", "QUEUED")
    assert (job.total_rows, job.rows_skipped, job.rows_succeeded, job.rows_failed) == (MORE + 2, 2, 0, 0)
    assert (job.continue_on_error, job.idempotency_key, job.callback_url) == (True, "k-1", "https://erp.example/done")
    assert (job.created_by, job.created_at) == ("erp", shop.now[0])
    (work,) = await shop.rows("import_work")
    assert (work.job_id, work.source, work.user_name) == (accepted.job_id, "BULK_IMPORT", "erp")
    assert (work.next_part, work.attempts, work.due_at) == (0, 0, shop.now[0])
    assert await received(shop, accepted.job_id) == list(enumerate(rows(MORE), start=1))
    assert shop.context.imports_ready.is_set()


async def test_an_idempotency_key_is_valid_for_24_hours(shop: Shop) -> None:
    first = await accept(shop, KEYED)
    there = await tables(shop)
    shop.later(hours=23, minutes=59)
    again = await accept(shop, KEYED, 700)
    assert (again.job_id, again.is_replay) == (first.job_id, True)
    assert await tables(shop) == there
    found = await find_accepted(shop.context, shop.tenant, "BULK_IMPORT", "k-1")
    assert found is not None
    assert found.job_id == first.job_id
    shop.later(minutes=1)
    assert await find_accepted(shop.context, shop.tenant, "BULK_IMPORT", "k-1") is None
    later = await accept(shop, KEYED)
    assert not later.is_replay
    assert later.job_id != first.job_id
    assert (await accept(shop, KEYED)).job_id == later.job_id


async def test_an_idempotency_key_survives_a_clock_set_back_but_not_for_ever(shop: Shop) -> None:
    first = await accept(shop, KEYED)
    shop.later(hours=-1)
    assert (await accept(shop, KEYED)).job_id == first.job_id
    shop.later(days=-30)  # the clock was a month ahead when the key was used
    assert not (await accept(shop, KEYED)).is_replay


async def test_an_idempotency_key_belongs_to_one_tenant_and_kind_of_job(shop: Shop) -> None:
    first = await accept(shop, KEYED)
    other = await accept_import(shop.context, "tenant-b", KEYED, pack(rows(1)))
    assert not other.is_replay
    assert other.job_id != first.job_id
    message = await accept(shop, replace(KEYED, key_scope="MASTER_DATA"))
    assert not message.is_replay


async def test_a_digest_distinguishes_a_repeat_from_another_request(shop: Shop) -> None:
    order = replace(KEYED, digest=b"1" * 32)
    first = await accept(shop, order)
    assert (await accept(shop, order)).job_id == first.job_id
    there = await tables(shop)
    with pytest.raises(Conflict) as refused:
        await accept(shop, replace(order, digest=b"2" * 32), MORE)
    assert refused.value.code == "KEY_REUSED"
    with pytest.raises(Conflict):
        await find_accepted(shop.context, shop.tenant, "BULK_IMPORT", "k-1", b"2" * 32)
    assert await tables(shop) == there


async def test_a_tenant_has_no_more_jobs_at_once_than_it_may(shop: Shop) -> None:
    order = replace(ORDER, unfinished_max=2)
    for _ in range(2):
        await check_room(shop.context, shop.tenant, "BULK_IMPORT", 2)
        await accept(shop, order)
    there = await tables(shop)
    with pytest.raises(TooMany) as refused:
        await accept(shop, order, MORE)
    assert (refused.value.code, refused.value.retry_after_seconds) == ("TOO_MANY_JOBS", 5)
    with pytest.raises(TooMany):
        await check_room(shop.context, shop.tenant, "BULK_IMPORT", 2)
    assert await tables(shop) == there
    await accept(shop, replace(order, source="POS_BATCH"))  # jobs of another source are counted separately
    await accept_import(shop.context, "tenant-b", order, pack(rows(1)))


async def test_a_repeat_is_answered_however_many_jobs_there_are(shop: Shop) -> None:
    order = replace(KEYED, unfinished_max=1)
    first = await accept(shop, order)
    assert (await accept(shop, order)).job_id == first.job_id


async def test_only_one_of_32_concurrent_requests_with_one_key_creates_the_job(shop: Shop) -> None:
    answers = await asyncio.gather(*(accept(shop, replace(KEYED, unfinished_max=4), SOME) for _ in range(32)))
    assert len({answer.job_id for answer in answers}) == 1
    assert sum(not answer.is_replay for answer in answers) == 1
    assert await tables(shop) == {"ImportJobs": 1, "import_work": 1, "import_parts": 2, "import_keys": 1}


async def test_concurrent_requests_cannot_exceed_the_limit_of_jobs(shop: Shop) -> None:
    order = replace(ORDER, unfinished_max=4)
    answers = await asyncio.gather(*(accept(shop, order, SOME) for _ in range(24)), return_exceptions=True)
    assert sum(isinstance(answer, TooMany) for answer in answers) == 20
    assert await tables(shop) == {"ImportJobs": 4, "import_work": 4, "import_parts": 8, "import_keys": 0}


async def test_additional_writes_are_committed_with_the_job_or_not_at_all(shop: Shop) -> None:
    async def also(session: Session, job_id: str) -> None:
        raise Invalid("NO", f"Not with {job_id}.")

    with pytest.raises(Invalid):
        await accept(shop, KEYED, MORE, also=also)
    assert await tables(shop) == NOTHING


@pytest.mark.parametrize("error", [Invalid("NO", "A row is wrong."), OSError("No space left on device")])
async def test_an_interrupted_stream_of_rows_leaves_nothing(shop: Shop, error: Exception) -> None:
    def breaking() -> Iterator[Part]:
        yield from pack(rows(3 * PART_ROWS))
        raise error

    with pytest.raises(type(error)):
        await accept_import(shop.context, shop.tenant, KEYED, breaking())
    assert await tables(shop) == NOTHING


async def test_rows_are_kept_if_the_outcome_of_the_commit_is_unknown(shop: Shop) -> None:
    """The connection broke at the commit: if the rows were removed, the job might exist without them."""

    async def also(session: Session, job_id: str) -> None:
        raise Unavailable("DATABASE_UNAVAILABLE", "The connection broke.")

    with pytest.raises(PromenadeError):
        await accept(shop, KEYED, MORE, also=also)
    assert await shop.count("import_parts") == 2  # left for the purge


async def test_deleting_a_job_deletes_only_its_own_parts(shop: Shop) -> None:
    one, other = await accept(shop, count=MORE), await accept(shop, count=SOME)
    await shop.context.database.write(lambda session: drop_parts(session, one.job_id), tenant=shop.tenant)
    assert await received(shop, one.job_id) == []
    assert len(await received(shop, other.job_id)) == SOME
