"""Checks that follow from the declarations: required values, ranges, codes, windows, references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from promenade.errors import Conflict, Detail
from promenade.model.declare import Field, Kind
from promenade.store.authoring.statements import read_ids, read_referred
from promenade.store.sync.shares import BUDGET, COUPON_CODE, COUPON_TYPE, PROMOTION, find_outstanding
from promenade.workflows.authoring.owners import Owners
from promenade.workflows.authoring.shapes import codes, referrers
from promenade.workflows.authoring.unit import Act, Unit, Write

_INTEGER_MIN, _INTEGER_MAX = Decimal(-(2**31)), Decimal(2**31 - 1)
# PostgreSQL's driver writes these as infinities, which date functions cannot handle.
_ENDS_OF_TIME = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def value_faults(write: Write) -> Iterator[Detail]:
    """Yield what is wrong with a row without looking at any other."""
    after, given, is_new = write.after, write.given, write.act is Act.CREATE
    for field in write.shape.checked:
        name = field.name
        if name in given or (is_new and not field.read_only):
            value = after[name]
            if value is None and field.nullable:
                continue
            fault = _value_fault(field, value, write, name)
            if fault is not None:
                yield fault
    for link in write.shape.required_links:
        column = link.column
        if after[column] is None and (column in given or (is_new and not link.read_only)):
            yield _required(write.target(column))
    for start, end in write.shape.entity.windows:
        first, last = write.after[start], write.after[end]
        if first is not None and last is not None and first >= last and write.differs(start, end):
            message = f"{write.target(end)} must be after {write.shape.wires[start]}."
            yield Detail("WINDOW_EMPTY", message, write.target(end))


def _required(target: str) -> Detail:
    return Detail("REQUIRED", f"{target} is required.", target)


def _value_fault(field: Field, value: Any, write: Write, column: str) -> Detail | None:
    """Return what is wrong with a value; the target is only formatted if needed."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if _fits(field, value) else _text_fault(field, value, write.target(column))
    target = write.target(column)
    if value is None:
        return _required(target)
    if field.kind is Kind.TEXTS:
        if field.required and not value:
            return _required(target)
        if not all(is_plain(one) for one in value):
            return _bad_character(target)
    elif field.kind is Kind.TIMESTAMP and value in _ENDS_OF_TIME:
        message = f"{target} must not be the first or the last possible moment; send null for no limit."
        return Detail("OUT_OF_RANGE", message, target)
    elif isinstance(value, int | Decimal):
        return _range_fault(field, value, target)
    return None


def _fits(field: Field, value: str) -> bool:
    """Return whether a text is certainly valid; `_text_fault` checks all others in detail."""
    if field.code_list:
        return value in codes(field.code_list)
    is_short = field.length is None or len(value) <= field.length
    return is_short and is_plain(value) and not field.choices and not (field.required and not value.strip())


def _text_fault(field: Field, value: str, target: str) -> Detail | None:
    if field.required and not value.strip():
        return _required(target)
    if not is_plain(value):
        return _bad_character(target)
    if field.length is not None and len(value) > field.length:
        return Detail("TOO_LONG", f"{target} must have at most {field.length} characters.", target)
    allowed: Iterable[str] = field.choices or (codes(field.code_list) if field.code_list else ())
    if allowed and value not in allowed:
        where = f"the code list {field.code_list}" if field.code_list else ", ".join(field.choices)
        return Detail("UNKNOWN_CODE", f"{target} must be a value of {where}.", target)
    return None


def _bad_character(target: str) -> Detail:
    return Detail("INVALID_CHARACTER", f"{target} holds a character that cannot be stored.", target)


def is_plain(value: str) -> bool:
    """Return whether both databases can store the text: no NUL, no lone surrogate."""
    if "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _range_fault(field: Field, value: int | Decimal, target: str) -> Detail | None:
    low, high = field.minimum, field.maximum
    if field.kind is Kind.INTEGER:
        low = _INTEGER_MIN if low is None else low
        high = _INTEGER_MAX if high is None else high
    if (low is None or value >= low) and (high is None or value <= high):
        return None
    if low is not None and high is not None and (low, high) != (low, _INTEGER_MAX):
        return Detail("OUT_OF_RANGE", f"{target} must be from {low} to {high}.", target)
    bound = f"at least {low}" if low is not None and value < low else f"at most {high}"
    return Detail("OUT_OF_RANGE", f"{target} must be {bound}.", target)


async def check_references(unit: Unit, writes: Sequence[Write], owners: Owners) -> None:
    """Check that every reference in the request names a row of the tenant; one statement per entity set."""
    named: dict[str, dict[str, list[str]]] = {}
    made = {(write.set_name, write.id) for write in writes if write.act is Act.CREATE}
    for write in writes:
        for set_name, column in write.shape.references:
            value = write.after.get(column) if column in write.given else None
            if value and (set_name, value) not in made and not owners.knows(set_name, value):
                named.setdefault(set_name, {}).setdefault(value, []).append(write.target(column))
    for set_name, targets in sorted(named.items()):
        unknown = targets.keys() - await read_ids(unit.session, set_name, targets)
        # Missing owners have already been reported by `Owners.climb`.
        for target in sorted({target for key in unknown for target in targets[key]}):
            unit.faults.add(unknown_reference(target))


def unknown_reference(target: str) -> Detail:
    """Return the fault of an ID that does not exist here; another tenant's ID gets the same fault."""
    return Detail("UNKNOWN_REFERENCE", f"{target} names a row that does not exist.", target)


# --- what others refer to, or what stores hold of it, is not deleted --------------------------------------------------

# Sets that stores get shares of, which they may spend offline for days.
_GIVEN = {"Budgets": BUDGET, "CouponTypes": COUPON_TYPE, "CouponCodes": COUPON_CODE, "Promotions": PROMOTION}


async def check_unused(unit: Unit, writes: Sequence[Write]) -> None:
    """Add IN_USE for deleted rows that others refer to; one statement for every set that can refer to them.

    HELD_BY_STORES for rows with outstanding shares of stores, whose spending could not be booked any more. The rows are
    locked, and shares are only granted of rows that exist.
    """
    gone: dict[str, set[str]] = {}
    for write in writes:
        if write.act is Act.DELETE:
            gone.setdefault(write.set_name, set()).add(write.id)
    for set_name, ids in gone.items():
        users = [
            one.set_name
            for one in referrers(set_name)
            if await read_referred(unit.session, one.set_name, one.column, ids)
        ]
        if users:
            names = ", ".join(sorted(set(users)))
            unit.faults.add(Conflict("IN_USE", f"This cannot be deleted: {names} refer to it."))
        kind = _GIVEN.get(set_name)
        if kind is not None and await find_outstanding(unit.session, kind, ids):
            message = "Stores hold a share of this: deactivate it, and delete it after they have returned their share."
            unit.faults.add(Conflict("HELD_BY_STORES", message))
