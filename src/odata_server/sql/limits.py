"""Bounds of what one request may ask for; beyond them it is refused by name."""

from __future__ import annotations

__all__ = [
    "COMPUTED_NODES_MAX",
    "COMPUTE_MAX",
    "DEPTH_MAX",
    "EXPAND_MAX",
    "LAMBDA_DEPTH_MAX",
    "LEVELS_MAX",
    "LIST_MAX",
    "NODES_MAX",
    "ORDER_MAX",
    "ROWS_MAX",
    "SEARCH_TERMS_MAX",
    "SQL_DEPTH_MAX",
    "SQL_NODES_MAX",
]

COMPUTED_NODES_MAX = 200  # of computed values, written out wherever they are used
COMPUTE_MAX = 20  # items of $compute
DEPTH_MAX = 50  # operators and functions inside each other; chains of and, or count as one
EXPAND_MAX = 30  # expanded navigations of a request, levels included
LAMBDA_DEPTH_MAX = 4  # any, all and $count inside each other
LEVELS_MAX = 10  # levels of a recursive expand; ``max`` means as many
LIST_MAX = 1000  # values of an in list
NODES_MAX = 4000  # of all expressions, with what aliases stand for and the values of lists
ORDER_MAX = 20  # items of $orderby
ROWS_MAX = 100_000  # rows of one answer, expanded ones included
SEARCH_TERMS_MAX = 20
SQL_DEPTH_MAX = 75  # of one expression, parentheses and all: SQLite reads no more than about a hundred
SQL_NODES_MAX = 20_000  # of one expression written out as SQL
