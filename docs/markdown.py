"""Shared by the reference pages: tables, and texts from the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence

__all__ = ["field_remarks", "table", "text_of"]


def text_of(thing: object) -> str:
    """Return a docstring without its line breaks, with Markdown code marks."""
    return " ".join((inspect.getdoc(thing) or "").split()).replace("``", "`")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [columns, ["---"] * len(columns), *escaped]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def field_remarks(cls: type) -> dict[str, str]:
    """Return the ``#:`` comment of each field of a class and its bases."""
    remarks: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("promenade."):
            remarks |= _own_remarks(base)
    return remarks


def _own_remarks(cls: type) -> dict[str, str]:
    source = inspect.getsource(cls)
    lines = source.splitlines()
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.end_lineno is not None:
            remark = re.search(r"#: (.+)$", lines[node.end_lineno - 1])
            if remark is not None:
                found[node.target.id] = remark[1]
    return found
