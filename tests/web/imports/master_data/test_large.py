"""A message of the maximum size: accepted within bounds, and processed."""

from __future__ import annotations

import hashlib
import threading
import time
from pathlib import Path

import httpx2

from tests.conftest import StartService
from tests.web.conftest import run
from tests.web.http.test_bounds import mebibytes
from tests.web.imports.bulk.conftest import ask
from tests.web.imports.master_data.conftest import COMMAND, SOAP, furnish
from tests.web.imports.master_data.conftest import accepted as taken
from tests.web.imports.master_data.messages import envelope, many

ITEMS = 40_000
LIMIT = 20 * 2**20
END_SECONDS_MAX = 240
GROWTH_MAX = 200  # in MiB: a few copies of the body, and the rows


def test_twenty_mebibytes_of_forty_thousand_items_are_taken_and_imported(
    database_url: str, server: StartService
) -> None:
    run(furnish(database_url, 1))
    service = server("--database-url", database_url, command=COMMAND)
    body = envelope(many(range(ITEMS), 70), message_id="large").encode()
    assert 0.9 * LIMIT < len(body) <= LIMIT
    headers = {"x-common-name": "erp@t0", "content-type": "text/xml"}
    with httpx2.Client(base_url=service.url, timeout=120, headers=headers) as http:
        http.post(SOAP, content="<a/>")
        Path(f"/proc/{service.pid}/clear_refs").write_text("5")
        held = mebibytes(service.pid, "VmRSS")
        taken(http.post(SOAP, content=body))
        taken(http.post(SOAP, content=body), 200)

        ended = time.monotonic() + END_SECONDS_MAX
        while ask(database_url, "SELECT status FROM import_jobs") != [("SUCCEEDED",)]:
            assert time.monotonic() < ended, "the job does not end"
            threading.Event().wait(0.25)
        grown = mebibytes(service.pid, "VmHWM") - held
    print(f"grown by {grown:.0f} MiB")
    assert grown < GROWTH_MAX
    counts = "total_rows, rows_succeeded, rows_failed, rows_skipped"
    assert ask(database_url, f"SELECT {counts} FROM import_jobs") == [(ITEMS, ITEMS, 0, 0)]
    assert ask(database_url, "SELECT count(*) FROM articles") == [(ITEMS,)]
    ((kept,),) = ask(database_url, "SELECT payload FROM raw_payloads")
    assert hashlib.sha256(kept).digest() == hashlib.sha256(body).digest()
