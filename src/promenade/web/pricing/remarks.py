"""Reads the field descriptions of the POS service's messages: the ``#:`` comment of each field."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache

_REMARK = re.compile(r"#: (.+)$")


def remark_of(struct: type, field: str) -> str:
    """Return the remark of a field, or of a base class's field; empty if there is none or the source is unavailable."""
    for base in struct.__mro__:
        found = _remarks(base.__module__).get((base.__name__, field))
        if found is not None:
            return found
    return ""


@cache
def _remarks(module: str) -> dict[tuple[str, str], str]:
    """Return (class, field) -> remark of a module of this package; the source is read once."""
    if not module.startswith("promenade."):
        return {}
    try:
        source = inspect.getsource(sys.modules[module])
    except OSError:
        return {}
    lines = source.splitlines()
    found: dict[tuple[str, str], str] = {}
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    for owner in classes:
        for node in owner.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.end_lineno is not None:
                remark = _REMARK.search(lines[node.end_lineno - 1])
                if remark is not None:
                    found[owner.name, node.target.id] = remark[1]
    return found
