"""A disk of its own for the database of a soak, which chaos can fill: an image file, mounted as root alone may."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SmallDisk", "mounted_disk"]

_PROGRAMS = ("mkfs.ext4", "mount", "umount")


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """A mounted disk; what is to be full is ``room``."""

    room: Path

    def fill(self) -> None:
        """Leave no space."""
        with self._ballast.open("wb") as file:
            space = os.statvfs(self.room)
            for size in (space.f_bavail * space.f_frsize, 2**20, 2**16, 2**12):
                _take(file.fileno(), size)

    def empty(self) -> None:
        """Give the space back."""
        self._ballast.unlink(missing_ok=True)

    @property
    def _ballast(self) -> Path:
        return self.room / "ballast"


def _take(file: int, size: int) -> None:
    """Add pieces of ``size`` bytes to a file until there is no space for another."""
    try:
        while True:
            os.posix_fallocate(file, os.fstat(file).st_size, size)
    except OSError:
        return


@contextmanager
def mounted_disk(directory: Path, size_bytes: int) -> Iterator[SmallDisk | None]:
    """Mount a disk of this size; the image takes only what is written. None where that cannot be done."""
    if os.geteuid() != 0 or not all(map(shutil.which, _PROGRAMS)):
        yield None
        return
    image, room = directory / "disk", directory / "room"
    with image.open("wb") as file:
        file.truncate(size_bytes)
    room.mkdir()
    directory.chmod(0o711)  # the database runs under an account of its own
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    if subprocess.run(["mount", "-o", "loop", str(image), str(room)], check=False, capture_output=True).returncode:
        yield None
        return
    try:
        yield SmallDisk(room)
    finally:
        subprocess.run(["umount", str(room)], check=True)
