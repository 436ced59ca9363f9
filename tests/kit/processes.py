"""Child processes that never outlive the test session, and ports for them."""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listens on right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def die_with_parent(how: signal.Signals) -> Callable[[], None] | None:
    """A `preexec_fn` that has the kernel signal the child when this process ends, even by kill -9 (Linux)."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    set_parent_death_signal = 1

    def prepare() -> None:
        libc.prctl(set_parent_death_signal, int(how))

    return prepare


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged system account."""

    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """Who a server runs as that refuses root: `nobody` when the tests run as root, else None (ourselves)."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)
