"""Helpers for the tests of money reports: reading reports, and sales that charge budgets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select

from promenade import model
from promenade.store.driver.unit import Session
from promenade.store.odata.services import rows_of
from promenade.workflows.reports import Period, exports
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

__all__ = ["exported", "read_report", "report", "sell", "take_back"]


async def read_report(shop: Shop, set_name: str, **where: Any) -> Sequence[Row[Any]]:
    """Return the rows of a report, as /reporting reads them."""
    rows = rows_of(model.entity(set_name))
    statement = select(rows)
    for column, value in where.items():
        statement = statement.where(rows.c[column] == value)

    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(statement)

    return await shop.context.database.read(work, tenant=shop.tenant)


async def report(shop: Shop, set_name: str, **named: str) -> Row[Any]:
    """Return the one row of a report with the given keys."""
    (row,) = await read_report(shop, set_name, **{key: identity(name) for key, name in named.items()})
    return row


async def sell(shop: Shop, transaction: str, minor: int, *budgets: str, promotion: str = "off") -> None:
    """Sell two pieces for 10.00 with this discount on each, charged to the budgets."""
    priced = outcome(
        (line("1", 2000, 1000, discount(promotion, ((2, minor),))),),
        (applied(promotion, 2 * minor, budget_ids=budgets),),
    )
    await shop.confirm(transaction, await shop.price(transaction, priced), promotion)


async def take_back(shop: Shop, transaction: str, sale: str) -> None:
    """Return one of the two pieces of a sale."""
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm(transaction, await shop.price(transaction, back, sales={"9": (sale, "1")}))


async def exported(
    shop: Shop, report_type: str, since: datetime, until: datetime, **named: str
) -> list[dict[str, Any]]:
    """Return the rows of an export of a period; ``named`` are a promotion or a stakeholder."""
    ids = {key: identity(name) for key, name in named.items()}
    period = Period(tenant_id=shop.tenant, since=since, until=until, **ids)
    rows = [dict(row) async for row in exports()[report_type].rows(shop.context, period)]
    assert all(list(row) == list(exports()[report_type].columns) for row in rows)
    return rows
