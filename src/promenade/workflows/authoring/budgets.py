"""Rules for budgets, which never owe more than they have: totals, contributions, shares, and the derived status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from promenade.errors import Conflict, Detail
from promenade.store.authoring.statements import Columns, read_referred, read_rows
from promenade.store.budgets.charges import Use, is_used_up
from promenade.workflows.authoring.rules import Rules, rules
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write
from promenade.workflows.budgets.states import BudgetChange, emit_changes, runs

_ZERO = Decimal(0)
_SHARES_MAX = Decimal(100)
_TOTAL_BOUND = Decimal(10) ** 13  # a Decimal(15,2)


@rules("Budgets")
class _Budgets(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        for write in writes:
            if write.act is not Act.DELETE:
                _follow_clock(unit, write)

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        changed = [write for write in writes if write.act is Act.UPDATE]
        for write in changed:
            _check_total(unit, write)
            _check_expired(unit, write.before or {}, write.after, write.target("total_amount"))
            _check_validity(unit, write)
        await self._check_currency(unit, [write for write in changed if write.differs("currency")])
        for write in writes:
            if write.act is not Act.DELETE:
                _exhaust(unit, write)
        return []

    async def finish(self, unit: Unit) -> None:
        """Announce the overall change of each budget in the unit, ignoring intermediate states; and new thresholds."""
        spans: dict[str, tuple[Columns | None, Write]] = {}
        for write in unit.written:
            if write.set_name == "Budgets":
                first = spans[write.id][0] if write.id in spans else write.before
                spans[write.id] = first, write
        changes = [_change_of(before, last.after) for before, last in spans.values() if last.act is not Act.DELETE]
        new = {one.id: one.after["budget_id"] for one in unit.written if _is_new_threshold(one)}
        unchanged = set(new.values()) - {one.budget_id for one in changes}
        if unchanged:
            rows = await read_rows(unit.session, "Budgets", "id", unchanged)
            changes += [_change_of(row, row) for row in rows]
        await emit_changes(unit.session, changes, unit.at, unit.new_id, new_thresholds=new)

    async def _check_currency(self, unit: Unit, writes: Sequence[Write]) -> None:
        if not writes:
            return
        paid = await read_referred(unit.session, "RechargeContributions", "budget_id", {one.id for one in writes})
        for write in writes:
            if write.id in paid or write.after["consumed_amount"] or write.after["reserved_amount"]:
                message = "The currency of a budget cannot be changed after money was paid in or spent."
                unit.faults.add(Conflict("CURRENCY_IN_USE", message, write.target("currency")))


def _follow_clock(unit: Unit, write: Write) -> None:
    """Make a budget SCHEDULED if it is activated before its start, and ACTIVE if an exhausted one gets more money.

    An expired one whose validity is extended runs again, or will.
    """
    row = write.after
    before = write.before
    starts, ends = row["valid_from"], row["valid_to"]
    is_new_status = before is None or before["status"] == "DRAFT"
    begins_later = starts is not None and starts > unit.at
    if row["status"] in ("ACTIVE", "SCHEDULED") and is_new_status:
        if begins_later:
            row["status"] = "SCHEDULED"
        elif row["status"] == "SCHEDULED":
            target = write.target("status")
            message = "Only a budget that begins in the future can be SCHEDULED; this one is ACTIVE at once."
            unit.faults.add(
                Detail("INVALID_INITIAL_STATUS", message, target)
                if before is None
                else Conflict("INVALID_TRANSITION", message, target)
            )
    if before is not None and before["status"] == row["status"] == "EXHAUSTED" and not _is_used_up(row):
        row["status"], write.verb = "ACTIVE", "recharge"
    if before is not None and before["status"] == row["status"] == "EXPIRED" and (ends is None or ends > unit.at):
        row["status"], write.verb = "SCHEDULED" if begins_later else "ACTIVE", "extend"


def _exhaust(unit: Unit, write: Write) -> None:
    """Make a running budget with nothing left EXHAUSTED, whatever the cause."""
    row = write.after
    if runs(row["status"], row["valid_from"], unit.at) and _is_used_up(row):
        row["status"] = "EXHAUSTED"
        if write.act is Act.UPDATE and write.verb is None:
            write.verb = "exhaust"


def _change_of(before: Columns | None, after: Columns) -> BudgetChange:
    uses = [Use(row["total_amount"], row["consumed_amount"]) for row in (before or after, after)]
    was = None if before is None else before["status"]
    return BudgetChange(after["id"], after["name"], after["currency"], was, after["status"], *uses)


def _is_used_up(row: Columns) -> bool:
    # Stores may still spend their shares: a budget is exhausted when it is spent, not when it is granted.
    return is_used_up((row["total_amount"] or _ZERO) - row["consumed_amount"], row["currency"])


def _left(row: Columns) -> Decimal:
    left: Decimal = (row["total_amount"] or _ZERO) - row["consumed_amount"] - row["reserved_amount"]
    return left


def _check_total(unit: Unit, write: Write) -> None:
    if write.differs("total_amount") and write.after["total_amount"] is not None and _left(write.after) < 0:
        target = write.target("total_amount")
        message = "The total cannot be less than the amount that was spent or granted to stores."
        unit.faults.add(Conflict("TOTAL_BELOW_CONSUMED", message, target))


def _check_expired(unit: Unit, before: Columns, after: Columns, target: str) -> None:
    """Refuse more money for a budget that stays expired: no sale could ever spend it."""
    raised = (after["total_amount"] or _ZERO) > (before["total_amount"] or _ZERO)
    if before["status"] == after["status"] == "EXPIRED" and raised:
        message = "The budget has expired; extend its validTo, then it runs again and can be recharged."
        unit.faults.add(Conflict("BUDGET_EXPIRED", message, target))


def _check_validity(unit: Unit, write: Write) -> None:
    ends = write.after["valid_to"]
    if write.verb == "activate" and ends is not None and ends <= unit.at:
        target = write.target("valid_to")
        unit.faults.add(Detail("VALIDITY_OVER", "The budget's validity has ended.", target))


@rules("BudgetNotifications")
class _Thresholds(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        """Lock the budgets of new thresholds: a sale comes before and is counted here, or after and sees them."""
        new = {write.after["budget_id"] for write in writes if _is_new_threshold(write)}
        await read_rows(unit.session, "Budgets", "id", {one for one in new if one}, lock="update")
        return []


def _is_new_threshold(write: Write) -> bool:
    is_kept = write.set_name == "BudgetNotifications" and write.act is not Act.DELETE
    return is_kept and write.differs("budget_id", "threshold_percentage")


@rules("BudgetStakeholders")
class _Shares(Rules):
    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        changed = {write.id: write for write in writes}
        budgets = {one.after["budget_id"] for one in writes if one.after.get("budget_id")}
        raised = [one for one in writes if one.act is not Act.DELETE and one.differs("budget_id", "share_percentage")]
        if not raised:
            return []
        # Lock the budget whose shares change, so that concurrent additions cannot exceed 100 percent.
        await read_rows(unit.session, "Budgets", "id", budgets, lock="update")
        rows = await read_rows(unit.session, "BudgetStakeholders", "budget_id", budgets)
        sums: dict[str, Decimal] = dict.fromkeys(budgets, _ZERO)
        for row in [row for row in rows if row["id"] not in changed] + [one.after for one in writes if one.after]:
            sums[row["budget_id"] or ""] = sums.get(row["budget_id"] or "", _ZERO) + (row["share_percentage"] or _ZERO)
        for write in raised:
            if sums.get(write.after["budget_id"] or "", _ZERO) > _SHARES_MAX:
                target = write.target("share_percentage")
                message = "The shares of all stakeholders of a budget must not exceed 100 percent."
                unit.faults.add(Detail("SHARES_EXCEED_100", message, target))
        return []


@rules("RechargeContributions")
class _Contributions(Rules):
    async def complete(self, unit: Unit, writes: Sequence[Write]) -> None:
        new = [write for write in writes if write.act is Act.CREATE]
        for write in new:
            if write.after["contributed_at"] is None:
                write.after["contributed_at"] = unit.at

    async def check(self, unit: Unit, writes: Sequence[Write]) -> list[Write]:
        rows = [row for write in writes for row in (write.before, write.after) if row and row["budget_id"]]
        found = await read_rows(unit.session, "Budgets", "id", {row["budget_id"] for row in rows}, lock="update")
        budgets = {row["id"]: row for row in found}
        for write in writes:
            if write.act is not Act.DELETE:
                _check_currency(unit, write, budgets)
        return [_recharged(unit, budget, writes) for budget in budgets.values() if _change(budget, writes)]


def _check_currency(unit: Unit, write: Write, budgets: Mapping[str, Columns]) -> None:
    budget = budgets.get(write.after["budget_id"] or "")
    if budget is None:
        return
    if write.after["currency"] is None:
        write.after["currency"] = budget["currency"]
    elif write.after["currency"] != budget["currency"]:
        target = write.target("currency")
        message = f"{target} must be the budget's currency."
        unit.faults.add(Detail("CURRENCY_MISMATCH", message, target))


def _change(budget: Columns, writes: Sequence[Write]) -> Decimal:
    """Return the amount by which the writes raise a budget's total."""
    change = _ZERO
    for write in writes:
        for row, sign in ((write.before, -1), (write.after, 1)):
            if row and row["budget_id"] == budget["id"]:
                change += sign * (row["amount"] or _ZERO)
    return change


def _recharged(unit: Unit, budget: Columns, writes: Sequence[Write]) -> Write:
    after = budget | {"total_amount": budget["total_amount"] + _change(budget, writes)}
    write = Write(shape_of("Budgets"), Act.UPDATE, budget["id"], "", budget, after, is_named=True)
    _follow_clock(unit, write)
    _exhaust(unit, write)
    _check_expired(unit, budget, after, "amount")
    if after["total_amount"] >= _TOTAL_BOUND:
        message = "The total of the budget would exceed the largest possible amount."
        unit.faults.add(Detail("OUT_OF_RANGE", message, "amount"))
    if _left(after) < 0:
        message = "The budget would hold less than the amount that was spent or granted to stores."
        unit.faults.add(Conflict("TOTAL_BELOW_CONSUMED", message, "amount"))
    return write
