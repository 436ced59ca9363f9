"""The second wall around tenants: row-level security on PostgreSQL, below the gate of `store.driver.tenancy`.

Every tenant's table has one policy. It compares the row's tenant with the setting ``promenade.tenant`` of the running
transaction: its tenant's ID, ``*`` for the system, which sees all, or nothing, and then there are no rows. A statement
that got past the gate, by a mistake or by an injection, still meets its own tenant alone. The wall holds for whoever is
no superuser and lacks BYPASSRLS, the owner of the tables included; only who owns nothing cannot take it down.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import sqlalchemy as sa

from promenade.store.driver.tenancy import Scope, TenantBreach

SETTING = "promenade.tenant"
"""Names the tenant of a transaction, or of a connection between transactions."""

EVERY_TENANT = "*"
NO_TENANT = ""

# Why this form, rather than "tenant_id = setting OR setting = '*'":
# - the planner estimates that it keeps nearly all rows, which is right, since the gate has already selected the
# tenant's rows. An equality would count as a second condition and make the planner expect a hundredth of the rows;
# - the setting is read once for each row. A sub-select would read it once for each statement, which costs short
# statements more than it saves long ones.
_CONDITION = (
    f"CASE current_setting('{SETTING}', true) WHEN tenant_id THEN 'own' WHEN '{EVERY_TENANT}' THEN 'any' ELSE 'no' END"
    " <> 'no'"
)


def policies(table: sa.Table) -> Iterator[str]:
    """Yield the statements that enable row-level security on ``table``; none unless it is a tenant table."""
    if not table.info["tenant_owned"]:
        return
    yield f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY tenant ON {table.name}\n\tUSING ({_CONDITION})\n\tWITH CHECK ({_CONDITION})"


def setting_of(scope: Scope) -> str:
    """Return the value of the setting for statements of ``scope``.

    Raises TenantBreach for a tenant whose ID has another meaning as a setting.
    """
    if scope.system:
        return EVERY_TENANT
    if scope.tenant is None:
        return NO_TENANT
    return of_tenant(scope.tenant)


def of_tenant(tenant_id: str) -> str:
    """Return the setting for one tenant. Raises TenantBreach for an ID that no tenant can have."""
    if tenant_id in (EVERY_TENANT, NO_TENANT) or "\0" in tenant_id:
        raise TenantBreach(f"no tenant can be called {tenant_id!r}")
    return tenant_id


@lru_cache(maxsize=4096)
def statement_for(setting: str, *, local: bool) -> str:
    """Return the statement that applies a setting: to the transaction if ``local``, else to the connection."""
    # E'' has the same meaning for any standard_conforming_strings; the remaining characters need no escaping.
    escaped = setting.replace("\\", "\\\\").replace("'", "''")
    return f"SET {'LOCAL' if local else 'SESSION'} {SETTING} = E'{escaped}'"
