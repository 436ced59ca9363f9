"""The second wall around tenants: row-level security on PostgreSQL, below the gate of `store.tenancy`.

Every tenant's table has one policy. It compares the row's tenant with the setting ``promenade.tenant`` of the running
transaction: its tenant's ID, ``*`` for the system, which sees all, or nothing, and then there are no rows. A statement
that got past the gate, by a mistake or by an injection, still meets its own tenant alone. The wall holds for whoever is
no superuser and lacks BYPASSRLS, the owner of the tables included; only who owns nothing cannot take it down.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import sqlalchemy as sa

from promenade.store.tenancy import Scope, TenantBreach

__all__ = ["EVERY_TENANT", "NO_TENANT", "SETTING", "of_tenant", "policies", "setting_of", "tell"]

SETTING = "promenade.tenant"
"""Names the tenant of a transaction, or of a connection between transactions."""

EVERY_TENANT = "*"
NO_TENANT = ""

# Why this form, rather than "tenant_id = setting OR setting = '*'":
# - it is estimated to keep nearly all rows, as it does, since the gate has picked the tenant's already. An equality
#   would count as a second condition and let the planner believe in a hundredth of the rows;
# - the setting is read once for each row. A sub-select would read it once for each statement, which costs short
#   statements more than it spares long ones.
_CONDITION = (
    f"CASE current_setting('{SETTING}', true) WHEN tenant_id THEN 'own' WHEN '{EVERY_TENANT}' THEN 'any' ELSE 'no' END"
    " <> 'no'"
)


def policies(table: sa.Table) -> Iterator[str]:
    """The statements that put ``table`` behind the wall; none if it is not a tenant's."""
    if not table.info["tenant_owned"]:
        return
    yield f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {table.name} FORCE ROW LEVEL SECURITY"
    yield f"CREATE POLICY tenant ON {table.name}\n\tUSING ({_CONDITION})\n\tWITH CHECK ({_CONDITION})"


def setting_of(scope: Scope) -> str:
    """What the setting must be while statements of ``scope`` run.

    Raises TenantBreach for a tenant whose ID would mean something else.
    """
    if scope.system:
        return EVERY_TENANT
    if scope.tenant is None:
        return NO_TENANT
    return of_tenant(scope.tenant)


def of_tenant(tenant_id: str) -> str:
    """The setting for one tenant. Raises TenantBreach for an ID that no tenant can have."""
    if tenant_id in (EVERY_TENANT, NO_TENANT) or "\0" in tenant_id:
        raise TenantBreach(f"no tenant can be called {tenant_id!r}")
    return tenant_id


@lru_cache(maxsize=4096)
def tell(setting: str, *, local: bool) -> str:
    """The statement that makes it so, until the transaction ends if ``local``, else for the connection."""
    # E'' means the same whatever standard_conforming_strings is; the rest has no special meaning inside it.
    escaped = setting.replace("\\", "\\\\").replace("'", "''")
    return f"SET {'LOCAL' if local else 'SESSION'} {SETTING} = E'{escaped}'"
