"""The one gate for tenants: every statement of a session goes through here, and nowhere else.

A session acts for one tenant, for none, or for the system:

- for a tenant, every place where a statement *reads* a tenant table is compiled as
  ``(SELECT * FROM t WHERE tenant_id = :session_tenant) AS t``, wherever it stands: joins, outer joins, sub-queries,
  CTEs. Both databases fold that back into a plain scan. Updates and deletes get the criterion, inserts the stamp;
- for none, the criterion compares with NULL: no rows, not all rows;
- for the system (clockwork, claims of the worker, the command line), nothing is added.

A tenant table is one that `store.driver.schema` declares as owned by tenants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Delete, Executable, Insert, Select, String, Update, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.sql import CompoundSelect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnClause
from sqlalchemy.sql.selectable import TableClause

from promenade.store.driver.sqlalchemy_private import gate_compiler, has_many_values, select_names, value_names
from promenade.store.driver.types import Timestamp

Params = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""The parameters of many runs of a statement: for each, its values in all of them."""


class TenantBreach(Exception):
    """A statement that would leave the tenant of its session: a bug in this program, never a caller's error."""


@dataclass(frozen=True, slots=True)
class Scope:
    """On whose behalf a session acts: ``tenant``, or nobody, or the whole ``system``.

    ``user``: whose edit drafts it sees; ``at``: the time as of which their locks are judged; ``agent``: the agent that
    acts for the user, None: the user acts.
    """

    tenant: str | None
    system: bool = False
    user: str | None = None
    at: datetime | None = None
    agent: str | None = None


NOBODY = Scope(None)
SYSTEM = Scope(None, system=True)

_acting: ContextVar[Scope] = ContextVar("promenade_session_scope", default=NOBODY)


@contextmanager
def acting(scope: Scope) -> Iterator[None]:
    """Compile and run statements for ``scope`` inside the block."""
    token = _acting.set(scope)
    try:
        yield
    finally:
        _acting.reset(token)


# The value is read at execution, not at compilation: compiled statements are shared by all tenants.
SESSION_TENANT = bindparam("session_tenant", type_=String(36), callable_=lambda: _acting.get().tenant)
"""Stands for the session's tenant wherever a statement is bound to it."""

SESSION_USER = bindparam("session_user", type_=String(255), callable_=lambda: _acting.get().user)
"""Stands for the user of the session; null in one without."""

SESSION_MOMENT = bindparam("session_moment", type_=Timestamp(), callable_=lambda: _acting.get().at)
"""Stands for the moment of the session; null in one without."""

_OF_SESSION: Mapping[str, Callable[[Scope], Any]] = {
    "session_tenant": lambda scope: scope.tenant,
    "session_user": lambda scope: scope.user,
    "session_moment": lambda scope: scope.at,
}


def session_value(parameter: object) -> Callable[[Scope], Any] | None:
    """Return the function that gives a parameter's value for a session; None: it is not such a parameter."""
    # By name: a statement embedded in another one contains copies.
    return _OF_SESSION.get(getattr(parameter, "key", ""))


def _has_tenant(table: object) -> bool:
    return isinstance(table, TableClause) and bool(
        getattr(table, "info", {}).get("tenant_owned", "tenant_id" in table.c)
    )


def _share(compiler: SQLCompiler, table: Any, text: str) -> str | None:
    """A tenant table that is read, as the tenant's share of it; None: the statement may read all of the table."""
    if not _has_tenant(table) or _acting.get().system:
        return None
    return f"(SELECT * FROM {text} WHERE tenant_id = {compiler.process(SESSION_TENANT)})"  # noqa: S608 - a quoted name


def _refuse_inside() -> None:
    """Refuse a write inside a WITH, which would bypass `admit`: that only sees the outer statement."""
    if not _acting.get().system:
        raise TenantBreach("only a system session may write inside a WITH")


def guard_dialect(dialect: Dialect) -> None:
    """Make ``dialect`` compile through the gate; its engine must not be used for anything else."""
    gate_compiler(dialect, _share, _refuse_inside)


def admit(statement: Executable, params: Params | Sequence[Params] | None, scope: Scope) -> tuple[Executable, Any]:
    """Return statement and parameters as ``scope`` may run them.

    Raises TenantBreach for anything that would leave the scope: text, another tenant's rows, moving a row to another
    tenant.
    """
    if scope.system:
        return statement, params
    if isinstance(statement, Insert):
        return _stamped(statement, params, scope)
    if isinstance(statement, (Update, Delete)):
        table = statement.table
        if not _has_tenant(table):
            return statement, params
        if isinstance(statement, Update) and _moves_row(statement, params):
            raise TenantBreach(f"a row of {table} cannot change its tenant")
        return statement.where(table.c.tenant_id == SESSION_TENANT), params
    if isinstance(statement, (Select, CompoundSelect)):
        return statement, params
    raise TenantBreach(f"only a system session may run {type(statement).__name__}")


def _moves_row(statement: Update, params: Params | Sequence[Params] | None) -> bool:
    one = params[0] if isinstance(params, Sequence) and params else params
    return "tenant_id" in value_names(statement) or (isinstance(one, Mapping) and "tenant_id" in one)


def _stamped(statement: Insert, params: Params | Sequence[Params] | None, scope: Scope) -> tuple[Executable, Any]:
    if not _has_tenant(statement.table):
        return statement, params
    if scope.tenant is None:
        raise TenantBreach(f"a session without a tenant cannot insert into {statement.table}")
    if statement.select is not None:
        # The select itself is gated, so the tenant_id that it reads can only be the session's.
        if not _reads_tenant(statement):
            raise TenantBreach(f"an insert from a select into {statement.table} must carry the tenant_id it reads")
        return statement, params
    if has_many_values(statement):
        raise TenantBreach("give many rows as parameters, not as values: the gate stamps parameters")
    if params is None:
        return statement.values(tenant_id=SESSION_TENANT), None
    if isinstance(params, Mapping):
        return statement, _stamp(params, scope.tenant)
    return statement, [_stamp(one, scope.tenant) for one in params]


def _reads_tenant(statement: Insert) -> bool:
    """Return whether the select reads tenant_id from a column rather than from a literal or expression."""
    names = select_names(statement)
    columns = list(getattr(statement.select, "selected_columns", ()))
    if "tenant_id" not in names or len(columns) != len(names):
        return False
    column = columns[names.index("tenant_id")]
    return isinstance(column, ColumnClause) and column.table is not None and column.name == "tenant_id"


def _stamp(row: Params, tenant: str) -> dict[str, Any]:
    if row.get("tenant_id", tenant) != tenant:
        raise TenantBreach("a row of another tenant cannot be inserted")
    return {**row, "tenant_id": tenant}
