"""The command `promenade` without the tenant gate: only the database separates tenants.

`python -m tests.reliability.tenants.without_filter serve ...`; WITH_WORKER in the environment also runs the worker.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

from sqlalchemy import Insert

from promenade import app
from promenade.cli import main
from promenade.store.driver import kept, tenancy, unit
from promenade.store.driver.hot import HOT
from tests.kit.without_worker import rest

__all__ = ["open_gate"]

_NAMED = re.compile(r"(?:\w+\.)?tenant_id\s*=\s*\$(\d+)::varchar", re.IGNORECASE)


def open_gate() -> None:
    """Disable the tenant criterion of all statements, including handwritten ones; new rows still get their tenant."""

    def admit(statement: Any, params: Any, scope: tenancy.Scope) -> tuple[Any, Any]:
        is_insert = isinstance(statement, Insert)
        return gated(statement, params, scope) if is_insert else (statement, params)

    gated = tenancy.admit
    for module in (tenancy, unit, kept):
        vars(module)["admit"] = admit
    vars(tenancy)["_share"] = lambda _compiler, _table, _text: None  # the tables are read directly
    for name, statement in HOT.items():
        opened = _NAMED.sub(r"(\g<1>::varchar IS NOT NULL)".replace(r"\g<1>", r"$\g<1>"), statement.postgresql)
        HOT[name] = dataclasses.replace(statement, sql=opened)


if __name__ == "__main__":
    open_gate()
    if "WITH_WORKER" not in os.environ:
        vars(app)["run_worker"] = rest
    main()
