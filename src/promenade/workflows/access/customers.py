"""Tell a person what is stored about them: the rows that name a retailer's customer, by the customer's ID."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from promenade.errors import Invalid
from promenade.store.access import customers as store
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.iterations import find_baskets
from promenade.workflows.access.tenants import require_tenant
from promenade.workflows.context import Context

PORTION = 200
"""Records of one unit of work at most."""

ID_LENGTH_MAX = 50


@dataclass(frozen=True, slots=True)
class Record:
    """Something stored about a customer: its ``kind``, such as CalculationLogs, and ``values`` ready for JSON."""

    kind: str
    values: Mapping[str, Any]


async def begin_export(
    context: Context, tenant_id: str, customer_id: str, *, user: str, agent: str | None = None
) -> AsyncGenerator[Record, None]:
    """Let the audit trail say that somebody is told about a customer, without the ID, and return the records.

    Raises what `export_customer` does.
    """
    check_customer_id(customer_id)
    await require_tenant(context.database, tenant_id)
    subject = Subject("Customers", context.new_id(), "Customers")
    entry = trail_entry(context.new_id(), context.clock(), user, "EXPORT", subject)

    async def work(session: Session) -> None:
        await write_trail(session, [entry])

    await context.database.write(work, tenant=tenant_id, agent=agent)
    return export_customer(context.database, tenant_id, customer_id)


async def export_customer(database: Database, tenant_id: str, customer_id: str) -> AsyncGenerator[Record, None]:
    """Yield the rows of a tenant that name a customer's ID, table by table.

    A calculation log comes with its lines and promotions, and with the basket as the till sent it while that is kept.
    Reads in short units of work, so what is written meanwhile may or may not be told. Raises Invalid (VALUE_REQUIRED,
    VALUE_TOO_LONG) for what cannot be an ID and NotFound (TENANT_NOT_FOUND).
    """
    check_customer_id(customer_id)
    await require_tenant(database, tenant_id)
    for name in store.tables_of_customers():
        after: store.Key | None = None
        while True:
            records, after = await database.read(_reading(name, customer_id, after), tenant=tenant_id)
            for record in records:
                yield record
            if after is None:
                break


def check_customer_id(customer_id: str) -> None:
    """Raise Invalid (VALUE_REQUIRED, VALUE_TOO_LONG) for what cannot be the ID of a customer."""
    if not customer_id:
        raise Invalid("VALUE_REQUIRED", "The customer's ID is missing.", "customerId")
    if len(customer_id) > ID_LENGTH_MAX:
        raise Invalid("VALUE_TOO_LONG", f"A customer's ID has at most {ID_LENGTH_MAX} characters.", "customerId")


def _reading(name: str, customer_id: str, after: store.Key | None) -> Any:
    async def work(session: Session) -> tuple[list[Record], store.Key | None]:
        rows, following = await store.read_rows(session, name, customer_id, after, PORTION)
        records = [Record(_pascal(name), _camel(row)) for row in rows]
        if name == "calculation_logs":
            records += await _sold(session, rows)
        return records, following

    return work


async def _sold(session: Session, logs: list[Mapping[str, Any]]) -> list[Record]:
    """Return what belongs to calculation logs: lines and promotions, and baskets that are still kept."""
    parts = await store.read_parts(session, [log["id"] for log in logs])
    baskets = await find_baskets(session, [_evaluation(log) for log in logs])
    found: list[Record] = []
    for log in logs:
        if log["id"] in parts:
            lines, promotions = parts[log["id"]]
            found.append(Record("CalculationLogParts", {"logId": log["id"], "lines": lines, "promotions": promotions}))
        if _evaluation(log) in baskets:
            basket = msgspec.to_builtins(baskets[_evaluation(log)])
            basket.pop("coupons", None)  # codes are secret, and may be another one's
            found.append(Record("Baskets", {"logId": log["id"], "basket": basket}))
    return found


def _evaluation(log: Mapping[str, Any]) -> tuple[str, str, int]:
    return log["origin"], log["transaction_id"], log["transaction_counter"]


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _camel(row: Mapping[str, Any]) -> dict[str, Any]:
    return {_pascal(name)[0].lower() + _pascal(name)[1:]: value for name, value in row.items()}
