"""Documents in their normal form, and as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from promenade.workflows.documents.shape import DEFINITIONS, PROMOTIONS, Node, Part, definition_nodes, node_of
from promenade.workflows.documents.yaml_text import Parsed, write_document

Key = tuple[str, str]
"""An entity set, and the natural key of one of its rows."""


class Row(dict[str, Any]):
    """A row in its normal form: typed values, references as codes, parts as rows; nothing that equals its default.

    Equal rows say the same, wherever they are from: ``path`` is where a document says it, ``id`` where it is stored.
    """

    __slots__ = ("id", "path")

    def __init__(self, members: Mapping[str, Any], *, path: str = "", row_id: str = "") -> None:
        super().__init__(members)
        self.path = path
        self.id = row_id

    __hash__ = None


@dataclass(frozen=True, slots=True)
class Document:
    """A promotion as a document says it, with the rows that it defines."""

    content: Row
    definitions: Mapping[Key, Row] = field(default_factory=dict)
    parsed: Parsed = field(default_factory=lambda: Parsed("", None, {}))

    @property
    def name(self) -> str:
        """The promotion's code; if it has none, its name, by which the document is told from others."""
        return str(self.content.get("code", self.content["name"]))

    @property
    def identity(self) -> tuple[str | None, str]:
        """The code and the name of the promotion that it is of; of one with a code, the code alone counts."""
        code = self.content.get("code")
        return (code, "") if code is not None else (None, self.content["name"])

    @property
    def text(self) -> str:
        """The document as YAML."""
        node = node_of(PROMOTIONS)
        defined: dict[str, list[Any]] = {}
        for key, one in definition_nodes().items():
            rows = [row for (set_name, _), row in sorted(self.definitions.items()) if set_name == one.set_name]
            if rows:
                defined[key] = [_plain(one, row) for row in rows]
        return write_document(_plain(node, self.content) | ({DEFINITIONS: defined} if defined else {}))


def in_order(node: Node, rows: Iterable[Row]) -> list[Row]:
    """Return rows of a list in the order of their normal form: by their sequence if it counts, else by what they say.

    Rows with the same sequence stay in the order in which they are given.
    """
    if node.is_ordered:
        usual: Any = node.values["sequence"].default
        return sorted(rows, key=lambda row: row.get("sequence", usual))
    return sorted(rows, key=lambda row: write_document(_plain(node, row)))


def _plain(node: Node, row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: written_value(row[key], field.scale) for key, field in node.values.items() if key in row
    }
    found |= {key: row[key] for key in node.references if key in row}
    return found | {key: _plain_part(part, row[key]) for key, part in node.parts.items() if key in row}


def _plain_part(part: Part, value: Any) -> Any:
    if not part.many:
        return _plain(part.node, value)
    code = part.node.code
    return [_plain(part.node, row) if code is None else row[code.key] for row in value]


def written_value(value: Any, scale: int | None = None) -> Any:
    """Return a value as a document has it: a text, a number of digits that people expect, a boolean or a list."""
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return Decimal(f"{value:.2f}") if scale == 2 else Decimal(format(value.normalize(), "f"))
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value.isoformat() if isinstance(value, date | time) else value
