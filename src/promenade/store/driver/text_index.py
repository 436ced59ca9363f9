"""Indexes of texts: they find the rows of a table by parts of their texts, for searches and ``contains``.

An index only narrows: the statement that reads the rows tests its own condition. So it may find too many rows, but must
not miss any.

On SQLite it is an FTS5 table of the trigrams of all indexed columns together, without the texts. It needs a number of
each row that stays the same when the file is vacuumed, so the table gets `NUMBER`, its INTEGER PRIMARY KEY; the model
does not know this column. FTS5 takes ten times as long for single rows as for many, so triggers only note the rows that
have changed, with their text in the index, and every `FOLDED_TOGETHER` rows are brought into the index together. Until
then a search reads them from the notes.

On PostgreSQL it is a table of the texts in lower case, with an index of trigrams by the extension pg_trgm. Under
row-level security the planner uses no such index, so nobody but the owner may read this table, and a function with the
owner's rights reads it for the tenant of the transaction: it takes the tenant from the setting, as the policies do.
Without the extension the index is missing, and the function says that it cannot help.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable
from sqlalchemy.sql.compiler import DDLCompiler

NUMBER = "text_number"
FOLDED_TOGETHER = 500

_COLUMNS = "text_columns"  # in the info of a table


def declare(table: sa.Table, columns: Sequence[str]) -> None:
    """Give a table an index of the texts of ``columns``."""
    table.info[_COLUMNS] = tuple(columns)
    for dialect in ("sqlite", "postgresql"):
        for statement in statements(table, dialect):
            made = sa.DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]
            sa.event.listen(table, "after_create", made.execute_if(dialect=dialect))


def statements(table: sa.Table, dialect: str) -> Iterator[str]:
    """Yield the statements that create the index of ``table``; none if it has none."""
    columns: Sequence[str] = table.info.get(_COLUMNS, ())
    if columns:
        yield from (_on_sqlite if dialect == "sqlite" else _on_postgresql)(table.name, columns)


def finder_of(table: str) -> str:
    """Return the name of the function that reads an index on PostgreSQL."""
    return f"{table}_by_texts"


def functions(tables: Iterable[sa.Table]) -> list[str]:
    """Return the functions that the serving role must be allowed to run."""
    return [f"{finder_of(table.name)}(text, integer)" for table in tables if _COLUMNS in table.info]


def is_of_model(found: Any, name: str | None, kind: str, reflected: bool, compared_to: Any) -> bool:
    """Return whether Alembic shall compare an object with the model; not what an index of texts consists of."""
    if not reflected or compared_to is not None:
        return True
    if kind == "table":
        return not any(part in str(name) for part in ("_texts", "_texts_due"))
    return not (name == NUMBER or (kind == "unique_constraint" and str(name).startswith("pk_")))


@compiles(CreateTable, "sqlite")
def _numbered(element: CreateTable, compiler: DDLCompiler, **kw: Any) -> str:
    text: str = compiler.visit_create_table(element, **kw)  # type: ignore[no-untyped-call]
    table = element.element
    if _COLUMNS not in table.info:
        return text
    key = f"CONSTRAINT {table.primary_key.name}"
    return text.replace(f"{key} PRIMARY KEY", f"{NUMBER} INTEGER PRIMARY KEY, \n\t{key} UNIQUE", 1)


def _text(columns: Sequence[str], prefix: str = "") -> str:
    return " || char(10) || ".join(f"coalesce({prefix}{column}, '')" for column in columns)


def _on_sqlite(table: str, columns: Sequence[str]) -> Iterator[str]:
    texts, due = f"{table}_texts", f"{table}_texts_due"
    changed = " OR ".join(f"old.{column} IS NOT new.{column}" for column in columns)
    note = f"INSERT INTO {due} (number, indexed) VALUES"
    once = "ON CONFLICT (number) DO NOTHING;\nEND"
    yield (f"CREATE VIRTUAL TABLE {texts} USING fts5(text, content='', columnsize=0, tokenize='trigram', detail=none)")
    yield (f"CREATE TABLE {due} (\n\tseq INTEGER PRIMARY KEY,\n\tnumber INTEGER NOT NULL UNIQUE,\n\tindexed TEXT\n)")
    yield (f"CREATE TRIGGER {texts}_insert AFTER INSERT ON {table} BEGIN\n\t{note} (new.{NUMBER}, NULL) {once}")
    yield (
        f"CREATE TRIGGER {texts}_update AFTER UPDATE OF {', '.join(columns)} ON {table}\nWHEN {changed} BEGIN\n"
        f"\t{note} (old.{NUMBER}, {_text(columns, 'old.')}) {once}"
    )
    yield (
        f"CREATE TRIGGER {texts}_delete AFTER DELETE ON {table} BEGIN\n"
        f"\t{note} (old.{NUMBER}, {_text(columns, 'old.')}) {once}"
    )
    forget = f"SELECT 'delete', number, indexed FROM {due} WHERE indexed IS NOT NULL"  # noqa: S608 - our own names
    learn = f"SELECT {NUMBER}, {_text(columns)} FROM {table}"  # noqa: S608 - our own names
    steps = (
        f"INSERT INTO {texts} ({texts}, rowid, text) {forget}",
        f"INSERT INTO {texts} (rowid, text) {learn} WHERE {NUMBER} IN (SELECT number FROM {due})",  # noqa: S608
        f"DELETE FROM {due}",  # noqa: S608 - our own names
    )
    head = f"CREATE TRIGGER {texts}_fold AFTER INSERT ON {due} WHEN new.seq >= {FOLDED_TOGETHER} BEGIN"
    yield "\n".join((head, *(f"\t{step};" for step in steps), "END"))


# The capital letters of Latin-1 beyond ASCII: what `lower` makes of them depends on the collation.
_CAPITALS = "".join(chr(code) for code in range(0xC0, 0xDF) if code != 0xD7)

_KEEP = """
CREATE FUNCTION {texts}_keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO {texts} (tenant_id, id, text) SELECT n.tenant_id, n.id, {text} FROM new_rows AS n
		ON CONFLICT (id, tenant_id) DO UPDATE SET text = excluded.text;
	ELSIF TG_OP = 'UPDATE' THEN
		INSERT INTO {texts} (tenant_id, id, text) SELECT n.tenant_id, n.id, {text}
		FROM new_rows AS n JOIN old_rows AS o ON o.id = n.id AND o.tenant_id = n.tenant_id
		WHERE ({new}) IS DISTINCT FROM ({old})
		ON CONFLICT (id, tenant_id) DO UPDATE SET text = excluded.text;
	ELSE
		DELETE FROM {texts} AS t USING old_rows AS o WHERE t.id = o.id AND t.tenant_id = o.tenant_id;
	END IF;
	RETURN NULL;
