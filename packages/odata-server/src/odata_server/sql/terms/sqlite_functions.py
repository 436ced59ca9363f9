"""Functions that SQLite lacks: Unicode upper and lower case, and regular expressions.

A host calls `install` on every connection of the driver. Otherwise ``tolower``, ``toupper`` and ``$search`` only handle
ASCII letters, and ``matchesPattern`` is not available.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from odata_server.sql.terms.patterns import automaton

__all__ = ["MATCHES", "install"]

MATCHES = "odata_matches"


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text


def _upper(text: Any) -> Any:
    return text.upper() if isinstance(text, str) else text


def _matches(text: object, pattern: str) -> bool | None:
    return automaton(pattern).matches(text) if isinstance(text, str) else None


def install(connection: sqlite3.Connection) -> None:
    """Register the functions on a connection."""
    connection.create_function("odata_lower", 1, _lower, deterministic=True)
    connection.create_function("odata_upper", 1, _upper, deterministic=True)
    connection.create_function(MATCHES, 2, _matches, deterministic=True)
