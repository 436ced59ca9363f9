"""The books of the cloud and of its stores, read from their databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.log_parts import unpack
from tests.web.replica.link.chain import with_database

__all__ = ["Books", "is_done", "read_books"]

Key = tuple[str, int]

READING_SECONDS_MAX = 900.0  # of many sales

_SETS = ("CalculationLogs", "BudgetConsumptions", "Budgets", "CouponCodes", "RedemptionLogs", "LoyaltyTransactions",
         "Promotions", "LocalDeployments", "store_shares", "sync_uploads", "promotion_usage",
         "calculation_log_parts")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Books:
    """All rows of the tables changed during the week."""

    rows: Mapping[str, Sequence[Row[Any]]]

    def sales(self, origin: str) -> dict[Key, Decimal]:
        """Return the amount paid in each confirmed sale of an origin; a duplicate sale is a failure."""
        found: dict[Key, Decimal] = {}
        for log in self.rows["CalculationLogs"]:
            if log.origin == origin and log.status == "CALCULATED":
                key = (log.transaction_id, log.transaction_counter)
                assert key not in found, f"{key} was confirmed twice"
                found[key] = log.grand_total
        return found

    def refused(self, origin: str) -> list[str]:
        """Return the refused confirms with their reasons."""
        return [
            f"{log.transaction_id}: {log.message}"
            for log in self.rows["CalculationLogs"]
            if log.origin == origin and log.status == "FAILED"
        ]

    def beyond_limit(self, promotion_id: str) -> int:
        """Return the number of sales to which the promotion applied when its limit in total was used up."""
        return sum(
            one.promotion_id == promotion_id and one.exceeded_limit in ("TOTAL", "BOTH")
            for parts in self.rows["calculation_log_parts"]
            for one in unpack("CalculationLogPromotions", parts.log_id, parts.promotions)
        )

    def spent(self, budget: str, origin: str | None = None) -> Decimal:
        """Return the amount that sales have charged to a budget."""
        of_budget = [one for one in self.rows["BudgetConsumptions"] if one.budget_id == budget]
        return sum((one.amount for one in of_budget if origin is None or one.origin == origin), Decimal(0))

    def charges(self, origin: str) -> dict[tuple[str, int, str], tuple[Decimal, Decimal]]:
        """Return the charges of an origin's sales by sale and promotion, and the covered part."""
        found: dict[tuple[str, int, str], tuple[Decimal, Decimal]] = {}
        for one in self.rows["BudgetConsumptions"]:
            if one.origin == origin:
                key = (one.transaction_id, one.transaction_counter, one.promotion_id)
                assert key not in found, f"{key} was charged twice"
                found[key] = (one.amount + one.uncovered_amount, one.amount)
        return found

    def points(self, origin: str) -> Counter[tuple[str, int, str, int]]:
        """Return every points booking of an origin's sales."""
        return Counter(
            (one.transaction_id, one.transaction_counter, one.customer_id, one.points)
            for one in self.rows["LoyaltyTransactions"]
            if one.origin == origin
        )

    def redeemed(self) -> Counter[str]:
        """Return the number of redemptions of each code, by its ID."""
        logs = self.rows["RedemptionLogs"]
        return Counter(one.coupon_code_id for one in logs if one.action == "REDEEMED" and one.coupon_code_id)

    def one(self, set_name: str, row_id: str) -> Row[Any]:
        (found,) = [one for one in self.rows[set_name] if one.id == row_id]
        return found


def read_books(database_url: str) -> Books:
    """Read all tables in one snapshot: stores return and receive grants all the time."""

    async def read(session: Session) -> Books:
        return Books({name: await session.execute(select(table(name))) for name in _SETS})

    async def work(database: Database) -> Books:
        return await database.read(read, system=True)

    return with_database(database_url, work, seconds_max=READING_SECONDS_MAX)


def is_done(database_url: str) -> bool:
    """Return whether all effects of its sales are finished."""
    jobs = table("side_effect_jobs")
    unfinished = select(jobs.c.id).where(jobs.c.status.in_(("PENDING", "RUNNING"))).limit(1)

    async def read(session: Session) -> bool:
        return not await session.execute(unfinished)

    async def work(database: Database) -> bool:
        return await database.read(read, system=True)

    return with_database(database_url, work)
