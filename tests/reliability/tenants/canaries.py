"""The rows of the other tenant: unmistakable values in every column of every table.

Each entity has two kinds of them: rows of its own, and twins. A twin has the ID, the natural key and the links of a row
of the asking tenant and canaries in everything else: a query by key that forgets the tenant finds a twin.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from promenade import model
from promenade.model.declare import EntityType, Field, Kind, Link
from promenade.store.driver.schema import draft_table, metadata, table
from promenade.store.driver.types import ExactDecimal, Json, Timestamp
from promenade.store.sales.log_parts import pack
from tests.contract.made_up import identity, in_order, python_value, seeded_row, subject
from tests.kit.logged import rows_from

__all__ = ["MINE", "NUMBERS", "THEIRS", "TILL_TRANSACTION", "canaries_in", "canary_id", "canary_rows", "unknown"]

MINE, THEIRS = "mine", "zqxjkv-tenant"
NUMBERS = (1, 2)
TILL_TRANSACTION = "crawled-1"  # a transaction ID used by both tenants

TEXT, SHORT_TEXT, ID, INTEGER = "ZQXJKV", "ZQX", "cafeba11", 1987654321
SMALL_INTEGER, MOMENT, DAY, TIME_OF_DAY = (
    29,
    datetime(2087, 6, 5, 4, 3, 2, tzinfo=UTC),
    date(2087, 6, 5),
    time(3, 17, 19),
)
BEGUN = datetime(1987, 6, 5, 4, 3, 2, tzinfo=UTC)

# The replacement of each canary in a question about a nonexistent object.
_UNKNOWN = {
    TEXT: "ZQXJKW",
    TEXT.lower(): "zqxjkw",
    ID: "cafeba12",
    str(INTEGER): "1987654322",
    "19876.5": "19876.6",
    "2087-06-05": "2087-06-06",
    "1987-06-05": "1987-06-06",
}
_SEEN = re.compile(
    rf"{TEXT}|{ID}|{INTEGER}|\b19876\.5|\b198\.76\b|2087-06-05|1987-06-05|20870605|\"{SHORT_TEXT}\w{{0,2}}\"|\"03:17:19",
    re.IGNORECASE,
)


def canaries_in(text: str) -> set[str]:
    """Return the canaries contained in an answer."""
    return set(_SEEN.findall(text))


def unknown(text: str) -> str:
    """Return the same request or answer, but about a nonexistent object."""
    for canary, other in _UNKNOWN.items():
        text = text.replace(canary, other)
    return text


def canary_id(name: str, number: int) -> str:
    """Return the ID of a row that only the other tenant has."""
    return ID + str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name}/{number}"))[8:]


def canary_rows(user: str) -> Iterator[tuple[sa.Table, list[dict[str, Any]]]]:
    """Return rows for every tenant table, referenced rows first; edit drafts belong to ``user``."""
    entities = list(in_order())
    for entity in entities:
        if not entity.packed:
            each = [_row(entity, number, twin=twin) for twin in (False, True) for number in NUMBERS]
            yield table(entity.set_name), each
    yield table("calculation_log_parts"), [_parts(number, twin) for twin in (False, True) for number in NUMBERS]
    yield from _drafts(entities, user)
    done = {"calculation_log_parts", *(entity.table for entity in entities)}
    for one in metadata.sorted_tables:
        if (
            one.info["tenant_owned"]
            and one.name not in done
            and one.name != "drafts"
            and not one.name.endswith("_drafts")
        ):
            rows = [_system_row(one, number) for number in NUMBERS]
            keys = [tuple(row[column.name] for column in one.primary_key.columns) for row in rows]
            yield one, rows if keys[0] != keys[1] else rows[:1]


def _drafts(entities: list[EntityType], user: str) -> Iterator[tuple[sa.Table, list[dict[str, Any]]]]:
    rooted = [entity for entity in entities if _has_drafts(entity)]
    stamps = {"created_at": MOMENT, "created_by": user, "changed_at": MOMENT, "tenant_id": THEIRS}
    yield (
        draft_table("drafts"),
        [
            {
                "draft_uuid": canary_id(f"draft {entity.set_name}", n),
                "set_name": entity.set_name,
                "root_id": _id(entity, n, twin),
                **stamps,
            }
            for entity in rooted
            for n, twin in ((1, False), (2, True))
        ],
    )
    for entity in rooted:
        yield (
            draft_table(entity.set_name),
            [
                _row(entity, n, twin=twin)
                | {
                    "draft_uuid": canary_id(f"draft {entity.set_name}", n),
                    "draft_owner": user,
                    "changed": None,
                    "removed": False,
                }
                for n, twin in ((1, False), (2, True))
            ],
        )


def _has_drafts(entity: EntityType) -> bool:
    try:
        draft_table(entity.set_name)
    except KeyError:
        return False
    return True


def _id(entity: EntityType, number: int, twin: bool) -> str:
    return identity(MINE, entity.set_name, number) if twin else canary_id(entity.set_name, number)


def _row(entity: EntityType, number: int, *, twin: bool) -> dict[str, Any]:
    """Return one row. The first of each kind has valid codes, so that it is included wherever statuses are checked."""
    valid = seeded_row(MINE, entity, number)
    row: dict[str, Any] = {"tenant_id": THEIRS}
    if entity.key == ("id",):
        row["id"] = _id(entity, number, twin)
    for field in entity.fields:
        if field.virtual or field.name in {"id", "tenant_id"}:
            continue
        is_key = twin and field.name in {*entity.natural_key, *entity.key}
        is_code = number == NUMBERS[0] and (field.code_list or field.choices)
        if (is_key or is_code) and field.wire in valid:
            row[field.name] = python_value(field, valid[field.wire])
        else:
            row[field.name] = _canary(rows_from(entity.set_name).c[field.name], field, number + 2 * twin)
    for link in entity.links:
        row[link.column] = _linked(entity, link, number, twin)
    if entity.set_name == "Budgets":
        row |= {
            "consumed_amount": Decimal("19876.54"),
            "reserved_amount": Decimal(0),
            "total_amount": Decimal("19876.54"),
        }
    return row


def _parts(number: int, twin: bool) -> dict[str, Any]:
    """Return the lines and promotions of a log, packed; the IDs of a twin's are those of its log's."""
    items, promotions = (
        [_row(model.entity(name), number, twin=twin)] for name in ("CalculationLogItems", "CalculationLogPromotions")
    )
    return {
        "tenant_id": THEIRS, "log_id": items[0]["log_id"], "block": number, "created_at": MOMENT,
        "created_by": TEXT, **pack(items, promotions),
    }  # fmt: skip


def _linked(entity: EntityType, link: Link, number: int, twin: bool) -> str | None:
    if link.target == entity.set_name:
        number -= 1
        if number not in NUMBERS:
            return None
    return _id(model.entity(link.target), number, twin)


def _canary(column: Any, field: Field | None, number: int) -> Any:
    kind = column.type
    if isinstance(kind, Timestamp):
        return BEGUN if column.name.endswith("from") or column.name.startswith("start") else MOMENT
    if isinstance(kind, Json):
        return [f"{TEXT}{number}"]
    if isinstance(kind, sa.LargeBinary):
        return f"{TEXT}{number}".encode()
    if isinstance(kind, ExactDecimal):
        return _decimal(kind, field)
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, sa.Date):
        return DAY
    if isinstance(kind, sa.Time):
        return TIME_OF_DAY
    if isinstance(kind, (sa.Integer, sa.BigInteger)):
        most = INTEGER if field is None or field.maximum is None else int(field.maximum)
        return INTEGER if most >= INTEGER else min(SMALL_INTEGER, most)
    if field is not None and field.kind is Kind.UUID:
        return canary_id(subject(column.name) or f"{column.table.name}.{column.name}", number)
    return _text(getattr(kind, "length", None), number)


def _text(length: int | None, number: int) -> str:
    text = f"{TEXT}-{number}"
    return text if length is None or length >= len(text) else f"{SHORT_TEXT}{number}"[:length]


def _decimal(kind: ExactDecimal, field: Field | None) -> Decimal:
    most = Decimal(10) ** (kind.precision - kind.scale) - 1
    if field is not None and field.maximum is not None:
        most = min(most, field.maximum)
    return next((one for one in map(Decimal, ("19876.54", "198.76", "29")) if one <= most), Decimal(0)).quantize(
        Decimal(1).scaleb(-kind.scale)
    )


# Values required by the table's own constraints.
_CHECKED = {
    ("coupon_reservations", "state"): "HELD",
    ("customer_erasures", "status"): "COMPLETED",
    ("side_effect_jobs", "status"): "COMPLETED",
}
_OF_A_SALE = {"origin": "cloud", "transaction_id": TILL_TRANSACTION, "transaction_counter": 1}


def _system_row(one: sa.Table, number: int) -> dict[str, Any]:
    """Return a row of a system table; the first belongs to a sale whose ID the other tenant uses, too."""
    row: dict[str, Any] = {"tenant_id": THEIRS}
    for column in one.columns:
        if column.name == "tenant_id":
            continue
        row[column.name] = _system_id(column, number) if _is_id(column) else _canary(column, None, number)
        if (one.name, column.name) in _CHECKED:
            row[column.name] = _CHECKED[one.name, column.name]
        elif number == NUMBERS[0] and column.name in _OF_A_SALE:
            row[column.name] = _OF_A_SALE[column.name]
        elif column.name == "slot":
            row[column.name] = number
        elif isinstance(column.type, sa.Integer) and column.primary_key:
            row[column.name] = INTEGER - 1
    return row


def _is_id(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, sa.String) and column.type.length == 36


def _system_id(column: sa.Column[Any], number: int) -> str:
    """Return an ID for a system row: reports first refer to an object of the other tenant, then to its twin."""
    about = subject(column.name)
    if about is not None and number != NUMBERS[0]:
        return identity(MINE, about, number)
    return canary_id(about or f"{column.table.name}.{column.name}", number)
