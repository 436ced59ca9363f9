"""Rules for coupon types, the format of their codes, and the one change a client may make to a code: cancel it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from promenade.errors import Conflict, Detail
from promenade.store.access.erasures import notice
from promenade.store.authoring.statements import find_keys, insert_rows, read_rows
from promenade.store.coupons.shared_codes import shared_form, taken_by_individual_codes
from promenade.store.coupons.types import types_with_codes
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.unit import Act, Unit, Write

_CODES_MIN = 2**40  # 40 bits
_CODE_LENGTH_MAX = 64
_BATCH_MAX = 1_000_000  # codes; minutes of worker time


def _given(writes: Sequence[Write], column: str) -> list[Write]:
    return [write for write in writes if write.act is not Act.DELETE and write.after[column] and write.differs(column)]


def _refuse_taken(unit: Unit, writes: Sequence[Write], column: str, taken: Collection[str], elsewhere: str) -> None:
    """Refuse codes that are ambiguous: both a coupon type's generic code and an individual code, in whatever case."""
    for write in writes:
        if shared_form(write.after[column]) in taken:
            message = f"{write.target(column)} is already in use, in {elsewhere}; upper and lower case do not matter."
            unit.faults.add(Conflict("ALREADY_EXISTS", message, write.target(column)))


@rules("CouponTypes")
class _CouponTypes(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.after.get("generic_code"):
                write.after["generic_code"] = shared_form(write.after["generic_code"])

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            row = write.after
            shared = row.get("generic_code")
            if shared is None or not write.differs("generic_code", "code_type"):
                continue
            target = write.target("generic_code")
            if row["code_type"] != "GENERIC":
                message = f"{target} is allowed only for coupon types whose codeType is GENERIC."
                unit.faults.add(Detail("GENERIC_ONLY", message, target))
            elif not shared.strip():
                unit.faults.add(Detail("REQUIRED", f"{target} must not be empty.", target))
        given = _given(writes, "generic_code")
        taken = await taken_by_individual_codes(unit.session, {one.after["generic_code"] for one in given})
        _refuse_taken(unit, given, "generic_code", taken, "CouponCodes")
        await _refuse_other_kind(unit, [one for one in writes if one.act is Act.UPDATE and one.differs("code_type")])
        return []


async def _refuse_other_kind(unit: Unit, writes: Sequence[Write]) -> None:
    """Refuse to change the code type of a coupon type that has codes.

    An individual code must not become a generic one, nor a code that many have redeemed a single-use one.
    """
    if not writes:
        return
    used = await types_with_codes(unit.session, {write.id for write in writes})
    for write in [one for one in writes if one.id in used]:
        target = write.target("code_type")
        message = f"{target} of a coupon type that has codes cannot be changed."
        unit.faults.add(Conflict("CODE_TYPE_IN_USE", message, target))


@rules("CouponCodes")
class _CouponCodes(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is Act.CREATE and unit.importing:
                write.after |= {"source": "EXTERNAL", "issuance_channel": "EXTERNAL"}

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        given = _given(writes, "code")
        forms = {(shared_form(one.after["code"]),) for one in given}
        keys = await find_keys(unit.session, "CouponTypes", ("generic_code",), forms) if forms else []
        _refuse_taken(unit, given, "code", {key for _, (key,) in keys}, "CouponTypes")
        new = [write for write in writes if write.act is Act.CREATE]
        await _refuse_shared(unit, new, "Codes can be imported only into INDIVIDUAL coupon types")
        return []

    async def store(self, unit: Unit, writes: Sequence[Write]) -> None:
        logs = [
            {
                "id": unit.new_id(),
                "coupon_code_id": write.id,
                "coupon_type_id": write.after["coupon_type_id"],
                "promotion_id": write.after["issuing_promotion_id"],
                "action": "CANCELLED",
                "transaction_id": None,
                "customer_id": write.after["customer_id"],
                "occurred_at": unit.at,
                "created_at": unit.at,
                "created_by": unit.user,
                "modified_at": unit.at,
                "modified_by": unit.user,
            }
            for write in writes
            if write.verb == "cancel"
        ]
        await insert_rows(unit.session, "RedemptionLogs", logs)
        given = {write.after["customer_id"] for write in writes if write.act is Act.CREATE}
        await notice(unit.session, given, new_id=unit.new_id, at=unit.at)


@rules("CouponCodeBatches")
class _Batches(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            status = write.before["status"] if write.before else "QUEUED"
            if write.act is Act.DELETE and status == "RUNNING":
                message = "A batch cannot be deleted while its codes are being generated."
                unit.faults.add(Conflict("BATCH_RUNNING", message))
            elif write.act is Act.UPDATE and status != "QUEUED" and write.differs("quantity", "coupon_type_id"):
                message = "The settings of a batch cannot be changed after it has started."
                target = write.target("quantity" if write.differs("quantity") else "coupon_type_id")
                unit.faults.add(Conflict("BATCH_STARTED", message, target))
            elif (write.after.get("quantity") or 0) > _BATCH_MAX and write.differs("quantity"):
                target = write.target("quantity")
                unit.faults.add(Detail("OUT_OF_RANGE", f"{target} must be at most {_BATCH_MAX}.", target))
        await _refuse_shared(unit, [one for one in writes if one.act is not Act.DELETE], _GENERATED)
        return []


@rules("CouponRefillSchedules")
class _RefillSchedules(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        given = [one for one in writes if one.act is not Act.DELETE]
        for write in given:
            for column in ("minimum_pool_size", "refill_quantity"):
                if (write.after.get(column) or 0) > _BATCH_MAX and write.differs(column):
                    target = write.target(column)
                    unit.faults.add(Detail("OUT_OF_RANGE", f"{target} must be at most {_BATCH_MAX}.", target))
        await _refuse_shared(unit, given, _GENERATED)
        return []


_GENERATED = "Codes can be generated only for INDIVIDUAL coupon types"


async def _refuse_shared(unit: Unit, writes: Sequence[Write], rule: str) -> None:
    """Refuse codes of their own for a GENERIC coupon type; ``rule`` is the first half of the message."""
    named: dict[str | None, list[Write]] = {}
    for write in writes:
        if write.differs("coupon_type_id"):
            named.setdefault(write.after["coupon_type_id"], []).append(write)
    for row in await read_rows(unit.session, "CouponTypes", "id", {key for key in named if key}, lock="share"):
        for write in named[row["id"]] if row["code_type"] == "GENERIC" else ():
            target = write.target("coupon_type_id")
            message = f"{rule}; a GENERIC one has one shared code."
            unit.faults.add(Detail("INDIVIDUAL_ONLY", message, target))


@rules("CouponCodeConfigurations")
class _Configurations(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        for write in writes:
            if write.act is not Act.DELETE and write.differs(
                "prefix", "suffix", "length", "alphabet", "check_character"
            ):
                _check_form(unit, write)
        return []


def _check_form(unit: Unit, write: Write) -> None:
    row = write.after
    alphabet, length = row["alphabet"] or "", row["length"] or 0
    target = write.target("alphabet")
    if len(set(alphabet)) < max(len(alphabet), 2) or not all(33 <= ord(character) <= 126 for character in alphabet):
        message = f"{target} must hold at least two different printable characters, each of them once."
        unit.faults.add(Detail("INVALID_ALPHABET", message, target))
        return
    if len(alphabet) ** min(length, 64) < _CODES_MIN:
        name = write.target("length" if "length" in write.given or "alphabet" not in write.given else "alphabet")
        message = f"{name} allows so few codes that they could be guessed. At least 40 bits are needed."
        unit.faults.add(Detail("TOO_FEW_CODES", message, name))
    whole = len(row["prefix"] or "") + length + bool(row["check_character"]) + len(row["suffix"] or "")
    if whole > _CODE_LENGTH_MAX:
        target = write.target("length")
        message = f"{target} makes codes of {whole} characters, prefix and suffix included; at most 64 fit."
        unit.faults.add(Detail("CODES_TOO_LONG", message, target))