END
$$"""

# The tenant is compared in a way that no index of the key serves: it would find all of the tenant's rows.
_FIND = r"""
CREATE FUNCTION {finder}(needed text, most integer) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
	tenant text := current_setting('promenade.tenant', true);
	condition text;
	keys text;
BEGIN
	IF coalesce(tenant, '') = '' OR to_regclass('ix_{texts}__text') IS NULL THEN
		RETURN NULL;
	END IF;
	SELECT string_agg('(' || (
		SELECT string_agg(format('text LIKE %L', '%' || regexp_replace(part, '([\\%_])', '\\\1', 'g') || '%'), ' AND ')
		FROM json_array_elements_text(alternative) AS part
	) || ')', ' OR ') INTO condition FROM json_array_elements(needed::json) AS alternative;
	EXECUTE 'SELECT CASE WHEN count(*) <= $1 THEN coalesce(json_agg(id)::text, ''[]'') END FROM (SELECT id FROM {texts}'
		|| ' WHERE ($2 = ''*'' OR tenant_id || '''' = $2) AND (' || condition || ') LIMIT $1 + 1) AS those'
		INTO keys USING most, tenant;
	RETURN keys;
END
$$"""

_SET_UP = """
DO $$
BEGIN
	EXECUTE format('ALTER FUNCTION {texts}_keep() SET search_path = %I, pg_temp', current_schema());
	EXECUTE format('ALTER FUNCTION {finder}(text, integer) SET search_path = %I, pg_temp', current_schema());
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
	EXCEPTION WHEN OTHERS THEN
		RAISE NOTICE 'searches in {table} will be slow without the extension pg_trgm: %', SQLERRM;
	END;
	IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
		CREATE INDEX ix_{texts}__text ON {texts} USING gin (text gin_trgm_ops);
	END IF;
END
$$"""


def _on_postgresql(table: str, columns: Sequence[str]) -> Iterator[str]:
    texts, finder = f"{table}_texts", finder_of(table)
    joined = " || chr(10) || ".join(f"coalesce(n.{column}, '')" for column in columns)
    text = f"translate(lower(({joined}) COLLATE \"C\"), '{_CAPITALS}', '{_CAPITALS.lower()}')"
    new, old = (", ".join(f"{row}.{column}" for column in columns) for row in ("n", "o"))
    key = 'tenant_id VARCHAR(36) COLLATE "C" NOT NULL,\n\tid VARCHAR(36) COLLATE "C" NOT NULL'
    primary = f"CONSTRAINT pk_{texts}__key PRIMARY KEY (id, tenant_id)"
    yield f'CREATE TABLE {texts} (\n\t{key},\n\ttext TEXT COLLATE "C" NOT NULL,\n\t{primary}\n)'
    yield f"ALTER TABLE {texts} ENABLE ROW LEVEL SECURITY"
    yield _KEEP.strip().format(texts=texts, text=text, new=new, old=old)
    rows = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
    for event, kinds in rows.items():
        seen = " ".join(f"{kind} TABLE AS {kind.lower()}_rows" for kind in kinds)
        yield (
            f"CREATE TRIGGER {texts}_{event.lower()} AFTER {event} ON {table}\n\tREFERENCING {seen}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION {texts}_keep()"
        )
        # Whoever fills the table with other triggers off, as a replica does, must not leave the index behind.
        yield f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {texts}_{event.lower()}"
    yield _FIND.strip().format(texts=texts, finder=finder)
    yield f"REVOKE ALL ON FUNCTION {finder}(text, integer) FROM PUBLIC"
    yield _SET_UP.strip().format(table=table, texts=texts, finder=finder)
