"""Random promotions, derived from the declarations: every member of a document occurs, mostly with values that fit."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from promenade import model
from promenade.model.declare import Field, Kind
from promenade.workflows.documents.shape import Node, Part, node_of

__all__ = ["CODES", "parts_of", "promotions"]

Row = dict[str, Any]
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
CODES = {
    "PosGroups": ("WIEN", "GRAZ: Nord", "no"),
    "Articles": ("0815", "1e3", "x #1"),
    "ArticleGroups": ("F", "F-1"),
    "Campaigns": ("SUMMER", "~"),
    "Budgets": ("B-1", "0x1F"),
    "CouponTypes": ("TEN", "22:00"),
    "PriorityGroups": ("FIRST", "null"),
    "MutualExclusionGroups": ("ONE", "yes"),
    "Stakeholders": ("ACME", "- x"),
}
_WORDS = st.sampled_from(
    ("A", "0815", "no", "true", "null", "~", "12.50", "22:00", " a ", "a: b # c", "ä\n\nb", "\t", '"', "'", "-", "[]",
     "x\u2028y", "\U0001f600", "\x85", "2026-01-01", "=", "<<", "a\nb\n", "|", "\ufeff", "e1", "1e1", "")
)  # fmt: skip
_TEXTS = _WORDS | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def _value(field: Field) -> st.SearchStrategy[Any]:
    if field.name == "weekdays":
        return st.sampled_from(("MON", "SUN,TUE", "MON,TUE,WED,THU,FRI,SAT,SUN"))
    if field.code_list:
        codes = model.code_list(field.code_list).codes
        return st.sampled_from(("EUR", "JPY") if field.code_list == "Currencies" else codes)
    if field.kind is Kind.TEXT:
        texts = _TEXTS.map(lambda text: text[: field.length])
        return texts.filter(str.strip) if field.required else texts
    if field.kind is Kind.DECIMAL:
        digits = min((field.precision or 0) - (field.scale or 0), 4)
        low, high = field.minimum or Decimal(0), min(field.maximum or Decimal(9999), Decimal(10**digits - 1))
        return st.decimals(low, high, places=field.scale, allow_nan=False)
    if field.kind is Kind.INTEGER:
        most = 2 if field.name == "sequence" else min(int(field.maximum or 3), 3)
        return st.integers(int(field.minimum or 0), most)
    plain: dict[Kind, st.SearchStrategy[Any]] = {
        Kind.BOOLEAN: st.booleans(),
        Kind.TIMESTAMP: st.timedeltas(timedelta(0), timedelta(days=700)).map(lambda after: NEW_YEAR + after),
        Kind.DATE: st.dates(date(2026, 1, 1), date(2027, 1, 1)),
        Kind.TIME: st.sampled_from((time(0), time(8, 30), time(23, 59, 59))),
    }
    return plain[field.kind]


@st.composite
def rows(draw: st.DrawFn, node: Node, ids: Any, *, most: int) -> Row:
    """Draw a row by its properties, with the compositions below it."""
    row: Row = {}
    for key, field in node.values.items():
        if key not in {"code", "status"} and (field.required or draw(st.integers(0, 3)) == 0):
            row[key] = draw(_value(field))
    for start, end in node.entity.windows:
        first, last = (node.entity.field(name).wire for name in (start, end))
        if row.get(first) is not None and row.get(last) is not None and row[first] >= row[last]:
            row[last] = row[first] + timedelta(hours=1)
    for one in node.references.values():
        if one.is_required or draw(st.integers(0, 5)) == 0:
            row[one.wire] = ids[one.target, draw(st.sampled_from(CODES[one.target]))]
    for key, part in node.parts.items():
        if not part.is_beside:
            below = draw(parts_of(part, ids, most=most))
            if below:
                row[key] = below if part.many else below[0]
    return row


@st.composite
def parts_of(draw: st.DrawFn, part: Part, ids: Any, *, most: int) -> list[Row]:
    """Draw the rows of a part; one that names each row once at most does so."""
    count = draw(st.integers(0, most if part.many else 1))
    found = [draw(rows(part.node, ids, most=2)) for _ in range(count)]
    keys = [one for one in part.node.references.values() if one.is_required]
    return list({tuple(row[one.wire] for one in keys): row for row in found}.values()) if keys else found


@st.composite
def promotions(draw: st.DrawFn, ids: Any) -> tuple[Row, dict[str, list[Row]]]:
    """Draw a promotion by its properties, and the rows beside it by their sets."""
    node = node_of("Promotions")
    row = draw(rows(node, ids, most=2))
    row["status"] = draw(st.sampled_from(("DRAFT", "DRAFT", "INACTIVE", "ACTIVE")))
    beside = {part.node.set_name: draw(parts_of(part, ids, most=3)) for part in node.parts.values() if part.is_beside}
    return row, beside
