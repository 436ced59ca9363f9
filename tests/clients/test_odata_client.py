"""The npm package @odata/client, in Node.js: it fetches its own tokens and writes keys and batches in its own way."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.clients.conftest import MODULES
from tests.web.drafts.desk import ANNA, SECRET, Desk

SCRIPT = Path(__file__).parent / "odata_client.js"
NOBODY = "99999999-9999-4999-8999-999999999999"


def carried_out(desk: Desk, node: str, mark: str) -> Any:
    """Return the script's output."""
    given = {"modules": str(MODULES), "url": desk.service_url, "client": ANNA, "secret": SECRET}
    done = subprocess.run(
        [node, str(SCRIPT), json.dumps({**given, "mark": mark, "nobody": NOBODY})],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def test_another_client_creates_edits_and_activates_a_draft(desk: Desk, node: str) -> None:
    mark = desk.unique("N")
    found = carried_out(desk, node, mark)
    entity_id = found["begun"]["ID"]
    assert (found["begun"]["IsActiveEntity"], found["changed"]["priority"]) == (False, 7)
    assert (found["made"]["ID"], found["made"]["IsActiveEntity"]) == (entity_id, True)
    assert found["byText"]["IsActiveEntity"] is True
    assert [(row["ID"], row["IsActiveEntity"]) for row in found["listed"]] == [(entity_id, False)]
    assert found["counted"] == 1
    assert [status for status, _ in found["multipart"]] == [200, 200, 404]
    assert [is_active for _, is_active in found["multipart"][:2]] == [False, True]
    assert found["inJson"] == [[200, f"{mark} too"], [200, f"{mark} too"]]
    assert isinstance(found["gone"], str)
    assert (found["left"]["name"], found["left"]["HasDraftEntity"]) == (mark, False)
