"""URLs inside a response: of entities, and of the further pages of expanded collections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from odata_server.edm import Edm, EntityType
from odata_server.links import literal

__all__ = ["entity_key", "next_address"]

_LEFT_OUT = frozenset({"skip", "skiptoken", "levels"})


def entity_key(edm: Edm, entity_type: EntityType, record: Mapping[str, Any]) -> str:
    """Return a key predicate: ``(1)`` or ``(a=1,b='x')``."""
    parts = [(one.name, literal(edm, one, record[one.name])) for one in entity_type.key_properties]
    if len(parts) == 1:
        return f"({parts[0][1]})"
    return f"({','.join(f'{name}={value}' for name, value in parts)})"


def next_address(path: str, options_text: str, alias_text: str, token: str) -> str:
    """Return the URL of the page after ``token``: a path with the options of an expand as URL options."""
    parts = []
    for part in _split(options_text):
        name, _, value = part.partition("=")
        if name.strip().removeprefix("$").lower() not in _LEFT_OUT:
            parts.append(f"{quote(name.strip(), safe='$')}={quote(value.strip(), safe=_KEPT)}")
    parts += [alias_text] if alias_text else []
    return f"{path}?{'&'.join([*parts, f'$skiptoken={token}'])}"


_KEPT = "$()',/:@*;=!"


def _split(text: str) -> list[str]:
    """Split the options inside the parentheses of an expand at semicolons outside of nested brackets."""
    parts: list[str] = []
    start = depth = 0
    quoted = ""
    for at, letter in enumerate(text):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == ";" and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in (*parts, text[start:]) if part]
