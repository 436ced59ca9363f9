"""The machine: room on its disk, the files of certificates, and what is installed beside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from promenade.doctor.findings import Finding, judge_expiry
from promenade.settings import Settings
from promenade.store.driver.sqlite.files import file_of

_MEGABYTE = 1_000_000
_FREE_MIN, _FREE_SCARCE = 200 * _MEGABYTE, 2_000 * _MEGABYTE


def examine_disk(settings: Settings) -> Finding:
    """Look at the directory of the database, or of the files beside it."""
    file = file_of(settings.database_url)
    directory = settings.data_dir if file is None else file.parent
    if not directory.is_dir():
        if file is None:
            return Finding.ok("disk", "The database is on a server, whose disk cannot be seen from here.")
        remedy = "Name the right one with --data-dir, or start the service once, which makes it."
        return Finding.fail("disk", f"There is no directory {directory}.", remedy)
    if not os.access(directory, os.W_OK | os.X_OK):
        remedy = "Run this command, and the service, as the user who owns it."
        return Finding.fail("disk", f"This user may not write to {directory}.", remedy)
    size = file.stat().st_size if file is not None and file.exists() else 0
    return judge_room(shutil.disk_usage(directory).free, size, str(directory))


def judge_room(free: int, size: int, place: str) -> Finding:
    """Judge by the free bytes beside a database of ``size`` bytes."""
    found = f"{_shown(free)} are free at {place}"
    remedy = "Make room: delete copies and logs, or shorten --keep-iterations-days and --keep-sales-days."
    if free < _FREE_MIN:
        return Finding.fail("disk", f"Only {found}: sales will soon not be stored.", remedy)
    if free < max(_FREE_SCARCE, size):
        return Finding.warn("disk", f"{found}; a copy of the database needs {_shown(size)}.", remedy)
    return Finding.ok("disk", f"{found}; the database has {_shown(size)}." if size else f"{found}.")


def examine_certificates(settings: Settings, at: datetime) -> Sequence[Finding]:
    """Look at the files of the listener for client certificates, if they are named."""
    from promenade.web.access.tls.authorities import read_certificates, read_lists  # noqa: PLC0415 -- slow to load

    findings: list[Finding] = []
    renew = "Renew it and put the new file in its place; the service takes it up by itself."
    for option in ("cert", "ca", "crl"):
        path = getattr(settings, f"mtls_{option}")
        if path is None:
            continue
        try:
            content = path.read_bytes()
            if option == "crl":
                ends = [one.next_update_utc for one in read_lists(content)]
                until = min((end for end in ends if end is not None), default=None)
            else:
                until = min(one.not_valid_after_utc for one in read_certificates(content))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its content is not valid"
            findings.append(Finding.fail("certificate", f"--mtls-{option} {path} cannot be used: {why}.", renew))
            continue
        if until is not None:
            findings.append(judge_expiry(f"--mtls-{option} {path}", until - at, renew))
    return findings


def examine_packages() -> Sequence[Finding]:
    """Look for a package that has files of this one: pip installs both, and one then runs with the other's."""
    try:
        found = version("odata-server")
    except PackageNotFoundError:
        return []
    message = f"odata-server {found} is installed, whose files Promenade contains: they overwrite each other."
    return [Finding.warn("packages", message, "Uninstall odata-server, and then install Promenade again.")]


def _shown(size: int) -> str:
    return f"{size / 1_000_000_000:.1f} GB" if size >= 1_000_000_000 else f"{size / _MEGABYTE:.0f} MB"
