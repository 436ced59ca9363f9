"""The lines and promotions of calculation logs: stored as one packed row per log, read as the rows of two entities.

The columns ``lines`` and ``promotions`` of ``calculation_log_parts`` are JSON lists. Each line or promotion is a list
of values in the order of `LINE` or `PROMOTION`, without nulls at its end. An amount is an integer: the decimal without
its point.

The ID of a part is that of its log with another end: the place of the part. So nothing has to be stored to find a part
by its ID, and parts sorted by log and place are sorted by ID.

A promotion is found by the blocks of logs it occurs in (``calculation_log_blocks``): some 32 logs that a process writes
one after the other share a block, and the first of them that has a promotion adds its row. So there are few rows, and a
search for a promotion unpacks few logs without it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.sql.terms.typed import Finder
from promenade import model
from promenade.store.driver.schema import column_type, table
from promenade.store.driver.types import ExactDecimal, string
from promenade.store.driver.unit import Database

__all__ = [
    "BLOCK_LOGS",
    "FINDERS",
    "LINE",
    "PROMOTION",
    "Blocks",
    "blocks_of",
    "pack",
    "packed_line",
    "packed_promotion",
    "part_id",
    "part_rows",
    "part_types",
    "thousandths",
    "unpack",
]

LINE = (
    "line_reference", "article_number", "article_group_key", "quantity", "unit_price", "line_total", "line_discount",
    "line_net", "confirmed_discount",
)  # fmt: skip
PROMOTION = (
    "promotion_id", "promotion_name", "promotion_version", "total_discount", "evaluated_discount", "points",
    "confirmed_discount", "pilot_arm", "coupon_code_id", "exceeded_limit",
)  # fmt: skip

BLOCK_LOGS = 32
"""How many logs share a block."""

_PARTS = table("calculation_log_parts")
_BLOCKS = table("calculation_log_blocks")
_ID_START = 32  # characters that the ID of a part has in common with its log's
_AMOUNT = ExactDecimal(18, 3)
_AMOUNTS_END = 10**18
_RANGES_MAX = 200  # IDs looked for by the index; of more, all are compared


@dataclass(frozen=True, slots=True)
class _Kind:
    """An entity of parts: its columns as they are packed, the column that packs them, and where its IDs begin."""

    set_name: str
    columns: tuple[str, ...]
    packed: str
    first_id: int

    def types(self) -> dict[str, sa.types.TypeEngine[Any]]:
        """Return the types of the columns."""
        entity = model.entity(self.set_name)
        fields = {field.name: column_type(field) for field in entity.fields}
        return {name: fields.get(name) or string(36) for name in self.columns}


_KINDS = {
    one.set_name: one
    for one in (
        _Kind("CalculationLogItems", LINE, "lines", 1),
        _Kind("CalculationLogPromotions", PROMOTION, "promotions", 0x8001),
    )
}


# ---- packing --------------------------------------------------------------------------------------------------------


def part_types(set_name: str) -> dict[str, sa.types.TypeEngine[Any]]:
    """Return the columns that are packed of CalculationLogItems or CalculationLogPromotions, with their types."""
    return _KINDS[set_name].types()


def part_id(set_name: str, log_id: str, place: int) -> str:
    """Return the ID of the part at ``place``, counted from 0, of a log."""
    return f"{log_id[:_ID_START]}{_KINDS[set_name].first_id + place:04x}"


def thousandths(minor: int, exponent: int) -> int:
    """Return an amount of minor units, of which ``exponent`` digits are decimals, in thousandths.

    Raises ValueError for one that does not fit, as a column of amounts does.
    """
    found = minor * 10 ** (3 - exponent) if exponent <= 3 else _AMOUNT.scaled(Decimal(minor).scaleb(-exponent))
    if not -_AMOUNTS_END < found < _AMOUNTS_END:
        raise ValueError(f"{minor} minor units are too many")
    return found


def packed_line(
    reference: str,
    article_number: str,
    article_group_key: str | None,
    quantity: int,
    unit_price: int,
    total: int,
    discount: int,
    net: int,
    confirmed_discount: int | None,
) -> list[Any]:
    """Return a line as it is packed; amounts and quantity in thousandths, the price in hundredths."""
    line = [reference, article_number, article_group_key, quantity, unit_price, total, discount, net]
    return line if confirmed_discount is None else [*line, confirmed_discount]


def packed_promotion(
    promotion_id: str,
    name: str,
    version: int,
    total_discount: int,
    evaluated_discount: int | None,
    points: int,
    confirmed_discount: int | None,
    pilot_arm: str | None,
    coupon_code_id: str | None,
    exceeded_limit: str | None = None,
) -> list[Any]:
    """Return a promotion as it is packed; amounts in thousandths."""
    ends = [confirmed_discount, pilot_arm, coupon_code_id, exceeded_limit]
    while ends and ends[-1] is None:
        ends.pop()
    return [promotion_id, name, version, total_discount, evaluated_discount, points, *ends]


def pack(items: Iterable[Mapping[str, Any]], promotions: Iterable[Mapping[str, Any]]) -> dict[str, list[list[Any]]]:
    """Return the packed columns of a log; lines and promotions are given by their columns."""
    given = {"CalculationLogItems": items, "CalculationLogPromotions": promotions}
    return {_KINDS[set_name].packed: _packed(set_name, rows) for set_name, rows in given.items()}


def _packed(set_name: str, rows: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    packers = _packers(set_name)
    found = []
    for row in rows:
        values = [row[name] if pack is None else pack(row[name]) for name, pack in packers]
        while values and values[-1] is None:
            values.pop()
        found.append(values)
    return found


@cache
def _packers(set_name: str) -> list[tuple[str, Callable[[Any], Any] | None]]:
    types = _KINDS[set_name].types().items()
    return [(name, _scaling(one) if isinstance(one, ExactDecimal) else None) for name, one in types]


def _scaling(kind: ExactDecimal) -> Callable[[Any], int | None]:
    return lambda value: None if value is None else kind.scaled(value)


def unpack(set_name: str, log_id: str, parts: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the parts that a column packs, with their columns as attributes, ``log_id`` and ``id`` included."""
    columns, amounts = _KINDS[set_name].columns, _amounts(set_name)
    found = []
    for place, packed in enumerate(parts):
        values = [*packed, *[None] * (len(columns) - len(packed))]
        for at, scale in amounts:
            if values[at] is not None:
                values[at] = Decimal(values[at]).scaleb(-scale)
        own = dict(zip(columns, values, strict=True))
        found.append(SimpleNamespace(**own, log_id=log_id, id=part_id(set_name, log_id, place)))
    return found


