"""Statements without the compiler: text and values worked out once, then carried out by the bare driver.

A kept statement has been compiled through the gate of `driver.tenancy`: tenant, user and moment of each session are put
in wherever the statement asks for them. Why not by SQLAlchemy, see `store.driver.sqlalchemy_private`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Dialect, Numeric, Row

from odata_server.sql.connection import Kept
from promenade.store.driver.sqlalchemy_private import Compiled, Process, compiled, result_process, row_maker
from promenade.store.driver.tenancy import Columns, Scope, acting, admit, session_value

_NUMERIC = 1700  # type code of exact numbers in PostgreSQL's driver


@dataclass(frozen=True, slots=True)
class Form:
    """A statement in the driver's form: ``values`` by position, and the positions of session values and parameters."""

    text: str
    values: tuple[Any, ...]
    of_session: tuple[tuple[int, Callable[[Scope], Any], Process | None], ...]
    named: Mapping[str, tuple[tuple[int, Process | None], ...]]
    results: tuple[tuple[int, Process], ...]
    row: Callable[[Sequence[Any]], Row[Any]]

    def bound(self, given: Mapping[str, Any], scope: Scope) -> list[Any]:
        """Return the values for one run."""
        found = list(self.values)
        for at, value, process in self.of_session:
            found[at] = _processed(value(scope), process)
        for name, places in self.named.items():
            if name in given:
                for at, process in places:
                    found[at] = given[name] if process is None else process(given[name])
        return found

    def bound_columns(self, given: Columns, scope: Scope) -> list[Sequence[Any]]:
        """Return the values for many runs, a list for each parameter."""
        count = len(next(iter(given.values())))
        columns: list[Sequence[Any]] = [[value] * count for value in self.values]
        for at, value, process in self.of_session:
            columns[at] = [_processed(value(scope), process)] * count
        for name, values in given.items():
            for at, process in self.named.get(name, ()):
                columns[at] = values if process is None else [process(value) for value in values]
        return columns

    def converted(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        """Convert the driver's rows to the types of the columns."""
        if not rows or not self.results:
            return rows
        columns: list[Any] = list(zip(*rows, strict=True))
        for at, process in self.results:
            columns[at] = [process(value) for value in columns[at]]
        return list(zip(*columns, strict=True))

    def rows(self, found: Sequence[Sequence[Any]]) -> Sequence[Row[Any]]:
        """Return the converted rows with their columns by name."""
        return [self.row(one) for one in self.converted(found)]


def form_of(kept: Kept, dialect: Dialect, scope: Scope) -> Form:
    """Return the form of a kept statement for sessions like this one, built on first use."""
    key = dialect.name, scope.system, scope.tenant is None
    found: Form | None = kept.made.get(key)
    if found is None:
        found = kept.made[key] = _made(kept, dialect, scope)
    return found


def _made(kept: Kept, dialect: Dialect, scope: Scope) -> Form:
    statement, _ = admit(kept.statement, None, scope)
    with acting(scope):
        made = compiled(statement, dialect)
    names, processes = made.names, made.processes
    of_session: dict[int, tuple[Callable[[Scope], Any], Process | None]] = {}
    for at, name in enumerate(names):
        value = session_value(made.parameters.get(name))
        if value is not None:
            of_session[at] = value, processes.get(name)
    named: dict[str, tuple[tuple[int, Process | None], ...]] = {}
    for at, name in enumerate(names):
        if at not in of_session:
            named[name] = (*named.get(name, ()), (at, processes.get(name)))
    bound = tuple(
        None if at in of_session else _processed(made.values[name], processes.get(name))
        for at, name in enumerate(names)
    )
    places = tuple((at, *found) for at, found in of_session.items())
    row = row_maker([name for name, _ in made.columns])
    return Form(made.text, bound, places, named, _results(made, dialect), row)


def _processed(value: Any, process: Process | None) -> Any:
    return value if process is None else process(value)


def _results(made: Compiled, dialect: Dialect) -> tuple[tuple[int, Process], ...]:
    found = []
    for at, (_, kind) in enumerate(made.columns):
        code = _NUMERIC if isinstance(kind.dialect_impl(dialect), Numeric) or _is_exact(kind) else None
        process = result_process(kind, dialect, code)
        if process is not None:
            found.append((at, process))
    return tuple(found)


def _is_exact(kind: Any) -> bool:
    return isinstance(getattr(kind, "impl", None), Numeric)
