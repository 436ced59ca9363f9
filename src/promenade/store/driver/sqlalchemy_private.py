"""Every private part of SQLAlchemy that this program uses, and nothing else.

SQLAlchemy takes longer to recognise a statement, to bind its values and to wrap its rows than a database takes to find
a few rows. So statements that tills wait for are compiled once and carried out by the bare driver, which takes what the
compiler keeps to itself. A test calls each function here and says which part has changed in a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Dialect, Executable, Insert, Row, Update
from sqlalchemy.engine.result import result_tuple
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import LRUCache

Process = Callable[[Any], Any]
"""Turns a value into what the driver takes, or the driver's value into ours."""


# ---- statements as the compiler makes them --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement's text, with its parameters by position.

    ``names`` are those of the parameters, ``values`` and ``processes`` by their names; ``parameters`` are the
    parameters themselves. ``columns`` are names and types of what the statement returns.
    """

    text: str
    names: Sequence[str]
    values: Mapping[str, Any]
    processes: Mapping[str, Process]
    parameters: Mapping[str, object]
    columns: Sequence[tuple[str, TypeEngine[Any]]]


def compiled(statement: Executable, dialect: Dialect) -> Compiled:
    """Compile a statement, lists of values written out."""
    made: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    values, processes = dict(made.construct_params()), made._bind_processors
    text, names = made.string, made.positiontup or ()
    if made.literal_execute_params or made.post_compile_params:
        expanded = made._process_parameters_for_postcompile(values)
        text, names = expanded.statement, expanded.positiontup or ()
        values, processes = {**values, **expanded.additional_parameters}, {**processes, **expanded.processors}
    columns = [(column.keyname, column.type) for column in made._result_columns]
    return Compiled(text, names, values, processes, made.binds, columns)


def bind_process(kind: TypeEngine[Any], dialect: Dialect) -> Process | None:
    """What turns a value of this type into what the driver takes; None: it takes the value as it is."""
    return cast("Process | None", kind._cached_bind_processor(dialect))


def result_process(kind: TypeEngine[Any], dialect: Dialect, code: int | None) -> Process | None:
    """What turns the driver's value into one of this type; ``code`` is the driver's number of the column's type."""
    return cast("Process | None", kind._cached_result_processor(dialect, code))


def row_maker(names: Sequence[str]) -> Callable[[Sequence[Any]], Row[Any]]:
    """Makes rows whose values are found by these names."""
    return cast("Callable[[Sequence[Any]], Row[Any]]", result_tuple(names))


def statement_cache(size: int) -> Any:
    """A cache of compiled statements, for the option ``compiled_cache`` of an execution."""
    return LRUCache(size)


# ---- what a statement was built of ----------------------------------------------------------------------------------


def is_plain(statement: Insert) -> bool:
    """Whether an insert says nothing but the table: its rows come as parameters."""
    extras = statement._values or statement._multi_values or statement._returning or statement._prefixes
    return not extras and statement.select is None


def value_names(statement: Update) -> Collection[str]:
    """The keys of the columns that an update sets by itself."""
    columns: Collection[Any] = statement._values or {}
    return {getattr(column, "key", column) for column in columns}


def has_many_values(statement: Insert) -> bool:
    """Whether an insert holds several rows itself."""
    return bool(statement._multi_values)


def select_names(statement: Insert) -> Sequence[str]:
    """The columns that an insert fills from a select."""
    return list(statement._select_names or ())


# ---- a compiler with a gate -----------------------------------------------------------------------------------------


def gate_compiler(
    dialect: Dialect, share: Callable[[SQLCompiler, Any, str], str | None], write: Callable[[], None]
) -> None:
    """Make ``dialect`` compile through a gate; its engine must not be shared with anything else.

    ``share`` is asked for each table that a statement reads, with the text that names it, and answers with a select in
    brackets to be read in its place, or None. ``write`` is called for each write inside a WITH, and may refuse it.
    """

    class Gated(SQLCompiler):
        def visit_table(  # type: ignore[override]
            self, table: Any, asfrom: bool = False, iscrud: bool = False, enclosing_alias: Any = None, **kw: Any
        ) -> str:
            text: str = super().visit_table(  # type: ignore[no-untyped-call]
                table, asfrom=asfrom, iscrud=iscrud, enclosing_alias=enclosing_alias, **kw
            )
            shared = share(self, table, text) if asfrom and not iscrud else None
            if shared is None:
                return text
            is_named = enclosing_alias is not None and enclosing_alias.element is table
            return shared if is_named else f"{shared} AS {text}"

        def visit_insert(self, insert_stmt: Any, **kw: Any) -> str:  # type: ignore[override]
            _check(kw)
            return cast("str", super().visit_insert(insert_stmt, **kw))  # type: ignore[no-untyped-call]

        def visit_update(self, update_stmt: Any, **kw: Any) -> str:  # type: ignore[override]
            _check(kw)
            return super().visit_update(update_stmt, **kw)

        def visit_delete(self, delete_stmt: Any, **kw: Any) -> str:  # type: ignore[override]
            _check(kw)
            return cast("str", super().visit_delete(delete_stmt, **kw))  # type: ignore[no-untyped-call]

    def _check(kw: Mapping[str, Any]) -> None:
        if kw.get("visiting_cte") is not None:
            write()

    plain = dialect.statement_compiler
    dialect.statement_compiler = type("Gated" + plain.__name__, (Gated, plain), {})


# ---- connections to PostgreSQL --------------------------------------------------------------------------------------


def is_read_only(adapted: Any) -> bool:
    """Whether the adapter of an asyncpg connection was told to begin transactions that only read."""
    return bool(adapted.readonly)


def set_transaction(adapted: Any, transaction: Any) -> None:
    """Give the adapter a transaction that was begun past it, for it to end: by its ``commit`` or ``rollback``."""
    adapted._transaction = transaction