@cache
def _amounts(set_name: str) -> list[tuple[int, int]]:
    """Return the positions of amounts among the columns, with their decimal places."""
    types = _KINDS[set_name].types().values()
    return [(at, one.scale) for at, one in enumerate(types) if isinstance(one, ExactDecimal)]


# ---- the rows of two entities ---------------------------------------------------------------------------------------


@cache
def part_rows(set_name: str) -> sa.Subquery:
    """Return the rows of CalculationLogItems or CalculationLogPromotions, read from the packed ones."""
    kind = _KINDS[set_name]
    elements = _Elements(_PARTS.c[kind.packed]).table_valued("value", "key", "ordinality")
    position = _Position(elements.c.key, elements.c.ordinality)
    start: sa.ColumnElement[int] = sa.literal_column(str(kind.first_id - 1))
    values = {
        name: sa.type_coerce(_value(elements.c.value, at, one), one).label(name)
        for at, (name, one) in enumerate(kind.types().items())
    }
    made = {name: _PARTS.c[f"created_{name}"] for name in ("at", "by")}
    return (
        sa.select(
            sa.type_coerce(_PartId(_PARTS.c.log_id, position, start), string(36)).label("id"),
            *values.values(),
            *(column.label(f"{verb}_{name}") for verb in ("created", "modified") for name, column in made.items()),
            _PARTS.c.log_id,
            _PARTS.c.tenant_id,
            sa.literal_column("1", sa.Integer()).label("version"),
            _PARTS.c.block,
            position.label("place"),
        )
        .select_from(sa.join(_PARTS, elements, sa.true()))
        .subquery(set_name.lower())
    )


