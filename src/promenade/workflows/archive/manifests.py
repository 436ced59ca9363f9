"""What an archive says about itself: a manifest beside the files of each table, tenant and month.

A manifest is written last: files without one, or other than it says, are of a run that was killed, and the next run
replaces them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from promenade.workflows.archive.months import Month
from promenade.workflows.archive.places import Place
from promenade.workflows.archive.tables import Sums

FORMAT = 1
NAME = "_manifest.json"


class File(msgspec.Struct, frozen=True):
    """A file: its SHA-256 in hexadecimal digits, and the bounds of its rows: the first and the last of time and ID."""

    name: str
    rows: int
    bytes: int
    sha256: str
    time_from: datetime
    time_to: datetime
    id_from: str
    id_to: str


class Manifest(msgspec.Struct, frozen=True):
    """What is archived of a table, a tenant and a month of UTC; ``sums`` by currency (empty: none) and column."""

    format: int
    table: str
    tenant: str
    month: str
    rows: int
    sums: Sums
    files: Sequence[File]
    written_at: datetime

    def same_rows(self, other: Manifest) -> bool:
        """Return whether both tell of the same files, whenever they were written."""
        return self.files == other.files and self.sums == other.sums and self.rows == other.rows


def folder_of(table: str, tenant_id: str, month: Month) -> str:
    """Return the folder of a month, which readers of Hive's layout understand."""
    return f"{folder_of_tenant(table, tenant_id)}/month={month}"


def folder_of_tenant(table: str, tenant_id: str) -> str:
    """Return the folder of a tenant; what a folder's name cannot hold is written as in an address."""
    return f"kind={table}/tenant={quote(tenant_id, safe='')}"


def months_in(place: Place, table: str, tenant_id: str) -> list[Month]:
    """Return the months of which the archive has a folder, in their order."""
    found = []
    for name in place.names(folder_of_tenant(table, tenant_id)):
        key, _, value = name.partition("=")
        if key == "month":
            found.append(Month.parse(unquote(value), "month"))
    return sorted(found)


def read_manifest(place: Place, folder: str) -> Manifest | None:
    """Return the manifest of a folder; None: there is none, or none that this program wrote."""
    data = place.read(f"{folder}/{NAME}")
    try:
        found = None if data is None else msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError:
        return None
    return found if found is not None and found.format == FORMAT else None


def are_there(manifest: Manifest, names: Mapping[str, int]) -> bool:
    """Return whether a folder with these names and sizes has the manifest's files."""
    return all(names.get(file.name) == file.bytes for file in manifest.files)


def write_manifest(place: Place, folder: str, manifest: Manifest, aside: Path) -> None:
    """Let a manifest appear in a folder."""
    file = aside / "manifest"
    file.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    place.publish(file, f"{folder}/{NAME}")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(place: Place, name: str) -> str:
    """Return the SHA-256 of a file of the archive."""
    with place.open(name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
