"""Where an archive is: a directory, or a bucket that speaks the protocol of Amazon S3.

A file appears under its name when it is whole: it is written and flushed to the disk elsewhere, then moved.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
from pyarrow import fs

from promenade.errors import Conflict, Invalid, Unavailable

_WRITING = "_writing"  # no name that readers of `kind=*` find
_CHUNK = 8 << 20
_OPTIONS = frozenset({"endpoint", "region"})
_SECONDS_TO_CONNECT, _SECONDS_TO_ANSWER = 10, 60


class Place(ABC):
    """Files by names such as ``kind=audit_logs/tenant=acme/month=2026-10/part-0.parquet``."""

    def __init__(self, files: fs.FileSystem, base: str) -> None:
        self._files = files
        self._base = base

    @contextlib.contextmanager
    @abstractmethod
    def writing(self) -> Iterator[Path]:
        """Return a directory of this machine for files that are not whole yet; it is removed at the end."""

    @abstractmethod
    def publish(self, file: Path, name: str) -> None:
        """Let a file of the directory of `writing` appear as ``name``, in place of one that was there."""

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading at any position. Raises FileNotFoundError."""
        return self._files.open_input_file(self._path(name))

    def read(self, name: str) -> bytes | None:
        """Return what a small file holds; None: it is not there."""
        try:
            with self.open(name) as file:
                data: bytes = file.read()
                return data
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> dict[str, int]:
        """Return the names of the files and folders in a folder, and the files' sizes in bytes."""
        found = self._files.get_file_info(fs.FileSelector(self._path(folder), allow_not_found=True))
        return {one.base_name: one.size or 0 for one in found}

    def remove(self, name: str) -> None:
        """Delete a file."""
        self._files.delete_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"


class Directory(Place):
    """A directory of this machine, or one that it has mounted. One process writes at a time."""

    def __init__(self, root: Path) -> None:
        super().__init__(fs.LocalFileSystem(), str(root))
        self._root = root

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """Return a directory beside the files. Raises Conflict (ARCHIVE_BUSY) if another process writes."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._root / "_lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = f"Another process is writing the archive {self._root}: wait until it has ended."
                raise Conflict("ARCHIVE_BUSY", text) from None
            aside = self._root / _WRITING
            shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed
            aside.mkdir(mode=0o700)
            try:
                yield aside
            finally:
                shutil.rmtree(aside, ignore_errors=True)

    def publish(self, file: Path, name: str) -> None:
        """Flush the file to the disk, rename it, and flush its new folder."""
        target = self._root / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _flush(file)
        file.replace(target)
        for folder in target.parents:
            _flush(folder)
            if folder == self._root:
                break


class Bucket(Place):
    """A bucket of an S3-compatible service. Nothing keeps two processes from writing the same month at once."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """Return a temporary directory: a file is uploaded when it is whole."""
        self._forget_uploads()
        with tempfile.TemporaryDirectory(prefix="promenade-archive-") as aside:
            yield Path(aside)
        self._forget_uploads()

    def _forget_uploads(self) -> None:
        """Delete what a run that was killed has not renamed, and the names of folders that renaming leaves."""
        aside = self._path(_WRITING)
        if self._files.get_file_info(aside).type != fs.FileType.NotFound:
            self._files.delete_dir(aside)

    def publish(self, file: Path, name: str) -> None:
        """Upload the file under another name, compare the size, and have the service rename it."""
        aside = self._path(f"{_WRITING}/{name}")
        with file.open("rb") as source, self._files.open_output_stream(aside) as target:
            while chunk := source.read(_CHUNK):
                target.write(chunk)
        if self._files.get_file_info(aside).size != file.stat().st_size:
            raise OSError(f"{name} was not stored as it was sent")
        self._files.move(aside, self._path(name))


def open_place(address: str) -> Place:
    """Open a directory by its path, or a bucket as ``s3://bucket/folder?endpoint=https://s3.example.com&region=eu-1``.

    Raises Invalid (BAD_ARCHIVE) for any other address. A bucket's credentials come from the environment, as those of
    Amazon's own tools do, and never from the address.
    """
    if "://" not in address:
        if not address.strip() or "\0" in address:
            raise Invalid("BAD_ARCHIVE", "The archive's directory is missing.", "archive")
        return Directory(Path(address).absolute())
    try:
        parts = urlsplit(address)
        options = {name: values[-1] for name, values in parse_qs(parts.query, strict_parsing=bool(parts.query)).items()}
        endpoint = urlsplit(options.get("endpoint", "https://s3.amazonaws.com"))
        is_known = parts.scheme == "s3" and bool(parts.netloc) and "@" not in parts.netloc and not parts.fragment
        is_known = is_known and options.keys() <= _OPTIONS and endpoint.scheme in {"http", "https"}
        is_known = is_known and bool(endpoint.netloc) and "@" not in endpoint.netloc and not endpoint.path.strip("/")
    except ValueError:
        is_known = False
    if not is_known:
        text = "The archive must be a directory, or s3://bucket/folder with ?endpoint=https://host and &region=name."
        raise Invalid("BAD_ARCHIVE", f"{text} Its credentials come from the environment.", "archive")
    files = fs.S3FileSystem(
        scheme=endpoint.scheme,
        endpoint_override=endpoint.netloc if "endpoint" in options else None,
        region=options.get("region", "us-east-1" if "endpoint" in options else None),
        connect_timeout=_SECONDS_TO_CONNECT,
        request_timeout=_SECONDS_TO_ANSWER,
    )
    return Bucket(files, f"{parts.netloc}/{parts.path.strip('/')}".rstrip("/"))


@contextlib.contextmanager
def place_errors() -> Iterator[None]:
    """Turn what a disk or a service reports into Unavailable (ARCHIVE_UNAVAILABLE)."""
    try:
        yield
    except OSError as error:
        raise Unavailable("ARCHIVE_UNAVAILABLE", f"The archive cannot be used: {error}") from error


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
