"""Cached statements find, change and delete the right rows, of the session's tenant only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from promenade.store.authoring.faults import BrokenConstraint, guarded
from promenade.store.authoring.statements import delete_rows, find_keys, insert_rows, read_ids, read_rows, update_rows
from promenade.store.drafts.ownership import Draft, begin_draft, find_draft, touch_draft
from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database
from promenade.store.driver.tenancy import TenantBreach
from promenade.store.driver.unit import Session

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
MANY = 150


def article(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"a{number:03}", "article_number": f"N{number:03}", "name": f"Article {number}", **more}


async def names(database: Database, tenant: str) -> dict[str, str]:
    articles = table("Articles")
    rows = await database.read(lambda session: session.execute(select(articles)), tenant=tenant)
    return {row.id: row.name for row in rows}


@pytest.mark.parametrize("many", [1, 2, 3, 64, 65, MANY])
async def test_lists_of_any_length_match_exactly_the_named_rows(database: Database, many: int) -> None:
    wanted = [article(number) for number in range(many)]
    ids = [one["id"] for one in wanted]
    numbers = {(one["article_number"],) for one in wanted}
    both = {(one["id"], one["article_number"]) for one in wanted} | {("a000", "N149")}

    async def work(session: Session) -> None:
        await insert_rows(session, "Articles", [article(number) for number in range(MANY)])
        assert [row["id"] for row in await read_rows(session, "Articles", "id", [*ids, "none"])] == ids
        assert await read_ids(session, "Articles", ids) == set(ids)
        assert {row_id for row_id, _ in await find_keys(session, "Articles", ("article_number",), numbers)} == set(ids)
        found = await find_keys(session, "Articles", ("id", "article_number"), both)
        assert {key for _, key in found} == both - ({("a000", "N149")})
        await delete_rows(session, "Articles", ids)

    await database.write(work, tenant="t1")
    assert len(await names(database, "t1")) == MANY - many


@pytest.mark.parametrize("many", [1, 64, 65, 999, 1000, 1001, 2500])
async def test_any_number_of_values_is_read_whatever_texts_and_integers_they_are(database: Database, many: int) -> None:
    articles = table("Articles")
    odd = ("", "'", '"', "\\", "%", "[1]", "null", "\x1f", "é\U0001f600", "N1 ")
    numbers = [*odd, *(f"N{number}" for number in range(2500))]
    given = [article(at, article_number=number, version=at % 3) for at, number in enumerate(numbers)]
    wanted = [(one["article_number"], one["version"] if at % 2 else 7) for at, one in enumerate(given)][:many]
    listed = select(articles.c.article_number, articles.c.version)

    async def work(session: Session) -> None:
        await insert_rows(session, "Articles", given)
        texts = await read_among(session, (articles.c.article_number,), [one for one, _ in wanted], listed.where)
        assert sorted(row.article_number for row in texts) == sorted(one for one, _ in wanted)
        both = await read_among(session, (articles.c.article_number, articles.c.version), wanted, listed.where)
        assert sorted(map(tuple, both)) == sorted(wanted[1::2])
        whole = await read_among(session, (articles.c.version,), [*range(2, 2 + many)], listed.where)
        assert {row.version for row in whole} == {2}

    await database.write(work, tenant="t1")
    assert not await database.read(
        lambda session: read_among(session, (articles.c.article_number,), numbers, listed.where), tenant="t2"
    )


async def test_nothing_of_another_tenant_is_changed_or_deleted(database: Database) -> None:
    # One tenant compiles the statement, the other then reuses it.
    for tenant in ("t1", "t2"):
        await database.write(lambda session: insert_rows(session, "Articles", [article(1)]), tenant=tenant)

    for tenant, other in (("t1", "t2"), ("t2", "t1")):
        before = await names(database, other)

        async def rename(session: Session, name: str = f"Of {tenant}") -> None:
            await update_rows(session, "Articles", [("a001", {"name": name})])

        await database.write(rename, tenant=tenant)
        assert await names(database, tenant) == {"a001": f"Of {tenant}"}
        assert await names(database, other) == before

    await database.write(lambda session: delete_rows(session, "Articles", ["a001"]), tenant="t1")
    assert (await names(database, "t1"), await names(database, "t2")) == ({}, {"a001": "Of t2"})
    with pytest.raises(TenantBreach):
        await database.write(lambda session: insert_rows(session, "Articles", [article(2)]))
    await database.write(lambda session: delete_rows(session, "Articles", ["a001"]))
    assert await names(database, "t2") == {"a001": "Of t2"}


async def test_a_unit_that_only_runs_cached_statements_is_committed(database: Database) -> None:
    draft = Draft("d1", "Campaigns", "c1", "ann", NOW)
    later = NOW.replace(hour=13)
    await database.write(lambda session: begin_draft(session, draft), tenant="t1")
    await database.write(lambda session: touch_draft(session, draft, later), tenant="t1")
    found = await database.read(lambda session: find_draft(session, "Campaigns", "c1"), tenant="t1")
    assert found is not None
    assert found.changed_at == later


async def test_a_failed_guarded_part_is_rolled_back_and_the_rest_is_committed(database: Database) -> None:
    async def twice(session: Session) -> None:
        async with guarded(session):
            await insert_rows(session, "Articles", [article(2)])
            await insert_rows(session, "Articles", [article(3, article_number="N001")])

    async def after_a_part(session: Session) -> None:
        async with guarded(session):
            async with guarded(session):
                await insert_rows(session, "Articles", [article(5)])
            await update_rows(session, "Articles", [("a004", {"article_number": "N001"})])

    async def work(session: Session) -> None:
        async with guarded(session):
            await insert_rows(session, "Articles", [article(1)])
            with pytest.raises(BrokenConstraint) as broken:
                await twice(session)
            assert (broken.value.set_name, broken.value.columns) == ("Articles", ("article_number",))
            async with guarded(session):
                await insert_rows(session, "Articles", [article(4)])
        with pytest.raises(BrokenConstraint):
            await after_a_part(session)
        await update_rows(session, "Articles", [("a001", {"name": "Kept"})])

    await database.write(work, tenant="t1")
    assert await names(database, "t1") == {"a001": "Kept", "a004": "Article 4"}
