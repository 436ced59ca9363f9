"""Bounds of what one request may ask for; beyond them it is refused by name."""

from __future__ import annotations

__all__ = [
    "COMPUTE_MAX",
    "DEPTH_MAX",
    "EXPAND_MAX",
    "LAMBDA_DEPTH_MAX",
    "LEVELS_MAX",
    "LIST_MAX",
    "ORDER_MAX",
    "ROWS_MAX",
    "SEARCH_TERMS_MAX",
]

COMPUTE_MAX = 20  # items of $compute
DEPTH_MAX = 50  # operators and functions inside each other; chains of and, or count as one
EXPAND_MAX = 30  # expanded navigations of a request, levels included
LAMBDA_DEPTH_MAX = 4  # any, all and $count inside each other
LEVELS_MAX = 10  # levels of a recursive expand; ``max`` means as many
LIST_MAX = 1000  # values of an in list
ORDER_MAX = 20  # items of $orderby
ROWS_MAX = 100_000  # rows of one answer, expanded ones included
SEARCH_TERMS_MAX = 20
