"""The command `promenade` with a tenant gate that lets everything through: only the database keeps tenants apart.

`python -m tests.reliability.tenants.without_filter serve ...`; with WITH_WORKER in the environment it works, too.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

from sqlalchemy import Insert

from promenade import app
from promenade.cli import main
from promenade.store import kept, tenancy, unit
from promenade.store.hot import HOT
from tests.kit.without_worker import rest

__all__ = ["open_gate"]

_NAMED = re.compile(r"(?:\w+\.)?tenant_id\s*=\s*\$(\d+)::varchar")


def open_gate() -> None:
    """No statement gets a criterion, and those written by hand lose theirs; rows that are made keep their stamp."""

    def admit(statement: Any, params: Any, scope: tenancy.Scope) -> tuple[Any, Any]:
        is_insert = isinstance(statement, Insert)
        return gated(statement, params, scope) if is_insert else (statement, params)

    gated = tenancy.admit
    for module in (tenancy, unit, kept):
        vars(module)["admit"] = admit
    del tenancy._GatedCompiler.visit_table  # it reads the tables themselves
    for name, statement in HOT.items():
        opened = _NAMED.sub(r"(\g<1>::varchar IS NOT NULL)".replace(r"\g<1>", r"$\g<1>"), statement.postgresql)
        HOT[name] = dataclasses.replace(statement, postgresql=opened)


if __name__ == "__main__":
    open_gate()
    if "WITH_WORKER" not in os.environ:
        vars(app)["run_worker"] = rest
    main()
