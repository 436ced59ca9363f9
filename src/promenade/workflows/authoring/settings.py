"""A tenant's settings: the same checks and the same audit trail for administrators and for the operator."""

from __future__ import annotations

from datetime import datetime, timedelta

from promenade.errors import Conflict, Detail, NotFound
from promenade.model.access.secret_policy import SecretPolicy
from promenade.model.access.tenants import SETTINGS_ID
from promenade.model.declare import Service
from promenade.store.access.clients import count_older
from promenade.store.access.people import has_app
from promenade.store.access.tenants import hold_settings, update_tenant
from promenade.store.authoring.statements import Columns, Row
from promenade.store.driver.unit import Session
from promenade.workflows.authoring.approvals import take_stock
from promenade.workflows.authoring.callbacks import callback_fault
from promenade.workflows.authoring.checks import value_faults
from promenade.workflows.authoring.shapes import shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write

SETTINGS = "TenantSettings"
_CALLBACK = "master_data_callback_url"


async def change_settings(unit: Unit, changes: Row, *, by_operator: bool) -> None:
    """Change settings of the unit's tenant, by their names on the wire; they apply from the next evaluation.

    ``by_operator``: the operator may call any http address. Raises NotFound, and Invalid with all that is wrong.
    """
    before = await hold_settings(unit.session)
    if before is None:
        raise NotFound("TENANT_NOT_FOUND", f"There is no tenant {unit.tenant}.", "tenantId")
    shape = shape_of(SETTINGS)
    values = {shape.fields[wire].name: value for wire, value in changes.items() if wire in shape.fields}
    write = Write(
        shape, Act.UPDATE, SETTINGS_ID, "", before, before | values, given=frozenset(values), is_named=True
    )  # fmt: skip
    _check(unit, write, by_operator=by_operator)
    if not write.changed:
        return
    await _check_secrets(unit, write)
    if not by_operator:
        await _check_codes(unit, write)
    changed = {name: write.after[name] for name in write.changed}
    await update_tenant(unit.session, unit.tenant, changed | unit.stamps(shape))
    if changed.get("approval") == "BINDING":
        await take_stock(unit.session, at=unit.at, user=unit.user, new_id=unit.new_id)
    unit.written.append(write)
    unit.subjects.setdefault(("Tenants", unit.tenant), []).append(write)


def check_new(session: Session, row: Columns, given: frozenset[str], *, at: datetime, user: str) -> None:
    """Check the row of a new tenant, which the operator creates with ``given`` settings. Raises Invalid."""
    unit = Unit(session, user, at, lambda: SETTINGS_ID, Service.ADMIN)
    write = Write(shape_of(SETTINGS), Act.CREATE, SETTINGS_ID, "", None, row, given=given)
    _check(unit, write, by_operator=True)


def _check(unit: Unit, write: Write, *, by_operator: bool) -> None:
    """Check what the declaration says of each setting, then what they say of each other. Raises Invalid."""
    unit.faults.extend(value_faults(write))
    after = write.after
    if (after["approval_from_amount"] is None) != (after["approval_currency"] is None):
        names = ("approval_from_amount", "approval_currency")
        target = write.target(next(name for name in names if after[name] is None))
        message = "approvalFromAmount and approvalCurrency are set, or cleared, together."
        unit.faults.add(Detail("SET_TOGETHER", message, target))
    if after["secret_grace_days"] is not None and after["secret_days"] is None:
        message = "secretGraceDays counts from secretDays: set that, too."
        unit.faults.add(Detail("SET_TOGETHER", message, write.target("secret_days")))
    if after["sales_logs_unarchived"] and after["sales_log_days"] is None:
        message = "salesLogsUnarchived says how logs go after salesLogDays: set that, too."
        unit.faults.add(Detail("SET_TOGETHER", message, write.target("sales_log_days")))
    if after["idle_points_lapse"] and after["idle_customer_days"] is None:
        message = "idlePointsLapse says what becomes of points after idleCustomerDays: set that, too."
        unit.faults.add(Detail("SET_TOGETHER", message, write.target("idle_customer_days")))
    url = after[_CALLBACK]
    if url and write.differs(_CALLBACK):
        fault = callback_fault(url, unit.http_hosts, write.target(_CALLBACK))
        if fault is not None and not (by_operator and fault.code in {"HTTPS_REQUIRED", "ADDRESS_NOT_ALLOWED"}):
            unit.faults.add(fault)
    unit.faults.raise_any()


async def _check_secrets(unit: Unit, write: Write) -> None:
    """Refuse a policy that would take tokens from clients at once: a till must go on selling. Raises Conflict."""
    policy = SecretPolicy(*(write.after[name] for name in ("secret_days", "secret_overlap_hours", "secret_grace_days")))
    if policy.days is None or policy.grace_days is None or not write.differs("secret_days", "secret_grace_days"):
        return
    number = await count_older(unit.session, unit.at - timedelta(days=policy.days + policy.grace_days))
    if number:
        message = (
            f"{number} active clients have older secrets, as `promenade client list --overdue` will name them once"
            " secretDays is set: replace those first, switch the clients off, or allow more days."
        )
        raise Conflict("WOULD_REFUSE_CLIENTS", message, write.target("secret_grace_days"))


async def _check_codes(unit: Unit, write: Write) -> None:
    """Refuse that somebody requires of everybody what they have not done themself. Raises Conflict."""
    if not write.after["code_required"] or not write.differs("code_required"):
        return
    # The user of another issuer may be called like a person of ours.
    if unit.outside is None and await has_app(unit.session, unit.user):
        return
    message = (
        "You sign in without an app that shows codes: get one by a new link first, or let somebody who has one do this."
    )
    raise Conflict("CODE_NOT_SET_UP", message, write.target("code_required"))
