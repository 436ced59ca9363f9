"""How the rows of an exported list are read, and what becomes of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from promenade.web.odata.export_files import File, Format

_SECRET = ("CouponCodes", "code")
_BATCHES = "CouponCodeBatches"


class Cell(Protocol):
    """What one column takes out of a row."""

    def value(self, row: Mapping[str, Any]) -> Any:
        """Return the value of the column as the file takes it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A list to be exported: where its rows are read, its columns, and its file.

    ``query`` are the options of the first page, ``asked`` and ``chosen`` which rows these are and how they were chosen,
    to be read by people. ``batch``: the path of the batch that the rows are the codes of.
    """

    name: str
    path: str
    query: str
    asked: str
    chosen: Sequence[str]
    cells: Sequence[Cell]
    has_secret: bool
    batch: str | None
    form: Format
    new_file: Callable[[], File]

    @property
    def rows_of_batch(self) -> str:
        """Return the kind of file, and which codes of the batch are in it if not all, to be read by people."""
        return ", ".join((self.form.upper(), *self.chosen))

    def values(self, row: Mapping[str, Any]) -> list[Any]:
        """Return the cells of a row."""
        return [one.value(row) for one in self.cells]


def is_secret(type_name: str, property_name: str) -> bool:
    """Return whether the audit trail tells who exported this property."""
    return (type_name, property_name) == _SECRET


def batch_above(path: str, type_name: str, above: str | None) -> str | None:
    """Return the path of the batch whose codes are at ``path``; ``above``: the type that the path leads there from."""
    is_of_batch = type_name == _SECRET[0] and above == _BATCHES
    return path.rpartition("/")[0] if is_of_batch else None
