"""Reads of tests of prices, and of the promotions that they name."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from promenade.engine.definition import PromotionDefinition
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.definitions import Places, PromotionRows
from promenade.store.pricing.promotion_rows import read_parts, read_rows_in_any_status


async def count_tests(session: Session) -> int:
    """Return the number of the tenant's tests."""
    (row,) = await session.execute(select(func.count()).select_from(table("BasketTests")))
    return int(row[0])


async def read_codes(session: Session, keys: Collection[str]) -> dict[str, str]:
    """Return, for codes and IDs of promotions, by what tests name the promotion: its code, else its ID.

    Those that name no promotion are left out.
    """
    plain = {key for key in keys if key and "\0" not in key}
    by_code = await read_rows(session, "Promotions", "code", plain) if plain else []
    by_id = await read_rows(session, "Promotions", "id", {key.lower() for key in plain}) if plain else []
    names = {row["id"]: row["code"] or row["id"] for row in by_id}
    found = {row["code"]: row["code"] for row in by_code}
    return found | {key: names[key.lower()] for key in plain - found.keys() if key.lower() in names}


async def read_expired(session: Session, keys: Collection[str], places: Places) -> list[PromotionDefinition]:
    """Return those of the promotions with these codes, or IDs, that have expired."""
    named = [row for column in ("code", "id") for row in await read_rows(session, "Promotions", column, keys)]
    ids = sorted({row["id"] for row in named if row["status"] == "EXPIRED"})
    if not ids:
        return []
    rows = PromotionRows(await read_rows_in_any_status(session, ids), await read_parts(session, ids))
    return list(rows.definitions(places).values())


async def read_tests(
    session: Session, most: int, *, of: str | None = None, with_general: bool = False
) -> tuple[list[Columns], int]:
    """Return tests, first those whose last run is the longest ago, at most so many; and how many there are.

    ``of``: only those of a promotion; ``with_general``: and after them those that belong to no promotion.
    """
    tests = table("BasketTests")
    statement: Select[tuple[str]] = select(tests.c.id)
    order: list[ColumnElement[Any]] = [tests.c.last_run_at.is_not(None), tests.c.last_run_at, tests.c.id]
    if of is not None:
        own, is_general = tests.c.promotion_id == of, tests.c.promotion_id.is_(None)
        statement = statement.where(or_(own, is_general) if with_general else own)
        order = [is_general, *order]
    ids = [row[0] for row in await session.execute(statement.order_by(*order))]
    by_id = {row["id"]: row for row in await read_rows(session, "BasketTests", "id", ids[:most])}
    return [by_id[key] for key in ids[:most] if key in by_id], len(ids)
