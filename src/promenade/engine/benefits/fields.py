"""Read and check the fields of an action: required ones and their ranges."""

from __future__ import annotations

from promenade.engine.definition import DefinitionError

FULL_PERCENTAGE = 10_000  # 100 % in hundredths

_DISTRIBUTIONS = frozenset(("PROPORTIONAL", "EQUAL", "HIGHEST_FIRST"))


def discount_of(discount_type: str | None, value: int | None, allowed: tuple[str, ...]) -> tuple[str, int]:
    """discountType and discountValue (hundredths), checked; raises DefinitionError naming the field."""
    if discount_type is None:
        raise DefinitionError("discountType", "REQUIRED", "A discount type is required.")
    if discount_type not in allowed:
        raise DefinitionError(
            "discountType", "NOT_ALLOWED", f"{discount_type} is not one of {', '.join(allowed)} here."
        )
    if value is None:
        raise DefinitionError("discountValue", "REQUIRED", "A discount value is required.")
    if value < 0:
        raise DefinitionError("discountValue", "OUT_OF_RANGE", "A discount value must not be below zero.")
    if discount_type == "PERCENTAGE" and value > FULL_PERCENTAGE:
        raise DefinitionError("discountValue", "OUT_OF_RANGE", "A percentage must not be above 100.")
    return discount_type, value


def maximum_of(value: int | None) -> int | None:
    """maxDiscountAmount in hundredths of face value; None = no maximum."""
    if value is not None and value < 0:
        raise DefinitionError("maxDiscountAmount", "OUT_OF_RANGE", "A maximum must not be below zero.")
    return value


def distribution_of(mode: str | None) -> str | None:
    """distributionMode; None stays None."""
    if mode is not None and mode not in _DISTRIBUTIONS:
        raise DefinitionError("distributionMode", "UNKNOWN_CODE", f"There is no distribution mode {mode}.")
    return mode


def whole_units(field: str, thousandths: int | None, *, default: int | None = None) -> int:
    """A quantity that counts units: whole and at least 1."""
    if thousandths is None:
        if default is None:
            raise DefinitionError(field, "REQUIRED", f"{field} is required.")
        return default
    if thousandths < 1000 or thousandths % 1000:
        raise DefinitionError(field, "OUT_OF_RANGE", f"{field} must be a whole number of units, at least 1.")
    return thousandths // 1000
