"""The newest tables, written from the model: ``python -m promenade.store.driver.migrations.baseline``.

Run it after a change of the model: a new database is made from these files. An older one comes to the same tables
through the revisions in ``versions``, of which each change of the model needs one. A revision is history: it is SQL,
not a call into today's model, so that it still does the same when the model has moved on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

from promenade.store.driver import text_index
from promenade.store.driver.row_security import policies
from promenade.store.driver.schema import metadata

DIALECTS = {"sqlite": "sqlite://", "postgresql": "postgresql+asyncpg://"}
HERE = Path(__file__).parent
_BETWEEN = ";\n\n"


def render(dialect_name: str) -> str:
    """Return all statements that create the model's tables on ``sqlite`` or ``postgresql``, referenced tables first."""
    return _BETWEEN.join(_statements(sa.make_url(DIALECTS[dialect_name]).get_dialect()())) + ";\n"


def _statements(dialect: sa.Dialect) -> Iterator[str]:
    for table in metadata.sorted_tables:
        create = str(CreateTable(table).compile(dialect=dialect)).strip()
        yield "\n".join(line.rstrip() for line in create.splitlines())
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()
        if dialect.name == "postgresql":
            yield from policies(table)
        yield from text_index.statements(table, dialect.name)


def write() -> None:
    """Write the files of the newest tables."""
    for name in DIALECTS:
        (HERE / f"newest_{name}.sql").write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    write()
