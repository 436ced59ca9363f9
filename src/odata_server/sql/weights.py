"""How large an expression is once it is written out as SQL.

Where SQL has no function of the kind, one of OData's is made of several that all read its argument; two dozen inside
each other would come to a million lines. What is shared in memory is measured once, so measuring is cheap.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, FromClause
from sqlalchemy.sql.elements import BindParameter
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import SelectBase
from sqlalchemy.sql.visitors import ExternallyTraversible

from odata_server.errors import bad_request
from odata_server.sql.limits import SQL_DEPTH_MAX, SQL_NODES_MAX

__all__ = ["Weights"]

_LEAVES = (FromClause, SelectBase, BindParameter)  # what is inside a SELECT was measured when that was made


class Weights:
    """What was measured so far of one statement; holds on to it, so that no other object takes its place."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[ExternallyTraversible, int, int]] = {}

    def check(self, element: ColumnElement[Any]) -> None:
        """Raise 400 EXPRESSION_TOO_LARGE for an expression that is too large, or too deep, as SQL."""
        nodes, depth = self._measure(element)
        if nodes > SQL_NODES_MAX or depth > SQL_DEPTH_MAX:
            raise bad_request("EXPRESSION_TOO_LARGE", "Functions and operators are nested too deep in an expression.")

    def _measure(self, element: ExternallyTraversible) -> tuple[int, int]:
        known = self._known.get(id(element))
        if known is not None:
            return known[1], known[2]
        nodes, depth = 1, 0
        if isinstance(element, FunctionElement) or not isinstance(element, _LEAVES):  # a function is a FROM as well
            for child in element.get_children():
                inner_nodes, inner_depth = self._measure(child)
                nodes += inner_nodes
                depth = max(depth, inner_depth)
        self._known[id(element)] = (element, nodes, depth + 1)
        return nodes, depth + 1