def _value(element: sa.ColumnElement[Any], at: int, kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    index: sa.ColumnElement[int] = sa.literal_column(str(at))
    if isinstance(kind, ExactDecimal):
        return _Amount(element, index, sa.literal_column(str(Decimal(1).scaleb(-kind.scale))))
    if isinstance(kind, sa.Integer):
        return _Number(element, index, sa.literal_column("BIGINT" if isinstance(kind, sa.BigInteger) else "INTEGER"))
    return _Word(element, index)


class _Elements(FunctionElement[Any]):
    """A packed list as rows: the value, and its place by ``key`` or ``ordinality``."""

    inherit_cache = True


@compiles(_Elements)
def _json_each(element: _Elements, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_each(unpacked({compiler.process(element.clauses, **kw)}))"


@compiles(_Elements, "postgresql")
def _jsonb_array_elements(element: _Elements, compiler: SQLCompiler, **kw: Any) -> str:
    return f"jsonb_array_elements(CAST({compiler.process(element.clauses, **kw)} AS JSONB)) WITH ORDINALITY"


class _Position(FunctionElement[int]):
    """The place of a part in its list, counted from 1."""

    inherit_cache = True
    type = sa.Integer()


@compiles(_Position)
def _of_key(element: _Position, compiler: SQLCompiler, **kw: Any) -> str:
    return f"({compiler.process(next(iter(element.clauses)), **kw)} + 1)"


@compiles(_Position, "postgresql")
def _ordinality(element: _Position, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(list(element.clauses)[1], **kw)


class _PartId(FunctionElement[str]):
    """The ID of a part: of the log's ID, the part's place, and what is added to it."""

    inherit_cache = True


@compiles(_PartId)
def _printed(element: _PartId, compiler: SQLCompiler, **kw: Any) -> str:
    log_id, place, start = (compiler.process(one, **kw) for one in element.clauses)
    return f"(substr({log_id}, 1, {_ID_START}) || printf('%04x', {start} + {place}))"


@compiles(_PartId, "postgresql")
def _padded(element: _PartId, compiler: SQLCompiler, **kw: Any) -> str:
    log_id, place, start = (compiler.process(one, **kw) for one in element.clauses)
    number = f"lpad(to_hex({start} + {place}), 4, '0')"
    return f'((substr({log_id}, 1, {_ID_START}) || {number}) COLLATE "C")'


class _Word(FunctionElement[str]):
    """A text of a packed list."""

    inherit_cache = True


class _Number(FunctionElement[int]):
    """An integer of a packed list."""

    inherit_cache = True


class _Amount(FunctionElement[Any]):
    """A decimal of a packed list, as its database stores decimals."""

    inherit_cache = True


@compiles(_Word)
@compiles(_Number)
@compiles(_Amount)
def _extracted(element: FunctionElement[Any], compiler: SQLCompiler, **kw: Any) -> str:
    value, index, *_ = (compiler.process(one, **kw) for one in element.clauses)
    return f"json_extract({value}, '$[{index}]')"


@compiles(_Word, "postgresql")
def _text(element: _Word, compiler: SQLCompiler, **kw: Any) -> str:
    value, index = (compiler.process(one, **kw) for one in element.clauses)
    return f'(({value} ->> {index}) COLLATE "C")'


@compiles(_Number, "postgresql")
def _integer(element: _Number, compiler: SQLCompiler, **kw: Any) -> str:
    value, index, kind = (compiler.process(one, **kw) for one in element.clauses)
    return f"CAST({value} ->> {index} AS {kind})"


@compiles(_Amount, "postgresql")
def _numeric(element: _Amount, compiler: SQLCompiler, **kw: Any) -> str:
    value, index, unit = (compiler.process(one, **kw) for one in element.clauses)
    return f"(CAST({value} ->> {index} AS NUMERIC) * {unit})"


# ---- how they are found ---------------------------------------------------------------------------------------------


def _by_id(rows: sa.FromClause) -> Finder:
    """Find a part by its ID: its log is the one whose ID has the same start."""

    def implied(name: str, values: Sequence[sa.ColumnElement[Any]]) -> sa.ColumnElement[bool] | None:
        if len(values) > _RANGES_MAX:
            return None
        starts = [sa.func.substr(value, 1, _ID_START, type_=string(36)) for value in values]
        least = [rows.c.log_id >= start.concat(sa.literal_column("'0000'")) for start in starts]
        most = [rows.c.log_id <= start.concat(sa.literal_column("'ffff'")) for start in starts]
        if name == "eq":
            return sa.or_(sa.false(), *(sa.and_(*both) for both in zip(least, most, strict=True)))
        return least[0] if name in {"gt", "ge"} else most[0]

    def order(dialect: str, descending: bool) -> Sequence[sa.ColumnElement[Any]]:
        # SQLite would sort all rows by the place too, although it reads the parts of a log in their order.
        if dialect == "sqlite":
            return () if descending else (rows.c.log_id,)
        return rows.c.log_id, rows.c.place

    return Finder(implied, order)


def _by_promotion(rows: sa.FromClause) -> Finder:
    """Find the logs of a promotion by their blocks."""

    def implied(name: str, values: Sequence[sa.ColumnElement[Any]]) -> sa.ColumnElement[bool] | None:
        if name != "eq":
            return None
        blocks = sa.select(_BLOCKS.c.block).where(_BLOCKS.c.promotion_id.in_(values)).correlate(None)
        return rows.c.block.in_(blocks)

    return Finder(implied)


FINDERS: Mapping[str, Mapping[str, Callable[[sa.FromClause], Finder]]] = {
    "CalculationLogItems": {"ID": _by_id},
    "CalculationLogPromotions": {"ID": _by_id, "promotion_ID": _by_promotion},
}
"""By entity set and property."""


# ---- blocks ---------------------------------------------------------------------------------------------------------


class Blocks:
    """The blocks that a process is filling, one for each tenant. Losing them begins new ones, which does no harm."""

    def __init__(self) -> None:
        self._open: dict[str | None, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def take(self, tenant_id: str | None, new_id: Callable[[], str]) -> int:
        """Return the block of the tenant's next log."""
        with self._lock:
            block, left = self._open.pop(tenant_id, (0, 0))
            if not left:
                block, left = int(new_id()[:8], 16) >> 1, BLOCK_LOGS
            self._open[tenant_id] = block, left - 1
            if len(self._open) > _TENANTS_MAX:
                del self._open[next(iter(self._open))]
            return block


_TENANTS_MAX = 10_000
_OPEN: WeakKeyDictionary[Database, Blocks] = WeakKeyDictionary()


def blocks_of(database: Database) -> Blocks:
    """Return the blocks that this process is filling in a database."""
    return _OPEN.setdefault(database, Blocks())
