"""Functions that SQLite lacks: upper and lower case of every script, and regular expressions.

A host calls `install` on every connection of the driver. Where it does not, ``tolower``, ``toupper`` and ``$search``
know the letters of ASCII alone, and ``matchesPattern`` is not offered.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from odata_server.sql.patterns import automaton

__all__ = ["MATCHES", "install"]

MATCHES = "odata_matches"


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text


def _upper(text: Any) -> Any:
    return text.upper() if isinstance(text, str) else text


def _matches(text: object, pattern: str) -> bool | None:
    return automaton(pattern).matches(text) if isinstance(text, str) else None


def install(connection: sqlite3.Connection) -> None:
    """Give the functions to a connection."""
    connection.create_function("odata_lower", 1, _lower, deterministic=True)
    connection.create_function("odata_upper", 1, _upper, deterministic=True)
    connection.create_function(MATCHES, 2, _matches, deterministic=True)
