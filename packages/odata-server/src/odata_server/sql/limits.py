"""Limits on what one request may ask for; requests beyond a limit get an error that names it."""

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

COMPUTED_NODES_MAX = 200  # of computed values, counted again for each use
COMPUTE_MAX = 20  # items of $compute
DEPTH_MAX = 50  # nested operators and functions; chains of and, or count as one
EXPAND_MAX = 30  # expanded navigations of a request, including levels
LAMBDA_DEPTH_MAX = 4  # nested any, all and $count
LEVELS_MAX = 10  # levels of a recursive expand; also the meaning of ``max``
LIST_MAX = 1000  # values of an in list
NODES_MAX = 4000  # of all expressions, including resolved aliases and the values of lists
ORDER_MAX = 20  # items of $orderby
ROWS_MAX = 100_000  # rows of one response, including expanded ones
SEARCH_TERMS_MAX = 20
SQL_DEPTH_MAX = 75  # of one expression including parentheses: SQLite's parser allows only about a hundred
SQL_NODES_MAX = 20_000  # of one expression rendered as SQL
