"""A year of a large retailer's sales and their aggregates, written directly into the tables.

The sums are random, not aggregated: a report's duration depends on the number of rows, not on their values.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice, product
from typing import Any

import asyncpg
import msgspec
import sqlalchemy as sa

from promenade.store.driver.schema import metadata, table
from promenade.store.driver.types import ExactDecimal, PackedJson, Timestamp
from promenade.store.sales.log_parts import BLOCK_LOGS, LINE, PROMOTION, pack

__all__ = ["DAYS", "UNTIL", "Size", "fill", "identity"]

DAYS = 365
UNTIL = datetime(2026, 6, 1, tzinfo=UTC)
SINCE = UNTIL - timedelta(days=DAYS)
DISCOUNTS_PER_SALE = 2.5
CHUNK = 20_000
_AMOUNTS = {
    "line_reference": "1",
    **dict.fromkeys(("quantity", "unit_price", "line_total", "line_discount", "line_net"), Decimal(1)),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Size:
    """The volume: line discounts in the logs, applied promotions, POS groups, articles of each."""

    discounts: int
    promotions: int = 1_000
    places: int = 200
    articles: int = 500
    advised: int = 200
    trials: int = 50


def identity(kind: int, number: int) -> str:
    """Return a UUID of the benchmark; ascending, as keys of a log are."""
    return f"{number:08x}-{kind:04x}-4000-8000-000000000000"


def fill(database_url: str, tenant_id: str, size: Size, budgets: Sequence[str], promotions: Sequence[str]) -> int:
    """Write all rows for a tenant with these budgets and promotions; return their number."""
    rows = _Rows(tenant_id, size, budgets, promotions)
    if database_url.startswith("sqlite:///"):
        return _into_sqlite(database_url.removeprefix("sqlite:///"), rows)
    return asyncio.run(_into_postgresql(database_url, rows))


def _into_sqlite(path: str, rows: _Rows) -> int:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    written = 0
    for name, found in rows.all():
        columns = [column.name for column in metadata.tables[name].c]
        names = ", ".join(f'"{column}"' for column in columns)
        insert = f"INSERT INTO {name} ({names}) VALUES ({', '.join('?' for _ in columns)})"
        encode = _encoder(name, _for_sqlite)
        while chunk := [encode(row) for row in islice(found, CHUNK)]:
            connection.execute("BEGIN")
            connection.executemany(insert, chunk)
            connection.execute("COMMIT")
            written += len(chunk)
    connection.execute("ANALYZE")
    connection.close()
    return written


async def _into_postgresql(url: str, rows: _Rows) -> int:
    connection = await asyncpg.connect(url)
    written = 0
    for name, found in rows.all():
        encode, columns = _encoder(name, _as_it_is), [column.name for column in metadata.tables[name].c]
        while chunk := [encode(row) for row in islice(found, CHUNK)]:
            await connection.copy_records_to_table(name, records=chunk, columns=columns)
            written += len(chunk)
    await connection.execute("ANALYZE")
    await connection.close()
    return written


# ---- values -------------------------------------------------------------------------------------------------------


def _encoder(name: str, convert: Callable[[sa.Column[Any]], Callable[[Any], Any]]) -> Any:
    """Return an encoder of rows by column name for the driver; missing values get a default of the column's type."""
    columns = [(column.name, convert(column), _something(column)) for column in metadata.tables[name].c]

    def encode(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple([value(row[key]) if key in row else value(some()) for key, value, some in columns])

    return encode


def _as_it_is(column: sa.Column[Any]) -> Callable[[Any], Any]:
    if isinstance(column.type, PackedJson):
        return lambda value: msgspec.json.encode(value).decode()
    return lambda value: value


def _for_sqlite(column: sa.Column[Any]) -> Callable[[Any], Any]:
    kind = column.type
    if isinstance(kind, Timestamp):
        return lambda value: None if value is None else (value - _EPOCH) // _MICROSECOND
    if isinstance(kind, ExactDecimal):
        scale = kind.scale
        return lambda value: None if value is None else int(value.scaleb(scale))
    if isinstance(kind, sa.Date):
        return lambda value: None if value is None else value.isoformat()
    if isinstance(kind, PackedJson):
        return lambda value: zlib.compress(msgspec.json.encode(value), 1)
    return lambda value: value


_DRAW = random.Random(7)


def _something(column: sa.Column[Any]) -> Callable[[], Any]:
    kind = column.type
    if isinstance(kind, ExactDecimal):
        scale = min(2, kind.scale)
        return lambda: Decimal(_DRAW.randrange(1, 900)).scaleb(-scale)
    if isinstance(kind, Timestamp):
        return lambda: SINCE + timedelta(seconds=_DRAW.randrange(DAYS * 86_400))
    if isinstance(kind, sa.Date):
        return lambda: SINCE.date() + timedelta(days=_DRAW.randrange(DAYS))
    if isinstance(kind, sa.Boolean):
        return lambda: False
    if isinstance(kind, (sa.Integer, sa.BigInteger)):
        return lambda: _DRAW.randrange(1, 500)
    if isinstance(kind, sa.LargeBinary):
        return lambda: None if column.nullable else b""
    return lambda: None if column.nullable else "x"


# ---- rows ---------------------------------------------------------------------------------------------------------


class _Rows:
    """All rows, table by table; those of ``promotions`` come first, the others belong to deleted promotions."""

    def __init__(self, tenant_id: str, size: Size, budgets: Sequence[str], promotions: Sequence[str]) -> None:
        self._tenant_id = tenant_id
        self._size = size
        self._budgets = budgets
        own = list(promotions[: size.promotions])
        self._promotions = own + [identity(1, number) for number in range(size.promotions - len(own))]
        self._places = [identity(2, number) for number in range(size.places)]
        self._sales = int(size.discounts / DISCOUNTS_PER_SALE)

    def all(self) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
        """Yield the names of tables with their rows."""
        for name, rows in (*self._logs(), *self._sums(), *self._trials(), *self._advice()):
            known = metadata.tables.get(name)
            if known is not None:
                yield name, ({"tenant_id": self._tenant_id, "version": 1, "currency": "EUR", **row} for row in rows)

    def _logs(self) -> Iterable[tuple[str, Iterator[dict[str, Any]]]]:
        step = timedelta(days=DAYS) / self._sales
        at = [SINCE + step * number for number in range(self._sales)]

        def logs() -> Iterator[dict[str, Any]]:
            for number, moment in enumerate(at):
                yield {
                    "id": identity(3, number),
                    "transaction_id": f"T-{number}",
                    "transaction_counter": 1,
                    "pos_group_id": self._places[number % len(self._places)],
                    "status": "CALCULATED",
                    "confirmed_at": moment,
                    "evaluated_at": moment,
                    "source": "btp",
                    "origin": "cloud",
                    "pilot_arm": None,
                }

        def promotions_of(number: int) -> list[str]:
            some = range(number * 3 // 2, (number + 1) * 3 // 2)
            return [self._promotions[one * 7919 % len(self._promotions)] for one in some]

        def parts() -> Iterator[dict[str, Any]]:
            line, promotion = dict.fromkeys(LINE), dict.fromkeys(PROMOTION)
            for number, moment in enumerate(at):
                lines = range(int(number * DISCOUNTS_PER_SALE), int((number + 1) * DISCOUNTS_PER_SALE))
                packed = pack(
                    ({**line, **_AMOUNTS, "article_number": f"A{one % 20_000:06}"} for one in lines),
                    (
                        {**promotion, "promotion_id": one, "promotion_name": "Promotion", "total_discount": Decimal(1)}
                        for one in promotions_of(number)
                    ),
                )
                block = number // BLOCK_LOGS
                yield {"log_id": identity(3, number), "block": block, "created_at": moment, "created_by": None} | packed

        def blocks() -> Iterator[dict[str, Any]]:
            for first in range(0, self._sales, BLOCK_LOGS):
                some = range(first, min(first + BLOCK_LOGS, self._sales))
                for promotion_id in sorted({one for number in some for one in promotions_of(number)}):
                    key = {"promotion_id": promotion_id, "block": first // BLOCK_LOGS}
                    yield {**key, "log_id": identity(3, first)}

        def consumptions() -> Iterator[dict[str, Any]]:
            for number in range(self._sales // 2):
                yield {
                    "id": identity(6, number),
                    "transaction_id": f"T-{number * 2}",
                    "transaction_counter": 1,
                    "origin": "cloud",
                    "budget_id": self._budgets[number % len(self._budgets)],
                    "promotion_id": self._promotions[number * 7919 % len(self._promotions)],
                    "consumed_at": at[number * 2],
                }

        for set_name, rows in (
            ("CalculationLogs", logs()),
            ("calculation_log_parts", parts()),
            ("calculation_log_blocks", blocks()),
            ("BudgetConsumptions", consumptions()),
        ):
            yield table(set_name).name, rows

    def _sums(self) -> Iterable[tuple[str, Iterator[dict[str, Any]]]]:
        days, articles = _days(), range(self._size.articles)
        all_, places = self._promotions, self._places
        yield "promotion_performance", _each(promotion_id=all_)
        yield "promotion_usage_by_day", _each(promotion_id=all_, day=days)
        yield "promotion_usage_by_hour", _each(promotion_id=all_, hour=range(24))
        yield "promotion_usage_by_day_of_week", _each(promotion_id=all_, weekday=range(1, 8))
        yield "promotion_hour_of_day", _each(promotion_id=all_, weekday=range(1, 8), hour=range(24))
        yield "promotion_discount_distribution", _each(promotion_id=all_, bucket_from=map(Decimal, range(12)))
        yield "promotion_utc_days", _each(promotion_id=all_, day=days)
        yield "promotion_utc_months", _each(promotion_id=all_, month=[one for one in days if one.day == 1])
        yield "promotion_pos_group_sums", _ranked(_each(promotion_id=all_, pos_group_id=places), len(places))
        yield (
            "promotion_article_sums",
            _ranked(_each(promotion_id=all_, article_number=[f"A{one:06}" for one in articles]), len(articles)),
        )
        yield "budget_totals", _each(budget_id=self._budgets)
        yield "budget_utc_days", _each(budget_id=self._budgets, day=days)
        yield (
            "budget_promotion_utc_days",
            (
                {**row, "budget_id": self._budgets[number // DAYS % len(self._budgets)]}
                for number, row in enumerate(_each(promotion_id=all_, day=days))
            ),
        )
        yield "basket_days", _each(pos_group_id=["", *places], day=days)
        yield "aggregator_runs", ({"id": identity(7, number), "name": "usage"} for number in range(10_000))

    def _trials(self) -> Iterable[tuple[str, Iterator[dict[str, Any]]]]:
        tried = self._promotions[-self._size.trials :]
        kind: dict[str, Any] = {"trial": "PILOT", "promotion_name": "Promotion", "kept_name": "Promotion"}
        kind |= {
            "treated_transactions": 500,
            "control_transactions": 500,
        }  # at least as many as conversions, whatever is drawn
        for name, rows in (
            ("arm_days", _each(promotion_id=tried, day=_days())),
            ("arm_utc_days", _each(promotion_id=tried, day=_days())),
            ("a_b_test_results", _each(promotion_id=tried)),
            ("promotion_ab_comparison", _each(promotion_id=tried, arm=("PILOT", "CONTROL"))),
            ("promotion_uplift_analysis", _each(promotion_id=self._promotions)),
        ):
            yield name, ({**kind, **row} for row in rows)

    def _advice(self) -> Iterable[tuple[str, Iterator[dict[str, Any]]]]:
        kinds = ("GAP", "NEAR_MISS", "NUDGE", "SAVING", "FREE_ITEM")
        advised = self._promotions[: self._size.advised]
        for name in ("advice_shown", "advice_converted"):
            rows = _each(kind=kinds, promotion_id=advised, day=_days())
            yield name, ({**row, "promotion_name": "Promotion"} for row in rows)


def _days() -> list[date]:
    return [SINCE.date() + timedelta(days=number) for number in range(DAYS)]


def _each(**dimensions: Iterable[Any]) -> Iterator[dict[str, Any]]:
    names = list(dimensions)
    for values in product(*dimensions.values()):
        yield dict(zip(names, values, strict=True))


def _ranked(rows: Iterator[dict[str, Any]], of_each: int) -> Iterator[dict[str, Any]]:
    """Give the first twenty of each promotion a rank."""
    for number, row in enumerate(rows):
        place = number % of_each + 1
        yield {**row, "rank": place if place <= 20 else None}
