"""Several server processes behind one mutual-TLS port: each gives the same answer."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tests.web.access.mtls.conftest import Issuer, OpenDoor
from tests.web.access.mtls.peers import until


def test_all_processes_admit_and_refuse_the_same_clients(issuer: Issuer, open_door: OpenDoor) -> None:
    door, erp = issuer.door(), issuer.issue("erp")
    open_door(door, ["erp"], "--workers", "2", dialect="postgresql")
    assert door.service is not None
    with ThreadPoolExecutor(8) as peers:
        assert set(peers.map(lambda _: door.status(erp), range(32))) == {202}
        issuer.revoke("erp")
        issuer.install_list(door)
        until(lambda: set(peers.map(lambda _: door.status(erp), range(16))) == {401})
    refused = door.service.get("/metrics")[1]
    assert 'svc_drfout_certificate_refused_total{reason="revoked"}' in refused
    # A process that dies is replaced, and the new one serves certificates too.
    again = issuer.issue("erp")
    for child in child_processes(door.service.pid):
        os.kill(child, signal.SIGKILL)
    until(lambda: answers(lambda: door.status(again)) == 202, seconds=120)
    assert door.service.stop() == 0


def answers(ask: object) -> object:
    """Return the answer, or None while nothing is listening."""
    try:
        return ask()  # type: ignore[operator]
    except OSError:
        return None


def child_processes(parent: int) -> list[int]:
    """Return the server processes of a service, without Python's resource trackers."""

    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    rows = [line.split(None, 1) for line in found.stdout.splitlines()]
    return [int(pid) for pid, arguments in rows if "spawn_main" in arguments and "resource" not in arguments]
