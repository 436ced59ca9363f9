"""Statements without the compiler: text and values worked out once, then carried out by the bare driver.

SQLAlchemy takes longer to recognise a statement, to bind its values and to wrap its rows than a database takes to find
a few rows. What is kept has been compiled through the gate of `store.tenancy`: tenant, user and moment of each
session are put in wherever the statement asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Dialect, Numeric, Row
from sqlalchemy.engine.result import result_tuple
from sqlalchemy.sql.compiler import SQLCompiler

from odata_server.sql.connection import Kept
from promenade.store.tenancy import Scope, acting, admit, session_value

__all__ = ["Form", "form_of"]

Process = Callable[[Any], Any]
_NUMERIC = 1700  # what PostgreSQL's driver calls an exact number


@dataclass(frozen=True, slots=True)
class Form:
    """A statement as a driver takes it: ``values`` by position, and where those of the session and named ones go."""

    text: str
    values: tuple[Any, ...]
    of_session: tuple[tuple[int, Callable[[Scope], Any], Process | None], ...]
    named: Mapping[str, tuple[tuple[int, Process | None], ...]]
    results: tuple[tuple[int, Process], ...]
    row: Callable[[Sequence[Any]], Row[Any]]

    def bound(self, given: Mapping[str, Any], scope: Scope) -> list[Any]:
        """The values for one run."""
        found = list(self.values)
        for at, value, process in self.of_session:
            found[at] = _processed(value(scope), process)
        for name, places in self.named.items():
            if name in given:
                for at, process in places:
                    found[at] = given[name] if process is None else process(given[name])
        return found

    def converted(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """The driver's rows as the types of the columns have them."""
        if not rows or not self.results:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        for at, process in self.results:
            columns[at] = [process(value) for value in columns[at]]
        return list(zip(*columns, strict=True))

    def rows(self, found: Sequence[Sequence[Any]]) -> Sequence[Row[Any]]:
        """The same with their columns by name."""
        return [self.row(one) for one in self.converted(found)]


def form_of(kept: Kept, dialect: Dialect, scope: Scope) -> Form:
    """The form of a kept statement for sessions like this one, made at its first use."""
    key = dialect.name, scope.system, scope.tenant is None
    found: Form | None = kept.made.get(key)
    if found is None:
        found = kept.made[key] = _made(kept, dialect, scope)
    return found


def _made(kept: Kept, dialect: Dialect, scope: Scope) -> Form:
    statement, _ = admit(kept.statement, None, scope)
    with acting(scope):
        compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
        text, names, values, processes = _parameters(compiled)
    of_session: dict[int, tuple[Callable[[Scope], Any], Process | None]] = {}
    for at, name in enumerate(names):
        value = session_value(compiled.binds.get(name))
        if value is not None:
            of_session[at] = value, processes.get(name)
    named: dict[str, tuple[tuple[int, Process | None], ...]] = {}
    for at, name in enumerate(names):
        if at not in of_session:
            named[name] = (*named.get(name, ()), (at, processes.get(name)))
    bound = tuple(
        None if at in of_session else _processed(values[name], processes.get(name)) for at, name in enumerate(names)
    )
    places = tuple((at, *found) for at, found in of_session.items())
    row = result_tuple([column.keyname for column in compiled._result_columns])
    return Form(text, bound, places, named, _results(compiled, dialect), row)


def _parameters(compiled: SQLCompiler) -> tuple[str, Sequence[str], Mapping[str, Any], Mapping[str, Any]]:
    values = dict(compiled.construct_params())
    if not (compiled.literal_execute_params or compiled.post_compile_params):
        return compiled.string, compiled.positiontup or (), values, compiled._bind_processors
    expanded = compiled._process_parameters_for_postcompile(values)
    processes = {**compiled._bind_processors, **expanded.processors}
    return expanded.statement, expanded.positiontup or (), {**values, **expanded.additional_parameters}, processes


def _processed(value: Any, process: Process | None) -> Any:
    return value if process is None else process(value)


def _results(compiled: Any, dialect: Dialect) -> tuple[tuple[int, Process], ...]:
    found = []
    for at, column in enumerate(compiled._result_columns):
        kind = column.type
        code = _NUMERIC if isinstance(kind.dialect_impl(dialect), Numeric) or _is_exact(kind) else None
        process = kind._cached_result_processor(dialect, code)
        if process is not None:
            found.append((at, process))
    return tuple(found)


def _is_exact(kind: Any) -> bool:
    return isinstance(getattr(kind, "impl", None), Numeric)
