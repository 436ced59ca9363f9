"""PostgreSQL roles: the privileges that the serving role needs, and whether it has more."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from promenade.errors import Invalid
from promenade.store.driver.migrations import in_transaction
from promenade.store.driver.schema import metadata
from promenade.store.driver.text_index import functions

_ROLE = sa.text("SELECT 1 FROM pg_roles WHERE rolname = :role")
_PLACE = sa.text("""
    SELECT current_schema(), pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass('alembic_version')
""")
_MAINTAINS = (17,)  # from this version on a role that does not own a table can be allowed to analyze it

# Checked first, because superusers are members of every role.
_POWER = sa.text("""
    SELECT current_user, CASE
        WHEN r.rolsuper THEN 'is a superuser'
        WHEN r.rolbypassrls THEN 'has BYPASSRLS'
        WHEN EXISTS (
            SELECT 1 FROM pg_class c WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r'
            AND c.relname = ANY (:tables) AND pg_has_role(c.relowner, 'MEMBER')
        ) THEN 'owns the tables'
    END
    FROM pg_roles r WHERE r.rolname = current_user
""")


def grant(url: str, role: str) -> None:
    """Grant ``role`` exactly the privileges that serving from ``url`` needs, as the owner of its tables.

    It may read and write rows, also in tables of later versions, and have them analyzed where the server can grant
    that; it owns nothing. Safe to repeat. Raises Invalid (ROLE_NOT_FOUND) if the role does not exist, and the driver's
    errors.
    """

    def work(connection: sa.Connection) -> None:
        if connection.execute(_ROLE, {"role": role}).first() is None:
            raise Invalid("ROLE_NOT_FOUND", f"The database server has no role {role}: create it first.", "role")
        for statement in _grants(connection, role):
            connection.exec_driver_sql(statement)

    in_transaction(url, work)


def _grants(connection: sa.Connection, role: str) -> Iterator[str]:
    quote = connection.dialect.identifier_preparer.quote
    version = connection.dialect.server_version_info or ()
    rights = "SELECT, INSERT, UPDATE, DELETE" + (", MAINTAIN" if version >= _MAINTAINS else "")
    schema, owner, to = (quote(name) for name in (*connection.execute(_PLACE).one(), role))
    tables = ", ".join(f"{schema}.{quote(table.name)}" for table in metadata.sorted_tables)
    yield f"GRANT USAGE ON SCHEMA {schema} TO {to}"
    yield f"GRANT {rights} ON {tables} TO {to}"
    yield f"GRANT SELECT ON {schema}.alembic_version TO {to}"
    for function in functions(metadata.sorted_tables):
        yield f"GRANT EXECUTE ON FUNCTION {schema}.{function} TO {to}"
    yield f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} GRANT EXECUTE ON FUNCTIONS TO {to}"
    yield f"ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {schema} GRANT {rights} ON TABLES TO {to}"


def needless_power(url: str) -> tuple[str, str] | None:
    """The role of ``url`` and what lets it past the wall of `store.driver.row_security`; None: nothing does.

    Raises what the driver raises.
    """
    names = [table.name for table in metadata.sorted_tables]

    def work(connection: sa.Connection) -> tuple[str, str] | None:
        role, power = connection.execute(_POWER, {"tables": names}).one()
        return (role, power) if power else None

    return None if url.startswith("sqlite") else in_transaction(url, work)
