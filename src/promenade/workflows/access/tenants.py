"""Tenants: created, listed and changed from the command line; looked up in every request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from promenade.errors import Conflict, Invalid, NotFound
from promenade.model import entity
from promenade.model.declare import Field, Kind
from promenade.store.access.local_store import read_store_tenant
from promenade.store.access.tenants import basic_for_readers, insert_tenant, read_tenants, tenant_is_known
from promenade.store.driver.unit import Database, Session

_FIXED = frozenset({"tenant_id", "created_at", "created_by", "modified_at", "modified_by"})
_SETTINGS: Mapping[str, Field] = {
    field.wire: field for field in entity("Tenants").fields if field.name not in _FIXED and not field.virtual
}
_DIGITS_MAX = 9
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


async def create_tenant(
    database: Database, tenant_id: str, *, settings: Mapping[str, str], at: datetime, user: str
) -> None:
    """Create a tenant; its name is its ID unless ``settings`` contains one.

    Raises Conflict (TENANT_EXISTS, STORE_HAS_ONE_TENANT), and Invalid for an invalid ID or setting.
    """
    if not tenant_id.strip() or len(tenant_id) > 36:
        raise Invalid("BAD_TENANT_ID", "A tenant ID must have 1 to 36 characters.", "tenantId")
    if tenant_id == "*":
        raise Invalid("BAD_TENANT_ID", "A tenant cannot be called *, which stands for all tenants.", "tenantId")
    given = {_SETTINGS[wire].name: value for wire, value in _parsed(settings).items()}
    row: dict[str, Any] = {field.name: field.default for field in _SETTINGS.values()} | {"name": tenant_id} | given
    row |= {"tenant_id": tenant_id, "created_at": at, "created_by": user, "modified_at": at, "modified_by": user}

    async def work(session: Session) -> None:
        own = await read_store_tenant(session)
        if own is not None:
            text = f"This is the database of a store, which has one tenant, {own}: a cloud needs its own."
            raise Conflict("STORE_HAS_ONE_TENANT", text, "tenantId")
        if await tenant_is_known(session, tenant_id):
            raise Conflict("TENANT_EXISTS", f"The tenant {tenant_id} already exists.", "tenantId")
        if settings:
            from promenade.workflows.authoring.settings import check_new  # noqa: PLC0415 - brings the engine

            check_new(session, row, frozenset(given), at=at, user=user)
        await insert_tenant(session, row)

    await database.write(work, system=True)


async def set_tenant(
    database: Database,
    tenant_id: str,
    settings: Mapping[str, str],
    *,
    at: datetime,
    user: str,
    new_id: Callable[[], str],
) -> None:
    """Change settings; they apply from the next evaluation. Raises NotFound, and Invalid naming the setting."""
    values = _parsed(settings)
    # Imported when needed: it brings the engine, and other commands about tenants need none.
    from promenade.workflows.authoring import Authoring  # noqa: PLC0415

    async def work(session: Session) -> None:
        authoring = Authoring(session, user=user, at=at, new_id=new_id)
        await authoring.configure(values)
        await authoring.finish()

    await database.write(work, tenant=tenant_id)


async def require_tenant(database: Database, tenant_id: str) -> None:
    """Raise NotFound (TENANT_NOT_FOUND) if the tenant does not exist, so that a mistyped name yields no empty
    report.
    """

    async def work(session: Session) -> bool:
        return await tenant_is_known(session, tenant_id)

    if not await database.read(work, system=True):
        raise _no_tenant(tenant_id)


def _no_tenant(tenant_id: str) -> NotFound:
    return NotFound("TENANT_NOT_FOUND", f"There is no tenant {tenant_id}.", "tenantId")


async def list_tenants(database: Database) -> list[dict[str, Any]]:
    """Return all tenants: ``tenantId`` and the settings under their names on the wire."""

    async def work(session: Session) -> list[dict[str, Any]]:
        rows = await read_tenants(session)
        return [
            {"tenantId": row.tenant_id} | {name: getattr(row, field.name) for name, field in _SETTINGS.items()}
            for row in rows
        ]

    return await database.read(work, system=True)


async def admits_basic(database: Database, tenant_id: str) -> bool:
    """Return whether the tenant lets its readers come by HTTP Basic."""

    async def work(session: Session) -> bool:
        return await basic_for_readers(session, tenant_id)

    return await database.read(work, system=True)


class TenantDirectory:
    """A cache of the existing tenants for one minute; new tenants are found at once, as only hits are cached."""

    SECONDS_KEPT = 60.0

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._known_until: dict[str, float] = {}

    async def exists(self, tenant_id: str) -> bool:
        """Return whether the tenant exists."""
        now = self._clock().timestamp()
        if self._known_until.get(tenant_id, 0.0) > now:
            return True

        async def work(session: Session) -> bool:
            return await tenant_is_known(session, tenant_id)

        found = len(tenant_id) <= 36 and "\0" not in tenant_id and await self._database.read(work, system=True)
        if found:
            self._known_until[tenant_id] = now + self.SECONDS_KEPT
        else:
            self._known_until.pop(tenant_id, None)
        return found


def _parsed(settings: Mapping[str, str]) -> dict[str, Any]:
    """Convert texts from the command line to values; an empty text clears a setting."""
    values: dict[str, Any] = {}
    for name, text in settings.items():
        field = _SETTINGS.get(name)
        if field is None:
            raise Invalid("UNKNOWN_SETTING", f"{name} is not a setting; the settings are {', '.join(_SETTINGS)}.", name)
        values[name] = _value(name, field, text)
    return values


def _value(name: str, field: Field, text: str) -> Any:
    if text == "":
        return None
    if field.kind is Kind.BOOLEAN:
        if text.lower() not in _TRUTH:
            raise Invalid("BAD_SETTING", f"{name} must be true or false, not {text}.", name)
        return _TRUTH[text.lower()]
    if field.kind is Kind.INTEGER:
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX):
            raise Invalid("BAD_SETTING", f"{name} must be a whole number, not {text}.", name)
        return int(text)
    return _decimal(name, field, text) if field.kind is Kind.DECIMAL else text


def _decimal(name: str, field: Field, text: str) -> Decimal:
    precision, scale = field.precision or 0, field.scale or 0
    try:
        value = Decimal(text)
        exact = value.is_finite() and value == value.quantize(Decimal(1).scaleb(-scale))
    except InvalidOperation:
        exact = False
    if not exact:
        raise Invalid("BAD_SETTING", f"{name} must be a number with at most {scale} decimals, not {text}.", name)
    if value.adjusted() >= precision - scale:
        raise Invalid("BAD_SETTING", f"{name} is out of range: {text}.", name)
    return value
