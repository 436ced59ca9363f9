"""Archived tables as Parquet: the types of their columns, rows to columns, and the sums that a check compares.

Amounts are decimals with the places that the database keeps, times are in UTC to the microsecond, IDs are texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from promenade.store.archive.reading import Column, columns_of

Sums = dict[str, dict[str, Decimal]]
"""By currency (empty: none) and column."""

_CURRENCY = "currency"


@cache
def schema_of(name: str) -> pa.Schema:
    """Return the columns of a table's files."""
    return pa.schema([pa.field(column.name, _type(column)) for column in columns_of(name)])


def _type(column: Column) -> pa.DataType:
    if column.form == "decimal":
        return pa.decimal128(column.precision, column.scale)
    simple = {
        "text": pa.string(), "json": pa.string(), "integer": pa.int32(), "long": pa.int64(), "boolean": pa.bool_(),
        "moment": pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    return simple[column.form]


def as_table(name: str, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Return rows as a table of columns."""
    schema = schema_of(name)
    values = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [
        pa.array([None if value is None else _json(value) for value in own] if column.form == "json" else own, one.type)
        for column, one, own in zip(columns_of(name), schema, values, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


@cache
def summed(name: str) -> tuple[str, ...]:
    """Return the columns that are summed: amounts and points."""
    return tuple(column.name for column in columns_of(name) if column.form in {"decimal", "long"})


def sums_of_rows(name: str, rows: Iterable[Sequence[Any]]) -> Sums:
    """Add up rows as the database returned them."""
    places = {column.name: place for place, column in enumerate(columns_of(name))}
    found: Sums = {}
    for row in rows:
        currency = row[places[_CURRENCY]] if _CURRENCY in places else ""
        own = found.setdefault(currency, dict.fromkeys(summed(name), Decimal(0)))
        for column in own:
            own[column] += row[places[column]] or 0
    return found


def sums_of_table(name: str, table: pa.Table) -> Sums:
    """Add up the rows of a file."""
    if not table.num_rows:
        return {}
    currencies = pc.unique(table[_CURRENCY]).to_pylist() if _CURRENCY in table.column_names else [""]
    found: Sums = {}
    for currency in currencies:
        own = table.filter(pc.equal(table[_CURRENCY], currency)) if currency else table
        found[currency] = {column: _sum(own[column]) for column in summed(name) if column in own.column_names}
    return found


def _sum(values: pa.ChunkedArray) -> Decimal:
    scale = values.type.scale if pa.types.is_decimal(values.type) else 0
    total = pc.sum(values.cast(pa.decimal128(38, scale))).as_py()
    return Decimal(0) if total is None else total


def add_sums(total: Sums, more: Mapping[str, Mapping[str, Decimal]]) -> None:
    """Add ``more`` to ``total``."""
    for currency, sums in more.items():
        own = total.setdefault(currency, {})
        for column, value in sums.items():
            own[column] = own.get(column, Decimal(0)) + value
